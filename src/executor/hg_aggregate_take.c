/*-------------------------------------------------------------------------
 *
 * hg_aggregate_take.c
 *	  The aggregate node's way from a batch of rows to the states of groups.
 *
 * The groups of all rows are found or made first, and filters are asked.  Then functions take the
 * rows in one of two ways:
 *
 *	by row		Those that call functions of PostgreSQL's for each value, and those whose
 *				argument is computed and by reference.  A value is as large as a query makes
 *				it: it lies in the memory of its row, which the next row uses again, and is
 *				not copied on its way.  Sums of a batch with very long numerics, too.
 *	by column	All others, by a loop over the rows for each function.  An argument that is
 *				computed is evaluated for all rows before, which leaves nothing but Datums;
 *				of one that is only counted nothing is looked at but whether it is NULL.
 *
 * MEMORY.  States may be as large as arguments are, and there are as many as there are groups.
 * After each row that functions have taken by row, the budget is looked at.  When it is full, the
 * groups that later rows of the batch have made are unmade, and rows of groups that are not in
 * memory go to files from there on.  So memory is exceeded by one row's values at most, but for
 * states that grow when no more groups are made, as they do in PostgreSQL's own hash aggregation.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"

#include "executor/hg_aggregate_state.h"

/* The most partitions of a spill set, by their number's logarithm. */
#define HG_AGGREGATE_MAX_BITS 6

/* Sums of numerics of so many bytes take memory of their own, and more of it the longer these are.
 */
#define HG_LONG_NUMERIC 256

/* Must a function take each row before the next is evaluated? */
static bool
hg_function_is_by_row(const HgFunction *function)
{
	return function->kind == HG_AGGREGATE_TRANSITION ||
		   (function->kind != HG_AGGREGATE_COUNT && function->argument != NULL &&
			!function->argument_byval);
}

void
hg_aggregate_begin_taking(HgAggregateState *state)
{
	int nfilters = Max(state->nfilters, 1);

	state->filtered = palloc(nfilters * sizeof(HgSelection));
	state->filter_rows = palloc(nfilters * HG_BATCH_ROWS * sizeof(uint16));
	state->filter_next = palloc(nfilters * sizeof(int));
	state->passes = palloc(nfilters * sizeof(bool));
	state->results = palloc(HG_BATCH_ROWS * sizeof(Datum));
	state->results_null = palloc(HG_BATCH_ROWS * sizeof(bool));
	for (int i = 0; i < state->nfunctions; i++)
	{
		HgFunction *function = &state->functions[i];

		function->by_row = hg_function_is_by_row(function);
		state->by_row |= function->by_row;
	}
}

/* Has a column of numerics very long ones, or some that may be when they are fetched? */
static bool
hg_aggregate_has_long_numerics(const HgBatch *batch, int column)
{
	for (int row = 0; row < batch->nrows; row++)
	{
		const void *value;

		if (hg_batch_is_null(batch, column, row))
			continue;
		value = DatumGetPointer(batch->values[column][row]);
		if (!VARATT_IS_SHORT(value) &&
			(VARATT_IS_EXTENDED(value) || VARSIZE(value) > HG_LONG_NUMERIC))
			return true;
	}
	return false;
}

/* Decide which way the sums of a column of numerics take a batch. */
static void
hg_aggregate_choose_ways(HgAggregateState *state, const HgBatch *batch)
{
	for (int i = 0; i < state->nfunctions; i++)
	{
		HgFunction *function = &state->functions[i];

		if (function->argument != NULL || (function->kind != HG_AGGREGATE_SUM_NUMERIC &&
										   function->kind != HG_AGGREGATE_AVG_NUMERIC))
			continue;
		function->by_row = hg_aggregate_has_long_numerics(batch, function->column);
		state->by_row |= function->by_row;
	}
}

/* ---------------------------------------------------------------------
 * Groups
 * ---------------------------------------------------------------------
 */

/* Is there no room for more groups, and a way to do without? */
static inline bool
hg_aggregate_must_spill(const HgAggregateState *state)
{
	return state->spill == NULL && hg_budget_is_full(&state->budget) && state->groups->count > 0 &&
		   state->level < HG_SPILL_LEVELS;
}

