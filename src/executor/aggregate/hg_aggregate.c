/*-------------------------------------------------------------------------
 *
 * hg_aggregate.c
 *	  The aggregate node: Custom Scan (HashGraphAggregate).
 *
 * The node stands above any plan.  It aggregates the batches of a join of this extension, and of
 * the scan of a table or its partitions, without forming rows.  Above the branches of a set
 * operation it groups their rows by all columns (planner/hg_set_operation_path.c).  It is a node of
 * its own, and not a mode of the join: a join evaluates expressions over its inputs' columns, and
 * this node over groups and results.  Each has its own scan slot, EXPLAIN shows both, and any
 * number of joins can be below (hg_join_source.c).
 *
 *	READ			Finds or makes the groups of all rows (hg_aggregate_groups.c), and advances
 *					each aggregate's state by a loop over a column (hg_aggregate_advance.c).
 *	RETURN			Returns a row for each group: its columns and results in the scan slot,
 *					filtered by HAVING and projected.  A sort above may reject groups first.
 *					INTERSECT ALL and EXCEPT ALL may return a group several times.
 *	NEXT_PARTITION	Aggregates the rows of a partition, whose groups did not fit into memory.
 *	NEXT_SET		Goes on with the groups of the next grouping set, which were combined from
 *					returned ones (hg_aggregate_sets.c).
 *
 * If a device joins, it can make groups of the join's rows itself (hg_aggregate_reduce.c).
 *
 * Without GROUP BY there is one group, even for no rows.  If only rows are counted, the join
 * returns their number without producing matches, and the scan of a cached table adds the row
 * counts of its blocks.
 *
 * MEMORY.  Groups may take work memory.  When it is full, no more groups are made: rows of
 * existing groups are still aggregated, and all others go to temporary files, partitioned by the
 * hash of their keys.  When all rows are read, the groups in memory are complete and are returned.
 * Then the partitions are read one by one, as if each were the input; one with too many groups is
 * partitioned again.  Below the last level of partitions memory is exceeded, because the rows have
 * the same hash.
 *
 * PARALLEL.  Below a Gather each process aggregates its part of the input.  Either core's Finalize
 * Aggregate combines the states that the processes return, or the processes share the groups, and
 * each returns some of them (hg_aggregate_shared.h).
 *
 * Groups and states live in contexts of their own, which are reset for each partition.  Temporary
 * files belong to the resource owner.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "backend/hg_library.h"
#include "batch/hg_bound_params.h"
#include "executor/aggregate/hg_aggregate.h"
#include "executor/aggregate/hg_aggregate_advance.h"
#include "executor/aggregate/hg_aggregate_result.h"
#include "executor/aggregate/hg_aggregate_state.h"
#include "executor/join/hg_join_explain.h"
#include "executor/join/hg_join_rows.h"
#include "executor/join/hg_join_source.h"

/* The ExplainCustomScan callback of the aggregate node. */
extern void hg_aggregate_explain(CustomScanState *node, List *ancestors, ExplainState *es);

/* ---------------------------------------------------------------------
 * EXPLAIN of the aggregate node
 * ---------------------------------------------------------------------
 */

static const HgBlockLabels hg_aggregate_block_labels = {"Resident Blocks", "Heap Blocks",
														"Not Served"};

/* Returns the names of the group columns. */
static List *
hg_explain_key_names(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const CustomScan *cscan = (const CustomScan *) node->ss.ps.plan;
	List *column_indexes = list_nth(cscan->custom_private, HG_AGGREGATE_KEYS);
	List *context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, ancestors);
	bool use_prefix = hg_explain_has_prefix(es);
	List *names = NIL;
	ListCell *lc;

	foreach (lc, column_indexes)
	{
		const TargetEntry *tle =
			list_nth_node(TargetEntry, cscan->custom_scan_tlist, lfirst_int(lc));

		names = lappend(names, deparse_expression((Node *) tle->expr, context, use_prefix, true));
	}
	return names;
}

/* Returns the names of the DISTINCT columns, which follow those of the group columns, each once. */
static List *
hg_explain_distinct_names(const CustomScan *cscan, const List *names, int ngrouped)
{
	List *keys = list_nth(cscan->custom_private, HG_AGGREGATE_KEYS);
	List *distinct = NIL;
	List *known = NIL;

	for (int k = ngrouped; k < list_length(keys); k++)
	{
		if (!list_member_int(known, list_nth_int(keys, k)))
			distinct = lappend(distinct, list_nth(names, k));
		known = lappend_int(known, list_nth_int(keys, k));
	}
	return distinct;
}

