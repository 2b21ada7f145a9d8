/*-------------------------------------------------------------------------
 *
 * hg_scan_pages.h
 *	  Sequential scans of heap tables, a page at a time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_PAGES_H
#define HG_SCAN_PAGES_H

#include "nodes/execnodes.h"

#include "utils/dsa.h"

#include "batch/hg_batch.h"

typedef struct HgPages HgPages;

/*
 * A reader of the attributes attnos[nattnos] of a plan's result rows, in CurrentMemoryContext;
 * NULL where the plan cannot be read by pages.  The source that it belongs to tells whether it may
 * be served from resident columns, and counts its blocks.
 */
extern HgPages *hg_pages_create(PlanState *plan, int nattnos, const int *attnos,
								HgBatchSource *source);

/* Was the table, or its file, made by the transaction that is still open? */
extern bool hg_pages_is_new(const HgPages *pages);

/* Add the blocks of the table: those that a scan would be served as things stand, and others. */
extern void hg_pages_expect(const HgPages *pages, HgScanBlocks *blocks);

/* Why the table, which has resident columns, is not served where it was scanned; or NULL. */
extern const char *hg_pages_why_not(const HgPages *pages);

/*
 * HgBatchSource.lend and return_lent, of its key, whose columns are of attnos, in
 * CurrentMemoryContext; what share of the table's rows would be lent; and
 * HgBatchSource.graph_order.
 */
extern HgLent *hg_pages_lend(HgPages *pages, HgSharedLent *shared, dsa_area *area);
extern void hg_pages_return_lent(HgPages *pages);
extern double hg_pages_may_lend(const HgPages *pages, double *rows);
extern bool hg_pages_graph_order(const HgPages *pages, int n, int *order);

/* The plan is about to be rescanned with other values of these parameters. */
extern void hg_pages_rescan(HgPages *pages, const Bitmapset *changed);

/*
 * Add rows of the plan behind those of a batch.  Returns false when the plan has ended, and must
 * not be called again then until the plan is rescanned; there may be new rows even so.  While it
 * returns true there are.  Values by reference point into a page that is pinned until the next
 * call, or into resident columns, or are those that old rows have of new columns: these two are
 * bounded by max_bytes as hg_batch.h says.  The check (or NULL) is asked if that pays, and the
 * batch, which is to be empty then, marked.
 */
extern bool hg_pages_fill(HgPages *pages, HgBatch *batch, HgRowCheck *check, Size max_bytes);

/*
 * The next rows of a plan without a qual as a run (hg_batch.h), where they are served from resident
 * columns; false, and nothing is done, where they are not.
 */
extern bool hg_pages_run(HgPages *pages, int max_rows, HgRun *run);

#endif /* HG_SCAN_PAGES_H */
