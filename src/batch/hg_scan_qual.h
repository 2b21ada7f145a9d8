/*-------------------------------------------------------------------------
 *
 * hg_scan_qual.h
 *	  Filters the rows of a table scan by the plan's qual, partly over columns, and by the
 *	  consumer's check.
 *
 * An HgColumnQual is the part of the qual that is compiled into predicates (hg_predicate.h); the
 * rest is evaluated row by row.  An HgScanSelect chooses for each batch of a scan the order of the
 * predicates, the rest, and the consumer's check (HgRowCheck).  Readers of heap pages and of cached
 * columns call hg_scan_select_begin(), the check, hg_scan_select_bind_params(), the predicates,
 * hg_scan_select_rest() for each selected row, and hg_scan_select_count().
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_QUAL_H
#define HG_SCAN_QUAL_H

#include "nodes/execnodes.h"
#include "nodes/pg_list.h"

#include "batch/hg_batch.h"
#include "batch/hg_predicate.h"
#include "batch/hg_scan_tuples.h"

typedef struct HgColumnQual HgColumnQual;

/* The rows that are still selected, in order. */
typedef struct HgSelectedRows
{
	int n;
	/* [n] indexes among the rows that were selected before the last hg_selected_rows_filter() */
	uint16 which[HG_BATCH_ROWS];
	bool any_recheck; /* some row needs a recheck */
	/* [n] if any_recheck: row which[i] needs a recheck by the whole qual. */
	bool recheck[HG_BATCH_ROWS];
} HgSelectedRows;

/* Returns true if a clause can be compiled into a predicate, whatever its parameters are. */
extern bool hg_column_qual_takes(Node *clause);

/*
 * Compiles the clauses of a qual that can be evaluated over columns, in CurrentMemoryContext.  The
 * qual is an implicitly ANDed list over rows of desc.  Clauses behind one that calls volatile
 * functions are not compiled.  Sets *rest to the other clauses, in order.  Returns NULL if no
 * clause is compiled.
 */
extern HgColumnQual *hg_column_qual_create(TupleDesc desc, List *qual, List **rest);

/*
 * Sets *attnos to the distinct attributes that the predicates read, which stay the qual's.  Returns
 * their number.
 */
extern int hg_column_qual_attributes(const HgColumnQual *qual, const AttrNumber **attnos);

/* Returns true if the attributes that are read have fixed offsets in rows without NULLs. */
extern bool hg_column_qual_is_fixed(const HgColumnQual *qual);

/* The shares of a segment's rows that the predicates select, by bounds of its values. */
typedef struct HgQualShares HgQualShares;

/* Allocates shares, without values, in CurrentMemoryContext. */
extern HgQualShares *hg_column_qual_shares_create(const HgColumnQual *qual);

/* Sets the shares of a segment from the bounds of its columns, in the order of the attributes. */
extern void hg_column_qual_set_shares(const HgColumnQual *qual, const HgValueBounds *bounds,
									  HgQualShares *shares);

/* Returns the share of one predicate, by its number from 0. */
extern HgPredicateShare hg_column_qual_predicate_share(const HgQualShares *shares, int number);

/*
 * Returns the least share of all predicates, or with in_order of those that stand ahead of all
 * clauses with a parameter.
 */
extern HgPredicateShare hg_column_qual_share(const HgColumnQual *qual, bool in_order,
											 const HgQualShares *shares);

/* Empties and returns the qual's own batch, whose columns are hg_column_qual_attributes(). */
extern HgBatch *hg_column_qual_batch(HgColumnQual *qual);

/*
 * Applies the predicates to tuples[ntuples], and sets *left to the rows that hold or need a
 * recheck.  With in_order, only predicates ahead of a parameter are applied.
 */
extern void hg_column_qual_filter(HgColumnQual *qual, bool in_order, int ntuples,
								  const HeapTupleHeader *tuples, HgSelectedRows *left);

/* Returns the number of predicates, or with in_order of those ahead of a parameter. */
extern int hg_column_qual_count(const HgColumnQual *qual, bool in_order);
/* Returns predicate number 0, 1, ... of a qual.  Its columns are those of the attributes. */
extern HgPredicate *hg_column_qual_predicate(const HgColumnQual *qual, int number);

/* Initializes *left: all of n rows are selected. */
extern void hg_selected_rows_init(HgSelectedRows *left, int n);
/*
 * Keeps the selected rows that hold or need a recheck; both arrays are indexed by position among
 * the selected rows.  recheck is NULL if no row needs one.
 */
