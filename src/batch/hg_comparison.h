/*-------------------------------------------------------------------------
 *
 * hg_comparison.h
 *	  Comparisons of a column or what is computed of columns with constants, or with another one, as
 *	  predicates.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COMPARISON_H
#define HG_COMPARISON_H

#include "nodes/nodes.h"

#include "batch/hg_predicate.h"

/* "column operator constant", or its negation. */
typedef struct HgComparison
{
	AttrNumber attno;	  /* 0: of no column, but of ... */
	HgCompared *compared; /* ... what is computed; or NULL */
	Oid type;
	HgValueOrder order;
	Oid other_type; /* the constant's */
	int strategy;
	bool negated;
} HgComparison;

/* The column that an expression is, as a value of *type; 0 where it is none. */
extern AttrNumber hg_comparison_column(Node *node, Oid *type);

/*
 * A comparison of a column, or what is computed of columns, with constants of a type; false where
 * it is not understood.
 */
extern bool hg_comparison_init(HgComparison *comparison, Node *column, Oid other_type, Oid opno,
							   Oid collation, bool negated);

/* The rows for which it is TRUE with a constant that is NULL: none. */
extern HgPredicate *hg_comparison_null(const HgComparison *comparison);

/*
 * The rows for which it holds with one of the constants, or with all of them, in
 * CurrentMemoryContext; NULL where that is not understood.  No constant is NULL, and there is one
 * at least; they stay where they are.
 */
extern HgPredicate *hg_comparison_predicate(const HgComparison *comparison, int nconstants,
											const Datum *constants, bool all);

/*
 * The rows for which a column, or what is computed of columns, compares so with another one, or
 * where negated does not; likewise.
 */
extern HgPredicate *hg_comparison_predicate_column(Node *column, Node *other, Oid opno,
												   bool negated);

#endif /* HG_COMPARISON_H */
