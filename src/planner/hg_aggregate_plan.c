/*-------------------------------------------------------------------------
 *
 * hg_aggregate_plan.c
 *	  The path of the aggregate node, and the plan that it becomes.
 *
 * The plan's custom_scan_tlist is the input's target list followed by the Aggrefs. In it,
 * setrefs.c finds the Aggrefs, group columns and other columns of the input in the target list and
 * HAVING, and the input's columns for the arguments in custom_exprs.
 * executor/aggregate/hg_aggregate.h describes the rest of the plan.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"

#include "backend/hg_library.h"
#include "batch/hg_arithmetic.h"
#include "batch/hg_bound_params.h"
#include "batch/hg_scan_qual.h"
#include "executor/aggregate/hg_aggregate.h"
#include "executor/aggregate/hg_aggregate_function.h"
#include "executor/aggregate/hg_aggregate_spill.h"
#include "hg_guc.h"
#include "planner/hg_aggregate_plan.h"
#include "planner/hg_grouping_sets.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_paths.h"
#include "resident/hg_resident_array.h"

int
hg_aggref_distinct(const List *distinct, const Aggref *aggref)
{
	ListCell *lc;

	if (aggref->aggdistinct == NIL)
		return -1;
	foreach (lc, distinct)
	{
		const HgDistinct *one = lfirst(lc);

		if (equal(one->column, linitial_node(TargetEntry, aggref->args)->expr) &&
			equal(one->filter, aggref->aggfilter))
			return foreach_current_index(lc);
	}
	return -1;
}

bool
hg_aggref_counts_rows(const Aggref *aggref)
{
	const Expr *argument;

	if (hg_aggregate_kind(aggref->aggfnoid) != HG_AGGREGATE_COUNT)
		return false;
	if (aggref->args == NIL)
		return true;
	argument = linitial_node(TargetEntry, aggref->args)->expr;
	return IsA(argument, Const) && !((const Const *) argument)->constisnull;
}

/* Returns a copy of an aggregate's argument; NULL if it counts rows. */
static Expr *
hg_aggref_argument(const Aggref *aggref)
{
	if (hg_aggref_counts_rows(aggref))
		return NULL;
	return copyObject(linitial_node(TargetEntry, aggref->args)->expr);
}

#if HG_HAVE_GROUP_RTE
/*
 * The marks of an input's expressions.  PostgreSQL 18 marks an expression that a grouping set may
 * make NULL with the range table index of the grouping step.  The input has the plain form; the
 * target and HAVING have the marked one, or the plain one if all sets have the expression.
 */
typedef struct HgGroupMarks
{
	const List *plain;		/* the input's expressions */
	List *marked;			/* the same with the mark */
	Bitmapset *used_plain;	/* indexes of expressions that are used without the mark */
	Bitmapset *used_marked; /* ... and with it */
} HgGroupMarks;

/*
 * Adds the input's expressions in node to those that are used. Returns true if one is used with and
 * without the mark.
 */
static bool
hg_group_marks_walker(Node *node, HgGroupMarks *marks)
{
	ListCell *lc;

	if (node == NULL || IsA(node, Aggref) || IsA(node, GroupingFunc))
		return false;
	foreach (lc, marks->plain)
	{
		int i = foreach_current_index(lc);

		if (equal(node, lfirst(lc)))
			marks->used_plain = bms_add_member(marks->used_plain, i);
		else if (equal(node, list_nth(marks->marked, i)))
			marks->used_marked = bms_add_member(marks->used_marked, i);
		else
			continue;
		return bms_is_member(i, marks->used_plain) && bms_is_member(i, marks->used_marked);
	}
	return expression_tree_walker(node, hg_group_marks_walker, marks);
}

