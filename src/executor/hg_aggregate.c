/*-------------------------------------------------------------------------
 *
 * hg_aggregate.c
 *	  The aggregate node: Custom Scan (HashGraphAggregate).
 *
 * The node stands above a join of ours and aggregates its batches: no row is formed between
 * the two.  It is a node of its own, and not a mode of the join, because the two look at
 * different things: the join's quals and keys at the columns of its inputs, this node's targets at
 * groups and results.  Each has one scan slot for what it looks at, EXPLAIN shows both, and joins
 * of any number below are the join's own affair (hg_join_source.c).
 *
 *	READ			All batches are taken: the groups of their rows are found or made
 *					(hg_aggregate_groups.c) and each aggregate's state is advanced by a loop over
 *					a column (hg_aggregate_function.c).
 *	RETURN			A row for each group: its columns and the results of its aggregates, in the
 *					scan slot, filtered by HAVING and projected.
 *	NEXT_PARTITION	The groups of rows that did not fit into memory.
 *
 * Where a device joins, it may make groups of the join's rows itself: hg_aggregate_reduce.c.
 *
 * Without GROUP BY there is one group, even for no rows.  Where only rows are counted the join
 * gives their number, and matches are not even looked at.
 *
 * MEMORY.  The groups may take work memory.  When they have, no more groups are made:
 * rows of groups that are there go on to be aggregated, all others go to temporary files,
 * partitioned by the hash of their keys.  When all rows are taken, the groups in memory are
 * complete and are returned.  Then the partitions are read one by one as if each were the input;
 * one with too many groups is cut again.  Below the last level of partitions memory is exceeded:
 * its rows have the same hash.
 *
 * PARALLEL.  Below a Gather each process aggregates its part of the input by itself, and core's
 * Finalize Aggregate combines the states that they return.  They share nothing but what each of
 * them did, for EXPLAIN.
 *
 * Groups and states live in contexts of their own, which are reset for each partition; temporary
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
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "executor/hg_aggregate_state.h"

/* The most partitions of a spill set, by their number's logarithm. */
#define HG_AGGREGATE_MAX_BITS 6

static Node *hg_aggregate_create_state(CustomScan *cscan);
static void hg_aggregate_begin(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *hg_aggregate_exec(CustomScanState *node);
static void hg_aggregate_end(CustomScanState *node);
static void hg_aggregate_rescan(CustomScanState *node);

const CustomScanMethods hg_aggregate_scan_methods = {
	.CustomName = "HashGraphAggregate",
	.CreateCustomScanState = hg_aggregate_create_state,
};

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

void
hg_aggregate_init(void)
{
	RegisterCustomScanMethods(&hg_aggregate_scan_methods);
}

static Node *
hg_aggregate_create_state(CustomScan *cscan pg_attribute_unused())
{
	HgAggregateState *state =
		(HgAggregateState *) newNode(sizeof(HgAggregateState), T_CustomScanState);

	state->css.methods = &hg_aggregate_exec_methods;
	return (Node *) state;
}

/* ---------------------------------------------------------------------
 * Setting up
 * ---------------------------------------------------------------------
 */

/* What expressions over the scan slot use. */
typedef struct HgUsed
{
	Bitmapset *places; /* in the scan slot, from 0 */
	Bitmapset *params; /* PARAM_EXECs */
} HgUsed;

static bool
hg_used_walker(Node *node, HgUsed *used)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Assert(((Var *) node)->varno == INDEX_VAR && ((Var *) node)->varattno > 0);
		used->places = bms_add_member(used->places, ((Var *) node)->varattno - 1);
		return false;
	}
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		used->params = bms_add_member(used->params, ((Param *) node)->paramid);
	return expression_tree_walker(node, hg_used_walker, used);
}

/* The column of the batch at a place in the scan slot. */
static int
hg_aggregate_column(const HgAggregateState *state, int place)
{
	for (int c = 0; c < state->ncolumns; c++)
		if (state->attnos[c] == place + 1)
			return c;
	elog(ERROR, "an aggregate's column %d is not read", place + 1);
}

