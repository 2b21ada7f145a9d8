/*-------------------------------------------------------------------------
 *
 * hg_join_source.c
 *	  A join below another node of this extension: hands up columns without forming rows.
 *
 * The upper node requests batches instead of calling ExecProcNode().  What that would also do is
 * done here: rescans for changed parameters, and counting for EXPLAIN ANALYZE.  A join with quals
 * on its rows is read row by row.  Rows that are handed up in groups (hg_join_reduce.c) are
 * counted as returned.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "optimizer/optimizer.h"

#include "batch/hg_scan_table.h"
#include "executor/join/hg_join_source.h"
#include "executor/join/hg_join_state.h"

/* Nodes are recognized by its address. */
const char hg_join_name[] = "HashGraphJoin";

typedef struct HgJoinSource
{
	HgBatchSource base;
	HgJoinState *join;
	int ncolumns;
	int *column_indexes; /* [ncolumns] indexes in the join's scan slot */
	int nvarlen;		 /* number of columns of variable length */
	int *varlens;		 /* [nvarlen] their indexes in the scan slot */
	int16 *attlens;		 /* [nvarlen] their typlen: -1 or -2 */
	Size fixed_bytes;	 /* bytes of a row's other by-reference values */
} HgJoinSource;

static inline const HgJoinMethods *
hg_join_methods(const HgJoinState *join)
{
	return (const HgJoinMethods *) join->css.methods;
}

/* Returns how many rows of the join's batch, from first on, fit into the source's max_bytes. */
static int
hg_join_source_fit(const HgJoinSource *from, int first)
{
	const HgBatch *out = from->join->output.batch;
	Size bytes = 0;
	int row = first;

	if (from->base.max_bytes == 0 || (from->nvarlen == 0 && from->fixed_bytes == 0))
		return out->nrows - first;
	while (row < out->nrows && bytes < from->base.max_bytes)
	{
		bytes += from->fixed_bytes;
		for (int i = 0; i < from->nvarlen; i++)
			if (!hg_batch_is_null(out, from->varlens[i], row))
				bytes += att_addlength_datum((Size) 0, from->attlens[i],
											 out->values[from->varlens[i]][row]);
		row++;
	}
	return row - first;
}

static bool
hg_join_source_next(HgBatchSource *source, HgBatch *batch)
{
	HgJoinSource *from = (HgJoinSource *) source;
	HgJoinState *join = from->join;
	HgJoinOutput *output = &join->output;
	const HgBatch *out = output->batch;
	PlanState *ps = &join->css.ss.ps;
	int first;
	uint64 rows;

	if (ps->chgParam != NULL)
		ExecReScan(ps);
	if (ps->instrument != NULL)
		InstrStartNode(ps->instrument);
	/* the rest of the join's batch comes first */
	if (output->next == out->nrows)
		(void) hg_join_methods(join)->next_batch(join);
	first = output->next;
	batch->nrows = hg_join_source_fit(from, first);
	hg_join_output_skip(output, batch->nrows);
	rows = batch->nrows + hg_join_take_reduced_rows(join->reduction);
	hg_join_count_returned(&join->progress, rows);
	/* columns are not copied: they are valid until the next call */
	for (int i = 0; i < from->ncolumns; i++)
	{
		batch->values[i] = out->values[from->column_indexes[i]] + first;
		batch->nulls[i] = out->nulls[from->column_indexes[i]] + first;
		batch->has_nulls[i] = out->has_nulls[from->column_indexes[i]];
	}
	if (ps->instrument != NULL)
		InstrStopNode(ps->instrument, (double) rows);
	return batch->nrows > 0;
}

HgJoinState *
hg_join_source_join(const HgBatchSource *source)
{
	return source->next == hg_join_source_next ? ((const HgJoinSource *) source)->join : NULL;
}

int
hg_join_source_column(const HgBatchSource *source, int column)
{
	return ((const HgJoinSource *) source)->column_indexes[column];
}

bool
hg_join_source_count(HgBatchSource *source, uint64 *rows)
{
	HgJoinState *join;
	PlanState *ps;

	if (source->next != hg_join_source_next)
		return false;
	join = ((HgJoinSource *) source)->join;
	ps = &join->css.ss.ps;
	if (ps->chgParam != NULL)
		ExecReScan(ps);
	if (ps->instrument != NULL)
		InstrStartNode(ps->instrument);
	*rows = 0;
	/* if the engine counts, this takes the rows of all further batches */
	while (hg_join_methods(join)->next_batch(join))
		*rows += join->output.batch->nrows + hg_join_take_empty(&join->output);
	hg_join_count_returned(&join->progress, *rows);
	if (ps->instrument != NULL)
		InstrStopNode(ps->instrument, (double) *rows);
	return true;
}

