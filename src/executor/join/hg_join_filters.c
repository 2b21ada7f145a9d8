/*-------------------------------------------------------------------------
 *
 * hg_join_filters.c
 *	  Quals of lent rows that a device decides, by columns that it keeps.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_predicate_filter.h"
#include "executor/join/hg_join_filters.h"
#include "executor/join/hg_join_state.h"

void
hg_join_clear_filters(HgKeptLent *kept)
{
	memset(&kept->filters, 0, sizeof(kept->filters));
}

/*
 * Have a filter of an input's rows, which a lookup of a side looks up (HgRowFilter), by a graph;
 * false where they are undecided, and it can't be.
 */
static bool
hg_join_add_filter(HgKeptLent *kept, uint32 lookup, const HgInput *input,
				   const HgPinnedGraph *graph, HgPlaces *places)
{
	const HgLent *lent = input->lent;

	return !hg_lent_is_undecided(lent) ||
		   hg_predicate_filter_add(&kept->filters, lookup, graph, lent->npredicates,
								   lent->predicates, places);
}

HgPlaces
hg_join_tell_filters(HgJoinState *state, HgPlaces places)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (!hg_join_add_filter(&state->lending.kept[side], 0, state->inputs[side],
								state->inputs[side]->lent->graph, &places))
			hg_input_decide_lent(state->inputs[side]);
	return places;
}

void
hg_star_tell_filters(const HgJoinTree *tree, HgStarGraphs *graphs)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgKeptLent *kept = &graphs->kept[side];

		hg_join_clear_filters(kept);
		for (uint32 lookup = 0; lookup <= kept->nlookups; lookup++)
			for (int t = 0; t <= tree->njoins; t++)
			{
				HgStarTable *table = &graphs->tables[t];
				uint32 stride;

				if (table->side != (HgSide) side || table->lookup != lookup)
					continue;
				(void) hg_join_add_filter(kept, lookup, tree->tables[t].input, table->graph,
										  &graphs->at);
				stride = hg_row_filter_stride(&kept->filters, lookup);
				if (stride > 0)
					table->stride = stride;
			}
	}
}

void
hg_star_decide_others(const HgJoinTree *tree, const HgStarGraphs *graphs)
{
	for (int t = 0; t <= tree->njoins; t++)
	{
		const HgStarTable *table = &graphs->tables[t];

		if (hg_row_filter_find(&graphs->kept[table->side].filters, table->lookup) == NULL)
			hg_input_decide_lent(tree->tables[t].input);
	}
}
