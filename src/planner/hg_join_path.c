/*-------------------------------------------------------------------------
 *
 * hg_join_path.c
 *	  Offer the join node for the joins that it can do.
 *
 * The planner calls the hook for every pair of relations, in every order and for
 * every join type it considers.  The node is offered for inner, left, semi and anti
 * joins with at least one clause "outer op inner" whose operator can be hashed; for
 * an outer join only clauses of its ON may be hash keys.  Anything else is left to the
 * core joins, without a trace.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"

#include "batch/hg_key.h"
#include "hg_guc.h"
#include "planner/hg_planner.h"

static set_join_pathlist_hook_type hg_prev_join_pathlist_hook;

static const CustomPathMethods hg_join_path_methods = {
	.CustomName = "HashGraphJoin",
	.PlanCustomPath = hg_join_plan,
};

/* Does the clause compare an expression of one relation with one of the other? */
static bool
hg_clause_sides_match(RestrictInfo *rinfo, RelOptInfo *outerrel, RelOptInfo *innerrel)
{
	if (bms_is_subset(rinfo->left_relids, outerrel->relids) &&
		bms_is_subset(rinfo->right_relids, innerrel->relids))
		rinfo->outer_is_left = true;
	else if (bms_is_subset(rinfo->left_relids, innerrel->relids) &&
			 bms_is_subset(rinfo->right_relids, outerrel->relids))
		rinfo->outer_is_left = false;
	else
		return false;
	return true;
}

/* The operator of a hash clause with the outer operand on its left; or InvalidOid. */
static Oid
hg_clause_operator(const RestrictInfo *rinfo)
{
	Oid operator_oid = ((const OpExpr *) rinfo->clause)->opno;

	return rinfo->outer_is_left ? operator_oid : hg_key_commutator(operator_oid);
}

/* The clauses of a join that can be hash keys. */
static List *
hg_find_hash_clauses(RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
					 JoinType join_type, List *restrictlist)
{
	List *result = NIL;
	ListCell *lc;

	foreach (lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Oid operator_oid;

		/* a WHERE clause above an outer join cannot decide what matches */
		if (IS_OUTER_JOIN(join_type) && RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids))
			continue;
		if (!rinfo->can_join || !OidIsValid(rinfo->hashjoinoperator))
			continue;
		if (!hg_clause_sides_match(rinfo, outerrel, innerrel))
			continue;
		operator_oid = hg_clause_operator(rinfo);
		if (OidIsValid(operator_oid) && hg_key_operator_usable(operator_oid))
			result = lappend(result, rinfo);
	}
	return result;
}

#if !HG_HAVE_CUSTOM_RESTRICTINFO
static bool
hg_has_pseudoconstant(List *restrictlist)
{
	ListCell *lc;

	foreach (lc, restrictlist)
		if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
			return true;
	return false;
}
#endif

/* What an encoder of the clauses would be like. */
static bool
hg_hash_clauses_exact(List *hash_clauses, uint32 *width)
{
	int nclauses = list_length(hash_clauses);
	HgKeyClause *clauses = palloc(nclauses * sizeof(HgKeyClause));
	bool exact;
	ListCell *lc;

	foreach (lc, hash_clauses)
	{
		const RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		HgKeyClause *clause = &clauses[foreach_current_index(lc)];

		clause->operator_oid = hg_clause_operator(rinfo);
		clause->collation = ((const OpExpr *) rinfo->clause)->inputcollid;
	}
	exact = hg_key_is_exact(nclauses, clauses, width);
	pfree(clauses);
	return exact;
}

/*
 * An inner join is offered in both orders, which give the same rows at nearly the same
 * price.  Is this the one whose inner side, the one that is held in memory, is smaller?
 */
static bool
hg_inner_is_smaller(const RelOptInfo *outerrel, const RelOptInfo *innerrel)
{
	double outer_bytes = outerrel->rows * outerrel->reltarget->width;
	double inner_bytes = innerrel->rows * innerrel->reltarget->width;

	if (inner_bytes != outer_bytes)
		return inner_bytes < outer_bytes;
	return bms_next_member(outerrel->relids, -1) < bms_next_member(innerrel->relids, -1);
}

