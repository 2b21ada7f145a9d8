/*-------------------------------------------------------------------------
 *
 * hg_join_input.c
 *	  A relation as an input of joins.
 *
 * A relation is joined with many others, each time in both orders. What does not depend on these
 * is computed once in a run of the planner.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/paths.h"

#include "planner/hg_join_eligible.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_paths.h"
#include "planner/hg_planner_run.h"

/* A relation's cached input. */
typedef struct HgFoundInput
{
	HgRunKey key;
	const Path *cheapest; /* at that time: another extension may replace the paths */
	const Path *cheapest_partial;
	HgJoinInput *input;
} HgFoundInput;

#define HG_FOUND_INPUTS_BITS 12

static HgFoundInput hg_found_inputs[1 << HG_FOUND_INPUTS_BITS];

/* Returns the cheapest partial path of a relation, or NULL. */
static inline const Path *
hg_cheapest_partial(const RelOptInfo *rel)
{
	return rel->partial_pathlist != NIL ? linitial(rel->partial_pathlist) : NULL;
}

/* Returns the cheapest path of all rows that each process may run for itself, or NULL. */
static Path *
hg_repeated_input(const RelOptInfo *rel, Path *cheapest)
{
	if (!cheapest->parallel_safe)
		cheapest = get_cheapest_parallel_safe_total_inner(rel->pathlist);
	return cheapest != NULL && cheapest->param_info == NULL ? cheapest : NULL;
}

static HgJoinInput *
hg_join_input_make(PlannerInfo *root, RelOptInfo *rel)
{
	HgJoinInput *input = palloc0(sizeof(HgJoinInput));
	Path *partial = hg_cheapest_partial_input(rel);

	hg_input_cost(root, hg_cheapest_input(root, rel), &input->whole);
	if (partial != NULL)
		hg_input_cost(root, partial, &input->partial);
	input->first = bms_next_member(rel->relids, -1);
	input->repeated = hg_repeated_input(rel, input->whole.path);
	input->eligible = hg_rel_is_eligible(root, rel);
	return input;
}

/* Returns true if an entry is of a relation in this run, and its paths are the current ones. */
static inline bool
hg_found_input_is_of(const HgFoundInput *found, uint64 run, const RelOptInfo *rel)
{
	return found->key.made == rel && found->key.run == run &&
		   found->cheapest == rel->cheapest_total_path &&
		   found->cheapest_partial == hg_cheapest_partial(rel);
}

/* hg_join_input() in a run whose memory lasts. */
static pg_noinline const HgJoinInput *
hg_join_input_find(PlannerInfo *root, RelOptInfo *rel, uint64 run)
{
	HgRunKey key = {.run = run, .made = rel};
	bool known;
	HgFoundInput *found = hg_planner_run_entry(hg_found_inputs, sizeof(HgFoundInput),
											   HG_FOUND_INPUTS_BITS, key, &known);

	if (!known || !hg_found_input_is_of(found, run, rel))
	{
		/* GEQO joins it with others in a context that is reset */
		MemoryContext old = MemoryContextSwitchTo(root->planner_cxt);

		*found = (HgFoundInput){key, rel->cheapest_total_path, hg_cheapest_partial(rel),
								hg_join_input_make(root, rel)};
		MemoryContextSwitchTo(old);
	}
	return found->input;
}

const HgJoinInput *
hg_join_input(PlannerInfo *root, RelOptInfo *rel)
{
	const HgFoundInput *found =
		&hg_found_inputs[hg_planner_run_index(rel, 0, HG_FOUND_INPUTS_BITS)];
	uint64 run = hg_planner_run_find(root, rel);

	if (run == 0)
		return hg_join_input_make(root, rel);
	return hg_found_input_is_of(found, run, rel) ? found->input
												 : hg_join_input_find(root, rel, run);
}
