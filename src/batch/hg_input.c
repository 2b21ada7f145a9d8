/*-------------------------------------------------------------------------
 *
 * hg_input.c
 *	  One input of a join: the rows of a child plan or of partitions on disk, and those in memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "batch/hg_input.h"

HgInput *
hg_input_create(HgSide side, PlanState *plan, ScanState *parent, HgKeyEncoder *encoder,
				List *key_exprs, int ncolumns, const HgInputColumn *columns, bool keep_null_keys,
				HgSourceMaker make_source, HgBudget *budget)
{
	HgInput *input = palloc0(sizeof(HgInput));

	hg_child_init(&input->child, side, plan, parent, encoder, key_exprs, ncolumns, columns,
				  keep_null_keys, make_source, budget);
	hg_held_init(&input->held, parent->ss_ScanTupleSlot->tts_tupleDescriptor, ncolumns, columns,
				 encoder->width, budget);
	return input;
}

bool
hg_input_read(HgInput *input, HgInputRows *rows, HgSpillKeys *keys)
{
	const HgInputPartition *partition = &input->partition;
	HgBatch *batch = input->held.moved;
	bool more;

	CHECK_FOR_INTERRUPTS();
	if (partition->spill == NULL)
		more = hg_child_read(&input->child, rows, keys);
	else
	{
		more = hg_spill_read(partition->spill, partition->number, batch, keys);
		rows->batch = batch;
		rows->at = input->held.dense;
		hg_input_rows_sort(rows, keys->null_keys, 0, batch->nrows);
	}
	input->at_end = !more;
	hg_progress_step(input->child.progress, more ? rows->nkeys : HG_PROGRESS_STEP_ROWS);
	return more;
}

bool
hg_input_read_run(HgInput *input, int max_rows, HgRun *run)
{
	return input->partition.spill == NULL && hg_child_read_run(&input->child, max_rows, run);
}

bool
hg_input_is_empty(HgInput *input)
{
	const HgCovered *covered = input->child.covered;

	if (hg_held_count(&input->held) > 0 || (covered != NULL && covered->rows > 0))
		return false;
	if (!input->at_end && input->partition.spill == NULL)
		input->at_end = !hg_child_fetch(&input->child);
	return input->at_end;
}

/* Stores the child's next rows as a run; false if they do not come as one. */
static bool
hg_input_store_run(HgInput *input, uint64 max_rows)
{
	HgHeldRows *held = &input->held;
	HgRun run;
	uint64 first_row;
	uint64 room = hg_column_store_room(held->rows, &first_row);

	if (held->rows->shared == NULL)
		room = HG_RUN_MOST;
	room = Min(room, max_rows - hg_held_count(held));
	room = Min(room, HG_MAX_ROWS - hg_child_first_number(&input->child) - hg_held_count(held));
	if (!hg_input_read_run(input, (int) room, &run))
		return false;
	hg_key_column_add_external(held->words, first_row, run.values[input->child.keys.columns[0]],
							   run.nrows);
	hg_column_store_add_run(held->rows, run.values, input->child.from, run.nrows);
	return true;
}

void
hg_input_fill(HgInput *input, uint64 max_rows)
{
	HgHeldRows *held = &input->held;
	HgBatchSource *source = input->child.source;
	uint64 most = HG_MAX_ROWS - HG_BATCH_ROWS - hg_child_first_number(&input->child);
	HgInputRows rows;
	HgSpillKeys keys;

	while (hg_held_count(held) < max_rows && !hg_budget_is_full(&held->budget) &&
		   hg_held_count(held) <= most)
	{
		if (!hg_input_store_run(input, max_rows))
		{
			source->max_rows = (int) Min(max_rows - hg_held_count(held), HG_BATCH_ROWS);
			if (!hg_input_read(input, &rows, &keys))
				break;
			hg_held_store(held, &rows, &keys);
			if (rows.nnull > 0)
				hg_column_store_add(held->null_rows, rows.batch, rows.at, rows.null_rows,
									rows.nnull);
		}
		hg_held_upload(held, input->child.keys.side);
	}
	source->max_rows = HG_BATCH_ROWS;
}

