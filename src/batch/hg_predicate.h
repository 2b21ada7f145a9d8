/*-------------------------------------------------------------------------
 *
 * hg_predicate.h
 *	  Clauses over columns, as sets of rows.
 *
 * A predicate is the set of a table's rows for which an SQL expression is TRUE.  The rows for which
 * it is FALSE are another predicate; rows for which it is NULL are in neither.
 *
 * hg_predicate_from_clause() makes a predicate of an expression, and hg_predicate_bind() binds it
 * to the columns of a batch.  It can then be applied to batches or to arrays of cached columns,
 * compared with bounds of all values, or compiled into a filter for a device.  A predicate lives as
 * long as the memory context in which it was made.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PREDICATE_H
#define HG_PREDICATE_H

#include "postgres.h"

#include "access/attnum.h"
#include "access/tupdesc.h"
#include "nodes/nodes.h"

#include "batch/hg_arithmetic.h"
#include "batch/hg_batch.h"
#include "batch/hg_value_order.h"
#include "engine/hg_row_filter.h"
#include "resident/hg_resident_array.h"
#include "resident/hg_resident_graph.h"

/*
 * Sets of integers as intervals.
 *
 * Integers have 128 bits, so that neighbours of 64-bit integers are representable.  Sets are
 * immutable, and are created in CurrentMemoryContext.
 */

#define HG_INTERVAL_MIN ((int128) ((uint128) 1 << 127))
#define HG_INTERVAL_MAX (~HG_INTERVAL_MIN)

/* Both ends are included. */
typedef struct HgInterval
{
	int128 low;
	int128 high;
} HgInterval;

/* Ascending intervals, with at least one integer between two of them. */
typedef struct HgIntervals
{
	int n;
	HgInterval intervals[FLEXIBLE_ARRAY_MEMBER];
} HgIntervals;

/* Returns the union of intervals[n]; sorts that array.  An interval with low > high is empty. */
extern HgIntervals *hg_intervals_create(int n, HgInterval *intervals);

/* Returns the set of the integers from low to high, both included. */
extern HgIntervals *hg_intervals_between(int128 low, int128 high);

/* Returns the set of all integers that are not in a set. */
extern HgIntervals *hg_intervals_complement(const HgIntervals *set);

/* Returns true if the integer is in the set. */
extern bool hg_intervals_contain(const HgIntervals *set, int128 value);

/* Returns true if all integers from low to high are in the set. */
extern bool hg_intervals_cover(const HgIntervals *set, int128 low, int128 high);

/* Returns true if any integer from low to high is in the set. */
extern bool hg_intervals_meet(const HgIntervals *set, int128 low, int128 high);

/*
 * Expressions over columns of a table whose results a predicate compares.
 *
 * A predicate tests whether the number of one expression is in a set, or how two expressions
 * compare.  hg_arithmetic.c computes either exactly what PostgreSQL computes, or nothing for the
 * whole batch.  So a comparison raises no error, and a row that would raise one is rechecked.
 */

/* The most terms of all expressions that a scan's conditions compare. */
#define HG_MAX_COMPARED_TERMS 256

typedef struct HgCompared
{
	Node *exprs[2]; /* not copied; the second is NULL if there is only one */
	HgArithmetic *arithmetic;
	int numbers[2]; /* the expressions' numbers in arithmetic */
	int ncolumns;
	int *attnos;  /* [ncolumns] attributes of the table */
	int *columns; /* [ncolumns] their columns in a batch; hg_predicate_bind() sets them */
} HgCompared;

/*
 * Creates the comparison of one expression, or of two if other is not NULL, in
 * CurrentMemoryContext.  Returns NULL if the expressions have no columns, have too many terms, or
 * cannot be computed column by column.
 */
extern HgCompared *hg_compared_create(Node *expr, Node *other);

/* Returns true if both compare the same expressions. */
extern bool hg_compared_equal(const HgCompared *a, const HgCompared *b);

/*
 * Returns the numbers of the first expression for all rows of a batch, valid until the next batch.
 * Returns NULL if a row's number does not fit (hg_arithmetic_evaluate()).
 */
extern const HgNumbers *hg_compared_numbers(HgCompared *compared, const HgBatch *batch);

