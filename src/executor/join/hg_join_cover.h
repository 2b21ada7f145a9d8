/*-------------------------------------------------------------------------
 *
 * hg_join_cover.h
 *	  The join node's covered rows, whose keys come from cached HashGraphs, and what such a
 *	  join costs.
 *
 * The planner and the node ask the cost model which sides to cover (batch/hg_covered.h).  The node
 * then calls hg_join_cover() for each side before it reads the side, and hg_join_cover_matcher()
 * when it joins rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_COVER_H
#define HG_JOIN_COVER_H

#include "postgres.h"

#include "nodes/nodes.h"

#include "backend/matcher/hg_matcher_spec.h"
#include "batch/hg_input.h"
#include "batch/hg_key.h"
#include "engine/hg_engine.h"
#include "executor/join/hg_join_rules.h"

/*
 * hg_join_cover_cost.c: cost model of a join whose sides are read or covered by cached
 * HashGraphs
 */

/* What is expected of a join. */
typedef struct HgCoverShape
{
	double rows[2];		 /* by HgSide: rows of the side that pass its quals */
	double covered[2];	 /* by HgSide: share of the table's rows that can be covered, 0 to 1 */
	double pages[2];	 /* by HgSide: blocks whose visibility must be checked to cover it */
	double edges[2];	 /* by HgSide: rows of the table, which are edges of its graph */
	bool has_replica[2]; /* by HgSide: a device has a replica of the graph */
	bool decided[2];	 /* by HgSide: it is decided whether the side is covered */

	/*
	 * Inner keys are dense integers, which can be a HashGraph's vertices without being hashed.
	 * Outer rows can then be streamed past any number of inner rows in memory.
	 */
	bool dense;

	bool answered;	   /* the parent needs only a row count, or groups that a device can compute */
	int columns[2];	   /* by HgSide: columns that are needed of a joined row */
	double pairs;	   /* number of joined rows */
	double inner_room; /* inner delta rows that fit into work memory; with more it spills */
	bool spills_apart; /* if the join spills, only delta rows go to disk */
} HgCoverShape;

/*
 * Returns true if a join can put its delta rows on disk and leave covered rows as they are.
 * parallel_hash: the processes share both sides.
 */
extern bool hg_join_spills_apart(JoinType join_type, bool parallel_hash);

/*
 * Returns the number of processes among which the work is divided: the workers plus the leader's
 * share, as PostgreSQL estimates it.  At least 1.
 */
extern double hg_join_processes(int workers);

/*
 * Returns true if a device should join both sides' covered rows: it is estimated to be faster, or
 * hg_force is set.  Both sides must be covered and have replicas, and the device's answer must
 * suffice (answered); otherwise returns false.
 */
extern bool hg_cover_asks_device(const HgCoverShape *shape, const bool cover[2]);

/*
 * Returns the nanoseconds that a device takes for a multi-way join of njoins joins.  edges is the
 * number of rows of all its tables together.
 */
extern double hg_cover_star_ns(int njoins, double edges);

/*
 * Returns true if a device should do such a join, whose fact relation has fact_rows rows: it is
 * estimated to be faster, or hg_force is set.
 */
extern bool hg_cover_asks_star(int njoins, double fact_rows, double edges);

/* Returns the estimated nanoseconds of a join if the sides with cover[side] are covered. */
extern double hg_join_cover_ns(const HgCoverShape *shape, const bool cover[2]);

/* Sets cover[] to the cheapest choice.  For a decided side, cover[side] is input and stays. */
extern void hg_join_cover_choose(const HgCoverShape *shape, bool cover[2]);

/* hg_join_cover.c: the join node's covered rows, whose keys come from cached HashGraphs */

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
 * Orders the parts of the encoder and of both inputs' keys as cached HashGraphs have them, before
 * anything is read.  Joins that processes share keep their order, because all processes must agree
 * on it.
 */
extern void hg_join_order_keys(HgJoinState *state, HgKeyEncoder *encoder);

/*
 * Returns true if the join has yet to decide whether to cover rows of a side, and a cached
 * HashGraph has some of them.  Returns false once the join has gone to disk or uploads keys, and
 * always if processes share the join, because these decide before they start.
 */
extern bool hg_join_may_yet_cover(const HgJoinState *state, HgSide side);

/*
 * Returns true if the plan needs only the number of rows of the join, some of which may be rows
 * without a match, so that rows without a match can be counted instead of read.
 */