/* The columns at a set of places; returns how many there are. */
static int
hg_aggregate_columns(const HgAggregateState *state, const Bitmapset *places, int *columns)
{
	int ncolumns = 0;
	int place = -1;

	while ((place = bms_next_member(places, place)) >= 0)
		columns[ncolumns++] = hg_aggregate_column(state, place);
	return ncolumns;
}

/* Set up the argument of a function: a column where it is one, whatever it is called. */
static void
hg_aggregate_begin_argument(HgAggregateState *state, HgFunction *function, Expr *argument)
{
	Expr *bare = argument;

	function->column = -1;
	function->argument = NULL;
	if (argument == NULL)
		return;
	while (IsA(bare, RelabelType))
		bare = ((RelabelType *) bare)->arg;
	if (IsA(bare, Var))
	{
		function->column = hg_aggregate_column(state, ((Var *) bare)->varattno - 1);
		return;
	}
	get_typlenbyval(exprType((Node *) argument), &function->argument_len,
					&function->argument_byval);
	function->argument = ExecInitExpr(argument, &state->css.ss.ps);
}

/* The number of a filter, which aggregates share where they have the same. */
static int
hg_aggregate_filter(HgAggregateState *state, List **filters, Expr *filter)
{
	ListCell *lc;

	if (filter == NULL)
		return -1;
	foreach (lc, *filters)
		if (equal(lfirst(lc), filter))
			return foreach_current_index(lc);
	*filters = lappend(*filters, filter);
	state->filters[state->nfilters] = ExecInitQual(make_ands_implicit(filter), &state->css.ss.ps);
	return state->nfilters++;
}

/* Set up the functions; returns the size of their states. */
static Size
hg_aggregate_begin_functions(HgAggregateState *state)
{
	CustomScan *cscan = (CustomScan *) state->css.ss.ps.plan;
	List *arguments = list_nth(cscan->custom_exprs, HG_AGGREGATE_ARGUMENTS);
	List *filters = list_nth(cscan->custom_exprs, HG_AGGREGATE_FILTERS);
	List *known = NIL;
	Size offset = 0;

	state->nfunctions = list_length(cscan->custom_scan_tlist) - state->first_result;
	state->functions = palloc0(Max(state->nfunctions, 1) * sizeof(HgFunction));
	state->filters = palloc0(Max(state->nfunctions, 1) * sizeof(ExprState *));
	state->counts = !state->grouped && state->ncolumns == 0;
	for (int i = 0; i < state->nfunctions; i++)
	{
		HgFunction *function = &state->functions[i];
		TargetEntry *tle =
			list_nth_node(TargetEntry, cscan->custom_scan_tlist, state->first_result + i);

		hg_function_init(function, castNode(Aggref, tle->expr), &offset, state->states,
						 state->row_context);
		function->filter = hg_aggregate_filter(state, &known, list_nth(filters, i));
		hg_aggregate_begin_argument(state, function, list_nth(arguments, i));
		if (function->filter >= 0 || function->argument != NULL)
			state->counts = false;
	}
	state->filtered = palloc(Max(state->nfilters, 1) * sizeof(HgSelection));
	state->filter_rows = palloc(Max(state->nfilters, 1) * HG_BATCH_ROWS * sizeof(uint16));
	state->results = palloc(HG_BATCH_ROWS * sizeof(Datum));
	state->results_null = palloc(HG_BATCH_ROWS * sizeof(bool));
	return offset;
}

/* Set up the groups: their keys, and the other columns of theirs that are returned. */
static void
hg_aggregate_begin_groups(HgAggregateState *state, const Bitmapset *returned, Size state_bytes)
{
	CustomScan *cscan = (CustomScan *) state->css.ss.ps.plan;
	List *places = list_nth(cscan->custom_private, HG_AGGREGATE_KEYS);
	List *equalities = list_nth(cscan->custom_private, HG_AGGREGATE_EQUALITIES);
	List *collations = list_nth(cscan->custom_private, HG_AGGREGATE_COLLATIONS);
	TupleDesc desc = ExecGetResultType(linitial(state->css.custom_ps));
	int nkeys = list_length(places);
	HgGroupKey *keys = palloc0(Max(nkeys, 1) * sizeof(HgGroupKey));
	int *columns = palloc((nkeys + state->ncolumns + 1) * sizeof(int));
	int nvalues = nkeys;
	Bitmapset *others = bms_copy(returned);

	for (int k = 0; k < nkeys; k++)
	{
		hg_group_key_init(&keys[k], list_nth_oid(equalities, k), list_nth_oid(collations, k));
		keys[k].column = columns[k] = hg_aggregate_column(state, list_nth_int(places, k));
		others = bms_del_member(others, list_nth_int(places, k));
	}
	nvalues += hg_aggregate_columns(state, others, columns + nkeys);
	state->groups = hg_groups_create(nkeys, keys, nvalues, columns, desc, state->attnos,
									 state_bytes, state->states, state->row_context);
	for (int i = 0; i < state->nfunctions; i++)
		state->functions[i].offset += state->groups->states_offset;
}