/*
 * Compares the two expressions in each row of a batch: sets orders[i] to -1, 0 or 1, the order of
 * the first to the second, and nulls[i] to whether either is NULL.  Returns false, and sets
 * nothing, if a row's number does not fit.
 */
extern bool hg_compared_orders(HgCompared *compared, const HgBatch *batch, int64 *orders,
							   bool *nulls);

/* hg_predicate.c: clauses over columns, as sets of rows */

typedef enum HgPredicateKind
{
	HG_PREDICATE_NONE,	   /* no row */
	HG_PREDICATE_ALL,	   /* every row */
	HG_PREDICATE_AND,	   /* the rows that are in all of args */
	HG_PREDICATE_OR,	   /* the rows that are in one of args */
	HG_PREDICATE_NOT,	   /* the rows that are not in args[0] */
	HG_PREDICATE_IS_NULL,  /* the column is NULL */
	HG_PREDICATE_NOT_NULL, /* the column is not NULL */
	HG_PREDICATE_INTEGER,  /* the column's integer is in set; never NULL */
	/* The column's numeric, scaled by 10^HG_PREDICATE_SCALE, is in set; never NULL. */
	HG_PREDICATE_NUMERIC,
	/* The order (-1, 0 or 1) of the column to another column is in set; neither is NULL. */
	HG_PREDICATE_ORDER,
	HG_PREDICATE_COMPUTED, /* the number of an expression is in set; never NULL */
	/* the order of one expression to another is in set; neither is NULL */
	HG_PREDICATE_COMPUTED_ORDER,
	/* The order of the column's bytes to a constant's is one that allows[] allows; never NULL. */
	HG_PREDICATE_BYTES,
	HG_PREDICATE_EQUAL, /* the column's bytes are one of bytes, or none; never NULL */
	HG_PREDICATE_LIKE,	/* the column's bytes contain all of bytes, or do not; never NULL */
} HgPredicateKind;

/* Decimals with which numerics are compared. */
#define HG_PREDICATE_SCALE 16

typedef struct HgPredicate HgPredicate;
struct HgPredicate
{
	HgPredicateKind kind;
	int nargs;
	HgPredicate **args; /* [nargs] */

	/* the column of the table, and how it is compared */
	AttrNumber attno;
	int column; /* column of the batch */
	int16 attlen;
	HgValueOrder order;
	AttrNumber other_attno; /* of ORDER: the other column */
	int other;				/* its column of the batch */
	int16 other_attlen;

	/* of COMPUTED and COMPUTED_ORDER; order is NUMERIC or an order of integers */
	HgCompared *compared;
	int nterms; /* terms of this predicate's expressions and its arguments' */

	HgIntervals *set;  /* of INTEGER, NUMERIC, ORDER, COMPUTED and COMPUTED_ORDER */
	int scale;		   /* decimals for which fast_lows and fast_highs are scaled */
	bool fast_negated; /* the intervals are those of the set's complement */
	int nfast;
	int64 *fast_lows;  /* [nfast] intervals within 64 bits */
	int64 *fast_highs; /* [nfast] */

	bool negated;	/* of EQUAL and LIKE */
	bool at_start;	/* of LIKE: the value begins with the first of bytes */
	bool at_end;	/* of LIKE: the value ends with the last of bytes */
	bool allows[3]; /* of BYTES: the value may be less, equal, greater */
	int nbytes;
	HgBytes *bytes; /* [nbytes]; of EQUAL sorted and distinct; of LIKE none is empty */

	/* results for the codes of the dictionary last seen (hg_predicate_apply.c) */
	uint64 dictionary; /* serial of the dictionary; 0 if there is none */
	uint32 nverdicts;  /* room of verdicts */
	uint8 *verdicts;   /* by code: 0 or 1 for whether the value passes; others: not known */
};

/*
 * ------------------------------------------------------------------------
 * Functions that make predicates, in CurrentMemoryContext
 * ------------------------------------------------------------------------
 *
 * Their comments say which rows the returned predicate has.  It keeps sets, HgCompareds and the
 * bytes of constants without a copy; arrays stay the caller's.  attno is a column of the table, and
 * order says how its values are compared.  For BLANKS, constants have no trailing blanks.
 */

