/*-------------------------------------------------------------------------
 *
 * hg_input_cost.c
 *	  How much less the inputs of our nodes cost them than they cost core.
 *
 * Our joins and aggregations read their input faster than core does. The saving is subtracted from
 * the input's cost. For a table, or a join of ours, in the constants of engine/hg_cost_table.h:
 *
 *	table		HG_SCAN_SAVED_NS for each row, and HG_COLUMN_QUAL_SAVED of quals that are
 *				evaluated over columns: over cached ones of any kind (an IN of five takes less
 *				than a third of the time by rows), over pages only a comparison of by-value values
 *				(other access methods than heap are priced alike)
 *	pages		HG_PREFETCH_SAVED of each page of a table that fits shared buffers
 *	resident	the cost of pages and HG_CACHED_SAVED_NS for each row, for the share of blocks
 *				read from cached columns: the rest pays for binning, building and matching.
 *				HG_FORM_CACHED_NS are not saved if a clause is not evaluated over columns, because
 *				rows are formed of columns for it
 *	computed	HG_FORM_CACHED_NS for each row that passes are not saved if a scan computes
 *				expressions, because rows are formed for them
 *	subqueries	what core charges for running an EXISTS for each row, if it is hashed
 *	join		the cost of forming its rows, if columns are returned
 *	columns		HG_COLUMNS_SAVED_NS for each row of the cached share, if rows are aggregated
 *				without a join, or HG_COUNTED_SAVED_NS if they are only counted
 *
 * The saving never exceeds the input's cost. Hints that force a path set its cost to 0, as
 * pg_hint_plan does for parallel scans, and a negative cost would fall with each rescan.
 * hg_join_cost.c has the cost of joining, and the units.
 *
 * WORKERS. Core charges parallel_setup_cost, 1000 units by default. That was 10 ms when it was
 * chosen, but is 2 to 3 ms in the units of our nodes, which are several times faster. Starting
 * workers takes longer. Measured on two shared cores, count(*) of a join of 20,000 rows that one
 * process does in 0.8 ms; minimum and median of 25 runs:
 *
 *		workers			1		2		4		8
 *		least, ms		7.3		10.2	-		15.1
 *		median, ms		10.0	11.9	22		29
 *
 * A partial path of ours therefore costs HG_WORKERS_SETUP, and HG_WORKER_SETUP for each worker.
 * It is part of the path's cost because core makes the Gather. Core's partial paths, whose units
 * take longer, keep their cost.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "access/sysattr.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "batch/hg_projection.h"
#include "batch/hg_scan_qual.h"
#include "executor/join/hg_join_cover.h"
#include "planner/hg_join_plan.h"
#include "planner/hg_path_cost.h"
#include "planner/hg_paths.h"
#include "planner/hg_planner_run.h"

/* ---------------------------------------------------------------------
 * The range of a join's keys, as far as statistics tell
 *
 * ANALYZE stores the bounds of a column in its histogram and most common values. They come from a
 * sample, so some keys lie beyond them: code that must know reads the keys.
 * ---------------------------------------------------------------------
 */

/* A share of distinct values that counts as all distinct, because ANALYZE estimates. */
#define HG_ALL_DISTINCT 0.95

/* Converts a value to an integer; false if its type is not integer-like. */
static bool
hg_key_integer(Oid type, Datum value, double *integer)
{
	switch (type)
	{
		case INT2OID:
			*integer = DatumGetInt16(value);
			return true;
		case INT4OID:
			*integer = DatumGetInt32(value);
			return true;
		case INT8OID:
			*integer = (double) DatumGetInt64(value);
			return true;
		case OIDOID:
			*integer = DatumGetObjectId(value);
			return true;
		case DATEOID:
			*integer = DatumGetDateADT(value);
			return true;
		default:
			return false;
	}
}

/* Widens bounds by the values of a slot; false if it has none. */
static bool
hg_key_widen(const VariableStatData *variable, int kind, double *least, double *greatest)
{
	AttStatsSlot slot;
	bool found = false;

	if (!get_attstatsslot(&slot, variable->statsTuple, kind, InvalidOid, ATTSTATSSLOT_VALUES))
		return false;
	for (int i = 0; i < slot.nvalues; i++)
	{
		double value;

		/* a histogram is sorted */
		if (kind == STATISTIC_KIND_HISTOGRAM && i > 0 && i < slot.nvalues - 1)
			continue;
		if (!hg_key_integer(slot.valuetype, slot.values[i], &value))
			break;
		*least = Min(*least, value);
		*greatest = Max(*greatest, value);
		found = true;
	}
	free_attstatsslot(&slot);
	return found;
}

