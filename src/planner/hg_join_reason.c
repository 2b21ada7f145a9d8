/*-------------------------------------------------------------------------
 *
 * hg_join_reason.c
 *	  Why a join of core's is not one of ours.
 *
 * The chosen join is checked by the same conditions, in the same order, as hg_join_path.c checks
 * every pair of relations. Nothing needs to be recorded while paths are made. test/t/join_why.pl
 * checks that the answers are those that the planner acted on.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "hg_guc.h"
#include "planner/hg_core_path.h"
#include "planner/hg_join_eligible.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_plan_reasons.h"

/* Appends the clauses moved into the inner side of a nested loop: parameters, and joins' own. */
static List *
hg_add_moved_clauses(List *clauses, const Path *inner)
{
	const HgJoinPath *ours = hg_path_join(inner);
	const JoinPath *join = (const JoinPath *) inner;

	if (inner->param_info == NULL)
		return clauses;
	clauses = list_concat(clauses, inner->param_info->ppi_clauses);
	if (ours != NULL)
	{
		clauses = list_concat(clauses, ours->restrictlist);
		clauses = hg_add_moved_clauses(clauses, linitial(ours->custom.custom_paths));
		return hg_add_moved_clauses(clauses, lsecond(ours->custom.custom_paths));
	}
	switch (nodeTag(inner))
	{
		case T_NestPath:
		case T_MergePath:
		case T_HashPath:
			clauses = list_concat(clauses, join->joinrestrictinfo);
			clauses = hg_add_moved_clauses(clauses, join->outerjoinpath);
			return hg_add_moved_clauses(clauses, join->innerjoinpath);
		case T_MaterialPath:
			return hg_add_moved_clauses(clauses, ((const MaterialPath *) inner)->subpath);
		case T_MemoizePath:
			return hg_add_moved_clauses(clauses, ((const MemoizePath *) inner)->subpath);
		case T_ProjectionPath:
			return hg_add_moved_clauses(clauses, ((const ProjectionPath *) inner)->subpath);
		default:
			return clauses;
	}
}

/* Returns true if a clause of a join can be a hash key. */
static bool
hg_join_has_hash_clause(PlannerInfo *root, const JoinPath *path)
{
	RelOptInfo *outerrel = path->outerjoinpath->parent;
	RelOptInfo *innerrel = path->innerjoinpath->parent;
	List *clauses = path->joinrestrictinfo;
	HgJoinKeys keys;

	if (path->innerjoinpath->param_info != NULL)
		clauses = hg_add_moved_clauses(list_copy(clauses), path->innerjoinpath);
	return hg_find_hash_clauses(root, path->path.parent, outerrel, innerrel, path->jointype,
								clauses, &keys) != NIL;
}

HgPlanReason
hg_join_reason(PlannerInfo *root, const JoinPath *path)
{
	RelOptInfo *joinrel = path->path.parent;
	RelOptInfo *outerrel = path->outerjoinpath->parent;
	RelOptInfo *innerrel = path->innerjoinpath->parent;
	const Path *outer = outerrel->cheapest_total_path;
	const Path *inner = innerrel->cheapest_total_path;
	JoinPathExtraData extra = {0};

	if (!hg_enabled)
		return HG_REASON_NOT_ENABLED;
	hg_join_extra_of(&extra, joinrel);
	if (!hg_force && !hg_hashjoin_enabled(&extra) && path->jointype != JOIN_FULL)
		return HG_REASON_NO_HASHJOIN;
	if (!hg_force && hg_inputs_small(outer, inner) &&
		!hg_core_loops_may_go(root, joinrel, false, 0) &&
		!hg_core_loops_may_go(root, joinrel, true, 0))
		return HG_REASON_FEW_ROWS;
	if (bms_overlap(PATH_REQ_OUTER(outer), innerrel->relids) ||
		bms_overlap(PATH_REQ_OUTER(inner), outerrel->relids))
		return HG_REASON_LATERAL;
	if (!hg_rel_is_eligible(root, outerrel) || !hg_rel_is_eligible(root, innerrel))
		return HG_REASON_COLUMNS;
	if (!hg_clauses_are_eligible(root, path->joinrestrictinfo))
		return HG_REASON_CONSTANT_CLAUSE;
	return hg_join_has_hash_clause(root, path) ? HG_REASON_COST : HG_REASON_NO_CLAUSE;
}