static void
hg_aggregate_begin(CustomScanState *node, EState *estate, int eflags)
{
	HgAggregateState *state = (HgAggregateState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	HgUsed inside = {NULL, NULL};
	HgUsed outside = {NULL, NULL};
	Bitmapset *needed;
	PlanState *child;
	MemoryContext old;
	ListCell *lc;

	Assert(list_length(cscan->custom_exprs) == HG_AGGREGATE_EXPRS_COUNT);
	Assert(list_length(cscan->custom_private) == HG_AGGREGATE_PRIVATE_COUNT);

	/* the input is read once, and again from the start after a rescan */
	child = ExecInitNode(linitial(cscan->custom_plans), estate,
						 eflags & ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK));
	node->custom_ps = list_make1(child);

	state->grouped = intVal(list_nth(cscan->custom_private, HG_AGGREGATE_GROUPED)) != 0;
	state->first_result = intVal(list_nth(cscan->custom_private, HG_AGGREGATE_INPUT_COLUMNS));

	/* subplans put slots into the query's tuple table: there are none in these expressions */
	state->context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraphAggregate", ALLOCSET_DEFAULT_SIZES);
	state->row_context =
		AllocSetContextCreate(state->context, "HashGraphAggregate row", ALLOCSET_SMALL_SIZES);
	state->batch_context =
		AllocSetContextCreate(state->context, "HashGraphAggregate batch", ALLOCSET_DEFAULT_SIZES);
	state->states =
		AllocSetContextCreate(state->context, "HashGraphAggregate states", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(state->context);

	/* what is needed of the input */
	hg_used_walker((Node *) cscan->custom_exprs, &inside);
	hg_used_walker((Node *) cscan->scan.plan.targetlist, &outside);
	hg_used_walker((Node *) cscan->scan.plan.qual, &outside);
	for (int place = state->first_result; place < list_length(cscan->custom_scan_tlist); place++)
		outside.places = bms_del_member(outside.places, place);
	needed = bms_union(inside.places, outside.places);
	foreach (lc, list_nth(cscan->custom_private, HG_AGGREGATE_KEYS))
		needed = bms_add_member(needed, lfirst_int(lc));
	state->attnos = palloc(Max(bms_num_members(needed), 1) * sizeof(int));
	for (int place = -1; (place = bms_next_member(needed, place)) >= 0;)
		state->attnos[state->ncolumns++] = place + 1;
	state->expr_columns = palloc(Max(state->ncolumns, 1) * sizeof(int));
	state->nexpr_columns = hg_aggregate_columns(state, inside.places, state->expr_columns);
	state->params = inside.params;

	hg_aggregate_begin_groups(state, outside.places, hg_aggregate_begin_functions(state));
	state->source = hg_join_source_create(child, state->ncolumns, state->attnos);
	state->batch = hg_batch_create(state->ncolumns);
	state->layout = hg_column_store_create(state->context, ExecGetResultType(child),
										   state->ncolumns, state->attnos);
	state->stored_batch = hg_batch_create(state->ncolumns);
	state->dense = palloc(Max(state->ncolumns, 1) * sizeof(int));
	for (int c = 0; c < state->ncolumns; c++)
		state->dense[c] = c;

	hg_aggregate_begin_reduction(state);

	/* places that nothing is put into stay NULL in the scan slot */
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	memset(slot->tts_values, 0, slot->tts_tupleDescriptor->natts * sizeof(Datum));
	state->phase = HG_AGGREGATE_READ;
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------------------
 * Taking rows
 * ---------------------------------------------------------------------
 */

/* Put what filters and arguments use of a row into the scan slot, for them to look at. */
static inline void
hg_aggregate_load_row(HgAggregateState *state, const HgBatch *batch, int row)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	ResetExprContext(econtext);
	ExecClearTuple(slot);
	for (int i = 0; i < state->nexpr_columns; i++)
	{
		int column = state->expr_columns[i];
		int place = state->attnos[column] - 1;

		slot->tts_isnull[place] = hg_batch_is_null(batch, column, row);
		slot->tts_values[place] = slot->tts_isnull[place] ? (Datum) 0 : batch->values[column][row];
	}
	econtext->ecxt_scantuple = ExecStoreVirtualTuple(slot);
}

/* Select the rows that pass a filter. */
static HgSelection
hg_aggregate_select(HgAggregateState *state, int filter, const HgBatch *batch,
					HgSelection selection)
{
	uint16 *rows = state->filter_rows + filter * HG_BATCH_ROWS;
	int count = 0;

	for (int i = 0; i < selection.count; i++)
	{
		int row = selection.rows != NULL ? selection.rows[i] : i;

		hg_aggregate_load_row(state, batch, row);
		if (ExecQual(state->filters[filter], state->css.ss.ps.ps_ExprContext))
			rows[count++] = row;
	}
	return (HgSelection){rows, count};
}

/* Evaluate an argument over the selected rows, into state->results. */
static void
hg_aggregate_evaluate(HgAggregateState *state, const HgFunction *function, const HgBatch *batch,
					  HgSelection selection)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;

	for (int i = 0; i < selection.count; i++)
	{
		int row = selection.rows != NULL ? selection.rows[i] : i;
		Datum value;

		hg_aggregate_load_row(state, batch, row);
		value = ExecEvalExprSwitchContext(function->argument, econtext, &state->results_null[row]);
		if (!function->argument_byval && !state->results_null[row])
		{
			MemoryContext old = MemoryContextSwitchTo(state->batch_context);

			value = datumCopy(value, false, function->argument_len);
			MemoryContextSwitchTo(old);
		}
		state->results[row] = value;
	}
}