/* Returns true if ANALYZE has seen no value twice, for which stadistinct has a special value. */
static bool
hg_key_saw_none_twice(const VariableStatData *variable)
{
	Form_pg_statistic stats = (Form_pg_statistic) GETSTRUCT(variable->statsTuple);

	return stats->stadistinct <= (float4) - (1.0 - stats->stanullfrac);
}

static bool
hg_key_estimate(PlannerInfo *root, Node *key, HgKeyRange *range)
{
	VariableStatData variable;
	double least = HUGE_VAL;
	double greatest = -HUGE_VAL;
	bool known = false;
	bool is_default;

	examine_variable(root, key, 0, &variable);
	/* this calls no user-defined operator on values of rows that the user may not see */
	if (HeapTupleIsValid(variable.statsTuple) && variable.rel != NULL)
	{
		known = hg_key_widen(&variable, STATISTIC_KIND_HISTOGRAM, &least, &greatest);
		known |= hg_key_widen(&variable, STATISTIC_KIND_MCV, &least, &greatest);
	}
	if (known)
	{
		range->size = greatest - least + 1;
		range->repeats = !variable.isunique && get_variable_numdistinct(&variable, &is_default) <
												   HG_ALL_DISTINCT * variable.rel->tuples;
		range->unique = variable.isunique || hg_key_saw_none_twice(&variable);
		range->nulls = ((Form_pg_statistic) GETSTRUCT(variable.statsTuple))->stanullfrac > 0;
	}
	ReleaseVariableStats(variable);
	return known;
}

/* A cached range, because statistics are arrays that must be deconstructed each time. */
typedef struct HgFoundRange
{
	HgRunKey key; /* a clause, and whether it is its left operand */
	bool known;
	HgKeyRange range;
} HgFoundRange;

#define HG_FOUND_RANGES_BITS 7

static HgFoundRange hg_found_ranges[1 << HG_FOUND_RANGES_BITS];

bool
hg_key_range(PlannerInfo *root, const RestrictInfo *clause, bool left, HgKeyRange *range)
{
	HgFoundRange fresh = {.key = {hg_planner_run_find(root, clause), clause, left}};
	bool known = false;
	HgFoundRange *found = &fresh;

	if (fresh.key.run != 0)
		found = hg_planner_run_entry(hg_found_ranges, sizeof(HgFoundRange), HG_FOUND_RANGES_BITS,
									 fresh.key, &known);
	if (!known)
	{
		fresh.known = hg_key_estimate(
			root, left ? get_leftop(clause->clause) : get_rightop(clause->clause), &fresh.range);
		*found = fresh;
	}
	*range = found->range;
	return found->known;
}

double
hg_parallel_divisor(const Path *path)
{
	return hg_join_processes(path->parallel_workers);
}

/* Returns the cost of starting workers beyond parallel_setup_cost. */
static Cost
hg_start_workers_cost(int workers)
{
	return workers > 0 ? parallel_setup_cost * (HG_WORKERS_SETUP + workers * HG_WORKER_SETUP) : 0;
}

/* Returns the input whose rows a path returns or groups, the outer one of a join; or NULL. */
static const Path *
hg_driving_input(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_NestPath:
		case T_MergePath:
		case T_HashPath:
			return ((const JoinPath *) path)->outerjoinpath;
		case T_CustomPath:
			return ((const CustomPath *) path)->custom_paths != NIL
					   ? linitial(((const CustomPath *) path)->custom_paths)
					   : NULL;
		case T_AggPath:
		case T_GroupPath:
		case T_IncrementalSortPath:
		case T_MaterialPath:
		case T_MemoizePath:
		case T_ProjectionPath:
		case T_SortPath:
		case T_SubqueryScanPath:
			return hg_path_input(path);
		default:
			return NULL;
	}
}

Cost
hg_workers_priced(const Path *path)
{
	for (; path != NULL && path->parallel_workers > 0; path = hg_driving_input(path))
		if (hg_path_join(path) != NULL)
			return IS_OTHER_REL(path->parent) ? 0 : hg_start_workers_cost(path->parallel_workers);
	return 0;
}

