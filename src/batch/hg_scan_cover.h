/*-------------------------------------------------------------------------
 *
 * hg_scan_cover.h
 *	  Covers rows of a table scan: a cached HashGraph has their keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_COVER_H
#define HG_SCAN_COVER_H

#include "batch/hg_scan_table.h"
#include "batch/hg_shared_covered.h"

/*
 * These implement the functions of HgBatchSource with the same names.  The source's key must
 * consist of the table's attributes.  Results are allocated in CurrentMemoryContext.
 */
extern HgCovered *hg_scan_table_cover(HgScanTable *table, bool pending, HgSharedCovered *shared,
									  dsa_area *area);
extern HgCovered *hg_scan_table_attach_covered(HgScanTable *table, const HgSharedCovered *shared,
											   const HgSharedPins *pins, dsa_area *area);
extern void hg_scan_table_uncover(HgScanTable *table);
extern HgGraphExtent hg_scan_table_may_cover(const HgScanTable *table);
extern HgPinnedGraph *hg_scan_table_pin_graph(const HgScanTable *table, int ncolumns,
											  const int *columns, AttrNumber *numbers);
extern bool hg_scan_table_graph_order(const HgScanTable *table, int n, int *order);

#endif /* HG_SCAN_COVER_H */
