/*-------------------------------------------------------------------------
 *
 * hg_aggregate_take.c
 *	  The aggregate node's way from a batch of rows to the states of groups.
 *
 * First the groups of all rows are found or made, and filters are evaluated, over columns if
 * possible (hg_aggregate_advance.h).  Then each function processes the rows in one of two ways:
 *
 *	by column	By a loop over all rows.  A computed argument was evaluated for all of them by
 *				loops over columns (hg_arithmetic.h).  If it is only counted, only its NULLs
 *				are read.
 *	by runs		If arguments must be evaluated row by row: for each row those of all
 *				functions, so that the first error is the one that PostgreSQL would raise.
 *				By-reference values can be of any size.  They stay in the memory in which
 *				they were computed until they take HG_RUN_BYTES; then the functions
 *				process them without a copy, and the memory is used again.  With GROUP BY,
 *				functions whose states long values can enlarge go by runs of one row too.
 *
 * If every function can, and there are neither groups nor filters, rows are processed in place
 * from arrays (HgRun).  If a batch has rows of few groups, functions without a filter process the
 * rows of each group together (hg_aggregate_groups.h).
 *
 * NUMERICS come as scaled integers (HgBatch.takes_scaled) if the arguments that use them are
 * computed column by column.  They are converted to numerics for row-by-row expressions.
 *
 * MEMORY.  States can be as large as arguments, for each group.  So the budget is checked after
 * each run.  When it is full, groups that later rows of the batch have made are removed, and rows
 * of groups that are not in memory go to files from there on.  So memory is exceeded by one run's
 * values at most, except by states that grow while no more groups are made, as in PostgreSQL's own
 * hash aggregation.  test/t/join_memory.pl holds it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "batch/hg_numeric.h"
#include "executor/aggregate/hg_aggregate_advance.h"
#include "executor/aggregate/hg_aggregate_state.h"

/* Limit of a run's computed arguments, without those of its last row. */
#define HG_RUN_BYTES ((Size) 8 * 1024)

/* A longer value is long.  States of shorter values are small enough for a batch at a time. */
#define HG_LONG_VALUE 256

void
hg_aggregate_begin_taking(HgAggregateTaking *taking, int ncolumns, int nfunctions,
						  HgFunction *functions)
{
	int nfilters = Max(taking->nfilters, 1);

	taking->filtered = palloc(nfilters * sizeof(HgSelection));
	taking->filter_rows = palloc(nfilters * HG_BATCH_ROWS * sizeof(uint16));
	taking->filter_next = palloc(nfilters * sizeof(int));
	taking->filter_first = palloc(nfilters * sizeof(int));
	taking->every_row = palloc(HG_BATCH_ROWS * sizeof(uint16));
	for (int row = 0; row < HG_BATCH_ROWS; row++)
		taking->every_row[row] = row;
	taking->by_run = palloc(Max(nfunctions, 1) * sizeof(int));
	taking->by_column = palloc(Max(nfunctions, 1) * sizeof(int));
	taking->numbers = palloc0(Max(nfunctions, 1) * sizeof(HgNumbers *));
	taking->numerics = palloc0(Max(ncolumns, 1) * sizeof(char *));
	for (int i = 0; i < nfunctions; i++)
	{
		HgFunction *function = &functions[i];

		if (function->argument == NULL)
			continue;
		function->results = palloc(HG_BATCH_ROWS * sizeof(Datum));
		function->results_null = palloc(HG_BATCH_ROWS * sizeof(bool));
	}
}

void
hg_aggregate_begin_finding(HgAggregateState *state)
{
	state->taking.kinds =
		hg_batch_create_partial(state->ncolumns, state->groups->nvalues, state->groups->columns);
}

/* Returns true if a varlena column has values that are long, or may be once detoasted. */
static bool
hg_batch_has_long_values(const HgBatch *batch, int column)
{
	for (int row = 0; row < batch->nrows; row++)
	{
		const void *value;

		if (hg_batch_is_null(batch, column, row))
			continue;
		value = DatumGetPointer(batch->values[column][row]);
		if (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value) ||
			VARSIZE_ANY(value) > HG_LONG_VALUE)
			return true;
	}
	return false;
}

/*
 * Returns true if a function must process the batch by runs: its argument is computed row by row,
 * or the batch's values or its states may be too large.
 */
