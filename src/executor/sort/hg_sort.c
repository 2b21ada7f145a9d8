/*-------------------------------------------------------------------------
 *
 * hg_sort.c
 *	  The sort node: Custom Scan (HashGraphSort), for ORDER BY.
 *
 * The node stands above a join or an aggregate of this extension, or above a scan of cached
 * columns.  Joins and scans hand up columns.
 *
 * FIRST ROWS.  With a LIMIT the node has a copy of the sort keys of the first rows so far
 * (hg_top_keys.h), as many as the limit.  A row that comes after all of them is rejected before it
 * is formed, and an aggregate skips groups by their first sort key (hg_aggregate_limit.h).
 * Accepted rows go to core's tuplesort with the limit as its bound, so that order, ties and large
 * rows are as in core's Sort.  If the first sort key is a column of a scan, rows are rejected
 * there, ahead of joins (hg_top_filter.h).
 *
 * ALL ROWS.  Without a LIMIT rows stay columns, and row numbers are sorted (hg_sort_rows.h).  If
 * they do not fit into memory, they and all further rows go to core's tuplesort, which writes them
 * to tapes.
 *
 * MEMORY.  The copies of keys and the tuplesort share work memory.  If keys take more than their
 * part, no more rows are rejected.  Rows in memory and the tuplesort that they move to share it
 * too.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "backend/hg_library.h"
#include "batch/hg_scan_table.h"
#include "batch/hg_top_filter.h"
#include "executor/aggregate/hg_aggregate_limit.h"
#include "executor/join/hg_join_explain.h"
#include "executor/join/hg_join_source.h"
#include "executor/sort/hg_sort.h"
#include "executor/sort/hg_sort_rows.h"

/* Least memory of a tuplesort, in kB. */
#define HG_SORT_LEAST_KB 64

typedef struct HgSortState
{
	CustomScanState css; /* must be first */
	int nkeys;
	AttrNumber *columns; /* [nkeys] from 1 */
	Oid *operators;		 /* [nkeys] */
	Oid *collations;	 /* [nkeys] */
	bool *nulls_first;	 /* [nkeys] */
	int limit;

	MemoryContext temporary; /* comparisons run in it */
	HgBatchSource *source;	 /* columns of a join; NULL: rows come as slots */
	HgBatch *batch;			 /* of the source */
	HgBatch *stored;		 /* of rows in memory */
	HgTopKeys *top;			 /* NULL without a limit */
	HgSortRows *rows;		 /* rows in memory; NULL with a limit */
	bool in_memory;			 /* all rows are there, sorted */
	int next_row;			 /* of the batch, if rows are in memory */
	HgTopFilter *filter;	 /* removes rows of a scan; NULL if there is none */
	bool filters_source;	 /* the source is that scan */
	Datum *key_values;		 /* [nkeys] of the current row */
	bool *key_nulls;		 /* [nkeys] */
	TupleTableSlot *found;	 /* a sorted row */
	Tuplesortstate *sort;	 /* NULL: the input has not been read */
	bool random_access;		 /* sorted rows may be read again */
} HgSortState;

static const HgBlockLabels hg_sort_block_labels = {"Resident Blocks", "Heap Blocks", "Not Served"};

/* ---------------------------------------------------------------------
 * Setting up
 * ---------------------------------------------------------------------
 */

/* Sets the sort keys from the plan. */
static void
hg_sort_begin_keys(HgSortState *state, const CustomScan *cscan)
{
	List *private = cscan->custom_private;
	List *columns = list_nth(private, HG_SORT_COLUMNS);
	ListCell *lc;

	state->nkeys = list_length(columns);
	state->columns = palloc(state->nkeys * sizeof(AttrNumber));
	state->operators = palloc(state->nkeys * sizeof(Oid));
	state->collations = palloc(state->nkeys * sizeof(Oid));
	state->nulls_first = palloc(state->nkeys * sizeof(bool));
	state->key_values = palloc(state->nkeys * sizeof(Datum));
	state->key_nulls = palloc(state->nkeys * sizeof(bool));
	foreach (lc, columns)
	{
		int k = foreach_current_index(lc);

		state->columns[k] = (AttrNumber) lfirst_int(lc);
		state->operators[k] = list_nth_oid(list_nth(private, HG_SORT_OPERATORS), k);
		state->collations[k] = list_nth_oid(list_nth(private, HG_SORT_COLLATIONS), k);
		state->nulls_first[k] = list_nth_int(list_nth(private, HG_SORT_NULLS_FIRST), k) != 0;
	}
}

