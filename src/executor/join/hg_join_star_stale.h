/*-------------------------------------------------------------------------
 *
 * hg_join_star_stale.h
 *	  Stale probes: covered fact rows of a multi-way join that may match delta rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_STAR_STALE_H
#define HG_JOIN_STAR_STALE_H

#include "batch/hg_covered_rows.h"
#include "executor/join/hg_join_star_graphs.h"

/*
 * Adds the stale probes to rows, in CurrentMemoryContext: the covered fact rows that may match
 * delta rows of other tables, directly or through rows of a third table.  A row can be added
 * twice.  Reads the tables' delta rows and starts the tables again.  Returns false if there are
 * too many.
 */
extern bool hg_star_find_stale(const HgJoinTree *tree, const HgStarGraphs *graphs,
							   HgIntegers *rows);

#endif /* HG_JOIN_STAR_STALE_H */
