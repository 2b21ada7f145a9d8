/*-------------------------------------------------------------------------
 *
 * hg_aggregate_reduce.c
 *	  Groups that a device makes of the join's matches, merged into the aggregate node's groups.
 *
 * The join below can hand over groups instead of rows (hg_join_reduce.c) if all aggregates, over
 * plain columns or arithmetic and without FILTER, are of these: counts of anything; sums,
 * averages, minima and maxima of integers; sums and averages of numerics.  The groups are merged
 * as rows would be.  So it does not matter how often groups come, and what comes as rows: in
 * chunks and partitions of the join, or in other processes below a Gather.
 *
 * A device compares values by their bits.  Values with different bits that the type holds to be
 * equal come in several groups, which the merge unites.
 *
 * MEMORY.  The number of groups that may come is limited to what fits beside the existing ones.
 * None may come while rows go to disk.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "executor/aggregate/hg_aggregate_advance.h"
#include "executor/aggregate/hg_aggregate_state.h"
#include "executor/join/hg_join_source.h"

/* Bytes of a group in the hash table, at least a quarter of whose slots are used. */
#define HG_GROUP_SLOT_BYTES (4 * sizeof(HgGroupSlot))

/* Returns the bytes of another group, with its record while it is merged. */
static uint64
hg_aggregate_group_bytes(const HgAggregateState *state)
{
	const HgGroups *groups = state->groups;
	uint64 bytes = groups->group_bytes + HG_GROUP_SLOT_BYTES +
				   hg_reduce_words(&state->reduction.reducer.spec) * sizeof(uint64);

	/* copies of its values, which are not longer than this if they come from a device */
	for (int i = 0; i < groups->nvalues; i++)
		if (!groups->byvals[i])
			bytes += 2 * HG_GRAPH_CODED_BYTES;
	return bytes;
}

/* HgReducer.room */
static uint64
hg_aggregate_room(void *arg, uint64 more)
{
	HgAggregateState *state = arg;
	uint64 room = hg_budget_room(&state->budget) / (hg_aggregate_group_bytes(state) + more);

	if (state->groups->nkeys == 0)
		return state->groups->nvalues == 0 ? 1 : Max(room, 1);
	if (state->spill.writing != NULL || hg_aggregate_set(&state->sets)->expected > (double) room)
		return 0;
	return Min(room, PG_INT32_MAX - state->groups->count);
}

/* Returns the number of matches in a record's group. */
static inline uint64
hg_aggregate_pairs(const HgReduceSpec *spec, const uint64 *record)
{
	return record[spec->nkeys + 1];
}

/* Loads the keys of records into a batch. */
static HgBatch *
hg_aggregate_load_records(const HgAggregateReduction *reduction, const uint64 *records,
						  int nrecords)
{
	HgBatch *batch = reduction->batch;
	const HgReduceSpec *spec = &reduction->reducer.spec;
	uint32 words = hg_reduce_words(spec);

	batch->nrows = nrecords;
	for (uint32 k = 0; k < spec->nkeys; k++)
	{
		int column = (int) spec->keys[k].column;

		batch->has_nulls[column] = false;
		for (int i = 0; i < nrecords; i++)
		{
			const uint64 *record = records + (size_t) i * words;

			/* sign-extended, or a pointer: the same as a Datum */
			batch->values[column][i] = (Datum) record[k];
			batch->nulls[column][i] = (record[spec->nkeys] >> k & 1) != 0;
			batch->has_nulls[column] |= batch->nulls[column][i];
		}
	}
	return batch;
}

/* Merges a record into its group. */
static void
hg_aggregate_merge(HgAggregateState *state, HgGroup *group, const uint64 *record,
				   const int scales[HG_MAX_REDUCE_ITEMS])
{
	const HgAggregateReduction *reduction = &state->reduction;
	uint64 pairs = hg_aggregate_pairs(&reduction->reducer.spec, record);

	state->record.reduced_rows += pairs;
	for (int f = 0; f < state->nfunctions; f++)
	{
		const HgFunction *function = &state->functions[f];
		const uint64 *item =
			reduction->column_indexes[f] > 0 ? record + reduction->column_indexes[f] : NULL;

		if (function->distinct >= 0)
			continue;
		if (hg_function_sums_numerics(function))
			hg_function_merge_scaled(function, group, (int64) item[0],
									 (int128) item[2] << 64 | item[1], scales[reduction->items[f]]);
		else
			hg_function_merge(function, group, pairs, item);
	}
}

/* HgReducer.take */
static void
hg_aggregate_take_records(void *arg, const uint64 *records, uint64 count,
						  const int scales[HG_MAX_REDUCE_ITEMS])
{
	HgAggregateState *state = arg;
	HgGroups *groups = state->groups;
	uint32 words = hg_reduce_words(&state->reduction.reducer.spec);
	HgCharge charge = {&state->budget, 0};

	hg_charge_set(&charge, count * words * sizeof(uint64));
	while (count > 0)
	{
		int nrecords = (int) Min(count, HG_BATCH_ROWS);
		HgBatch *batch = hg_aggregate_load_records(&state->reduction, records, nrecords);
		HgGroup *found[HG_BATCH_ROWS];
		uint64 hashes[HG_BATCH_ROWS];

		CHECK_FOR_INTERRUPTS();
		if (groups->nkeys > 0)
		{
			hg_groups_hash(groups, batch, hashes);
			hg_groups_find(groups, batch, hashes, true, found);
		}
		for (int i = 0; i < nrecords; i++, records += words)
		{
			/* without keys there is a record even for no matches */
			if (hg_aggregate_pairs(&state->reduction.reducer.spec, records) == 0)
				continue;
			if (groups->nkeys == 0)
				found[i] = groups->count > 0 ? hg_groups_get(groups, 0)
											 : hg_groups_add(groups, batch, i, 0);
			hg_aggregate_merge(state, found[i], records, scales);
		}
		count -= nrecords;
	}
	hg_groups_charge(groups);
	hg_charge_set(&charge, 0);
}

