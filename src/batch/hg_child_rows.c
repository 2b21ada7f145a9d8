/*-------------------------------------------------------------------------
 *
 * hg_child_rows.c
 *	  The rows of a child plan of a join, read in batches with their keys encoded.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/sysattr.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"

#include "batch/hg_child_rows.h"
#include "batch/hg_graph_key.h"
#include "batch/hg_key.h"

/* The child applies a filter that lets through at most this share of the rows. */
#define HG_CHECK_SELECTIVITY 0.5

/* Returns the attributes of the child, from 0, that are needed for keys or above. */
static Bitmapset *
hg_child_collect(HgSide side, List *key_exprs, int ncolumns, const HgInputColumn *columns)
{
	Bitmapset *offset_attnos = NULL;
	Bitmapset *needed = NULL;
	int member = -1;

	pull_varattnos((Node *) key_exprs, side == HG_OUTER ? OUTER_VAR : INNER_VAR, &offset_attnos);
	while ((member = bms_next_member(offset_attnos, member)) >= 0)
	{
		Assert(member + FirstLowInvalidHeapAttributeNumber > 0);
		needed = bms_add_member(needed, member + FirstLowInvalidHeapAttributeNumber - 1);
	}
	bms_free(offset_attnos);
	for (int i = 0; i < ncolumns; i++)
		if (columns[i].attno > 0)
			needed = bms_add_member(needed, columns[i].attno - 1);
	return needed;
}

/*
 * Applies the filter of keys to the rows which[nrows] of the child, or to rows 0 .. nrows - 1 if
 * which is NULL, and sets selected[] to those that pass, which may be the array which.  Rows
 * without a key match nothing, and are rejected too.
 */
static int
hg_child_check_keys(HgChildRows *child, const HgBatch *batch, const uint16 *which, int nrows,
					uint16 *selected)
{
	HgSpillKeys keys;
	uint16 valid[HG_BATCH_ROWS];
	int nvalid =
		hg_key_encode(child->keys.encoder, child->keys.side, batch, child->filtering.columns, 0,
					  batch->nrows, keys.words, keys.null_keys, child->keys.temporary);
	int nselected;

	if (nvalid < batch->nrows)
	{
		nvalid = 0;
		for (int i = 0; i < nrows; i++)
			if (!keys.null_keys[which != NULL ? which[i] : i])
				valid[nvalid++] = which != NULL ? which[i] : i;
		which = valid;
	}
	else
		nvalid = nrows;
	nselected = hg_filter_apply(child->filtering.filter, keys.words, which, nvalid, selected);
	child->filtering.refused += nrows - nselected;
	child->filtering.removed |= nselected < nvalid;
	return nselected;
}

/* HgRowCheck.apply: applies the filters to rows of the child, the cheaper one first. */
static int
hg_child_check(HgRowCheck *check, const HgBatch *batch, uint16 *which)
{
	HgChildRows *child = (HgChildRows *) ((char *) check - offsetof(HgChildRows, filtering.check));
	int nrows;

	if (!child->filtering.top_tests)
		return hg_child_check_keys(child, batch, NULL, batch->nrows, which);
	nrows = hg_top_filter_apply(child->filtering.top, batch, which);
	return child->filtering.in_check ? hg_child_check_keys(child, batch, which, nrows, which)
									 : nrows;
}

/* HgRowCheck.rejects_all */
static bool
hg_child_check_bounds(HgRowCheck *check, const HgValueBounds *bounds, uint32 nrows)
{
	const HgChildRows *child =
		(HgChildRows *) ((char *) check - offsetof(HgChildRows, filtering.check));

	return hg_top_filter_rejects_all(child->filtering.top, bounds, nrows);
}

/* HgRowCheck.apply_arrays, if the check tests no keys */
static int
hg_child_check_arrays(HgRowCheck *check, const HgPredicateColumn *columns, uint32 first, int n,
					  bool *holds)
{
	const HgChildRows *child =
		(HgChildRows *) ((char *) check - offsetof(HgChildRows, filtering.check));

	return hg_top_filter_apply_arrays(child->filtering.top, columns, first, n, holds);
}

/* Appends a column of the child to those of the check, unless it is there; returns its index. */
static int
hg_child_check_column(HgRowCheck *check, int column)
{
	int i = 0;

	while (i < check->ncolumns && check->columns[i] != column)
		i++;
	if (i == check->ncolumns)
		check->columns[check->ncolumns++] = column;
	return i;
}

/*
 * Makes the child's check, of a column (or -1) that an ORDER BY filters and of the keys.  Keys are
 * tested there if they are columns and encoding them neither fails nor calls a function that could
 * leak them.
 */
