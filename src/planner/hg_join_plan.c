/*-------------------------------------------------------------------------
 *
 * hg_join_plan.c
 *	  The path of the join node, and the plan that it becomes.
 *
 * The plan's custom_scan_tlist is the outer child's target list followed by the inner one's, so
 * that a position in the scan slot determines the child and its column. Behind them are entries
 * for computed keys. executor/join/hg_join.h describes the rest of the plan.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "backend/hg_library.h"
#include "batch/hg_input_keys.h"
#include "executor/join/hg_join.h"
#include "planner/hg_join_eligible.h"
#include "planner/hg_join_plan.h"

bool
hg_join_path_filters(const HgJoinPath *path)
{
	ListCell *lc;

	if (IS_OUTER_JOIN(path->join_type))
		foreach (lc, path->restrictlist)
			if (RINFO_IS_PUSHED_DOWN(lfirst_node(RestrictInfo, lc),
									 path->custom.path.parent->relids))
				return true;
	return false;
}

List *
hg_plan_scan_tlist(List *custom_plans)
{
	List *result = NIL;
	ListCell *plan;
	ListCell *lc;

	foreach (plan, custom_plans)
		foreach (lc, ((Plan *) lfirst(plan))->targetlist)
		{
			TargetEntry *tle = lfirst_node(TargetEntry, lc);

			result = lappend(result, makeTargetEntry(copyObject(tle->expr), list_length(result) + 1,
													 NULL, false));
		}
	return result;
}

#if HG_HAVE_NULLINGRELS
/*
 * State for unifying the nulling marks of Vars.
 *
 * The outer joins that may have made a Var or PlaceHolderVar NULL depend on where it is used. The
 * inner columns of a left join do not yet carry the join's mark in its ON clause and in the child,
 * but do above it. In this node one slot serves all uses, and setrefs.c needs one marking: that of
 * uses above the node. The relation's own target has it. The plan's target list does not suffice,
 * because it is empty if a projection above will replace it.
 */
typedef struct HgNullingContext
{
	List *used;	 /* Vars and PlaceHolderVars as used, the decisive ones first */
	bool inside; /* look into PlaceHolderVars too */
} HgNullingContext;

static bool
hg_nulling_collect(Node *node, HgNullingContext *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		context->used = lappend(context->used, node);
		return false;
	}
	if (IsA(node, PlaceHolderVar))
	{
		context->used = lappend(context->used, node);
		if (!context->inside)
			return false;
	}
	return expression_tree_walker(node, hg_nulling_collect, context);
}

/* Gives every Var and PlaceHolderVar the marks that it has in context->used. */
static Node *
hg_nulling_mutator(Node *node, HgNullingContext *context)
{
	ListCell *lc;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var *var = (Var *) node;

		foreach (lc, context->used)
		{
			Var *used = lfirst(lc);

			if (IsA(used, Var) && used->varno == var->varno && used->varattno == var->varattno)
			{
				var = copyObject(var);
				HG_VAR_NULLINGRELS(var) = bms_copy(HG_VAR_NULLINGRELS(used));
				break;
			}
		}
		return (Node *) var;
	}
	if (IsA(node, PlaceHolderVar))
	{
		PlaceHolderVar *phv =
			(PlaceHolderVar *) expression_tree_mutator(node, hg_nulling_mutator, context);

		foreach (lc, context->used)
		{
			PlaceHolderVar *used = lfirst(lc);

			if (IsA(used, PlaceHolderVar) && used->phid == phv->phid)
			{
				HG_PHV_NULLINGRELS(phv) = bms_copy(HG_PHV_NULLINGRELS(used));
				break;
			}
		}
		return (Node *) phv;
	}
	return expression_tree_mutator(node, hg_nulling_mutator, context);
}

/*
 * Makes the marks in the quals, the expressions and the scan target list agree with those of
 * target, the expressions of the join relation.
 */
static void
hg_nulling_unify(List *target, List *tlist, List **quals, List **exprs, List **scan_tlist)
{
	HgNullingContext context = {NIL, false};
	List *above = list_make3(target, tlist, *quals);

	/*
	 * The first marking found of a Var counts. A PlaceHolderVar's contents may be marked as
	 * further below, so they come last.
	 */
	hg_nulling_collect((Node *) above, &context);
	context.inside = true;
	hg_nulling_collect((Node *) above, &context);
	hg_nulling_collect((Node *) *exprs, &context);
	*quals = (List *) hg_nulling_mutator((Node *) *quals, &context);
	*exprs = (List *) hg_nulling_mutator((Node *) *exprs, &context);
	*scan_tlist = (List *) hg_nulling_mutator((Node *) *scan_tlist, &context);
}
#endif

