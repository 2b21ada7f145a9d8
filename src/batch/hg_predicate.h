/*-------------------------------------------------------------------------
 *
 * hg_predicate.h
 *	  Clauses over columns, as sets of rows.
 *
 * A predicate is a set of rows: those for which an expression of SQL is TRUE.  It has two values
 * where the expression has three, because what is asked of it always is whether it is TRUE; the
 * rows for which it is FALSE are another predicate.
 *
 * It is made of an expression (hg_predicate_clause.h), bound to the columns of a batch, applied to
 * batches (hg_predicate_apply.h), and judged by what is known of all their values
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
	HG_PREDICATE_ALL,	   /* each row */
	HG_PREDICATE_AND,	   /* the rows that are in all of args */
	HG_PREDICATE_OR,	   /* ... in one of them */
	HG_PREDICATE_NOT,	   /* ... not in the only one */
	HG_PREDICATE_IS_NULL,  /* the column is NULL */
	HG_PREDICATE_NOT_NULL, /* ... is not */
	HG_PREDICATE_INTEGER,  /* its integer is in a set, and not NULL */
	HG_PREDICATE_NUMERIC,  /* the same of a numeric's integer scaled by 10^HG_PREDICATE_SCALE */
	HG_PREDICATE_ORDER,	   /* the integer -1, 0 or 1 that tells its order to another column is */
	HG_PREDICATE_COMPUTED, /* the number of an expression is in a set, and not NULL */
	/* ... what tells its order to another one's is, and neither is NULL */
	HG_PREDICATE_COMPUTED_ORDER,
	HG_PREDICATE_BYTES, /* the column's bytes compare so with a constant's, and it is not NULL */
	HG_PREDICATE_EQUAL, /* its bytes are one of some constants', or of none, and not NULL */
	HG_PREDICATE_LIKE,	/* some constants' are in its bytes, or are not, and it is not NULL */
} HgPredicateKind;

/* Decimal digits behind the point in which numerics are compared. */
#define HG_PREDICATE_SCALE 16

typedef struct HgPredicate HgPredicate;
struct HgPredicate
{
	HgPredicateKind kind;
	int nargs;
	HgPredicate **args; /* [nargs] */

	/* a column of the table, and as what it is compared */
	AttrNumber attno;
	int column; /* of the batch */
	int16 attlen;
	HgValueOrder order;
	AttrNumber other_attno; /* of ORDER */
	int other;
	int16 other_attlen;

	/* of COMPUTED and COMPUTED_ORDER; order tells numerics of integers */
	HgCompared *compared;
	int nterms; /* of what this and its arguments compare */

	HgIntervals *set; /* of INTEGER, NUMERIC, ORDER and what is computed */
	int scale;		  /* of scaled integers: what fast was made for */
	bool fast_negated;
	int nfast;
	int64 *fast_lows;  /* [nfast] of the set within 64 bits, or of what is not in it */
	int64 *fast_highs; /* [nfast] */

	bool negated;	/* of EQUAL and LIKE */
	bool at_start;	/* of LIKE: the first of bytes is where the value begins ... */
	bool at_end;	/* ... and the last one where it ends */
	bool allows[3]; /* of BYTES: the row's value may be less, equal, greater */
	int nbytes;
	HgBytes *bytes; /* [nbytes]; of EQUAL sorted, each once; of LIKE none is empty */

	/* what was found of the values of a dictionary's codes (hg_predicate_apply.c) */
	uint64 dictionary; /* its serial; 0: of none */
	uint32 nverdicts;
	uint8 *verdicts; /* [nverdicts] */
};

/*
 * ------------------------------------------------------------------------
 * Making predicates, in CurrentMemoryContext
 * ------------------------------------------------------------------------
 */

extern HgPredicate *hg_predicate_constant(bool holds);
extern HgPredicate *hg_predicate_null(AttrNumber attno, bool is_null);
/* The column's integer, or scaled integer, is in a set. */
extern HgPredicate *hg_predicate_integer(AttrNumber attno, HgValueOrder order, HgIntervals *set);
/* The order of the column to another one is in a set. */
extern HgPredicate *hg_predicate_order(AttrNumber attno, HgValueOrder order, AttrNumber other_attno,
									   HgIntervals *set);
/* The number of an expression is in a set, or where there are two the order of them. */
extern HgPredicate *hg_predicate_computed(HgCompared *compared, HgValueOrder order,
										  HgIntervals *set);
/* Comparisons of bytes; those of constants stay where they are, of BLANKS without these. */
extern HgPredicate *hg_predicate_bytes(AttrNumber attno, HgValueOrder order, HgBytes constant,
									   const bool *allows);
extern HgPredicate *hg_predicate_equal(AttrNumber attno, HgValueOrder order, int nconstants,
									   HgBytes *constants, bool negated);
/* The parts are in a value, one behind the other; what at_start and at_end tell is of some part. */
extern HgPredicate *hg_predicate_like(AttrNumber attno, HgValueOrder order, int nparts,
									  const HgBytes *parts, bool at_start, bool at_end,
									  bool negated);

/* What is in all of them, or in any; sets of one column become one. */
extern HgPredicate *hg_predicate_combine(HgPredicateKind kind, int nargs, HgPredicate **args);
extern HgPredicate *hg_predicate_not(HgPredicate *arg);

/*
 * Sets the integer of a numeric scaled by 10^HG_PREDICATE_SCALE; false where it has more decimals
 * or is out of reach.
 */
extern bool hg_predicate_scale_value(Datum value, int128 *scaled);

/*
 * ------------------------------------------------------------------------
 * Ahead of applying them
 * ------------------------------------------------------------------------
 */

/*
 * Have a predicate know where in a batch its columns are: attnos[*nattnos] gets those that are not
 * there, and has room for all columns of the table.
 */
extern void hg_predicate_bind(HgPredicate *predicate, TupleDesc desc, AttrNumber *attnos,
							  int *nattnos);

/* Set used[column] for the columns of a batch that it looks at. */
extern void hg_predicate_mark(const HgPredicate *predicate, bool *used);

/* Set used[column] for those whose values it may be given as codes (HgBatch.takes_codes). */
extern void hg_predicate_mark_codes(const HgPredicate *predicate, bool *used);

/*
 * Makes the bounds of a predicate's set be for values of 64 bits scaled by 10^scale.  As made they
 * are for 10^HG_PREDICATE_SCALE.  It may be called in the middle of a scan.
 */
extern void hg_predicate_prepare(HgPredicate *predicate, int scale);

#endif /* HG_PREDICATE_H */
