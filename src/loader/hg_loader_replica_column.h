/*-------------------------------------------------------------------------
 *
 * hg_loader_replica_column.h
 *	  Columns of a graph's rows that a device is given: what of them, and in which shape.
 *
 * A column is of the rows of the segment versions that the graph lists, all of which have to be
 * there still: else the next graph is soon made, and its columns are those of the versions that
 * there are then.
 *
 * VALUES that lie in arrays of a width that an engine has go as they are.  Numerics that all have
 * one display scale go as integers scaled by 10^scale.  Of all others, where few differ and none
 * is long, the device is given codes of the whole table (resident/hg_resident_graph_codes.h),
 * which are made here of those that segments have, or of the values of a segment that has none.
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

/* A column of the rows of a pinned graph. */
typedef struct HgReplicaColumn
{
	HgCleanup cleanup; /* of pins */
	HgResidentColumn column;
	bool (*is_left)(void);
	uint32 nparts;
	dsa_pointer *versions; /* [nparts] pinned; invalid: the graph has no row of the segment */
	uint8 *nulls;		   /* of values that are put at a time */
	int scale;			   /* of numerics, which go as scaled integers; -1: of none */
	HgCodes *codes;		   /* of values that go as codes; NULL: none do */
	uint16 **of_parts; /* [nparts] codes of those of a segment's dictionary; NULL: it has none */
	void *put;		   /* codes or scaled integers that are put at a time */
	void *selected;	   /* values of a partition's rows, and ... */
	uint8 *selected_nulls; /* ... bytes that tell NULL, that are put at a time; NULL so far */
	HgReplicaColumnSpec spec;
} HgReplicaColumn;

/*
 * Pin it, in CurrentMemoryContext, and have its codes known where it has some; NULL: it can have no
 * replica, or not now, as when is_left says to go.
 */
extern HgReplicaColumn *hg_replica_column_pin(HgResidentRelation key, const HgPinnedGraph *graph,
											  AttrNumber number, bool (*is_left)(void));
extern void hg_replica_column_unpin(HgReplicaColumn *replica);

/*
 * Send its values to a job that was opened for it; or, where partitions are not NULL, those of the
 * rows of a partition, to a job that was opened for that.
 */
extern HgStatus hg_replica_column_put(HgReplicaColumn *replica, HgEngine *engine, HgJob *job,
									  const HgPartitioning *partitions, uint32 partition,
									  HgError *error);

#endif /* HG_LOADER_REPLICA_COLUMN_H */
