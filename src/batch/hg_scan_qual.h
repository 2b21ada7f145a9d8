/*-------------------------------------------------------------------------
 *
 * hg_scan_qual.h
 *	  The part of a table scan's qual that is evaluated over columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_QUAL_H
#define HG_SCAN_QUAL_H

#include "nodes/pg_list.h"

#include "batch/hg_predicate_judge.h"
#include "batch/hg_scan_tuples.h"

typedef struct HgColumnQual HgColumnQual;

/* The rows that are left of some, in their order. */
typedef struct HgRowsLeft
{
	int n;
	uint16 which[HG_BATCH_ROWS]; /* [n] places of them among those that were left before */
	bool any_recheck;			 /* and then ... */
	bool recheck[HG_BATCH_ROWS]; /* [n] ... is row which[i] one for the whole qual to tell of? */
} HgRowsLeft;

/* Is a clause one of those that are evaluated over columns (hg_predicate_clause.h)? */
extern bool hg_column_qual_takes(Node *clause);

/*
 * Of the qual of a plan over rows of desc, an implicitly ANDed list, the clauses that are
 * evaluated over columns, in CurrentMemoryContext; NULL where there is none.  Those behind a
 * clause that calls volatile functions are left out.  *rest is a list of the other clauses, in
 * their order.
 */
extern HgColumnQual *hg_column_qual_create(TupleDesc desc, List *qual, List **rest);

/* The attributes that are looked at, each once; returns their number. */
extern int hg_column_qual_attributes(const HgColumnQual *qual, const AttrNumber **attnos);

/* Are all these columns at the same place in each row without NULLs? */
extern bool hg_column_qual_is_fixed(const HgColumnQual *qual);

/* What of the rows of a segment is left by each of the clauses, as far as it is known. */
typedef struct HgQualShares HgQualShares;

/* In CurrentMemoryContext. */
extern HgQualShares *hg_column_qual_shares_create(const HgColumnQual *qual);

/* A segment's, of whose columns this is known, in the order of the attributes. */
extern void hg_column_qual_judge(const HgColumnQual *qual, const HgValueBounds *bounds,
								 HgQualShares *shares);

/* ... by one of the clauses, ... */
extern HgPredicateShare hg_column_qual_share_of(const HgQualShares *shares, int number);

/* ... and by all of them, or with in_order of those ahead of a parameter. */
extern HgPredicateShare hg_column_qual_share(const HgColumnQual *qual, bool in_order,
											 const HgQualShares *shares);

/* An empty batch for columns of these attributes. */
extern HgBatch *hg_column_qual_batch(HgColumnQual *qual);

/*
 * Which of tuples[ntuples] are left?  With in_order those of the clauses alone are evaluated that
 * no clause with a parameter stands ahead of, in the whole qual.
 */
extern void hg_column_qual_filter(HgColumnQual *qual, bool in_order, int ntuples,
								  const HeapTupleHeader *tuples, HgRowsLeft *left);

/*
 * Clause by clause, for who has the columns elsewhere: the predicates that are evaluated, from 0
 * on, whose columns are those of the attributes above.
 */
extern int hg_column_qual_count(const HgColumnQual *qual, bool in_order);
extern HgPredicate *hg_column_qual_predicate(const HgColumnQual *qual, int number);

/* All of n rows are left ... */
extern void hg_rows_left_init(HgRowsLeft *left, int n);
/*
 * ... and then keeps those of the rows left that a predicate holds for, or that are to be
 * rechecked, by their place among them.  recheck is NULL where no row is.
 */
extern void hg_rows_left_select(HgRowsLeft *left, const bool *holds, const bool *recheck);

#endif /* HG_SCAN_QUAL_H */