static void
hg_consider_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
				 JoinType join_type, JoinPathExtraData *extra)
{
	Path *outer_path = outerrel->cheapest_total_path;
	Path *inner_path = innerrel->cheapest_total_path;
	List *restrictlist;
	List *hash_clauses;
	Relids required_outer;
	HgJoinPath *path;
	uint32 key_width;
	bool exact;

	if (!hg_force && outer_path->rows + inner_path->rows < hg_min_rows)
		return;
	if (join_type == JOIN_INNER && !hg_inner_is_smaller(outerrel, innerrel))
		return;
#if !HG_HAVE_CUSTOM_RESTRICTINFO
	if (root->hasPseudoConstantQuals && hg_has_pseudoconstant(extra->restrictlist))
		return;
#endif

	/* inputs that need each other's rows want a nested loop */
	if (bms_overlap(PATH_REQ_OUTER(outer_path), innerrel->relids) ||
		bms_overlap(PATH_REQ_OUTER(inner_path), outerrel->relids))
		return;
	required_outer = calc_non_nestloop_required_outer(outer_path, inner_path);
	if (required_outer != NULL && !bms_overlap(required_outer, extra->param_source_rels))
		return;
	/* core copies a parameterized path of a child relation without what is ours in it */
	if (required_outer != NULL && IS_OTHER_REL(joinrel))
		return;

	/* most pairs of inputs can't win: find out before anything is looked at closely */
	if (!hg_force && required_outer == NULL &&
		!hg_add_path_precheck(
			joinrel, hg_path_disabled_nodes(outer_path) + hg_path_disabled_nodes(inner_path), 0,
			hg_join_least_cost(joinrel, outer_path, inner_path), NIL, NULL))
		return;
	hash_clauses =
		hg_find_hash_clauses(joinrel, outerrel, innerrel, join_type, extra->restrictlist);
	if (hash_clauses == NIL)
		return;

	/* clauses of a parameterized path are added to its own list */
	restrictlist = required_outer == NULL ? extra->restrictlist : list_copy(extra->restrictlist);
	path = (HgJoinPath *) newNode(sizeof(HgJoinPath), T_CustomPath);
	path->custom.path.pathtype = T_CustomScan;
	path->custom.path.parent = joinrel;
	path->custom.path.pathtarget = joinrel->reltarget;
	path->custom.path.param_info = get_joinrel_parampathinfo(
		root, joinrel, outer_path, inner_path, extra->sjinfo, required_outer, &restrictlist);
	path->custom.path.pathkeys = NIL;
	path->custom.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom.custom_paths = list_make2(outer_path, inner_path);
	path->custom.methods = &hg_join_path_methods;
#if HG_HAVE_CUSTOM_RESTRICTINFO
	path->custom.custom_restrictinfo = restrictlist;
#endif
	path->join_type = join_type;
	path->inner_unique = extra->inner_unique;
	path->hash_clauses = hash_clauses;
	path->restrictlist = restrictlist;

	exact = hg_hash_clauses_exact(hash_clauses, &key_width);
	hg_join_cost(root, path, exact, key_width);
	add_path(joinrel, &path->custom.path);
}

static void
hg_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
				 JoinType join_type, JoinPathExtraData *extra)
{
	if (hg_prev_join_pathlist_hook != NULL)
		hg_prev_join_pathlist_hook(root, joinrel, outerrel, innerrel, join_type, extra);
	if (!hg_enabled)
		return;
	switch (join_type)
	{
		case JOIN_INNER:
		case JOIN_LEFT:
		case JOIN_SEMI:
		case JOIN_ANTI:
			hg_consider_join(root, joinrel, outerrel, innerrel, join_type, extra);
			break;
		default:
			/* right and full joins, unique-ified sides, and what a later version adds */
			break;
	}
}

void
hg_planner_init(void)
{
	hg_prev_join_pathlist_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = hg_join_pathlist;
}