/* Make the files for rows of groups that do not fit. */
static void
hg_aggregate_start_spill(HgAggregateState *state)
{
	const HgGroups *groups = state->groups;
	uint64 limit = state->budget.limit;
	double group_bytes =
		Max((double) groups->group_bytes, (double) groups->charge.bytes / groups->count);
	double expected = state->css.ss.ps.plan->plan_rows * group_bytes;
	int bits = 2;
	MemoryContext old = MemoryContextSwitchTo(state->context);

	/* the plan's estimate may be low: then partitions are cut again */
	while (bits < HG_AGGREGATE_MAX_BITS && expected / (1 << bits) > limit / 2 &&
		   (UINT64CONST(2) << bits) * HG_SPILL_FILE_BYTES <= limit / 4)
		bits++;
	state->spill = hg_spill_create(state->layout, state->level, bits, &state->budget);
	state->record.partitions += 1 << bits;
	state->rescannable = false;
	MemoryContextSwitchTo(old);
}

/*
 * Find those groups of a batch's rows that are there; rows of others go to files, and have NULL in
 * found.  Returns the rows that are left, which are put into rows.
 */
static HgSelection
hg_aggregate_find_known(HgAggregateState *state, const HgBatch *batch, const HgSpillKeys *keys,
						HgGroup **found, uint16 *rows)
{
	HgSelection selection = {rows, 0};
	uint16 missing[HG_BATCH_ROWS];
	int nmissing = 0;

	hg_groups_find(state->groups, batch, keys->words, false, found);
	for (int row = 0; row < batch->nrows; row++)
		if (found[row] != NULL)
			rows[selection.count++] = row;
		else
			missing[nmissing++] = row;
	if (nmissing > 0)
		hg_spill_write(state->spill, keys, batch, state->dense, missing, nmissing);
	return selection;
}

/* Find the groups of a batch's rows; returns the rows whose groups are in memory. */
static HgSelection
hg_aggregate_find_groups(HgAggregateState *state, const HgBatch *batch, HgSpillKeys *keys,
						 HgGroup **found, uint16 *rows)
{
	if (hg_aggregate_must_spill(state))
		hg_aggregate_start_spill(state);
	memset(keys->null_keys, false, sizeof(keys->null_keys));
	hg_groups_hash(state->groups, batch, keys->words);
	if (state->spill != NULL)
		return hg_aggregate_find_known(state, batch, keys, found, rows);
	hg_groups_find(state->groups, batch, keys->words, true, found);
	return (HgSelection){NULL, batch->nrows};
}

/*
 * Functions have taken the first taken rows by row, which has filled memory: unmake the groups that
 * later rows have made behind the first known ones, and have the rows of groups that are not there
 * go to files. Returns the rows that are left.
 */
static HgSelection
hg_aggregate_unmake_groups(HgAggregateState *state, const HgBatch *batch, const HgSpillKeys *keys,
						   uint32 known, int taken, HgGroup **found, uint16 *rows)
{
	HgGroups *groups = state->groups;
	HgSelection selection;

	for (int row = 0; row < taken; row++)
		if (known < groups->count && found[row] == hg_groups_get(groups, known))
			known++;
	hg_groups_truncate(groups, known);
	hg_aggregate_start_spill(state);
	selection = hg_aggregate_find_known(state, batch, keys, found, rows);
	for (int f = 0; f < state->nfilters; f++)
	{
		uint16 *passed = state->filter_rows + f * HG_BATCH_ROWS;
		HgSelection *filtered = &state->filtered[f];
		int kept = 0;

		for (int i = 0; i < filtered->count; i++)
			if (found[passed[i]] != NULL)
				passed[kept++] = passed[i];
		filtered->count = kept;
	}
	return selection;
}

/* ---------------------------------------------------------------------
 * Filters and arguments
 * ---------------------------------------------------------------------
 */

/* Put what filters and arguments use of a row into the scan slot, for them to look at. */
static inline void
hg_aggregate_load_row(HgAggregateState *state, const HgBatch *batch, int row)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	ResetExprContext(econtext);
	ExecClearTuple(slot);
	for (int i = 0; i < state->nexpr_columns; i++)
	{
		int column = state->expr_columns[i];
		int place = state->attnos[column] - 1;

		slot->tts_isnull[place] = hg_batch_is_null(batch, column, row);
		slot->tts_values[place] = slot->tts_isnull[place] ? (Datum) 0 : batch->values[column][row];
	}
	econtext->ecxt_scantuple = ExecStoreVirtualTuple(slot);
}