/* Returns true if a plan returns the groups of one set, whose columns are a query's GROUP BY. */
static bool
hg_explain_is_one_set(const List *returned)
{
	int count = 0;
	ListCell *lc;

	foreach (lc, returned)
		count += lfirst_int(lc);
	return count <= 1;
}

/* Shows which set operation the node does, with the words of core's node. */
static void
hg_explain_command(const CustomScan *cscan, ExplainState *es)
{
	static const char *const names[] = {[SETOPCMD_INTERSECT] = "Intersect",
										[SETOPCMD_INTERSECT_ALL] = "Intersect All",
										[SETOPCMD_EXCEPT] = "Except",
										[SETOPCMD_EXCEPT_ALL] = "Except All"};
	int command = intVal(list_nth(cscan->custom_private, HG_AGGREGATE_COMMAND));

	if (command >= 0)
		ExplainPropertyText("Set Operation", names[command], es);
}

/*
 * Shows the group columns, and those of each grouping set that is returned, as core does.  Shows
 * the columns whose distinct values are aggregated, too.
 */
static void
hg_explain_keys(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const CustomScan *cscan = (const CustomScan *) node->ss.ps.plan;
	List *names = hg_explain_key_names(node, ancestors, es);
	List *sets = list_nth(cscan->custom_private, HG_AGGREGATE_SETS);
	List *returned = list_nth(cscan->custom_private, HG_AGGREGATE_SET_RETURNED);
	int ngrouped = intVal(list_nth(cscan->custom_private, HG_AGGREGATE_GROUP_KEYS));
	List *distinct = hg_explain_distinct_names(cscan, names, ngrouped);
	ListCell *lc;
	ListCell *column;

	if (distinct != NIL)
		ExplainPropertyList("Distinct Key", distinct, es);
	names = list_truncate(names, ngrouped);
	if (hg_explain_is_one_set(returned))
	{
		if (names != NIL)
			ExplainPropertyList("Group Key", names, es);
		return;
	}
	ExplainOpenGroup("Grouping Sets", "Grouping Sets", false, es);
	ExplainOpenGroup("Grouping Set", NULL, true, es);
	ExplainOpenGroup("Group Keys", "Group Keys", false, es);
	foreach (lc, sets)
	{
		List *of_set = NIL;

		if (list_nth_int(returned, foreach_current_index(lc)) == 0)
			continue;
		foreach (column, (List *) lfirst(lc))
			of_set = lappend(of_set, list_nth(names, lfirst_int(column)));
		if (of_set == NIL && es->format == EXPLAIN_FORMAT_TEXT)
			ExplainPropertyText("Group Key", "()", es);
		else
			ExplainPropertyListNested("Group Key", of_set, es);
	}
	ExplainCloseGroup("Group Keys", "Group Keys", false, es);
	ExplainCloseGroup("Grouping Set", NULL, true, es);
	ExplainCloseGroup("Grouping Sets", "Grouping Sets", false, es);
}

void
hg_aggregate_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const HgAggregateState *state = (const HgAggregateState *) node;
	HgAggregateRecord record = hg_aggregate_current_record(state);

	hg_explain_command((const CustomScan *) node->ss.ps.plan, es);
	hg_explain_keys(node, ancestors, es);
	if (!es->analyze)
	{
		hg_explain_expected_blocks(state->source, &hg_aggregate_block_labels, es);
		return;
	}
	if (record.processes == 0)
		return;
	hg_explain_blocks(&hg_aggregate_block_labels, record.blocks, es);
	hg_explain_not_cached(state->source, &hg_aggregate_block_labels, es);
	if (record.reduced_rows > 0)
		ExplainPropertyUInteger("Rows Reduced on Device", NULL, record.reduced_rows, es);
	if (!state->grouped && state->sets.count == 1)
		return;
	if (record.processes > 1)
		ExplainPropertyInteger("Processes", NULL, record.processes, es);
	ExplainPropertyUInteger("Groups", NULL, record.groups, es);
	hg_explain_bytes("Memory Usage", record.memory_bytes, es);
	if (record.partitions == 0)
		return;
	ExplainPropertyUInteger("Partitions", NULL, record.partitions, es);
	hg_explain_bytes("Disk Usage", record.spilled_bytes, es);
}

