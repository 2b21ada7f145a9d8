/*-------------------------------------------------------------------------
 *
 * hg_scan_pages.h
 *	  Reads sequential scans of heap tables a page at a time.
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

/* Creates a reader of a table, in CurrentMemoryContext. */
extern HgPages *hg_pages_create(HgScanTable *table);

/* Announces a rescan of the plan with other values of the parameters changed. */
extern void hg_pages_rescan(HgPages *pages, const Bitmapset *changed);

/*
 * Appends rows of the plan to a batch.  Returns false when the plan has ended, perhaps with some
 * last rows; it must then not be called again until a rescan.  If it returns true, it has appended
 * rows.  By-reference values point into a page that is pinned until the next call, into cached
 * columns, or to defaults of added columns.  The latter two are bounded as hg_batch.h says.  The
 * check (or NULL) is applied if that pays; the batch, which must then be empty, is marked as
 * checked.
 */
extern bool hg_pages_fill(HgPages *pages, HgBatch *batch, HgRowCheck *check);

/*
 * Returns the next rows of a plan without a qual as a run (hg_batch.h), if they are read from
 * cached columns.  Otherwise returns false and does nothing.
 */
extern bool hg_pages_run(HgPages *pages, int max_rows, HgRun *run);

#endif /* HG_SCAN_PAGES_H */