/* Adds a run.  Returns false if a key cannot be added; the rest of the run is then in words. */
static bool
hg_input_add_run(HgInput *input, const HgRun *run)
{
	const char *words = run->values[input->child.keys.columns[0]];
	uint64 done = hg_key_bits_add(input->held.bits, words, run->nrows);

	if (done == (uint64) run->nrows)
		return true;
	hg_key_column_add_external(input->held.words, 0, words + done * input->held.words->width,
							   run->nrows - done);
	return false;
}

bool
hg_input_fill_bits(HgInput *input)
{
	HgInputRows rows;
	HgSpillKeys keys;
	HgRun run;

	while (input->held.bits->map.keys <= HG_MAX_ROWS - HG_RUN_MOST)
	{
		int done;

		if (hg_input_read_run(input, HG_RUN_MOST, &run))
		{
			if (!hg_input_add_run(input, &run))
				return false;
			continue;
		}
		if (!hg_input_read(input, &rows, &keys))
			return true;
		done = hg_key_bits_add_words(input->held.bits, keys.words, rows.which, rows.nkeys);
		if (done < rows.nkeys)
		{
			for (int i = done; i < rows.nkeys; i++)
				rows.key_rows[i - done] = rows.which != NULL ? rows.which[i] : i;
			rows.which = rows.key_rows;
			rows.nkeys -= done;
			hg_held_store(&input->held, &rows, &keys);
			return false;
		}
	}
	return false;
}

void
hg_input_get(HgInput *input, const uint32 *rows, int nrows, HgBatch *batch)
{
	uint32 delta[HG_BATCH_ROWS];

	if (input->child.covered == NULL)
	{
		hg_column_store_get(input->held.rows, rows, nrows, batch, input->held.to);
		return;
	}
	if (nrows == 0)
		return;
	if (rows[0] < input->child.covered->first_other)
	{
		hg_covered_get(input->child.covered, rows, nrows, batch, input->child.cover.to);
		return;
	}
	for (int i = 0; i < nrows; i++)
		delta[i] = rows[i] - input->child.covered->first_other;
	hg_column_store_get(input->held.rows, delta, nrows, batch, input->held.to);
}

void
hg_input_spill(HgInput *input, HgSpill *spill)
{
	HgInputRows rows;
	HgSpillKeys keys;
	uint64 before = spill->total_rows + hg_held_count(&input->held);

	hg_held_spill(&input->held, spill, input->child.collector, input->child.filtering.filter);
	hg_child_forget_rows(&input->child, before - spill->total_rows);
	while (!input->at_end && hg_input_read(input, &rows, &keys))
	{
		hg_spill_write(spill, &keys, rows.batch, rows.at, rows.which, rows.nkeys);
		if (rows.nnull > 0)
			hg_spill_write(spill, &keys, rows.batch, rows.at, rows.null_rows, rows.nnull);
	}
}

void
hg_input_set_partition(HgInput *input, HgSpill *spill, int number)
{
	hg_held_clear(&input->held);
	hg_spill_rewind(spill, number);
	input->partition = (HgInputPartition){spill, number};
	input->at_end = false;
}

void
hg_input_end_partitions(HgInput *input)
{
	hg_held_clear(&input->held);
	input->partition.spill = NULL;
	input->at_end = true;
}

void
hg_input_begin_uncover(HgInput *input, pg_atomic_uint32 *next_part)
{
	hg_child_begin_uncover(&input->child, next_part);
	input->at_end = false;
}

void
hg_input_restart(HgInput *input)
{
	hg_child_restart(&input->child);
	hg_held_clear(&input->held);
	input->partition.spill = NULL;
	input->at_end = false;
}

void
hg_input_rescan(HgInput *input)
{
	MemoryContext old;

	hg_input_restart(input);
	if (input->child.plan->chgParam != NULL)
		return;
	/* the plan's state must last */
	old = MemoryContextSwitchTo(input->child.plan->state->es_query_cxt);
	ExecReScan(input->child.plan);
	MemoryContextSwitchTo(old);
}