/* Make the files for rows of groups that do not fit. */
static void
hg_aggregate_start_spill(HgAggregateState *state)
{
	uint64 limit = get_hash_memory_limit();
	double expected = state->css.ss.ps.plan->plan_rows * state->groups->group_bytes;
	int bits = 2;
	MemoryContext old = MemoryContextSwitchTo(state->context);

	/* the plan's estimate may be low: then partitions are cut again */
	while (bits < HG_AGGREGATE_MAX_BITS && expected / (1 << bits) > limit / 2 &&
		   (UINT64CONST(2) << bits) * HG_SPILL_FILE_BYTES <= limit / 4)
		bits++;
	state->spill = hg_spill_create(state->layout, state->level, bits);
	state->record.partitions += 1 << bits;
	state->rescannable = false;
	MemoryContextSwitchTo(old);
}

uint64
hg_aggregate_bytes(const HgAggregateState *state)
{
	uint64 bytes = hg_groups_bytes(state->groups);
	ListCell *lc;

	if (state->spill != NULL)
		bytes += hg_spill_memory(state->spill);
	foreach (lc, state->spilled)
		bytes += hg_spill_memory(((const HgAggregateSpill *) lfirst(lc))->spill);
	return bytes;
}

/* Find the groups of a batch's rows; returns the rows whose groups are in memory. */
static HgSelection
hg_aggregate_find_groups(HgAggregateState *state, const HgBatch *batch, HgGroup **found,
						 uint16 *rows)
{
	HgSelection selection = {NULL, batch->nrows};
	HgSpillKeys keys;
	uint16 missing[HG_BATCH_ROWS];
	int nmissing = 0;
	uint64 bytes = hg_aggregate_bytes(state);

	state->record.memory_bytes = Max(state->record.memory_bytes, bytes);
	if (state->spill == NULL && bytes > get_hash_memory_limit() && state->groups->count > 0 &&
		state->level < HG_SPILL_LEVELS)
		hg_aggregate_start_spill(state);
	hg_groups_hash(state->groups, batch, keys.words);
	hg_groups_find(state->groups, batch, keys.words, state->spill == NULL, found);
	if (state->spill == NULL)
		return selection;

	selection.rows = rows;
	selection.count = 0;
	for (int row = 0; row < batch->nrows; row++)
		if (found[row] != NULL)
			rows[selection.count++] = row;
		else
			missing[nmissing++] = row;
	if (nmissing > 0)
	{
		memset(keys.null_keys, false, sizeof(keys.null_keys));
		hg_spill_write(state->spill, &keys, batch, state->dense, missing, nmissing);
	}
	return selection;
}