static bool
hg_function_is_by_run(const HgFunction *function, const HgBatch *batch, bool grouped)
{
	if (function->argument != NULL)
		return true;
	return grouped && !function->argument_byval && function->kind != HG_AGGREGATE_COUNT &&
		   function->argument_len == -1 && hg_batch_has_long_values(batch, function->column);
}

/* Decides how each function processes a batch. */
static void
hg_aggregate_choose_ways(HgAggregateState *state, const HgBatch *batch)
{
	HgAggregateTaking *taking = &state->taking;

	taking->nby_run = taking->nby_column = 0;
	hg_arithmetic_begin_batch(taking->arithmetic, batch);
	for (int i = 0; i < state->nfunctions; i++)
	{
		const HgFunction *function = &state->functions[i];

		if (function->distinct >= 0)
			continue;
		taking->numbers[i] = function->number >= 0
								 ? hg_arithmetic_evaluate(taking->arithmetic, function->number)
								 : NULL;
		if (taking->numbers[i] == NULL &&
			hg_function_is_by_run(function, batch, state->groups->nkeys > 0))
			taking->by_run[taking->nby_run++] = i;
		else
			taking->by_column[taking->nby_column++] = i;
	}
}

/* ---------------------------------------------------------------------
 * Numerics that come as integers
 * ---------------------------------------------------------------------
 */

/*
 * Returns a value of a column, which is not NULL.  A scaled integer is converted to the numeric
 * that the table's rows have (pg_column_size() shows it), in memory that the next batch reuses.
 */
static inline Datum
hg_aggregate_value(HgAggregateTaking *taking, const HgBatch *batch, int column, int row)
{
	Datum value = batch->values[column][row];
	HgScaledFormat format;
	char *numeric;

	if (batch->scales[column] < 0)
		return value;
	if (taking->numerics[column] == NULL)
		taking->numerics[column] = MemoryContextAlloc(GetMemoryChunkContext(taking->numerics),
													  HG_BATCH_ROWS * HG_SCALED_BYTES);
	numeric = taking->numerics[column] + row * HG_SCALED_BYTES;
	format = hg_scaled_format(batch->scales[column]);
	hg_scaled_store(&format, DatumGetInt64(value), numeric);
	return PointerGetDatum(numeric);
}

/* ---------------------------------------------------------------------
 * Groups
 * ---------------------------------------------------------------------
 */

/* Returns true if memory is full and rows can go to files. */
static inline bool
hg_aggregate_must_spill(const HgAggregateState *state)
{
	return hg_aggregate_spill_can_start(&state->spill) &&
		   hg_aggregate_is_full(state, hg_aggregate_set(&state->sets)) && state->groups->count > 0;
}

/*
 * Finds the existing groups of a batch's rows.  Rows of other groups have NULL in found and go to
 * files, unless there are none and the rows make no groups.  Returns the remaining rows, in rows.
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
	if (nmissing > 0 && state->spill.writing != NULL)
		hg_aggregate_spill_write(&state->spill, keys, batch, missing, nmissing);
	return selection;
}

/*
 * Returns true if no row of a batch makes a group: they are of the second branch of INTERSECT or
 * EXCEPT, whose rows come after those of the first, from files too.
 */
static inline bool
hg_aggregate_only_finds(const HgAggregateState *state, const HgBatch *batch)
{
	return state->branch_column >= 0 && batch->nrows > 0 &&
		   DatumGetInt32(batch->values[state->branch_column][0]) != state->grouping_branch;
}

/* Finds or makes the groups of a batch's rows, once per kind. */
static void
hg_aggregate_find_kinds(HgAggregateState *state, const HgBatch *batch, uint64 *hashes,
						HgGroup **found)
{
	HgAggregateTaking *taking = &state->taking;
	const HgSmallDomain *small = &taking->small;
	HgBatch *kinds = taking->kinds;
	uint64 kind_hashes[HG_SMALL_KINDS];

	kinds->nrows = small->nkinds;
	for (int i = 0; i < state->groups->nvalues; i++)
	{
		int column = state->groups->columns[i];

		kinds->has_nulls[column] = batch->has_nulls[column];
		for (int kind = 0; kind < small->nkinds; kind++)
		{
			kinds->values[column][kind] = batch->values[column][small->first[kind]];
			kinds->nulls[column][kind] = hg_batch_is_null(batch, column, small->first[kind]);
		}
	}
	hg_groups_hash(state->groups, kinds, kind_hashes);
	hg_groups_find(state->groups, kinds, kind_hashes, true, taking->kind_groups);
	for (int row = 0; row < batch->nrows; row++)
	{
		hashes[row] = kind_hashes[small->kinds[row]];
		found[row] = taking->kind_groups[small->kinds[row]];
	}
}

