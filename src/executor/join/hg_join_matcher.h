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
	uint64 reckoned;	   /* bytes for the job that the rows' key columns are charged for */
	HgCharge job;		   /* what the job takes beyond reckoned */
} HgJoinMatching;

/* Initializes without a matcher.  Matchers live in a child of the node's memory context. */
extern void hg_join_matching_init(HgJoinMatching *matching, HgJoinMemory *memory);

/*
 * Builds the HashGraphs of the rows in memory and starts the stream of their matches.
 * Asynchronous upload ends.  The caller sets pairs, and participants or streamed_rows and
 * inner_bits if they apply; this function fills in the rest of the spec.
 */
extern void hg_join_create_matcher(HgJoinState *state, HgMatcherSpec *spec);

/*
 * Returns true if nothing reads the rows of a side in matches.  A sum of outer columns, for
 * example, needs to know how often each row matches, but not with which inner row.
 */
extern bool hg_join_is_unread(const HgJoinState *state, HgSide side);

/* Charges what the matcher's job has taken so far; matching can take more. */
extern void hg_join_charge_job(HgJoinMatching *matching);

/* Ends the matcher, if there is one: adds its statistics to the record and frees it. */
extern void hg_join_retire_matcher(HgJoinState *state);

/* Frees the matcher without recording statistics, because it turned out to be of no use. */
extern void hg_join_discard_matcher(HgJoinMatching *matching);

#endif /* HG_JOIN_MATCHER_H */
