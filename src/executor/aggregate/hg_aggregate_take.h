/*-------------------------------------------------------------------------
 *
 * hg_aggregate_take.h
 *	  The aggregate node's way from a batch of rows to the states of groups.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_TAKE_H
#define HG_AGGREGATE_TAKE_H

#include "batch/hg_batch.h"
#include "executor/aggregate/hg_aggregate_small.h"
#include "executor/aggregate/hg_aggregate_filter.h"
#include "executor/aggregate/hg_aggregate_advance.h"

typedef struct HgAggregateState HgAggregateState; /* hg_aggregate_state.h */

/* What rows are looked at with, and the batch that is being taken. */
typedef struct HgAggregateTaking
{
	/* from the plan */
	int nfilters;
	ExprState **filters;			 /* [nfilters] those that functions have, each once */
	HgColumnFilter **column_filters; /* [nfilters] the same over columns, or NULL */
	int ncolumns;					 /* columns of a batch that filters and arguments use */
	int *columns;					 /* [ncolumns] */
	HgArithmetic *arithmetic;		 /* arguments that can be computed column by column */

	/* the batch */
	HgSelection *filtered;	   /* [nfilters] what passes ... */
	uint16 *filter_rows;	   /* [nfilters][HG_BATCH_ROWS] ... and where it is noted */
	int *filter_first;		   /* [nfilters] the first of the current run's ... */
	int *filter_next;		   /* [nfilters] ... and the next that may pass */
	uint16 *every_row;		   /* [HG_BATCH_ROWS] 0, 1, 2, ... */
	int nby_run;			   /* functions that take it by runs ... */
	int *by_run;			   /* [nby_run] ... are these ... */
	int nby_column;			   /* ... and all others, which take it by columns, */
	int *by_column;			   /* [nby_column] these */
	const HgNumbers **numbers; /* [functions] arguments that could be computed by columns */
	char **numerics;		   /* [columns] made of its integers, by row; NULL: none were yet */
	HgSmallDomain small;	   /* its rows by their group columns, where there are few kinds */
	bool few;				   /* ... there are */
	HgBatch *kinds;			   /* [small.nkinds] what new groups would have */
	HgGroup *kind_groups[HG_SMALL_KINDS]; /* [small.nkinds] where the groups are in memory */
} HgAggregateTaking;

/*
 * Set up how functions take rows of batches of ncolumns, in CurrentMemoryContext.  Their arguments
 * are known, and the caller has filled in what is from the plan.
 */
extern void hg_aggregate_begin_taking(HgAggregateTaking *taking, int ncolumns, int nfunctions,
									  HgFunction *functions);

/* ... and how groups are found for them: the groups are set up. */
extern void hg_aggregate_begin_finding(HgAggregateState *state);

/* Can the functions take rows as they lie in arrays?  They are set up. */
extern bool hg_aggregate_takes_arrays(const HgAggregateState *state);

/* Take such rows. */
extern void hg_aggregate_take_arrays(HgAggregateState *state, const HgRun *run);

/* Take the rows of a batch: into groups in memory, or those that are not there to disk. */
extern void hg_aggregate_take(HgAggregateState *state, const HgBatch *batch);

#endif /* HG_AGGREGATE_TAKE_H */
