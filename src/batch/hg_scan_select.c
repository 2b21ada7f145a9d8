/*-------------------------------------------------------------------------
 *
 * hg_scan_select.c
 *	  Filters the rows of a table scan by the plan's qual and by the consumer's check.
 *
 * The qual is evaluated before other columns are extracted: predicates (hg_scan_qual.h) over
 * columns, and the other clauses row by row, over the scan's slot.
 *
 * The check is applied ahead of the qual if it seems to reject more rows for its cost.  It has no
 * effects and raises no error, so that the qual's clauses keep their order but see fewer rows.
 * The check does not go ahead if that is visible: if a clause calls volatile functions, or while a
 * clause waits for the result of a plan that no row has needed yet.  A hashed subplan and an
 * initial plan are run for the first row that needs them; a plan that is run for each row is
 * always waited for.
 *
 * Results of plans become constants of the predicates after the first row that has needed them,
 * because an initial plan's result does not change.  If one changes after all, because of a rescan
 * by a plan above or because the initial plan is run again, the clauses that use it are evaluated
 * row by row.
 *
 * The plan node's counters are raised as core raises them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "batch/hg_bound_params.h"
#include "batch/hg_scan_qual.h"
#include "engine/hg_cost_table.h"

/* Estimates the ns of the qual for a row. */
static void
hg_select_weigh(HgScanSelect *select)
{
	select->qual_cost = 0;
	if (select->column_qual != NULL)
		select->qual_cost +=
			hg_column_qual_is_fixed(select->column_qual) ? HG_FIXED_QUAL_NS : HG_WALKED_QUAL_NS;
	if (select->row_qual != NULL)
		select->qual_cost += HG_ROW_QUAL_NS;
}

bool
hg_scan_select_awaits_param(const HgScanSelect *select)
{
	const PlanState *plan = &select->node->ss.ps;
	int param = -1;
	ListCell *lc;

	while ((param = bms_next_member(select->qual_params, param)) >= 0)
		if (plan->state->es_param_exec_vals[param].execPlan != NULL)
			return true;
	foreach (lc, plan->subPlan)
	{
		const SubPlanState *subplan = lfirst_node(SubPlanState, lc);

		if (subplan->hashtable == NULL || subplan->planstate->chgParam != NULL)
			return true;
	}
	return false;
}

/* Splits the plan's qual, in CurrentMemoryContext; computed: results of plans are constants. */
static void
hg_select_part_qual(HgScanSelect *select, bool computed)
{
	PlanState *plan = &select->node->ss.ps;
	Node *qual = (Node *) plan->plan->qual;
	List *rest;

	select->column_qual =
		hg_column_qual_create(RelationGetDescr(select->node->ss.ss_currentRelation),
							  castNode(List, hg_bind_params(qual, plan->state, computed)), &rest);
	select->row_qual = select->column_qual != NULL ? ExecInitQual(rest, plan) : plan->qual;
	hg_select_weigh(select);
}

HgScanSelect *
hg_scan_select_create(SeqScanState *node, int nattnos, const AttrNumber *attnos)
{
	HgScanSelect *select = palloc0(sizeof(HgScanSelect));
	Node *qual = (Node *) node->ss.ps.plan->qual;

	select->node = node;
	select->nattnos = nattnos;
	select->attnos = attnos;
	select->qual_volatile = contain_volatile_functions(qual);
	select->qual_params = hg_find_params(qual, PARAM_EXEC);
	/* a subplan belongs to its expression */
	if (contain_subplans(qual))
	{
		select->row_qual = node->ss.ps.qual;
		hg_select_weigh(select);
		return select;
	}
	hg_select_part_qual(select, false);
	select->first_column_qual = select->column_qual;
	select->first_row_qual = select->row_qual;
	if (select->qual_params != NULL)
		select->params = HG_PARAMS_UNKNOWN;
	return select;
}

/* Stops treating parameters as constants. */
static void
hg_select_give_params_up(HgScanSelect *select)
{
	select->params = HG_PARAMS_NONE;
	select->column_qual = select->first_column_qual;
	select->row_qual = select->first_row_qual;
	hg_select_weigh(select);
}

void
hg_scan_select_bind_params(HgScanSelect *select)
{
	MemoryContext old;

	if (select->params == HG_PARAMS_NONE ||
		hg_scan_select_awaits_param(select) == (select->params == HG_PARAMS_UNKNOWN))
		return;
	if (select->params == HG_PARAMS_BOUND)
	{
		hg_select_give_params_up(select);
		return;
	}
	old = MemoryContextSwitchTo(GetMemoryChunkContext(select));
	hg_select_part_qual(select, true);
	select->params = HG_PARAMS_BOUND;
	MemoryContextSwitchTo(old);
}

void
hg_scan_select_rescan(HgScanSelect *select, const Bitmapset *changed)
{
	if (select->params != HG_PARAMS_NONE && bms_overlap(changed, select->qual_params))
		hg_select_give_params_up(select);
}

/* Returns true if it pays to apply the check ahead of the qual. */
static bool
hg_select_check_pays(const HgScanSelect *select, const HgRowCheck *check)
{
	double dropped;

	if (check->apply == NULL)
		return false;
	if (select->qual_cost == 0)
		return check->apply_arrays != NULL || check->ncolumns < select->nattnos;
	/* compares rejected rows for their cost */
	dropped = select->seen > 0 ? 1 - (double) select->passed / select->seen : 0;
	return (1 - check->share) * select->qual_cost > dropped * HG_CHECK_NS;
}

bool
hg_scan_select_begin(HgScanSelect *select, HgRowCheck *check)
{
	bool ahead = check != NULL && !select->qual_volatile && !hg_scan_select_awaits_param(select);

	select->check = ahead && hg_select_check_pays(select, check) ? check : NULL;
	select->bounds_check = ahead && check->rejects_all != NULL ? check : NULL;
	if (select->check_attnos == NULL && (select->check != NULL || select->bounds_check != NULL))
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(select));

		select->ncheck_attnos = check->ncolumns;
		select->check_attnos = palloc(Max(check->ncolumns, 1) * sizeof(AttrNumber));
		for (int i = 0; i < check->ncolumns; i++)
			select->check_attnos[i] = select->attnos[check->columns[i]];
		select->check_batch = hg_batch_create(check->ncolumns);
		if (check->takes_scaled)
			select->check_batch->takes_scaled[0] = true;
		MemoryContextSwitchTo(old);
	}
	return select->check != NULL;
}

HgBatch *
hg_scan_select_check_batch(HgScanSelect *select)
{
	hg_batch_clear(select->check_batch);
	return select->check_batch;
}

int
hg_scan_select_check(HgScanSelect *select, uint16 *which)
{
	return select->check->apply(select->check, select->check_batch, which);
}

bool
hg_scan_select_rest(HgScanSelect *select, bool in_order, const HgSelectedRows *left, int i)
{
	ExprContext *econtext = select->node->ss.ps.ps_ExprContext;
	bool whole = in_order || (left->any_recheck && left->recheck[i]);

	ResetExprContext(econtext);
	return ExecQual(whole ? select->node->ss.ps.qual : select->row_qual, econtext);
}

bool
hg_scan_select_is_columns(const HgScanSelect *select)
{
	return select->row_qual == NULL && select->qual_params == NULL && !select->qual_volatile;
}

void
hg_scan_select_count(HgScanSelect *select, int seen, int passed)
{
	InstrCountFiltered1(select->node, seen - passed);
	if (select->check == NULL)
	{
		select->seen += seen;
		select->passed += passed;
	}
}
