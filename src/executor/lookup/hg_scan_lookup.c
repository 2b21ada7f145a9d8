/*-------------------------------------------------------------------------
 *
 * hg_scan_lookup.c
 *	  The lookup node: Custom Scan (HashGraphLookup).
 *
 * The node stands above the scan of a relation in a subquery that is executed for each row of a
 * query around it.  Some clauses of the scan compare an expression over the relation with values
 * of that row: these hash clauses, and all that are evaluated after them, belong to the node.
 *
 * The node has two children: the scan without the node's clauses, and the complete scan with all
 * clauses.  The first executions return what the complete scan returns, so that a subquery that is
 * executed a few times costs no more than without the node.  A later one reads the other child,
 * sorts its rows by the hash of the key (hg_lookup_rows.c), and looks up those with the hash of
 * its own values.  Rows of a hash stay in the order of the scan.  All clauses are still evaluated
 * in their order, so that a hash is never trusted.
 *
 * ERRORS.  An execution that stops early, as EXISTS does, evaluates no expression for the rows
 * that follow.  The rows are therefore sorted only if executions have read the complete scan to its
 * end, so that it is known to raise no error, or if the planner knows that it raises none and there
 * have been many executions.
 *
 * If a parameter of the scan itself changes, the rows are forgotten, and all begins anew.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "backend/hg_library.h"
#include "executor/join/hg_join_explain.h"
#include "executor/join/hg_join_rows.h"
#include "executor/lookup/hg_lookup_rows.h"
#include "executor/lookup/hg_scan_lookup.h"

/*
 * Executions that read the scan to its end before its rows are sorted, and executions before that
 * where each may stop early.  Sorting 500,000 rows took as long as reading them some ten times, so
 * that executions stop paying for it at about 30.
 */
#define HG_READS_FOR_SORT 20
#define HG_EXECUTIONS_FOR_SORT 100

typedef struct HgScanLookupState
{
	CustomScanState css; /* must be first */
	List *keys;			 /* ExprStates */
	List *values;		 /* ExprStates */
	FmgrInfo *key_hashes;
	FmgrInfo *value_hashes;
	List *collations;
	bool reads_on; /* HG_SCAN_LOOKUP_READS_ON */

	/* the scan, since one of its parameters changed */
	int reads_to_end;	/* executions of it that have returned all rows */
	uint64 executions;	/* executions of it */
	uint64 nrows;		/* its rows, if they are sorted */
	bool sorted;		/* rows has them, but those with a NULL key */
	bool does_not_sort; /* the index of rows exceeds memory: never try again */
	HgLookupRows rows;

	/* the current execution */
	bool started;
	bool ended;

	/* for EXPLAIN */
	uint64 lookups;
	uint64 hashed_rows;
	uint64 memory_bytes;
	uint64 disk_bytes;
} HgScanLookupState;

/* Returns the call information of hash functions. */
static FmgrInfo *
hg_scan_lookup_functions(List *oids)
{
	FmgrInfo *functions = palloc(list_length(oids) * sizeof(FmgrInfo));
	ListCell *lc;

	foreach (lc, oids)
		fmgr_info(lfirst_oid(lc), &functions[foreach_current_index(lc)]);
	return functions;
}

static void
hg_scan_lookup_begin(CustomScanState *node, EState *estate, int eflags)
{
	HgScanLookupState *state = (HgScanLookupState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	List *private = cscan->custom_private;
	ListCell *lc;

	Assert(list_length(private) == HG_SCAN_LOOKUP_PRIVATE_COUNT);
	/* the scans are read forward, and from their start after a rescan */
	foreach (lc, cscan->custom_plans)
		node->custom_ps =
			lappend(node->custom_ps, ExecInitNode(lfirst(lc), estate,
												  eflags & ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK)));
	state->keys =
		ExecInitExprList(list_nth(cscan->custom_exprs, HG_SCAN_LOOKUP_KEYS), &node->ss.ps);
	state->values =
		ExecInitExprList(list_nth(cscan->custom_exprs, HG_SCAN_LOOKUP_VALUES), &node->ss.ps);
	state->key_hashes = hg_scan_lookup_functions(list_nth(private, HG_SCAN_LOOKUP_KEY_HASHES));
	state->value_hashes = hg_scan_lookup_functions(list_nth(private, HG_SCAN_LOOKUP_VALUE_HASHES));
	state->collations = list_nth(private, HG_SCAN_LOOKUP_COLLATIONS);
	state->reads_on = intVal(list_nth(private, HG_SCAN_LOOKUP_READS_ON)) != 0;
	hg_lookup_rows_init(&state->rows, estate, ExecGetResultType(linitial(node->custom_ps)));
}

