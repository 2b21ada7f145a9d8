/*-------------------------------------------------------------------------
 *
 * hg_join.c
 *	  The join node: Custom Scan (HashGraphJoin).
 *
 * The node joins two inputs with two HashGraphs (see engine/hg_engine.h):
 *
 *	READ_INNER		All rows of the inner child become columns and key words.
 *	READ_OUTER		Rows of the outer child are read, as many as work memory holds: a chunk.
 *					Then the HashGraphs of the chunk and of the inner input are built (BUILD).
 *	RETURN			Rows of one kind are returned, batch by batch (hg_join_emit.h).
 *	END_CHUNK		Left, full and anti joins return the chunk's outer rows without a match.
 *					Then READ_OUTER reads the next chunk.  If the outer child has no more rows,
 *					right, full and right anti joins return the inner rows without a match.
 *
 * KINDS OF ROWS.  RETURN returns rows of one kind:
 *
 *	- Matches.  The engine streams pairs of row numbers.  The needed columns of both rows are
 *	  gathered, and quals are evaluated.
 *	- Groups of matches, if the node above aggregates and a device makes them (hg_join_reduce.c).
 *	- Empty rows, if only the number of rows is needed (count(*)).  Then only keys are kept, and the
 *	  engine counts.
 *	- Matches of a stream.  If the inner HashGraph is small, or inner keys are kept as bits, outer
 *	  rows are not collected: each batch is read, looked up and returned with its matches.
 *	- Rows of a side without a match, and after them those with a NULL key.
 *	- Rows of a nested loop, if there are few outer rows (hg_join_lookup.c).
 *
 * READ_INNER has other ways than to read all inner rows:
 *
 *	- A device joins the covered rows of a tree of joins, with several lookups at once.  READ_INNER
 *	  comes again for the rows that the device does not know (hg_join_star.c).
 *	- A device takes the rows of both tables out of their pages (hg_join_pages.c).
 *	- A nested loop looks up the inner rows of the outer rows.
 *	- The outer side is empty, and no row is returned.  Its first row may be fetched before
 *	  the inner child is read, and waits in its batch for READ_OUTER.
 *	- Processes below a Gather read and join both inputs together (hg_join_parallel.c).
 *
 * CHUNKS of the outer input are right for every join type.  What becomes of an outer row depends
 * on that row and on the whole inner input, which each chunk meets.  What becomes of an inner row
 * is known when all chunks are done; until then a bit for each inner row records it.  The inner
 * HashGraph is built again for each chunk.  This costs less than the chunk's own work, because the
 * inner input takes at most half of work memory, or most of it if outer rows are streamed.
 *
 * PARTITIONS.  A larger inner input goes to temporary files, and so does the outer one, both
 * partitioned by a hash of the key:
 *
 *	NEXT_PARTITION	The partition's inner rows take the place of the inner input, and its outer
 *					rows that of the outer child.  A partition that is still too large is
 *					partitioned again.
 *	NEXT_INNER		Rows of one key cannot be partitioned.  Such an inner partition is read in
 *					chunks too, each of which meets all of the partition's outer chunks.
 *					Which outer rows have found a match is kept in a file meanwhile
 *					(hg_row_bits.h), so that the last pass can return the others.
 *
 * KEYS AND QUALS.  Exact keys match if their words match.  For hashed keys the hash clauses are
 * part of join_qual, and every match is rechecked.  join_qual decides whether rows match;
 * plan.qual filters what is returned.
 *
 * RUNTIME FILTER.  If the planner's estimates or the sizes say that many outer rows match nothing,
 * the inner keys make a filter (hg_filter.h) between READ_INNER and READ_OUTER.  It removes such
 * rows while they are read or go to disk.  If both sides go to disk and the outer one has fewer
 * rows, it goes first, and its keys remove inner rows.
 *
 * RESCANS.  A side that stays the same is cached in memory if there is room, and only those of its
 * rows are joined that the other rows can match: hg_join_rescan.c.
 *
 * MEMORY.  Inputs, spill sets and bits live in the context of HgJoinMemory, a child of the query's
 * context.  Matchers live in the context of HgJoinMatching, a child of the former, which is reset
 * after each chunk.  So an error frees all of them.  Temporary files belong to the resource owner.
 * A matcher frees what it holds elsewhere (hg_matcher.c).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"

#include "backend/hg_memory.h"
#include "backend/hg_library.h"
#include "backend/hg_privilege.h"
#include "executor/join/hg_join.h"
#include "executor/join/hg_join_explain.h"
#include "executor/join/hg_join_source.h"
#include "executor/join/hg_join_state.h"

/* ---------------------------------------------------------------------
 * Setting up
 * ---------------------------------------------------------------------
 */

