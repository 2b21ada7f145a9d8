/*-------------------------------------------------------------------------
 *
 * hg_aggregate_sets.c
 *	  Grouping sets: groups of some columns, combined from groups of more columns.
 *
 * The rows of the input make the groups of the first set, which has all columns of GROUP BY.  The
 * planner has ordered the other sets as a tree (planner/hg_grouping_sets.h).  The groups of a set
 * are combined from those of its parent while the node returns the parent's groups: their keys
 * are looked up in the set's own hash table, and the states are combined (hg_aggregate_sets.h).
 * When all groups of the parent are returned, its sets are complete and are returned one by one,
 * each before those that follow it.
 *
 * All groups with states have one layout.  A column of GROUP BY that a set lacks is not among its
 * keys and is NULL.
 *
 * DISTINCT AGGREGATES.  A set that has a DISTINCT column does nothing for these.  A set that is
 * combined from it and lacks the column advances them by the column's value in each group, instead
 * of combining states.  If there are several DISTINCT columns, only one set that is made of rows
 * has states.  The sets of the other columns have keys only, and rows go to their hash tables too.
 * The sets that are returned have several parents.  The one with states comes first, because it
 * also has the columns that have one value for each group.
 *
 * MEMORY.  All sets share the node's budget, with a share for each set that can have groups at the
 * same time.  While the rows are read, the sets that are made of rows may take all of it, but what
 * the others of them lack of their shares.  The groups of a set are returned in the order of their
 * memory, which is freed behind them.
 *
 * A set makes no more groups when the budget is full, or when it is made of other groups, is not
 * current and takes more than its share.  Its groups in memory are still combined, and all others
 * go to temporary files with their keys and packed states.  When the set is current, its partitions
 * are read as those of rows are (hg_aggregate_spill.h).  The current set may always take its share.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "executor/aggregate/hg_aggregate.h"
#include "executor/aggregate/hg_aggregate_advance.h"
#include "executor/aggregate/hg_aggregate_sets.h"
#include "executor/aggregate/hg_aggregate_state.h"

/* ---------------------------------------------------------------------
 * Setting up
 * ---------------------------------------------------------------------
 */

/* Returns a description of rows with the columns of the input and packed states. */
static TupleDesc
hg_sets_desc(const HgAggregateState *state)
{
	TupleDesc input = ExecGetResultType(linitial(state->css.custom_ps));
	TupleDesc desc = CreateTemplateTupleDesc(state->sets.rows->ncolumns);

	for (int c = 0; c < state->ncolumns; c++)
		TupleDescCopyEntry(desc, (AttrNumber) (c + 1), input, (AttrNumber) state->attnos[c]);
	TupleDescInitEntry(desc, (AttrNumber) (state->ncolumns + 1), "states", BYTEAOID, -1, 0);
	TupleDescInitEntry(desc, (AttrNumber) (state->ncolumns + 2), "distinct", INT4OID, -1, 0);
	return desc;
}

/*
 * Creates the groups of a set with the columns in column_indexes, as indexes of the node's keys.
 * Groups with states have the values of the first set's groups.
 */
static void
hg_set_begin_groups(HgAggregateState *state, HgGroupingSet *set, List *column_indexes,
					MemoryContext states)
{
	const HgAggregateSets *sets = &state->sets;
	const HgGroups *first = sets->sets[0].groups;
	HgGroupKey *keys = palloc0(sets->nkeys * sizeof(HgGroupKey));
	int *columns = palloc((sets->nkeys + first->nvalues) * sizeof(int));
	int nkeys = 0;
	int ncolumns;

	for (int k = 0; k < sets->nkeys; k++)
		if (list_member_int(column_indexes, k))
		{
			keys[nkeys] = sets->keys[k];
			columns[nkeys++] = sets->keys[k].column;
		}
	ncolumns = nkeys;
	for (int i = 0; !set->keys_only && i < first->nvalues; i++)
		if (i >= first->nkeys || !list_member_int(column_indexes, i))
			columns[ncolumns++] = first->columns[i];
	set->groups = hg_groups_create(nkeys, keys, ncolumns, columns,
								   ExecGetResultType(linitial(state->css.custom_ps)), state->attnos,
								   set->keys_only ? 0 : first->group_bytes - first->states_offset,
								   states, state->row_context, &state->budget);
}