/* ---------------------------------------------------------------------
 * Sorting the rows by hash
 * ---------------------------------------------------------------------
 */

/* Computes the hash of expressions; returns false if one of them is NULL. */
static bool
hg_scan_lookup_hash(const HgScanLookupState *state, List *exprs, FmgrInfo *functions, uint32 *hash)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	bool is_null = false;
	ListCell *lc;

	*hash = 0;
	foreach (lc, exprs)
	{
		int i = foreach_current_index(lc);
		Datum value = ExecEvalExpr((ExprState *) lfirst(lc), econtext, &is_null);

		if (is_null)
			break;
		*hash = pg_rotate_left32(*hash, 1) ^
				DatumGetUInt32(
					FunctionCall1Coll(&functions[i], list_nth_oid(state->collations, i), value));
	}
	MemoryContextSwitchTo(old);
	return !is_null;
}

/* Loads a row into the scan slot, without the columns ahead of the scan's. */
static TupleTableSlot *
hg_scan_lookup_load(HgScanLookupState *state, TupleTableSlot *row, int ahead)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	int natts = slot->tts_tupleDescriptor->natts;

	slot_getallattrs(row);
	ExecClearTuple(slot);
	memcpy(slot->tts_values, row->tts_values + ahead, natts * sizeof(Datum));
	memcpy(slot->tts_isnull, row->tts_isnull + ahead, natts * sizeof(bool));
	return ExecStoreVirtualTuple(slot);
}

/* Reads the scan without the node's clauses, for the first time, and sorts its rows. */
static void
hg_scan_lookup_sort(HgScanLookupState *state)
{
	PlanState *child = linitial(state->css.custom_ps);
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	HgLookupRows *rows = &state->rows;

	hg_lookup_rows_start(rows);
	for (state->nrows = 0;; state->nrows++)
	{
		TupleTableSlot *row = ExecProcNode(child);
		uint32 hash;

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(row))
			break;
		ResetExprContext(econtext);
		econtext->ecxt_scantuple = hg_scan_lookup_load(state, row, 0);
		if (hg_scan_lookup_hash(state, state->keys, state->key_hashes, &hash))
			hg_lookup_rows_add(rows, hash, econtext->ecxt_scantuple);
	}
	ExecClearTuple(state->css.ss.ss_ScanTupleSlot);
	state->sorted = hg_lookup_rows_finish(rows);
	state->does_not_sort = !state->sorted;
	state->hashed_rows = rows->nrows;
	state->memory_bytes = Max(state->memory_bytes, hg_lookup_rows_memory(rows));
	if (rows->file != NULL)
		state->disk_bytes = Max(state->disk_bytes, rows->bytes);
}

/* ---------------------------------------------------------------------
 * Returning rows
 * ---------------------------------------------------------------------
 */

/* Returns true if the rows are to be sorted before the execution that starts. */
static bool
hg_scan_lookup_may_sort(const HgScanLookupState *state)
{
	return !state->sorted && !state->does_not_sort &&
		   (state->reads_to_end >= HG_READS_FOR_SORT ||
			(state->reads_on && state->executions >= HG_EXECUTIONS_FOR_SORT));
}

/* Starts an execution. */
static void
hg_scan_lookup_start(HgScanLookupState *state)
{
	uint32 hash;

	state->started = true;
	if (hg_scan_lookup_may_sort(state))
		hg_scan_lookup_sort(state);
	if (!state->sorted)
	{
		state->executions++;
		return;
	}
	state->lookups++;
	/* without a row, no clause would be evaluated */
	state->ended =
		state->nrows == 0 || !hg_scan_lookup_hash(state, state->values, state->value_hashes, &hash);
	if (!state->ended)
		hg_lookup_rows_seek(&state->rows, hash);
}

/* Returns the next row that has been looked up and passes the clauses; NULL at the end. */
static TupleTableSlot *
hg_scan_lookup_found(HgScanLookupState *state)
{
	ScanState *ss = &state->css.ss;
	TupleTableSlot *row;

	while ((row = hg_lookup_rows_next(&state->rows)) != NULL)
	{
		TupleTableSlot *slot;

		CHECK_FOR_INTERRUPTS();
		slot = hg_join_return_slot(ss, hg_scan_lookup_load(state, row, HG_LOOKUP_COLUMNS));
		if (slot != NULL)
			return slot;
		ResetExprContext(ss->ps.ps_ExprContext);
	}
	return NULL;
}

