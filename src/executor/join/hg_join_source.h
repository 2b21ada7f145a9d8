/*-------------------------------------------------------------------------
 *
 * hg_join_source.h
 *	  A join below another node of this extension: hands up columns without forming rows.
 *
 * A node creates a source for its child, requests columns and the like with the functions below,
 * and then reads it (HgBatchSource in batch/hg_batch.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_SOURCE_H
#define HG_JOIN_SOURCE_H

#include "nodes/extensible.h"

#include "batch/hg_batch.h"
#include "batch/hg_top_filter.h"
#include "executor/join/hg_join_reduce.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/* The name of the join node.  Nodes are recognized by its address. */
extern const char hg_join_name[];

/*
 * Methods of the join's state (hg_join.c).  next_batch() fills the output's batch with the next
 * rows, and returns false at the end.
 */
typedef struct HgJoinMethods
{
	CustomExecMethods base; /* must be first */
	bool (*next_batch)(HgJoinState *state);
} HgJoinMethods;

/*
 * Creates the source of a child plan: a join of this extension hands over its batches, and
 * hg_scan_table.h reads any other plan.  It is an HgSourceMaker (batch/hg_child_rows.h).
 */
extern HgBatchSource *hg_join_source_create(PlanState *plan, int nattnos, const int *attnos);

/* Returns the join behind a source, or NULL if the source is no join of this extension. */
extern HgJoinState *hg_join_source_join(const HgBatchSource *source);

/* Returns the index in the join's scan slot of a column of a source that is a join. */
extern int hg_join_source_column(const HgBatchSource *source, int column);

/*
 * Reads a source without columns to its end, and sets *rows to the number of its rows.  Returns
 * false, and does nothing, if the source is no join: then the caller counts batches.
 */
extern bool hg_join_source_count(HgBatchSource *source, uint64 *rows);

/* Lets a join return its rows in any order, all of which are read.  Other sources ignore it. */
extern void hg_join_source_take_all(HgBatchSource *source);

/*
 * Lets a join remove rows of its table that an ORDER BY by a column of the source does not need,
 * before the first row is read.  The table is that of its outer side, or of the outer side of a
 * join there.  Does nothing if the source is no join, if the column comes from elsewhere, or if the
 * join calls volatile functions.
 */
extern void hg_join_source_set_top(HgBatchSource *source, int column, HgTopFilter *top);

/*
 * Lets a join hand over groups wherever it can: next() passes them to reducer->take()
 * (hg_join_reduce.h) and returns the other rows.  Columns of the reducer are those of the source's
 * batches; it is not copied.  Returns false if the source can never make groups.
 */
extern bool hg_join_source_reduce(HgBatchSource *source, const HgReducer *reducer);

#endif /* HG_JOIN_SOURCE_H */
