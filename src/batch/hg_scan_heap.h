/*-------------------------------------------------------------------------
 *
 * hg_scan_heap.h
 *	  Rows of a table scan that are read from the table, a page at a time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_HEAP_H
#define HG_SCAN_HEAP_H

#include "access/relscan.h"

#include "batch/hg_scan_resident.h"
#include "batch/hg_scan_select.h"

typedef struct HgScanHeap HgScanHeap;

/* A reader of the table's attributes attnos[nattnos], in CurrentMemoryContext. */
extern HgScanHeap *hg_scan_heap_create(HgScanSelect *select, int nattnos, const AttrNumber *attnos);

/*
 * Add rows of the scan that are not left out to a batch of a source, as hg_pages_fill() does, and
 * count the source's blocks; false at the end.
 */
extern bool hg_scan_heap_fill(HgScanHeap *heap, TableScanDesc scan, HgBatch *batch,
							  HgBatchSource *source);

/*
 * The same for a block that is not valid, of which a part may have been taken, and which fits.
 * Returns how many rows were looked at; *all tells whether they are the last ones of the block.
 */
extern int hg_scan_heap_add_block(HgScanHeap *heap, TableScanDesc scan, const HgResidentRun *run,
								  HgBatch *batch, Size max_bytes, bool *all);

/* Returns true if a block may go to a batch, behind the rows that are there. */
extern bool hg_scan_heap_fits(const HgScanHeap *heap, const HgBatch *batch);

/* Returns true if rows of a batch need the page that they were read from last. */
extern bool hg_scan_heap_holds(const HgScanHeap *heap, const HgBatch *batch);

#endif /* HG_SCAN_HEAP_H */