/* Creates the heap of sort keys, or without a limit the rows in memory. */
static void
hg_sort_begin_order(HgSortState *state)
{
	SortSupport keys = palloc0(state->nkeys * sizeof(SortSupportData));
	HgTopKeyType *types = palloc(state->nkeys * sizeof(HgTopKeyType));
	TupleDesc desc = state->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor;

	for (int k = 0; k < state->nkeys; k++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, state->columns[k] - 1);

		keys[k].ssup_cxt = CurrentMemoryContext;
		keys[k].ssup_collation = state->collations[k];
		keys[k].ssup_nulls_first = state->nulls_first[k];
		keys[k].ssup_attno = state->columns[k];
		PrepareSortSupportFromOrderingOp(state->operators[k], &keys[k]);
		types[k] = (HgTopKeyType){att->attlen, att->attbyval};
	}
	if (state->limit == 0)
	{
		state->rows =
			hg_sort_rows_create(desc, state->nkeys, keys, state->operators[0],
								(uint64) (work_mem - work_mem / HG_SORT_SPILL_PART) * 1024);
		return;
	}
	state->top = hg_top_keys_create(state->nkeys, keys, types, state->limit,
									(Size) work_mem * 1024 / HG_SORT_KEYS_PART);
}

/* Creates the source of a join's or a scan's columns, of which rows may be removed. */
static void
hg_sort_begin_source(HgSortState *state, PlanState *child)
{
	TupleDesc desc = state->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	const int first = state->columns[0] - 1;
	int *attnos = palloc(Max(desc->natts, 1) * sizeof(int));

	for (int i = 0; i < desc->natts; i++)
		attnos[i] = i + 1;
	state->source = hg_join_source_create(child, desc->natts, attnos);
	/* values of the first rows are copied row by row */
	if (state->top != NULL)
		state->source->max_bytes = 0;
	hg_join_source_take_all(state->source);
	state->batch = hg_batch_create(desc->natts);
	state->stored = hg_batch_create(desc->natts);
	if (state->top == NULL)
		return;
	state->filter =
		hg_top_filter_create(state->top, TupleDescAttr(desc, first), state->operators[0]);
	if (state->filter == NULL)
		return;
	state->filters_source = hg_join_source_join(state->source) == NULL;
	if (state->filters_source)
	{
		state->filter->order.column = first;
		state->source->order = &state->filter->order;
	}
	else
		hg_join_source_set_top(state->source, first, state->filter);
}

static void
hg_sort_begin(CustomScanState *node, EState *estate, int eflags)
{
	HgSortState *state = (HgSortState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	TupleDesc desc = node->ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	PlanState *child;

	Assert(list_length(cscan->custom_private) == HG_SORT_PRIVATE_COUNT);
	state->random_access = (eflags & EXEC_FLAG_REWIND) != 0;
	/* the input is read forward once, and from the start after a rescan */
	child = ExecInitNode(linitial(cscan->custom_plans), estate,
						 eflags & ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK));
	node->custom_ps = list_make1(child);
	state->limit = intVal(list_nth(cscan->custom_private, HG_SORT_LIMIT));
	state->temporary =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraphSort", ALLOCSET_DEFAULT_SIZES);
	state->found = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
	hg_sort_begin_keys(state, cscan);
	hg_sort_begin_order(state);
	if (state->top == NULL || !hg_aggregate_set_limit(child, state->top, state->columns[0]))
		hg_sort_begin_source(state, child);
}

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

/* Sorts a row, whose keys are the current ones, unless it is rejected. */
static void
hg_sort_add(HgSortState *state, TupleTableSlot *slot)
{
	tuplesort_puttupleslot(state->sort, slot);
	hg_top_keys_add(state->top, state->key_values, state->key_nulls);
}

/* Sets the current keys to those of a row of the batch; returns false if the row is rejected. */
static inline bool
hg_sort_takes_row(HgSortState *state, int row)
{
	const HgBatch *batch = state->batch;
	const int first = state->columns[0] - 1;

	if (hg_top_keys_rejects_first(state->top, batch->values[first][row],
								  hg_batch_is_null(batch, first, row)))
		return false;
	for (int k = 0; k < state->nkeys; k++)
	{
		int column = state->columns[k] - 1;

		state->key_values[k] = batch->values[column][row];
		state->key_nulls[k] = hg_batch_is_null(batch, column, row);
	}
	return state->nkeys == 1 ||
		   !hg_top_keys_rejects(state->top, state->key_values, state->key_nulls);
}

