/*-------------------------------------------------------------------------
 *
 * hg_input_lent.c
 *	  Rows of an input that are lent, because a resident HashGraph has their keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "batch/hg_input_graph.h"
#include "batch/hg_input_lent.h"

HgGraphExtent
hg_input_may_lend(const HgInput *input)
{
	if (!hg_input_has_graph_key(input))
		return (HgGraphExtent){0};
	return input->child->may_lend(input->child);
}

/* Make the context of lent rows, and switch to it; returns the one before. */
static MemoryContext
hg_input_begin_lent(HgInput *input)
{
	Assert(input->lent == NULL && !input->at_end && hg_input_rows(input) == 0);
	input->lent_context = AllocSetContextCreate(GetMemoryChunkContext(input), "HashGraph lent rows",
												ALLOCSET_DEFAULT_SIZES);
	return MemoryContextSwitchTo(input->lent_context);
}

/* Rows are lent, of which so many count as read by this process; the others' bytes are shared. */
static void
hg_input_take_lent(HgInput *input, uint64 rows_read, uint64 shared_bytes)
{
	input->lent_to = palloc(Max(input->batch->ncolumns, 1) * sizeof(int));
	for (int c = 0; c < input->batch->ncolumns; c++)
		input->lent_to[c] = -1;
	for (int i = 0; i < input->ncolumns; i++)
		input->lent_to[input->from[i]] = input->to[i];
	/* it takes nothing of what rows that are held may */
	input->lent_charge.budget = input->budget.parent;
	hg_charge_set(&input->lent_charge, input->lent->bytes + shared_bytes);
	input->lent_read = rows_read;
	input->rows_read += rows_read;
}

bool
hg_input_lend(HgInput *input, bool defer, HgSharedLent *shared, dsa_area *area)
{
	MemoryContext old;

	if (!hg_input_has_graph_key(input))
		return false;
	old = hg_input_begin_lent(input);
	input->lent = input->child->lend(input->child, defer, shared, area);
	if (input->lent == NULL)
	{
		MemoryContextSwitchTo(old);
		MemoryContextDelete(input->lent_context);
		input->lent_context = NULL;
		return false;
	}
	hg_input_take_lent(input, input->lent->rows, shared != NULL ? shared->bytes : 0);
	MemoryContextSwitchTo(old);
	return true;
}

void
hg_input_pin_lent(HgInput *input, const HgSharedLent *shared, dsa_area *area, HgSharedPins *pins)
{
	MemoryContext old = hg_input_begin_lent(input);

	hg_shared_lent_pin_graph(shared, pins);
	/* what is served stays served when no rows are lent any more */
	MemoryContextSwitchTo(GetMemoryChunkContext(input));
	hg_shared_lent_pin_served(shared, area, pins);
	MemoryContextSwitchTo(old);
}

void
hg_input_borrow(HgInput *input, const HgSharedLent *shared, dsa_area *area,
				const HgSharedPins *pins)
{
	MemoryContext old = MemoryContextSwitchTo(input->lent_context);

	if (hg_input_has_graph_key(input))
		input->lent = input->child->borrow(input->child, shared, pins, area);
	if (input->lent == NULL)
		elog(ERROR, "a worker can't have the rows lent that the leader has");
	/* rows and bytes that processes share are the leader's */
	hg_input_take_lent(input, 0, 0);
	MemoryContextSwitchTo(old);
}

void
hg_input_decide_lent(HgInput *input)
{
	HgLent *lent = input->lent;
	uint64 gone;

	if (lent == NULL || !hg_lent_is_undecided(lent))
		return;
	gone = lent->rows;
	hg_lent_decide(lent);
	gone -= lent->rows;
	input->lent_read -= gone;
	input->rows_read -= gone;
	hg_charge_set(&input->lent_charge, lent->bytes);
}

void
hg_input_end_lent(HgInput *input, const HgIntegers *left)
{
	Assert(hg_input_rows(input) == 0);
	if (left->count > 0)
	{
		MemoryContext old = MemoryContextSwitchTo(input->lent_context);
		pg_atomic_uint32 *next_part = palloc(sizeof(pg_atomic_uint32));

		pg_atomic_init_u32(next_part, 0);
		hg_lent_keep_rows(input->lent, left);
		hg_lent_decide(input->lent);
		hg_lent_back_begin(&input->back, input->lent, next_part);
		hg_charge_set(&input->lent_charge, input->lent->bytes);
		/* they are counted when they are read */
		input->rows_read -= input->lent->rows;
		MemoryContextSwitchTo(old);
	}
	input->lent = NULL;
}

void
hg_input_return_lent(HgInput *input)
{
	if (input->lent_context == NULL)
		return;
	input->child->return_lent(input->child);
	hg_charge_set(&input->lent_charge, 0);
	if (input->lent != NULL)
		input->rows_read -= input->lent_read;
	input->lent = input->back.lent = NULL;
	MemoryContextDelete(input->lent_context);
	input->lent_context = NULL;
}

void
hg_input_begin_back(HgInput *input, pg_atomic_uint32 *next_part)
{
	MemoryContext old = MemoryContextSwitchTo(input->lent_context);

	hg_lent_back_begin(&input->back, input->lent, next_part);
	MemoryContextSwitchTo(old);
	input->rows_read -= input->lent_read;
	input->lent = NULL;
	input->at_end = false;
}

void
hg_input_get(HgInput *input, const uint32 *rows, int nrows, HgBatch *batch)
{
	uint32 held[HG_BATCH_ROWS];

	if (input->lent == NULL)
	{
		hg_column_store_get(input->rows, rows, nrows, batch, input->to);
		return;
	}
	if (nrows == 0)
		return;
	if (rows[0] < input->lent->first_other)
	{
		hg_lent_get(input->lent, rows, nrows, batch, input->lent_to);
		return;
	}
	for (int i = 0; i < nrows; i++)
		held[i] = rows[i] - input->lent->first_other;
	hg_column_store_get(input->rows, held, nrows, batch, input->to);
}
