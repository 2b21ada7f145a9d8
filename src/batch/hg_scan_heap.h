/*-------------------------------------------------------------------------
 *
 * hg_scan_heap.h
 *	  Reads rows of a table scan from the heap, a page at a time.
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

/* Creates a reader of the table's attributes attnos[nattnos], in CurrentMemoryContext. */
extern HgScanHeap *hg_scan_heap_create(HgScanSelect *select, int nattnos, const AttrNumber *attnos);

/*
 * Appends rows of the scan that pass the check and the qual to a batch, as hg_scan_table_fill()
 * does. Counts the source's blocks.  Returns false at the end.
 */
extern bool hg_scan_heap_fill(HgScanHeap *heap, TableScanDesc scan, HgBatch *batch,
							  const HgBatchSource *source);

/*
 * Appends rows of a block that is not valid, from row run->taken on; the block must fit.  Returns
 * the number of rows read.  Sets *all if they are the block's last.
 */
extern int hg_scan_heap_add_block(HgScanHeap *heap, TableScanDesc scan, const HgResidentRun *run,
								  HgBatch *batch, Size max_bytes, bool *all);

/* Returns true if a whole block may be appended to the batch. */
extern bool hg_scan_heap_fits(const HgScanHeap *heap, const HgBatch *batch);

/* Returns true if rows of the batch point into the page that was read last. */
extern bool hg_scan_heap_holds(const HgScanHeap *heap, const HgBatch *batch);

#endif /* HG_SCAN_HEAP_H */