/* Finds the groups of a batch's rows; returns the rows whose groups are in memory. */
static HgSelection
hg_aggregate_find_groups(HgAggregateState *state, const HgBatch *batch, HgSpillKeys *keys,
						 HgGroup **found, uint16 *rows)
{
	bool finds = hg_aggregate_only_finds(state, batch);

	if (!finds && hg_aggregate_must_spill(state) && !hg_aggregate_write_early(state))
		hg_aggregate_start_spill(state, hg_aggregate_set(&state->sets));
	state->participants.rows += batch->nrows;
	memset(keys->null_keys, false, sizeof(keys->null_keys));
	state->taking.few =
		!finds && state->spill.writing == NULL &&
		hg_small_find(&state->taking.small, batch, state->groups->nkeys, state->groups->columns);
	if (state->taking.few)
	{
		hg_aggregate_find_kinds(state, batch, keys->words, found);
		return (HgSelection){NULL, batch->nrows};
	}
	/* then no row has a new group, and the hashes are not needed */
	if (hg_groups_find_near(state->groups, batch, found))
		return (HgSelection){NULL, batch->nrows};
	hg_groups_hash(state->groups, batch, keys->words);
	if (finds || state->spill.writing != NULL)
		return hg_aggregate_find_known(state, batch, keys, found, rows);
	hg_groups_find(state->groups, batch, keys->words, true, found);
	return (HgSelection){NULL, batch->nrows};
}

/*
 * Called when functions have processed the first taken rows by runs, which has filled memory.
 * Removes the groups that later rows have added after the first known groups, and sends rows
 * without a group to files.  Returns the remaining rows.
 */
static HgSelection
hg_aggregate_unmake_groups(HgAggregateState *state, const HgBatch *batch, const HgSpillKeys *keys,
						   uint32 known, int taken, HgGroup **found, uint16 *rows)
{
	HgAggregateTaking *taking = &state->taking;
	HgGroups *groups = state->groups;
	HgSelection selection;

	for (int row = 0; row < taken; row++)
		if (known < groups->count && found[row] == hg_groups_get(groups, known))
			known++;
	hg_groups_truncate(groups, known);
	taking->few = false;
	hg_aggregate_start_spill(state, hg_aggregate_set(&state->sets));
	selection = hg_aggregate_find_known(state, batch, keys, found, rows);
	for (int f = 0; f < taking->nfilters; f++)
	{
		uint16 *passed = taking->filter_rows + f * HG_BATCH_ROWS;
		HgSelection *filtered = &taking->filtered[f];
		int nselected = 0;

		for (int i = 0; i < filtered->count; i++)
			if (found[passed[i]] != NULL)
				passed[nselected++] = passed[i];
		filtered->count = nselected;
	}
	return selection;
}

/* ---------------------------------------------------------------------
 * Filters and arguments
 * ---------------------------------------------------------------------
 */

/* Loads the columns of a row that filters and arguments use into the scan slot. */
static inline void
hg_aggregate_load_row(HgAggregateState *state, const HgBatch *batch, int row)
{
	HgAggregateTaking *taking = &state->taking;
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	/* evaluating a row's expressions can take any time */
	CHECK_FOR_INTERRUPTS();
	ExecClearTuple(slot);
	for (int i = 0; i < taking->ncolumns; i++)
	{
		int column = taking->columns[i];
		int column_index = state->attnos[column] - 1;

		slot->tts_isnull[column_index] = hg_batch_is_null(batch, column, row);
		slot->tts_values[column_index] = slot->tts_isnull[column_index]
											 ? (Datum) 0
											 : hg_aggregate_value(taking, batch, column, row);
	}
	state->css.ss.ps.ps_ExprContext->ecxt_scantuple = ExecStoreVirtualTuple(slot);
}