/* Context for rewriting a key over the scan slot to one over the child's rows. */
typedef struct HgChildKeyContext
{
	int varno;		  /* OUTER_VAR or INNER_VAR */
	int first_column; /* first column of the child in the scan slot */
} HgChildKeyContext;

static Node *
hg_child_key_mutator(Node *node, HgChildKeyContext *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var *var = copyObject((Var *) node);

		var->varno = context->varno;
		var->varattno -= context->first_column;
		return (Node *) var;
	}
	return expression_tree_mutator(node, hg_child_key_mutator, context);
}

/* Returns the index in the scan slot of a computed key's value, or -1 if the key is a column. */
static int
hg_join_computed_column(const CustomScan *cscan, HgSide side, int part)
{
	List *column_indexes = list_nth(cscan->custom_private, HG_PRIVATE_COMPUTED_KEYS);
	int nparts = list_length(list_nth(cscan->custom_private, HG_PRIVATE_OPERATORS));

	return column_indexes == NIL
			   ? -1
			   : list_nth_int(column_indexes, (side == HG_OUTER ? 0 : nparts) + part);
}

/* Returns the hash clauses for rechecks, with stored values in place of computed keys. */
static List *
hg_join_recheck_clauses(const CustomScan *cscan, List *hash_clauses)
{
	List *clauses = copyObject(hash_clauses);
	ListCell *clause;

	foreach (clause, clauses)
	{
		ListCell *arg;

		foreach (arg, lfirst_node(OpExpr, clause)->args)
		{
			HgSide side = foreach_current_index(arg) == 0 ? HG_OUTER : HG_INNER;
			int column_index = hg_join_computed_column(cscan, side, foreach_current_index(clause));
			const Node *key = lfirst(arg);

			/* a child may return the value of the expression as a column */
			if (column_index >= 0 && !hg_input_keys_is_column((const Expr *) key))
				lfirst(arg) = makeVar(INDEX_VAR, column_index + 1, exprType(key), exprTypmod(key),
									  exprCollation(key), 0);
		}
	}
	return clauses;
}

/* Creates the input of a side. */
static void
hg_join_begin_input(HgJoinState *state, HgSide side, HgKeyEncoder *encoder, List *keys,
					Bitmapset *columns)
{
	CustomScan *cscan = (CustomScan *) state->css.ss.ps.plan;
	int outer_columns = hg_join_plan_number(state, HG_NUMBER_OUTER_COLUMNS);
	int inner_columns = hg_join_plan_number(state, HG_NUMBER_INNER_COLUMNS);
	HgChildKeyContext child = {side == HG_OUTER ? OUTER_VAR : INNER_VAR,
							   side == HG_OUTER ? 0 : outer_columns};
	int child_columns = side == HG_OUTER ? outer_columns : inner_columns;
	HgInputColumn *stored = palloc(Max(child_columns + encoder->nparts, 1) * sizeof(HgInputColumn));
	int ncolumns = 0;
	HgUsed used = {0};

	for (int i = 0; i < child_columns; i++)
		if (bms_is_member(child.first_column + i, columns))
			stored[ncolumns++] = (HgInputColumn){.attno = i + 1, .to = child.first_column + i};
	for (int p = 0; p < encoder->nparts; p++)
	{
		int column_index = hg_join_computed_column(cscan, side, p);

		if (column_index >= 0 && bms_is_member(column_index, columns))
			stored[ncolumns++] = (HgInputColumn){.part = p, .to = column_index};
	}
	/* parameters of a subplan do not show in the expression: assume all */
	hg_used_add(&used, (Node *) keys);
	state->params[side] =
		contain_subplans((Node *) keys) ? bms_copy(cscan->scan.plan.allParam) : used.params;
	state->inputs[side] =
		hg_input_create(side, list_nth(state->css.custom_ps, side), &state->css.ss, encoder,
						(List *) hg_child_key_mutator((Node *) keys, &child), ncolumns, stored,
						state->rules.preserved[side], hg_join_source_create, &state->memory.budget);
	state->inputs[side]->child.progress = &state->progress.shown;
	pfree(stored);
}