/* Returns the predicate of all rows if holds is true, otherwise of none. */
extern HgPredicate *hg_predicate_constant(bool holds);
/* Returns the rows in which the column is NULL if is_null is true, otherwise the others. */
extern HgPredicate *hg_predicate_null(AttrNumber attno, bool is_null);
/*
 * Returns the rows whose integer is in set.  For HG_ORDER_NUMERIC, that is the value times
 * 10^HG_PREDICATE_SCALE.
 */
extern HgPredicate *hg_predicate_integer(AttrNumber attno, HgValueOrder order, HgIntervals *set);
/* Returns the rows in which the order (-1, 0 or 1) of the column to the other one is in set. */
extern HgPredicate *hg_predicate_order(AttrNumber attno, HgValueOrder order, AttrNumber other_attno,
									   HgIntervals *set);
/* Returns the rows in which the expression's number, or the two expressions' order, is in set. */
extern HgPredicate *hg_predicate_computed(HgCompared *compared, HgValueOrder order,
										  HgIntervals *set);
/*
 * Returns the rows whose bytes are less than, equal to or greater than the constant's, as far as
 * allows[0], [1] and [2] are true.
 */
extern HgPredicate *hg_predicate_bytes(AttrNumber attno, HgValueOrder order, HgBytes constant,
									   const bool *allows);
/*
 * Returns the rows whose bytes equal those of one of constants[nconstants] or, if negated, of none.
 * Sorts the constants.
 */
extern HgPredicate *hg_predicate_equal(AttrNumber attno, HgValueOrder order, int nconstants,
									   HgBytes *constants, bool negated);
/*
 * Returns the rows whose value contains the parts one behind the other or, if negated, does not. If
 * at_start or at_end is set, the value begins with the first or ends with the last part.
 */
extern HgPredicate *hg_predicate_like(AttrNumber attno, int nparts, const HgBytes *parts,
									  bool at_start, bool at_end, bool negated);

/*
 * Returns the rows that are in all of args (AND) or in any (OR).  Sets of one column are merged.
 * The result owns the args' predicates.
 */
extern HgPredicate *hg_predicate_combine(HgPredicateKind kind, int nargs, HgPredicate **args);
/* Returns the rows that are not in arg, those with NULL included; the result owns arg. */
extern HgPredicate *hg_predicate_not(HgPredicate *arg);

/*
 * Sets *scaled to a numeric times 10^HG_PREDICATE_SCALE.  Returns false if the numeric has more
 * decimals, is too large, or cannot be decoded (hg_numeric_decode()).
 */
extern bool hg_predicate_scale_value(Datum value, int128 *scaled);

/*
 * ------------------------------------------------------------------------
 * Preparation
 * ------------------------------------------------------------------------
 */

/*
 * Binds a predicate's columns to those of a batch.  Column c of the batch is attribute attnos[c]
 * of the table, whose descriptor is desc.  Missing attributes are appended, and *nattnos is raised;
 * attnos has room for all of the table's columns.
 */
extern void hg_predicate_bind(HgPredicate *predicate, TupleDesc desc, AttrNumber *attnos,
							  int *nattnos);

/* Sets used[column] to true for the columns of the batch that the predicate reads. */
extern void hg_predicate_mark(const HgPredicate *predicate, bool *used);

/* Sets used[column] to true for columns that it can read as codes (HgBatch.takes_codes). */
extern void hg_predicate_mark_codes(const HgPredicate *predicate, bool *used);

/*
 * Prepares a predicate that has a set for values that are stored as 64-bit integers times 10^scale:
 * sets fast_lows and fast_highs.  A new predicate is prepared for HG_PREDICATE_SCALE.  It may be
 * called during a scan.
 */
extern void hg_predicate_prepare(HgPredicate *predicate, int scale);

/*
 * ------------------------------------------------------------------------
 * Predicates of expressions (hg_predicate_clause.c)
 * ------------------------------------------------------------------------
 */

/*
 * Returns the rows for which an expression over columns of one table is TRUE, or FALSE if holds is
 * false, in CurrentMemoryContext.  Constants of the expression are not copied.  Returns NULL if
 * the expression is not supported.
 */
extern HgPredicate *hg_predicate_from_clause(Node *clause, bool holds);

/*
 * ------------------------------------------------------------------------
 * Predicates and the bounds of all values
 * ------------------------------------------------------------------------
 */