/* Returns the selected rows that pass a filter. */
static HgSelection
hg_aggregate_select(HgAggregateState *state, int filter, const HgBatch *batch,
					HgSelection selection)
{
	HgAggregateTaking *taking = &state->taking;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	uint16 *rows = taking->filter_rows + filter * HG_BATCH_ROWS;
	HgColumnFilter *columns = taking->column_filters[filter];
	bool passes[HG_BATCH_ROWS];
	bool recheck[HG_BATCH_ROWS];
	int count = 0;

	if (columns != NULL)
		hg_column_filter_apply(columns, batch, passes, recheck);
	for (int i = 0; i < selection.count; i++)
	{
		int row = selection.rows != NULL ? selection.rows[i] : i;

		if (columns != NULL && !recheck[row])
		{
			rows[count] = row;
			count += passes[row];
			continue;
		}
		ResetExprContext(econtext);
		hg_aggregate_load_row(state, batch, row);
		if (ExecQual(taking->filters[filter], econtext))
			rows[count++] = row;
	}
	return (HgSelection){rows, count};
}

/* Returns true if a row passes a filter.  Earlier rows of the run have advanced filter_next. */
static inline bool
hg_aggregate_passes(const HgAggregateTaking *taking, int filter, uint16 row)
{
	const HgSelection *filtered = &taking->filtered[filter];
	int next = taking->filter_next[filter];

	return next < filtered->count && filtered->rows[next] == row;
}

/* Evaluates a function's argument for the row in the scan slot. */
static inline void
hg_aggregate_evaluate(HgFunction *function, ExprContext *econtext, int row)
{
	function->results[row] =
		ExecEvalExprSwitchContext(function->argument, econtext, &function->results_null[row]);
}

/* ---------------------------------------------------------------------
 * Taking rows
 * ---------------------------------------------------------------------
 */

/*
 * Lets a function process selected rows, for which a computed argument was evaluated: as numbers,
 * or row by row if numbers is NULL.
 */
static inline void
hg_aggregate_advance(const HgFunction *function, const HgBatch *batch, const HgNumbers *numbers,
					 HgSelection selection, HgGroup *const *groups, HgGroup *group)
{
	if (numbers != NULL)
		hg_function_advance_numbers(function, selection, numbers, groups, group);
	else if (function->column >= 0)
		hg_function_advance(function, selection, batch->values[function->column],
							batch->has_nulls[function->column] ? batch->nulls[function->column]
															   : NULL,
							groups, group);
	else if (function->argument != NULL)
		hg_function_advance(function, selection, function->results, function->results_null, groups,
							group);
	else
		hg_function_advance(function, selection, NULL, NULL, groups, group);
}

/*
 * Lets the functions that go by runs process the first of these rows, until their arguments take
 * HG_RUN_BYTES.  Returns the number of processed rows.
 */
static int
hg_aggregate_take_run(HgAggregateState *state, const HgBatch *batch, HgSelection rows,
					  HgGroup *const *groups, HgGroup *group)
{
	HgAggregateTaking *taking = &state->taking;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool computed = true;
	int count = 0;

	ResetExprContext(econtext);
	memcpy(taking->filter_first, taking->filter_next, taking->nfilters * sizeof(int));
	do
	{
		uint16 row = rows.rows[count++];

		hg_aggregate_load_row(state, batch, row);
		for (int i = 0; i < taking->nby_run; i++)
		{
			HgFunction *function = &state->functions[taking->by_run[i]];

			if (function->argument == NULL)
				computed = false;
			else if (function->filter < 0 || hg_aggregate_passes(taking, function->filter, row))
				hg_aggregate_evaluate(function, econtext, row);
		}
		for (int f = 0; f < taking->nfilters; f++)
			taking->filter_next[f] += hg_aggregate_passes(taking, f, row);
	} while (count < rows.count && computed &&
			 MemoryContextMemAllocated(econtext->ecxt_per_tuple_memory, true) <= HG_RUN_BYTES);

	rows.count = count;
	for (int i = 0; i < taking->nby_run; i++)
	{
		const HgFunction *function = &state->functions[taking->by_run[i]];
		int f = function->filter;
		HgSelection selection = rows;

		if (f >= 0)
			selection = (HgSelection){taking->filtered[f].rows + taking->filter_first[f],
									  taking->filter_next[f] - taking->filter_first[f]};
		hg_aggregate_advance(function, batch, NULL, selection, groups, group);
	}
	return count;
}