/* Checks permissions of the hash clauses, whose words or stored values are compared instead. */
static void
hg_join_begin_clauses(CustomScanState *node, List *hash_clauses)
{
	ListCell *lc;

	/* EXPLAIN shows a subplan by its first user, which must be over the scan slot */
	if (contain_subplans((Node *) hash_clauses))
		(void) ExecInitExprList(hash_clauses, &node->ss.ps);
	else
		foreach (lc, hash_clauses)
			hg_privilege_check_function(lfirst_node(OpExpr, lc)->opfuncid);
}

/* In one piece: the parts of the state are made in the order in which they need each other. */
static void
hg_join_begin(CustomScanState *node, EState *estate, int eflags)
{
	HgJoinState *state = (HgJoinState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	List *operators = list_nth(cscan->custom_private, HG_PRIVATE_OPERATORS);
	List *collations = list_nth(cscan->custom_private, HG_PRIVATE_COLLATIONS);
	int nclauses = list_length(operators);
	HgKeyClause *clauses = palloc(nclauses * sizeof(HgKeyClause));
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	HgJoinRules *rules = &state->rules;
	List *hash_clauses = list_nth(cscan->custom_exprs, HG_EXPRS_HASH_CLAUSES);
	List *join_qual = list_nth(cscan->custom_exprs, HG_EXPRS_JOIN_QUAL);
	HgJoinRecord *record = &state->progress.record;
	HgKeyEncoder *encoder;
	HgUsed used = {0};
	MemoryContext old;
	ListCell *lc;

	Assert(list_length(cscan->custom_exprs) == HG_EXPRS_COUNT);
	Assert(list_length(cscan->custom_private) == HG_PRIVATE_COUNT);

	/* a child is read forward once, and from the start after a rescan */
	foreach (lc, cscan->custom_plans)
		node->custom_ps = lappend(
			node->custom_ps,
			ExecInitNode(lfirst(lc), estate,
						 eflags & ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK)));

	hg_join_rules_init(rules, (JoinType) hg_join_plan_number(state, HG_NUMBER_JOIN_TYPE),
					   hg_join_plan_number(state, HG_NUMBER_INNER_UNIQUE) != 0);
	state->parallel_hash = hg_join_plan_number(state, HG_NUMBER_PARALLEL_HASH);
	state->read_once = hg_join_plan_number(state, HG_NUMBER_READ_ONCE);
	state->dense = hg_join_plan_number(state, HG_NUMBER_DENSE) != 0;
	state->rewind = (eflags & EXEC_FLAG_REWIND) != 0;

	hg_pool_begin_join();
	hg_join_memory_init(&state->memory, get_hash_memory_limit());
	hg_join_matching_init(&state->matching, &state->memory);
	old = MemoryContextSwitchTo(state->memory.context);

	for (int i = 0; i < nclauses; i++)
	{
		clauses[i].operator_oid = list_nth_oid(operators, i);
		clauses[i].collation = list_nth_oid(collations, i);
	}
	encoder = hg_key_encoder_create(nclauses, clauses);
	if (!encoder->exact)
		join_qual = list_concat(hg_join_recheck_clauses(cscan, hash_clauses), join_qual);
	/* subplans put slots into the query's tuple table, which is emptied after this node ends */
	MemoryContextSwitchTo(estate->es_query_cxt);
	hg_join_begin_clauses(node, hash_clauses);
	rules->join_qual = ExecInitQual(join_qual, &node->ss.ps);
	MemoryContextSwitchTo(state->memory.context);
	rules->same_bytes = hg_join_recheck_create(join_qual);

	hg_used_add(&used, (Node *) cscan->scan.plan.targetlist);
	hg_used_add(&used, (Node *) cscan->scan.plan.qual);
	hg_used_add(&used, (Node *) join_qual);
	rules->rows_wanted =
		used.column_indexes != NULL || cscan->scan.plan.qual != NIL || join_qual != NIL;
	/* the nested loop of an adaptive join needs whole outer rows */
	if (list_length(cscan->custom_plans) > HG_INNER + 1)
		used.column_indexes = bms_add_range(
			used.column_indexes, 0, hg_join_plan_number(state, HG_NUMBER_OUTER_COLUMNS) - 1);
	hg_join_begin_input(state, HG_OUTER, encoder,
						list_nth(cscan->custom_exprs, HG_EXPRS_OUTER_KEYS), used.column_indexes);
	hg_join_begin_input(state, HG_INNER, encoder,
						list_nth(cscan->custom_exprs, HG_EXPRS_INNER_KEYS), used.column_indexes);
	hg_join_order_keys(state, encoder);
	hg_join_output_init(&state->output, &node->ss, used.column_indexes);
	hg_join_lookup_init(state);
	state->gather = hg_join_gather_create(rules, state->inputs);

	/* unneeded columns stay NULL in the scan slot */
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	memset(slot->tts_values, 0, slot->tts_tupleDescriptor->natts * sizeof(Datum));

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		state->matched[side].bits = hg_row_bits_create(&state->memory.files);
	/* each reading begins them again; estimates need them before */
	hg_join_matched_begin(&state->matched[HG_INNER], rules->preserved[HG_INNER],
						  rules->single_inner);

	record->user = GetUserId();
	strlcpy(record->node, hg_join_scan_methods.CustomName, sizeof(record->node));
	strlcpy(record->join_type, hg_join_type_name(rules->join_type), sizeof(record->join_type));
	record->recheck = !encoder->exact;
	hg_join_enter(&state->progress, HG_JOIN_READ_INNER);
	MemoryContextSwitchTo(old);
}