/* Sets *kind to the item that a function is merged from; returns false if there is none. */
static bool
hg_aggregate_reduce_kind(const HgFunction *function, HgReduceKind *kind)
{
	switch (function->kind)
	{
		case HG_AGGREGATE_COUNT:
			*kind = HG_REDUCE_COUNT;
			return true;
		case HG_AGGREGATE_MIN:
			*kind = HG_REDUCE_MIN;
			return true;
		case HG_AGGREGATE_MAX:
			*kind = HG_REDUCE_MAX;
			return true;
		default:
			*kind = HG_REDUCE_SUM;
			return hg_aggregate_is_sum(function->kind);
	}
}

/* Adds an item to the spec, unless it is there.  Returns its index, or -1 if the spec is full. */
static int
hg_aggregate_reduce_item(HgReduceSpec *spec, const HgReduceItem *item)
{
	for (uint32 i = 0; i < spec->nitems; i++)
		if (memcmp(&spec->items[i], item, sizeof(*item)) == 0)
			return (int) i;
	if (spec->nitems == HG_MAX_REDUCE_ITEMS)
		return -1;
	spec->items[spec->nitems] = *item;
	return (int) spec->nitems++;
}

/* Returns the index of an item's first word in a record. */
static int
hg_aggregate_item_index(const HgReduceSpec *spec, int item)
{
	int column_index = (int) spec->nkeys + 2;

	for (int i = 0; i < item; i++)
		column_index += (int) hg_reduce_item_words(&spec->items[i]);
	return column_index;
}

/* Returns true if a column of the source is a numeric. */
static bool
hg_aggregate_is_numeric(const HgAggregateState *state, uint32 column)
{
	const TupleDesc desc = ExecGetResultType(linitial(state->css.custom_ps));

	return TupleDescAttr(desc, state->attnos[column] - 1)->atttypid == NUMERICOID;
}

/* HgReducer.columns */
static Bitmapset *
hg_aggregate_expression_columns(void *arg, int expression)
{
	return hg_arithmetic_columns(((HgAggregateState *) arg)->taking.arithmetic, expression);
}

/* HgReducer.compute */
static bool
hg_aggregate_compute(void *arg, int expression, const HgOperand *operands, HgProgram *program,
					 int *scale)
{
	return hg_arithmetic_program(((HgAggregateState *) arg)->taking.arithmetic, expression,
								 operands, program, scale);
}

/* Adds what a function is merged from to the spec; returns false if it cannot be merged. */
static bool
hg_aggregate_reduce_function(HgAggregateState *state, int f)
{
	const HgFunction *function = &state->functions[f];
	HgReduceSpec *spec = &state->reduction.reducer.spec;
	HgReducer *reducer = &state->reduction.reducer;
	HgReduceItem item = {0};
	HgReduceKind kind;
	int number;

	/* it takes values of groups */
	if (function->distinct >= 0)
		return true;
	if (function->filter >= 0 || !hg_aggregate_reduce_kind(function, &kind) ||
		(function->argument != NULL && function->number < 0))
		return false;
	/* every record has the number of its rows */
	if (function->column < 0 && function->argument == NULL)
		return true;
	item.kind = kind;
	item.argument.column = function->argument != NULL
							   ? reducer->ncolumns + (uint32) function->number
							   : (uint32) function->column;
	item.argument.is_signed = kind == HG_REDUCE_COUNT || function->word != HG_WORD_UINT4;
	number = hg_aggregate_reduce_item(spec, &item);
	if (number < 0)
		return false;
	reducer->numeric_items[number] =
		function->argument == NULL && hg_aggregate_is_numeric(state, item.argument.column);
	state->reduction.items[f] = number;
	state->reduction.column_indexes[f] = hg_aggregate_item_index(spec, number);
	return true;
}

void
hg_aggregate_begin_reduction(HgAggregateState *state)
{
	HgReduceSpec *spec = &state->reduction.reducer.spec;
	const HgGroups *groups = state->groups;

	/* a device makes groups of one set */
	if (state->counts || groups->nvalues > HG_MAX_REDUCE_KEYS || state->sets.of_rows > 1)
		return;
	state->reduction.batch = hg_batch_create(state->ncolumns);
	state->reduction.items = palloc0(Max(state->nfunctions, 1) * sizeof(int));
	state->reduction.column_indexes = palloc0(Max(state->nfunctions, 1) * sizeof(int));
	/* columns with one value per group can be grouped by as well */
	for (int i = 0; i < groups->nvalues; i++)
	{
		const uint32 column = (uint32) groups->columns[i];

		state->reduction.reducer.numeric_keys[i] = hg_aggregate_is_numeric(state, column);
		spec->keys[spec->nkeys++] = (HgReduceColumn){.column = column, .is_signed = 1};
	}
	state->reduction.reducer.ncolumns = (uint32) state->ncolumns;
	state->reduction.reducer.columns = hg_aggregate_expression_columns;
	state->reduction.reducer.compute = hg_aggregate_compute;
	for (int f = 0; f < state->nfunctions; f++)
		if (!hg_aggregate_reduce_function(state, f))
			return;
	spec->expected_groups = (uint64) Min(hg_aggregate_set(&state->sets)->expected, HG_MAX_ROWS);
	state->reduction.reducer.room = hg_aggregate_room;
	state->reduction.reducer.take = hg_aggregate_take_records;
	state->reduction.reducer.arg = state;
	(void) hg_join_source_reduce(state->source, &state->reduction.reducer);
}