/* Take the rows of a batch. */
static void
hg_aggregate_take(HgAggregateState *state, const HgBatch *batch)
{
	HgGroup *found[HG_BATCH_ROWS];
	HgGroup **groups = NULL;
	HgGroup *group = NULL;
	uint16 rows[HG_BATCH_ROWS];
	HgSelection all = {NULL, batch->nrows};

	if (state->groups->nkeys > 0)
	{
		groups = found;
		all = hg_aggregate_find_groups(state, batch, found, rows);
	}
	else
		group = state->groups->count > 0 ? hg_groups_get(state->groups, 0)
										 : hg_groups_add(state->groups, batch, 0, 0);

	for (int f = 0; f < state->nfilters; f++)
		state->filtered[f] = hg_aggregate_select(state, f, batch, all);
	for (int i = 0; i < state->nfunctions; i++)
	{
		const HgFunction *function = &state->functions[i];
		HgSelection selection = function->filter >= 0 ? state->filtered[function->filter] : all;

		if (function->column >= 0)
			hg_function_advance(function, selection, batch->values[function->column],
								batch->has_nulls[function->column] ? batch->nulls[function->column]
																   : NULL,
								groups, group);
		else if (function->argument == NULL)
			hg_function_advance(function, selection, NULL, NULL, groups, group);
		else
		{
			hg_aggregate_evaluate(state, function, batch, selection);
			hg_function_advance(function, selection, state->results, state->results_null, groups,
								group);
			MemoryContextReset(state->batch_context);
		}
	}
}

/* The spill set of what was read last, if it needed one, is the one to read next. */
static void
hg_aggregate_end_reading(HgAggregateState *state)
{
	MemoryContext old;
	HgAggregateSpill *spilled;

	state->record.memory_bytes = Max(state->record.memory_bytes, hg_aggregate_bytes(state));
	state->next_group = 0;
	if (state->spill == NULL)
		return;
	old = MemoryContextSwitchTo(state->context);
	spilled = palloc0(sizeof(HgAggregateSpill));
	spilled->spill = state->spill;
	state->record.spilled_bytes += state->spill->bytes;
	state->spilled = lcons(spilled, state->spilled);
	state->spill = NULL;
	MemoryContextSwitchTo(old);
}

/* Take all rows of the input. */
static void
hg_aggregate_read(HgAggregateState *state)
{
	HgGroups *groups = state->groups;
	HgBatch *batch = state->batch;
	uint64 rows;

	state->level = 0;
	state->rescannable = true;
	state->record.processes = 1;
	if (state->counts && hg_join_source_count(state->source, &rows))
	{
		HgGroup *group = hg_groups_add(groups, NULL, 0, 0);

		for (int i = 0; i < state->nfunctions; i++)
			hg_function_count(&state->functions[i], group, rows);
	}
	else
		while (state->source->next(state->source, batch))
		{
			CHECK_FOR_INTERRUPTS();
			hg_aggregate_take(state, batch);
		}
	if (!state->grouped && groups->count == 0)
		hg_groups_add(groups, NULL, 0, 0);
	hg_aggregate_end_reading(state);
}

/* Done with the innermost spill set. */
static void
hg_aggregate_drop_spill(HgAggregateState *state)
{
	HgAggregateSpill *spilled = linitial(state->spilled);

	hg_spill_destroy(spilled->spill);
	pfree(spilled);
	state->spilled = list_delete_first(state->spilled);
}