/* Lets a function process a batch by columns: its remaining rows that pass the filter. */
static void
hg_aggregate_take_column(HgAggregateState *state, int i, const HgBatch *batch, HgSelection all,
						 HgGroup *const *groups, HgGroup *group)
{
	const HgAggregateTaking *taking = &state->taking;
	const HgFunction *function = &state->functions[i];

	if (function->filter >= 0)
		hg_aggregate_advance(function, batch, taking->numbers[i],
							 taking->filtered[function->filter], groups, group);
	else if (!taking->few)
		hg_aggregate_advance(function, batch, taking->numbers[i], all, groups, group);
	else
		for (int kind = 0; kind < taking->small.nkinds; kind++)
			hg_aggregate_advance(
				function, batch, taking->numbers[i],
				(HgSelection){taking->small.members[kind], taking->small.counts[kind]}, NULL,
				taking->kind_groups[kind]);
}

/* Returns the only group, without GROUP BY. */
static HgGroup *
hg_aggregate_only_group(HgAggregateState *state, const HgBatch *batch)
{
	return state->groups->count > 0 ? hg_groups_get(state->groups, 0)
									: hg_groups_add(state->groups, batch, 0, 0);
}

bool
hg_aggregate_takes_arrays(const HgAggregateState *state)
{
	if (state->groups->nkeys > 0 || state->groups->nvalues > 0 || state->sets.of_rows > 1)
		return false;
	for (int i = 0; i < state->nfunctions; i++)
		if (!hg_function_takes_arrays(&state->functions[i]))
			return false;
	return true;
}

void
hg_aggregate_take_arrays(HgAggregateState *state, const HgRun *run)
{
	HgGroup *group = hg_aggregate_only_group(state, NULL);

	for (int i = 0; i < state->nfunctions; i++)
	{
		const HgFunction *function = &state->functions[i];

		hg_function_advance_array(function, run->nrows,
								  function->column >= 0 ? run->values[function->column] : NULL,
								  group);
	}
}

void
hg_aggregate_take(HgAggregateState *state, const HgBatch *batch)
{
	HgAggregateTaking *taking = &state->taking;
	HgGroup *found[HG_BATCH_ROWS];
	HgGroup **groups = NULL;
	HgGroup *group = NULL;
	HgSpillKeys keys;
	uint16 rows[HG_BATCH_ROWS];
	uint32 known = state->groups->count;
	HgSelection all = {NULL, batch->nrows};

	taking->few = false;
	hg_aggregate_choose_ways(state, batch);
	if (state->groups->nkeys > 0)
	{
		groups = found;
		all = hg_aggregate_find_groups(state, batch, &keys, found, rows);
		/* groups that were written early are gone */
		known = state->participants.rows == (uint64) batch->nrows ? 0 : known;
	}
	else
		group = hg_aggregate_only_group(state, batch);

	for (int f = 0; f < taking->nfilters; f++)
	{
		taking->filtered[f] = hg_aggregate_select(state, f, batch, all);
		taking->filter_next[f] = 0;
	}
	for (int taken = 0; taking->nby_run > 0 && taken < all.count;)
	{
		const uint16 *rest = (all.rows != NULL ? all.rows : taking->every_row) + taken;

		taken += hg_aggregate_take_run(state, batch, (HgSelection){rest, all.count - taken}, groups,
									   group);
		/* if there are no new groups to remove, states may grow */
		if (groups == NULL || state->spill.writing != NULL || state->groups->count == known)
			continue;
		hg_groups_charge(state->groups);
		if (hg_aggregate_must_spill(state))
			all = hg_aggregate_unmake_groups(state, batch, &keys, known, taken, found, rows);
	}
	for (int i = 0; i < taking->nby_column; i++)
		hg_aggregate_take_column(state, taking->by_column[i], batch, all, groups, group);
	/* states may have grown; the next batch and EXPLAIN use the charge */
	hg_groups_charge(state->groups);
}

void
hg_aggregate_take_distinct(HgAggregateState *state, const HgBatch *batch)
{
	for (int i = 1; i < state->sets.count; i++)
	{
		HgGroupingSet *set = &state->sets.sets[i];
		HgSelection selection = {NULL, batch->nrows};

		if (!bms_is_empty(set->parents))
			continue;
		if (set->filter >= 0)
			selection = hg_aggregate_select(state, set->filter, batch, selection);
		hg_aggregate_take_keys(state, set, batch, selection.rows, selection.count);
	}
}