/* Finds the marks of a path. Returns false if an expression is used with and without the mark. */
static bool
hg_group_marks_find(PlannerInfo *root, const HgAggregatePath *path, HgGroupMarks *marks)
{
	const Path *input = linitial(path->custom.custom_paths);
	Bitmapset *mark = bms_make_singleton(root->group_rtindex);
	ListCell *lc;

	*marks = (HgGroupMarks){.plain = input->pathtarget->exprs};
	foreach (lc, marks->plain)
	{
		Node *plain = lfirst(lc);
		Relids relids = pull_varnos(root, plain);

		marks->marked = lappend(marks->marked, add_nulling_relids(copyObject(plain), relids, mark));
	}
	return !hg_group_marks_walker((Node *) path->custom.path.pathtarget->exprs, marks) &&
		   !hg_group_marks_walker((Node *) path->having, marks);
}

static Node *
hg_group_marks_mutator(Node *node, HgGroupMarks *marks)
{
	int i = -1;

	if (node == NULL)
		return NULL;
	while ((i = bms_next_member(marks->used_marked, i)) >= 0)
		if (equal(node, list_nth(marks->plain, i)))
			return copyObject(list_nth(marks->marked, i));
	return expression_tree_mutator(node, hg_group_marks_mutator, marks);
}

/*
 * Marks the input's expressions in a scan target list as they are marked above. The scan slot
 * serves the aggregates' arguments too, so the expressions that these use get the same marks.
 */
static void
hg_mark_group_columns(PlannerInfo *root, const HgAggregatePath *path, List *scan_tlist,
					  List **exprs)
{
	HgGroupMarks marks;
	ListCell *lc;

	(void) hg_group_marks_find(root, path, &marks);
	foreach (lc, scan_tlist)
	{
		TargetEntry *tle = lfirst_node(TargetEntry, lc);

		if (!IsA(tle->expr, Aggref) && !IsA(tle->expr, GroupingFunc))
			tle->expr = (Expr *) hg_group_marks_mutator((Node *) tle->expr, &marks);
	}
	*exprs = (List *) hg_group_marks_mutator((Node *) *exprs, &marks);
}
#endif

bool
hg_aggregate_marks_agree(PlannerInfo *root pg_attribute_unused(),
						 const HgAggregatePath *path pg_attribute_unused())
{
#if HG_HAVE_GROUP_RTE
	HgGroupMarks marks;

	return hg_group_marks_find(root, path, &marks);
#else
	return true;
#endif
}

/* Returns a set's columns as indexes in the group clause. */
static List *
hg_plan_set_columns(const Bitmapset *columns)
{
	List *result = NIL;
	int column = -1;

	while ((column = bms_next_member(columns, column)) >= 0)
		result = lappend_int(result, column);
	return result;
}

/* Returns the indexes of a set's parents. */
static List *
hg_plan_set_parents(const List *sets, const HgPlannedSet *set)
{
	List *result = NIL;
	ListCell *lc;

	foreach (lc, sets)
		if (list_member_ptr(set->parents, lfirst(lc)))
			result = lappend_int(result, foreach_current_index(lc));
	return result;
}

/* Returns the values of the GROUPING() calls for the groups of a set. */
static List *
hg_plan_set_groupings(const HgAggregatePath *path, const Bitmapset *columns)
{
	List *values = NIL;
	ListCell *lc;
	ListCell *of_call;
	ListCell *clause;

	foreach (lc, path->groupings)
	{
		int value = 0;

		foreach (of_call, lfirst_node(GroupingFunc, lc)->refs)
		{
			value <<= 1;
			foreach (clause, path->group_clause)
				if ((int) lfirst_node(SortGroupClause, clause)->tleSortGroupRef ==
						lfirst_int(of_call) &&
					!bms_is_member(foreach_current_index(clause), columns))
					value |= 1;
		}
		values = lappend_int(values, value);
	}
	return values;
}