/* Returns the next row of the scan with all clauses; NULL at the end. */
static TupleTableSlot *
hg_scan_lookup_read(HgScanLookupState *state)
{
	ScanState *ss = &state->css.ss;
	TupleTableSlot *row = ExecProcNode(lsecond(state->css.custom_ps));

	if (TupIsNull(row))
	{
		state->reads_to_end++;
		return NULL;
	}
	row = hg_scan_lookup_load(state, row, 0);
	if (ss->ps.ps_ProjInfo == NULL)
		return row;
	ss->ps.ps_ExprContext->ecxt_scantuple = row;
	return ExecProject(ss->ps.ps_ProjInfo);
}

static TupleTableSlot *
hg_scan_lookup_exec(CustomScanState *node)
{
	HgScanLookupState *state = (HgScanLookupState *) node;
	TupleTableSlot *slot = NULL;

	ResetExprContext(node->ss.ps.ps_ExprContext);
	if (!state->started)
		hg_scan_lookup_start(state);
	if (!state->ended)
		slot = state->sorted ? hg_scan_lookup_found(state) : hg_scan_lookup_read(state);
	if (slot == NULL)
	{
		state->ended = true;
		ExecClearTuple(node->ss.ss_ScanTupleSlot);
	}
	return slot;
}

/* ---------------------------------------------------------------------
 * Again, the end, and EXPLAIN
 * ---------------------------------------------------------------------
 */

static void
hg_scan_lookup_rescan(CustomScanState *node)
{
	HgScanLookupState *state = (HgScanLookupState *) node;
	const Bitmapset *changed = node->ss.ps.chgParam;
	PlanState *unsorted = linitial(node->custom_ps);
	PlanState *scan = lsecond(node->custom_ps);

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	/* core does this for outer and inner plans, but not for custom ones */
	if (changed != NULL)
	{
		UpdateChangedParamSet(unsorted, (Bitmapset *) changed);
		UpdateChangedParamSet(scan, (Bitmapset *) changed);
	}
	if (unsorted->chgParam != NULL)
	{
		hg_lookup_rows_reset(&state->rows);
		state->sorted = false;
		state->reads_to_end = 0;
		state->executions = 0;
		/* it is not read each time, so that it would not forget that they have changed */
		ExecReScan(unsorted);
	}
	/* a child with changed parameters rescans itself */
	if (!state->sorted && scan->chgParam == NULL)
		ExecReScan(scan);
	state->started = state->ended = false;
}

static void
hg_scan_lookup_end(CustomScanState *node)
{
	HgScanLookupState *state = (HgScanLookupState *) node;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	hg_lookup_rows_reset(&state->rows);
	MemoryContextDelete(state->rows.context);
	ExecEndNode(linitial(node->custom_ps));
	ExecEndNode(lsecond(node->custom_ps));
}

static void
hg_scan_lookup_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const HgScanLookupState *state = (const HgScanLookupState *) node;
	const CustomScan *cscan = (const CustomScan *) node->ss.ps.plan;
	List *clauses = NIL;
	ListCell *lc;

	foreach (lc, list_nth(cscan->custom_private, HG_SCAN_LOOKUP_CLAUSES))
		clauses = lappend(clauses, list_nth(cscan->scan.plan.qual, lfirst_int(lc)));
	hg_explain_qual(node, clauses, "Hash Cond", ancestors, es);
	if (!es->analyze)
		return;
	ExplainPropertyUInteger("Lookups", NULL, state->lookups, es);
	if (state->lookups == 0)
		return;
	ExplainPropertyUInteger("Hashed Rows", NULL, state->hashed_rows, es);
	hg_explain_bytes("Memory Usage", state->memory_bytes, es);
	if (state->disk_bytes > 0)
		hg_explain_bytes("Disk Usage", state->disk_bytes, es);
}

static const CustomExecMethods hg_scan_lookup_exec_methods = {
	.CustomName = "HashGraphLookup",
	.BeginCustomScan = hg_scan_lookup_begin,
	.ExecCustomScan = hg_scan_lookup_exec,
	.EndCustomScan = hg_scan_lookup_end,
	.ReScanCustomScan = hg_scan_lookup_rescan,
	.ExplainCustomScan = hg_scan_lookup_explain,
};

static Node *
hg_scan_lookup_create_state(CustomScan *cscan)
{
	return hg_library_create_state(cscan, sizeof(HgScanLookupState), &hg_scan_lookup_exec_methods);
}

const CustomScanMethods hg_scan_lookup_methods = {
	.CustomName = "HashGraphLookup",
	.CreateCustomScanState = hg_scan_lookup_create_state,
};
