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

#include "batch/hg_batch.h"
#include "batch/hg_scan_table.h"

typedef struct HgPages HgPages;

/* A reader of a table, in CurrentMemoryContext. */
extern HgPages *hg_pages_create(HgScanTable *table);

/* The plan is about to be rescanned with other values of these parameters. */
extern void hg_pages_rescan(HgPages *pages, const Bitmapset *changed);

/*
 * Add rows of the plan behind those of a batch.  Returns false when the plan has ended, and must
 * not be called again then until the plan is rescanned; there may be new rows even so.  While it
 * returns true there are.  Values by reference point into a page that is pinned until the next
 * call, or into resident columns, or are those that old rows have of new columns: these two are
 * bounded as hg_batch.h says.  The check (or NULL) is asked if that pays, and the
 * batch, which is to be empty then, marked.
 */
extern bool hg_pages_fill(HgPages *pages, HgBatch *batch, HgRowCheck *check);

/*
 * Returns the next rows of a plan without a qual as a run (hg_batch.h), if they are read from
 * cached columns.  Otherwise returns false, and does nothing.
 */
extern bool hg_pages_run(HgPages *pages, int max_rows, HgRun *run);

#endif /* HG_SCAN_PAGES_H */