/* Bounds of all values of a column. */
struct HgValueBounds
{
	bool has_nulls; /* some values may be NULL */
	bool all_nulls;
	/* all values that are not NULL, as integers or times 10^HG_PREDICATE_SCALE, are low to high */
	bool known;
	int128 low;
	int128 high;
};

/* The share of rows that are in a predicate; HG_SHARE_SOME if that is unknown.  Ascending. */
typedef enum HgPredicateShare
{
	HG_SHARE_NONE,
	HG_SHARE_SOME,
	HG_SHARE_ALL
} HgPredicateShare;

/*
 * Returns the share of rows that are in a predicate; bounds are by column of the batch.  A
 * predicate that computes an expression always has HG_SHARE_SOME.
 */
extern HgPredicateShare hg_predicate_share(const HgPredicate *predicate,
										   const HgValueBounds *bounds);

/*
 * ------------------------------------------------------------------------
 * Predicates and the rows of a batch (hg_predicate_apply.c)
 * ------------------------------------------------------------------------
 */

/*
 * A predicate is applied after hg_predicate_bind(), raises no error, and has no effects.  Some rows
 * need a recheck by the SQL expression.  Their values are compressed, out of line or not
 * understood, or a computed number of their batch does not fit.
 */

/*
 * Sets holds[i] to whether the predicate holds for row i of a batch.  If that is unknown, it sets
 * recheck[i], and the caller evaluates the whole qual for the row.  Other elements of recheck keep
 * their values.  Returns true if it has set one.
 */
extern bool hg_predicate_apply(HgPredicate *predicate, const HgBatch *batch, bool *holds,
							   bool *recheck);

/*
 * Sets *holds to whether a BYTES, EQUAL or LIKE predicate holds for a value that is not NULL.
 * Returns false if that is unknown, because the value is compressed or out of line.
 */
extern bool hg_predicate_apply_one(const HgPredicate *predicate, Datum value, bool *holds);

/*
 * Applies a BYTES, EQUAL or LIKE predicate to all values of a dictionary.  Returns true if
 * predicate->verdicts then has a boolean for each code, and false if some value needs a recheck.
 */
extern bool hg_predicate_apply_dictionary(HgPredicate *predicate, const HgDictionary *dictionary);

/*
 * ------------------------------------------------------------------------
 * Predicates and the arrays of a segment (hg_predicate_arrays.c)
 * ------------------------------------------------------------------------
 */

/* A column of a segment: consecutive blocks of the table, whose rows are in arrays in the cache. */
struct HgPredicateColumn
{
	const HgSegmentArray *array;
	const HgDictionary *dictionary; /* of an array with codes */
};

/*
 * Returns true if the predicate can be applied to the arrays of its columns, which is faster than
 * to values fetched from them.  It is then prepared for these arrays.  columns[] is by column of
 * the batch.
 */
extern bool hg_predicate_takes_arrays(HgPredicate *predicate, const HgPredicateColumn *columns);

/*
 * Sets holds[i] to whether the predicate holds for row first + i of the segment, for i < n <=
 * HG_BATCH_ROWS.  hg_predicate_takes_arrays() must have returned true for these columns.
 */
extern void hg_predicate_apply_arrays(const HgPredicate *predicate,
									  const HgPredicateColumn *columns, uint32 first, int n,
									  bool *holds);

/*
 * ------------------------------------------------------------------------
 * Predicates as filters of a device that has replicas of the columns (hg_predicate_filter.c)
 * ------------------------------------------------------------------------
 */

/*
 * Each column that the predicate reads must have a replica beside that of a graph of the rows.  A
 * replica has integers, scaled integers, or codes of values; values of codes are tested here, one
 * by one.  Columns without a replica are reported as demand, all at once.
 */

/*
 * Adds a filter to filters, which are zeroed or already have the filters of earlier lookups.  It
 * passes the rows of a pinned graph that are in all of predicates[npredicates], which are bound.
 * lookup is 0 for a side's own rows, and n for rows that the side's lookup n - 1 finds.  Narrows
 * *device_set to the devices that have all columns.  Returns false, and leaves filters and
 * *device_set as they were, if no device has them or a predicate cannot be a filter.
 */
extern bool hg_predicate_filter_add(HgRowFilters *filters, uint32 lookup,
									const HgPinnedGraph *graph, int npredicates,
									HgPredicate **predicates, HgDeviceSet *device_set);

#endif /* HG_PREDICATE_H */