extern bool hg_join_may_count_unmatched(const HgJoinState *state);

/* Returns true if the settings allow a join to cover rows. */
extern bool hg_join_cover_enabled(void);

/*
 * Decides whether to cover rows of a side, before its first rows are read, and covers them if that
 * is cheaper.  The inner side is decided and read before the outer one.
 */
extern void hg_join_cover(HgJoinState *state, HgSide side);

/*
 * The next four functions are for processes below a Gather that read both sides together.
 *
 * Decides in the leader, before workers start, which rows to cover for all processes, covers them,
 * and initializes covered, covers, at_once and stays_covered of *shared.  The leader keeps the
 * versions pinned until after hg_join_end_cover().
 */
extern void hg_join_cover_parallel(HgJoinState *state, HgJoinShared *shared);

/* Prepares the covered rows for a further execution, in the leader, before its workers start. */
extern void hg_join_cover_again(HgInput *const inputs[2], HgJoinShared *shared);

/* Covers the leader's covered rows in a worker, when it starts; or sets cover.too_late. */
extern void hg_join_attach_covered(HgJoinState *state);

/*
 * Before the leader releases its covered rows: keeps workers that start later from pinning them.
 * Such a worker has nothing to do.
 */
extern void hg_join_end_cover(HgJoinShared *shared);

/*
 * Makes this process read its share of the covered rows after its delta rows, because the join goes
 * to disk. Each process that shares the join calls it for its own inputs.
 */
extern void hg_join_read_covered(HgInput *const inputs[2], HgJoinShared *shared);

/*
 * For a join whose inner rows do not fit into memory: returns true if it puts only delta rows on
 * disk and its covered rows stay covered, and false if it reads all rows and puts them on disk.
 */
extern bool hg_join_stays_covered(const HgJoinState *state);

/*
 * In a join that has gone to disk: covered rows of each side are joined with the partitions of the
 * other side's delta rows from now on.  Clears the bits of matched rows: no covered row has found a
 * match yet.
 */
extern void hg_join_covered_meet_partitions(HgJoinCover *cover, const HgJoinMatched matched[2]);

/*
 * Starts joining covered rows with covered rows, when all partitions are joined.  Returns false if
 * there is nothing to join: no rows are covered, or that was done already.
 */
extern bool hg_join_covered_meet_covered(HgJoinCover *cover);

/* Joins covered rows with all rows again, because nothing is on disk any more. */
extern void hg_join_covered_meet_all(HgJoinCover *cover);

/*
 * Returns the number of ordinals of an input's covered rows (hg_covered.h) if delta rows are on
 * disk, otherwise 0.  The bits at these ordinals, which say what rows have matched, must be kept
 * from one partition to the next.
 */
extern uint64 hg_join_lasting_ordinals(const HgJoinCover *cover, const HgInput *input);

/* Sets covered[] for the sides whose rows are covered, or would be if execution started now. */
extern void hg_join_expect_covered(const HgJoinState *state, bool covered[2]);

/* Returns true if rows of either side are covered. */
extern bool hg_join_has_covered(HgInput *const inputs[2]);

/* Returns true if rows of either side are covered, or would be if execution started now. */
extern bool hg_join_expects_covered(const HgJoinState *state);

/* Uncovers an input's rows, if there are any: all of its rows are read from its start. */
extern void hg_join_uncover(HgInput *input);

/* Returns true if a side's covered rows are joined with the rows in memory, once with each. */
extern bool hg_join_joins_covered(const HgJoinState *state, HgSide side);

/* Returns true if joining the rows in memory shows which covered rows of a side lack a match. */
extern bool hg_join_ends_covered(const HgJoinState *state, HgSide side);

/*
 * Returns true if a semi or anti join must remember which outer rows have matched, because matches
 * of an outer row may not come one after the other, or may come in several processes.  inner_delta
 * is the number of inner delta rows of all processes.
 */
extern bool hg_join_covered_repeats(const HgJoinState *state, uint64 inner_delta);

/*
 * Adds the covered rows that are joined with the rows in memory, and the devices to ask about them,
 * to a matcher's specification.  Applies pending predicates, or has the matcher do so.
 */
extern void hg_join_cover_matcher(HgJoinState *state, HgMatcherSpec *spec);

#endif /* HG_JOIN_COVER_H */