/* For up to this number of groups the order of rows does not matter: a near cache holds them. */
#define HG_FEW_GROUPS 1000

/* ---------------------------------------------------------------------
 * Setting up
 * ---------------------------------------------------------------------
 */

/* Returns the batch's column for an index in the scan slot. */
static int
hg_aggregate_column(const HgAggregateState *state, int column_index)
{
	for (int c = 0; c < state->ncolumns; c++)
		if (state->attnos[c] == column_index + 1)
			return c;
	elog(ERROR, "an aggregate's column %d is not read", column_index + 1);
}

/* Sets columns[] to the batch's columns for a set of indexes; returns their number. */
static int
hg_aggregate_columns(const HgAggregateState *state, const Bitmapset *column_indexes, int *columns)
{
	int ncolumns = 0;
	int column_index = -1;

	while ((column_index = bms_next_member(column_indexes, column_index)) >= 0)
		columns[ncolumns++] = hg_aggregate_column(state, column_index);
	return ncolumns;
}

/* Initializes the argument of a function: a column if it is a Var, with or without relabeling. */
static void
hg_aggregate_begin_argument(HgAggregateState *state, HgFunction *function, Expr *argument)
{
	Expr *bare = argument;

	function->column = function->number = -1;
	function->argument = NULL;
	function->argument_byval = true;
	if (argument == NULL)
		return;
	get_typlenbyval(exprType((Node *) argument), &function->argument_len,
					&function->argument_byval);
	while (IsA(bare, RelabelType))
		bare = ((RelabelType *) bare)->arg;
	if (IsA(bare, Var))
		function->column = hg_aggregate_column(state, ((Var *) bare)->varattno - 1);
	else
		function->argument = ExecInitExpr(argument, &state->css.ss.ps);
	/* integer columns are read in place, and a counted column only for its NULLs */
	if (hg_function_takes_numbers(function) &&
		(function->column < 0 ||
		 (!function->argument_byval && function->kind != HG_AGGREGATE_COUNT)))
		function->number = hg_arithmetic_add(
			state->taking.arithmetic,
			(Expr *) hg_bind_params((Node *) argument, state->css.ss.ps.state, false));
}

/* Returns the index of a filter, which equal FILTER clauses share; -1: no filter. */
static int
hg_aggregate_filter(HgAggregateState *state, List **filters, Expr *filter)
{
	HgAggregateTaking *taking = &state->taking;
	ListCell *lc;

	if (filter == NULL)
		return -1;
	foreach (lc, *filters)
		if (equal(lfirst(lc), filter))
			return foreach_current_index(lc);
	*filters = lappend(*filters, filter);
	taking->filters[taking->nfilters] = ExecInitQual(make_ands_implicit(filter), &state->css.ss.ps);
	taking->column_filters[taking->nfilters] = hg_column_filter_create(
		(Expr *) hg_bind_params((Node *) filter, state->css.ss.ps.state, false),
		state->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor, state->ncolumns, state->attnos);
	return taking->nfilters++;
}

/*
 * Returns the result of an Aggref.  Uses a function with the same argument, filter and state if
 * there is one; otherwise adds a function, whose state is at *offset.
 */
static HgResult
hg_aggregate_begin_function(HgAggregateState *state, const Aggref *aggref, int distinct,
							List **arguments, Expr *argument, int filter, Size *offset)
{
	HgFunction *function = &state->functions[state->nfunctions];
	Size end = *offset;

	memset(function, 0, sizeof(HgFunction));
	hg_function_init(function, aggref, &end, state->states, state->row_context);
	function->distinct = distinct;
	for (int i = 0; i < state->nfunctions; i++)
		if (state->functions[i].filter == filter &&
			state->functions[i].distinct == function->distinct &&
			equal(list_nth(*arguments, i), argument) &&
			hg_function_has_state_of(&state->functions[i], function->kind))
			return (HgResult){&state->functions[i], function->kind};
	function->filter = filter;
	hg_aggregate_begin_argument(state, function, argument);
	*arguments = lappend(*arguments, argument);
	*offset = end;
	state->nfunctions++;
	return (HgResult){function, function->kind};
}

