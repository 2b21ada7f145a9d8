/*-------------------------------------------------------------------------
 *
 * hg_predicate.h
 *	  Clauses over columns, as sets of rows.
 *
 * A predicate is the set of rows for which an SQL expression is TRUE.  It is two-valued, because
 * callers only ask whether the expression is TRUE.  The rows for which it is FALSE are another
 * predicate.
 *
 * A predicate is made of an expression (hg_predicate_clause.h) and bound to the columns of a
 * batch.  It is then applied to batches (hg_predicate_apply.h), or judged by bounds of all values
 * (hg_predicate_judge.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PREDICATE_H
#define HG_PREDICATE_H

#include "access/attnum.h"
#include "access/tupdesc.h"

#include "batch/hg_bytes.h"
#include "batch/hg_compared.h"
#include "batch/hg_intervals.h"
#include "batch/hg_value_order.h"

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
	/* The column's bytes compare with a constant's as allows says; never NULL. */
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
	int other;
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

	/* results for the codes of a dictionary (hg_predicate_apply.c) */
	uint64 dictionary; /* serial of the dictionary; 0 if there is none */
	uint32 nverdicts;
	uint8 *verdicts; /* [nverdicts] */
};

/*
 * ------------------------------------------------------------------------
 * Functions that make predicates, in CurrentMemoryContext
 * ------------------------------------------------------------------------
 */

/* Returns all rows, or none. */
extern HgPredicate *hg_predicate_constant(bool holds);
/* Returns the rows in which the column is NULL, or is not. */
extern HgPredicate *hg_predicate_null(AttrNumber attno, bool is_null);
/* Returns the rows whose integer, or scaled integer for HG_ORDER_NUMERIC, is in set. */
extern HgPredicate *hg_predicate_integer(AttrNumber attno, HgValueOrder order, HgIntervals *set);
/* Returns the rows in which the order of the column to the other column is in set. */
extern HgPredicate *hg_predicate_order(AttrNumber attno, HgValueOrder order, AttrNumber other_attno,
									   HgIntervals *set);
/* Returns the rows in which the expression's number, or the two expressions' order, is in set. */
extern HgPredicate *hg_predicate_computed(HgCompared *compared, HgValueOrder order,
										  HgIntervals *set);
/*
 * Compare bytes with constants, which are not copied; BLANKS are without trailing blanks.
 * hg_predicate_bytes() takes allows[3] for less, equal and greater.  hg_predicate_equal() sorts
 * constants[nconstants].
 */
extern HgPredicate *hg_predicate_bytes(AttrNumber attno, HgValueOrder order, HgBytes constant,
									   const bool *allows);
extern HgPredicate *hg_predicate_equal(AttrNumber attno, HgValueOrder order, int nconstants,
									   HgBytes *constants, bool negated);
/*
 * Returns the rows whose value contains the parts one behind the other; the bytes are not copied.
 * If at_start or at_end is set, the value begins with the first or ends with the last part.
 */
extern HgPredicate *hg_predicate_like(AttrNumber attno, HgValueOrder order, int nparts,
									  const HgBytes *parts, bool at_start, bool at_end,
									  bool negated);

/*
 * Returns the rows that are in all of args (AND) or in any (OR).  Sets of one column are merged.
 * The array stays the caller's; its predicates become the result's.
 */
extern HgPredicate *hg_predicate_combine(HgPredicateKind kind, int nargs, HgPredicate **args);
/* Returns the rows that are not in arg, which becomes the result's. */
extern HgPredicate *hg_predicate_not(HgPredicate *arg);

/*
 * Sets the integer of a numeric, scaled by 10^HG_PREDICATE_SCALE.  Returns false if it has more
 * decimals or is too large.
 */
extern bool hg_predicate_scale_value(Datum value, int128 *scaled);

/*
 * ------------------------------------------------------------------------
 * Preparation
 * ------------------------------------------------------------------------
 */

/*
 * Binds a predicate's columns to those of a batch.  Column c of the batch is attribute attnos[c].
 * Missing attributes are appended, and *nattnos is raised; attnos has room for all of the table's
 * columns.
 */
extern void hg_predicate_bind(HgPredicate *predicate, TupleDesc desc, AttrNumber *attnos,
							  int *nattnos);

/* Sets used[column] for the columns of the batch that the predicate reads. */
extern void hg_predicate_mark(const HgPredicate *predicate, bool *used);

/* Sets used[column] for those that it can read as codes (HgBatch.takes_codes). */
extern void hg_predicate_mark_codes(const HgPredicate *predicate, bool *used);

/*
 * Scales the intervals of a predicate's set to values of 64 bits times 10^scale.  They are created
 * for 10^HG_PREDICATE_SCALE.  It may be called during a scan.
 */
extern void hg_predicate_prepare(HgPredicate *predicate, int scale);

#endif /* HG_PREDICATE_H */
