/*-------------------------------------------------------------------------
 *
 * hg_join_feed.c
 *	  Custom Scan (HashGraphFeed): returns the outer rows that a join has read.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "executor/join/hg_join_feed.h"

typedef struct HgFeedState
{
	CustomScanState css; /* must be first */
	const HgInput *input;
	int piece;		/* piece of the rows with a key; after the last one come rows without */
	uint64 next;	/* next row to fetch of the piece, or of those without a key */
	HgBatch *batch; /* columns by their indexes in the join's scan slot */
	int row;		/* row of the batch to return next */
} HgFeedState;

static Node *hg_feed_create_state(CustomScan *cscan);

const CustomScanMethods hg_join_feed_methods = {
	.CustomName = "HashGraphFeed",
	.CreateCustomScanState = hg_feed_create_state,
};

static void
hg_feed_begin(CustomScanState *node pg_attribute_unused(), EState *estate pg_attribute_unused(),
			  int eflags pg_attribute_unused())
{
}

/* Fetches the next rows; returns false if there are no more. */
static bool
hg_feed_fetch(HgFeedState *feed)
{
	const HgInput *input = feed->input;
	const HgKeySet keys = hg_key_column_set(input->held.words);
	bool keyed = feed->piece < keys.npieces;
	const HgColumnStore *store = keyed ? input->held.rows : input->held.null_rows;
	/* in a store that processes share, row numbers of a process do not start at 0 */
	uint64 first = keyed ? keys.pieces[feed->piece].first_row : 0;
	uint64 end = keyed ? keys.pieces[feed->piece].count : input->held.null_rows->rows;
	uint32 rows[HG_BATCH_ROWS];
	int nrows = (int) Min(end - feed->next, HG_BATCH_ROWS);

	for (int i = 0; i < nrows; i++)
		rows[i] = (uint32) (first + feed->next) + i;
	hg_column_store_get(store, rows, nrows, feed->batch, input->held.to);
	feed->batch->nrows = nrows;
	feed->next += nrows;
	feed->row = 0;
	if (keyed && feed->next == end)
	{
		feed->piece++;
		feed->next = 0;
	}
	return nrows > 0;
}

/* Does not use ExecScan(), which reads no rows of a node without a table during EvalPlanQual. */
static TupleTableSlot *
hg_feed_exec(CustomScanState *node)
{
	HgFeedState *feed = (HgFeedState *) node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	int natts = slot->tts_tupleDescriptor->natts;

	CHECK_FOR_INTERRUPTS();
	ExecClearTuple(slot);
	if (feed->row == feed->batch->nrows && !hg_feed_fetch(feed))
		return slot;
	for (int i = 0; i < natts; i++)
	{
		slot->tts_isnull[i] = hg_batch_is_null(feed->batch, i, feed->row);
		slot->tts_values[i] = slot->tts_isnull[i] ? (Datum) 0 : feed->batch->values[i][feed->row];
	}
	feed->row++;
	/* the target list is the scan slot */
	return ExecStoreVirtualTuple(slot);
}

static void
hg_feed_rescan(CustomScanState *node)
{
	HgFeedState *feed = (HgFeedState *) node;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	feed->piece = 0;
	feed->next = 0;
	feed->row = feed->batch->nrows = 0;
}

static void
hg_feed_end(CustomScanState *node pg_attribute_unused())
{
}

static const CustomExecMethods hg_feed_exec_methods = {
	.CustomName = "HashGraphFeed",
	.BeginCustomScan = hg_feed_begin,
	.ExecCustomScan = hg_feed_exec,
	.EndCustomScan = hg_feed_end,
	.ReScanCustomScan = hg_feed_rescan,
};

static Node *
hg_feed_create_state(CustomScan *cscan pg_attribute_unused())
{
	HgFeedState *feed = (HgFeedState *) newNode(sizeof(HgFeedState), T_CustomScanState);

	feed->css.methods = &hg_feed_exec_methods;
	return (Node *) feed;
}

void
hg_join_feed_set(PlanState *feed, const HgInput *input)
{
	if (!IsA(feed, CustomScanState) || ((CustomScanState *) feed)->methods != &hg_feed_exec_methods)
		elog(ERROR, "the outer plan of a join's lookups does not return the rows that it holds");
	((HgFeedState *) feed)->input = input;
	((HgFeedState *) feed)->batch =
		hg_batch_create_partial(input->held.scan_desc->natts, input->held.ncolumns, input->held.to);
}