/* Returns the lists of the plan that describe grouping sets. */
static List *
hg_plan_sets(const HgAggregatePath *path)
{
	List *columns = NIL;
	List *parents = NIL;
	List *keys_only = NIL;
	List *returned = NIL;
	List *shared = NIL;
	List *never_empty = NIL;
	List *groupings = NIL;
	List *groups = NIL;
	ListCell *lc;

	if (path->sets == NIL)
		groups = list_make1_int((int) Min(path->groups, INT_MAX));

	foreach (lc, path->sets)
	{
		const HgPlannedSet *set = lfirst(lc);

		columns = lappend(columns, hg_plan_set_columns(set->columns));
		parents = lappend(parents, hg_plan_set_parents(path->sets, set));
		keys_only = lappend_int(keys_only, set->keys_only);
		returned = lappend_int(returned, set->returned);
		shared = lappend_int(shared, set->shared);
		never_empty = lappend_int(never_empty, set->never_empty);
		groupings = lappend(groupings, hg_plan_set_groupings(path, set->columns));
		groups = lappend_int(groups, (int) Min(set->groups, INT_MAX));
	}
	return list_concat(list_make4(columns, parents, keys_only, returned),
					   list_make4(shared, never_empty, groupings, groups));
}

/* Returns the members of the plan that describe the branches of INTERSECT and EXCEPT. */
static List *
hg_plan_branch(const HgAggregatePath *path, int ncolumns)
{
	bool numbered = path->first_branch > 0 && path->grouping_branch >= 0;

	return list_make3(makeInteger(numbered ? ncolumns - 1 : -1),
					  makeInteger(numbered ? path->grouping_branch : -1),
					  makeInteger(numbered ? (int) path->command : -1));
}

/* The columns of a set operation, and the branch that they are named after. */
typedef struct HgColumnNames
{
	Index first_branch;
	int ncolumns;
} HgColumnNames;

static Node *
hg_name_columns_mutator(Node *node, HgColumnNames *names)
{
	const Var *var = (const Var *) node;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, hg_name_columns_mutator, names);
	/* core shows the number of the first branch, too */
	if (var->varattno > names->ncolumns)
		return (Node *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false,
								  true);
	return (Node *) makeVar(names->first_branch, var->varattno, var->vartype, var->vartypmod,
							var->varcollid, 0);
}

/*
 * Names the columns of a set operation in its scan target list after those of the first branch. The
 * columns as they are come once more, with the same numbers: setrefs.c finds a column's number by
 * them. Of entries with the same number EXPLAIN takes the first.
 */
static List *
hg_name_columns(List *scan_tlist, const HgAggregatePath *path)
{
	HgColumnNames names = {path->first_branch, list_length(path->group_clause)};
	List *result = NIL;
	ListCell *lc;

	foreach (lc, scan_tlist)
	{
		TargetEntry *tle = flatCopyTargetEntry(lfirst_node(TargetEntry, lc));

		tle->expr = (Expr *) hg_name_columns_mutator((Node *) tle->expr, &names);
		result = lappend(result, tle);
	}
	return list_concat(result, scan_tlist);
}

