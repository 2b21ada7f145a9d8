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

#include "resident/hg_resident_key.h"

/*
 * Loads the requested columns of a table, then makes its graphs and sends their replicas. Stops
 * early once is_left() returns true. No transaction is open before or after. Errors are logged and
 * not raised. What outlives a transaction is allocated in context.
 *
 * Returns false if work remains requested: another loader has the table, a lock was missing, the
 * plan went out of date, the cause of an error may pass, or is_left() stopped the loading. These
 * count as done: a table that was declined or no longer exists, a stop between two graphs, and
 * replicas that were not sent.
 */
extern bool hg_loader_take_in(HgResidentRelation key, bool (*is_left)(void), MemoryContext context);

/* hg_loader_graph.c: makes the graphs of a table's keys from the versions of its segments */

/*
 * Makes the graphs of a table that are requested or out of step, until is_left returns true.  The
 * caller has claimed the table, so that no other loader works on it.  No transaction is open
 * before or after.  Returns false if some graph could not be made now, and is still requested.
 */
extern bool hg_loader_make_graphs(HgResidentRelation key, bool (*is_left)(void),
								  MemoryContext context);

#endif /* HG_LOADER_TABLE_H */
