/*-------------------------------------------------------------------------
 *
 * hg_input_keys.c
 *	  The keys of the rows that an input reads from its child, as words.
 *
 * Where all keys are columns of the child they are encoded where they are, else they are evaluated
 * for each row first.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "batch/hg_input_keys.h"
#include "batch/hg_key_encode.h"

/* Memory of the values of key expressions that are encoded together, in bytes. */
#define HG_KEY_VALUES (256 * 1024)

/* A key that is a column of the child, or NULL.  A type that is only relabelled is that column. */
static const Var *
hg_input_keys_column(const Expr *expr)
{
	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	return IsA(expr, Var) ? (const Var *) expr : NULL;
}

/* The column of the child's batch that is one of its attributes. */
static int
hg_input_keys_place(const HgInputKeys *keys, int attno)
{
	int place = 0;

	while (keys->attnos[place] != attno)
	{
		place++;
		Assert(place < keys->rows->ncolumns);
	}
	return place;
}

/* Have the keys be evaluated: some are no columns. */
static void
hg_input_keys_init_exprs(HgInputKeys *keys, PlanState *plan, PlanState *parent, List *exprs)
{
	int nparts = keys->encoder->nparts;
	ListCell *lc;

	keys->values = hg_batch_create(nparts);
	keys->slot = MakeSingleTupleTableSlot(ExecGetResultType(plan), &TTSOpsVirtual);
	keys->exprs = palloc(nparts * sizeof(ExprState *));
	keys->copies = palloc0(nparts * sizeof(int16));
	foreach (lc, exprs)
	{
		/* a subplan's slots are freed with the query's other slots, after the node's memory */
		MemoryContext old = MemoryContextSwitchTo(parent->state->es_query_cxt);

		keys->columns[foreach_current_index(lc)] = foreach_current_index(lc);
		keys->exprs[foreach_current_index(lc)] = ExecInitExpr(lfirst(lc), parent);
		MemoryContextSwitchTo(old);
		if (contain_subplans(lfirst(lc)) && !get_typbyval(exprType(lfirst(lc))))
			keys->copies[foreach_current_index(lc)] = get_typlen(exprType(lfirst(lc)));
	}
	/* what no key needs stays NULL */
	memset(keys->slot->tts_values, 0, keys->slot->tts_tupleDescriptor->natts * sizeof(Datum));
	memset(keys->slot->tts_isnull, true, keys->slot->tts_tupleDescriptor->natts * sizeof(bool));
}

void
hg_input_keys_init(HgInputKeys *keys, HgSide side, PlanState *plan, PlanState *parent,
				   HgKeyEncoder *encoder, List *exprs, HgBatch *rows, const int *attnos)
{
	ListCell *lc;

	keys->side = side;
	keys->encoder = encoder;
	keys->rows = keys->values = rows;
	keys->attnos = attnos;
	keys->columns = palloc(encoder->nparts * sizeof(int));
	keys->econtext = CreateExprContext(parent->state);
	keys->temporary =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph key encoding", ALLOCSET_SMALL_SIZES);
	foreach (lc, exprs)
	{
		const Var *var = hg_input_keys_column(lfirst(lc));

		if (var == NULL)
		{
			hg_input_keys_init_exprs(keys, plan, parent, exprs);
			return;
		}
		keys->columns[foreach_current_index(lc)] = hg_input_keys_place(keys, var->varattno - 1);
	}
}

/* Evaluate the keys of a row into the same row of values. */
static void
hg_input_keys_evaluate(HgInputKeys *keys, int row)
{
	const HgBatch *batch = keys->rows;
	HgBatch *values = keys->values;
	TupleTableSlot *slot = keys->slot;

	/* a key may take any time */
	CHECK_FOR_INTERRUPTS();
	for (int c = 0; c < batch->ncolumns; c++)
	{
		slot->tts_values[keys->attnos[c]] = batch->values[c][row];
		slot->tts_isnull[keys->attnos[c]] = hg_batch_is_null(batch, c, row);
	}
	ExecStoreVirtualTuple(slot);
	if (keys->side == HG_OUTER)
		keys->econtext->ecxt_outertuple = slot;
	else
		keys->econtext->ecxt_innertuple = slot;
	for (int p = 0; p < keys->encoder->nparts; p++)
	{
		values->values[p][row] =
			ExecEvalExprSwitchContext(keys->exprs[p], keys->econtext, &values->nulls[p][row]);
		if (keys->copies[p] != 0 && !values->nulls[p][row])
		{
			MemoryContext old = MemoryContextSwitchTo(keys->econtext->ecxt_per_tuple_memory);

			values->values[p][row] = datumCopy(values->values[p][row], false, keys->copies[p]);
			MemoryContextSwitchTo(old);
		}
		values->has_nulls[p] |= values->nulls[p][row];
	}
	ExecClearTuple(slot);
}

int
hg_input_keys_encode(HgInputKeys *keys, HgSpillKeys *encoded)
{
	int nrows = keys->rows->nrows;
	MemoryContext memory = keys->econtext->ecxt_per_tuple_memory;
	int nvalid = 0;
	int first = 0;

	MemoryContextReset(keys->temporary);
	if (keys->exprs == NULL)
		return hg_key_encode(keys->encoder, keys->side, keys->rows, keys->columns, 0, nrows,
							 encoded->words, encoded->null_keys, keys->temporary);

	for (int row = 0; row < nrows; row++)
	{
		if (first == row)
		{
			ResetExprContext(keys->econtext);
			memset(keys->values->has_nulls, false, keys->values->ncolumns * sizeof(bool));
		}
		hg_input_keys_evaluate(keys, row);
		/* the values of many rows are encoded together, unless they take much memory */
		if (row + 1 == nrows || MemoryContextMemAllocated(memory, true) > HG_KEY_VALUES)
		{
			nvalid +=
				hg_key_encode(keys->encoder, keys->side, keys->values, keys->columns, first,
							  row + 1 - first, encoded->words, encoded->null_keys, keys->temporary);
			first = row + 1;
		}
	}
	return nvalid;
}
