/*-------------------------------------------------------------------------
 *
 * hg_aggregate_sets.c
 *	  Grouping sets: groups of some columns, combined from groups of more columns.
 *
 * The rows of the input make the groups of the first set, which has the columns of all sets.  The
 * planner has ordered the other sets as a tree (planner/hg_grouping_sets.h).  The groups of a set
 * are combined from those of its parent while the node returns the parent's groups: their keys
 * are looked up in the set's own hash table, and the states are combined (hg_aggregate_sets.h).
 * When all groups of the parent are returned, its sets are complete and are returned one by one,
 * each before those that follow it.
 *
 * All sets have groups of one layout.  A column of GROUP BY that a set lacks is not among its keys
 * and is NULL.
 *
 * DISTINCT AGGREGATES.  A set that has the DISTINCT column does nothing for these.  A set that is
 * combined from it and lacks the column advances them by the column's value in each group, instead
 * of combining states.
 *
 * MEMORY.  All sets share the node's budget.  While the rows are read, all of it may be taken by
 * the first set.  Its groups are returned in the order of their memory, which is freed behind them.
 * When the budget is full, or the groups of a set that is not current take more than their share, a
 * set makes no more groups: its groups in memory are still combined, and all others go to
 * temporary files with their keys and packed states.  When the set is current, its partitions are
 * read as those of rows are (hg_aggregate_spill.h).  There is a share for each set that can have
 * groups at the same time.  The current set may always take its own.
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
	TupleDesc desc = CreateTemplateTupleDesc(state->ncolumns + 1);

	for (int c = 0; c < state->ncolumns; c++)
		TupleDescCopyEntry(desc, (AttrNumber) (c + 1), input, (AttrNumber) state->attnos[c]);
	TupleDescInitEntry(desc, (AttrNumber) (state->ncolumns + 1), "states", BYTEAOID, -1, 0);
	return desc;
}

/*
 * Creates the groups of a set with the group columns in column_indexes, as indexes of keys.  Key
 * number distinct, the last one, is the DISTINCT column; -1: there is none.
 */
static void
hg_set_begin_groups(HgAggregateState *state, HgGroupingSet *set, List *column_indexes, int distinct,
					MemoryContext states)
{
	const HgGroups *first = state->sets.sets[0].groups;
	int ngrouped = distinct >= 0 ? distinct : first->nkeys;
	HgGroupKey *keys = palloc0(Max(first->nkeys, 1) * sizeof(HgGroupKey));
	int *columns = palloc(Max(first->nvalues, 1) * sizeof(int));
	int nkeys = 0;
	int ncolumns;

	for (int k = 0; k < first->nkeys; k++)
		if (list_member_int(column_indexes, k))
		{
			keys[nkeys] = first->keys[k];
			columns[nkeys++] = first->columns[k];
		}
	ncolumns = nkeys;
	for (int k = 0; k < first->nkeys; k++)
		if (!list_member_int(column_indexes, k))
			columns[ncolumns++] = first->columns[k];
	for (; ncolumns < first->nvalues; ncolumns++)
		columns[ncolumns] = first->columns[ncolumns];
	set->nlacking = 0;
	for (int k = 0; k < ngrouped; k++)
		set->nlacking += !list_member_int(column_indexes, k);
	set->groups = hg_groups_create(nkeys, keys, first->nvalues, columns,
								   ExecGetResultType(linitial(state->css.custom_ps)), state->attnos,
								   first->group_bytes - first->states_offset, states,
								   state->row_context, &state->budget);
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
	int ncolumns = state->ncolumns + 1;

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
	sets->rows->has_nulls[state->ncolumns] = false;
	sets->packed = AllocSetContextCreate(state->context, "HashGraphAggregate packed states",
										 ALLOCSET_DEFAULT_SIZES);
}

/* Returns the part of the budget for the groups of one set. */
static uint64
hg_sets_share(const HgAggregateState *state)
{
	const HgAggregateSets *sets = &state->sets;
	int most = 0;

	/* while a set is current, all later sets have groups whose parents are not later */
	for (int current = 0; current < sets->count; current++)
	{
		int filled = 0;

		for (int i = current + 1; i < sets->count; i++)
			filled += sets->sets[i].parent <= current && !sets->sets[i].shared;
		most = Max(most, filled);
	}
	return state->budget.limit / (most + 1);
}

