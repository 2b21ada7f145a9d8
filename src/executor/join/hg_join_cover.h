/*-------------------------------------------------------------------------
 *
 * hg_join_cover.h
 *	  The join node's covered rows: resident HashGraphs have their keys.
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

/* What covered rows of a side are joined with. */
typedef enum HgCoveredWith
{
	HG_COVERED_WITH_ALL = 0,	/* covered rows and delta rows of the other side */
	HG_COVERED_WITH_PARTITIONS, /* partitions of delta rows, which don't fit into memory */
	HG_COVERED_WITH_COVERED		/* covered rows of the other side, after all partitions */
} HgCoveredWith;

typedef struct HgJoinCover
{
	HgCoveredWith with;
	bool decided[2]; /* by HgSide: true once rows are covered for all executions, or none are */
	bool too_late;	 /* in a worker: the leader has ended, and let go of the covered rows */
	HgReplicaCovered replica[2]; /* by HgSide: the replica that a device was last known to have */
	uint64 columns_bytes;		 /* of the columns that were wanted then, at least */
} HgJoinCover;

/*
 * The node begins, and nothing was read: have the parts of its keys be in the order that resident
 * HashGraphs have them in.  Processes that share a join have to agree on it, and keep theirs.
 */
extern void hg_join_order_keys(HgJoinState *state, HgKeyEncoder *encoder);

/* True if rows of a side may still be covered, and a HashGraph has some of them. */
extern bool hg_join_may_yet_cover(const HgJoinState *state, HgSide side);

/* True if the settings allow a join to cover rows. */
extern bool hg_join_cover_enabled(void);

/*
 * The first rows of a side are about to be read: covers others of its rows, where that is worth
 * it.  The inner side comes first, and is read before the outer one is covered.
 */
extern void hg_join_cover(HgJoinState *state, HgSide side);

/*
 * Below a Gather, where processes read both sides together: hg_join_cover_together() is for the
 * leader, which covers rows for all processes before there are workers, and holds them.
 * hg_join_cover_again() comes before a further execution.  With hg_join_attach_covered() a worker
 * takes the covered rows over when it begins.
 */
extern void hg_join_cover_together(HgJoinState *state, HgJoinShared *shared);
extern void hg_join_cover_again(HgJoinState *state);
extern void hg_join_attach_covered(HgJoinState *state);

/* The leader lets go of the covered rows: a worker that begins later has nothing to do. */
extern void hg_join_end_cover(HgJoinShared *shared);

/* The join goes to disk: makes the covered rows be read behind the delta rows. */
extern void hg_join_read_covered(HgJoinState *state);

/*
 * Delta rows beside covered inner ones don't fit into memory: true if they alone go to disk.
 * Otherwise all rows are read, and go there.
 */
extern bool hg_join_stays_covered(const HgJoinState *state);

/*
 * Delta rows go to disk: covered rows of either side meet the other side's partitions.  When all
 * partitions are joined, covered rows meet each other.  Returns false where no rows are covered,
 * or they have met already.
 */
extern void hg_join_covered_meet_partitions(HgJoinState *state);
extern bool hg_join_covered_meet_covered(HgJoinState *state);

/* Nothing is on disk any more. */
extern void hg_join_covered_meet_all(HgJoinState *state);

/* Places of a side's rows that stay in memory from one partition to the next: the first ones. */
extern uint64 hg_join_lasting_places(const HgJoinState *state, HgSide side);

/* Sets the sides whose rows are covered, or would be as things stand. */
extern void hg_join_expect_covered(const HgJoinState *state, bool covered[2]);

/* True if rows of either side are covered. */
extern bool hg_join_has_covered(const HgJoinState *state);

/* True if they are, or would be as things stand. */
extern bool hg_join_expects_covered(const HgJoinState *state);

/* Makes all rows of a side be read, from its start, if some are covered. */
extern void hg_join_uncover(HgJoinState *state, HgSide side);

/*
 * True if covered rows of a side are joined with what is in memory.  They meet each of its rows
 * once.
 */
extern bool hg_join_joins_covered(const HgJoinState *state, HgSide side);

/* True if it is known after that which covered rows have found no match. */
extern bool hg_join_ends_covered(const HgJoinState *state, HgSide side);

/*
 * For joins where one match of an outer row counts, with the number of inner delta rows of all
 * processes: true if matchers may return more matches of a row that do not follow the first, or
 * another process may have one.
 */
extern bool hg_join_covered_repeats(const HgJoinState *state, uint64 inner_delta);

/* Passes the covered rows to a matcher. */
extern void hg_join_cover_matcher(HgJoinState *state, HgMatcherSpec *spec);

#endif /* HG_JOIN_COVER_H */