Cost
hg_workers_cost(const RelOptInfo *rel, int workers, Cost priced)
{
	return workers == 0 || IS_OTHER_REL(rel) ? 0 : hg_start_workers_cost(workers) - priced;
}

/* Returns true if a target consists of plain columns. */
static bool
hg_target_is_plain(const PathTarget *target)
{
	ListCell *lc;

	foreach (lc, target->exprs)
		if (!IsA(lfirst(lc), Var))
			return false;
	return true;
}

/*
 * Returns true if our nodes compute the target of a scan: hg_projection.h says which target lists
 * are left to core.
 */
static bool
hg_target_is_computed(const PathTarget *target, Index relid)
{
	Bitmapset *offset_attnos = NULL;
	int first;

	if (hg_target_is_plain(target))
		return true;
	if (!hg_projection_may_skip(target->exprs))
		return false;
	pull_varattnos((Node *) target->exprs, relid, &offset_attnos);
	first = bms_next_member(offset_attnos, -1);
	bms_free(offset_attnos);
	return first < 0 || first + FirstLowInvalidHeapAttributeNumber > 0;
}

/* Returns what a path's rows cost to form because its target has expressions. */
static Cost
hg_computed_cost(const Path *path)
{
	return hg_target_is_plain(path->pathtarget) ? 0 : hg_tuple_cost(HG_FORM_CACHED_NS) * path->rows;
}

/* Returns the rows of a sequential scan's table, for each process that shares it. */
static double
hg_scan_rows(const Path *path)
{
	return path->parent->tuples / (path->parallel_workers > 0 ? hg_parallel_divisor(path) : 1);
}

/* Returns what a sequential scan saves if it reads cached columns. */
static Cost
hg_resident_saving(const Path *path)
{
	const RelOptInfo *rel = path->parent;
	double share = hg_scan_share(rel);
	double page_cost;

	if (share == 0)
		return 0;
	get_tablespace_page_costs(rel->reltablespace, NULL, &page_cost);
	return share *
		   (page_cost * rel->pages + hg_tuple_cost(HG_CACHED_SAVED_NS) * hg_scan_rows(path));
}

/*
 * Returns the share of a table's rows for which evaluating a clause over columns saves time. Over
 * pages only a comparison of by-value values does.
 */
static double
hg_qual_share(const RelOptInfo *rel, const Expr *clause)
{
	ListCell *lc;

	if (!IsA(clause, OpExpr))
		return hg_scan_share(rel);
	foreach (lc, ((const OpExpr *) clause)->args)
		if (!get_typbyval(exprType(lfirst(lc))))
			return hg_scan_share(rel);
	return 1;
}

/* How many parts of a long clause are checked for evaluation over columns. */
#define HG_QUAL_SAMPLE 8

/* Returns a clause, or the first parts of a long one, which usually resemble the others. */
static Node *
hg_qual_sample(Expr *clause)
{
	const BoolExpr *all = (const BoolExpr *) clause;

	if (!IsA(clause, BoolExpr) || list_length(all->args) <= HG_QUAL_SAMPLE)
		return (Node *) clause;
	return (Node *) makeBoolExpr(all->boolop, list_copy_head(all->args, HG_QUAL_SAMPLE), -1);
}

/* What a row saves if EXISTS subqueries are hashed; rows is the number of rows. */
typedef struct HgHashedSubplans
{
	double rows;
	Cost saving;
} HgHashedSubplans;

/*
 * Adds what a row of a whole table saves because an EXISTS is hashed: core prices the alternative
 * that runs the subquery for each row, and takes the other one if the plan has many rows.
 */
static bool
hg_hashed_subplans_walker(Node *node, HgHashedSubplans *hashed)
{
	if (node == NULL)
		return false;
	if (IsA(node, AlternativeSubPlan))
	{
		const List *subplans = ((const AlternativeSubPlan *) node)->subplans;
		const SubPlan *each = linitial_node(SubPlan, subplans);
		const SubPlan *once = lsecond_node(SubPlan, subplans);

		hashed->saving += Max(each->startup_cost + each->per_call_cost - once->per_call_cost -
								  once->startup_cost / Max(hashed->rows, 1),
							  0);
		return false;
	}
	return expression_tree_walker(node, hg_hashed_subplans_walker, hashed);
}

/*
 * Returns what a row of a table saves for clauses evaluated over columns, minus what others cost
 * if it is read from cached columns.
 */
