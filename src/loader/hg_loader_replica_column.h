/*-------------------------------------------------------------------------
 *
 * hg_loader_replica_column.h
 *	  Sends columns of a graph's rows to a device: which values, and in which form.
 *
 * A column has the rows of the segment versions that the graph lists.  If one of them has been
 * replaced there is no replica: the next graph version comes soon, and its columns have the newer
 * versions.
 *
 * Values in arrays of a width that an engine supports are sent as they are.  Numerics that all
 * have one display scale are sent as scaled integers.  Of other types, columns with few distinct
 * and no long values are sent as codes that are the same in the whole table
 * (resident/hg_resident_graph_codes.h).  Codes are computed here from the dictionaries of
 * segments, or from the values of a segment without one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_REPLICA_COLUMN_H
#define HG_LOADER_REPLICA_COLUMN_H

#include "hg_compat.h"

#include "backend/hg_cleanup.h"
#include "loader/hg_loader_codes.h"
#include "resident/hg_resident_graph.h"

/* A column of a pinned graph's rows. */
typedef struct HgReplicaColumn
{
	HgCleanup cleanup; /* of pins */
	HgResidentColumn column;
	bool (*is_left)(void);
	uint32 nparts;
	dsa_pointer *versions; /* [nparts] pinned; invalid: the graph has no rows of the segment */
	uint8 *nulls;		   /* [HG_REPLICA_ROWS] NULL flags to send */
	int scale;			   /* display scale of scaled integers; -1: none */
	HgCodes *codes;		   /* of values that are sent as codes; or NULL */
	uint16 **of_parts;	   /* [nparts] codes to send, by the segment's own code; or NULL */
	void *put;			   /* [HG_REPLICA_ROWS] codes or scaled integers to send */
	void *selected; /* [HG_REPLICA_ROWS] values of a partition's rows to send; NULL until used */
	uint8 *selected_nulls; /* [HG_REPLICA_ROWS] their NULL flags */
	HgReplicaColumnSpec spec;
} HgReplicaColumn;

/*
 * Pins the column's versions and computes its codes or scale.  The result lies in
 * CurrentMemoryContext.  Returns NULL if the column can have no replica, or is_left returned true.
 */
extern HgReplicaColumn *hg_replica_column_pin(HgResidentRelation key, const HgPinnedGraph *graph,
											  AttrNumber number, bool (*is_left)(void));
/* Unpins the versions. */
extern void hg_replica_column_unpin(HgReplicaColumn *replica);

/* Sends the values of all rows, or with partitions those of one, to a job for the replica. */
extern HgStatus hg_replica_column_put(HgReplicaColumn *replica, HgEngine *engine, HgJob *job,
									  const HgPartitioning *partitions, uint32 partition,
									  HgError *error);

#endif /* HG_LOADER_REPLICA_COLUMN_H */
