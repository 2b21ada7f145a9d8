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

#include "batch/hg_predicate.h"
#include "batch/hg_scan_tuples.h"

typedef struct HgColumnQual HgColumnQual;

/* The rows that are still selected, in order. */
typedef struct HgRowsLeft
{
	int n;
	uint16 which[HG_BATCH_ROWS]; /* [n] indexes among the rows that were selected before */
	bool any_recheck;			 /* some row needs a recheck */
	/* [n] if any_recheck: row which[i] needs a recheck by the whole qual. */
	bool recheck[HG_BATCH_ROWS];
} HgRowsLeft;

/* Returns true if a clause can be evaluated over columns (hg_predicate.h). */
extern bool hg_column_qual_takes(Node *clause);

/*
 * Compiles the clauses of a qual that can be evaluated over columns, in CurrentMemoryContext.  The
 * qual is an implicitly ANDed list over rows of desc.  Clauses behind one that calls volatile
 * functions are not compiled.  Sets *rest to the other clauses, in order.  Returns NULL if no
 * clause is compiled.
 */
extern HgColumnQual *hg_column_qual_create(TupleDesc desc, List *qual, List **rest);

/* Sets *attnos to the distinct attributes that the predicates read.  Returns their number. */
extern int hg_column_qual_attributes(const HgColumnQual *qual, const AttrNumber **attnos);

/* Returns true if the attributes have fixed offsets in rows without NULLs. */
extern bool hg_column_qual_is_fixed(const HgColumnQual *qual);

/* The shares of a segment's rows that the predicates select, by bounds of its values. */
typedef struct HgQualShares HgQualShares;

/* Creates the shares in CurrentMemoryContext. */
extern HgQualShares *hg_column_qual_shares_create(const HgColumnQual *qual);

/* Sets the shares of a segment from the bounds of its columns, in the order of the attributes. */
extern void hg_column_qual_judge(const HgColumnQual *qual, const HgValueBounds *bounds,
								 HgQualShares *shares);

/* Returns the share of one predicate. */
extern HgPredicateShare hg_column_qual_share_of(const HgQualShares *shares, int number);

/* Returns the share of all predicates, or with in_order of those ahead of a parameter. */
extern HgPredicateShare hg_column_qual_share(const HgColumnQual *qual, bool in_order,
											 const HgQualShares *shares);

/* Empties and returns the batch for columns of the attributes. */
extern HgBatch *hg_column_qual_batch(HgColumnQual *qual);

/*
 * Applies the predicates to tuples[ntuples], and sets *left to the rows that hold or need a
 * recheck.  With in_order, only predicates that stand ahead of all clauses with a parameter are
 * applied.
 */
extern void hg_column_qual_filter(HgColumnQual *qual, bool in_order, int ntuples,
								  const HeapTupleHeader *tuples, HgRowsLeft *left);

/* Returns the number of predicates of a qual, for callers that have the columns elsewhere. */
extern int hg_column_qual_count(const HgColumnQual *qual, bool in_order);
/* Returns predicate number 0, 1, ... of a qual.  Its columns are those of the attributes. */
extern HgPredicate *hg_column_qual_predicate(const HgColumnQual *qual, int number);

/* Selects all of n rows. */
extern void hg_rows_left_init(HgRowsLeft *left, int n);
/*
 * Keeps the selected rows that hold or need a recheck; both arrays are indexed by position among
 * the selected rows.  recheck is NULL if no row needs one.
 */
extern void hg_rows_left_select(HgRowsLeft *left, const bool *holds, const bool *recheck);

#endif /* HG_SCAN_QUAL_H */