/* Makes copies of the node's functions and results, whose states live in a set's own memory. */
static void
hg_set_begin_functions(const HgAggregateState *state, HgGroupingSet *set, MemoryContext states)
{
	set->functions = palloc(Max(state->nfunctions, 1) * sizeof(HgFunction));
	set->results = palloc(Max(state->nresults, 1) * sizeof(HgResult));
	for (int f = 0; f < state->nfunctions; f++)
	{
		set->functions[f] = state->functions[f];
		if (set->functions[f].transition != NULL)
			set->functions[f].transition =
				hg_transition_for_combined(set->functions[f].transition, states);
	}
	for (int i = 0; i < state->nresults; i++)
		set->results[i] =
			(HgResult){set->functions + (state->results[i].function - state->functions),
					   state->results[i].kind};
}

/* Looks up what is needed to combine the states of the node's functions. */
static void
hg_sets_begin_combining(HgAggregateState *state)
{
	const CustomScan *cscan = (const CustomScan *) state->css.ss.ps.plan;

	for (int i = 0; i < state->nresults; i++)
	{
		const TargetEntry *tle =
			list_nth_node(TargetEntry, cscan->custom_scan_tlist, state->first_result + i);
		HgTransition *transition = state->results[i].function->transition;

		if (transition != NULL && !OidIsValid(transition->combine.fn_oid))
			hg_transition_find_combine(transition, castNode(Aggref, tle->expr));
	}
}

/* Allocates the rows in which groups go from one set to another. */
static void
hg_sets_begin_rows(HgAggregateState *state)
{
	HgAggregateSets *sets = &state->sets;
	int ncolumns = state->ncolumns + 2;

	sets->rows = hg_batch_create(ncolumns);
	sets->nulls = palloc(ncolumns * sizeof(bool *));
	sets->all_null = palloc(HG_BATCH_ROWS * sizeof(bool));
	memset(sets->all_null, true, HG_BATCH_ROWS * sizeof(bool));
	for (int c = 0; c < ncolumns; c++)
	{
		sets->nulls[c] = sets->rows->nulls[c];
		memset(sets->rows->values[c], 0, HG_BATCH_ROWS * sizeof(Datum));
		/* columns of the input that no group has */
		sets->rows->nulls[c] = sets->all_null;
		sets->rows->has_nulls[c] = true;
	}
	sets->empty = palloc0(state->groups->group_bytes);
	sets->packed = AllocSetContextCreate(state->context, "HashGraphAggregate packed states",
										 ALLOCSET_DEFAULT_SIZES);
}

/* Returns the part of the budget for the groups of one set. */
static uint64
hg_sets_share(const HgAggregateState *state)
{
	const HgAggregateSets *sets = &state->sets;
	int most = 0;

	/* while a set is current, all later sets have groups that are made of rows or earlier sets */
	for (int current = 0; current < sets->count; current++)
	{
		int filled = 0;

		for (int i = current + 1; i < sets->count; i++)
		{
			int parent = bms_next_member(sets->sets[i].parents, -1);

			filled += parent <= current && !sets->sets[i].shared;
		}
		most = Max(most, filled);
	}
	return state->budget.limit / (most + 1);
}