Plan *
hg_aggregate_plan(PlannerInfo *root pg_attribute_unused(), RelOptInfo *rel pg_attribute_unused(),
				  CustomPath *best_path, List *tlist, List *clauses pg_attribute_unused(),
				  List *custom_plans)
{
	HgAggregatePath *path = (HgAggregatePath *) best_path;
	CustomScan *cscan = makeNode(CustomScan);
	List *input = ((Plan *) linitial(custom_plans))->targetlist;
	List *scan_tlist = hg_plan_scan_tlist(custom_plans);
	List *arguments = NIL;
	List *filters = NIL;
	List *keys = NIL;
	List *equalities = NIL;
	List *collations = NIL;
	List *distinct = NIL;
	List *exprs;
	ListCell *lc;

	foreach (lc, path->aggrefs)
	{
		Aggref *aggref = lfirst_node(Aggref, lc);

		scan_tlist = lappend(scan_tlist, makeTargetEntry((Expr *) copyObject(aggref),
														 list_length(scan_tlist) + 1, NULL, false));
		arguments = lappend(arguments, hg_aggref_argument(aggref));
		filters = lappend(filters, copyObject(aggref->aggfilter));
		distinct = lappend_int(distinct, hg_aggref_distinct(path->distinct, aggref));
	}
	foreach (lc, path->groupings)
		scan_tlist = lappend(scan_tlist, makeTargetEntry((Expr *) copyObject(lfirst(lc)),
														 list_length(scan_tlist) + 1, NULL, false));
	foreach (lc, path->group_clause)
	{
		const SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		const TargetEntry *tle = get_sortgroupref_tle(clause->tleSortGroupRef, input);

		keys = lappend_int(keys, tle->resno - 1);
		equalities = lappend_oid(equalities, clause->eqop);
		collations = lappend_oid(collations, exprCollation((Node *) tle->expr));
	}
	foreach (lc, path->distinct)
	{
		const HgDistinct *one = lfirst(lc);
		const TargetEntry *tle = tlist_member((Expr *) one->column, input);

		keys = lappend_int(keys, tle->resno - 1);
		equalities = lappend_oid(equalities, one->equality);
		collations = lappend_oid(collations, one->column->varcollid);
	}

	exprs = list_make2(arguments, filters);
#if HG_HAVE_GROUP_RTE
	if (path->sets != NIL)
		hg_mark_group_columns(root, path, scan_tlist, &exprs);
#endif

	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = copyObject(path->having);
	cscan->scan.scanrelid = 0;
	cscan->flags = best_path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_exprs = exprs;
	cscan->custom_scan_tlist =
		path->first_branch > 0 ? hg_name_columns(scan_tlist, path) : scan_tlist;
	cscan->custom_private = list_concat(
		list_make4(hg_library_mark(), makeInteger(path->grouped), makeInteger(list_length(input)),
				   distinct),
		list_concat(
			list_make4(keys, equalities, collations, makeInteger(list_length(path->group_clause))),
			list_concat(hg_plan_branch(path, list_length(input)), hg_plan_sets(path))));
	cscan->methods = &hg_aggregate_scan_methods;
	StaticAssertDecl(HG_AGGREGATE_EXPRS_COUNT == 2 && HG_AGGREGATE_PRIVATE_COUNT == 19,
					 "the plan's lists have as many members as their enums");
	return &cscan->scan.plan;
}

/* ---------------------------------------------------------------------
 * The cost of the aggregate node
 *
 * For N rows of the input, G groups, k group columns and a aggregates, over the cost of the input:
 *
 *	rows		minus hg_path_saving(), because the input is charged for forming rows even if it
 *				can return columns, and minus hg_columns_saving()
 *	keys		N * k * HG_GROUP_KEY_NS
 *	aggregates	N * a * HG_AGGREGATE_NS, and the cost of arguments and filters that are no plain
 *				columns; HG_COLUMN_ARGUMENT_LEFT of that if they are computed column by column over
 *				rows of a resident table. Nothing if rows of such a table or of a join of ours are
 *				only counted
 *	groups		G * (cpu_tuple_cost + a * cpu_operator_cost), and HAVING; not if they are only made
 *				for other grouping sets
 *	sets		the costs of keys, aggregates and disk for every further grouping set, whose rows
 *				are the groups of its parents, and HG_COMBINE_PACKED_NS for each of their states of
 *				type internal. Sets without states have the costs of keys and disk, and the first
 *				one of a DISTINCT column is made of rows. The sets share work memory. All groups
 *				of a set that processes share are written and read: pages * HG_GROUPS_PAGE and
 *				HG_GROUPS_FILE for each of HG_SHARED_FILES
 *	disk		pages * HG_GROUPS_PAGE * L to write and read the rows of groups that exceed work
 *				memory, partitioned L times until the groups of a partition fit; and HG_GROUPS_FILE
 *				for each partition's file. 65 MB of rows in 64 kB are partitioned six times into
 *				5,460 files, which takes 3.1 s; sorting takes 1.2 s
 *
 * Core charges N * (k + a) * cpu_operator_cost and the same for groups. If hash aggregation is
 * disabled, so is the node.
 * ---------------------------------------------------------------------
 */

/* Estimated bytes of a group beside its values, in memory and in a file. */
#define HG_GROUP_BYTES 48
#define HG_GROUP_ROW_BYTES 8