static Cost
hg_qual_saving(const RelOptInfo *rel)
{
	Cost row = 0;
	bool formed = false;
	ListCell *lc;

	foreach (lc, rel->baserestrictinfo)
	{
		const RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (hg_column_qual_takes(hg_qual_sample(rinfo->clause)))
		{
			QualCost cost;

			cost_qual_eval_node(&cost, (Node *) rinfo, NULL);
			row += HG_COLUMN_QUAL_SAVED * cost.per_tuple * hg_qual_share(rel, rinfo->clause);
		}
		else
		{
			HgHashedSubplans hashed = {rel->tuples, 0};

			hg_hashed_subplans_walker((Node *) rinfo->clause, &hashed);
			row += hashed.saving;
			formed = true;
		}
	}
	return formed ? row - hg_tuple_cost(HG_FORM_CACHED_NS) * hg_scan_share(rel) : row;
}

/* Returns what a sequential scan saves if it is read by pages or from cached columns. */
static Cost
hg_scan_saving(const Path *path)
{
	Cost row = hg_tuple_cost(HG_SCAN_SAVED_NS);

	if (!hg_target_is_computed(path->pathtarget, path->parent->relid))
		return 0;
	row += hg_scan_price_qual(path->parent, hg_qual_saving);
	return row * hg_scan_rows(path) + hg_resident_saving(path) - hg_computed_cost(path);
}

/* Returns the path below a projection that only chooses columns; or the path itself. */
static const Path *
hg_unprojected_path(const Path *path)
{
	if (IsA(path, ProjectionPath) && ((const ProjectionPath *) path)->dummypp &&
		hg_target_is_plain(path->pathtarget))
		return ((const ProjectionPath *) path)->subpath;
	return path;
}

/*
 * Returns the path below a path whose target our nodes compute: below the projection of a scan, or
 * below a subquery scan without quals. Returns NULL for other paths.
 */
static const Path *
hg_computed_path(const Path *path)
{
	const Path *below;

	if (IsA(path, SubqueryScanPath) && path->parent->baserestrictinfo == NIL &&
		path->param_info == NULL)
		below = ((const SubqueryScanPath *) path)->subpath;
	else if (IsA(path, ProjectionPath) && ((const ProjectionPath *) path)->dummypp &&
			 (((const ProjectionPath *) path)->subpath->pathtype == T_SeqScan ||
			  ((const ProjectionPath *) path)->subpath->pathtype == T_SubqueryScan))
		below = ((const ProjectionPath *) path)->subpath;
	else
		return NULL;
	return hg_target_is_computed(path->pathtarget, path->parent->relid) ? below : NULL;
}

/* Returns what the scans of a path, or of the paths that it appends, save with cached columns. */
static Cost
hg_scans_resident_saving(const Path *path)
{
	const Path *below;
	Cost saving = 0;
	ListCell *lc;

	path = hg_unprojected_path(path);
	if (path->pathtype == T_SeqScan)
		return hg_target_is_computed(path->pathtarget, path->parent->relid)
				   ? hg_resident_saving(path)
				   : 0;
	if (IsA(path, AppendPath))
		foreach (lc, ((const AppendPath *) path)->subpaths)
			saving += hg_scans_resident_saving(lfirst(lc));
	else if ((below = hg_computed_path(path)) != NULL)
		saving = hg_scans_resident_saving(below);
	return saving;
}

/* Returns what a join's path saves if it returns columns. */
static Cost
hg_joined_saving(const Path *path)
{
	const HgJoinPath *join = hg_path_join(path);
	ListCell *lc;

	/* a WHERE above an outer join needs rows */
	if (join == NULL || hg_join_path_filters(join))
		return 0;
	foreach (lc, path->pathtarget->exprs)
		if (!IsA(lfirst(lc), Var) && !IsA(lfirst(lc), PlaceHolderVar))
			return 0;
	return hg_tuple_cost(HG_FORM_ROW_NS) * join->custom.path.rows;
}