/* Initializes the functions; returns the size of their states. */
static Size
hg_aggregate_begin_functions(HgAggregateState *state)
{
	CustomScan *cscan = (CustomScan *) state->css.ss.ps.plan;
	List *arguments = list_nth(cscan->custom_exprs, HG_AGGREGATE_ARGUMENTS);
	List *filters = list_nth(cscan->custom_exprs, HG_AGGREGATE_FILTERS);
	List *distinct = list_nth(cscan->custom_private, HG_AGGREGATE_DISTINCT);
	int nresults = list_length(arguments);
	List *known_arguments = NIL;
	List *known_filters = NIL;
	Size offset = 0;

	state->nresults = nresults;
	state->results = palloc(Max(nresults, 1) * sizeof(HgResult));
	state->functions = palloc0(Max(nresults, 1) * sizeof(HgFunction));
	state->taking.filters = palloc0(Max(nresults, 1) * sizeof(ExprState *));
	state->taking.column_filters = palloc0(Max(nresults, 1) * sizeof(HgColumnFilter *));
	state->taking.arithmetic = hg_arithmetic_create(state->ncolumns, state->attnos);
	state->counts = !state->grouped && state->ncolumns == 0;
	for (int i = 0; i < nresults; i++)
	{
		TargetEntry *tle =
			list_nth_node(TargetEntry, cscan->custom_scan_tlist, state->first_result + i);
		int filter = hg_aggregate_filter(state, &known_filters, list_nth(filters, i));
		const HgFunction *function;

		state->results[i] = hg_aggregate_begin_function(state, castNode(Aggref, tle->expr),
														list_nth_int(distinct, i), &known_arguments,
														list_nth(arguments, i), filter, &offset);
		function = state->results[i].function;
		if (function->filter >= 0 || function->argument != NULL)
			state->counts = false;
	}
	hg_aggregate_begin_taking(&state->taking, state->ncolumns, state->nfunctions, state->functions);
	return offset;
}

/*
 * Initializes all keys, and the groups of the first set: its keys, which come first among them, and
 * the other columns that are returned.
 */
static void
hg_aggregate_begin_groups(HgAggregateState *state, const Bitmapset *returned, Size state_bytes)
{
	CustomScan *cscan = (CustomScan *) state->css.ss.ps.plan;
	List *column_indexes = list_nth(cscan->custom_private, HG_AGGREGATE_KEYS);
	List *equalities = list_nth(cscan->custom_private, HG_AGGREGATE_EQUALITIES);
	List *collations = list_nth(cscan->custom_private, HG_AGGREGATE_COLLATIONS);
	List *sets = list_nth(cscan->custom_private, HG_AGGREGATE_SETS);
	TupleDesc desc = ExecGetResultType(linitial(state->css.custom_ps));
	int nkeys = list_length(column_indexes);
	int nfirst = sets != NIL ? list_length(linitial(sets)) : nkeys;
	HgGroupKey *keys = palloc0(Max(nkeys, 1) * sizeof(HgGroupKey));
	int *columns = palloc((nkeys + state->ncolumns + 1) * sizeof(int));
	int nvalues = nfirst;
	Bitmapset *others = bms_copy(returned);

	for (int k = 0; k < nkeys; k++)
	{
		hg_group_key_init(&keys[k], list_nth_oid(equalities, k), list_nth_oid(collations, k));
		keys[k].column = hg_aggregate_column(state, list_nth_int(column_indexes, k));
		if (k >= nfirst)
			continue;
		columns[k] = keys[k].column;
		others = bms_del_member(others, list_nth_int(column_indexes, k));
	}
	nvalues += hg_aggregate_columns(state, others, columns + nfirst);
	state->sets.nkeys = nkeys;
	state->sets.keys = keys;
	state->groups =
		hg_groups_create(nfirst, keys, nvalues, columns, desc, state->attnos, state_bytes,
						 state->states, state->row_context, &state->budget);
	for (int i = 0; i < state->nfunctions; i++)
		state->functions[i].offset += state->groups->states_offset;
}

/* Initializes which rows of INTERSECT and EXCEPT make groups. */
static void
hg_aggregate_begin_branches(HgAggregateState *state)
{
	List *private = ((CustomScan *) state->css.ss.ps.plan)->custom_private;
	int branch = intVal(list_nth(private, HG_AGGREGATE_BRANCH));

	state->branch_column = branch >= 0 ? hg_aggregate_column(state, branch) : -1;
	state->grouping_branch = intVal(list_nth(private, HG_AGGREGATE_GROUPING_BRANCH));
	state->command = (SetOpCmd) intVal(list_nth(private, HG_AGGREGATE_COMMAND));
}

