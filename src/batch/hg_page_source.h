/*-------------------------------------------------------------------------
 *
 * hg_page_source.h
 *	  Page sources: the pages of a table scan, for a device that takes the rows out of them.
 *
 * A scan can be a page source (engine/hg_pages.h) if no process needs its rows.  Pages are copied
 * as they are, without rows that the snapshot does not see, and the device applies the qual.  The
 * scan is then at its end.  Row counters get the number of rows that the device has found.
 *
 * For both sides, a join initializes, begins and sends a page source; after the device has joined
 * them, it calls the count and report functions.  If the device cannot use the pages after all, it
 * calls hg_page_source_rescan().
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PAGE_SOURCE_H
#define HG_PAGE_SOURCE_H

#include "hg_compat.h"

#include "executor/instrument.h"

#include "backend/matcher/hg_page_job.h"
#include "batch/hg_scan_table.h"

typedef struct HgPageSource
{
	HgScanTable *table;
	bool parallel; /* a parallel scan: each process sends some of the pages */
	HgPageSpec spec;
	uint64 expected; /* rows, as the planner estimates them */

	/* statistics of the table */
	double blocks;
	double rows;	/* in all blocks */
	double visible; /* share of blocks that are all-visible */

	/* what was sent by this process */
	uint64 pages;
	uint64 uploaded_rows;		/* rows in these pages that the snapshot sees */
	bool begun;					/* hg_page_source_begin() has returned true */
	NodeInstrumentation before; /* of the scan, if it is instrumented */
} HgPageSource;

/*
 * Initializes a page source of a table.  wanted[nwanted] are columns of the table's source: first
 * the key's column, then others that the device needs.  If parallel is true, it has the pages that
 * this process gets of a parallel scan.  Returns false if the scan cannot be a page source, or
 * would read blocks from the cache.  It does not use the scan.
 */
extern bool hg_page_source_init(HgPageSource *page_source, HgScanTable *table, bool parallel,
								int nwanted, const int *wanted);

/* Returns the estimated time to read the rows here instead, in ms. */
extern double hg_page_source_reading_ms(const HgPageSource *page_source);

/* Returns the estimated time that copying saves against reading all-visible pages here, in ms. */
extern double hg_page_source_saved_ms(const HgPageSource *page_source);

/* Begins the scan, which must be unread.  Returns false if its pages cannot be sent after all. */
extern bool hg_page_source_begin(HgPageSource *page_source);

/* Copies all pages to a side of the job; returns false if the job does not take them all. */
extern bool hg_page_source_send(HgPageSource *page_source, HgPageJob *job, HgSide side);

/* Counts the rows and blocks that this process sent as read, after the device has joined them. */
extern void hg_page_source_count(HgPageSource *page_source);

/* Reports to EXPLAIN that rows of uploaded_rows, over all processes, have passed the qual. */
extern void hg_page_source_report(HgPageSource *page_source, uint64 uploaded_rows, uint64 rows);

/* Makes the scan unread again, if it was begun, because its pages were sent in vain. */
extern void hg_page_source_rescan(HgPageSource *page_source);

/*
 * Makes the parallel scan hand out all blocks again, to processes whose scans are unread.  One
 * process calls it for all.
 */
extern void hg_page_source_reinitialize(HgPageSource *page_source);

#endif /* HG_PAGE_SOURCE_H */
