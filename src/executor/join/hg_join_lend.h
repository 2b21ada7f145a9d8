/*-------------------------------------------------------------------------
 *
 * hg_join_lend.h
 *	  The join node's rows that are not read: resident HashGraphs have their keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_LEND_H
#define HG_JOIN_LEND_H

#include "backend/matcher/hg_matcher_spec.h"
#include "batch/hg_key.h"

typedef struct HgJoinState HgJoinState;	  /* hg_join_state.h */
typedef struct HgJoinShared HgJoinShared; /* hg_join_shared.h */

/* What lent rows of a side are joined with. */
typedef enum HgLentWith
{
	HG_LENT_WITH_ALL = 0,	 /* lent rows of the other side, and those that are held ... */
	HG_LENT_WITH_PARTITIONS, /* ... which are too many, and come in partitions from disk ... */
	HG_LENT_WITH_LENT		 /* ... until, in the end, lent rows meet each other */
} HgLentWith;

typedef struct HgJoinLending
{
	HgLentWith with;
	bool decided[2];	  /* by HgSide: rows of it are lent to all executions, or none are */
	bool too_late;		  /* in a worker: the leader has ended, and let go of what it has lent */
	HgKeptLent kept[2];	  /* by HgSide: what a device was last known to keep */
	uint64 columns_bytes; /* of the columns that were wanted then, at least */
} HgJoinLending;

/*
 * The node begins, and nothing was read: have the parts of its keys be in the order that resident
 * HashGraphs have them in.  Processes that share a join have to agree on it, and keep theirs.
 */
extern void hg_join_order_keys(HgJoinState *state, HgKeyEncoder *encoder);

/* True if it is undecided whether rows of a side are lent, and a HashGraph has some of them. */
extern bool hg_join_may_yet_lend(const HgJoinState *state, HgSide side);

/* May a join have lent rows, as far as settings say? */
extern bool hg_join_lend_enabled(void);

/*
 * The first rows of a side are about to be read: have others of it lent, where that is worth it.
 * The inner side is asked about first, and read before the outer one is asked about.
 */
extern void hg_join_lend(HgJoinState *state, HgSide side);

/*
 * Below a Gather, where processes read both sides together: the leader, before there are workers,
 * decides what is lent to all of them, and holds it; before a further execution; and a worker takes
 * it over, when it begins.
 */
extern void hg_join_lend_together(HgJoinState *state, HgJoinShared *shared);
extern void hg_join_lend_again(HgJoinState *state);
extern void hg_join_borrow(HgJoinState *state);

/* The leader lets go of it: a worker that begins later has nothing to do. */
extern void hg_join_end_lending(HgJoinShared *shared);

/* The join goes to disk: have lent rows be read behind the others. */
extern void hg_join_read_lent_back(HgJoinState *state);

/*
 * Rows that are read beside lent inner ones don't fit into memory: do they alone go to disk?  Else
 * all rows are read, and go there.
 */
extern bool hg_join_stays_lent(const HgJoinState *state);

/*
 * They go there: lent rows of either side meet those of the other side's partitions.  When all
 * partitions are joined, lent rows meet each other: false where none are lent, or they have.
 */
extern void hg_join_lend_to_partitions(HgJoinState *state);
extern bool hg_join_lend_to_lent(HgJoinState *state);

/* Nothing is on disk any more. */
extern void hg_join_lend_to_all(HgJoinState *state);

/* Places of a side's rows that stay in memory from one partition to the next: the first ones. */
extern uint64 hg_join_lasting_places(const HgJoinState *state, HgSide side);

/* Whose rows are lent, or would be as things stand. */
extern void hg_join_expect_lent(const HgJoinState *state, bool lent[2]);

/* Are rows of either side lent? */
extern bool hg_join_has_lent(const HgJoinState *state);

/* Are they, or would they be as things stand? */
extern bool hg_join_expects_lent(const HgJoinState *state);

/* Have all rows of a side be read, from its start, if some are lent. */
extern void hg_join_return_lent(HgJoinState *state, HgSide side);

/* Are lent rows of a side joined with what is in memory?  They are with each of its rows once. */
extern bool hg_join_joins_lent(const HgJoinState *state, HgSide side);

/* ... and then, or did they find no more matches before: is it known which have found none? */
extern bool hg_join_ends_lent(const HgJoinState *state, HgSide side);

/*
 * Where one match of an outer row counts, and so many inner rows are held, by all processes: may
 * matchers return others that do not follow it, or another process have one?
 */
extern bool hg_join_lent_repeats(const HgJoinState *state, uint64 inner_held);

/* Tell a matcher of the lent rows. */
extern void hg_join_lend_to_matcher(HgJoinState *state, HgMatcherSpec *spec);

#endif /* HG_JOIN_LEND_H */
