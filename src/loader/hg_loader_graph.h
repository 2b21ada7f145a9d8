/*-------------------------------------------------------------------------
 *
 * hg_loader_graph.h
 *	  Makes the graphs of a table's keys from the versions of its segments.
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
 * Makes the graphs of a table that are requested or out of step, until is_left returns true.  The
 * caller has claimed the table, so that no other loader works on it.  No transaction is open
 * before or after.  Returns false if some graph could not be made now, and is still requested.
 */
extern bool hg_loader_make_graphs(HgResidentRelation key, bool (*is_left)(void),
								  MemoryContext context);

#endif /* HG_LOADER_GRAPH_H */
