/*-------------------------------------------------------------------------
 *
 * hg_input_cover.c
 *	  Covered rows of an input, whose keys a cached HashGraph has.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "batch/hg_input_graph.h"
#include "batch/hg_input_cover.h"

HgGraphExtent
hg_input_may_cover(const HgInput *input)
{
	if (!hg_input_has_graph_key(input))
		return (HgGraphExtent){0};
	return input->child->may_cover(input->child);
}

/* Creates the context of covered rows, and switches to it.  Returns the previous context. */
static MemoryContext
hg_input_begin_covered(HgInput *input)
{
	Assert(input->covered == NULL && !input->at_end && hg_input_rows(input) == 0);
	input->covered_context = AllocSetContextCreate(
		GetMemoryChunkContext(input), "HashGraph covered rows", ALLOCSET_DEFAULT_SIZES);
	return MemoryContextSwitchTo(input->covered_context);
}

/* Sets up covered rows, of which rows_read count as read here.  Charges shared_bytes too. */
static void
hg_input_take_covered(HgInput *input, uint64 rows_read, uint64 shared_bytes)
{
	input->covered_to = palloc(Max(input->batch->ncolumns, 1) * sizeof(int));
	for (int c = 0; c < input->batch->ncolumns; c++)
		input->covered_to[c] = -1;
	for (int i = 0; i < input->ncolumns; i++)
		input->covered_to[input->from[i]] = input->to[i];
	/* the budget of the delta rows is not used */
	input->covered_charge.budget = input->budget.parent;
	hg_charge_set(&input->covered_charge, input->covered->bytes + shared_bytes);
	input->covered_read = rows_read;
	input->rows_read += rows_read;
}

bool
hg_input_cover(HgInput *input, bool pending, HgSharedCovered *shared, dsa_area *area)
{
	MemoryContext old;

	if (!hg_input_has_graph_key(input))
		return false;
	old = hg_input_begin_covered(input);
	input->covered = input->child->cover(input->child, pending, shared, area);
	if (input->covered == NULL)
	{
		MemoryContextSwitchTo(old);
		MemoryContextDelete(input->covered_context);
		input->covered_context = NULL;
		return false;
	}
	hg_input_take_covered(input, input->covered->rows, shared != NULL ? shared->bytes : 0);
	MemoryContextSwitchTo(old);
	return true;
}

void
hg_input_pin_covered(HgInput *input, const HgSharedCovered *shared, dsa_area *area,
					 HgSharedPins *pins)
{
	MemoryContext old = hg_input_begin_covered(input);

	hg_shared_covered_pin_graph(shared, pins);
	/* valid blocks are needed even after no rows are covered */
	MemoryContextSwitchTo(GetMemoryChunkContext(input));
	hg_shared_covered_pin_valid(shared, area, pins);
	MemoryContextSwitchTo(old);
}

void
hg_input_attach_covered(HgInput *input, const HgSharedCovered *shared, dsa_area *area,
						const HgSharedPins *pins)
{
	MemoryContext old = MemoryContextSwitchTo(input->covered_context);

	if (hg_input_has_graph_key(input))
		input->covered = input->child->attach_covered(input->child, shared, pins, area);
	if (input->covered == NULL)
		elog(ERROR, "a worker cannot attach to the rows that the leader has covered");
	/* the leader counts shared rows and bytes */
	hg_input_take_covered(input, 0, 0);
	MemoryContextSwitchTo(old);
}

void
hg_input_apply_pending(HgInput *input)
{
	HgCovered *covered = input->covered;
	uint64 gone;

	if (covered == NULL || !hg_covered_has_pending(covered))
		return;
	gone = covered->rows;
	hg_covered_apply(covered);
	gone -= covered->rows;
	input->covered_read -= gone;
	input->rows_read -= gone;
	hg_charge_set(&input->covered_charge, covered->bytes);
}

void
hg_input_end_covered(HgInput *input, const HgIntegers *left)
{
	Assert(hg_input_rows(input) == 0);
	if (left->count > 0)
	{
		MemoryContext old = MemoryContextSwitchTo(input->covered_context);
		pg_atomic_uint32 *next_part = palloc(sizeof(pg_atomic_uint32));

		pg_atomic_init_u32(next_part, 0);
		hg_covered_select_rows(input->covered, left);
		hg_covered_apply(input->covered);
		hg_uncover_begin(&input->uncover, input->covered, next_part);
		hg_charge_set(&input->covered_charge, input->covered->bytes);
		/* they are counted when they are read */
		input->rows_read -= input->covered->rows;
		MemoryContextSwitchTo(old);
	}
	input->covered = NULL;
}

void
hg_input_uncover(HgInput *input)
{
	if (input->covered_context == NULL)
		return;
	input->child->uncover(input->child);
	hg_charge_set(&input->covered_charge, 0);
	if (input->covered != NULL)
		input->rows_read -= input->covered_read;
	input->covered = input->uncover.covered = NULL;
	MemoryContextDelete(input->covered_context);
	input->covered_context = NULL;
}

void
hg_input_begin_uncover(HgInput *input, pg_atomic_uint32 *next_part)
{
	MemoryContext old = MemoryContextSwitchTo(input->covered_context);

	hg_uncover_begin(&input->uncover, input->covered, next_part);
	MemoryContextSwitchTo(old);
	input->rows_read -= input->covered_read;
	input->covered = NULL;
	input->at_end = false;
}

void
hg_input_get(HgInput *input, const uint32 *rows, int nrows, HgBatch *batch)
{
	uint32 delta[HG_BATCH_ROWS];

	if (input->covered == NULL)
	{
		hg_column_store_get(input->rows, rows, nrows, batch, input->to);
		return;
	}
	if (nrows == 0)
		return;
	if (rows[0] < input->covered->first_other)
	{
		hg_covered_get(input->covered, rows, nrows, batch, input->covered_to);
		return;
	}
	for (int i = 0; i < nrows; i++)
		delta[i] = rows[i] - input->covered->first_other;
	hg_column_store_get(input->rows, delta, nrows, batch, input->to);
}
