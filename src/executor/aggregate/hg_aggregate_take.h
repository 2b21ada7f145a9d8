/*-------------------------------------------------------------------------
 *
 * hg_aggregate_take.h
 *	  The aggregate node's way from a batch of rows to the states of groups.
 *
 * The node calls hg_aggregate_begin_taking() and hg_aggregate_begin_finding() once, and then a take
 * function for each batch or run.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_TAKE_H
#define HG_AGGREGATE_TAKE_H

#include "batch/hg_batch.h"
#include "executor/aggregate/hg_aggregate_groups.h"
#include "executor/aggregate/hg_aggregate_advance.h"
#include "executor/aggregate/hg_aggregate_spill.h"

typedef struct HgAggregateState HgAggregateState; /* hg_aggregate_state.h */

/* Filters and arguments of the functions, and the batch that is being aggregated. */
typedef struct HgAggregateTaking
{
	/* from the plan */
	int nfilters;
	ExprState **filters;			 /* [nfilters] the distinct FILTER clauses of the functions */
	HgColumnFilter **column_filters; /* [nfilters] the same, evaluated over columns; or NULL */
	int ncolumns;			  /* number of columns of a batch that filters and arguments use */
	int *columns;			  /* [ncolumns] */
	HgArithmetic *arithmetic; /* arguments that are computed column by column */

	/* the batch */
	HgSelection *filtered;	   /* [nfilters] rows that pass each filter, in filter_rows */
	uint16 *filter_rows;	   /* [nfilters][HG_BATCH_ROWS] */
	int *filter_first;		   /* [nfilters] where the current run begins in filtered[] */
	int *filter_next;		   /* [nfilters] next entry of filtered[] to compare rows with */
	uint16 *every_row;		   /* [HG_BATCH_ROWS] 0, 1, 2, ... */
	int nby_run;			   /* number of functions that process the batch by runs */
	int *by_run;			   /* [nby_run] their indexes */
	int nby_column;			   /* number of functions that process it by columns */
	int *by_column;			   /* [nby_column] their indexes */
	const HgNumbers **numbers; /* [functions] argument as computed by columns, or NULL */
	char **numerics;		   /* [columns] numerics made of scaled integers, or NULL */
	HgSmallDomain small;	   /* the batch's rows by the Datums of their group columns */
	bool few;				   /* small is valid: the batch has few kinds of rows */
	HgBatch *kinds;			   /* [small.nkinds] group columns of one row of each kind */
	HgGroup *kind_groups[HG_SMALL_KINDS]; /* [small.nkinds] the group of each kind */
} HgAggregateTaking;

/*
 * Allocates the working memory for batches of ncolumns, in CurrentMemoryContext.  The functions'
 * arguments must be known, and the caller has filled in the members that follow from the plan.
 */
extern void hg_aggregate_begin_taking(HgAggregateTaking *taking, int ncolumns, int nfunctions,
									  HgFunction *functions);

/* Prepares to find the groups of batches' rows.  The node's groups must be set up. */
extern void hg_aggregate_begin_finding(HgAggregateState *state);

/* Returns true if all functions accept rows from arrays (HgRun), and there is no GROUP BY. */
extern bool hg_aggregate_takes_arrays(const HgAggregateState *state);

/* Aggregates a run of rows; hg_aggregate_takes_arrays() must be true. */
extern void hg_aggregate_take_arrays(HgAggregateState *state, const HgRun *run);

/* Aggregates the rows of a batch; rows whose groups do not fit into memory go to files. */
extern void hg_aggregate_take(HgAggregateState *state, const HgBatch *batch);

/*
 * Groups the rows of a batch of the input by the DISTINCT columns that have sets of their own
 * (hg_aggregate_sets.h).
 */
extern void hg_aggregate_take_distinct(HgAggregateState *state, const HgBatch *batch);

#endif /* HG_AGGREGATE_TAKE_H */
