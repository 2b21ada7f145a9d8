/*-------------------------------------------------------------------------
 *
 * hg_join_cover.h
 *	  The join node's covered rows, whose keys come from cached HashGraphs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_COVER_H
#define HG_JOIN_COVER_H

#include "backend/matcher/hg_matcher_spec.h"
#include "batch/hg_key.h"

typedef struct HgJoinState HgJoinState;	  /* hg_join_state.h */
typedef struct HgJoinShared HgJoinShared; /* hg_join_shared.h */

/* What the covered rows of a side are joined with. */
typedef enum HgCoveredWith
{
	HG_COVERED_WITH_ALL = 0,	/* all rows of the other side */
	HG_COVERED_WITH_PARTITIONS, /* partitions of the other side's delta rows */
	HG_COVERED_WITH_COVERED		/* the other side's covered rows, after all partitions */
} HgCoveredWith;

typedef struct HgJoinCover
{
	HgCoveredWith with;
	bool too_late; /* in a worker: the leader has ended and released the covered rows */
	HgReplicaCovered replica[2]; /* by HgSide: the replica that devices had when last asked */
	uint64 columns_bytes;		 /* least size of the columns that were needed then */
} HgJoinCover;

/*
 * Orders the parts of the join's keys as cached HashGraphs have them, before anything is read.
 * Joins that processes share keep their order, because all processes must agree on it.
 */
extern void hg_join_order_keys(HgJoinState *state, HgKeyEncoder *encoder);

/* Returns true if rows of a side may still be covered and a HashGraph has some of them. */
extern bool hg_join_may_yet_cover(const HgJoinState *state, HgSide side);

/* Returns true if, as far as the plan shows, rows without a match can be counted unseen. */
extern bool hg_join_may_count_unmatched(const HgJoinState *state);

/* Returns true if the settings allow a join to cover rows. */
extern bool hg_join_cover_enabled(void);

/*
 * Decides whether to cover rows of a side, before its first rows are read, and covers them if that
 * is cheaper.  The inner side is decided and read before the outer one.
 */
extern void hg_join_cover(HgJoinState *state, HgSide side);

/*
 * For processes below a Gather that read both sides together.  The leader calls
 * hg_join_cover_parallel() before workers start, which covers rows for all processes and holds
 * them, and hg_join_cover_again() before each further execution.  A worker calls
 * hg_join_attach_covered() when it starts, to use the leader's covered rows.
 */
extern void hg_join_cover_parallel(HgJoinState *state, HgJoinShared *shared);
extern void hg_join_cover_again(HgJoinState *state);
extern void hg_join_attach_covered(HgJoinState *state);

/* Releases the leader's covered rows.  A worker that starts later has nothing to do. */
extern void hg_join_end_cover(HgJoinShared *shared);

/* Makes processes read the covered rows behind the delta rows, as the join goes to disk. */
extern void hg_join_read_covered(HgJoinState *state);

/*
 * Returns true if only delta rows go to disk, because those beside covered inner rows do not fit
 * into memory.  Otherwise all rows are read and go to disk.
 */
extern bool hg_join_stays_covered(const HgJoinState *state);

/*
 * hg_join_covered_meet_partitions() starts joining the covered rows of each side with partitions
 * of the other side's delta rows.  When all partitions are joined, hg_join_covered_meet_covered()
 * starts joining covered rows with covered rows.  It returns false if no rows are covered or they
 * were joined already.
 */
extern void hg_join_covered_meet_partitions(HgJoinState *state);
extern bool hg_join_covered_meet_covered(HgJoinState *state);

/* Joins covered rows with all rows again, because nothing is on disk any more. */
extern void hg_join_covered_meet_all(HgJoinState *state);

/*
 * Returns the number of leading bit positions of a side, those of its covered rows, that stay in
 * memory from one partition to the next; 0 unless delta rows are on disk.
 */
extern uint64 hg_join_lasting_ordinals(const HgJoinState *state, HgSide side);

/* Sets covered[] for the sides whose rows are covered, or would be if execution started now. */
extern void hg_join_expect_covered(const HgJoinState *state, bool covered[2]);

/* Returns true if rows of either side are covered. */
extern bool hg_join_has_covered(const HgJoinState *state);

/* Returns true if rows of either side are covered, or would be if execution started now. */
extern bool hg_join_expects_covered(const HgJoinState *state);

/* Uncovers a side's rows, if there are any: all of its rows are read from its start. */
extern void hg_join_uncover(HgJoinState *state, HgSide side);

/* Returns true if a side's covered rows are joined with the rows in memory, once with each. */
extern bool hg_join_joins_covered(const HgJoinState *state, HgSide side);

/* Returns true if the join of the rows in memory settles which covered rows have no match. */
extern bool hg_join_ends_covered(const HgJoinState *state, HgSide side);

/*
 * Returns true if a semi or anti join may get more matches of an outer row that do not follow the
 * first one, or get them in another process.  inner_delta is the number of inner delta rows of all
 * processes.
 */
extern bool hg_join_covered_repeats(const HgJoinState *state, uint64 inner_delta);

/* Adds the covered rows, and the devices to ask about them, to a matcher's specification. */
extern void hg_join_cover_matcher(HgJoinState *state, HgMatcherSpec *spec);

#endif /* HG_JOIN_COVER_H */