/* Fills the output with the next rows of the join.  Returns false if there are no more. */
static bool
hg_join_next_batch(HgJoinState *state)
{
	HgJoinProgress *progress = &state->progress;

	if (hg_join_progress_start(progress))
		hg_join_show(state);
	hg_join_output_clear(&state->output);
	for (;;)
	{
		HgJoinPhase next = HG_JOIN_DONE;

		switch (progress->phase)
		{
			case HG_JOIN_READ_INNER:
				next = hg_join_read_inner(state);
				break;
			case HG_JOIN_NEXT_PARTITION:
				next = hg_join_next_partition(state);
				break;
			case HG_JOIN_READ_OUTER:
				next = hg_join_read_outer(state);
				break;
			case HG_JOIN_RETURN:
				if (state->emission.kind->next(state))
					return true;
				next = state->emission.then;
				break;
			case HG_JOIN_END_CHUNK:
				next = hg_join_end_chunk(state);
				break;
			case HG_JOIN_NEXT_INNER:
				next = hg_join_next_inner(state);
				break;
			case HG_JOIN_BUILD:
				/* only shown while the phase that it is a part of runs */
				Assert(false);
				pg_fallthrough;
			case HG_JOIN_DONE:
				hg_join_output_clear(&state->output);
				return false;
		}
		hg_join_enter(progress, next);
	}
}

static TupleTableSlot *
hg_join_exec(CustomScanState *node)
{
	HgJoinState *state = (HgJoinState *) node;

	for (;;)
	{
		TupleTableSlot *slot = hg_join_next_row(&state->output, &node->ss);

		if (slot != NULL)
		{
			state->progress.record.rows_out++;
			return slot;
		}
		if (!hg_join_next_batch(state))
			return NULL;
		hg_progress_step(&state->progress.shown, state->output.batch->nrows);
	}
}

/* ---------------------------------------------------------------------
 * Again, and the end
 * ---------------------------------------------------------------------
 */

/*
 * Restarts the node.  An input whose child and keys depend on no changed parameter stays cached if
 * all of it is in memory, and so do the HashGraphs if both inputs do (hg_join_rescan.c).
 */
