/*-------------------------------------------------------------------------
 *
 * hg_loader_graph.h
 *	  Making the HashGraphs of a table's keys, of what its segments have in memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_GRAPH_H
#define HG_LOADER_GRAPH_H

#include "hg_compat.h"

#include "resident/hg_resident_key.h"

/*
 * Make the graphs of a table that are wanted, or out of step, until is_left says to go; nobody else
 * takes the table in meanwhile.  No transaction is open, and none is left so.  False: some of them
 * could not be made now, and are still wanted.
 */
extern bool hg_loader_make_graphs(HgResidentRelation key, bool (*is_left)(void),
								  MemoryContext context);

#endif /* HG_LOADER_GRAPH_H */
