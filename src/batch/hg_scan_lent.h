/*-------------------------------------------------------------------------
 *
 * hg_scan_lent.h
 *	  Rows of a table scan that are lent, because a resident HashGraph has their keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_LENT_H
#define HG_SCAN_LENT_H

#include "batch/hg_scan_table.h"
#include "batch/hg_shared_lent.h"

/*
 * HgBatchSource.lend, borrow and return_lent, of its key, whose columns are of the table's
 * attributes, in CurrentMemoryContext; what share of the table's rows would be lent; and
 * HgBatchSource.pin_graph and graph_order.
 */
extern HgLent *hg_scan_table_lend(HgScanTable *table, bool defer, HgSharedLent *shared,
								  dsa_area *area);
extern HgLent *hg_scan_table_borrow(HgScanTable *table, const HgSharedLent *shared,
									const HgSharedPins *pins, dsa_area *area);
extern void hg_scan_table_return_lent(HgScanTable *table);
extern HgGraphExtent hg_scan_table_may_lend(const HgScanTable *table);
extern HgPinnedGraph *hg_scan_table_pin_graph(const HgScanTable *table, int ncolumns,
											  const int *columns, AttrNumber *numbers);
extern bool hg_scan_table_graph_order(const HgScanTable *table, int n, int *order);

#endif /* HG_SCAN_LENT_H */