static void
hg_join_rescan(CustomScanState *node)
{
	HgJoinState *state = (HgJoinState *) node;
	Bitmapset *changed = node->ss.ps.chgParam;
	bool same[2];	/* the child and the keys would return the same rows */
	bool cached[2]; /* the rows are all in memory, and stay there */
	/* with parameters, core starts with a rescan */
	bool executed = state->progress.started > 0;

	hg_join_forget_star(state->star);
	hg_join_lookup_rescan(&state->lookup, changed);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgInput *input = state->inputs[side];

		/* core does this for outer and inner plans, but not for custom ones */
		if (changed != NULL)
			UpdateChangedParamSet(input->child.plan, changed);
		/* what processes shared is gone with their memory */
		same[side] =
			!state->parallel_hash && input->child.plan->chgParam == NULL &&
			!bms_overlap(changed, state->params[side]) &&
			(side == HG_INNER || hg_join_may_cache_outer(&state->rescan, state->inputs[HG_OUTER]));
		cached[side] =
			same[side] && !state->reading.spilled && input->at_end && input->held.bits == NULL;
	}
	/* it was read in chunks, or not to its end, or freed after the join */
	if (!state->reading.outer_held)
		cached[HG_OUTER] = false;
	/* the filter removed rows that other inner rows may match */
	if (!cached[HG_INNER] && state->inputs[HG_OUTER]->child.filtering.removed)
		cached[HG_OUTER] = false;
	/* an ORDER BY above may need rows now that it did not need */
	if (hg_child_lacks_rows(&state->inputs[HG_OUTER]->child))
		cached[HG_OUTER] = false;
	hg_join_restart(&state->progress);

	if (cached[HG_OUTER] && cached[HG_INNER] && state->matching.matcher != NULL)
	{
		hg_matcher_rewind(state->matching.matcher);
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			hg_join_matched_reset(&state->matched[side], 0,
								  hg_input_count_ordinals(state->inputs[side]));
		hg_join_emission_reset(&state->emission);
		hg_join_output_clear(&state->output);
		state->reading.outer_ready = false;
		hg_join_enter(&state->progress, hg_join_emit_joined(state));
		return;
	}
	hg_join_reset(state);
	if (!cached[HG_INNER])
	{
		/* it would leave no room for other inner rows */
		if (state->inputs[HG_OUTER]->held.budget.charged > hg_join_limit(&state->memory) / 2)
			cached[HG_OUTER] = false;
		/* the filter is of the old inner rows */
		hg_child_set_filter(&state->inputs[HG_OUTER]->child, NULL);
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (!cached[side])
			hg_input_rescan(state->inputs[side]);
	state->reading.outer_held = state->reading.outer_ready = cached[HG_OUTER];
	state->reading.spilled = false;
	state->rescan.inner = cached[HG_INNER];
	/* a side that was the same once usually is so again: it is kept after the join */
	state->rewind |= same[HG_OUTER];
	state->rescan.outer_whole |=
		executed && same[HG_OUTER] && !same[HG_INNER] && !state->rescan.outer_large;
}

static void
hg_join_end(CustomScanState *node)
{
	HgJoinState *state = (HgJoinState *) node;
	HgJoinRecord record;
	ListCell *child;

	hg_join_end_shared(state);
	hg_join_current_record(state, &record);
	/* the leader records the work of parallel workers */
	if (record.executions + record.lookups > 0 && state->participants.process == 0)
		hg_stats_record(&record);
	hg_progress_end(&state->progress.shown);
	hg_join_reset(state);
	MemoryContextDelete(state->memory.context);
	foreach (child, node->custom_ps)
		ExecEndNode(lfirst(child));
}

static const HgJoinMethods hg_join_exec_methods = {
	.base =
		{
			.CustomName = hg_join_name,
			.BeginCustomScan = hg_join_begin,
			.ExecCustomScan = hg_join_exec,
			.EndCustomScan = hg_join_end,
			.ReScanCustomScan = hg_join_rescan,
			.EstimateDSMCustomScan = hg_join_estimate_dsm,
			.InitializeDSMCustomScan = hg_join_initialize_dsm,
			.ReInitializeDSMCustomScan = hg_join_reinitialize_dsm,
			.InitializeWorkerCustomScan = hg_join_initialize_worker,
			.ShutdownCustomScan = hg_join_shutdown,
			.ExplainCustomScan = hg_join_explain,
		},
	.next_batch = hg_join_next_batch,
};

static Node *
hg_join_create_state(CustomScan *cscan)
{
	return hg_library_create_state(cscan, sizeof(HgJoinState), &hg_join_exec_methods.base);
}

const CustomScanMethods hg_join_scan_methods = {
	.CustomName = hg_join_name,
	.CreateCustomScanState = hg_join_create_state,
};