/* A clause with what determines its order of evaluation. */
typedef struct HgRankedClause
{
	RestrictInfo *rinfo;
	Index security_level;
	Cost cost;
	int position;
} HgRankedClause;

static int
hg_compare_ranked(const ListCell *a, const ListCell *b)
{
	const HgRankedClause *left = lfirst(a);
	const HgRankedClause *right = lfirst(b);

	if (left->security_level != right->security_level)
		return left->security_level < right->security_level ? -1 : 1;
	if (left->cost != right->cost)
		return left->cost < right->cost ? -1 : 1;
	return left->position - right->position;
}

List *
hg_order_clauses(PlannerInfo *root, List *rinfos)
{
	List *ranked = NIL;
	List *result = NIL;
	ListCell *lc;

	foreach (lc, rinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		HgRankedClause *clause = palloc(sizeof(HgRankedClause));
		QualCost cost;

		cost_qual_eval_node(&cost, (Node *) rinfo, root);
		clause->rinfo = rinfo;
		clause->cost = cost.per_tuple;
		clause->security_level = rinfo->security_level;
		if (rinfo->leakproof && cost.per_tuple <= 10 * cpu_operator_cost)
			clause->security_level = 0;
		clause->position = foreach_current_index(lc);
		ranked = lappend(ranked, clause);
	}
	list_sort(ranked, hg_compare_ranked);
	foreach (lc, ranked)
		result = lappend(result, ((HgRankedClause *) lfirst(lc))->rinfo);
	return result;
}

/* Returns a hash clause with the outer operand on its left; setrefs.c copies what it changes. */
static OpExpr *
hg_plan_hash_clause(const RestrictInfo *rinfo, const RelOptInfo *outerrel)
{
	OpExpr *clause = castNode(OpExpr, rinfo->clause);

	if (!bms_is_subset(rinfo->left_relids, outerrel->relids))
	{
		OpExpr *commuted = makeNode(OpExpr);

		*commuted = *clause;
		commuted->args = list_copy(clause->args);
		CommuteOpExpr(commuted);
		clause = commuted;
	}
	return clause;
}

/* Splits the clauses that are no hash clauses into ON and WHERE. */
static void
hg_split_clauses(PlannerInfo *root, HgJoinPath *path, List **join_qual, List **qual)
{
	Relids joinrelids = path->custom.path.parent->relids;
	List *join_rinfos = NIL;
	List *other_rinfos = NIL;
	ListCell *lc;

	foreach (lc, path->restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		/* a gating Result above evaluates pseudoconstants */
		if (rinfo->pseudoconstant || list_member_ptr(path->hash_clauses, rinfo))
			continue;
		if (IS_OUTER_JOIN(path->join_type) && RINFO_IS_PUSHED_DOWN(rinfo, joinrelids))
			other_rinfos = lappend(other_rinfos, rinfo);
		else
			join_rinfos = lappend(join_rinfos, rinfo);
	}
	*join_qual = get_actual_clauses(hg_order_clauses(root, join_rinfos));
	*qual = get_actual_clauses(hg_order_clauses(root, other_rinfos));
}

/*
 * Appends an entry to the scan target list for each computed key. Returns the entries' column
 * indexes, -1 for keys that are columns. An entry is a NULL of the key's type, because setrefs.c
 * replaces expressions that equal an entry, but no constants, and the value is the key's only
 * before an outer join extends the row.
 */
static List *
hg_plan_computed_keys(List *keys, List **scan_tlist)
{
	List *column_indexes = NIL;
	ListCell *lc;

	foreach (lc, keys)
	{
		const Node *key = lfirst(lc);
		Const *null_const;

		if (hg_input_keys_is_column((const Expr *) key))
		{
			column_indexes = lappend_int(column_indexes, -1);
			continue;
		}
		null_const = makeNullConst(exprType(key), exprTypmod(key), exprCollation(key));
		column_indexes = lappend_int(column_indexes, list_length(*scan_tlist));
		*scan_tlist =
			lappend(*scan_tlist, makeTargetEntry((Expr *) null_const, list_length(*scan_tlist) + 1,
												 NULL, false));
	}
	return column_indexes;
}

