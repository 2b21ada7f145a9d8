/*-------------------------------------------------------------------------
 *
 * hg_loader_table.h
 *	  Loads a table: its segments, and the graphs of its keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_TABLE_H
#define HG_LOADER_TABLE_H

#include "hg_compat.h"

#include "backend/hg_cleanup.h"
#include "backend/hg_host.h"
#include "batch/hg_graph_key.h"
#include "engine/hg_flat.h"
#include "resident/hg_resident_graph_version.h"
#include "resident/hg_resident_key.h"
#include "resident/hg_resident_memory.h"

/*
 * Loads the requested columns of a table, then makes its graphs and sends their replicas.  Stops
 * early once is_left() returns true.  No transaction is open before or after.  Errors are logged
 * and not raised.  What outlives a transaction is allocated in context.
 *
 * Returns false if work remains requested: another loader has the table, a lock was missing, the
 * plan went out of date, the cause of an error may pass, or is_left() stopped the loading.  A
 * table that was declined counts as done, and so does a stop between two graphs.
 */
extern bool hg_loader_take_in(HgResidentRelation key, bool (*is_left)(void), MemoryContext context);

/* hg_loader_graph.c: makes the graphs of a table's keys from the versions of its segments */

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

/* Result of an attempt to make a graph. */
typedef enum HgGraphOutcome
{
	HG_GRAPH_DONE,		/* made, or nothing to do */
	HG_GRAPH_LEFT,		/* the loader has to exit */
	HG_GRAPH_NO_MEMORY, /* the area has no room */
	HG_GRAPH_NO_BIN,	/* a bin does not fit in maintenance_work_mem */
	HG_GRAPH_REPLACED	/* the table has another file now, or a column is gone */
} HgGraphOutcome;

/*
 * Makes a graph version from what hg_graph_take() has pinned.  *pointer becomes the version, whose
 * chunks belong to the claim.  Raises the engine's errors.
 */
extern HgGraphOutcome hg_graph_make(HgGraphMaking *making, HgResidentClaim *claim,
									dsa_pointer *pointer);

/*
 * Makes the graphs of a table that are requested or out of step, until is_left returns true.  The
 * caller has claimed the table, so that no other loader works on it.  No transaction is open
 * before or after.  Returns false if some graph could not be made now, and is still requested.
 */
extern bool hg_loader_make_graphs(HgResidentRelation key, bool (*is_left)(void),
								  MemoryContext context);

#endif /* HG_LOADER_TABLE_H */