extern void hg_selected_rows_filter(HgSelectedRows *left, const bool *holds, const bool *recheck);

/* Whether parameters that plans compute are constants in the predicates. */
typedef enum HgSelectParams
{
	HG_PARAMS_NONE,	   /* there are no parameters, or one has changed */
	HG_PARAMS_UNKNOWN, /* not yet computed */
	HG_PARAMS_BOUND
} HgSelectParams;

/* The fields are read-only for other files. */
typedef struct HgScanSelect
{
	SeqScanState *node;
	int nattnos;
	const AttrNumber *attnos;  /* [nattnos] of the table: the consumer's columns */
	HgColumnQual *column_qual; /* the qual's predicates, or NULL */
	ExprState *row_qual;	   /* the rest of the qual, or NULL */
	double qual_cost;		   /* estimated cost of the qual for a row, in ns */
	Bitmapset *qual_params;	   /* PARAM_EXECs of the plan's qual */
	HgSelectParams params;
	/* column_qual and row_qual while parameters are not constants */
	HgColumnQual *first_column_qual;
	ExprState *first_row_qual;
	bool qual_volatile;		  /* the qual calls volatile functions */
	uint64 seen;			  /* rows for which the qual was evaluated, without a check */
	uint64 passed;			  /* rows among them that passed */
	HgRowCheck *check;		  /* applied ahead of the qual to this batch, or NULL */
	HgRowCheck *bounds_check; /* asked about the bounds of whole segments, or NULL */
	int ncheck_attnos;
	/* [ncheck_attnos] of the table: the check's columns; NULL before the first check. */
	AttrNumber *check_attnos;
	HgBatch *check_batch;
} HgScanSelect;

/* Creates the filter of a scan, in CurrentMemoryContext.  attnos is not copied. */
extern HgScanSelect *hg_scan_select_create(SeqScanState *node, int nattnos,
										   const AttrNumber *attnos);

/*
 * Begins a batch or a run.  Returns true if the check (or NULL), over the consumer's columns, must
 * be applied ahead of the qual; otherwise it is not applied.  It has the same columns in all calls.
 */
extern bool hg_scan_select_begin(HgScanSelect *select, HgRowCheck *check);

/*
 * After hg_scan_select_begin() has returned true: empties and returns the batch that the caller
 * fills with columns check_attnos.
 */
extern HgBatch *hg_scan_select_check_batch(HgScanSelect *select);
/* Applies the check to this batch: sets which[] to the selected rows and returns their number. */
extern int hg_scan_select_check(HgScanSelect *select, uint16 *which);

/*
 * Returns true if the qual has a parameter whose plan has not run yet, or a subplan that runs for
 * each row.  Then only the predicates ahead of it are applied over columns, and the rest of the
 * qual is evaluated row by row.  Callers pass the result as in_order.
 */
extern bool hg_scan_select_awaits_param(const HgScanSelect *select);

/*
 * Makes parameters whose values are known now constants in the predicates.  Compiles column_qual
 * and row_qual again if that has changed since the last call.
 */
extern void hg_scan_select_bind_params(HgScanSelect *select);

/* Prepares the filter for a rescan in which the PARAM_EXECs in changed have new values. */
extern void hg_scan_select_rescan(HgScanSelect *select, const Bitmapset *changed);

/* Returns true if some row needs hg_scan_select_rest() after the predicates. */
static inline bool
hg_scan_select_has_rest(const HgScanSelect *select, bool in_order, const HgSelectedRows *left)
{
	return in_order || select->row_qual != NULL || left->any_recheck;
}

/*
 * Evaluates the rest of the qual for row i of left, or all of it if the row needs a recheck or
 * in_order is set.  The row must be in the scan's slot, and that in ecxt_scantuple of the node's
 * context, which is reset.  Returns true if the row passes.
 */
extern bool hg_scan_select_rest(HgScanSelect *select, bool in_order, const HgSelectedRows *left,
								int i);

/*
 * Returns true if the qual can be evaluated for some rows ahead of others, and once for all scans:
 * it is evaluated over columns only, and has no parameters that plans compute.
 */
extern bool hg_scan_select_is_columns(const HgScanSelect *select);

/* Counts rows for which the qual was evaluated, and those of them that passed, for EXPLAIN too. */
extern void hg_scan_select_count(HgScanSelect *select, int seen, int passed);

#endif /* HG_SCAN_QUAL_H */
