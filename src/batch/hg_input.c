/*-------------------------------------------------------------------------
 *
 * hg_input.c
 *	  One input of a join: read, encoded, and kept as columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "batch/hg_input.h"
#include "hg_guc.h"

/*
 * What the CPU engine takes for a row beside its word: the edge (word and row number),
 * and its share of the offsets, of which there are up to 1.42 for each row at load factor
 * 1 (hg_shape.c).
 */
static inline Size
hg_engine_row_bytes(uint32 width)
{
	return width + sizeof(uint32) + (Size) (1.5 * sizeof(uint32) / hg_load_factor);
}

/* Rows, and bytes of variable-length values, between two looks at the memory held. */
#define HG_ROWS_PER_LOOK 256
#define HG_PACKED_PER_LOOK (64 * 1024)

HgInput *
hg_input_create(HgSide side, PlanState *plan, PlanState *parent, HgKeyEncoder *encoder,
				List *key_exprs, int ncolumns, const int *attnos, const int *to,
				bool keep_null_keys)
{
	HgInput *input = palloc0(sizeof(HgInput));
	TupleDesc desc = ExecGetResultType(plan);
	ListCell *lc;

	input->side = side;
	input->plan = plan;
	input->keep_null_keys = keep_null_keys;

	input->encoder = encoder;
	input->econtext = CreateExprContext(parent->state);
	input->key_attnos = palloc0(encoder->nparts * sizeof(AttrNumber));
	input->key_exprs = palloc0(encoder->nparts * sizeof(ExprState *));
	input->key_values = palloc0(encoder->nparts * sizeof(Datum));
	input->key_nulls = palloc0(encoder->nparts * sizeof(bool));
	foreach (lc, key_exprs)
	{
		Expr *expr = lfirst(lc);
		int i = foreach_current_index(lc);

		/* a type that is only relabelled (varchar as text) is the column itself */
		while (IsA(expr, RelabelType))
			expr = ((RelabelType *) expr)->arg;
		if (IsA(expr, Var) && ((Var *) expr)->varattno > 0)
		{
			input->key_attnos[i] = ((Var *) expr)->varattno;
			input->last_attno = Max(input->last_attno, input->key_attnos[i]);
		}
		else
		{
			/* a subplan's slots are freed with the query's other slots, after the node's memory */
			MemoryContext old = MemoryContextSwitchTo(parent->state->es_query_cxt);

			input->key_exprs[i] = ExecInitExpr(lfirst(lc), parent);
			MemoryContextSwitchTo(old);
		}
	}

	if (encoder->exact && encoder->nparts == 1)
		input->only_key = input->key_attnos[0];

	input->ncolumns = ncolumns;
	input->from = palloc(Max(ncolumns, 1) * sizeof(int));
	input->to = palloc(Max(ncolumns, 1) * sizeof(int));
	input->dense = palloc(Max(ncolumns, 1) * sizeof(int));
	for (int i = 0; i < ncolumns; i++)
	{
		input->from[i] = attnos[i] - 1;
		input->to[i] = to[i];
		input->dense[i] = i;
		input->last_attno = Max(input->last_attno, attnos[i]);
	}
	input->words = hg_key_column_create(CurrentMemoryContext, encoder->width);
	input->rows = hg_column_store_create(CurrentMemoryContext, desc, ncolumns, attnos);
	input->null_rows = hg_column_store_create(CurrentMemoryContext, desc, ncolumns, attnos);
	return input;
}

uint64
hg_input_bytes(const HgInput *input)
{
	return hg_key_column_bytes(input->words) +
		   input->words->rows * hg_engine_row_bytes(input->words->width) +
		   hg_column_store_bytes(input->rows) + hg_column_store_bytes(input->null_rows);
}

uint64
hg_input_reserved(const HgInput *input)
{
	return hg_key_column_reserved(input->words) + hg_column_store_reserved(input->rows) +
		   hg_column_store_reserved(input->null_rows);
}

uint64
hg_input_row_bytes(uint32 key_width, int row_width)
{
	return key_width + hg_engine_row_bytes(key_width) + row_width;
}

/* The word of the child's current row; false when its key is NULL. */
static inline bool
hg_input_encode(HgInput *input, TupleTableSlot *slot, uint64 *word)
{
	HgKeyEncoder *encoder = input->encoder;
	MemoryContext old;
	bool valid;

	if (input->only_key != 0)
	{
		int i = input->only_key - 1;

		if (slot->tts_isnull[i])
			return false;
		*word = hg_key_bits(&encoder->parts[0], input->side, slot->tts_values[i]);
		return true;
	}

	ResetExprContext(input->econtext);
	for (int i = 0; i < encoder->nparts; i++)
	{
		if (input->key_exprs[i] == NULL)
		{
			input->key_values[i] = slot->tts_values[input->key_attnos[i] - 1];
			input->key_nulls[i] = slot->tts_isnull[input->key_attnos[i] - 1];
			continue;
		}
		if (input->side == HG_OUTER)
			input->econtext->ecxt_outertuple = slot;
		else
			input->econtext->ecxt_innertuple = slot;
		input->key_values[i] =
			ExecEvalExprSwitchContext(input->key_exprs[i], input->econtext, &input->key_nulls[i]);
	}

	/* hash functions detoast into the current context */
	old = MemoryContextSwitchTo(input->econtext->ecxt_per_tuple_memory);
	valid = hg_key_encode(encoder, input->side, input->key_values, input->key_nulls, word);
	MemoryContextSwitchTo(old);
	return valid;
}