/* Loads a row of a batch into the scan slot. */
static TupleTableSlot *
hg_sort_load_row(HgSortState *state, const HgBatch *batch, int row)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	for (int c = 0; c < slot->tts_tupleDescriptor->natts; c++)
	{
		slot->tts_isnull[c] = hg_batch_is_null(batch, c, row);
		slot->tts_values[c] = slot->tts_isnull[c] ? (Datum) 0 : batch->values[c][row];
	}
	return ExecStoreVirtualTuple(slot);
}

/* Fetches the next batch of columns, and counts its rows; returns false at the end. */
static bool
hg_sort_fetch(HgSortState *state)
{
	const uint64 removed = state->filter != NULL ? state->filter->removed : 0;
	bool found;

	if (state->filters_source)
	{
		state->source->check = hg_top_filter_check(state->filter);
		state->source->max_rows = hg_top_filter_batch_rows(state->filter);
	}
	found = state->source->next(state->source, state->batch);
	state->top->seen += found ? state->batch->nrows : 0;
	if (state->filter != NULL)
		state->top->seen += state->filter->removed - removed;
	return found;
}

/* Sorts the rows of a join or a scan. */
static void
hg_sort_read_columns(HgSortState *state)
{
	const uint64 removed = state->filter != NULL ? state->filter->removed : 0;

	while (hg_sort_fetch(state))
	{
		MemoryContext old = MemoryContextSwitchTo(state->temporary);

		CHECK_FOR_INTERRUPTS();
		/* rows often come in the order of a sort key, or against it: then the last is the first */
		for (int row = state->batch->nrows - 1; row >= 0; row--)
			if (hg_sort_takes_row(state, row))
				hg_sort_add(state, hg_sort_load_row(state, state->batch, row));
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->temporary);
	}
	if (state->filter == NULL)
		return;
	/* processes of a parallel query add these counts up */
	InstrCountFiltered1(&state->css, state->filter->removed - removed);
	hg_top_filter_restart(state->filter);
}

/* Sorts the rows of an aggregate. */
static void
hg_sort_read_slots(HgSortState *state)
{
	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(linitial(state->css.custom_ps));
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(slot))
			break;
		old = MemoryContextSwitchTo(state->temporary);
		for (int k = 0; k < state->nkeys; k++)
			state->key_values[k] = slot_getattr(slot, state->columns[k], &state->key_nulls[k]);
		if (!hg_top_keys_rejects(state->top, state->key_values, state->key_nulls))
			hg_sort_add(state, slot);
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->temporary);
	}
}

/* Begins core's sort of the rows, which may take so much memory. */
static void
hg_sort_begin_tuples(HgSortState *state, int kilobytes)
{
	int options = (state->top != NULL ? TUPLESORT_ALLOWBOUNDED : TUPLESORT_NONE) |
				  (state->random_access ? TUPLESORT_RANDOMACCESS : TUPLESORT_NONE);

	state->sort = tuplesort_begin_heap(
		state->found->tts_tupleDescriptor, state->nkeys, state->columns, state->operators,
		state->collations, state->nulls_first, Max(kilobytes, HG_SORT_LEAST_KB), NULL, options);
}

/* Hands the rows of a batch to core's sort. */
static void
hg_sort_put_batch(HgSortState *state, const HgBatch *batch)
{
	CHECK_FOR_INTERRUPTS();
	for (int row = 0; row < batch->nrows; row++)
		tuplesort_puttupleslot(state->sort, hg_sort_load_row(state, batch, row));
}

/* Reads all rows, and sorts them in memory, or by core's sort if they do not fit. */
static void
hg_sort_read_all(HgSortState *state)
{
	bool fits = true;

	while (fits && state->source->next(state->source, state->batch))
	{
		CHECK_FOR_INTERRUPTS();
		fits = hg_sort_rows_add(state->rows, state->batch);
	}
	if (fits)
	{
		MemoryContext old = MemoryContextSwitchTo(state->temporary);

		hg_sort_rows_sort(state->rows);
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->temporary);
		state->in_memory = true;
		return;
	}
	hg_sort_begin_tuples(state, work_mem / HG_SORT_SPILL_PART);
	while (hg_sort_rows_next(state->rows, state->stored))
		hg_sort_put_batch(state, state->stored);
	hg_sort_rows_clear(state->rows);
	while (state->source->next(state->source, state->batch))
		hg_sort_put_batch(state, state->batch);
	tuplesort_performsort(state->sort);
}

