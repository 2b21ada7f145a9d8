/*-------------------------------------------------------------------------
 *
 * hg_join_feed.h
 *	  Custom Scan (HashGraphFeed): returns the outer rows that a join has read.
 *
 * It takes the place of the join's outer child below the nested loop of an adaptive join, which
 * looks up inner rows for outer rows that were read already.
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
 * Methods of the plan node: a CustomScan with scanrelid 0, whose custom_scan_tlist and target list
 * are the columns of the outer child.  hg_join_init() registers them.
 */
extern const CustomScanMethods hg_join_feed_methods;

/*
 * Makes the feed node return the rows of an input whenever it is executed.  The input stores all
 * columns of its child.  Raises an error if feed is another node.
 */
extern void hg_join_feed_set(PlanState *feed, const HgInput *input);

#endif /* HG_JOIN_FEED_H */
