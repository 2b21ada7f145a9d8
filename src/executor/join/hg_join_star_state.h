/*-------------------------------------------------------------------------
 *
 * hg_join_star_state.h
 *	  What a join at the top of a tree knows of it: the parts of hg_join_star.c share it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_STAR_STATE_H
#define HG_JOIN_STAR_STATE_H

#include "batch/hg_covered_rows.h"
#include "executor/join/hg_join_reduce.h"
#include "executor/join/hg_join_star.h"
#include "executor/join/hg_join_star_graphs.h"

struct HgJoinStar
{
	HgJoinTree tree;
	bool possible; /* the tree is one */
	bool answered; /* by the device, in this execution */

	/* while it is asked */
	HgStarGraphs graphs;
	HgFlatSide covered[2];
	HgIntegers touched; /* covered facts that the device is not asked about */
	uint64 asked;		/* facts that it is asked about, where that matters */
	HgReduction reduction;
	HgJoinCodes codes;
	HgTreeColumn columns[2][HG_MAX_COLUMNS]; /* those of the reduction */
};

#endif /* HG_JOIN_STAR_STATE_H */
