/*-------------------------------------------------------------------------
 *
 * hg_scan_lookup_path.c
 *	  Scans in correlated subqueries whose rows are looked up by the values of the outer row.
 *
 * A correlated subquery is executed for each row of a query around it.  If it compares columns of
 * a relation with values of that row by an operator that can be hashed, and core would read the
 * whole relation each time, the lookup node is put above the scan (executor/lookup).
 *
 * ORDER OF CLAUSES.  Core evaluates the clauses of a scan in an order that security barriers rely
 * on, and an error in one of them only occurs for rows that pass those ahead.  The clauses up to
 * the first one with values of the outer row stay in the scan.  The node evaluates all others, in
 * the same order, but only for rows that have the hash of the values.  It must therefore not
 * matter whether a clause ahead of a hash clause is evaluated: such a clause has leakproof
 * functions only, which raise no errors.  The same holds for the operands of a hash clause, unless
 * no clause of the node is ahead of it: they are then evaluated for the same rows.
 *
 * CACHED TABLES are left out: the aggregate node reads their columns faster than this node reads
 * rows, until there are many executions.
 *
 * COST.  How often the subquery is executed is not known here.  The path costs little more than
 * the scan, so that all else is planned as without it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/sysattr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

#include "backend/hg_library.h"
#include "batch/hg_bound_params.h"
#include "engine/hg_cost_table.h"
#include "executor/lookup/hg_scan_lookup.h"
#include "hg_guc.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_paths.h"

/* A sorted row has two more columns than the scan's, and PostgreSQL allows 1664. */
#define HG_LOOKUP_MAX_COLUMNS 1600

/* A path of the lookup node. */
typedef struct HgScanLookupPath
{
	CustomPath custom;	/* must be first; custom_paths: the scan without and with the clauses */
	List *clauses;		/* RestrictInfos that the node evaluates, in order */
	List *hash_clauses; /* positions of hash clauses among them */
	bool reads_on;		/* reading the scan to its end raises no errors */
} HgScanLookupPath;

/* ---------------------------------------------------------------------
 * Clauses
 * ---------------------------------------------------------------------
 */

/* Counts the parameters of an expression that other plans compute, and those with outer values. */
static void
hg_count_params(const PlannerInfo *root, Node *expr, int *params, int *outer)
{
	const Bitmapset *ids = hg_find_params(expr, PARAM_EXEC);
	int id = -1;

	*params = *outer = 0;
	while ((id = bms_next_member(ids, id)) >= 0)
	{
		(*params)++;
		*outer += hg_param_is_outer(root, id);
	}
}

/* Returns true if an expression has an outer value. */
static bool
hg_expr_has_outer(const PlannerInfo *root, Node *expr)
{
	int params;
	int outer;

	hg_count_params(root, expr, &params, &outer);
	return outer > 0;
}

/* Returns true if an expression has outer values, and no results of other plans. */
static bool
hg_expr_is_outer(const PlannerInfo *root, Node *expr)
{
	int params;
	int outer;

	hg_count_params(root, expr, &params, &outer);
	return outer > 0 && outer == params;
}

/* Returns true if operators may need a collation that could not be determined. */
static bool
hg_collation_is_wanting(Oid collation, const List *args)
{
	const ListCell *lc;

	if (!OidIsValid(collation))
		foreach (lc, args)
			if (type_is_collatable(exprType(lfirst(lc))))
				return true;
	return false;
}

static bool hg_exprs_are_quiet(const PlannerInfo *root, const List *exprs);

/*
 * Returns true if an expression raises no error and has no side effect, so that it does not matter
 * whether it is evaluated: it computes columns, outer values and constants by leakproof functions.
 */
