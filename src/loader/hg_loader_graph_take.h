/*-------------------------------------------------------------------------
 *
 * hg_loader_graph_take.h
 *	  Determines what a table's graph is to be made from, and pins it.
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
	HgPgHost host; /* must be first: callbacks get its address */
	/* the host's own cancel callback */
	bool (*is_interrupted)(void *arg);
	/* returns true if the loader has to exit */
	bool (*is_left)(void);
	HgCleanup cleanup; /* of pins */
	HgResidentRelation key;
	HgKeyNumbers numbers;
	HgResidentFile file;
	/* makes the columns' words; NULL: their types can't have a graph */
	HgGraphWords *words;
	HgResidentColumn columns[HG_GRAPH_COLUMNS];
	uint64 replacements; /* the entry's counter when its slots were read */
	uint32 nsegments;
	uint32 size;		/* allocated elements of the next three arrays */
	uint64 *serials;	/* of versions that the graph will list */
	uint8 *copied;		/* HgFlatPartState: whether the older graph's rows are copied */
	dsa_pointer *added; /* pinned versions whose rows are new; invalid: none */
	dsa_pointer old;	/* pinned older graph; invalid: none */
	HgFlatGraph flat;	/* the older graph */
	HgFlatMask mask;	/* which of its rows are copied */
	uint32 *rows;		/* [HG_BATCH_ROWS] numbers of those rows of a batch that have a key */
} HgGraphMaking;

/* Allocates the state for making the graph of a key, in CurrentMemoryContext. */
extern HgGraphMaking *hg_graph_making(HgResidentRelation key, const HgKeyNumbers *numbers,
									  bool (*is_left)(void));

/*
 * Determines what the graph is made from and pins it, in a transaction.  Returns false if no graph
 * is to be made; the directory then says why, if it was declined.
 */
extern bool hg_graph_take(HgGraphMaking *making);

/* Unpins everything.  Also called when the memory context is reset. */
extern void hg_graph_unpin(void *making);

#endif /* HG_LOADER_GRAPH_TAKE_H */
