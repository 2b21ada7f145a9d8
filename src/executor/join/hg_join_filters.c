/*-------------------------------------------------------------------------
 *
 * hg_join_filters.c
 *	  Pending predicates of covered rows, which a device applies to its replicas of columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_covered_rows.h"
#include "batch/hg_predicate.h"
#include "executor/join/hg_join_filters.h"
#include "executor/join/hg_join_state.h"

/* Covered rows that delta rows may find are few if they are one in this many. */
#define HG_APPLIED_PART 64

void
hg_join_apply_pending(HgJoinState *state)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_child_apply_pending(&state->inputs[side]->child);
}

/* HgMatcherSpec.apply */
static void
hg_join_apply_all(void *arg)
{
	hg_join_apply_pending(arg);
}

/* Adds the keys of a small set to keys, as a graph has them. */
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
 * HgMatcherSpec.apply_some: for a few changed rows it does not pay to apply the predicates to all
 * covered rows.
 */
static const HgFlatSide *
hg_join_apply_some(void *arg, HgSide side, const HgKeySet *keys)
{
	HgJoinState *state = arg;
	HgInput *input = state->inputs[side];
	HgCovered *covered = input->child.covered;
	const uint64 most = covered->rows / HG_APPLIED_PART;
	HgIntegers values;
	HgIntegers rows;

	if (!hg_covered_has_pending(covered))
		return &covered->side;
	hg_integers_init(&values);
	hg_integers_init(&rows);
	if (keys->rows <= most)
	{
		hg_join_add_keys(keys, input->held.words->width, &values);
		if (hg_covered_find_rows(covered, covered->graph, &values, most, &rows))
		{
			covered = hg_covered_apply_rows(covered, &rows);
			/* the result takes memory in addition to covered */
			hg_charge_set(&input->child.cover.charge, covered->bytes);
			return &covered->side;
		}
	}
	hg_child_apply_pending(&input->child);
	return &covered->side;
}

void
hg_join_set_pending(HgJoinState *state, HgMatcherSpec *spec)
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
 * Adds a filter for the pending predicates of an input's rows, which lookup of a side finds
 * (HgRowFilter) in graph.  Returns false if there are predicates and no filter can be made.
 */
static bool
hg_join_add_filter(HgReplicaCovered *replica, uint32 lookup, const HgInput *input,
				   const HgPinnedGraph *graph, HgDeviceSet *device_set)
{
	const HgCovered *covered = input->child.covered;

	return !hg_covered_has_pending(covered) ||
		   hg_predicate_filter_add(&replica->filters, lookup, graph, covered->npredicates,
								   covered->predicates, device_set);
}

HgDeviceSet
hg_join_add_filters(HgJoinState *state, HgDeviceSet device_set)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (!hg_join_add_filter(&state->cover.replica[side], 0, state->inputs[side],
								state->inputs[side]->child.covered->graph, &device_set))
			hg_child_apply_pending(&state->inputs[side]->child);
	return device_set;
}

void
hg_star_add_filters(const HgJoinTree *tree, HgStarGraphs *graphs)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgReplicaCovered *replica = &graphs->replica[side];

		hg_join_clear_filters(replica);
		/* row ordinals of a partition are not those of the graph */
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
			hg_child_apply_pending(&tree->tables[t].input->child);
	}
}
