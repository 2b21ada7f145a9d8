/*-------------------------------------------------------------------------
 *
 * hg_scan_select.h
 *	  Which rows of a table scan are left: the plan's qual, and the consumer's check.
 *
 * Whoever has the rows, as those of a page or as columns, asks here what to evaluate for them, and
 * when, and tells how many came and how many stayed.
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

/* Are parameters that plans compute constants in what is evaluated over columns? */
typedef enum HgSelectParams
{
	HG_PARAMS_NONE,	   /* there are none, or they have changed once, and may again */
	HG_PARAMS_UNKNOWN, /* not yet: they are waited for */
	HG_PARAMS_BOUND
} HgSelectParams;

/* This file's own: others read it. */
typedef struct HgScanSelect
{
	SeqScanState *node;
	int nattnos;
	const AttrNumber *attnos;  /* [nattnos] of the table: the consumer's columns */
	HgColumnQual *column_qual; /* what of the plan's qual is evaluated over columns; or NULL */
	ExprState *row_qual;	   /* the rest of it; or NULL: there is none */
	double qual_cost;		   /* of the plan's qual, for each row */
	Bitmapset *qual_params;	   /* PARAM_EXECs of the plan's qual */
	HgSelectParams params;	   /* what is known of them; without them: */
	HgColumnQual *first_column_qual;
	ExprState *first_row_qual;
	bool qual_volatile; /* which calls volatile functions */
	uint64 seen;		/* rows that the qual has been evaluated for, without a check */
	uint64 passed;		/* ... and holds for */
	HgRowCheck *check;	/* that is asked ahead of the qual, for this batch; or NULL */
	int ncheck_attnos;
	AttrNumber *check_attnos; /* [ncheck_attnos] of the table: the check's; NULL: none was asked */
	HgBatch *check_batch;
} HgScanSelect;

/*
 * For the rows of a scan whose consumer has the table's attributes attnos[nattnos], which stay
 * where they are, in CurrentMemoryContext.
 */
extern HgScanSelect *hg_scan_select_create(SeqScanState *node, int nattnos,
										   const AttrNumber *attnos);

/*
 * A batch is begun: is the check (or NULL), of columns of the consumer, to be asked
 * ahead of the qual, and of everything else?
 */
extern bool hg_scan_select_begin(HgScanSelect *select, HgRowCheck *check);

/* Then: have an empty batch for columns check_attnos, and the rows of it that are selected. */
extern HgBatch *hg_scan_select_check_batch(HgScanSelect *select);
extern int hg_scan_select_check(HgScanSelect *select, uint16 *which);

/*
 * Does the qual wait for the result of a plan, which a row that comes so far has run?  For that of
 * a plan that is run for each row it always does.  Then all of it is evaluated row by row, behind
 * the part of column_qual that stands ahead of what waits (hg_scan_qual.h).
 */
extern bool hg_scan_select_waits(const HgScanSelect *select);

/*
 * Rows are about to come to the qual: have column_qual and row_qual be those for what is known of
 * its parameters by now.
 */
extern void hg_scan_select_follow(HgScanSelect *select);

/* The scan is rescanned with other values of these parameters. */
extern void hg_scan_select_rescan(HgScanSelect *select, const Bitmapset *changed);

/* Is there anything left of the qual, or for some rows, behind what column_qual has decided? */
static inline bool
hg_scan_select_has_rest(const HgScanSelect *select, bool in_order, const HgRowsLeft *left)
{
	return in_order || select->row_qual != NULL || left->any_recheck;
}

/* Does that hold for row i of those, which is in the scan's slot, and this in its context? */
extern bool hg_scan_select_rest(HgScanSelect *select, bool in_order, const HgRowsLeft *left, int i);

/*
 * Can the qual be evaluated for some rows ahead of all others, and once for all scans?  It is
 * evaluated over columns then, and has no parameters that plans compute.
 */
extern bool hg_scan_select_is_columns(const HgScanSelect *select);

/* So many rows have come to the qual, and passed it. */
extern void hg_scan_select_count(HgScanSelect *select, int seen, int passed);

#endif /* HG_SCAN_SELECT_H */