/* Estimated bytes of a state of type internal, in memory and in a file. */
#define HG_INTERNAL_STATE_BYTES 500
#define HG_PACKED_STATE_BYTES 48

/* Estimated number of files that a process writes groups to, which it shares with others. */
#define HG_SHARED_FILES 8

/* Returns true if an aggregate's argument is computed column by column. */
static bool
hg_aggref_is_arithmetic(const Aggref *aggref)
{
	return aggref->args != NIL &&
		   hg_arithmetic_takes(linitial_node(TargetEntry, aggref->args)->expr);
}

/* Returns true if all aggregates only count rows. */
static bool
hg_aggrefs_count(const List *aggrefs)
{
	ListCell *lc;

	foreach (lc, aggrefs)
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);

		if (!hg_aggref_counts_rows(aggref) || aggref->aggfilter != NULL)
			return false;
	}
	return true;
}

/* Returns true if an expression is a column of a by-value type. */
static bool
hg_is_plain_column(const Node *node)
{
	return IsA(node, Var) && get_typbyval(((const Var *) node)->vartype);
}

/* Returns true if a device can compute an expression: over one table, or tables joined at once. */
static bool
hg_may_be_computed(PlannerInfo *root, const HgJoinPath *join, const Node *node)
{
	if (!hg_arithmetic_takes((const Expr *) node))
		return false;
	switch (bms_membership(pull_varnos(root, (Node *) node)))
	{
		case BMS_SINGLETON:
			return true;
		case BMS_MULTIPLE:
			return join->multiway || hg_star_is_one_join(root, join);
		default:
			return false;
	}
}

/* Returns true if a device can compute an aggregate function's results from its columns. */
static bool
hg_aggref_may_be_asked(PlannerInfo *root, const HgJoinPath *join, const Aggref *aggref)
{
	const HgAggregateKind kind = hg_aggregate_kind(aggref->aggfnoid);
	const Node *argument;

	if (aggref->aggfilter != NULL)
		return false;
	if (aggref->args == NIL)
		return kind == HG_AGGREGATE_COUNT;
	argument = (const Node *) linitial_node(TargetEntry, aggref->args)->expr;
	switch (kind)
	{
		case HG_AGGREGATE_COUNT:
		case HG_AGGREGATE_SUM_NUMERIC:
		case HG_AGGREGATE_AVG_NUMERIC:
			return IsA(argument, Var) || hg_may_be_computed(root, join, argument);
		default:
			return hg_aggregate_is_of_integers(kind) &&
				   (hg_is_plain_column(argument) || hg_may_be_computed(root, join, argument));
	}
}

/* Returns true if a device can group by an expression, by codes if it is not by value. */
static bool
hg_may_be_grouped_by(const Node *node, double groups)
{
	return hg_is_plain_column(node) || (IsA(node, Var) && groups <= HG_MOST_CODES);
}

/*
 * Returns true if a device with the columns in *exprs can answer all that a path needs of a join.
 */
static bool
hg_aggregate_may_ask_device(PlannerInfo *root, const HgAggregatePath *path, const HgJoinPath *join,
							double groups, List **exprs)
{
	ListCell *lc;

	*exprs = NIL;
	if (join == NULL || join->asked < 0)
		return false;
	/* a device makes groups of one set */
	if (list_length(path->distinct) > 1)
		return false;
	foreach (lc, path->distinct)
	{
		const HgDistinct *one = lfirst(lc);

		if (one->filter != NULL || !hg_may_be_grouped_by((const Node *) one->column, groups))
			return false;
		*exprs = lappend(*exprs, one->column);
	}
	/* of unmatched rows a device only knows the number (hg_join_emit.c), at most */
	if (join->join_type != JOIN_INNER && join->join_type != JOIN_SEMI && !join->multiway &&
		!hg_star_is_one_join(root, join))
		return path->group_clause == NIL && path->distinct == NIL &&
			   hg_aggrefs_count(path->aggrefs);
	foreach (lc, path->aggrefs)
	{
		if (lfirst_node(Aggref, lc)->aggdistinct != NIL)
			continue;
		if (!hg_aggref_may_be_asked(root, join, lfirst_node(Aggref, lc)))
			return false;
		*exprs = lappend(*exprs, lfirst_node(Aggref, lc)->args);
	}
	foreach (lc, path->group_clause)
	{
		const SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		const PathTarget *target = path->custom.path.pathtarget;
		bool plain = false;

		for (int i = 0; i < list_length(target->exprs) && !plain; i++)
		{
			Node *expr = list_nth(target->exprs, i);

			plain = get_pathtarget_sortgroupref(target, i) == clause->tleSortGroupRef &&
					hg_may_be_grouped_by(expr, groups);
			if (plain)
				*exprs = lappend(*exprs, expr);
		}
		if (!plain)
			return false;
	}
	return true;
}

