/*-------------------------------------------------------------------------
 *
 * hg_scan_cover.h
 *	  Covered rows of a table scan: a resident HashGraph has their keys.
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
 * HgBatchSource.cover, attach_covered and uncover, of its key, whose columns are of the table's
 * attributes, in CurrentMemoryContext; may_cover, the share of the table's rows that would be
 * covered; and HgBatchSource.pin_graph and graph_order.
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
