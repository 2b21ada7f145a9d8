/*-------------------------------------------------------------------------
 *
 * hg_join_upload.c
 *	  Asynchronous upload: which joins send keys to a device while they read their sides.
 *
 * An upload holds its device memory and lease while both sides are read (hg_upload.h).  So both
 * sides must be sequential scans of tables that nothing delays: no slow child plan, no client that
 * reads its rows slowly, no other join of this process that needs the device too.  The expressions
 * of the scans and of the keys must not delay them either.  They may call only built-in functions
 * that are not volatile (pg_sleep is), no subplan, and no parameter whose value a subplan must
 * still compute.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "executor/join/hg_join_cover.h"
#include "executor/join/hg_join_state.h"
#include "hg_guc.h"

/* Returns true if a function may run a query, or take any time. */
static bool
hg_join_function_may_wait(Oid function, void *context pg_attribute_unused())
{
	HeapTuple tuple;
	Form_pg_proc form;
	bool may;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return true;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	may = form->prolang != INTERNALlanguageId || form->provolatile == PROVOLATILE_VOLATILE;
	ReleaseSysCache(tuple);
	return may;
}

static bool
hg_join_expression_may_wait(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, CoerceToDomain) ||
		(IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC) ||
		check_functions_in_node(node, hg_join_function_may_wait, context))
		return true;
	return expression_tree_walker(node, hg_join_expression_may_wait, context);
}

/* Returns true if a side is read without waiting for anything. */
static bool
hg_join_is_steady(const HgInput *input)
{
	const Plan *plan = input->child.plan->plan;

	if (!IsA(plan, SeqScan) || hg_join_expression_may_wait((Node *) plan->qual, NULL) ||
		hg_join_expression_may_wait((Node *) plan->targetlist, NULL))
		return false;
	for (int p = 0; p < input->child.keys.encoder->nparts; p++)
	{
		const HgKeyPart *part = &input->child.keys.encoder->parts[p];

		if ((input->child.keys.exprs != NULL &&
			 hg_join_expression_may_wait((Node *) input->child.keys.exprs[p]->expr, NULL)) ||
			(part->encoding != HG_KEY_BITS &&
			 hg_join_function_may_wait(part->hash[input->child.keys.side].fn_oid, NULL)))
			return false;
	}
	return true;
}

uint64
hg_join_expected_rows(const HgInput *input, int processes)
{
	return (uint64) Min(input->child.plan->plan->plan_rows * hg_join_processes(processes - 1),
						(double) HG_MAX_ROWS);
}

bool
hg_join_could_stream(const HgJoinState *state)
{
	return !hg_join_has_covered(state->inputs) && !state->parallel_hash && state->upload == NULL &&
		   !state->rewind && !state->rescan.inner && !state->rescan.outer_whole &&
		   !hg_join_is_spilled(&state->spill) && !state->rules.preserved[HG_OUTER] &&
		   !state->matched[HG_OUTER].tracked;
}

/* Returns the specification of an upload. */
static HgUploadSpec
hg_join_upload_spec(const HgJoinState *state, int processes, const HgReduction *reduction)
{
	HgUploadSpec spec = {.key_width = state->inputs[HG_INNER]->held.words->width,
						 .parallel = hg_join_is_parallel(state),
						 .reduction = reduction,
						 .processes = processes};

	if (hg_join_streams(&state->rules, state->matched))
	{
		spec.pairs = state->css.ss.ps.plan->plan_rows * hg_join_processes(processes - 1);
		spec.streams = hg_join_could_stream(state);
	}
	spec.match_bytes = state->memory.budget.limit * processes;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec.columns[side] = hg_join_gathered_columns(state->gather, (HgSide) side);
		spec.expected_rows[side] = hg_join_expected_rows(state->inputs[side], processes);
		spec.scan_cost += state->inputs[side]->child.plan->plan->total_cost;
	}
	return spec;
}

bool
hg_join_reads_at_once(const HgJoinState *state)
{
	/* the job has room for each process's part of a side, but not for one that reads all of it */
	return hg_backend != HG_BACKEND_CPU && state->css.ss.ps.state->es_epq_active == NULL &&
		   state->read_once < 0 && hg_join_is_steady(state->inputs[HG_OUTER]) &&
		   hg_join_is_steady(state->inputs[HG_INNER]);
}

bool
hg_join_may_upload(const HgJoinState *state, int processes, HgJobColumns *columns)
{
	HgUploadSpec spec = hg_join_upload_spec(
		state, processes, hg_join_current_reduction(state->reduction, state->matched));

	return hg_backend != HG_BACKEND_CPU && hg_upload_is_worthwhile(&spec, columns) &&
		   hg_join_reads_at_once(state);
}

void
hg_join_begin_upload(HgJoinState *state, int processes, uint64 participants_id,
					 const HgJobColumns *columns)
{
	HgUploadSpec spec = hg_join_upload_spec(
		state, processes, columns->reduces ? hg_join_planned_reduction(state->reduction) : NULL);
	MemoryContext old = MemoryContextSwitchTo(state->memory.context);

	spec.participants_id = participants_id;
	if (participants_id != 0)
		spec.device_no = state->participants.shared->device.device_no;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (!columns->gathers[side])
			spec.columns[side] = NULL;
	state->upload = hg_upload_create(&spec);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_held_set_upload(&state->inputs[side]->held, state->upload);
	MemoryContextSwitchTo(old);
}

void
hg_join_end_upload(HgUpload **upload, HgInput *const inputs[2])
{
	if (*upload == NULL)
		return;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_held_set_upload(&inputs[side]->held, NULL);
	hg_upload_destroy(*upload);
	*upload = NULL;
}