/* Initializes what the lists of the plan say of a set, after that of its parents. */
static void
hg_set_begin(HgAggregateState *state, int number)
{
	List *plan = ((CustomScan *) state->css.ss.ps.plan)->custom_private;
	HgAggregateSets *sets = &state->sets;
	HgGroupingSet *set = &sets->sets[number];
	List *groupings = list_nth(list_nth(plan, HG_AGGREGATE_SET_GROUPINGS), number);
	int parent = -1;
	ListCell *lc;

	set->keys_only = list_nth_int(list_nth(plan, HG_AGGREGATE_SET_KEYS_ONLY), number) != 0;
	set->returned = list_nth_int(list_nth(plan, HG_AGGREGATE_SET_RETURNED), number) != 0;
	set->shared = list_nth_int(list_nth(plan, HG_AGGREGATE_SET_SHARED), number) != 0;
	set->never_empty = list_nth_int(list_nth(plan, HG_AGGREGATE_SET_NEVER_EMPTY), number) != 0;
	set->expected = list_nth_int(list_nth(plan, HG_AGGREGATE_SET_GROUPS), number);
	set->groupings = palloc(Max(list_length(groupings), 1) * sizeof(Datum));
	foreach (lc, groupings)
		set->groupings[foreach_current_index(lc)] = Int32GetDatum(lfirst_int(lc));
	foreach (lc, list_nth(list_nth(plan, HG_AGGREGATE_SET_PARENTS), number))
		set->parents = bms_add_member(set->parents, lfirst_int(lc));
	sets->of_rows += bms_is_empty(set->parents);
	while ((parent = bms_next_member(set->parents, parent)) >= 0)
		sets->sets[parent].has_sets = true;
}

/* Initializes which columns of GROUP BY a set lacks, and its part in DISTINCT aggregates. */
static void
hg_set_begin_columns(HgAggregateState *state, HgGroupingSet *set, const List *column_indexes)
{
	List *plan = ((CustomScan *) state->css.ss.ps.plan)->custom_private;
	int ngrouped = intVal(list_nth(plan, HG_AGGREGATE_GROUP_KEYS));
	const HgAggregateSets *sets = &state->sets;
	int parent = -1;

	set->lacks = palloc0(Max(state->ncolumns, 1) * sizeof(bool));
	set->distinct = set->filter = -1;
	for (int k = 0; k < sets->nkeys; k++)
		if (k < ngrouped)
			set->lacks[sets->keys[k].column] = !list_member_int(column_indexes, k);
		else if (list_member_int(column_indexes, k))
			set->distinct = k - ngrouped;
	for (int f = 0; f < state->nfunctions && set->distinct >= 0; f++)
		if (state->functions[f].distinct == set->distinct)
			set->filter = state->functions[f].filter;
	while ((parent = bms_next_member(set->parents, parent)) >= 0)
		set->takes_distinct |= set->distinct < 0 && sets->sets[parent].distinct >= 0;
}

void
hg_aggregate_begin_sets(HgAggregateState *state)
{
	List *plan = ((CustomScan *) state->css.ss.ps.plan)->custom_private;
	HgAggregateSets *sets = &state->sets;
	List *columns = list_nth(plan, HG_AGGREGATE_SETS);
	HgBatch *batch;
	int *attnos;

	sets->count = Max(list_length(columns), 1);
	sets->sets = palloc0(sets->count * sizeof(HgGroupingSet));
	sets->sets[0] =
		(HgGroupingSet){.returned = true,
						.never_empty = !state->grouped,
						.distinct = -1,
						.expected = linitial_int(list_nth(plan, HG_AGGREGATE_SET_GROUPS)),
						.groups = state->groups,
						.spill = &state->spill,
						.functions = state->functions,
						.results = state->results};
	if (columns == NIL)
		return;
	hg_sets_begin_combining(state);
	hg_sets_begin_rows(state);
	/* the files of one set are read at a time */
	batch = hg_batch_create(sets->rows->ncolumns);
	attnos = palloc(batch->ncolumns * sizeof(int));
	for (int c = 0; c < batch->ncolumns; c++)
		attnos[c] = c + 1;
	sets->ngroupings = list_length(linitial(list_nth(plan, HG_AGGREGATE_SET_GROUPINGS)));
	for (int i = 0; i < sets->count; i++)
	{
		HgGroupingSet *set = &sets->sets[i];
		MemoryContext states;

		hg_set_begin(state, i);
		hg_set_begin_columns(state, set, list_nth(columns, i));
		if (i == 0)
			continue;
		states = AllocSetContextCreate(state->context, "HashGraphAggregate set states",
									   ALLOCSET_DEFAULT_SIZES);
		hg_set_begin_groups(state, set, list_nth(columns, i), states);
		if (!set->keys_only)
			hg_set_begin_functions(state, set, states);
		set->spill = palloc(sizeof(HgAggregateSpill));
		hg_aggregate_spill_init(set->spill, hg_sets_desc(state), batch->ncolumns, attnos, batch);
	}
	sets->share = hg_sets_share(state);
}

