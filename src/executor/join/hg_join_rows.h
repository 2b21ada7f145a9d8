/*-------------------------------------------------------------------------
 *
 * hg_join_rows.h
 *	  The columns that a node's expressions use, and the way from a batch of joined rows to slots.
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

/* What expressions use.  Zeros: nothing. */
typedef struct HgUsed
{
	Bitmapset *column_indexes; /* columns of the node's scan slot, from 0 */
	Bitmapset *params;		   /* PARAM_EXEC numbers */
} HgUsed;

/* Adds what an expression (or a list) over the scan slot uses, but not inside subplans. */
extern void hg_used_add(HgUsed *used, Node *expression);

/* The rows that are returned next; hg_join_emit.c sets them. */
typedef struct HgJoinOutput
{
	HgBatch *batch;	   /* columns by their indexes in the scan slot */
	int next;		   /* the row of the batch that is returned next */
	bool any_order;	   /* the node above reads all rows and ignores their order */
	uint64 empty_left; /* rows without columns that follow the batch */
	int ncolumns;	   /* number of needed columns */
	int *columns;	   /* [ncolumns] their indexes */
	TupleTableSlot
		*slot; /* slot of returned rows: the scan slot, or the result slot with slot_columns */
	int *slot_columns; /* [attributes of slot] indexes in the scan slot; NULL: the same */
} HgJoinOutput;

/*
 * Initializes the output in CurrentMemoryContext.  columns are the needed ones' indexes in the scan
 * slot.  The node's projection must be set up.
 */
extern void hg_join_output_init(HgJoinOutput *output, const ScanState *ss,
								const Bitmapset *columns);

/* Empties the batch. */
static inline void
hg_join_output_clear(HgJoinOutput *output)
{
	output->batch->nrows = output->next = 0;
}

/* Skips rows of the batch, which the caller has used in place. */
static inline void
hg_join_output_skip(HgJoinOutput *output, int rows)
{
	output->next += rows;
}

/* Returns output->empty_left, and sets it to 0. */
extern uint64 hg_join_take_empty(HgJoinOutput *output);

/* Returns the next row of the batch that passes plan.qual, projected; NULL at the end. */
extern TupleTableSlot *hg_join_next_row(HgJoinOutput *output, ScanState *ss);

/* Loads a row of the batch into the scan slot, and returns the slot.  Checks for interrupts. */
static inline TupleTableSlot *
hg_join_load_row(const HgJoinOutput *output, TupleTableSlot *slot, int row)
{
	const HgBatch *batch = output->batch;

	/* evaluating a row's expressions can take any time */
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

/* Returns the projection of the row in a scan slot, or NULL, counted, if plan.qual rejects it. */
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
