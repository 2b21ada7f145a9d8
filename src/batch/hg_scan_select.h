/*-------------------------------------------------------------------------
 *
 * hg_scan_select.h
 *	  Filters the rows of a table scan by the plan's qual and by the consumer's check.
 *
 * A reader has the rows of a page, or columns.  It learns here what to evaluate and when, and
 * reports how many rows came and passed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_SELECT_H
#define HG_SCAN_SELECT_H

#include "nodes/execnodes.h"

#include "batch/hg_batch.h"
#include "batch/hg_scan_qual.h"

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
	bool qual_volatile; /* the qual calls volatile functions */
	uint64 seen;		/* rows for which the qual was evaluated, without a check */
	uint64 passed;		/* rows among them that passed */
	HgRowCheck *check;	/* applied ahead of the qual to this batch, or NULL */
	int ncheck_attnos;
	/* [ncheck_attnos] of the table: the check's columns; NULL before the first check. */
	AttrNumber *check_attnos;
	HgBatch *check_batch;
} HgScanSelect;

/* Creates the filter of a scan, in CurrentMemoryContext.  attnos is not copied. */
extern HgScanSelect *hg_scan_select_create(SeqScanState *node, int nattnos,
										   const AttrNumber *attnos);

/*
 * Begins a batch.  Returns true if the check (or NULL), over the consumer's columns, is to be
 * applied ahead of the qual.
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
 * Returns true if the qual waits for the result of a plan, which is run for the first row that
 * needs it.  A plan that is run for each row is always waited for.  While the qual waits, it is
 * evaluated row by row, after the predicates that stand ahead of what it waits for
 * (hg_scan_qual.h).
 */
extern bool hg_scan_select_waits(const HgScanSelect *select);

/* Updates column_qual and row_qual by what is known of the parameters now. */
extern void hg_scan_select_follow(HgScanSelect *select);

/* Announces a rescan with other values of the parameters changed. */
extern void hg_scan_select_rescan(HgScanSelect *select, const Bitmapset *changed);

/* Returns true if some row needs hg_scan_select_rest() after the predicates. */
static inline bool
hg_scan_select_has_rest(const HgScanSelect *select, bool in_order, const HgRowsLeft *left)
{
	return in_order || select->row_qual != NULL || left->any_recheck;
}

/*
 * Evaluates the rest of the qual for row i of left, or all of it if the row needs a recheck.  The
 * row must be in the scan's slot, and the slot in the qual's context.
 */
extern bool hg_scan_select_rest(HgScanSelect *select, bool in_order, const HgRowsLeft *left, int i);

/*
 * Returns true if the qual can be evaluated for some rows ahead of others, and once for all scans:
 * it is evaluated over columns only, and has no parameters that plans compute.
 */
extern bool hg_scan_select_is_columns(const HgScanSelect *select);

/* Counts rows for which the qual was evaluated, and those that passed. */
extern void hg_scan_select_count(HgScanSelect *select, int seen, int passed);

#endif /* HG_SCAN_SELECT_H */