/* Returns true if a device is asked for all that a path needs: if it already has the columns. */
static bool
hg_aggregate_asks_device(PlannerInfo *root, const HgAggregatePath *path, double groups)
{
	const HgJoinPath *join = hg_path_join(linitial(path->custom.custom_paths));
	List *exprs;

	return hg_aggregate_may_ask_device(root, path, join, groups, &exprs) &&
		   (exprs == NIL || hg_graph_ask_columns(root, join, exprs));
}

/* Returns the number of aggregates whose states are of type internal. */
static int
hg_count_internal(const HgAggregatePath *path)
{
	int ninternal = 0;
	ListCell *lc;

	foreach (lc, path->aggrefs)
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);

		ninternal += aggref->aggtranstype == INTERNALOID &&
					 hg_aggregate_kind(aggref->aggfnoid) == HG_AGGREGATE_TRANSITION;
	}
	return ninternal;
}

/* Returns the number of aggregates that take rows of the input, not distinct values. */
static int
hg_count_of_rows(const HgAggregatePath *path)
{
	int count = 0;
	ListCell *lc;

	foreach (lc, path->aggrefs)
		count += lfirst_node(Aggref, lc)->aggdistinct == NIL;
	return count;
}

/*
 * Estimates the bytes of a group: a row, its states, and another row for each value that a state
 * stores beyond the first one.
 */
static inline double
hg_group_bytes(const HgAggregatePath *path, int row_width, int nvalues)
{
	return row_width * Max(nvalues, 1.0) + HG_GROUP_BYTES +
		   list_length(path->aggrefs) * 2.0 * sizeof(Datum) +
		   hg_count_internal(path) * HG_INTERNAL_STATE_BYTES;
}

/* Returns the number of states of a group that store a value outside a Datum. */
static int
hg_count_values(const HgAggregatePath *path)
{
	int nvalues = 0;
	ListCell *lc;

	foreach (lc, path->aggrefs)
		nvalues += !get_typbyval(lfirst_node(Aggref, lc)->aggtranstype);
	return nvalues;
}

/* Returns the bytes of groups with states; exactly if they may be more than limit. */
static double
hg_groups_bytes(const HgAggregatePath *path, double groups, double limit)
{
	int width = ((const Path *) linitial(path->custom.custom_paths))->pathtarget->width;
	double bytes = groups * hg_group_bytes(path, width, list_length(path->aggrefs));

	/* the types of states are only looked up if they may matter */
	return bytes > limit ? groups * hg_group_bytes(path, width, hg_count_values(path)) : bytes;
}

/*
 * Returns the cost of partitioning rows of row_bytes on disk until each partition's groups, which
 * take these bytes together, fit in limit bytes of memory.
 */