void
hg_aggregate_begin_sets(HgAggregateState *state)
{
	CustomScan *cscan = (CustomScan *) state->css.ss.ps.plan;
	HgAggregateSets *sets = &state->sets;
	List *columns = list_nth(cscan->custom_private, HG_AGGREGATE_SETS);
	List *parents = list_nth(cscan->custom_private, HG_AGGREGATE_SET_PARENTS);
	List *returned = list_nth(cscan->custom_private, HG_AGGREGATE_SET_RETURNED);
	List *shared = list_nth(cscan->custom_private, HG_AGGREGATE_SET_SHARED);
	List *never_empty = list_nth(cscan->custom_private, HG_AGGREGATE_SET_NEVER_EMPTY);
	List *groupings = list_nth(cscan->custom_private, HG_AGGREGATE_SET_GROUPINGS);
	List *expected = list_nth(cscan->custom_private, HG_AGGREGATE_SET_GROUPS);
	int distinct = intVal(list_nth(cscan->custom_private, HG_AGGREGATE_DISTINCT_KEY));
	int *attnos = palloc((state->ncolumns + 1) * sizeof(int));
	HgBatch *batch;

	sets->count = Max(list_length(parents), 1);
	sets->sets = palloc0(sets->count * sizeof(HgGroupingSet));
	sets->sets[0] = (HgGroupingSet){
		.parent = -1,
		.returned = parents == NIL || linitial_int(returned) != 0,
		.never_empty = parents == NIL ? !state->grouped : linitial_int(never_empty) != 0,
		.expected = linitial_int(expected),
		.groups = state->groups,
		.spill = &state->spill,
		.functions = state->functions,
		.results = state->results};
	if (parents == NIL)
		return;
	hg_sets_begin_combining(state);
	hg_sets_begin_rows(state);
	/* the files of one set are read at a time */
	batch = hg_batch_create(state->ncolumns + 1);
	for (int c = 0; c <= state->ncolumns; c++)
		attnos[c] = c + 1;
	sets->ngroupings = list_length(linitial(groupings));
	for (int i = 0; i < sets->count; i++)
	{
		HgGroupingSet *set = &sets->sets[i];
		MemoryContext states;

		set->groupings = palloc(Max(sets->ngroupings, 1) * sizeof(Datum));
		for (int g = 0; g < sets->ngroupings; g++)
			set->groupings[g] = Int32GetDatum(list_nth_int(list_nth(groupings, i), g));
		if (i == 0)
			continue;
		set->parent = list_nth_int(parents, i);
		set->returned = list_nth_int(returned, i) != 0;
		set->shared = list_nth_int(shared, i) != 0;
		set->never_empty = list_nth_int(never_empty, i) != 0;
		set->takes_distinct = !list_member_int(list_nth(columns, i), distinct) &&
							  list_member_int(list_nth(columns, set->parent), distinct);
		set->expected = list_nth_int(expected, i);
		sets->sets[set->parent].has_sets = true;
		states = AllocSetContextCreate(state->context, "HashGraphAggregate set states",
									   ALLOCSET_DEFAULT_SIZES);
		hg_set_begin_groups(state, set, list_nth(columns, i), distinct, states);
		hg_set_begin_functions(state, set, states);
		set->spill = palloc(sizeof(HgAggregateSpill));
		hg_aggregate_spill_init(set->spill, hg_sets_desc(state), state->ncolumns + 1, attnos,
								batch);
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

/* Returns true if a set may make no more groups, and those that it lacks can go to files. */
static bool
hg_set_must_spill(const HgAggregateState *state, const HgGroupingSet *set)
{
	const HgGroups *groups = set->groups;

	if (groups->nkeys == 0 || groups->count == 0 || !hg_aggregate_spill_can_start(set->spill))
		return false;
	if (set == hg_aggregate_set(&state->sets))
		return hg_aggregate_is_full(state);
	return hg_budget_is_full(&state->budget) || groups->charge.bytes > state->sets.share;
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

/* Writes rows without a group in found[] to files, with packed states. */
static void
hg_set_write(HgAggregateState *state, HgGroupingSet *set, HgBatch *rows, const HgSpillKeys *keys,
			 HgGroup *const *found, const HgFunction *source, HgGroup *const *from)
{
	MemoryContext old = MemoryContextSwitchTo(state->sets.packed);
	uint16 missing[HG_BATCH_ROWS];
	int nmissing = 0;

	for (int row = 0; row < rows->nrows; row++)
	{
		if (found[row] != NULL)
			continue;
		rows->values[state->ncolumns][row] =
			hg_states_pack(set->groups, state->nfunctions, source, from[row]);
		missing[nmissing++] = (uint16) row;
	}
	MemoryContextSwitchTo(old);
	if (nmissing > 0)
		hg_aggregate_spill_write(set->spill, keys, rows, missing, nmissing);
}

/* Lets a function take the distinct value in each row with a group in found[]. */
static void
hg_set_take_distinct(const HgFunction *function, const HgBatch *rows, HgGroup *const *found)
{
	uint16 selected[HG_BATCH_ROWS];
	int count = 0;

	for (int row = 0; row < rows->nrows; row++)
		if (found[row] != NULL)
			selected[count++] = (uint16) row;
	hg_function_advance(function, (HgSelection){selected, count}, rows->values[function->column],
						rows->has_nulls[function->column] ? rows->nulls[function->column] : NULL,
						found, NULL);
}

/*
 * Combines groups to those of a set.  Their columns are in rows, and their states, of the functions
 * in source, in from[].
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
	if (groups->nkeys == 0)
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
	for (int f = 0; f < state->nfunctions; f++)
		if (set->functions[f].distinct && set->takes_distinct)
			hg_set_take_distinct(&set->functions[f], rows, found);
		else
			hg_function_combine(&set->functions[f], &source[f], rows->nrows, found, from);
	MemoryContextSwitchTo(old);
	if (set->spill->writing != NULL)
		hg_set_write(state, set, rows, &keys, found, source, from);
	hg_groups_charge(groups);
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
	HgBatch *rows = sets->rows;
	Size most = Min(HG_BATCH_BYTES, sets->share);
	Size bytes = 0;

	for (int i = 0; i < groups->nvalues; i++)
		rows->has_nulls[groups->columns[i]] = false;
	for (rows->nrows = 0; rows->nrows < HG_BATCH_ROWS && first < groups->count && bytes < most;
		 first++, rows->nrows++)
	{
		HgGroup *group = hg_groups_get(groups, first);
		const bool *nulls = hg_group_nulls(groups, group);

		from[rows->nrows] = group;
		for (int i = 0; i < groups->nvalues; i++)
		{
			int column = groups->columns[i];

			rows->values[column][rows->nrows] = group->values[i];
			sets->nulls[column][rows->nrows] = nulls[i];
			rows->has_nulls[column] |= nulls[i];
			if (!groups->byvals[i] && !nulls[i])
				bytes += datumGetSize(group->values[i], false, groups->attlens[i]);
		}
		bytes += groups->group_bytes +
				 hg_states_outside(state->nfunctions, hg_aggregate_set(sets)->functions, group);
	}
}

void
hg_aggregate_combine(HgAggregateState *state)
{
	HgAggregateSets *sets = &state->sets;
	HgBatch *rows = sets->rows;
	HgGroup *from[HG_BATCH_ROWS];
	bool *has_nulls = palloc(rows->ncolumns * sizeof(bool));

	hg_groups_release(state->groups, sets->combined);
	hg_sets_load(state, sets->combined, from);
	memcpy(has_nulls, rows->has_nulls, rows->ncolumns * sizeof(bool));
	for (int i = sets->current + 1; i < sets->count; i++)
	{
		HgGroupingSet *set = &sets->sets[i];
		const HgGroups *groups = set->groups;

		if (set->parent != sets->current)
			continue;
		for (int v = 0; v < groups->nvalues; v++)
		{
			int column = groups->columns[v];
			bool lacks = v >= groups->nkeys && v < groups->nkeys + set->nlacking;

			rows->nulls[column] = lacks ? sets->all_null : sets->nulls[column];
			rows->has_nulls[column] = lacks || has_nulls[column];
		}
		hg_set_take(state, set, rows, hg_aggregate_set(sets)->functions, from);
		MemoryContextReset(sets->packed);
	}
	pfree(has_nulls);
	sets->combined += rows->nrows;
}

void
hg_aggregate_take_packed(HgAggregateState *state)
{
	HgGroupingSet *set = hg_aggregate_set(&state->sets);
	HgBatch *rows = set->spill->batch;
	HgGroup *from[HG_BATCH_ROWS];
	MemoryContext old = MemoryContextSwitchTo(state->sets.packed);

	for (int row = 0; row < rows->nrows; row++)
		from[row] = hg_states_unpack(set->groups, state->nfunctions, set->functions,
									 rows->values[state->ncolumns][row]);
	MemoryContextSwitchTo(old);
	hg_set_take(state, set, rows, set->functions, from);
	MemoryContextReset(state->sets.packed);
}