static bool
hg_expr_is_quiet(const PlannerInfo *root, const Node *expr)
{
	switch (nodeTag(expr))
	{
		case T_Var:
		case T_Const:
			return true;
		case T_Param:
			return ((const Param *) expr)->paramkind == PARAM_EXTERN ||
				   hg_param_is_outer(root, ((const Param *) expr)->paramid);
		case T_RelabelType:
			return hg_expr_is_quiet(root, (const Node *) ((const RelabelType *) expr)->arg);
		case T_NullTest:
			return hg_expr_is_quiet(root, (const Node *) ((const NullTest *) expr)->arg);
		case T_BoolExpr:
			return hg_exprs_are_quiet(root, ((const BoolExpr *) expr)->args);
		case T_FuncExpr:
			return get_func_leakproof(((const FuncExpr *) expr)->funcid) &&
				   !hg_collation_is_wanting(((const FuncExpr *) expr)->inputcollid,
											((const FuncExpr *) expr)->args) &&
				   hg_exprs_are_quiet(root, ((const FuncExpr *) expr)->args);
		case T_OpExpr:
			return get_func_leakproof(get_opcode(((const OpExpr *) expr)->opno)) &&
				   !hg_collation_is_wanting(((const OpExpr *) expr)->inputcollid,
											((const OpExpr *) expr)->args) &&
				   hg_exprs_are_quiet(root, ((const OpExpr *) expr)->args);
		case T_ScalarArrayOpExpr:
			return get_func_leakproof(get_opcode(((const ScalarArrayOpExpr *) expr)->opno)) &&
				   !hg_collation_is_wanting(((const ScalarArrayOpExpr *) expr)->inputcollid,
											((const ScalarArrayOpExpr *) expr)->args) &&
				   hg_exprs_are_quiet(root, ((const ScalarArrayOpExpr *) expr)->args);
		default:
			return false;
	}
}

/* Returns true if all expressions of a list are quiet. */
static bool
hg_exprs_are_quiet(const PlannerInfo *root, const List *exprs)
{
	ListCell *lc;

	foreach (lc, exprs)
		if (!hg_expr_is_quiet(root, lfirst(lc)))
			return false;
	return true;
}

/* Returns true if the left operand of a hash clause is its key, and the right one the value. */
static bool
hg_key_is_left(const OpExpr *clause)
{
	return contain_var_clause(linitial(clause->args));
}

/* Returns true if a clause compares a key of the relation with a value of outer rows. */
static bool
hg_clause_is_hashable(const PlannerInfo *root, const RestrictInfo *rinfo)
{
	const OpExpr *clause = (const OpExpr *) rinfo->clause;
	Node *key;
	Node *value;
	RegProcedure hashes[2];

	if (!is_opclause(clause) || list_length(clause->args) != 2)
		return false;
	key = list_nth(clause->args, hg_key_is_left(clause) ? 0 : 1);
	value = list_nth(clause->args, hg_key_is_left(clause) ? 1 : 0);
	/* of a name and a text, equal values of a nondeterministic collation have two hashes */
	if (OidIsValid(clause->inputcollid) && !get_collation_isdeterministic(clause->inputcollid) &&
		exprType(key) != exprType(value))
		return false;
	return !hg_collation_is_wanting(clause->inputcollid, clause->args) && contain_var_clause(key) &&
		   !contain_var_clause(value) && hg_find_params(key, PARAM_EXEC) == NULL &&
		   hg_expr_is_outer(root, value) && !contain_subplans((Node *) clause) &&
		   op_strict(clause->opno) &&
		   op_hashjoinable(clause->opno, exprType(linitial(clause->args))) &&
		   get_op_hash_functions(clause->opno, &hashes[0], &hashes[1]);
}

/* Returns the positions of hash clauses among those that the node would evaluate; or NIL. */
static List *
hg_find_lookup_clauses(const PlannerInfo *root, const List *clauses)
{
	List *positions = NIL;
	ListCell *lc;

	foreach (lc, clauses)
	{
		const RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (hg_clause_is_hashable(root, rinfo) &&
			(lc == list_head(clauses) ||
			 hg_exprs_are_quiet(root, ((const OpExpr *) rinfo->clause)->args)))
			positions = lappend_int(positions, foreach_current_index(lc));
		else if (!hg_expr_is_quiet(root, (const Node *) rinfo->clause))
			break;
	}
	return positions;
}

