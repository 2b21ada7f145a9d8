/*-------------------------------------------------------------------------
 *
 * hg_join_state.h
 *	  The join node's state: the plan's settings, and one part for each of the node's files.
 *
 * A part is a structure of the header that is named after it.  Only that file's functions change
 * it, unless the header says otherwise.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_STATE_H
#define HG_JOIN_STATE_H

#include "nodes/execnodes.h"

#include "batch/hg_input.h"
#include "executor/join/hg_join.h"
#include "executor/join/hg_join_chunk.h"
#include "executor/join/hg_join_cover.h"
#include "executor/join/hg_join_emit.h"
#include "executor/join/hg_join_lookup.h"
#include "executor/join/hg_join_matcher.h"
#include "executor/join/hg_join_memory.h"
#include "executor/join/hg_join_pages.h"
#include "executor/join/hg_join_progress.h"
#include "executor/join/hg_join_reduce.h"
#include "executor/join/hg_join_rescan.h"
#include "executor/join/hg_join_rows.h"
#include "executor/join/hg_join_rules.h"
#include "executor/join/hg_join_shared.h"
#include "executor/join/hg_join_star_graphs.h"
#include "executor/join/hg_join_upload.h"

struct HgJoinState
{
	CustomScanState css; /* must be first */

	/* from the plan */
	HgJoinRules rules;
	int parallel_hash;	  /* planned workers if processes share both sides; else 0 */
	int read_once;		  /* HgSide that a single process reads for all; or -1 */
	bool dense;			  /* the inner keys are known to be dense */
	bool rewind;		  /* rescans without changed outer parameters are expected */
	Bitmapset *params[2]; /* by HgSide: PARAM_EXEC numbers in the keys */

	HgJoinProgress progress;
	HgJoinMemory memory;

	/* from the children to HashGraphs */
	HgInput *inputs[2]; /* by HgSide */
	HgJoinReading reading;
	HgJoinCover cover;
	HgJoinRescan rescan;
	HgJoinSpill spill;
	HgJoinLookup lookup; /* adaptive join */

	/* from HashGraphs to rows */
	HgJoinMatching matching;
	HgJoinStreaming streaming;
	HgJoinMatched matched[2]; /* by HgSide */
	HgJoinEmission emission;
	HgJoinOutput output;

	/* for devices; pointers are NULL without one */
	HgUpload *upload;			/* uploads the keys that are being read (hg_join_upload.h) */
	HgJoinGather *gather;		/* columns that may come with the matches */
	HgJoinReduction *reduction; /* groups, if the node above accepts them */
	HgJoinStar *star;			/* multi-way join that this is the topmost join of */
	HgJoinMultiway multiway;	/* its result */
	HgJoinPages pages;			/* joins of tables' pages on a device */

	/* below a Gather */
	HgJoinParticipants participants;
};

/* Returns a number of the join's plan. */
static inline int
hg_join_plan_number(const HgJoinState *state, HgPlanNumber number)
{
	const CustomScan *plan = (const CustomScan *) state->css.ss.ps.plan;

	return list_nth_int(list_nth(plan->custom_private, HG_PRIVATE_NUMBERS), number);
}

/* Returns true if the join is below a Gather. */
static inline bool
hg_join_is_parallel(const HgJoinState *state)
{
	return hg_join_plan_number(state, HG_NUMBER_PARALLEL) > 0;
}

/* Returns true if a row has found a match. */
static inline bool
hg_join_is_matched(const HgJoinState *state, HgSide side, uint32 row)
{
	return hg_row_bits_test(state->matched[side].bits,
							hg_child_ordinal(&state->inputs[side]->child, row));
}

/* Returns true if an outer row has as many matches as it may have. */
static inline bool
hg_join_row_is_finished(const HgJoinState *state, uint32 outer_row)
{
	const HgJoinEmission *emission = &state->emission;

	return (emission->skip_rest && outer_row == emission->skip_outer) ||
		   (state->matched[HG_OUTER].once && hg_join_is_matched(state, HG_OUTER, outer_row));
}

#endif /* HG_JOIN_STATE_H */
