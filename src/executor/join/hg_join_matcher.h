/*-------------------------------------------------------------------------
 *
 * hg_join_matcher.h
 *	  The join node's matcher: its making, what follows then, its figures, its end.
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
#include "executor/join/hg_join_size.h"

/* What joins the rows in memory. */
typedef struct HgJoinMatching
{
	HgMatcher *matcher;	   /* or NULL */
	MemoryContext context; /* that it lives in, and nothing else */
	HgCharge fetched;	   /* matches that came from a device to be kept */
	uint64 reckoned;	   /* what the words of the rows are charged for the job ... */
	HgCharge job;		   /* ... and what it takes beside that */
} HgJoinMatching;

/* There is no matcher; those to come live in a child of the node's memory. */
extern void hg_join_matching_init(HgJoinMatching *matching, HgJoinMemory *memory);

/*
 * Build the HashGraphs of the rows in memory, and start the stream of their matches; nothing is
 * sent any more.  The caller has filled in how many matches are expected, what the participants
 * share, and what outer rows that come later are told by (streamed_rows); all else of the spec is
 * filled in here.
 */
extern void hg_join_create_matcher(HgJoinState *state, HgMatcherSpec *spec);

/*
 * Does nobody look at the rows of a side that matches have?  A sum of outer columns asks how often
 * each row matches, not what.
 */
extern bool hg_join_is_unread(const HgJoinState *state, HgSide side);

/* Charge what the matcher's job has taken so far: matching may have it take more. */
extern void hg_join_charge_job(HgJoinMatching *matching);

/* The stream of matches begins, or begins again: returns the phase that is to be entered. */
extern HgJoinPhase hg_join_start_output(HgJoinState *state);

/* Have matches reduced, those that can be: the same. */
extern HgJoinPhase hg_join_reduce_matches(HgJoinState *state);

/* Done with the matcher, if there is one: keep its figures, free what it holds. */
extern void hg_join_retire_matcher(HgJoinState *state);

/* Free what the matcher holds, as if there had been none: it turned out to be of no use. */
extern void hg_join_discard_matcher(HgJoinMatching *matching);

#endif /* HG_JOIN_MATCHER_H */