static void
hg_child_create_check(HgChildRows *child, int top_column)
{
	HgRowCheck *check = &child->filtering.check;
	int nparts = child->keys.encoder->nparts;

	check->ncolumns = 0;
	check->columns = palloc((nparts + 1) * sizeof(int));
	if (top_column >= 0)
	{
		(void) hg_child_check_column(check, top_column);
		check->takes_scaled = true;
	}
	child->filtering.columns = NULL;
	if (child->keys.exprs != NULL || !child->keys.encoder->exact || child->keep_null_keys)
		return;
	child->filtering.columns = palloc(nparts * sizeof(int));
	for (int p = 0; p < nparts; p++)
	{
		child->filtering.columns[p] = hg_child_check_column(check, child->keys.columns[p]);
		/* a key is encoded of the values themselves */
		if (child->filtering.columns[p] == 0)
			check->takes_scaled = false;
	}
}

/* Returns the check for the child's next rows, or NULL. */
static HgRowCheck *
hg_child_next_check(HgChildRows *child)
{
	HgChildFilter *filtering = &child->filtering;
	HgRowCheck *check = &filtering->check;
	bool top = filtering->top != NULL && hg_top_filter_begin(filtering->top);

	filtering->top_tests = top && hg_top_filter_tests_rows(filtering->top);
	check->share = 1;
	if (filtering->filter != NULL && filtering->filter->pays && filtering->columns != NULL)
		check->share = hg_filter_share(filtering->filter);
	filtering->in_check = check->share <= HG_CHECK_SELECTIVITY;
	if (filtering->top_tests)
		check->share =
			filtering->in_check ? check->share * filtering->top->share : filtering->top->share;
	check->apply = filtering->in_check || filtering->top_tests ? hg_child_check : NULL;
	check->apply_arrays =
		filtering->top_tests && !filtering->in_check ? hg_child_check_arrays : NULL;
	check->rejects_all = top ? hg_child_check_bounds : NULL;
	return filtering->in_check || top ? check : NULL;
}

/* Sets the key of the child's tables, if a graph of columns can have it. */
static void
hg_child_begin_graph(HgChildRows *child)
{
	const HgKeyEncoder *encoder = child->keys.encoder;
	HgGraphPart parts[HG_GRAPH_COLUMNS];

	if (child->keys.exprs == NULL && encoder->nparts <= HG_GRAPH_COLUMNS &&
		hg_graph_parts(encoder, child->keys.side, parts))
		hg_scan_tables_set_key(child->source->tables, encoder->nparts, child->keys.columns, parts);
}

/* Sets the columns that are needed above. */
static void
hg_child_init_columns(HgChildRows *child, TupleDesc scan_desc, Bitmapset *needed, int ncolumns,
					  const HgInputColumn *columns)
{
	int nbatch = Max(child->batch->ncolumns, 1);
	bool copies = false;

	child->from = palloc(Max(ncolumns, 1) * sizeof(int));
	child->cover.to = palloc(nbatch * sizeof(int));
	for (int c = 0; c < nbatch; c++)
		child->cover.to[c] = -1;
	for (int i = 0; i < ncolumns; i++)
	{
		bool is_key = columns[i].attno == 0;

		child->from[i] = is_key ? child->keys.columns[columns[i].part]
								: bms_member_index(needed, columns[i].attno - 1);
		if (child->from[i] < child->batch->ncolumns)
			child->cover.to[child->from[i]] = columns[i].to;
		copies |= !is_key && !TupleDescAttr(scan_desc, columns[i].to)->attbyval;
	}
	if (!copies)
		child->source->max_bytes = 0;
}

void
hg_child_init(HgChildRows *child, HgSide side, PlanState *plan, ScanState *parent,
			  HgKeyEncoder *encoder, List *key_exprs, int ncolumns, const HgInputColumn *columns,
			  bool keep_null_keys, HgSourceMaker make_source, HgBudget *budget)
{
	Bitmapset *needed = hg_child_collect(side, key_exprs, ncolumns, columns);
	int nneeded = bms_num_members(needed);
	int *batch_attnos = palloc(Max(nneeded, 1) * sizeof(int));
	int *child_attnos = palloc(Max(nneeded, 1) * sizeof(int));
	int member = -1;

	child->plan = plan;
	child->keep_null_keys = keep_null_keys;
	child->cover.charge.budget = budget;
	for (int i = 0; (member = bms_next_member(needed, member)) >= 0; i++)
	{
		batch_attnos[i] = member;
		child_attnos[i] = member + 1;
	}
	child->batch = hg_batch_create(nneeded);
	child->source = make_source(plan, nneeded, child_attnos);
	hg_input_keys_init(&child->keys, side, plan, &parent->ps, encoder, key_exprs, child->batch,
					   batch_attnos);
	hg_child_create_check(child, -1);
	hg_child_begin_graph(child);
	if (child->source->next_run != NULL && child->keys.exprs == NULL &&
		hg_key_is_value(encoder, side))
		child->run_values = palloc0(Max(nneeded, 1) * sizeof(void *));
	hg_child_init_columns(child, parent->ss_ScanTupleSlot->tts_tupleDescriptor, needed, ncolumns,
						  columns);
	bms_free(needed);
	pfree(child_attnos);
}

/* Drops the rows of the batch that have not been returned. */
static void
hg_child_forget_batch(HgChildRows *child)
{
	child->batch->nrows = child->encoded = 0;
}