/* ---------------------------------------------------------------------
 * The current set
 * ---------------------------------------------------------------------
 */

static void
hg_sets_make_current(HgAggregateState *state, int number)
{
	HgGroupingSet *set = &state->sets.sets[number];

	state->sets.current = number;
	state->groups = set->groups;
	state->results = set->results;
}

void
hg_aggregate_reset_sets(HgAggregateState *state)
{
	for (int i = 0; i < state->sets.count; i++)
	{
		hg_aggregate_spill_reset(state->sets.sets[i].spill);
		hg_groups_reset(state->sets.sets[i].groups);
	}
	hg_sets_make_current(state, 0);
}

bool
hg_aggregate_next_set(HgAggregateState *state)
{
	if (state->sets.current + 1 == state->sets.count)
		return false;
	hg_groups_reset(state->groups);
	hg_sets_make_current(state, state->sets.current + 1);
	return true;
}

/* ---------------------------------------------------------------------
 * Combining groups
 * ---------------------------------------------------------------------
 */

bool
hg_aggregate_is_full(const HgAggregateState *state, const HgGroupingSet *set)
{
	const HgAggregateSets *sets = &state->sets;
	const HgBudget *budget = &state->budget;
	uint64 reserved = 0;

	if (set != hg_aggregate_set(sets) && !bms_is_empty(set->parents))
		return hg_budget_is_full(budget) || set->groups->charge.bytes > sets->share;
	/* other sets are made of the same rows */
	for (int i = 0; i < sets->count && sets->current == 0; i++)
		if (&sets->sets[i] != set && bms_is_empty(sets->sets[i].parents))
			reserved += sets->share - Min(sets->share, sets->sets[i].groups->charge.bytes);
	return budget->charged + reserved > budget->limit && set->groups->charge.bytes > sets->share;
}

/* Returns true if a set may make no more groups, and those that it lacks can go to files. */
static bool
hg_set_must_spill(const HgAggregateState *state, const HgGroupingSet *set)
{
	const HgGroups *groups = set->groups;

	if (groups->nkeys == 0 || groups->count == 0 || !hg_aggregate_spill_can_start(set->spill))
		return false;
	return hg_aggregate_is_full(state, set);
}

/* As many groups are expected as there are when memory is full, times this, at least. */
#define HG_MORE_GROUPS 4.0

void
hg_aggregate_start_spill(HgAggregateState *state, const HgGroupingSet *set)
{
	const HgGroups *groups = set->groups;
	double group_bytes =
		Max((double) groups->group_bytes, (double) groups->charge.bytes / groups->count);

	/* a partition is read while other sets have their shares */
	state->record.partitions += hg_aggregate_spill_start(
		set->spill, Max(set->expected, HG_MORE_GROUPS * groups->count) * group_bytes,
		state->sets.share > 0 ? state->sets.share : state->budget.limit, &state->budget);
	state->rescannable = false;
}

/*
 * Writes rows without a group in found[] to files, with packed states: of no rows if source is
 * NULL.
 */
static void
hg_set_write(HgAggregateState *state, HgGroupingSet *set, HgBatch *rows, const HgSpillKeys *keys,
			 HgGroup *const *found, const HgFunction *source, HgGroup *const *from)
{
	const HgFunction *functions = source != NULL ? source : set->functions;
	MemoryContext old = MemoryContextSwitchTo(state->sets.packed);
	uint16 missing[HG_BATCH_ROWS];
	int nmissing = 0;

	for (int row = 0; row < rows->nrows; row++)
	{
		if (found[row] != NULL)
			continue;
		if (!set->keys_only)
			rows->values[state->ncolumns][row] =
				hg_states_pack(set->groups, state->nfunctions, functions,
							   source != NULL ? from[row] : state->sets.empty);
		missing[nmissing++] = (uint16) row;
	}
	MemoryContextSwitchTo(old);
	if (nmissing > 0)
		hg_aggregate_spill_write(set->spill, keys, rows, missing, nmissing);
}