/*
 * Lets numeric columns come as scaled integers if only column-by-column arguments and filters use
 * them.  Group columns and arguments of other functions need the numerics.
 */
static void
hg_aggregate_begin_scaled(HgAggregateState *state)
{
	bool *takes_scaled = state->batch->takes_scaled;

	for (int c = 0; c < state->ncolumns; c++)
		takes_scaled[c] = hg_arithmetic_uses_numeric(state->taking.arithmetic, c);
	for (int f = 0; f < state->taking.nfilters; f++)
		if (state->taking.column_filters[f] != NULL)
			hg_column_filter_take_scaled(state->taking.column_filters[f], takes_scaled);
	for (int i = 0; i < state->groups->nvalues; i++)
		takes_scaled[state->groups->columns[i]] = false;
	for (int k = 0; k < state->sets.nkeys; k++)
		takes_scaled[state->sets.keys[k].column] = false;
	for (int i = 0; i < state->nfunctions; i++)
		if (state->functions[i].column >= 0 && state->functions[i].number < 0 &&
			state->functions[i].kind != HG_AGGREGATE_COUNT)
			takes_scaled[state->functions[i].column] = false;
}

/* Returns true if groups have copies of by-reference values. */
static bool
hg_aggregate_copies_values(const HgAggregateState *state)
{
	for (int i = 0; i < state->groups->nvalues; i++)
		if (!state->groups->byvals[i])
			return true;
	for (int k = 0; k < state->sets.nkeys; k++)
		if (state->sets.keys[k].kind != HG_GROUP_KEY_WORD)
			return true;
	return false;
}

