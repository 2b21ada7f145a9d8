/*-------------------------------------------------------------------------
 *
 * hg_aggregate_function.h
 *	  Aggregate functions over batches: their states, and how these take rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_FUNCTION_H
#define HG_AGGREGATE_FUNCTION_H

#include "nodes/execnodes.h"

#include "executor/aggregate/hg_aggregate_arithmetic.h"
#include "executor/aggregate/hg_aggregate_groups.h"
#include "executor/aggregate/hg_aggregate_kind.h"
#include "executor/aggregate/hg_aggregate_transition.h"

/* How the integers of an inline aggregate lie in a Datum. */
typedef enum HgWordType
{
	HG_WORD_INT2,
	HG_WORD_INT4,
	HG_WORD_INT8,
	HG_WORD_UINT4
} HgWordType;

typedef struct HgFunction
{
	HgAggregateKind kind;
	bool partial;			  /* the result is the state, for a Finalize Aggregate above */
	HgWordType word;		  /* of the argument of inline ones */
	HgTransition *transition; /* of others, and of sums of numerics */
	Size offset;			  /* of its state in a group */
	int filter;				  /* of the node's, or -1 */
	int column;				  /* of the batch: its argument; or -1 */
	ExprState *argument;	  /* where it is no column; NULL with column -1: rows are counted */
	int number;				  /* ... by which the node's arithmetic knows it, or -1 */
	int16 argument_len;		  /* of the argument's type */
	bool argument_byval;
	Datum *results;		/* [HG_BATCH_ROWS] of a computed argument over the current batch */
	bool *results_null; /* [HG_BATCH_ROWS] */
} HgFunction;

/* Rows of a batch: rows[count], or all of the first count where rows is NULL. */
typedef struct HgSelection
{
	const uint16 *rows;
	int count;
} HgSelection;

/*
 * Set up a function for an Aggref: everything but filter and argument.  Its state goes to
 * *offset, which is moved behind it.  States of by-reference values live in states, what
 * its functions leave behind goes to temporary.
 */
extern void hg_function_init(HgFunction *function, const Aggref *aggref, Size *offset,
							 MemoryContext states, MemoryContext temporary);

/*
 * Take the selected rows: values and nulls (or NULL: none is) of the argument, by row.
 * Row r belongs to groups[r], or where groups is NULL all rows belong to group.
 */
extern void hg_function_advance(const HgFunction *function, HgSelection selection,
								const Datum *values, const bool *nulls, HgGroup *const *groups,
								HgGroup *group);

/* The same of an argument that is numbers. */
extern void hg_function_advance_numbers(const HgFunction *function, HgSelection selection,
										const HgNumbers *numbers, HgGroup *const *groups,
										HgGroup *group);

/* Can it take numbers, whatever they are made of? */
extern bool hg_function_takes_numbers(const HgFunction *function);

/* Can it take rows of which none is NULL as they lie in arrays (HgRun)? */
extern bool hg_function_takes_arrays(const HgFunction *function);

/* Take nrows rows for one group: the array of the argument, or NULL where rows are counted. */
extern void hg_function_advance_array(const HgFunction *function, int nrows, const void *array,
									  HgGroup *group);

/*
 * Take rows that a device has reduced: their number, and the words of the item that tells of the
 * argument's values (hg_engine.h), or NULL where rows are counted.
 */
extern void hg_function_merge(const HgFunction *function, HgGroup *group, uint64 rows,
							  const uint64 *item);

/* Count rows that come without a batch. */
extern void hg_function_count(const HgFunction *function, HgGroup *group, uint64 rows);

#endif /* HG_AGGREGATE_FUNCTION_H */