void
hg_join_source_take_all(HgBatchSource *source)
{
	if (source->next == hg_join_source_next)
		((HgJoinSource *) source)->join->output.any_order = true;
}

/* Returns the column of an input's batches that is a column of the join's scan slot, or -1. */
static int
hg_join_input_column(const HgInput *input, int column_index)
{
	int c = input->child.batch->ncolumns - 1;

	while (c >= 0 && input->child.cover.to[c] != column_index)
		c--;
	return c;
}

void
hg_join_source_set_top(HgBatchSource *source, int column, HgTopFilter *top)
{
	HgJoinState *join = hg_join_source_join(source);
	HgInput *outer;
	MemoryContext old;

	/* a row that has the column comes from one outer row, without which no other row is returned */
	if (join == NULL || join->rules.preserved[HG_INNER] ||
		contain_volatile_functions(
			(Node *) ((const CustomScan *) join->css.ss.ps.plan)->custom_exprs))
		return;
	outer = join->inputs[HG_OUTER];
	column = hg_join_input_column(outer, hg_join_source_column(source, column));
	if (column < 0)
		return;
	old = MemoryContextSwitchTo(join->memory.context);
	hg_child_set_top(&outer->child, top, column);
	MemoryContextSwitchTo(old);
	hg_join_source_set_top(outer->child.source, column, top);
}

bool
hg_join_source_reduce(HgBatchSource *source, const HgReducer *reducer)
{
	HgJoinSource *from = (HgJoinSource *) source;
	HgJoinState *join;
	MemoryContext old;

	if (source->next != hg_join_source_next)
		return false;
	join = from->join;
	old = MemoryContextSwitchTo(join->memory.context);
	join->reduction =
		hg_join_reduction_create(&join->rules, join->inputs, reducer, from->column_indexes);
	MemoryContextSwitchTo(old);
	return join->reduction != NULL;
}

/* Returns the index in a join's scan slot of a result attribute, or -1 if it is no column. */
static int
hg_join_result_column(const HgJoinState *join, int attno)
{
	const PlanState *ps = &join->css.ss.ps;
	const TargetEntry *tle;

	if (ps->ps_ProjInfo == NULL)
		return attno - 1;
	tle = list_nth_node(TargetEntry, ps->plan->targetlist, attno - 1);
	return IsA(tle->expr, Var) ? ((const Var *) tle->expr)->varattno - 1 : -1;
}

/* The join's own rescan restarts it. */
static void
hg_join_source_restart(HgBatchSource *source pg_attribute_unused())
{
}

HgBatchSource *
hg_join_source_create(PlanState *plan, int nattnos, const int *attnos)
{
	HgJoinState *join = (HgJoinState *) plan;
	HgJoinSource *source;

	if (!IsA(plan, CustomScanState) ||
		((CustomScanState *) plan)->methods->CustomName != hg_join_name || plan->qual != NULL)
		return hg_scan_create(plan, nattnos, attnos);

	source = palloc0(sizeof(HgJoinSource));
	source->base.max_bytes = HG_BATCH_BYTES;
	source->base.max_rows = HG_BATCH_ROWS;
	source->base.next = hg_join_source_next;
	source->base.restart = hg_join_source_restart;
	source->join = join;
	source->ncolumns = nattnos;
	source->column_indexes = palloc(Max(nattnos, 1) * sizeof(int));
	source->varlens = palloc(Max(nattnos, 1) * sizeof(int));
	source->attlens = palloc(Max(nattnos, 1) * sizeof(int16));
	for (int i = 0; i < nattnos; i++)
	{
		Form_pg_attribute att = TupleDescAttr(ExecGetResultType(plan), attnos[i] - 1);

		source->column_indexes[i] = hg_join_result_column(join, attnos[i]);
		if (source->column_indexes[i] < 0)
			return hg_scan_create(plan, nattnos, attnos);
		if (att->attlen < 0)
		{
			source->varlens[source->nvarlen] = source->column_indexes[i];
			source->attlens[source->nvarlen++] = att->attlen;
		}
		else if (!att->attbyval)
			source->fixed_bytes += att->attlen;
	}
	return &source->base;
}
