/*-------------------------------------------------------------------------
 *
 * hg_join_star_touched.h
 *	  Facts of a star that may find rows which a device does not know.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_STAR_TOUCHED_H
#define HG_JOIN_STAR_TOUCHED_H

#include "batch/hg_covered_rows.h"
#include "executor/join/hg_join_star_graphs.h"

/*
 * Adds the covered facts that may find delta rows of other tables, or are found by such, to rows,
 * in CurrentMemoryContext; a row may come more than once.  Those tables are read, and begin again
 * from their start.  Returns false if there are too many.
 */
extern bool hg_star_find_touched(const HgJoinTree *tree, const HgStarGraphs *graphs,
								 HgIntegers *rows);

#endif /* HG_JOIN_STAR_TOUCHED_H */
