/*-------------------------------------------------------------------------
 *
 * hg_join_source.h
 *	  A join below another node of ours: columns go up without forming a row in between.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_SOURCE_H
#define HG_JOIN_SOURCE_H

#include "nodes/extensible.h"

#include "batch/hg_batch.h"
#include "executor/join/hg_join_reduce.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/* The name of the join node, which is told by its address. */
extern const char hg_join_name[];

/*
 * The methods of the node's state (hg_join.c): next_batch fills its output's batch with the next
 * rows of the join; false at the end.
 */
typedef struct HgJoinMethods
{
	CustomExecMethods base; /* must be first */
	bool (*next_batch)(HgJoinState *state);
} HgJoinMethods;

/*
 * The source of a child plan: a join of our own hands over its batches, any other plan is read by
 * hg_scan.h.  An HgSourceMaker (hg_input.h).
 */
extern HgBatchSource *hg_join_source_create(PlanState *plan, int nattnos, const int *attnos);

/* The join of our own behind a source, or NULL. */
extern HgJoinState *hg_join_source_join(const HgBatchSource *source);

/* Of such a source, the place of a column in the join's scan slot. */
extern int hg_join_source_column(const HgBatchSource *source, int column);

/*
 * The number of rows of a source of no columns, all at once.  False, and nothing is done, where
 * the source is not a join of our own: then batches must be counted.
 */
extern bool hg_join_source_count(HgBatchSource *source, uint64 *rows);

/*
 * All rows of the source will be taken, whatever their order.  Nothing is done where the source is
 * not a join of our own.
 */
extern void hg_join_source_take_all(HgBatchSource *source);

/*
 * Have rows of the source, which is a join of ours, come in groups wherever they can: next() hands
 * them to the reducer, which must stay in place, and returns the other rows.  False, and nothing is
 * done, where they never can.  Columns are of the source's batches.
 */
extern bool hg_join_source_reduce(HgBatchSource *source, const HgReducer *reducer);

#endif /* HG_JOIN_SOURCE_H */
