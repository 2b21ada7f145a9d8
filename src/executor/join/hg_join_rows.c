/*-------------------------------------------------------------------------
 *
 * hg_join_rows.c
 *	  The columns that a node's expressions use, and the way from a batch of joined rows to slots.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "nodes/nodeFuncs.h"

#include "executor/join/hg_join_rows.h"

static bool
hg_used_walker(Node *node, HgUsed *used)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Assert(((Var *) node)->varno == INDEX_VAR && ((Var *) node)->varattno > 0);
		used->column_indexes = bms_add_member(used->column_indexes, ((Var *) node)->varattno - 1);
		return false;
	}
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		used->params = bms_add_member(used->params, ((Param *) node)->paramid);
	return expression_tree_walker(node, hg_used_walker, used);
}

void
hg_used_add(HgUsed *used, Node *expression)
{
	(void) hg_used_walker(expression, used);
}

void
hg_join_output_init(HgJoinOutput *output, const ScanState *ss, const Bitmapset *columns)
{
	int natts = ss->ss_ScanTupleSlot->tts_tupleDescriptor->natts;
	int column = -1;

	output->ncolumns = 0;
	output->columns = palloc(Max(natts, 1) * sizeof(int));
	while ((column = bms_next_member(columns, column)) >= 0)
		output->columns[output->ncolumns++] = column;
	output->batch = hg_batch_create_partial(natts, output->ncolumns, output->columns);

	output->slot = ss->ss_ScanTupleSlot;
	if (ss->ps.ps_ProjInfo != NULL && ss->ps.qual == NULL)
	{
		TupleTableSlot *slot = ss->ps.ps_ResultTupleSlot;
		int *column_indexes = palloc(Max(slot->tts_tupleDescriptor->natts, 1) * sizeof(int));
		ListCell *lc;

		foreach (lc, ss->ps.plan->targetlist)
		{
			const TargetEntry *tle = lfirst_node(TargetEntry, lc);

			if (!IsA(tle->expr, Var))
				break;
			column_indexes[foreach_current_index(lc)] = ((const Var *) tle->expr)->varattno - 1;
		}
		if (lc == NULL)
		{
			output->slot = slot;
			output->slot_columns = column_indexes;
		}
	}
}

/* Loads a row of the batch into the result slot, which has only columns of it. */
static inline TupleTableSlot *
hg_join_project_row(const HgJoinOutput *output, int row)
{
	const HgBatch *batch = output->batch;
	TupleTableSlot *slot = output->slot;
	int natts = slot->tts_tupleDescriptor->natts;

	/* rows without columns are all the same */
	if (natts == 0 && !TTS_EMPTY(slot))
		return slot;
	ExecClearTuple(slot);
	for (int i = 0; i < natts; i++)
	{
		int column = output->slot_columns[i];

		slot->tts_isnull[i] = hg_batch_is_null(batch, column, row);
		slot->tts_values[i] = slot->tts_isnull[i] ? (Datum) 0 : batch->values[column][row];
	}
	return ExecStoreVirtualTuple(slot);
}

TupleTableSlot *
hg_join_next_row(HgJoinOutput *output, ScanState *ss)
{
	while (output->next < output->batch->nrows)
	{
		int row = output->next++;
		TupleTableSlot *slot;

		if (output->slot_columns != NULL)
			return hg_join_project_row(output, row);
		ResetExprContext(ss->ps.ps_ExprContext);
		slot = hg_join_return_slot(ss, hg_join_load_row(output, ss->ss_ScanTupleSlot, row));
		if (slot != NULL)
			return slot;
	}
	return NULL;
}

uint64
hg_join_take_empty(HgJoinOutput *output)
{
	uint64 rows = output->empty_left;

	output->empty_left = 0;
	return rows;
}
