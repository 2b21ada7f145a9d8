/*-------------------------------------------------------------------------
 *
 * hg_predicate.h
 *	  Clauses over columns, which are decided for the rows of a batch at once.
 *
 * A predicate is a set of rows: those for which an expression of SQL is TRUE.  It has two values
 * where the expression has three, because what is asked of it always is whether it is TRUE; the
 * rows for which it is FALSE are another predicate.
 *
 * It can't fail, and has no effects.  Some rows may stay UNDECIDED: those with values that are
 * compressed, out of line, or of a kind that is not understood.  They are left to the expression.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PREDICATE_H
#define HG_PREDICATE_H

#include "access/attnum.h"
#include "access/tupdesc.h"

#include "batch/hg_batch.h"
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
	HG_PREDICATE_NUMERIC,  /* the same of a numeric's units of 10^-HG_PREDICATE_SCALE */
	HG_PREDICATE_ORDER,	   /* the integer -1, 0 or 1 that tells its order to another column is */
	HG_PREDICATE_BYTES,	   /* its bytes compare so with a constant's, and it is not NULL */
	HG_PREDICATE_EQUAL,	   /* its bytes are one of some constants', or of none, and not NULL */
	HG_PREDICATE_PREFIX,   /* its bytes begin with a constant's, or don't, and it is not NULL */
} HgPredicateKind;

/* Decimal digits behind the point in which numerics are compared. */
#define HG_PREDICATE_SCALE 16

typedef struct HgBytes
{
	const char *data;
	int length;
} HgBytes;

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

	HgIntervals *set; /* of INTEGER, NUMERIC and ORDER */
	int scale;		  /* of units: what fast was made for */
	bool fast_negated;
	int nfast;
	int64 *fast_lows;  /* [nfast] of the set within 64 bits, or of what is not in it */
	int64 *fast_highs; /* [nfast] */

	bool negated;	/* of EQUAL and PREFIX */
	bool allows[3]; /* of BYTES: the row's value may be less, equal, greater */
	int nbytes;
	HgBytes *bytes; /* [nbytes]; of EQUAL sorted, each once */
};

/* What is known of all values of a column. */
typedef struct HgValueBounds
{
	bool has_nulls; /* some may be */
	bool all_nulls;
	/* the integers of those that are not NULL, or the units of NUMERIC, are from low to high */
	bool known;
	int128 low;
	int128 high;
} HgValueBounds;

/* Of all rows, are none in a predicate, or all; and if that is not known, some.  They ascend. */
typedef enum HgPredicateShare
{
	HG_SHARE_NONE,
	HG_SHARE_SOME,
	HG_SHARE_ALL
} HgPredicateShare;

/*
 * ------------------------------------------------------------------------
 * Making predicates, in CurrentMemoryContext
 * ------------------------------------------------------------------------
 */

extern HgPredicate *hg_predicate_constant(bool holds);
extern HgPredicate *hg_predicate_null(AttrNumber attno, bool is_null);
/* The column's integer, or units, is in a set. */
extern HgPredicate *hg_predicate_integer(AttrNumber attno, HgValueOrder order, HgIntervals *set);
/* The order of the column to another one is in a set. */
extern HgPredicate *hg_predicate_order(AttrNumber attno, HgValueOrder order, AttrNumber other_attno,
									   HgIntervals *set);
/* Comparisons of bytes; those of constants stay where they are, of BLANKS without these. */
extern HgPredicate *hg_predicate_bytes(AttrNumber attno, HgValueOrder order, HgBytes constant,
									   const bool *allows);
extern HgPredicate *hg_predicate_equal(AttrNumber attno, HgValueOrder order, int nconstants,
									   HgBytes *constants, bool negated);
extern HgPredicate *hg_predicate_prefix(AttrNumber attno, HgValueOrder order, HgBytes prefix,
										bool negated);

/* What is in all of args, or in any; sets of one column become one, and args are used up. */
extern HgPredicate *hg_predicate_combine(HgPredicateKind kind, int nargs, HgPredicate **args);
extern HgPredicate *hg_predicate_not(HgPredicate *arg);

/* The bytes of a value that is neither compressed nor out of line. */
extern HgBytes hg_predicate_value(HgValueOrder order, Datum value);

/*
 * The units of 10^-HG_PREDICATE_SCALE of a numeric; false where it is none of so many or out of
 * reach.
 */
extern bool hg_predicate_units(Datum value, int128 *units);

/*
 * ------------------------------------------------------------------------
 * Using them
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

/*
 * holds[i] = is row i of a batch in it?  undecided[i] is set where that is not known, and left
 * alone elsewhere.  Returns whether it has set one.
 */
extern bool hg_predicate_apply(HgPredicate *predicate, const HgBatch *batch, bool *holds,
							   bool *undecided);

/* Is it told by the integers that are inside the values of one column alone? */
static inline bool
hg_predicate_is_plain(const HgPredicate *predicate)
{
	return predicate->kind == HG_PREDICATE_INTEGER && predicate->order == HG_ORDER_SIGNED &&
		   predicate->nfast <= 1;
}

/* Then: the same of values[n] that lie one behind the other, none of them NULL. */
extern void hg_predicate_apply_plain(const HgPredicate *predicate, const void *values, int n,
									 bool *holds);

/* Is it told by the bytes of the values of one column alone? */
static inline bool
hg_predicate_is_bytes(const HgPredicate *predicate)
{
	return predicate->kind == HG_PREDICATE_BYTES || predicate->kind == HG_PREDICATE_EQUAL ||
		   predicate->kind == HG_PREDICATE_PREFIX;
}

/* Then: does it hold for a value that is not NULL?  False where that is not known. */
extern bool hg_predicate_apply_value(const HgPredicate *predicate, Datum value, bool *holds);

/* What of rows is in a predicate of whose columns this is known, by columns of the batch. */
extern HgPredicateShare hg_predicate_judge(const HgPredicate *predicate,
										   const HgValueBounds *bounds);

#endif /* HG_PREDICATE_H */