/* Returns true if two expressions are the same, whatever outer joins may make them NULL. */
static bool
hg_same_column(const Node *left, const Node *right)
{
	if (IsA(left, Var) && IsA(right, Var))
		return ((const Var *) left)->varno == ((const Var *) right)->varno &&
			   ((const Var *) left)->varattno == ((const Var *) right)->varattno;
	if (IsA(left, PlaceHolderVar) && IsA(right, PlaceHolderVar))
		return ((const PlaceHolderVar *) left)->phid == ((const PlaceHolderVar *) right)->phid;
	return equal(left, right);
}

/* Returns, for each entry of custom_scan_tlist, its attribute in a nested loop's rows, or 0. */
static List *
hg_plan_lookup_columns(const List *scan_tlist, const Plan *loop)
{
	List *columns = NIL;
	ListCell *entry;

	foreach (entry, scan_tlist)
	{
		const TargetEntry *wanted = lfirst(entry);
		int column = 0;
		ListCell *lc;

		foreach (lc, loop->targetlist)
		{
			const TargetEntry *returned = lfirst(lc);

			if (hg_same_column((const Node *) wanted->expr, (const Node *) returned->expr))
				column = returned->resno;
		}
		columns = lappend_int(columns, column);
	}
	return columns;
}

static Plan *
hg_join_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path, List *tlist,
			 List *clauses pg_attribute_unused(), List *custom_plans)
{
	HgJoinPath *path = (HgJoinPath *) best_path;
	CustomScan *cscan = makeNode(CustomScan);
	List *outer_keys = NIL;
	List *inner_keys = NIL;
	List *hash_clauses = NIL;
	List *operators = NIL;
	List *collations = NIL;
	List *join_qual;
	List *qual;
	List *exprs;
	List *scan_tlist =
		hg_plan_scan_tlist(list_make2(linitial(custom_plans), lsecond(custom_plans)));
	int outer_columns = list_length(((Plan *) linitial(custom_plans))->targetlist);
	int inner_columns = list_length(((Plan *) lsecond(custom_plans))->targetlist);
	List *computed_keys = NIL;
	List *numbers;
	ListCell *lc;

	foreach (lc, path->hash_clauses)
	{
		OpExpr *clause = hg_plan_hash_clause(lfirst_node(RestrictInfo, lc),
											 ((Path *) linitial(best_path->custom_paths))->parent);

		hash_clauses = lappend(hash_clauses, clause);
		outer_keys = lappend(outer_keys, linitial(clause->args));
		inner_keys = lappend(inner_keys, lsecond(clause->args));
		operators = lappend_oid(operators, clause->opno);
		collations = lappend_oid(collations, clause->inputcollid);
	}
	hg_split_clauses(root, path, &join_qual, &qual);
	exprs = list_make4(outer_keys, inner_keys, hash_clauses, join_qual);
#if HG_HAVE_NULLINGRELS
	hg_nulling_unify(rel->reltarget->exprs, tlist, &qual, &exprs, &scan_tlist);
#endif
	/* exact keys are never rechecked */
	if (!hg_hash_clauses_exact(path->hash_clauses, NULL))
		computed_keys =
			hg_plan_computed_keys(list_concat_copy(outer_keys, inner_keys), &scan_tlist);

	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = qual;
	cscan->scan.scanrelid = 0;
	cscan->flags = best_path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_exprs = exprs;
	cscan->custom_scan_tlist = scan_tlist;
	numbers = list_concat(
		list_make5_int(path->join_type, path->inner_unique, outer_columns, inner_columns,
					   path->parallel_hash ? path->custom.path.parallel_workers : 0),
		list_make5_int(path->read_once, path->dense, (int) path->lookup_rows, path->lookup_at_once,
					   path->lookup_matches));
	numbers = lappend_int(numbers, path->custom.path.parallel_workers);
	cscan->custom_private = lappend(
		list_make5(hg_library_mark(), numbers, computed_keys, operators, collations),
		path->lookup_rows > 0 ? hg_plan_lookup_columns(scan_tlist, lthird(custom_plans)) : NIL);
	cscan->methods = &hg_join_scan_methods;
	StaticAssertDecl(HG_EXPRS_COUNT == 4 && HG_PRIVATE_COUNT == 6 && HG_NUMBER_COUNT == 11,
					 "the plan's lists have as many members as their enums");
	return &cscan->scan.plan;
}

const CustomPathMethods hg_join_path_methods = {
	.CustomName = "HashGraphJoin",
	.PlanCustomPath = hg_join_plan,
};