/* Returns what reading a path saves compared to its cost for rows. */
static Cost
hg_rows_saving(const Path *path)
{
	const Path *first;
	const Path *below;
	Cost saving;

	path = hg_unprojected_path(path);
	if (path->pathtype == T_SeqScan)
		return hg_scan_saving(path);
	if (IsA(path, AppendPath))
	{
		if (((const AppendPath *) path)->subpaths == NIL)
			return 0;
		/* partitions, and branches of a UNION ALL, are alike except for their cached columns */
		first = linitial(((const AppendPath *) path)->subpaths);
		if (hg_rows_saving(first) <= 0)
			return 0;
		saving = hg_tuple_cost(HG_SCAN_SAVED_NS) * path->rows + hg_scans_resident_saving(path);
		return hg_target_is_plain(first->pathtarget)
				   ? saving
				   : saving - hg_tuple_cost(HG_FORM_CACHED_NS) * path->rows;
	}
	below = hg_computed_path(path);
	if (below == NULL)
		return hg_joined_saving(path);
	/* a join is read by rows there */
	return hg_path_join(below) == NULL ? hg_rows_saving(below) - hg_computed_cost(path) : 0;
}

Cost
hg_path_saving(const Path *path)
{
	Cost saving = hg_rows_saving(path);

	return Min(Max(saving, 0), path->total_cost);
}

bool
hg_path_reads_cache(const Path *path)
{
	return hg_scans_resident_saving(path) > 0;
}

bool
hg_path_is_cached(const Path *path)
{
	ListCell *lc;

	path = hg_unprojected_path(path);
	if (path->pathtype == T_SeqScan)
		return path->param_info == NULL && hg_target_is_plain(path->pathtarget) &&
			   hg_scan_share(path->parent) > 0;
	if (IsA(path, AppendPath))
		foreach (lc, ((const AppendPath *) path)->subpaths)
			if (hg_path_is_cached(lfirst(lc)))
				return true;
	return false;
}

Cost
hg_columns_saving(const Path *path, bool counted)
{
	Cost saving = 0;
	ListCell *lc;

	path = hg_unprojected_path(path);
	if (IsA(path, AppendPath))
		foreach (lc, ((const AppendPath *) path)->subpaths)
			saving += hg_columns_saving(lfirst(lc), counted);
	else if (hg_path_is_cached(path))
		saving =
			hg_scan_share(path->parent) * hg_scan_rows(path) *
			hg_tuple_cost(counted && path->parent->baserestrictinfo == NIL ? HG_COUNTED_SAVED_NS
																		   : HG_COLUMNS_SAVED_NS);
	return saving;
}

/* Returns what prefetching a table's pages saves. */
static Cost
hg_pages_saving(const Path *path)
{
	const RelOptInfo *rel = path->parent;
	double page_cost;

	if (path->pathtype != T_SeqScan || rel->pages > (BlockNumber) NBuffers)
		return 0;
	get_tablespace_page_costs(rel->reltablespace, NULL, &page_cost);
	return (1 - hg_scan_share(rel)) * HG_PREFETCH_SAVED * page_cost * rel->pages;
}

Cost
hg_least_scan_cost(const Path *scan)
{
	const RelOptInfo *rel = scan->parent;
	double page_cost;

	if (hg_scan_share(rel) > 0)
		return 0;
	get_tablespace_page_costs(rel->reltablespace, NULL, &page_cost);
	return page_cost * rel->pages - hg_pages_saving(scan);
}

Cost
hg_scan_gain(const Path *scan)
{
	Cost gain = hg_path_saving(scan) + hg_pages_saving(scan);

	return Min(gain, scan->total_cost);
}

/* Returns HgInputCost.feared_rows of a path. */
static double
hg_feared_rows(const PlannerInfo *root, const Path *path)
{
	double most = 0;
	int relid = -1;

	while ((relid = bms_next_member(path->parent->relids, relid)) >= 0)
		if (relid < root->simple_rel_array_size && root->simple_rel_array[relid] != NULL)
			most = Max(most, root->simple_rel_array[relid]->tuples);
	return sqrt(path->rows * Max(path->rows, most / hg_parallel_divisor(path)));
}

void
hg_input_cost(const PlannerInfo *root, Path *path, HgInputCost *input)
{
	input->path = path;
	input->cost = path->total_cost - hg_scan_gain(path);
	input->workers = hg_workers_priced(path);
	input->graph = hg_scan_has_graph(path->parent);
	/* covered rows are not read */
	input->least =
		input->graph
			? 0
			: input->cost + path->rows * hg_operator_cost(HG_PRICED_ROW_NS + HG_PRICED_KEY_NS);
	input->joined = hg_path_join(path) != NULL;
	input->feared_rows = hg_feared_rows(root, path);
}