/* Splits a relation's clauses into those of the scan and those of the node, in order. */
static void
hg_split_scan_clauses(PlannerInfo *root, const RelOptInfo *rel, List **scan, List **node)
{
	List *rinfos = NIL;
	ListCell *lc;

	/* a gating Result above evaluates pseudoconstants */
	foreach (lc, rel->baserestrictinfo)
		if (!lfirst_node(RestrictInfo, lc)->pseudoconstant)
			rinfos = lappend(rinfos, lfirst(lc));
	*scan = *node = NIL;
	foreach (lc, hg_order_clauses(root, rinfos))
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Node *clause = (Node *) rinfo->clause;

		if (*node == NIL && !hg_expr_has_outer(root, clause) && !contain_subplans(clause))
			*scan = lappend(*scan, rinfo);
		else
			*node = lappend(*node, rinfo);
	}
}

/* ---------------------------------------------------------------------
 * Paths
 * ---------------------------------------------------------------------
 */

/* Returns true if a path of a relation reads all of it, and the same rows each time. */
static bool
hg_path_reads_all(const Path *path, RangeTblEntry *rte)
{
	switch (path->pathtype)
	{
		case T_SeqScan:
			return IsA(path, Path) && hg_rte_is_table(rte);
		case T_CteScan:
			return IsA(path, Path);
		case T_FunctionScan:
			return IsA(path, Path) && !hg_node_varies((Node *) rte->functions) &&
				   !contain_subplans((Node *) rte->functions);
		case T_ValuesScan:
			return IsA(path, Path) && !hg_node_varies((Node *) rte->values_lists) &&
				   !contain_subplans((Node *) rte->values_lists);
		default:
			return false;
	}
}

/* Returns the cheapest path of a relation that the node may read; or NULL. */
static ListCell *
hg_find_read_path(const RelOptInfo *rel, RangeTblEntry *rte)
{
	ListCell *lc;

	/* the list is ordered by cost */
	foreach (lc, rel->pathlist)
		if (((const Path *) lfirst(lc))->param_info == NULL)
			return hg_path_reads_all(lfirst(lc), rte) ? lc : NULL;
	return NULL;
}

/* Returns true if expressions are columns that do not change while a statement is executed. */
static bool
hg_are_columns(const List *exprs)
{
	ListCell *lc;

	foreach (lc, exprs)
	{
		const Var *var = lfirst(lc);

		if (!IsA(var, Var) ||
			(var->varattno < 0 && var->varattno != SelfItemPointerAttributeNumber &&
			 var->varattno != TableOidAttributeNumber))
			return false;
	}
	return true;
}

/* Returns a copy of a path with fewer clauses and more columns. */
static Path *
hg_scan_path_copy(PlannerInfo *root, const Path *path, List *clauses, List *columns)
{
	RelOptInfo *rel = makeNode(RelOptInfo);
	Path *copy = makeNode(Path);

	*rel = *path->parent;
	rel->baserestrictinfo = clauses;
	rel->reltarget = copy_pathtarget(rel->reltarget);
	add_new_columns_to_pathtarget(rel->reltarget, columns);
	rel->reltarget = set_pathtarget_cost_width(root, rel->reltarget);
	rel->rows = clamp_row_est(
		rel->tuples * clauselist_selectivity(root, clauses, (int) rel->relid, JOIN_INNER, NULL));
	*copy = *path;
	copy->parent = rel;
	copy->pathtarget = rel->reltarget;
	copy->rows = rel->rows;
	return copy;
}

static Plan *hg_scan_lookup_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
								 List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods hg_scan_lookup_path_methods = {
	.CustomName = "HashGraphLookup",
	.PlanCustomPath = hg_scan_lookup_plan,
};

