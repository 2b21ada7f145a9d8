/*-------------------------------------------------------------------------
 *
 * hg_join_path.c
 *	  Offers the join node for the joins that it can do.
 *
 * The planner calls the hook for every pair of relations, in every order and for every join type
 * it considers. The node is offered for joins of every type with at least one clause "outer op
 * inner" whose operator can be hashed. For an outer join only clauses of its ON may be hash keys.
 * All other joins are left to core.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"

#include "backend/device/hg_device.h"
#include "hg_guc.h"
#include "planner/hg_core_path.h"
#include "planner/hg_join_eligible.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_paths.h"
#include "planner/hg_planner_run.h"

/*
 * Users of the hook: a session that preloads the library, and queries of the extension itself
 * while they are planned. The hook is removed after the last one. If another library has hooked on
 * top of it meanwhile, it stays but does nothing.
 */
static int hg_join_pathlist_users;
static bool hg_join_pathlist_hooked;
static set_join_pathlist_hook_type hg_prev_join_pathlist_hook;

/*
 * Returns true if this order of the sides is the one to offer. Most joins are offered in both
 * orders, as two join types with the same rows at nearly the same price. The better order stores
 * the smaller side in memory as the inner one, or the one less likely to be much larger than
 * expected. Between equal sides it is the order as written. Rows are taken from the paths: a
 * relation's own estimate may be for more rows if the paths are parameterized, or may ignore what
 * an extension does that made them.
 *
 * Semi and anti joins stop at the first match of an outer row, and their mirror images do not.
 * Their prices differ, so both are offered, except in tests where prices mean nothing.
 */
static bool
hg_is_better_order(const HgInputCost *outer_input, const HgInputCost *inner_input,
				   JoinType join_type, bool as_written)
{
	const Path *outer = outer_input->path;
	const Path *inner = inner_input->path;
	double outer_bytes = outer_input->feared_rows * outer->pathtarget->width;
	double inner_bytes = inner_input->feared_rows * inner->pathtarget->width;
	bool mirrored = hg_join_type_is_mirrored(join_type);

	if (!hg_force && (mirrored || join_type == JOIN_SEMI || join_type == JOIN_ANTI))
		return true;
	/* the planner has no mirror image of it */
	if ((join_type == JOIN_SEMI && !HG_HAVE_RIGHT_SEMI) ||
		(join_type == JOIN_ANTI && !HG_HAVE_RIGHT_ANTI))
		return true;
	if (inner_bytes != outer_bytes)
		return inner_bytes < outer_bytes;
	if (join_type == JOIN_INNER || join_type == JOIN_FULL)
		return as_written;
	return join_type != JOIN_RIGHT && !mirrored;
}

/* ---------------------------------------------------------------------
 * A relation as an input of joins
 *
 * A relation is joined with many others, each time in both orders. What does not depend on these
 * is computed once in a run of the planner.
 * ---------------------------------------------------------------------
 */

typedef struct HgJoinInput
{
	HgInputCost whole;	 /* of the cheapest path that returns all rows */
	HgInputCost partial; /* of the partial path that joins read; path is NULL without one */
	int first;			 /* its first relation */
	Path *repeated;		 /* the cheapest path that each process may run for itself; or NULL */
	bool eligible;		 /* a join of ours can return its columns */
} HgJoinInput;

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

/*
 * Returns the partial path of a relation that joins read, or NULL: the cheapest one, or instead of
 * a hash join of core's one of ours that costs no more except for starting workers. A join above
 * adds that cost in any case. What one process does for less, whole, is left as it is.
 */
static Path *
hg_partial_input(PlannerInfo *root, const RelOptInfo *rel, const Path *whole)
{
	Path *partial = hg_cheapest_partial_input(rel);
	Path *ours;

	if (partial == NULL || !IsA(partial, HashPath) || hg_force ||
		whole->total_cost <= parallel_setup_cost + partial->total_cost)
		return partial;
	ours = hg_join_path_instead(root, partial);
	return ours != NULL && ours->total_cost - hg_workers_cost(rel, ours->parallel_workers,
															  hg_workers_priced(partial)) <=
							   partial->total_cost
			   ? ours
			   : partial;
}

