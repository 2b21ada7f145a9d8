/*-------------------------------------------------------------------------
 *
 * hg_comparison.h
 *	  Clauses that are compiled into predicates: comparisons, and conditions on texts.
 *
 * The left side is a column, or an expression over columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COMPARISON_H
#define HG_COMPARISON_H

#include "nodes/nodes.h"
#include "nodes/primnodes.h"

#include "batch/hg_predicate.h"

/* "column operator constant", or its negation. */
typedef struct HgComparison
{
	AttrNumber attno;	  /* 0 if the left side is an expression */
	HgCompared *compared; /* the expression; NULL for a column */
	Oid type;
	HgValueOrder order;
	Oid other_type; /* type of the constant */
	int strategy;	/* btree strategy number of the operator */
	bool negated;	/* the comparison by strategy is to be false, and not NULL */
} HgComparison;

/*
 * Returns the attribute number of node if it is a Var of a user column, bare or, for a varchar,
 * below a RelabelType to text.  Returns 0 for anything else, such as a system column.  Sets *type
 * to the type of node in any case.
 */
extern AttrNumber hg_comparison_column(Node *node, Oid *type);

/*
 * Initializes a comparison "column opno constant", or its negation, with constants of other_type.
 * column is a column or an expression over columns, and collation the operator's.  Returns false if
 * the comparison is not supported.
 */
extern bool hg_comparison_init(HgComparison *comparison, Node *column, Oid other_type, Oid opno,
							   Oid collation, bool negated);

/* Returns the predicate of the comparison with NULL, which is TRUE for no row. */
extern HgPredicate *hg_comparison_null(const HgComparison *comparison);

/*
 * Returns the predicate of the rows for which the comparison holds with one of
 * constants[nconstants], or with all of them if all is true.  It is made in CurrentMemoryContext
 * and may point into the constants.  There is at least one constant, and none is NULL.  Returns
 * NULL if a constant is not supported.
 */
extern HgPredicate *hg_comparison_predicate(const HgComparison *comparison, int nconstants,
											const Datum *constants, bool all);

/*
 * Returns the predicate of the rows for which "column opno other" holds, or, if negated, does not
 * hold.  Both sides are columns or expressions over columns.  Returns NULL if that is not
 * supported.
 */
extern HgPredicate *hg_comparison_predicate_column(Node *column, Node *other, Oid opno,
												   bool negated);

/* Returns true if the operator is LIKE of text or char(n). */
extern bool hg_text_is_like(Oid opno);

/*
 * Returns the predicate "column LIKE pattern", or NOT LIKE if negated, in CurrentMemoryContext.
 * The pattern is not NULL.  Returns NULL if it has wildcards other than %, or cannot be compared
 * as bytes.
 */
extern HgPredicate *hg_predicate_from_like(AttrNumber attno, const Const *pattern, Oid collation,
										   bool negated);

#endif /* HG_COMPARISON_H */
