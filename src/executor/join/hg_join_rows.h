/*-------------------------------------------------------------------------
 *
 * hg_join_rows.h
 *	  The join node's rows on their way out: from a batch to slots.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_ROWS_H
#define HG_JOIN_ROWS_H

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"

#include "batch/hg_batch.h"

/* The rows that are returned next; hg_join_emit.c fills the batch, a matcher counts empty ones. */
typedef struct HgJoinOutput
{
	HgBatch *batch;		  /* columns by their places in the scan slot */
	int next;			  /* the row of it that is returned next */
	bool any_order;		  /* whoever is above takes all rows, whatever their order */
	uint64 empty_left;	  /* rows of no columns that follow it, in batches to come */
	int ncolumns;		  /* that are needed ... */
	int *columns;		  /* [ncolumns] ... and their places */
	TupleTableSlot *slot; /* that rows are returned in: the scan slot, or the result slot where the
						   * projection only picks columns */
	int *slot_columns;	  /* [attributes of slot] their places, or NULL: same places */
} HgJoinOutput;

/* Set up how rows leave, in CurrentMemoryContext, once the projection of the node is known. */
extern void hg_join_output_init(HgJoinOutput *output, const ScanState *ss,
								const Bitmapset *columns);

/* There are no rows. */
static inline void
hg_join_output_clear(HgJoinOutput *output)
{
	output->batch->nrows = output->next = 0;
}

/* The next rows of the batch have been taken where they lie. */
static inline void
hg_join_output_skip(HgJoinOutput *output, int rows)
{
	output->next += rows;
}

/* Fill the batch with empty rows, of those that are left; false when there are none. */
extern bool hg_join_fill_empty(HgJoinOutput *output);

/* Take all the empty rows that are left at once, without a batch: their number. */
extern uint64 hg_join_take_empty(HgJoinOutput *output);

/* The next row of the batch that passes plan.qual, projected, or NULL when there are no more. */
extern TupleTableSlot *hg_join_next_row(HgJoinOutput *output, ScanState *ss);

/* Put a row of the batch into the scan slot, for an expression to look at. */
static inline TupleTableSlot *
hg_join_load_row(const HgJoinOutput *output, TupleTableSlot *slot, int row)
{
	const HgBatch *batch = output->batch;

	/* what is asked of a row may take any time */
	CHECK_FOR_INTERRUPTS();
	ExecClearTuple(slot);
	for (int i = 0; i < output->ncolumns; i++)
	{
		int column = output->columns[i];

		slot->tts_isnull[column] = hg_batch_is_null(batch, column, row);
		slot->tts_values[column] =
			slot->tts_isnull[column] ? (Datum) 0 : batch->values[column][row];
	}
	return ExecStoreVirtualTuple(slot);
}

/* What a node returns of the row in a slot: its projection, or NULL where plan.qual refuses it. */
static inline TupleTableSlot *
hg_join_return_slot(ScanState *ss, TupleTableSlot *slot)
{
	ExprContext *econtext = ss->ps.ps_ExprContext;

	econtext->ecxt_scantuple = slot;
	if (ss->ps.qual != NULL && !ExecQual(ss->ps.qual, econtext))
	{
		InstrCountFiltered1(ss, 1);
		return NULL;
	}
	return ss->ps.ps_ProjInfo != NULL ? ExecProject(ss->ps.ps_ProjInfo) : slot;
}

#endif /* HG_JOIN_ROWS_H */