static HgJoinInput *
hg_join_input_make(PlannerInfo *root, RelOptInfo *rel)
{
	HgJoinInput *input = palloc0(sizeof(HgJoinInput));
	Path *whole = hg_cheapest_input(root, rel);
	Path *partial = hg_partial_input(root, rel, whole);

	hg_input_cost(root, whole, &input->whole);
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

/* Returns a relation as an input, once its paths are complete; cached for the planner's run. */
static const HgJoinInput *
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

/* ---------------------------------------------------------------------
 * Joins of two relations
 * ---------------------------------------------------------------------
 */

/* What the paths of one call of the hook have in common. */
typedef struct HgConsidered
{
	PlannerInfo *root;
	RelOptInfo *joinrel;
	RelOptInfo *outerrel;
	RelOptInfo *innerrel;
	JoinType join_type;
	JoinPathExtraData *extra;
	const HgJoinInput *sides[2]; /* of outerrel and innerrel */
	bool better;				 /* this order of the sides is the one to offer */
	bool searched;				 /* hash_clauses and keys are valid */
	List *hash_clauses;			 /* NIL if the node cannot do the join */
	HgJoinKeys keys;			 /* of hash_clauses */
	bool loops[2];			/* loops of core's may be replaced: of all paths, of partial ones */
	HgJoinShare shares[2];	/* of all paths and of partial ones; valid if rows is not 0 */
	HgInputCost *others[2]; /* by side: the last input that is not the cheapest path; or NULL */
} HgConsidered;

/* Returns true if the outer relation comes first in the query. */
static inline bool
hg_is_as_written(const HgConsidered *join)
{
	return join->sides[HG_OUTER]->first < join->sides[HG_INNER]->first;
}

/* Checks the relations and finds the hash clauses, once. Returns true if there are any. */
static bool
hg_consider_clauses(HgConsidered *join)
{
	if (!join->searched)
	{
		join->searched = true;
		if (join->sides[HG_OUTER]->eligible && join->sides[HG_INNER]->eligible &&
			hg_clauses_are_eligible(join->root, join->extra->restrictlist))
			join->hash_clauses =
				hg_find_hash_clauses(join->root, join->joinrel, join->outerrel, join->innerrel,
									 join->join_type, join->extra->restrictlist, &join->keys);
	}
	return join->hash_clauses != NIL;
}

/* Returns the cost of a path as an input of one side. */
static inline const HgInputCost *
hg_considered_input(HgConsidered *join, int side, Path *path)
{
	const HgJoinInput *input = join->sides[side];

	if (path == input->whole.path)
		return &input->whole;
	if (path == input->partial.path)
		return &input->partial;
	if (join->others[side] == NULL)
		join->others[side] = palloc0(sizeof(HgInputCost));
	if (path != join->others[side]->path)
		hg_input_cost(join->root, path, join->others[side]);
	return join->others[side];
}

/*
 * Creates the path that joins two paths. With partial, it is partial if either input is; with
 * together, all processes join both inputs together.
 */
static Path *
hg_join_path_create(HgConsidered *join, Path *outer_path, Path *inner_path, Relids required_outer,
					bool partial, bool parallel_hash)
{
	int workers = partial ? Max(outer_path->parallel_workers, inner_path->parallel_workers) : 0;
	HgJoinPath *path = (HgJoinPath *) newNode(sizeof(HgJoinPath), T_CustomPath);
	/* clauses of a parameterized path are added to its own list */
	List *restrictlist =
		required_outer == NULL ? join->extra->restrictlist : list_copy(join->extra->restrictlist);

	path->custom.path.pathtype = T_CustomScan;
	path->custom.path.parent = join->joinrel;
	path->custom.path.pathtarget = join->joinrel->reltarget;
	path->custom.path.param_info =
		get_joinrel_parampathinfo(join->root, join->joinrel, outer_path, inner_path,
								  join->extra->sjinfo, required_outer, &restrictlist);
	path->custom.path.pathkeys = NIL;
	path->custom.path.parallel_safe =
		join->joinrel->consider_parallel && outer_path->parallel_safe && inner_path->parallel_safe;
	path->custom.path.parallel_workers = workers;
	/* it gets shared memory, at least to report what each process did */
	path->custom.path.parallel_aware = workers > 0;
	path->custom.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom.custom_paths = list_make2(outer_path, inner_path);
	path->custom.methods = &hg_join_path_methods;
#if HG_HAVE_CUSTOM_RESTRICTINFO
	path->custom.custom_restrictinfo = restrictlist;
#endif
	path->join_type = join->join_type;
	path->inner_unique = join->extra->inner_unique;
	path->parallel_hash = parallel_hash;
	path->read_once = hg_join_read_once(outer_path, inner_path, parallel_hash);
	path->hash_clauses = join->hash_clauses;
	path->restrictlist = restrictlist;
	hg_join_cost(join->root, path,
				 (const HgInputCost *[]){hg_considered_input(join, HG_OUTER, outer_path),
										 hg_considered_input(join, HG_INNER, inner_path)},
				 join->extra, &join->keys);
	return &path->custom.path;
}

/* Returns a lower bound of the cost of a join of two paths. */
static Cost
hg_considered_least_cost(HgConsidered *join, Path *outer_path, Path *inner_path, bool parallel_hash)
{
	int workers = Max(outer_path->parallel_workers, inner_path->parallel_workers);
	HgJoinShare *share = &join->shares[workers > 0];
	const HgInputCost *outer = hg_considered_input(join, HG_OUTER, outer_path);
	const HgInputCost *inner = hg_considered_input(join, HG_INNER, inner_path);
	Cost least;

	if (share->rows == 0 || share->workers != workers)
		hg_join_share(join->joinrel, workers, share);
	least = share->cost + outer->least - outer->workers + inner->least - inner->workers;
	if (outer->joined)
		least -= Min(outer_path->rows, share->rows) * hg_operator_cost(HG_THROUGH_SAVED_NS);
	if (join->joinrel->reltarget->exprs == NIL ||
		(parallel_hash && outer_path->parallel_workers != inner_path->parallel_workers))
		least -= hg_join_least_saving(join->joinrel, share, outer, inner, parallel_hash);
	return least;
}

/* Returns true if the relation's cheapest path is ours and costs at most 1 % more than least. */
static inline bool
hg_join_has_as_cheap(const HgConsidered *join, bool partial, int disabled, Cost least)
{
	List *paths = partial ? join->joinrel->partial_pathlist : join->joinrel->pathlist;
	const Path *first = paths != NIL ? linitial(paths) : NULL;

	return first != NULL && first->param_info == NULL && hg_path_join(first) != NULL &&
		   hg_path_disabled_nodes(first) <= disabled &&
		   first->total_cost <= least * HG_FUZZ_FACTOR &&
		   !hg_first_rows_matter(join->root, join->joinrel);
}

/*
 * Finds out whether our paths, partial or all, may replace loops of core's. Removes some of the
 * loops that core has just added at once, if a path of ours exists from another pair of relations.
 */
static inline void
hg_consider_loops(HgConsidered *join, bool partial)
{
	List *paths = partial ? join->joinrel->partial_pathlist : join->joinrel->pathlist;
	const Path *ours = paths != NIL ? linitial(paths) : NULL;
	bool any = false;
	ListCell *lc;

	foreach (lc, paths)
		any = any || IsA(lfirst(lc), NestPath);
	join->loops[partial] = any && hg_core_loops_may_go(join->root, join->joinrel, partial, 0);
	if (join->loops[partial] && ours->param_info == NULL && hg_path_join(ours) != NULL)
		hg_core_paths_remove(join->root, ours);
}

/*
 * Returns true if a path of at least this cost is much dearer than the cheapest one, as most are,
 * and could not replace a hash join or loops of core's.
 */
static inline bool
hg_join_is_dear(const HgConsidered *join, bool partial, int disabled, Cost least)
{
	const RelOptInfo *joinrel = join->joinrel;
	List *paths = partial ? joinrel->partial_pathlist : joinrel->pathlist;
	const Path *first = paths != NIL ? linitial(paths) : NULL;

	return first != NULL && first->param_info == NULL &&
		   least > first->total_cost * HG_FUZZ_FACTOR && !joinrel->consider_startup &&
		   hg_path_disabled_nodes(first) <= disabled && !join->loops[partial] &&
		   !(IsA(first, HashPath) && hg_core_hash_may_go(join->root, joinrel, partial, least));
}

/* Returns true if a path of at least this cost may be the best of its relation. */
static bool
hg_join_may_win(const HgConsidered *join, bool partial, int disabled, Cost least)
{
	if (hg_join_is_dear(join, partial, disabled, least))
		return false;
	if (partial ? hg_add_partial_path_precheck(join->joinrel, disabled, 0, least, NIL)
				: hg_add_path_precheck(join->joinrel, disabled, 0, least, NIL, NULL))
		return true;
	if (disabled == 0 && hg_core_hash_may_go(join->root, join->joinrel, partial, least))
		return true;
	return join->loops[partial] && hg_core_loops_may_go(join->root, join->joinrel, partial, least);
}

/*
 * Returns true if the join of two paths should be offered. Most cannot be the best. This is
 * checked before anything expensive, and again once the cost of the keys is known.
 */
static bool
hg_join_is_competitive(HgConsidered *join, Path *outer_path, Path *inner_path, bool partial,
					   bool parallel_hash)
{
	int disabled = hg_path_disabled_nodes(outer_path) + hg_path_disabled_nodes(inner_path);
	Cost least;

	if (hg_force)
		return hg_consider_clauses(join);
	least = hg_considered_least_cost(join, outer_path, inner_path, parallel_hash);
	/* sides joined together may cost little less than sides that each process reads alone */
	if (!parallel_hash && hg_join_has_as_cheap(join, partial, disabled, least))
		return false;
	if (!hg_join_may_win(join, partial, disabled, least) || !hg_consider_clauses(join))
		return false;
	/* a covered side, or one that is read once for all, may cost less than that */
	if (parallel_hash || join->sides[HG_OUTER]->whole.graph || join->sides[HG_INNER]->whole.graph)
		return true;
	least += outer_path->rows * join->keys.cost[HG_OUTER].per_tuple +
			 inner_path->rows * join->keys.cost[HG_INNER].per_tuple;
	return !hg_join_has_as_cheap(join, partial, disabled, least);
}

/* Adds a path to the partial paths or all paths of its relation. */
static void
hg_path_add(Path *path)
{
	if (path->parallel_workers > 0)
		add_partial_path(path->parent, path);
	else
		add_path(path->parent, path);
}

/* Adds an unparameterized path, and removes joins of core's that it is better than. */
static void
hg_join_path_add(const HgConsidered *join, Path *path)
{
	hg_core_paths_remove(join->root, path);
	hg_path_add(path);
}

/* Offers the join of two paths. */
static void
hg_consider_paths(HgConsidered *join, Path *outer_path, Path *inner_path)
{
	Relids required_outer;
	Path *path;

	/* inputs that need each other's rows need a nested loop */
	if (bms_overlap(PATH_REQ_OUTER(outer_path), join->innerrel->relids) ||
		bms_overlap(PATH_REQ_OUTER(inner_path), join->outerrel->relids))
		return;
	required_outer = calc_non_nestloop_required_outer(outer_path, inner_path);
	if (required_outer != NULL && !bms_overlap(required_outer, join->extra->param_source_rels))
		return;
	/* core copies a parameterized path of a child relation without our fields */
	if (required_outer != NULL && IS_OTHER_REL(join->joinrel))
		return;

	if (required_outer != NULL
			? !hg_consider_clauses(join)
			: !hg_join_is_competitive(join, outer_path, inner_path, false, false))
		return;
	path = hg_join_path_create(join, outer_path, inner_path, required_outer, false, false);
	if (required_outer != NULL)
		add_path(join->joinrel, path);
	else
		hg_join_path_add(join, path);
}

/* Offers the joins of parameterized paths, as core does for its hash join. */
static void
hg_consider_parameterized_paths(HgConsidered *join)
{
	const List *outer_paths = join->outerrel->cheapest_parameterized_paths;
	const List *inner_paths = join->innerrel->cheapest_parameterized_paths;
	ListCell *outer;
	ListCell *inner;

	/* these lists begin with the cheapest path of all, which was offered already */
	if (bms_is_empty(join->extra->param_source_rels) ||
		(list_length(outer_paths) < 2 && list_length(inner_paths) < 2))
		return;
	foreach (outer, outer_paths)
		foreach (inner, inner_paths)
		{
			Path *outer_path = lfirst(outer);
			Path *inner_path = lfirst(inner);

			if (outer_path == join->outerrel->cheapest_total_path &&
				inner_path == join->innerrel->cheapest_total_path)
				continue;
			if ((hg_force || outer_path->rows + inner_path->rows >= hg_min_rows) &&
				hg_is_better_order(hg_considered_input(join, HG_OUTER, outer_path),
								   hg_considered_input(join, HG_INNER, inner_path), join->join_type,
								   hg_is_as_written(join)))
				hg_consider_paths(join, outer_path, inner_path);
		}
}

/* Offers a join in which every process below a Gather takes part. */
static void
hg_consider_partial_path(HgConsidered *join, Path *outer_path, Path *inner_path, bool parallel_hash)
{
	if (hg_join_is_competitive(join, outer_path, inner_path, true, parallel_hash))
		hg_join_path_add(
			join, hg_join_path_create(join, outer_path, inner_path, NULL, true, parallel_hash));
}

/*
 * Offers the join of each process's part of the outer rows with all inner rows, for join types
 * that treat each outer row by itself.
 */
static void
hg_consider_partial_outer_path(HgConsidered *join, Path *outer_path, Path *inner_path)
{
	switch (join->join_type)
	{
		case JOIN_INNER:
		case JOIN_LEFT:
		case JOIN_SEMI:
		case JOIN_ANTI:
			hg_consider_partial_path(join, outer_path, inner_path, false);
			break;
		default:
			break;
	}
}

/*
 * Returns true if processes may join both sides together. On the CPU they may, unless core's
 * parallel hash is disabled. On a device all processes must reach it, and it must not matter which
 * process gets which match of an outer row.
 */
static bool
hg_consider_parallel_hash(HgConsidered *join)
{
	if (!enable_parallel_hash && !hg_force)
		return false;
	if (hg_backend != HG_BACKEND_CUDA)
		return true;
	if (!hg_device_is_shared() || hg_join_type_is_mirrored(join->join_type))
		return false;
	if (!join->extra->inner_unique && join->join_type != JOIN_SEMI && join->join_type != JOIN_ANTI)
		return true;
	/* the first match of a row is enough, but must need no recheck */
	return hg_consider_clauses(join) && join->keys.exact &&
		   list_length(join->hash_clauses) == list_length(join->extra->restrictlist);
}

/*
 * Returns the join of two partial paths that processes do together after counting the outer rows.
 * No rows are covered then (hg_join_cover.c).
 */
static Path *
hg_counted_path_create(HgConsidered *join, Path *outer_path, Path *inner_path)
{
	Path *path = hg_join_path_create(join, outer_path, inner_path, NULL, true, true);
	HgInputCost inputs[2] = {[HG_OUTER] = *hg_considered_input(join, HG_OUTER, outer_path),
							 [HG_INNER] = *hg_considered_input(join, HG_INNER, inner_path)};

	if (inputs[HG_OUTER].graph || inputs[HG_INNER].graph)
	{
		inputs[HG_OUTER].graph = inputs[HG_INNER].graph = false;
		hg_join_cost(join->root, (HgJoinPath *) path,
					 (const HgInputCost *[]){&inputs[HG_OUTER], &inputs[HG_INNER]}, join->extra,
					 &join->keys);
	}
	return path;
}

/*
 * Returns the cheaper hashing join of an outer path: with all of an inner path, or together with
 * the partial inner path (NULL: none).
 */
static Path *
hg_cheaper_path_create(HgConsidered *join, Path *outer_path, Path *inner_path, Path *partial_inner)
{
	bool partial = outer_path->parallel_workers > 0;
	Path *parallel_hash = NULL;
	Path *path;

	if (partial_inner != NULL)
		parallel_hash = hg_counted_path_create(join, outer_path, partial_inner);
	if (parallel_hash != NULL &&
		hg_considered_least_cost(join, outer_path, inner_path, false) >= parallel_hash->total_cost)
		return parallel_hash;
	path = hg_join_path_create(join, outer_path, inner_path, NULL, partial, false);
	return parallel_hash != NULL && parallel_hash->total_cost <= path->total_cost ? parallel_hash
																				  : path;
}

/*
 * Offers an adaptive join: counts the rows of an outer path, and looks up the inner rows in an
 * index if there are few; else hashes an inner path as hg_cheaper_path_create does.
 */
static void
hg_consider_adaptive_path(HgConsidered *join, Path *outer_path, Path *inner_path,
						  Path *partial_inner)
{
	Cost outer_cost;
	NestPath *loop;
	Path *path;

	if (!hg_adaptive || hg_force)
		return;
	/* each run of a subquery of which only a row is needed would count again */
	if (hg_first_rows_matter(join->root, join->joinrel) && hg_query_is_rescanned(join->root))
		return;
	outer_cost = hg_considered_input(join, HG_OUTER, outer_path)->cost;
	loop = hg_adaptive_loop(join->root, join->joinrel, outer_path, outer_cost, join->innerrel,
							join->join_type, join->extra);
	if (loop == NULL)
		return;
	/* a cheap loop that core would choose is left to core */
	if (hg_adaptive_loop_is_cheap(join->root, loop, outer_cost) &&
		loop->jpath.path.total_cost <=
			hg_considered_least_cost(join, outer_path,
									 partial_inner != NULL ? partial_inner : inner_path,
									 partial_inner != NULL))
		return;
	if (!hg_consider_clauses(join))
		return;
	path = hg_cheaper_path_create(join, outer_path, inner_path, partial_inner);
	if (!hg_adaptive_path(join->root, (HgJoinPath *) path, loop, outer_cost))
		return;
	hg_adaptive_replace(join->root, join->joinrel, path);
	hg_path_add(path);
}

/* Offers adaptive joins of all outer rows, and of the part of each process below a Gather. */
static void
hg_consider_adaptive_paths(HgConsidered *join)
{
	Path *inner_path = join->sides[HG_INNER]->whole.path;
	Path *partial_outer;
	Path *partial_inner = NULL;

	/* lookups need a parameterized path */
	if (inner_path->param_info != NULL ||
		list_length(join->innerrel->cheapest_parameterized_paths) < 2)
		return;
	hg_consider_adaptive_path(join, join->sides[HG_OUTER]->whole.path, inner_path, NULL);
	if (!join->joinrel->consider_parallel || !bms_is_empty(join->joinrel->lateral_relids))
		return;
	partial_outer = join->sides[HG_OUTER]->partial.path;
	inner_path = join->sides[HG_INNER]->repeated;
	if (partial_outer == NULL || inner_path == NULL)
		return;
	/* processes that count together wait for each other before the first row */
	if (!hg_first_rows_matter(join->root, join->joinrel) && hg_consider_parallel_hash(join))
		partial_inner = join->sides[HG_INNER]->partial.path;
	hg_consider_adaptive_path(join, partial_outer, inner_path, partial_inner);
}

/*
 * Returns true if all partial joins are dear, together or with all inner rows in each process,
 * with the same number of workers. The inner side's least cost is that of the cheaper path.
 */
static bool
hg_partial_joins_are_dear(HgConsidered *join)
{
	const HgInputCost *outer = &join->sides[HG_OUTER]->partial;
	const HgInputCost *inner = &join->sides[HG_INNER]->partial;
	const HgInputCost *whole = &join->sides[HG_INNER]->whole;
	Cost least;

	if (outer->path->parallel_workers != inner->path->parallel_workers ||
		join->sides[HG_INNER]->repeated != whole->path)
		return false;
	least = hg_considered_least_cost(join, outer->path, inner->path, true);
	least += Min(0, whole->least - (inner->least - inner->workers));
	return hg_join_is_dear(join, true, hg_path_disabled_nodes(outer->path), least);
}

/*
 * Offers the partial paths of a join.
 *
 * Processes also join together if only one side can be shared and one process reads the other
 * (hg_join_parallel.c). If the inner side is so small that outer rows can be streamed, it may be
 * better for each process to read all of it; the prices decide.
 */
static void
hg_consider_partial_paths(HgConsidered *join)
{
	Path *partial_outer = join->sides[HG_OUTER]->partial.path;
	Path *partial_inner = join->sides[HG_INNER]->partial.path;
	Path *outer_path = join->sides[HG_OUTER]->repeated;
	Path *inner_path = join->sides[HG_INNER]->repeated;
	bool both = partial_outer != NULL && partial_inner != NULL;

	if (partial_outer == NULL && partial_inner == NULL)
		return;
	if (!join->joinrel->consider_parallel || !bms_is_empty(join->joinrel->lateral_relids))
		return;
	/* workers are started for each run, whatever a forced join costs */
	if (hg_force && hg_query_is_rescanned(join->root))
		return;
	if (both && !hg_force && hg_partial_joins_are_dear(join))
		return;
	if (both && hg_consider_parallel_hash(join))
		hg_consider_partial_path(join, partial_outer, partial_inner, true);
	if (partial_outer != NULL && inner_path != NULL)
		hg_consider_partial_outer_path(join, partial_outer, inner_path);
	if (partial_outer == NULL)
		partial_outer = outer_path;
	if (partial_inner == NULL)
		partial_inner = inner_path;
	if (!both && join->better && partial_outer != NULL && partial_inner != NULL &&
		hg_consider_parallel_hash(join))
		hg_consider_partial_path(join, partial_outer, partial_inner, true);
}

/* Offers an inner join with its sides exchanged. */
static void
hg_consider_other_order(const HgConsidered *join)
{
	JoinPathExtraData extra = *join->extra;
	HgConsidered other = {.root = join->root,
						  .joinrel = join->joinrel,
						  .outerrel = join->innerrel,
						  .innerrel = join->outerrel,
						  .join_type = JOIN_INNER,
						  .extra = &extra,
						  .sides = {join->sides[HG_INNER], join->sides[HG_OUTER]},
						  .better = true,
						  .loops = {join->loops[0], join->loops[1]}};

	extra.inner_unique =
		innerrel_is_unique(join->root, join->joinrel->relids, other.outerrel->relids,
						   other.innerrel, JOIN_INNER, extra.restrictlist, false);
	if (extra.inner_unique)
		compute_semi_anti_join_factors(join->root, join->joinrel, other.outerrel, other.innerrel,
									   JOIN_INNER, extra.sjinfo, extra.restrictlist,
									   &extra.semifactors);
	hg_consider_paths(&other, other.sides[HG_OUTER]->whole.path, other.sides[HG_INNER]->whole.path);
	hg_consider_partial_paths(&other);
}

static void
hg_consider_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
				 JoinType join_type, JoinPathExtraData *extra)
{
	const HgJoinInput *outer = hg_join_input(root, outerrel);
	const HgJoinInput *inner = hg_join_input(root, innerrel);
	HgConsidered join = {root, joinrel, outerrel, innerrel, join_type, extra, {outer, inner}};
	Path *outer_path = outer->whole.path;
	Path *inner_path = inner->whole.path;

	if (!hg_force)
		for (int partial = 0; partial < 2; partial++)
			hg_consider_loops(&join, partial);
	/* inputs that seem small may not be */
	if (!hg_force && !join.loops[0] && !join.loops[1] && hg_inputs_small(outer_path, inner_path))
		return;
#if HG_HAVE_JOIN_UNIQUE
	if (join_type == JOIN_UNIQUE_OUTER || join_type == JOIN_UNIQUE_INNER)
	{
		/* a semijoin is often not worthwhile: check before making the side unique */
		join.join_type = JOIN_INNER;
		if (!hg_consider_clauses(&join))
			return;
		if (join_type == JOIN_UNIQUE_OUTER)
			outer_path = (Path *) create_unique_path(root, outerrel, outerrel->cheapest_total_path,
													 extra->sjinfo);
		else
			inner_path = (Path *) create_unique_path(root, innerrel, innerrel->cheapest_total_path,
													 extra->sjinfo);
		/* core makes no other path of a side unique */
		if (outer_path != NULL && inner_path != NULL)
		{
			hg_consider_paths(&join, outer_path, inner_path);
			if (join_type == JOIN_UNIQUE_OUTER)
				hg_consider_adaptive_path(&join, outer_path, inner_path, NULL);
		}
		return;
	}
#endif
	join.better =
		hg_is_better_order(&outer->whole, &inner->whole, join_type, hg_is_as_written(&join));
	/* loops may have replaced what was offered in the better order */
	if (!join.better && (join.loops[0] || join.loops[1]))
	{
		if (join_type == JOIN_INNER)
			hg_consider_other_order(&join);
		else
			join.better = true;
	}
	if (join.better)
		hg_consider_paths(&join, outer_path, inner_path);
	hg_consider_parameterized_paths(&join);
	hg_consider_partial_paths(&join);
	hg_consider_adaptive_paths(&join);
}

