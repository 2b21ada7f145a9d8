/*-------------------------------------------------------------------------
 *
 * hg_aggregate_function.h
 *	  Aggregate functions over batches: what they are, and what they can take.
 *
 * How they take rows stands in hg_aggregate_advance.h and hg_aggregate_bulk.h, and what they return
 * in hg_aggregate_result.h.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_FUNCTION_H
#define HG_AGGREGATE_FUNCTION_H

#include "nodes/execnodes.h"

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

/* Choose the loop for the type of words. */
#define HG_FOR_WORD(word, call)                                                                    \
	do                                                                                             \
	{                                                                                              \
		switch (word)                                                                              \
		{                                                                                          \
			case HG_WORD_INT2:                                                                     \
				call(HG_WORD_INT2);                                                                \
				break;                                                                             \
			case HG_WORD_INT4:                                                                     \
				call(HG_WORD_INT4);                                                                \
				break;                                                                             \
			case HG_WORD_UINT4:                                                                    \
				call(HG_WORD_UINT4);                                                               \
				break;                                                                             \
			case HG_WORD_INT8:                                                                     \
				call(HG_WORD_INT8);                                                                \
				break;                                                                             \
		}                                                                                          \
	} while (0)

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

/*
 * Set up a function for an Aggref: everything but filter and argument.  Its state goes to
 * *offset, which is moved behind it.  States of by-reference values live in states, what
 * its functions leave behind goes to temporary.
 */
extern void hg_function_init(HgFunction *function, const Aggref *aggref, Size *offset,
							 MemoryContext states, MemoryContext temporary);

/* Can it take numbers, whatever they are made of? */
extern bool hg_function_takes_numbers(const HgFunction *function);

/* Can it take rows of which none is NULL as they lie in arrays (HgRun)? */
extern bool hg_function_takes_arrays(const HgFunction *function);

#endif /* HG_AGGREGATE_FUNCTION_H */
