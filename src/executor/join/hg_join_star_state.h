/*-------------------------------------------------------------------------
 *
 * hg_join_star_state.h
 *	  State of a multi-way join, for the files of hg_join_star.c.
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
	bool possible; /* the joins form a tree that a device can join at once */
	bool answered; /* the device has answered in this execution */

	/* valid while the device is asked */
	HgStarGraphs graphs;
	HgFlatSide covered[2];
	HgIntegers
		stale_probes; /* stale probes: covered fact rows that the device is not asked about */
	uint64 asked;	  /* number of fact rows that it is asked about */
	HgReduction reduction;
	HgJoinCodes codes;
	HgTreeColumn columns[2][HG_MAX_COLUMNS]; /* columns of the reduction */
};

#endif /* HG_JOIN_STAR_STATE_H */
