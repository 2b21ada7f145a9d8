/*-------------------------------------------------------------------------
 *
 * hg_join_matcher.h
 *	  The join node's matcher: creation, statistics and end.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_MATCHER_H
#define HG_JOIN_MATCHER_H

#include "backend/hg_budget.h"
#include "backend/matcher/hg_matcher.h"
#include "executor/join/hg_join_progress.h"
#include "executor/join/hg_join_memory.h"

/* What joins the rows in memory. */
typedef struct HgJoinMatching
{
	HgMatcher *matcher;	   /* NULL: there is none */
	MemoryContext context; /* holds the matcher alone */
	HgCharge fetched;	   /* matches from a device that are kept in memory */
	uint64 reckoned;	   /* bytes of the job that are charged with the rows' key columns */
	HgCharge job;		   /* charge for the bytes that the job takes beyond reckoned */
} HgJoinMatching;

/*
 * Initializes *matching without a matcher.  Its context becomes a child of memory->context, and its
 * charges go to memory->budget.
 */
extern void hg_join_matching_init(HgJoinMatching *matching, HgJoinMemory *memory);

/*
 * Builds the HashGraphs of the rows in memory and starts the stream of their matches.
 * Asynchronous upload ends.  The caller sets pairs, and participants or streamed_rows and
 * inner_bits if they apply; this function fills in the rest of the spec.
 */
extern void hg_join_create_matcher(HgJoinState *state, HgMatcherSpec *spec);

/*
 * Returns true if the join does not need to know which rows of a side are in its matches: it needs
 * no column of them, evaluates no qual, and does not track which of them have matched.  A sum of
 * outer columns, for example, needs only the number of matches of each outer row.
 */
extern bool hg_join_is_unread(const HgJoinRules *rules, const HgInput *input,
							  const HgJoinMatched *matched);

/*
 * Sets the charge for the matcher's job to what the job has taken so far.  Call it again while
 * matches are read, because that can take more memory.  There must be a matcher.
 */
extern void hg_join_charge_job(HgJoinMatching *matching);

/* Ends the matcher, if there is one: adds its statistics to the record and frees it. */
extern void hg_join_retire_matcher(HgJoinMatching *matching, HgJoinRecord *record);

/* Frees the matcher without recording statistics, because it turned out to be of no use. */
extern void hg_join_discard_matcher(HgJoinMatching *matching);

#endif /* HG_JOIN_MATCHER_H */