bool
hg_child_fetch(HgChildRows *child)
{
	HgBatch *batch = child->batch;

	if (child->encoded < batch->nrows)
		return true;
	batch->checked = false;
	child->source->check = hg_child_next_check(child);
	if (child->filtering.top != NULL)
		child->source->max_rows = hg_top_filter_batch_rows(child->filtering.top);
	child->encoded = 0;
	if (child->source->next(child->source, batch) || hg_uncover_next(&child->cover.uncover, batch))
		return true;
	hg_child_forget_batch(child);
	return false;
}

bool
hg_child_read(HgChildRows *child, HgInputRows *rows, HgSpillKeys *keys)
{
	HgBatch *batch = child->batch;
	int first;
	int nrows;
	int nleft; /* rows that no filter has rejected */
	int nvalid;

	if (!hg_child_fetch(child))
		return false;
	first = child->encoded;
	nvalid = hg_input_keys_encode(&child->keys, first, &child->encoded, keys);
	nleft = nrows = child->encoded - first;
	rows->batch = child->keys.values;
	rows->at = child->from;
	rows->which = NULL;
	rows->nkeys = nvalid;
	rows->nnull = 0;
	if (nvalid < nrows || first > 0)
	{
		hg_input_rows_sort(rows, keys->null_keys, first, child->encoded);
		/* if they are spilled, they spread over the partitions */
		for (int i = 0; i < rows->nnull; i++)
			keys->words[rows->null_rows[i]] = child->null_keys + i;
		if (!child->keep_null_keys)
			rows->nnull = 0;
	}
	if (child->filtering.filter != NULL && child->filtering.filter->pays &&
		!(batch->checked && child->filtering.in_check))
	{
		rows->nkeys = hg_filter_apply(child->filtering.filter, keys->words, rows->which, nvalid,
									  rows->key_rows);
		rows->which = rows->key_rows;
		child->filtering.removed |= rows->nkeys < nvalid;
		nleft = nvalid = rows->nkeys;
	}
	/* the counts do not depend on whether the child has applied the filter */
	child->rows_read += nleft;
	child->null_keys += nleft - nvalid;
	child->filtering.refused += nrows - nleft;
	if (child->collector != NULL)
		hg_filter_add(child->collector, keys->words, rows->which, rows->nkeys);
	return true;
}

bool
hg_child_read_run(HgChildRows *child, int max_rows, HgRun *run)
{
	if (child->run_values == NULL || child->collector != NULL ||
		(child->filtering.filter != NULL && child->filtering.filter->pays))
		return false;
	/* the fetched batch comes first */
	if (child->encoded < child->batch->nrows)
		return false;
	CHECK_FOR_INTERRUPTS();
	child->source->check = hg_child_next_check(child);
	if (child->source->check != NULL && child->source->check->apply != NULL)
		return false;
	run->values = child->run_values;
	if (!child->source->next_run(child->source, max_rows, run))
		return false;
	child->rows_read += run->nrows;
	hg_progress_step(child->progress, run->nrows);
	return true;
}

void
hg_child_set_collector(HgChildRows *child, HgFilter *collector)
{
	child->collector = collector;
}

void
hg_child_set_filter(HgChildRows *child, HgFilter *filter)
{
	Assert(filter == NULL || !child->keep_null_keys);
	if (child->filtering.filter != NULL)
		hg_filter_destroy(child->filtering.filter);
	child->filtering.filter = filter;
}

void
hg_child_set_top(HgChildRows *child, HgTopFilter *top, int column)
{
	child->filtering.top = top;
	child->filtering.top_removed = top->removed;
	top->order.column = column;
	child->source->order = &top->order;
	hg_child_create_check(child, column);
}

void
hg_child_restart(HgChildRows *child)
{
	child->source->restart(child->source);
	hg_child_forget_batch(child);
	child->filtering.removed = false;
	if (child->filtering.top != NULL)
		child->filtering.top_removed = child->filtering.top->removed;
}

/* Reorders an array: item order[i] becomes item i. */
static void
hg_child_order_items(void *items, Size size, int n, const int *order)
{
	char *before;

	if (items == NULL)
		return;
	before = palloc(n * size);
	memcpy(before, items, n * size);
	for (int i = 0; i < n; i++)
		memcpy((char *) items + i * size, before + order[i] * size, size);
	pfree(before);
}

void
hg_child_order_keys(HgChildRows *child, const int *order)
{
	HgInputKeys *keys = &child->keys;
	int n = keys->encoder->nparts;

	hg_child_order_items(child->filtering.columns, sizeof(int), n, order);
	/* values of expressions are in the order of the parts */
	if (keys->exprs == NULL)
		hg_child_order_items(keys->columns, sizeof(int), n, order);
	hg_child_order_items(keys->exprs, sizeof(ExprState *), n, order);
	hg_child_order_items(keys->copies, sizeof(int16), n, order);
	hg_child_begin_graph(child);
}