/* Returns a lookup path above a path of a relation; NULL if no clause can be hashed. */
static Path *
hg_scan_lookup_path_create(PlannerInfo *root, RelOptInfo *rel, Path *scan)
{
	HgScanLookupPath *path;
	List *scan_clauses;
	List *clauses;
	List *columns;
	List *hash_clauses;
	const OpExpr *first;
	Path *child;

	hg_split_scan_clauses(root, rel, &scan_clauses, &clauses);
	hash_clauses = hg_find_lookup_clauses(root, clauses);
	if (hash_clauses == NIL ||
		hg_node_varies((Node *) extract_actual_clauses(rel->baserestrictinfo, false)) ||
		rel->max_attr > HG_LOOKUP_MAX_COLUMNS)
		return NULL;
	columns = pull_var_clause((Node *) get_actual_clauses(clauses), PVC_INCLUDE_PLACEHOLDERS);
	if (!hg_are_columns(columns) || !hg_are_columns(rel->reltarget->exprs))
		return NULL;
	child = hg_scan_path_copy(root, scan, scan_clauses, columns);
	first =
		(const OpExpr *) list_nth_node(RestrictInfo, clauses, linitial_int(hash_clauses))->clause;

	path = (HgScanLookupPath *) newNode(sizeof(HgScanLookupPath), T_CustomPath);
	/* this includes the order of rows, because rows of a hash come in the order of the scan */
	path->custom.path = *scan;
	NodeSetTag(path, T_CustomPath);
	path->custom.path.pathtype = T_CustomScan;
	path->custom.path.total_cost += child->rows * hg_tuple_cost(HG_SORT_BY_HASH_NS);
	path->custom.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom.custom_paths = list_make2(
		child, hg_scan_path_copy(root, scan, list_concat_copy(scan_clauses, clauses), columns));
	path->custom.methods = &hg_scan_lookup_path_methods;
	path->clauses = clauses;
	path->hash_clauses = hash_clauses;
	path->reads_on = scan->pathtype == T_SeqScan &&
					 hg_exprs_are_quiet(root, get_actual_clauses(scan_clauses)) &&
					 hg_exprs_are_quiet(root, first->args);
	return &path->custom.path;
}

void
hg_consider_scan_lookup(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	ListCell *lc;

	if (root->parent_root == NULL || rel->reloptkind != RELOPT_BASEREL ||
		rel->baserestrictinfo == NIL || !bms_is_empty(rel->lateral_relids) ||
		root->rowMarks != NIL || root->parse->commandType != CMD_SELECT)
		return;
	lc = hg_find_read_path(rel, rte);
	if (lc != NULL && !hg_path_is_cached(lfirst(lc)))
	{
		Path *path = hg_scan_lookup_path_create(root, rel, lfirst(lc));

		if (path != NULL)
			lfirst(lc) = path;
	}
}

/* ---------------------------------------------------------------------
 * The plan
 * ---------------------------------------------------------------------
 */

static Plan *
hg_scan_lookup_plan(PlannerInfo *root pg_attribute_unused(), RelOptInfo *rel pg_attribute_unused(),
					CustomPath *best_path, List *tlist, List *clauses pg_attribute_unused(),
					List *custom_plans)
{
	const HgScanLookupPath *path = (const HgScanLookupPath *) best_path;
	CustomScan *cscan = makeNode(CustomScan);
	List *qual = get_actual_clauses(path->clauses);
	List *keys = NIL;
	List *values = NIL;
	List *key_hashes = NIL;
	List *value_hashes = NIL;
	List *collations = NIL;
	ListCell *lc;

	foreach (lc, path->hash_clauses)
	{
		const OpExpr *clause = list_nth_node(OpExpr, qual, lfirst_int(lc));
		int key = hg_key_is_left(clause) ? 0 : 1;
		RegProcedure hashes[2];

		if (!get_op_hash_functions(clause->opno, &hashes[0], &hashes[1]))
			elog(ERROR, "operator %u has no hash functions", clause->opno);
		keys = lappend(keys, copyObject(list_nth(clause->args, key)));
		values = lappend(values, copyObject(list_nth(clause->args, 1 - key)));
		key_hashes = lappend_oid(key_hashes, hashes[key]);
		value_hashes = lappend_oid(value_hashes, hashes[1 - key]);
		collations = lappend_oid(collations, clause->inputcollid);
	}
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = copyObject(qual);
	cscan->scan.scanrelid = 0;
	cscan->flags = best_path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_exprs = list_make2(keys, values);
	cscan->custom_scan_tlist = hg_plan_scan_tlist(list_make1(linitial(custom_plans)));
	cscan->custom_private =
		list_concat(list_make3(hg_library_mark(), path->hash_clauses, key_hashes),
					list_make3(value_hashes, collations, makeInteger(path->reads_on)));
	cscan->methods = &hg_scan_lookup_methods;
	StaticAssertDecl(HG_SCAN_LOOKUP_EXPRS_COUNT == 2 && HG_SCAN_LOOKUP_PRIVATE_COUNT == 6,
					 "the plan's lists have as many members as their enums");
	return &cscan->scan.plan;
}