static Cost
hg_aggregate_disk_cost(double rows, double row_bytes, double bytes, double limit)
{
	double pages = ceil(rows * row_bytes / BLCKSZ);
	double files = 0;
	double partitions = 1;
	double written;
	int level;

	if (bytes <= limit)
		return 0;
	written = 1 - limit / bytes;
	/* buffers and hash tables take part of the memory */
	for (level = 0; level < HG_SPILL_LEVELS && bytes > limit / 2; level++)
	{
		const int bits = hg_aggregate_spill_bits(bytes, (uint64) limit, 0);

		bytes = ldexp(bytes, -bits);
		partitions = ldexp(partitions, bits);
		files += partitions;
	}
	return level * written * pages * HG_GROUPS_PAGE * seq_page_cost +
		   Min(files, rows) * HG_GROUPS_FILE * random_page_cost;
}

/*
 * Returns the cost of making the groups of a set that have no states, of rows or of other such
 * groups. Only their keys go to disk.
 */
static Cost
hg_keys_only_cost(PlannerInfo *root, const HgAggregatePath *path, const HgPlannedSet *set,
				  double limit)
{
	List *exprs = get_sortgrouplist_exprs(path->group_clause, root->processed_tlist);
	PathTarget *keys = create_empty_pathtarget();
	int column = -1;
	double width;

	while ((column = bms_next_member(set->columns, column)) >= 0)
	{
		int distinct = column - list_length(exprs);
		Expr *expr =
			distinct < 0
				? list_nth(exprs, column)
				: (Expr *) ((const HgDistinct *) list_nth(path->distinct, distinct))->column;

		add_column_to_pathtarget(keys, expr, 0);
	}
	width = set_pathtarget_cost_width(root, keys)->width;
	return set->rows * hg_operator_cost(list_length(keys->exprs) * HG_GROUP_KEY_NS) +
		   hg_aggregate_disk_cost(set->rows, width + HG_GROUP_ROW_BYTES,
								  set->groups * (width + HG_GROUP_BYTES), limit);
}

/* Returns the number of sets whose groups processes do not share: 1 at least. */
static int
hg_count_own_sets(const HgAggregatePath *path)
{
	int count = 0;
	ListCell *lc;

	foreach (lc, path->sets)
		count += !((const HgPlannedSet *) lfirst(lc))->shared;
	return Max(count, 1);
}

/*
 * Returns the cost of the groups of the further sets, which share the memory. Those with states
 * are combined, and are written with packed states.
 */
static Cost
hg_aggregate_sets_cost(PlannerInfo *root, const HgAggregatePath *path, const Path *input)
{
	double row_bytes = input->pathtarget->width + HG_GROUP_ROW_BYTES +
					   list_length(path->aggrefs) * sizeof(Datum) +
					   hg_count_internal(path) * HG_PACKED_STATE_BYTES;
	double share = (double) get_hash_memory_limit() / hg_count_own_sets(path);
	double combining = list_length(path->aggrefs) * HG_AGGREGATE_NS +
					   hg_count_internal(path) * HG_COMBINE_PACKED_NS;
	Cost cost = 0;
	ListCell *lc;

	foreach (lc, path->sets)
	{
		const HgPlannedSet *set = lfirst(lc);
		double combined;

		if (set->keys_only)
			cost += hg_keys_only_cost(root, path, set, share);
		if (set->keys_only || set->parents == NIL)
			continue;
		/* the groups of the other parents have no states */
		combined = ((const HgPlannedSet *) linitial(set->parents))->groups;
		cost += set->rows * hg_operator_cost(bms_num_members(set->columns) * HG_GROUP_KEY_NS) +
				combined * hg_operator_cost(combining) +
				(set->rows - combined) * hg_operator_cost(HG_AGGREGATE_NS) +
				hg_aggregate_disk_cost(set->rows, row_bytes,
									   hg_groups_bytes(path, set->groups, share), share);
		if (set->shared)
			cost += ceil(set->rows * row_bytes / BLCKSZ) * HG_GROUPS_PAGE * seq_page_cost +
					HG_SHARED_FILES * HG_GROUPS_FILE * random_page_cost;
	}
	return cost;
}

/* Returns the number of groups that are returned, before HAVING. */
static double
hg_aggregate_returned(const HgAggregatePath *path, double groups)
{
	ListCell *lc;

	if (path->sets == NIL)
		return groups;
	groups = 0;
	foreach (lc, path->sets)
		if (((const HgPlannedSet *) lfirst(lc))->returned)
			groups += ((const HgPlannedSet *) lfirst(lc))->groups;
	return groups;
}