/* Select the rows that pass a filter. */
static HgSelection
hg_aggregate_select(HgAggregateState *state, int filter, const HgBatch *batch,
					HgSelection selection)
{
	uint16 *rows = state->filter_rows + filter * HG_BATCH_ROWS;
	int count = 0;

	for (int i = 0; i < selection.count; i++)
	{
		int row = selection.rows != NULL ? selection.rows[i] : i;

		hg_aggregate_load_row(state, batch, row);
		if (ExecQual(state->filters[filter], state->css.ss.ps.ps_ExprContext))
			rows[count++] = row;
	}
	return (HgSelection){rows, count};
}

/* Evaluate an argument over the row in the scan slot, into state->results. */
static inline void
hg_aggregate_evaluate(HgAggregateState *state, const HgFunction *function, int row)
{
	state->results[row] = ExecEvalExprSwitchContext(
		function->argument, state->css.ss.ps.ps_ExprContext, &state->results_null[row]);
}

/* ---------------------------------------------------------------------
 * Taking rows
 * ---------------------------------------------------------------------
 */

/* Have a function take selected rows, whose argument is a column, or in state->results. */
static inline void
hg_aggregate_advance(HgAggregateState *state, const HgFunction *function, const HgBatch *batch,
					 HgSelection selection, HgGroup *const *groups, HgGroup *group)
{
	if (function->column >= 0)
		hg_function_advance(function, selection, batch->values[function->column],
							batch->has_nulls[function->column] ? batch->nulls[function->column]
															   : NULL,
							groups, group);
	else if (function->argument != NULL)
		hg_function_advance(function, selection, state->results, state->results_null, groups,
							group);
	else
		hg_function_advance(function, selection, NULL, NULL, groups, group);
}

/* Have the functions that take rows one by one take this one. */
static void
hg_aggregate_take_row(HgAggregateState *state, const HgBatch *batch, uint16 row,
					  HgGroup *const *groups, HgGroup *group)
{
	bool loaded = false;

	for (int f = 0; f < state->nfilters; f++)
	{
		const HgSelection *filtered = &state->filtered[f];
		int *next = &state->filter_next[f];

		state->passes[f] = *next < filtered->count && filtered->rows[*next] == row;
		*next += state->passes[f];
	}
	for (int i = 0; i < state->nfunctions; i++)
	{
		const HgFunction *function = &state->functions[i];

		if (!function->by_row || (function->filter >= 0 && !state->passes[function->filter]))
			continue;
		if (function->argument != NULL)
		{
			if (!loaded)
				hg_aggregate_load_row(state, batch, row);
			loaded = true;
			hg_aggregate_evaluate(state, function, row);
		}
		hg_aggregate_advance(state, function, batch, (HgSelection){&row, 1}, groups, group);
	}
}

void
hg_aggregate_take(HgAggregateState *state, const HgBatch *batch)
{
	HgGroup *found[HG_BATCH_ROWS];
	HgGroup **groups = NULL;
	HgGroup *group = NULL;
	HgSpillKeys keys;
	uint16 rows[HG_BATCH_ROWS];
	uint32 known = state->groups->count;
	HgSelection all = {NULL, batch->nrows};

	if (state->groups->nkeys > 0)
	{
		groups = found;
		hg_aggregate_choose_ways(state, batch);
		all = hg_aggregate_find_groups(state, batch, &keys, found, rows);
	}
	else
		group = state->groups->count > 0 ? hg_groups_get(state->groups, 0)
										 : hg_groups_add(state->groups, batch, 0, 0);

	for (int f = 0; f < state->nfilters; f++)
	{
		state->filtered[f] = hg_aggregate_select(state, f, batch, all);
		state->filter_next[f] = 0;
	}
	for (int i = 0; state->by_row && i < all.count; i++)
	{
		uint16 row = all.rows != NULL ? all.rows[i] : i;

		hg_aggregate_take_row(state, batch, row, groups, group);
		/* without new groups their states may grow as they will */
		if (groups == NULL || state->spill != NULL || state->groups->count == known)
			continue;
		hg_groups_charge(state->groups);
		if (hg_aggregate_must_spill(state))
			all = hg_aggregate_unmake_groups(state, batch, &keys, known, row + 1, found, rows);
	}
	for (int i = 0; i < state->nfunctions; i++)
	{
		const HgFunction *function = &state->functions[i];
		HgSelection selection = function->filter >= 0 ? state->filtered[function->filter] : all;

		if (function->by_row)
			continue;
		for (int k = 0; function->argument != NULL && k < selection.count; k++)
		{
			int row = selection.rows != NULL ? selection.rows[k] : k;

			hg_aggregate_load_row(state, batch, row);
			hg_aggregate_evaluate(state, function, row);
		}
		hg_aggregate_advance(state, function, batch, selection, groups, group);
	}
}
