/*-------------------------------------------------------------------------
 *
 * hg_aggregate_function.h
 *	  Aggregate functions over batches: their description, and which inputs they accept.
 *
 * The node has an HgFunction for each state that its Aggrefs need.  hg_aggregate_advance.h advances
 * the states in groups; hg_aggregate_result.h makes results of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_FUNCTION_H
#define HG_AGGREGATE_FUNCTION_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "executor/aggregate/hg_aggregate_transition.h"

/* How an aggregate function is computed. */
typedef enum HgAggregateKind
{
	HG_AGGREGATE_UNSUPPORTED,
	HG_AGGREGATE_COUNT, /* of rows, or of values that are not NULL */
	/* sums and averages: hg_aggregate_is_sum() relies on the order */
	HG_AGGREGATE_SUM_INT,	 /* sum of int2 or int4 */
	HG_AGGREGATE_AVG_INT,	 /* avg of int2 or int4 */
	HG_AGGREGATE_SUM_BIGINT, /* sum of int8 */
	HG_AGGREGATE_AVG_BIGINT, /* avg of int8 */
	HG_AGGREGATE_SUM_NUMERIC,
	HG_AGGREGATE_AVG_NUMERIC,
	HG_AGGREGATE_MIN, /* of a type that compares as an integer */
	HG_AGGREGATE_MAX,
	HG_AGGREGATE_MIN_NUMERIC,
	HG_AGGREGATE_MAX_NUMERIC,
	HG_AGGREGATE_TRANSITION /* any other: its own transition function is called */
} HgAggregateKind;

/*
 * Returns how an aggregate function, given by its OID, is computed.  A function is unsupported if
 * its result depends on the order of rows by more than which of two equal values is returned.
 * Every supported one can be combined, and a state of type internal can be serialized.
 * Sums, averages and variances of floats are supported if hashgraph.float_sums is on.
 */
extern HgAggregateKind hg_aggregate_kind(Oid function);

/* Returns true if a kind is a sum or an average of integers or numerics. */
static inline bool
hg_aggregate_is_sum(HgAggregateKind kind)
{
	return kind >= HG_AGGREGATE_SUM_INT && kind <= HG_AGGREGATE_AVG_NUMERIC;
}

/* Returns true if a kind is computed from the integers of a column as they are. */
static inline bool
hg_aggregate_is_of_integers(HgAggregateKind kind)
{
	return (kind >= HG_AGGREGATE_SUM_INT && kind <= HG_AGGREGATE_AVG_BIGINT) ||
		   kind == HG_AGGREGATE_MIN || kind == HG_AGGREGATE_MAX;
}

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
	bool partial;	 /* the result is the state, for a Finalize Aggregate node above */
	int distinct;	 /* number of the DISTINCT column whose values it takes; -1: it takes rows */
	HgWordType word; /* type of the argument of an inline aggregate */
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
 * Initializes a function for an Aggref of a supported kind, except for its filter and its argument.
 * Its state is placed at *offset in a group, which is advanced past the state.  By-reference values
 * of states are allocated in states; transition functions run in temporary.  Raises an error if
 * the user may not call the aggregate.
 */
extern void hg_function_init(HgFunction *function, const Aggref *aggref, Size *offset,
							 MemoryContext states, MemoryContext temporary);

/* Returns true if the function accepts arguments computed column by column (HgNumbers). */
extern bool hg_function_takes_numbers(const HgFunction *function);

/* Returns true if the function accepts rows without NULLs from arrays (HgRun). */
extern bool hg_function_takes_arrays(const HgFunction *function);

#endif /* HG_AGGREGATE_FUNCTION_H */