/*
 * The child's next row that the join has a use for, its needed attributes deformed,
 * with its word; NULL at the end.
 */
static TupleTableSlot *
hg_input_next(HgInput *input, HgSpillRow *row)
{
	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(input->plan);

		if (TupIsNull(slot))
		{
			input->at_end = true;
			return NULL;
		}
		input->rows_read++;
		slot_getsomeattrs(slot, input->last_attno);
		row->null_key = !hg_input_encode(input, slot, &row->word);
		if (!row->null_key)
			return slot;
		/* spread over the partitions, should it go to one */
		row->word = input->null_keys++;
		if (input->keep_null_keys)
			return slot;
	}
}

/* A row wherever it was read: column i is values[at[i]], nulls[at[i]]. */
typedef struct HgInputRow
{
	HgSpillRow row;
	const Datum *values;
	const bool *nulls;
	const int *at;
} HgInputRow;

/* The next row of the source or the child, valid until the next call; false at the end. */
static inline bool
hg_input_read(HgInput *input, HgInputRow *next)
{
	if (input->source != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (!hg_spill_read(input->source, input->partition, &next->row))
		{
			input->at_end = true;
			return false;
		}
		next->values = input->source->values;
		next->nulls = input->source->nulls;
		next->at = input->dense;
	}
	else
	{
		TupleTableSlot *slot = hg_input_next(input, &next->row);

		if (slot == NULL)
			return false;
		next->values = slot->tts_values;
		next->nulls = slot->tts_isnull;
		next->at = input->from;
	}
	return true;
}

/* Keep one row. */
static inline void
hg_input_keep(HgInput *input, const HgInputRow *next)
{
	if (next->row.null_key)
	{
		hg_column_store_add(input->null_rows, next->values, next->nulls, next->at);
		return;
	}
	hg_key_column_add(input->words, next->row.word);
	hg_column_store_add(input->rows, next->values, next->nulls, next->at);
}

/* Bytes of variable-length values that are held. */
static inline uint64
hg_input_packed(const HgInput *input)
{
	return input->rows->packed_bytes + input->null_rows->packed_bytes;
}

void
hg_input_fill(HgInput *input, uint64 limit, uint64 max_rows)
{
	HgInputRow next;
	uint64 packed = hg_input_packed(input);

	for (uint64 i = 1; !input->at_end && hg_input_rows(input) < max_rows; i++)
	{
		if (hg_input_read(input, &next))
			hg_input_keep(input, &next);
		if (i % HG_ROWS_PER_LOOK == 0 || hg_input_packed(input) > packed + HG_PACKED_PER_LOOK)
		{
			packed = hg_input_packed(input);
			if (hg_input_bytes(input) > limit ||
				input->words->rows > HG_MAX_ROWS - HG_ROWS_PER_LOOK)
				return;
		}
	}
}

/* Move the rows that are held in memory to a spill set. */
static void
hg_input_unload(HgInput *input, HgSpill *spill)
{
	HgKeySet set = hg_key_column_set(input->words);
	Datum *values = spill->values;
	bool *nulls = spill->nulls;
	HgSpillRow row = {0, false};
	uint64 number = 0;

	for (int p = 0; p < set.npieces; p++)
		for (uint64 i = 0; i < set.pieces[p].count; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (input->words->width == 4)
				row.word = ((const uint32 *) set.pieces[p].keys)[i];
			else
				row.word = ((const uint64 *) set.pieces[p].keys)[i];
			hg_column_store_get(input->rows, number++, values, nulls, input->dense);
			hg_spill_write(spill, row, values, nulls, input->dense);
		}
	row.null_key = true;
	for (number = 0; number < input->null_rows->rows; number++)
	{
		CHECK_FOR_INTERRUPTS();
		row.word = number;
		hg_column_store_get(input->null_rows, number, values, nulls, input->dense);
		hg_spill_write(spill, row, values, nulls, input->dense);
	}
	hg_input_release(input);
}

void
hg_input_spill(HgInput *input, HgSpill *spill)
{
	HgInputRow next;

	hg_input_unload(input, spill);
	while (!input->at_end)
		if (hg_input_read(input, &next))
			hg_spill_write(spill, next.row, next.values, next.nulls, next.at);
}

void
hg_input_set_source(HgInput *input, HgSpill *source, int partition)
{
	hg_input_clear(input);
	hg_spill_rewind(source, partition);
	input->source = source;
	input->partition = partition;
	input->at_end = false;
}

void
hg_input_clear(HgInput *input)
{
	hg_key_column_clear(input->words);
	hg_column_store_clear(input->rows);
	hg_column_store_clear(input->null_rows);
}

void
hg_input_release(HgInput *input)
{
	hg_key_column_release(input->words);
	hg_column_store_release(input->rows);
	hg_column_store_release(input->null_rows);
}

void
hg_input_restart(HgInput *input)
{
	hg_input_clear(input);
	input->source = NULL;
	input->at_end = false;
}