/* Reads the input and sorts the first rows. */
static void
hg_sort_read_first(HgSortState *state)
{
	hg_sort_begin_tuples(state, work_mem - work_mem / HG_SORT_KEYS_PART);
	tuplesort_set_bound(state->sort, state->limit);
	if (state->source != NULL)
		hg_sort_read_columns(state);
	else
		hg_sort_read_slots(state);
	tuplesort_performsort(state->sort);
	hg_top_keys_reset(state->top);
}

/* Loads the next row of core's sort into the scan slot; returns NULL at the end. */
static TupleTableSlot *
hg_sort_next_tuple(HgSortState *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	int natts = slot->tts_tupleDescriptor->natts;

	ExecClearTuple(slot);
	if (!tuplesort_gettupleslot(state->sort, true, false, state->found, NULL))
		return NULL;
	slot_getallattrs(state->found);
	memcpy(slot->tts_values, state->found->tts_values, natts * sizeof(Datum));
	memcpy(slot->tts_isnull, state->found->tts_isnull, natts * sizeof(bool));
	return ExecStoreVirtualTuple(slot);
}

/* Loads the next row in memory into the scan slot; returns NULL at the end. */
static TupleTableSlot *
hg_sort_next_row(HgSortState *state)
{
	if (state->next_row == state->stored->nrows)
	{
		state->next_row = 0;
		if (!hg_sort_rows_next(state->rows, state->stored))
			return NULL;
	}
	return hg_sort_load_row(state, state->stored, state->next_row++);
}

static TupleTableSlot *
hg_sort_exec(CustomScanState *node)
{
	HgSortState *state = (HgSortState *) node;
	ScanState *ss = &node->ss;
	TupleTableSlot *slot;

	if (state->sort == NULL && !state->in_memory)
	{
		if (state->top != NULL)
			hg_sort_read_first(state);
		else
			hg_sort_read_all(state);
	}
	ResetExprContext(ss->ps.ps_ExprContext);
	slot = state->in_memory ? hg_sort_next_row(state) : hg_sort_next_tuple(state);
	if (slot == NULL)
		return NULL;
	ss->ps.ps_ExprContext->ecxt_scantuple = slot;
	return ss->ps.ps_ProjInfo != NULL ? ExecProject(ss->ps.ps_ProjInfo) : slot;
}

/* ---------------------------------------------------------------------
 * Again, the end, and EXPLAIN
 * ---------------------------------------------------------------------
 */

/* Begins to return rows in memory again. */
static void
hg_sort_rewind_rows(HgSortState *state)
{
	if (state->rows == NULL)
		return;
	hg_sort_rows_rewind(state->rows);
	state->stored->nrows = state->next_row = 0;
}

/* Frees the sorted rows. */
static void
hg_sort_forget(HgSortState *state)
{
	ExecClearTuple(state->css.ss.ss_ScanTupleSlot);
	ExecClearTuple(state->found);
	if (state->sort != NULL)
		tuplesort_end(state->sort);
	state->sort = NULL;
	if (state->top != NULL)
		hg_top_keys_reset(state->top);
	if (state->rows != NULL)
		hg_sort_rows_clear(state->rows);
	hg_sort_rewind_rows(state);
	state->in_memory = false;
}

static void
hg_sort_rescan(CustomScanState *node)
{
	HgSortState *state = (HgSortState *) node;
	PlanState *child = linitial(node->custom_ps);

	/* core does this for outer and inner plans, but not for custom ones */
	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, node->ss.ps.chgParam);
	if (state->sort == NULL && !state->in_memory)
		return;
	if ((state->random_access || state->in_memory) && child->chgParam == NULL)
	{
		ExecClearTuple(node->ss.ss_ScanTupleSlot);
		ExecClearTuple(state->found);
		if (state->in_memory)
			hg_sort_rewind_rows(state);
		else
			tuplesort_rescan(state->sort);
		return;
	}
	hg_sort_forget(state);
	if (state->source != NULL)
		state->source->restart(state->source);
	/* a child with changed parameters rescans itself */
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
hg_sort_end(CustomScanState *node)
{
	HgSortState *state = (HgSortState *) node;

	hg_sort_forget(state);
	if (state->top != NULL)
		MemoryContextDelete(state->top->context);
	MemoryContextDelete(state->temporary);
	ExecEndNode(linitial(node->custom_ps));
}