void
hg_aggregate_cost(PlannerInfo *root, HgAggregatePath *path, double groups)
{
	Path *out = &path->custom.path;
	const Path *input = linitial(path->custom.custom_paths);
	int nkeys = path->sets != NIL
					? bms_num_members(((const HgPlannedSet *) linitial(path->sets))->columns)
					: list_length(path->group_clause);
	int naggs = list_length(path->aggrefs);
	bool cached = hg_path_is_cached(input);
	bool counted =
		(cached || hg_path_join(input) != NULL) && nkeys == 0 && hg_aggrefs_count(path->aggrefs);
	bool asks = hg_aggregate_asks_device(root, path, groups);
	double memory = (double) get_hash_memory_limit();
	Cost startup = input->total_cost - hg_path_saving(input);
	Cost run;
	QualCost having;
	double returned = hg_aggregate_returned(path, groups);
	ListCell *lc;

	path->groups = groups;
	out->rows = returned;
	if (path->having != NIL)
		out->rows = clamp_row_est(returned *
								  clauselist_selectivity(root, path->having, 0, JOIN_INNER, NULL));
	hg_path_set_disabled_nodes(out, hg_path_disabled_nodes(input));
	if (hg_force)
	{
		out->startup_cost = 0;
		out->total_cost = out->parallel_workers > 0 ? 0 : HG_FORCED_TOTAL;
		if (hg_partitions_compete(input->parent))
			out->total_cost += input->total_cost;
		hg_path_set_disabled_nodes(out, 0);
		return;
	}

	startup = Max(startup - hg_columns_saving(input, counted), 0);
	if (!asks && !counted)
		startup += input->rows * hg_operator_cost(nkeys * HG_GROUP_KEY_NS +
												  hg_count_of_rows(path) * HG_AGGREGATE_NS);
	foreach (lc, path->aggrefs)
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);
		QualCost inside;

		cost_qual_eval_node(&inside, (Node *) aggref->args, root);
		if (cached && hg_aggref_is_arithmetic(aggref))
			inside.per_tuple *= HG_COLUMN_ARGUMENT_LEFT;
		startup += inside.startup + inside.per_tuple * input->rows;
		cost_qual_eval_node(&inside, (Node *) aggref->aggfilter, root);
		if (cached && aggref->aggfilter != NULL &&
			hg_find_params((Node *) aggref->aggfilter, PARAM_EXEC) == NULL &&
			hg_column_qual_takes((Node *) aggref->aggfilter))
			inside.per_tuple *= HG_COLUMN_ARGUMENT_LEFT;
		startup += inside.startup + inside.per_tuple * input->rows;
	}
	/* the device does all of the above */
	if (asks)
		startup = hg_path_join(input)->asked;
	startup +=
		hg_workers_cost(out->parent, out->parallel_workers, asks ? 0 : hg_workers_priced(input));

	startup += hg_aggregate_disk_cost(input->rows, input->pathtarget->width + HG_GROUP_ROW_BYTES,
									  hg_groups_bytes(path, groups, memory), memory);

	cost_qual_eval(&having, path->having, root);
	startup += having.startup + out->pathtarget->cost.startup;
	run = returned * (cpu_tuple_cost + naggs * cpu_operator_cost + having.per_tuple) +
		  out->rows * out->pathtarget->cost.per_tuple;
	/* sets with a DISTINCT column, and those of a process that shares groups, are not returned */
	if (path->distinct != NIL || hg_count_own_sets(path) < list_length(path->sets))
		startup += hg_aggregate_sets_cost(root, path, input);
	else
		run += hg_aggregate_sets_cost(root, path, input);
	out->startup_cost = startup;
	out->total_cost = startup + run;
	if ((nkeys > 0 || path->distinct != NIL) && !enable_hashagg)
		hg_path_disable(out);
}
