/*-------------------------------------------------------------------------
 *
 * hg_join_filters.c
 *	  Pending predicates of covered rows, which a device applies to columns that it keeps.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_covered_rows.h"
#include "batch/hg_predicate_filter.h"
#include "executor/join/hg_join_filters.h"
#include "executor/join/hg_join_state.h"

/* Rows of a side that others may find are few as long as they are one in so many of its own. */
#define HG_APPLIED_PART 64

void
hg_join_apply_pending(HgJoinState *state)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_input_apply_pending(state->inputs[side]);
}

/* HgMatcherSpec.apply of a join's state. */
static void
hg_join_apply_all(void *arg)
{
	hg_join_apply_pending(arg);
}

/* The keys of a set, which are few, as a graph has them. */
static void
hg_join_add_keys(const HgKeySet *set, uint32 width, HgIntegers *keys)
{
	for (int p = 0; p < set->npieces; p++)
		for (uint64 i = 0; i < set->pieces[p].count; i++)
			hg_integers_add(keys, width == sizeof(int32)
									  ? ((const int32 *) set->pieces[p].keys)[i]
									  : ((const int64 *) set->pieces[p].keys)[i]);
}

/*
 * HgMatcherSpec.apply_some of a join's state: it does not pay to apply the predicates to all
 * covered rows for a few rows that have changed since.
 */
static const HgFlatSide *
hg_join_apply_some(void *arg, HgSide side, const HgKeySet *keys)
{
	HgJoinState *state = arg;
	HgInput *input = state->inputs[side];
	HgCovered *covered = input->covered;
	const uint64 most = covered->rows / HG_APPLIED_PART;
	HgIntegers values;
	HgIntegers rows;

	if (!hg_covered_has_pending(covered))
		return &covered->side;
	hg_integers_init(&values);
	hg_integers_init(&rows);
	if (keys->rows <= most)
	{
		hg_join_add_keys(keys, input->words->width, &values);
		if (hg_covered_find_rows(covered, covered->graph, &values, most, &rows))
		{
			covered = hg_covered_apply_rows(covered, &rows);
			/* it has taken more than that which it is made of */
			hg_charge_set(&input->covered_charge, covered->bytes);
			return &covered->side;
		}
	}
	hg_input_apply_pending(input);
	return &covered->side;
}

void
hg_join_tell_pending(HgJoinState *state, HgMatcherSpec *spec)
{
	spec->apply = hg_join_apply_all;
	spec->apply_some = hg_join_apply_some;
	spec->apply_arg = state;
}

void
hg_join_clear_filters(HgReplicaCovered *replica)
{
	memset(&replica->filters, 0, sizeof(replica->filters));
}

/*
 * Adds a filter for the pending predicates of an input's rows, which a lookup of a side looks up
 * (HgRowFilter), by a graph.  Returns false if predicates are pending and no filter can be made.
 */
static bool
hg_join_add_filter(HgReplicaCovered *replica, uint32 lookup, const HgInput *input,
				   const HgPinnedGraph *graph, HgDeviceSet *device_set)
{
	const HgCovered *covered = input->covered;

	return !hg_covered_has_pending(covered) ||
		   hg_predicate_filter_add(&replica->filters, lookup, graph, covered->npredicates,
								   covered->predicates, device_set);
}

HgDeviceSet
hg_join_tell_filters(HgJoinState *state, HgDeviceSet device_set)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (!hg_join_add_filter(&state->cover.replica[side], 0, state->inputs[side],
								state->inputs[side]->covered->graph, &device_set))
			hg_input_apply_pending(state->inputs[side]);
	return device_set;
}

void
hg_star_tell_filters(const HgJoinTree *tree, HgStarGraphs *graphs)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgReplicaCovered *replica = &graphs->replica[side];

		hg_join_clear_filters(replica);
		/* ordinals of a slice's rows are not those of the graph's */
		if (graphs->partitioned)
			continue;
		for (uint32 lookup = 0; lookup <= replica->nlookups; lookup++)
			for (int t = 0; t <= tree->njoins; t++)
			{
				HgStarTable *table = &graphs->tables[t];
				uint32 stride;

				if (table->side != (HgSide) side || table->lookup != lookup)
					continue;
				(void) hg_join_add_filter(replica, lookup, tree->tables[t].input, table->graph,
										  &graphs->at);
				stride = hg_row_filter_stride(&replica->filters, lookup);
				if (stride > 0)
					table->stride = stride;
			}
	}
}

void
hg_star_apply_others(const HgJoinTree *tree, const HgStarGraphs *graphs)
{
	for (int t = 0; t <= tree->njoins; t++)
	{
		const HgStarTable *table = &graphs->tables[t];

		if (hg_row_filter_find(&graphs->replica[table->side].filters, table->lookup) == NULL)
			hg_input_apply_pending(tree->tables[t].input);
	}
}
