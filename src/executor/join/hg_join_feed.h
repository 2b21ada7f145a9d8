/*-------------------------------------------------------------------------
 *
 * hg_join_feed.h
 *	  The outer rows that a join holds, as a plan node: Custom Scan (HashGraphFeed).
 *
 * It stands for the join's outer child below a nested loop, which looks inner rows up for rows that
 * were read already.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_FEED_H
#define HG_JOIN_FEED_H

#include "nodes/extensible.h"

#include "batch/hg_input.h"

/*
 * A plan node is a CustomScan with scanrelid 0, whose custom_scan_tlist and target list are the
 * columns of the outer child.  Registered by hg_join_init.
 */
extern const CustomScanMethods hg_join_feed_methods;

/*
 * Have the node return the rows that an input holds whenever it is executed.  The input keeps all
 * columns of its child.
 */
extern void hg_join_feed_set(PlanState *feed, const HgInput *input);

#endif /* HG_JOIN_FEED_H */
