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

#include "access/parallel.h"
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

bool
hg_input_lend(HgInput *input, bool defer, HgSharedLent *shared, dsa_area *area)
{
	MemoryContext old;

	Assert(input->lent == NULL && !input->at_end && hg_input_rows(input) == 0);
	if (!hg_input_has_graph_key(input))
		return false;
	input->lent_context = AllocSetContextCreate(GetMemoryChunkContext(input), "HashGraph lent rows",
												ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(input->lent_context);
	input->lent = input->child->lend(input->child, defer, shared, area);
	if (input->lent == NULL)
	{
		MemoryContextSwitchTo(old);
		MemoryContextDelete(input->lent_context);
		input->lent_context = NULL;
		return false;
	}
	input->lent_to = palloc(Max(input->batch->ncolumns, 1) * sizeof(int));
	for (int c = 0; c < input->batch->ncolumns; c++)
		input->lent_to[c] = -1;
	for (int i = 0; i < input->ncolumns; i++)
		input->lent_to[input->from[i]] = input->to[i];
	MemoryContextSwitchTo(old);
	/* it takes nothing of what rows that are held may */
	input->lent_charge.budget = input->budget.parent;
	hg_charge_set(&input->lent_charge,
				  input->lent->bytes + (shared != NULL && !IsParallelWorker() ? shared->bytes : 0));
	/* rows that processes share are the leader's */
	input->lent_read = IsParallelWorker() ? 0 : input->lent->rows;
	input->rows_read += input->lent_read;
	return true;
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
