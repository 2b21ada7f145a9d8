/*-------------------------------------------------------------------------
 *
 * hg_aggregate_function.h
 *	  Aggregate functions over batches: their description, and which inputs they accept.
 *
 * hg_aggregate_advance.h and hg_aggregate_bulk.h advance their states; hg_aggregate_result.h makes
 * results of the states.
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

/* How the Datum of an inline aggregate's argument holds an integer. */
typedef enum HgWordType
{
	HG_WORD_INT2,
	HG_WORD_INT4,
	HG_WORD_INT8,
	HG_WORD_UINT4
} HgWordType;

/* Expands call(type) with the constant for word, so that each type gets a loop of its own. */
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
	bool partial;			  /* the result is the state, for a Finalize Aggregate node above */
	HgWordType word;		  /* type of the argument of an inline aggregate */
	HgTransition *transition; /* the aggregate's own functions; NULL: not needed */
	Size offset;			  /* offset of the state in a group, in bytes */
	int filter;				  /* index of its filter among the node's filters; -1: none */
	int column;				  /* the argument's column in the batch; -1: it is no plain column */
	ExprState *argument;	  /* computed argument; NULL: a column, or none with column -1 */
	int number;				  /* index in the node's HgArithmetic; -1: not computed there */
	int16 argument_len;		  /* typlen of the argument's type */
	bool argument_byval;
	Datum *results;		/* [HG_BATCH_ROWS] the computed argument of the current batch */
	bool *results_null; /* [HG_BATCH_ROWS] */
} HgFunction;

/*
 * Initializes a function for an Aggref, except for its filter and its argument.  Its state is
 * placed at *offset, which is advanced past the state.  By-reference values of states are
 * allocated in states; transition functions run in temporary.  Raises an error if the user may not
 * call the aggregate.
 */
extern void hg_function_init(HgFunction *function, const Aggref *aggref, Size *offset,
							 MemoryContext states, MemoryContext temporary);

/* Returns true if the function accepts arguments computed column by column (HgNumbers). */
extern bool hg_function_takes_numbers(const HgFunction *function);

/* Returns true if the function accepts rows without NULLs from arrays (HgRun). */
extern bool hg_function_takes_arrays(const HgFunction *function);

#endif /* HG_AGGREGATE_FUNCTION_H */