/* Appends what a sort key has beside its expression, as core's EXPLAIN does. */
static void
hg_sort_explain_order(const HgSortState *state, int k, const Expr *expr, StringInfo key)
{
	Oid type = exprType((const Node *) expr);
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	bool reverse = false;

	if (OidIsValid(state->collations[k]) && state->collations[k] != get_typcollation(type))
		appendStringInfo(key, " COLLATE %s",
						 quote_identifier(get_collation_name(state->collations[k])));
	if (state->operators[k] == entry->gt_opr)
	{
		appendStringInfoString(key, " DESC");
		reverse = true;
	}
	else if (state->operators[k] != entry->lt_opr)
	{
		appendStringInfo(key, " USING %s", get_opname(state->operators[k]));
		(void) get_equality_op_for_ordering_op(state->operators[k], &reverse);
	}
	if (state->nulls_first[k] && !reverse)
		appendStringInfoString(key, " NULLS FIRST");
	else if (!state->nulls_first[k] && reverse)
		appendStringInfoString(key, " NULLS LAST");
}

/* Shows the memory of all rows, and their temporary file. */
static void
hg_sort_explain_memory(const HgSortState *state, ExplainState *es)
{
	TuplesortInstrumentation tuples;

	if (state->sort == NULL && !state->in_memory)
		return;
	hg_explain_bytes("Memory Usage", hg_sort_rows_peak(state->rows), es);
	if (state->in_memory)
		return;
	tuplesort_get_stats(state->sort, &tuples);
	if (tuples.spaceType == SORT_SPACE_TYPE_DISK)
		hg_explain_bytes("Disk Usage", (uint64) tuples.spaceUsed * 1024, es);
}

/* Shows what was read, and what the node removed from scans. */
static void
hg_sort_explain_source(const HgSortState *state, ExplainState *es)
{
	const NodeInstrumentation *instrument = state->css.ss.ps.instrument;
	const HgBatchSource *source = state->source;

	if (!es->analyze)
	{
		hg_explain_expected_blocks(source, &hg_sort_block_labels, es);
		return;
	}
	if (instrument != NULL && instrument->nfiltered1 > 0)
		ExplainPropertyUInteger("Rows Removed by Runtime Filter", NULL,
								(uint64) instrument->nfiltered1, es);
	hg_explain_blocks(&hg_sort_block_labels, hg_scan_tables_blocks(source->tables), es);
	hg_explain_not_cached(source, &hg_sort_block_labels, es);
}

static void
hg_sort_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const HgSortState *state = (const HgSortState *) node;
	const CustomScan *cscan = (const CustomScan *) node->ss.ps.plan;
	List *context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, ancestors);
	List *names = NIL;

	for (int k = 0; k < state->nkeys; k++)
	{
		TargetEntry *tle =
			list_nth_node(TargetEntry, cscan->custom_scan_tlist, state->columns[k] - 1);
		Var *var = makeVarFromTargetEntry(INDEX_VAR, tle);
		StringInfoData key;

		initStringInfo(&key);
		appendStringInfoString(
			&key, deparse_expression((Node *) var, context, hg_explain_has_prefix(es), true));
		hg_sort_explain_order(state, k, tle->expr, &key);
		names = lappend(names, key.data);
	}
	ExplainPropertyList("Sort Key", names, es);
	if (state->limit > 0)
		ExplainPropertyInteger("Limit", NULL, state->limit, es);
	if (es->analyze && state->rows != NULL)
		hg_sort_explain_memory(state, es);
	if (state->source != NULL)
		hg_sort_explain_source(state, es);
}

static const CustomExecMethods hg_sort_exec_methods = {
	.CustomName = "HashGraphSort",
	.BeginCustomScan = hg_sort_begin,
	.ExecCustomScan = hg_sort_exec,
	.EndCustomScan = hg_sort_end,
	.ReScanCustomScan = hg_sort_rescan,
	.ExplainCustomScan = hg_sort_explain,
};

static Node *
hg_sort_create_state(CustomScan *cscan)
{
	return hg_library_create_state(cscan, sizeof(HgSortState), &hg_sort_exec_methods);
}

const CustomScanMethods hg_sort_scan_methods = {
	.CustomName = "HashGraphSort",
	.CreateCustomScanState = hg_sort_create_state,
};
