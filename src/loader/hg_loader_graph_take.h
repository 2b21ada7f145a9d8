/*-------------------------------------------------------------------------
 *
 * hg_loader_graph_take.h
 *	  What a table's HashGraph is made of: found out, and pinned.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_GRAPH_TAKE_H
#define HG_LOADER_GRAPH_TAKE_H

#include "hg_compat.h"

#include "backend/hg_cleanup.h"
#include "backend/hg_host.h"
#include "batch/hg_graph_key.h"
#include "engine/hg_flat.h"
#include "resident/hg_resident_graph_version.h"

/* What a graph is made of. */
typedef struct HgGraphMaking
{
	HgPgHost host; /* the first member: what it is given as */
	bool (*is_interrupted)(void *arg);
	bool (*is_left)(void);
	HgCleanup cleanup; /* of pins */
	HgResidentRelation key;
	HgKeyNumbers numbers;
	HgResidentFile file;
	HgGraphWords *words; /* of the columns as they are; NULL: they can't have a graph */
	HgResidentColumn columns[HG_GRAPH_COLUMNS];
	uint64 replacements; /* of the entry, when its slots were read */
	uint32 nsegments;
	uint32 size;		/* of each of these arrays: */
	uint64 *serials;	/* of versions whose rows the graph will have, or that it passes over */
	uint8 *kept;		/* HgFlatPartState of the older graph's rows */
	dsa_pointer *added; /* versions that it does not have, pinned; invalid: none */
	dsa_pointer old;	/* the older graph, pinned; invalid: there is none */
	HgFlatGraph flat;	/* that */
	HgFlatMask mask;	/* and its rows that are kept */
	uint32 *rows;		/* [HG_BATCH_ROWS] numbers of a batch's rows that have a key */
} HgGraphMaking;

/* In CurrentMemoryContext, with nothing found out yet. */
extern HgGraphMaking *hg_graph_making(HgResidentRelation key, const HgKeyNumbers *numbers,
									  bool (*is_left)(void));

/*
 * Find out what a graph is made of, and pin that: in a transaction.  False: none is to be made.
 */
extern bool hg_graph_take(HgGraphMaking *making);

/* Let go of it. */
extern void hg_graph_unpin(void *making);

#endif /* HG_LOADER_GRAPH_TAKE_H */
