/*-------------------------------------------------------------------------
 *
 * hg_subplan_path.c
 *	  Results of correlated subqueries that are kept by the values of their parameters.
 *
 * Core runs the plan of a correlated subquery for each row of the query around it, even if the
 * values that it refers to have come before.  Where a run is expensive, core's own Memoize node is
 * put on top of the plan.  Its key is the outer query's values, compared bit by bit, because the
 * result may show how equal values differ.  The node empties itself when any other parameter of
 * the plan changes, and holds as much as a hash table may.
 *
 * A subquery that may return other rows in the same statement runs each time: one with functions
 * that are not immutable, row locks, or relations that are not read by a snapshot.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/transam.h"
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/planner.h"
#include "utils/typcache.h"

#include "engine/hg_cost_table.h"
#include "hg_guc.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_paths.h"
#include "planner/hg_plan_reasons.h"

/* Parameters of a subquery, each once. */
typedef struct HgSubplanKey
{
	const PlannerInfo *root;
	List *params;
	List *operators; /* their equality operators, which can be hashed */
	bool hashable;	 /* all have one */
} HgSubplanKey;

bool
hg_param_is_outer(const PlannerInfo *root, int param)
{
	const ListCell *lc;

	for (root = root->parent_root; root != NULL; root = root->parent_root)
		foreach (lc, root->plan_params)
			if (((const PlannerParamItem *) lfirst(lc))->paramId == param)
				return true;
	return false;
}

static bool
hg_find_params_walker(Node *node, HgSubplanKey *key)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
	{
		const Param *param = (const Param *) node;
		const TypeCacheEntry *type;

		if (param->paramkind != PARAM_EXEC || list_member(key->params, param) ||
			!hg_param_is_outer(key->root, param->paramid))
			return false;
		type = lookup_type_cache(param->paramtype, TYPECACHE_EQ_OPR | TYPECACHE_HASH_PROC);
		if (!OidIsValid(type->eq_opr) || !OidIsValid(type->hash_proc))
			key->hashable = false;
		key->params = lappend(key->params, node);
		key->operators = lappend_oid(key->operators, type->eq_opr);
		return false;
	}
	return expression_tree_walker(node, hg_find_params_walker, key);
}

bool
hg_rte_is_table(const RangeTblEntry *rte)
{
	return rte->rtekind == RTE_RELATION && rte->relid >= FirstNormalObjectId &&
		   (rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_MATVIEW ||
			rte->relkind == RELKIND_PARTITIONED_TABLE || rte->relkind == RELKIND_VIEW);
}

static bool
hg_node_varies_walker(Node *node, void *context)
{
	const ListCell *lc;

	if (node == NULL)
		return false;
	/* functions of these are not seen from outside */
	if (IsA(node, CoerceToDomain) ||
		(IsA(node, Aggref) && ((const Aggref *) node)->aggfnoid >= FirstNormalObjectId))
		return true;
	if (!IsA(node, Query))
		return expression_tree_walker(node, hg_node_varies_walker, context);
	if (((const Query *) node)->rowMarks != NIL)
		return true;
	foreach (lc, ((const Query *) node)->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->tablesample != NULL || rte->rtekind == RTE_TABLEFUNC ||
			(rte->rtekind == RTE_RELATION && !hg_rte_is_table(rte)))
			return true;
	}
	return query_tree_walker((Query *) node, hg_node_varies_walker, context, 0);
}

bool
hg_node_varies(Node *node)
{
	return contain_mutable_functions(node) || hg_node_varies_walker(node, NULL);
}

/*
 * Returns true if a query is the subquery of an expression that core plans now, and returns the
 * same for the same parameters.  Core plans these before it knows the relations of the query
 * around.  Subqueries within it have been planned; functions in them are no longer seen.
 */
static bool
hg_subquery_repeats(const PlannerInfo *root)
{
	const Query *parse = root->parse;

	return root->parent_root != NULL && root->parent_root->simple_rel_array == NULL &&
		   root->parent_root->plan_params != NIL && parse->commandType == CMD_SELECT &&
		   !parse->hasSubLinks && !hg_node_varies((Node *) parse);
}

/* Returns a path that keeps the rows of another by the key. */
static Path *
hg_memoize_path_create(const PlannerInfo *root, RelOptInfo *rel, Path *subpath,
					   const HgSubplanKey *key)
{
	MemoizePath *path = makeNode(MemoizePath);

	path->path = *subpath;
	NodeSetTag(path, T_MemoizePath);
	path->path.pathtype = T_Memoize;
	path->path.parent = rel;
	path->path.total_cost += hg_tuple_cost(HG_MEMOIZE_NS);
	path->subpath = subpath;
	path->param_exprs = key->params;
	path->hash_operators = key->operators;
	path->binary_mode = true;
	/* a single group, or EXISTS, which asks for one row and has no limit of its own */
	path->singlerow = root->parse->limitCount == NULL &&
					  (root->tuple_fraction == 1.0 ||
					   (root->parse->hasAggs && root->parse->groupClause == NIL &&
						root->parse->groupingSets == NIL && !root->parse->hasTargetSRFs));
	return &path->path;
}

void
hg_memoize_subquery(PlannerInfo *root, RelOptInfo *final_rel)
{
	HgSubplanKey key = {.root = root, .hashable = true};
	ListCell *lc;

	if (!enable_memoize || !hg_subquery_repeats(root))
		return;
	(void) query_tree_walker(root->parse, hg_find_params_walker, &key,
							 QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
	if (key.params == NIL || !key.hashable)
		return;
	foreach (lc, final_rel->pathlist)
	{
		Path *path = lfirst(lc);

		if (path->param_info == NULL &&
			(hg_force || path->total_cost >= hg_tuple_cost(HG_MEMOIZED_RUN_NS)))
			lfirst(lc) = hg_memoize_path_create(root, final_rel, path, &key);
	}
}