/* Take the rows of the next partition; false when there are no more. */
static bool
hg_aggregate_read_partition(HgAggregateState *state)
{
	HgSpillKeys keys;

	hg_groups_reset(state->groups);
	while (state->spilled != NIL)
	{
		HgAggregateSpill *spilled = linitial(state->spilled);
		HgSpill *spill = spilled->spill;
		int partition = spilled->next++;

		if (partition == 1 << spill->bits)
		{
			hg_aggregate_drop_spill(state);
			continue;
		}
		if (spill->files[partition] == NULL)
			continue;
		state->level = spill->level + 1;
		hg_spill_rewind(spill, partition);
		while (hg_spill_read(spill, partition, state->stored_batch, &keys))
		{
			CHECK_FOR_INTERRUPTS();
			hg_aggregate_take(state, state->stored_batch);
		}
		hg_spill_drop(spill, partition);
		hg_aggregate_end_reading(state);
		return true;
	}
	return false;
}

/* ---------------------------------------------------------------------
 * Returning groups
 * ---------------------------------------------------------------------
 */

/* Put a group into the scan slot. */
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
		int place = state->attnos[groups->columns[i]] - 1;

		slot->tts_values[place] = group->values[i];
		slot->tts_isnull[place] = nulls[i];
	}
	for (int i = 0; i < state->nfunctions; i++)
	{
		int place = state->first_result + i;

		slot->tts_values[place] =
			hg_function_finish(&state->functions[i], group, &slot->tts_isnull[place]);
	}
	MemoryContextSwitchTo(old);
	return ExecStoreVirtualTuple(slot);
}

/* The next group that passes HAVING, projected, or NULL when there are no more. */
static TupleTableSlot *
hg_aggregate_next_group(HgAggregateState *state)
{
	ScanState *ss = &state->css.ss;
	ExprContext *econtext = ss->ps.ps_ExprContext;

	while (state->next_group < state->groups->count)
	{
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		econtext->ecxt_scantuple =
			hg_aggregate_load_group(state, hg_groups_get(state->groups, state->next_group++));
		state->record.groups++;
		if (ss->ps.qual != NULL && !ExecQual(ss->ps.qual, econtext))
		{
			InstrCountFiltered1(ss, 1);
			continue;
		}
		return ss->ps.ps_ProjInfo != NULL ? ExecProject(ss->ps.ps_ProjInfo)
										  : econtext->ecxt_scantuple;
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
				state->phase =
					state->spilled != NIL ? HG_AGGREGATE_NEXT_PARTITION : HG_AGGREGATE_DONE;
				break;

			case HG_AGGREGATE_NEXT_PARTITION:
				state->phase =
					hg_aggregate_read_partition(state) ? HG_AGGREGATE_RETURN : HG_AGGREGATE_DONE;
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

/* Delete all spill sets. */
static void
hg_aggregate_drop_spilled(HgAggregateState *state)
{
	if (state->spill != NULL)
		hg_spill_destroy(state->spill);
	state->spill = NULL;
	while (state->spilled != NIL)
		hg_aggregate_drop_spill(state);
}

/*
 * Start again.  The groups are kept where all of them are in memory and nothing has changed that
 * they depend on: HAVING and what is returned are evaluated again anyway.
 */
static void
hg_aggregate_rescan(CustomScanState *node)
{
	HgAggregateState *state = (HgAggregateState *) node;
	PlanState *child = linitial(node->custom_ps);
	Bitmapset *changed = node->ss.ps.chgParam;

	/* the core does this for outer and inner plans, but not for custom ones */
	if (changed != NULL)
		UpdateChangedParamSet(child, changed);
	if (state->phase == HG_AGGREGATE_READ)
		return;
	state->next_group = 0;
	if (state->rescannable && child->chgParam == NULL && !bms_overlap(changed, state->params))
	{
		state->phase = HG_AGGREGATE_RETURN;
		return;
	}
	hg_aggregate_drop_spilled(state);
	hg_groups_reset(state->groups);
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

	hg_aggregate_drop_spilled(state);
	MemoryContextDelete(state->context);
	ExecEndNode(linitial(node->custom_ps));
}