/*
 * Lets a function take the distinct value in each row with a group in found[], if the row comes
 * from groups with the function's DISTINCT column.  number is the column with that of a row.
 */
static void
hg_set_take_distinct(const HgFunction *function, const HgBatch *rows, int number,
					 HgGroup *const *found)
{
	uint16 selected[HG_BATCH_ROWS];
	int count = 0;

	for (int row = 0; row < rows->nrows; row++)
		if (found[row] != NULL && !hg_batch_is_null(rows, number, row) &&
			DatumGetInt32(rows->values[number][row]) == function->distinct)
			selected[count++] = (uint16) row;
	hg_function_advance(function, (HgSelection){selected, count}, rows->values[function->column],
						rows->has_nulls[function->column] ? rows->nulls[function->column] : NULL,
						found, NULL);
}

/*
 * Combines groups to those of a set.  Their columns are in rows, and their states, of the functions
 * in source, in from[].  If source is NULL, they have no states.
 */
static void
hg_set_take(HgAggregateState *state, HgGroupingSet *set, HgBatch *rows, const HgFunction *source,
			HgGroup *const *from)
{
	HgGroups *groups = set->groups;
	HgGroup *found[HG_BATCH_ROWS];
	HgSpillKeys keys;
	MemoryContext old;

	if (hg_set_must_spill(state, set))
		hg_aggregate_start_spill(state, set);
	if (groups->nkeys == 0 && set->spill->writing == NULL)
	{
		if (groups->count == 0)
			hg_groups_add(groups, rows, 0, 0);
		for (int row = 0; row < rows->nrows; row++)
			found[row] = hg_groups_get(groups, 0);
	}
	else
	{
		memset(keys.null_keys, false, sizeof(keys.null_keys));
		hg_groups_hash(groups, rows, keys.words);
		/* of a set that is shared there are no groups until all are written */
		if (groups->count > 0 || set->spill->writing == NULL)
			hg_groups_find(groups, rows, keys.words, set->spill->writing == NULL, found);
		else
			memset(found, 0, rows->nrows * sizeof(HgGroup *));
	}
	old = MemoryContextSwitchTo(state->sets.packed);
	for (int f = 0; f < state->nfunctions && !set->keys_only; f++)
		if (set->functions[f].distinct >= 0 && set->takes_distinct)
			hg_set_take_distinct(&set->functions[f], rows, state->ncolumns + 1, found);
		else if (source != NULL)
			hg_function_combine(&set->functions[f], &source[f], rows->nrows, found, from);
	MemoryContextSwitchTo(old);
	if (set->spill->writing != NULL)
		hg_set_write(state, set, rows, &keys, found, source, from);
	hg_groups_charge(groups);
}

/* Prepares for rows that have only some columns of the input, without states and a number. */
static void
hg_sets_clear_rows(HgAggregateSets *sets)
{
	HgBatch *rows = sets->rows;

	rows->nrows = 0;
	for (int c = 0; c < rows->ncolumns; c++)
	{
		rows->nulls[c] = sets->all_null;
		rows->has_nulls[c] = true;
	}
}

void
hg_aggregate_take_keys(HgAggregateState *state, HgGroupingSet *set, const HgBatch *batch,
					   const uint16 *selected, int count)
{
	HgBatch *rows = state->sets.rows;
	HgGroup *found[HG_BATCH_ROWS];

	if (count == 0)
		return;
	hg_sets_clear_rows(&state->sets);
	rows->nrows = count;
	for (int k = 0; k < set->groups->nkeys; k++)
	{
		int column = set->groups->columns[k];

		rows->nulls[column] = state->sets.nulls[column];
		rows->has_nulls[column] = batch->has_nulls[column];
		for (int i = 0; i < count; i++)
		{
			int row = selected != NULL ? selected[i] : i;

			rows->values[column][i] = batch->values[column][row];
			rows->nulls[column][i] = hg_batch_is_null(batch, column, row);
		}
	}
	/* a group that exists needs nothing more */
	if (hg_groups_find_near(set->groups, rows, found))
		return;
	hg_set_take(state, set, rows, NULL, NULL);
	MemoryContextReset(state->sets.packed);
}