/* Returns true if the inputs of a join of core's are small even with the feared rows. */
static bool
hg_inputs_small_at_worst(const PlannerInfo *root, const JoinPath *core)
{
	HgInputCost outer;
	HgInputCost inner;

	hg_input_cost(root, core->outerjoinpath, &outer);
	hg_input_cost(root, core->innerjoinpath, &inner);
	return outer.feared_rows + inner.feared_rows < hg_min_rows;
}

Path *
hg_join_path_instead(PlannerInfo *root, const Path *path)
{
	const JoinPath *core;
	Path *inputs[2];
	Path *ours;
	bool partial;
	bool parallel_hash;
	HgConsidered join = {.root = root};
	JoinPathExtraData extra = {0};

	if (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	if (!IsA(path, HashPath) || path->param_info != NULL)
		return NULL;
	core = (const JoinPath *) path;
	inputs[HG_OUTER] = core->outerjoinpath;
	inputs[HG_INNER] = core->innerjoinpath;
	if (!hg_join_type_is_eligible(core->jointype) ||
		(hg_inputs_small(core->outerjoinpath, core->innerjoinpath) &&
		 hg_inputs_small_at_worst(root, core)))
		return NULL;
	hg_join_extra_set_enabled(&extra, core);
	extra.restrictlist = core->joinrestrictinfo;
	extra.inner_unique = core->inner_unique;
	/* core has not estimated it for this path: derive it from the rows that the path returns */
	extra.semifactors.outer_match_frac = Min(path->rows / Max(core->outerjoinpath->rows, 1.0), 1.0);
	if (core->jointype == JOIN_ANTI)
		extra.semifactors.outer_match_frac = 1.0 - extra.semifactors.outer_match_frac;
	join.joinrel = path->parent;
	join.outerrel = core->outerjoinpath->parent;
	join.innerrel = core->innerjoinpath->parent;
	join.sides[HG_OUTER] = hg_join_input(root, join.outerrel);
	join.sides[HG_INNER] = hg_join_input(root, join.innerrel);
	join.join_type = core->jointype;
	join.extra = &extra;
	if (!hg_consider_clauses(&join))
		return NULL;
	partial = path->parallel_workers > 0;
	parallel_hash = partial && path->parallel_aware;
	if (parallel_hash && !hg_consider_parallel_hash(&join))
		return NULL;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (inputs[side] == hg_cheapest_partial_input(inputs[side]->parent))
			inputs[side] = join.sides[side]->partial.path;
	ours = hg_join_path_create(&join, inputs[HG_OUTER], inputs[HG_INNER], NULL, partial,
							   parallel_hash);
	/* one process may read for all what each would read as a whole */
	if (partial && !parallel_hash && hg_consider_parallel_hash(&join) &&
		hg_considered_least_cost(&join, inputs[HG_OUTER], inputs[HG_INNER], true) <
			ours->total_cost)
	{
		Path *once =
			hg_join_path_create(&join, inputs[HG_OUTER], inputs[HG_INNER], NULL, partial, true);

		if (once->total_cost < ours->total_cost)
			return once;
	}
	return ours;
}

Path *
hg_join_path_of(PlannerInfo *root, RelOptInfo *joinrel, Path *outer, Path *inner,
				JoinType join_type, List *restrictlist, bool inner_unique)
{
	JoinPathExtraData extra = {.restrictlist = restrictlist, .inner_unique = inner_unique};
	HgConsidered join = {
		.root = root,
		.joinrel = joinrel,
		.outerrel = outer->parent,
		.innerrel = inner->parent,
		.join_type = join_type,
		.extra = &extra,
		.sides = {hg_join_input(root, outer->parent), hg_join_input(root, inner->parent)}};

	hg_join_extra_of(&extra, joinrel);
	return hg_consider_clauses(&join) ? hg_join_path_create(&join, outer, inner, NULL, false, false)
									  : NULL;
}

static void
hg_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
				 JoinType join_type, JoinPathExtraData *extra)
{
	if (hg_prev_join_pathlist_hook != NULL)
		hg_prev_join_pathlist_hook(root, joinrel, outerrel, innerrel, join_type, extra);
	if (!hg_enabled || hg_join_pathlist_users == 0)
		return;
	join_type = hg_join_type_of_rows(join_type);
	/* like core's, a hashed full join may be the only way */
	if (!hg_force && !hg_hashjoin_enabled(extra) && join_type != JOIN_FULL)
		return;
	if (hg_join_type_is_eligible(join_type))
		hg_consider_join(root, joinrel, outerrel, innerrel, join_type, extra);
	/* two tables are one pair, of which core tries both orders */
	if (!hg_force && (!IS_SIMPLE_REL(outerrel) || !IS_SIMPLE_REL(innerrel)))
		hg_core_paths_restore(root, joinrel);
}

void
hg_join_path_acquire(void)
{
	hg_join_pathlist_users++;
	if (hg_join_pathlist_hooked)
		return;
	hg_prev_join_pathlist_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = hg_join_pathlist;
	hg_join_pathlist_hooked = true;
}

void
hg_join_path_release(void)
{
	if (--hg_join_pathlist_users > 0 || set_join_pathlist_hook != hg_join_pathlist)
		return;
	set_join_pathlist_hook = hg_prev_join_pathlist_hook;
	hg_join_pathlist_hooked = false;
}
