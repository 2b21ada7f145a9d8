/*-------------------------------------------------------------------------
 *
 * hg_input_keys.c
 *	  The keys of the rows that an input reads from its child, as words.
 *
 * If all keys are columns of the child, they are encoded in place.  Otherwise all keys are
 * evaluated for each row first.  Their values can be stored with the row, so that a recheck of
 * hashed keys does not evaluate them again.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/heaptoast.h"
#include "access/toast_internals.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "batch/hg_input_keys.h"
#include "batch/hg_key.h"

/* Bytes of key values that are encoded together. */
#define HG_KEY_VALUES (256 * 1024)

/* Long values are compressed by the server's fastest method. */
#ifdef USE_LZ4
#define HG_KEY_COMPRESSION TOAST_LZ4_COMPRESSION
#else
#define HG_KEY_COMPRESSION TOAST_PGLZ_COMPRESSION
#endif

/* Returns the column of the child that a key is, or NULL.  Relabelled types are ignored. */
static const Var *
hg_input_keys_column(const Expr *expr)
{
	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	return IsA(expr, Var) ? (const Var *) expr : NULL;
}

bool
hg_input_keys_is_column(const Expr *expr)
{
	return hg_input_keys_column(expr) != NULL;
}

/* Returns the column of the child's batch that has one of its attributes. */
static int
hg_input_keys_find_column(const HgInputKeys *keys, int attno)
{
	int column_index = 0;

	while (keys->attnos[column_index] != attno)
	{
		column_index++;
		Assert(column_index < keys->rows->ncolumns);
	}
	return column_index;
}

/* Sets the keys up for evaluation, because some are not columns. */
static void
hg_input_keys_init_exprs(HgInputKeys *keys, PlanState *plan, PlanState *parent, List *exprs)
{
	int nparts = keys->encoder->nparts;
	int first = keys->rows->ncolumns; /* column of the first key's values */
	ListCell *lc;

	for (int p = 0; p < nparts; p++)
		keys->columns[p] = first + p;
	keys->values = hg_batch_create_partial(first + nparts, nparts, keys->columns);
	keys->slot = MakeSingleTupleTableSlot(ExecGetResultType(plan), &TTSOpsVirtual);
	keys->exprs = palloc(nparts * sizeof(ExprState *));
	keys->toastable = palloc0(nparts * sizeof(bool));
	keys->copies = palloc0(nparts * sizeof(int16));
	foreach (lc, exprs)
	{
		int p = foreach_current_index(lc);
		int16 typlen = get_typlen(exprType(lfirst(lc)));
		/* a subplan's slots are freed with the query's other slots, after the node's memory */
		MemoryContext old = MemoryContextSwitchTo(parent->state->es_query_cxt);

		keys->exprs[p] = ExecInitExpr(lfirst(lc), parent);
		MemoryContextSwitchTo(old);
		keys->toastable[p] = TypeIsToastable(exprType(lfirst(lc)));
		if (contain_subplans(lfirst(lc)) && !get_typbyval(exprType(lfirst(lc))))
			keys->copies[p] = typlen;
	}
	/* attributes that no key needs stay NULL */
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
		keys->columns[foreach_current_index(lc)] =
			hg_input_keys_find_column(keys, var->varattno - 1);
	}
}

/* Compresses a long value, if possible; it may be computed from compressed ones. */
static Datum
hg_input_keys_compress(Datum value)
{
	Datum compressed = (Datum) 0;

	if (VARSIZE_ANY(DatumGetPointer(value)) > TOAST_TUPLE_THRESHOLD)
		compressed = toast_compress_datum(value, HG_KEY_COMPRESSION);
	return compressed != (Datum) 0 ? compressed : value;
}

/* Returns a key's value in a form that can be stored: inline, and valid until the next call. */
static Datum
hg_input_keys_materialize(const HgInputKeys *keys, int part, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(keys->econtext->ecxt_per_tuple_memory);
	Datum stored = value;

	if (keys->toastable[part])
		stored = hg_input_keys_compress(PointerGetDatum(PG_DETOAST_DATUM_PACKED(value)));
	if (keys->copies[part] != 0 && stored == value)
		stored = datumCopy(value, false, keys->copies[part]);
	MemoryContextSwitchTo(old);
	return stored;
}

/* Evaluates the keys of a row into the same row of values. */
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
		int column = keys->columns[p];
		bool null;
		Datum value = ExecEvalExprSwitchContext(keys->exprs[p], keys->econtext, &null);

		values->values[column][row] = null ? (Datum) 0 : hg_input_keys_materialize(keys, p, value);
		values->nulls[column][row] = null;
		values->has_nulls[column] |= null;
	}
	ExecClearTuple(slot);
}

/* Begins the values of the batch's next rows: the batch's own columns, and no keys yet. */
static void
hg_input_keys_begin_values(HgInputKeys *keys)
{
	const HgBatch *batch = keys->rows;
	HgBatch *values = keys->values;

	ResetExprContext(keys->econtext);
	values->nrows = batch->nrows;
	for (int c = 0; c < batch->ncolumns; c++)
	{
		values->values[c] = batch->values[c];
		values->nulls[c] = batch->nulls[c];
		values->has_nulls[c] = batch->has_nulls[c];
	}
	for (int p = 0; p < keys->encoder->nparts; p++)
		values->has_nulls[keys->columns[p]] = false;
}

int
hg_input_keys_encode(HgInputKeys *keys, int first, int *end, HgSpillKeys *encoded)
{
	MemoryContext memory = keys->econtext->ecxt_per_tuple_memory;
	int row = keys->rows->nrows;

	MemoryContextReset(keys->temporary);
	if (keys->exprs != NULL)
	{
		hg_input_keys_begin_values(keys);
		/* many rows are encoded together, unless their values take much memory */
		for (row = first; row < keys->rows->nrows; row++)
		{
			if (MemoryContextMemAllocated(memory, true) > HG_KEY_VALUES)
				break;
			hg_input_keys_evaluate(keys, row);
		}
	}
	*end = row;
	return hg_key_encode(keys->encoder, keys->side, keys->values, keys->columns, first, row - first,
						 encoded->words, encoded->null_keys, keys->temporary);
}

void
hg_input_rows_sort(HgInputRows *rows, const bool *null_keys, int first, int end)
{
	rows->nkeys = rows->nnull = 0;
	rows->which = rows->key_rows;
	for (int i = first; i < end; i++)
		if (null_keys[i])
			rows->null_rows[rows->nnull++] = i;
		else
			rows->key_rows[rows->nkeys++] = i;
}