/*
 * Loads groups of the current set, from number first on, into rows and from[].  There are as many
 * as a batch has by rows and by bytes, but not more than the share of a set, which may copy them
 * all.
 */
static void
hg_sets_load(HgAggregateState *state, uint32 first, HgGroup **from)
{
	HgAggregateSets *sets = &state->sets;
	const HgGroups *groups = state->groups;
	const HgGroupingSet *set = hg_aggregate_set(sets);
	HgBatch *rows = sets->rows;
	Size most = Min(HG_BATCH_BYTES, sets->share);
	Size bytes = 0;

	hg_sets_clear_rows(sets);
	for (int i = 0; i < groups->nvalues; i++)
	{
		rows->nulls[groups->columns[i]] = sets->nulls[groups->columns[i]];
		rows->has_nulls[groups->columns[i]] = false;
	}
	rows->has_nulls[state->ncolumns + 1] = set->distinct < 0;
	for (; rows->nrows < HG_BATCH_ROWS && first < groups->count && bytes < most;
		 first++, rows->nrows++)
	{
		HgGroup *group = hg_groups_get(groups, first);
		const bool *nulls = hg_group_nulls(groups, group);

		from[rows->nrows] = group;
		for (int i = 0; i < groups->nvalues; i++)
		{
			int column = groups->columns[i];

			rows->values[column][rows->nrows] = group->values[i];
			rows->nulls[column][rows->nrows] = nulls[i];
			rows->has_nulls[column] |= nulls[i];
			if (!groups->byvals[i] && !nulls[i])
				bytes += datumGetSize(group->values[i], false, groups->attlens[i]);
		}
		rows->values[state->ncolumns + 1][rows->nrows] = Int32GetDatum(set->distinct);
		bytes += groups->group_bytes;
		if (!set->keys_only)
			bytes += hg_states_outside(state->nfunctions, set->functions, group);
	}
}

void
hg_aggregate_combine(HgAggregateState *state)
{
	HgAggregateSets *sets = &state->sets;
	HgBatch *rows = sets->rows;
	const HgFunction *source = hg_aggregate_set(sets)->functions;
	HgGroup *from[HG_BATCH_ROWS];
	bool *has_nulls = palloc(state->ncolumns * sizeof(bool));
	bool **nulls = palloc(state->ncolumns * sizeof(bool *));

	hg_groups_release(state->groups, sets->combined);
	hg_sets_load(state, sets->combined, from);
	memcpy(has_nulls, rows->has_nulls, state->ncolumns * sizeof(bool));
	memcpy(nulls, rows->nulls, state->ncolumns * sizeof(bool *));
	for (int i = sets->current + 1; i < sets->count; i++)
	{
		HgGroupingSet *set = &sets->sets[i];

		if (!bms_is_member(sets->current, set->parents))
			continue;
		for (int c = 0; c < state->ncolumns; c++)
		{
			rows->nulls[c] = set->lacks[c] ? sets->all_null : nulls[c];
			rows->has_nulls[c] = set->lacks[c] || has_nulls[c];
		}
		/* packed states */
		rows->has_nulls[state->ncolumns] = set->keys_only;
		hg_set_take(state, set, rows, source, from);
		MemoryContextReset(sets->packed);
	}
	pfree(has_nulls);
	pfree(nulls);
	sets->combined += rows->nrows;
}

void
hg_aggregate_take_packed(HgAggregateState *state)
{
	HgGroupingSet *set = hg_aggregate_set(&state->sets);
	HgBatch *rows = set->spill->batch;
	HgGroup *from[HG_BATCH_ROWS];
	MemoryContext old = MemoryContextSwitchTo(state->sets.packed);

	for (int row = 0; row < rows->nrows && !set->keys_only; row++)
		from[row] = hg_states_unpack(set->groups, state->nfunctions, set->functions,
									 rows->values[state->ncolumns][row]);
	MemoryContextSwitchTo(old);
	hg_set_take(state, set, rows, set->functions, from);
	MemoryContextReset(state->sets.packed);
}