static void
hg_aggregate_begin(CustomScanState *node, EState *estate, int eflags)
{
	HgAggregateState *state = (HgAggregateState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	HgUsed inside = {0};
	HgUsed outside = {0};
	Bitmapset *needed;
	PlanState *child;
	MemoryContext old;
	ListCell *lc;

	Assert(list_length(cscan->custom_exprs) == HG_AGGREGATE_EXPRS_COUNT);
	Assert(list_length(cscan->custom_private) == HG_AGGREGATE_PRIVATE_COUNT);

	/* the input is read forward once, and from the start after a rescan */
	child = ExecInitNode(linitial(cscan->custom_plans), estate,
						 eflags & ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK));
	node->custom_ps = list_make1(child);

	state->grouped = intVal(list_nth(cscan->custom_private, HG_AGGREGATE_GROUPED)) != 0;
	state->first_result = intVal(list_nth(cscan->custom_private, HG_AGGREGATE_INPUT_COLUMNS));

	hg_budget_init(&state->budget, NULL, get_hash_memory_limit());
	/* no expression here has a subplan, which would put slots into the query's tuple table */
	state->context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraphAggregate", ALLOCSET_DEFAULT_SIZES);
	state->row_context =
		AllocSetContextCreate(state->context, "HashGraphAggregate row", ALLOCSET_SMALL_SIZES);
	state->states =
		AllocSetContextCreate(state->context, "HashGraphAggregate states", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(state->context);

	/* the needed columns of the input */
	hg_used_add(&inside, (Node *) cscan->custom_exprs);
	hg_used_add(&outside, (Node *) cscan->scan.plan.targetlist);
	hg_used_add(&outside, (Node *) cscan->scan.plan.qual);
	for (int column_index = state->first_result;
		 column_index < list_length(cscan->custom_scan_tlist); column_index++)
		outside.column_indexes = bms_del_member(outside.column_indexes, column_index);
	needed = bms_union(inside.column_indexes, outside.column_indexes);
	foreach (lc, list_nth(cscan->custom_private, HG_AGGREGATE_KEYS))
		needed = bms_add_member(needed, lfirst_int(lc));
	state->attnos = palloc(Max(bms_num_members(needed), 1) * sizeof(int));
	for (int column_index = -1; (column_index = bms_next_member(needed, column_index)) >= 0;)
		state->attnos[state->ncolumns++] = column_index + 1;
	state->taking.columns = palloc(Max(state->ncolumns, 1) * sizeof(int));
	state->taking.ncolumns =
		hg_aggregate_columns(state, inside.column_indexes, state->taking.columns);
	state->params = inside.params;

	hg_aggregate_begin_groups(state, outside.column_indexes, hg_aggregate_begin_functions(state));
	state->source = hg_join_source_create(child, state->ncolumns, state->attnos);
	/* batches need no limit in bytes unless new groups copy by-reference values */
	state->source->max_bytes = hg_aggregate_copies_values(state) ? HG_BATCH_BYTES : 0;
	state->batch = hg_batch_create(state->ncolumns);
	hg_aggregate_begin_branches(state);
	hg_aggregate_begin_finding(state);
	state->having = hg_aggregate_begin_having(state);
	hg_aggregate_begin_scaled(state);
	hg_aggregate_spill_init(&state->spill, ExecGetResultType(child), state->ncolumns, state->attnos,
							hg_batch_create(state->ncolumns));
	hg_aggregate_begin_sets(state);
	/* many groups are found faster in the order of the join's key, which may be the group key */
	if (state->groups->nkeys == 0 || hg_aggregate_set(&state->sets)->expected <= HG_FEW_GROUPS)
		hg_join_source_take_all(state->source);
	state->takes_arrays = state->source->next_run != NULL && hg_aggregate_takes_arrays(state);
	state->run.values = palloc0(Max(state->ncolumns, 1) * sizeof(void *));
	hg_aggregate_begin_reduction(state);

	/* unused columns stay NULL in the scan slot */
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	memset(slot->tts_values, 0, slot->tts_tupleDescriptor->natts * sizeof(Datum));
	state->phase = HG_AGGREGATE_READ;
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

/* Ends making groups of the current set: those in memory are complete. */
static void
hg_aggregate_end_reading(HgAggregateState *state)
{
	const HgGroupingSet *set = hg_aggregate_set(&state->sets);

	state->next_group = 0;
	state->sets.combined = set->has_sets ? 0 : state->groups->count;
	if (state->limit.top != NULL)
		hg_aggregate_limit_begin(&state->limit, state->groups->count);
	if (state->having != NULL)
		hg_aggregate_forget_having(state->having);
	state->record.spilled_bytes += hg_aggregate_spill_finish(set->spill);
}

/*
 * Adds the group of no rows if there must be one.  A late process adds none, because those in time
 * have written it.
 */
static void
hg_aggregate_fill_empty(HgAggregateState *state)
{
	if (hg_aggregate_set(&state->sets)->never_empty && !state->participants.late &&
		state->groups->count == 0)
		hg_groups_add(state->groups, NULL, 0, 0);
}

/* Aggregates all rows of the input. */
static void
hg_aggregate_read(HgAggregateState *state)
{
	HgBatch *batch = state->batch;
	uint64 rows;

	/* groups are freed when other sets are combined from them */
	state->rescannable = true;
	for (int i = 0; i + 1 < state->sets.count; i++)
		if (state->sets.sets[i].returned)
			state->rescannable = false;
	state->record.processes = 1;
	if (!hg_aggregate_start_sharing(state))
	{
		hg_aggregate_end_reading(state);
		return;
	}
	if (state->counts && hg_join_source_count(state->source, &rows))
	{
		HgGroup *group = hg_groups_add(state->groups, NULL, 0, 0);

		for (int i = 0; i < state->nfunctions; i++)
			hg_function_count(&state->functions[i], group, rows);
	}
	else
		for (;;)
		{
			CHECK_FOR_INTERRUPTS();
			if (state->takes_arrays &&
				state->source->next_run(state->source, PG_INT32_MAX, &state->run))
				hg_aggregate_take_arrays(state, &state->run);
			else if (state->source->next(state->source, batch))
			{
				hg_aggregate_take(state, batch);
				hg_aggregate_take_distinct(state, batch);
			}
			else
				break;
		}
	hg_aggregate_fill_empty(state);
	hg_aggregate_end_reading(state);
}

/* Aggregates the next partition of the current set; returns false if there is none. */
static bool
hg_aggregate_read_partition(HgAggregateState *state)
{
	HgAggregateSpill *spill = hg_aggregate_set(&state->sets)->spill;
	const HgBatch *batch;

	hg_groups_reset(state->groups);
	state->participants.rows = 0;
	if (!hg_aggregate_spill_next(spill))
		return false;
	while ((batch = hg_aggregate_spill_read(spill)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (state->sets.current == 0)
			hg_aggregate_take(state, batch);
		else
			hg_aggregate_take_packed(state);
	}
	hg_aggregate_end_reading(state);
	return true;
}

/* Starts to return the next grouping set; returns false if there is none. */
static bool
hg_aggregate_start_set(HgAggregateState *state)
{
	hg_aggregate_publish(state);
	if (!hg_aggregate_next_set(state))
		return false;
	hg_aggregate_finish_sharing(state);
	hg_aggregate_fill_empty(state);
	hg_aggregate_end_reading(state);
	return true;
}

/* ---------------------------------------------------------------------
 * Returning groups
 * ---------------------------------------------------------------------
 */

/* Loads a group into the scan slot. */
static TupleTableSlot *
hg_aggregate_load_group(HgAggregateState *state, HgGroup *group)
{
	HgGroups *groups = state->groups;
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	const bool *nulls = hg_group_nulls(groups, group);
	MemoryContext old =
		MemoryContextSwitchTo(state->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);

	ExecClearTuple(slot);
	for (int i = 0; i < groups->nvalues; i++)
	{
		int column_index = state->attnos[groups->columns[i]] - 1;

		slot->tts_values[column_index] = group->values[i];
		slot->tts_isnull[column_index] = nulls[i];
	}
	for (int i = 0; i < state->nresults; i++)
	{
		const HgResult *result = &state->results[i];
		int column_index = state->first_result + i;

		slot->tts_values[column_index] = hg_function_finish(result->function, result->kind, group,
															&slot->tts_isnull[column_index]);
	}
	for (int i = 0; i < state->sets.ngroupings; i++)
	{
		int column_index = state->first_result + state->nresults + i;

		slot->tts_values[column_index] = hg_aggregate_set(&state->sets)->groupings[i];
		slot->tts_isnull[column_index] = false;
	}
	MemoryContextSwitchTo(old);
	return ExecStoreVirtualTuple(slot);
}

/* Returns the next row of a set operation's group, which is in the scan slot. */
static TupleTableSlot *
hg_aggregate_next_copy(HgAggregateState *state)
{
	ScanState *ss = &state->css.ss;

	state->copies--;
	ResetExprContext(ss->ps.ps_ExprContext);
	return hg_join_return_slot(ss, ss->ss_ScanTupleSlot);
}

/* Returns the next row of a group that passes HAVING, projected, or NULL if there are no more. */
static TupleTableSlot *
hg_aggregate_next_group(HgAggregateState *state)
{
	ScanState *ss = &state->css.ss;

	if (state->copies > 0)
		return hg_aggregate_next_copy(state);
	while (state->next_group < state->groups->count)
	{
		TupleTableSlot *slot;
		HgGroup *group;
		uint32 number;
		int64 copies = 1;

		CHECK_FOR_INTERRUPTS();
		if (state->next_group == state->sets.combined)
			hg_aggregate_combine(state);
		if (!hg_aggregate_set(&state->sets)->returned)
		{
			state->next_group = state->sets.combined;
			continue;
		}
		state->record.groups++;
		if (state->having != NULL && hg_aggregate_is_ruled_out(state, state->next_group))
		{
			state->next_group++;
			InstrCountFiltered1(ss, 1);
			continue;
		}
		number = state->next_group++;
		if (state->limit.top != NULL)
			number = hg_aggregate_limited_group(&state->limit, number, state->groups->count);
		group = hg_groups_get(state->groups, number);
		if (state->branch_column >= 0)
			copies = hg_aggregate_copies(state->results[0].function, state->command, group);
		if (copies == 0 || hg_aggregate_is_beyond(state, group))
			continue;
		state->copies = copies - 1;
		ResetExprContext(ss->ps.ps_ExprContext);
		slot = hg_aggregate_load_group(state, group);
		slot = hg_join_return_slot(ss, slot);
		if (slot != NULL)
			return slot;
	}
	return NULL;
}

static TupleTableSlot *
hg_aggregate_exec(CustomScanState *node)
{
	HgAggregateState *state = (HgAggregateState *) node;

	for (;;)
	{
		TupleTableSlot *slot;

		switch (state->phase)
		{
			case HG_AGGREGATE_READ:
				hg_aggregate_read(state);
				state->phase = HG_AGGREGATE_RETURN;
				break;

			case HG_AGGREGATE_RETURN:
				slot = hg_aggregate_next_group(state);
				if (slot != NULL)
					return slot;
				state->phase = hg_aggregate_is_spilled(hg_aggregate_set(&state->sets)->spill)
								   ? HG_AGGREGATE_NEXT_PARTITION
								   : HG_AGGREGATE_NEXT_SET;
				break;

			case HG_AGGREGATE_NEXT_PARTITION:
				state->phase = hg_aggregate_read_partition(state) ? HG_AGGREGATE_RETURN
																  : HG_AGGREGATE_NEXT_SET;
				break;

			case HG_AGGREGATE_NEXT_SET:
				state->phase =
					hg_aggregate_start_set(state) ? HG_AGGREGATE_RETURN : HG_AGGREGATE_DONE;
				break;

			case HG_AGGREGATE_DONE:
				return NULL;
		}
	}
}

/* ---------------------------------------------------------------------
 * Again, and the end
 * ---------------------------------------------------------------------
 */

/*
 * Restarts the node.  The groups stay cached if all of them are in memory and no parameter that
 * they depend on has changed.  HAVING and the projection are evaluated again anyway.
 */
static void
hg_aggregate_rescan(CustomScanState *node)
{
	HgAggregateState *state = (HgAggregateState *) node;
	PlanState *child = linitial(node->custom_ps);
	Bitmapset *changed = node->ss.ps.chgParam;

	/* core does this for outer and inner plans, but not for custom ones */
	if (changed != NULL)
		UpdateChangedParamSet(child, changed);
	if (state->phase == HG_AGGREGATE_READ)
		return;
	state->next_group = 0;
	state->copies = 0;
	if (state->rescannable && child->chgParam == NULL && !bms_overlap(changed, state->params))
	{
		state->phase = HG_AGGREGATE_RETURN;
		return;
	}
	hg_aggregate_reset_sets(state);
	state->source->restart(state->source);
	/* a child with changed parameters rescans itself */
	if (child->chgParam == NULL)
		ExecReScan(child);
	state->phase = HG_AGGREGATE_READ;
}

static void
hg_aggregate_end(CustomScanState *node)
{
	HgAggregateState *state = (HgAggregateState *) node;

	hg_aggregate_reset_sets(state);
	MemoryContextDelete(state->context);
	ExecEndNode(linitial(node->custom_ps));
}

static const CustomExecMethods hg_aggregate_exec_methods = {
	.CustomName = "HashGraphAggregate",
	.BeginCustomScan = hg_aggregate_begin,
	.ExecCustomScan = hg_aggregate_exec,
	.EndCustomScan = hg_aggregate_end,
	.ReScanCustomScan = hg_aggregate_rescan,
	.EstimateDSMCustomScan = hg_aggregate_estimate_dsm,
	.InitializeDSMCustomScan = hg_aggregate_initialize_dsm,
	.ReInitializeDSMCustomScan = hg_aggregate_reinitialize_dsm,
	.InitializeWorkerCustomScan = hg_aggregate_initialize_worker,
	.ShutdownCustomScan = hg_aggregate_shutdown,
	.ExplainCustomScan = hg_aggregate_explain,
};

static Node *
hg_aggregate_create_state(CustomScan *cscan)
{
	return hg_library_create_state(cscan, sizeof(HgAggregateState), &hg_aggregate_exec_methods);
}

const CustomScanMethods hg_aggregate_scan_methods = {
	.CustomName = "HashGraphAggregate",
	.CreateCustomScanState = hg_aggregate_create_state,
};

bool
hg_aggregate_set_limit(PlanState *plan, HgTopKeys *top, int attno)
{
	HgAggregateState *state = (HgAggregateState *) plan;
	const HgGroupingSet *set;
	const TargetEntry *tle;
	int column_index;

	if (!IsA(plan, CustomScanState) ||
		((CustomScanState *) plan)->methods != &hg_aggregate_exec_methods)
		return false;
	tle = list_nth_node(TargetEntry, plan->plan->targetlist, attno - 1);
	/* errors of HAVING must be raised for all groups */
	if (plan->qual != NULL || !IsA(tle->expr, Var))
		return true;
	column_index = ((const Var *) tle->expr)->varattno - 1;
	/* no other set is returned */
	set = &state->sets.sets[state->sets.count - 1];
	if (column_index >= state->first_result)
		state->limit.result = &set->results[column_index - state->first_result];
	else
		while (state->attnos[set->groups->columns[state->limit.value]] != column_index + 1)
			state->limit.value++;
	state->limit.top = top;
	return true;
}
