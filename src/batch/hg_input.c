/*-------------------------------------------------------------------------
 *
 * hg_input.c
 *	  One input of a join: read, encoded, and stored as columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"

#include "backend/matcher/hg_upload.h"
#include "batch/hg_input.h"
#include "batch/hg_input_graph.h"
#include "batch/hg_input_select.h"
#include "batch/hg_key_encode.h"

/* The child applies a filter that lets through at most this share of the rows. */
#define HG_CHECK_SELECTIVITY 0.5

/* Bounds of the keys that are uploaded at a time. */
#define HG_MIN_UPLOAD_STEP ((uint64) 8 * 1024)
#define HG_MAX_UPLOAD_STEP ((uint64) 128 * 1024)

/* Returns the attributes of the child, from 0, that are needed for keys or above. */
static Bitmapset *
hg_input_collect(HgSide side, List *key_exprs, int ncolumns, const HgInputColumn *columns)
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
 * HgRowCheck.apply: applies the filter to rows of the child.  Rows without a key match nothing,
 * and are rejected too.
 */
static int
hg_input_check(HgRowCheck *check, const HgBatch *batch, uint16 *which)
{
	HgInput *input = (HgInput *) ((char *) check - offsetof(HgInput, check));
	HgSpillKeys keys;
	uint16 valid[HG_BATCH_ROWS];
	int nvalid = hg_key_encode(input->keys.encoder, input->side, batch, input->check_columns, 0,
							   batch->nrows, keys.words, keys.null_keys, input->keys.temporary);
	int nselected;

	if (nvalid < batch->nrows)
	{
		int n = 0;

		for (int i = 0; i < batch->nrows; i++)
			if (!keys.null_keys[i])
				valid[n++] = i;
	}
	nselected = hg_filter_apply(input->filter, keys.words, nvalid < batch->nrows ? valid : NULL,
								nvalid, which);
	input->refused += batch->nrows - nselected;
	input->filtered |= nselected < nvalid;
	return nselected;
}

/*
 * Makes the child's check, if keys are columns and encoding them neither fails nor calls a
 * function that could leak them.
 */
static void
hg_input_create_check(HgInput *input)
{
	HgRowCheck *check = &input->check;
	int nparts = input->keys.encoder->nparts;

	if (input->keys.exprs != NULL || !input->keys.encoder->exact || input->keep_null_keys)
		return;
	check->apply = hg_input_check;
	check->columns = palloc(nparts * sizeof(int));
	input->check_columns = palloc(nparts * sizeof(int));
	for (int p = 0; p < nparts; p++)
	{
		int i = 0;

		while (i < check->ncolumns && check->columns[i] != input->keys.columns[p])
			i++;
		if (i == check->ncolumns)
			check->columns[check->ncolumns++] = input->keys.columns[p];
		input->check_columns[p] = i;
	}
}

/* Returns the check for the child's next rows, or NULL. */
static HgRowCheck *
hg_input_next_check(HgInput *input)
{
	if (input->filter == NULL || !input->filter->pays || input->check.columns == NULL)
		return NULL;
	input->check.share = hg_filter_share(input->filter);
	return input->check.share <= HG_CHECK_SELECTIVITY ? &input->check : NULL;
}

HgInput *
hg_input_create(HgSide side, PlanState *plan, ScanState *parent, HgKeyEncoder *encoder,
				List *key_exprs, int ncolumns, const HgInputColumn *columns, bool keep_null_keys,
				HgSourceMaker make_source, HgBudget *budget)
{
	HgInput *input = palloc0(sizeof(HgInput));
	Bitmapset *needed = hg_input_collect(side, key_exprs, ncolumns, columns);
	int nneeded = bms_num_members(needed);
	int *child_attnos = palloc(Max(nneeded, 1) * sizeof(int));
	bool copies = false;
	int member = -1;

	input->side = side;
	input->plan = plan;
	input->keep_null_keys = keep_null_keys;

	input->batch_attnos = palloc(Max(nneeded, 1) * sizeof(int));
	for (int i = 0; (member = bms_next_member(needed, member)) >= 0; i++)
	{
		input->batch_attnos[i] = member;
		child_attnos[i] = member + 1;
	}
	input->batch = hg_batch_create(nneeded);
	input->child = make_source(plan, nneeded, child_attnos);
	hg_input_keys_init(&input->keys, side, plan, &parent->ps, encoder, key_exprs, input->batch,
					   input->batch_attnos);
	hg_input_create_check(input);
	hg_input_begin_graph(input);
	input->may_run = input->child->next_run != NULL && input->keys.exprs == NULL &&
					 hg_key_is_value(encoder, side);
	input->run_values = palloc0(Max(nneeded, 1) * sizeof(void *));

	input->scan_desc = parent->ss_ScanTupleSlot->tts_tupleDescriptor;
	input->ncolumns = ncolumns;
	input->from = palloc(Max(ncolumns, 1) * sizeof(int));
	input->to = palloc(Max(ncolumns, 1) * sizeof(int));
	input->dense = palloc(Max(ncolumns, 1) * sizeof(int));
	for (int i = 0; i < ncolumns; i++)
	{
		input->from[i] = columns[i].attno > 0 ? bms_member_index(needed, columns[i].attno - 1)
											  : input->keys.columns[columns[i].part];
		input->to[i] = columns[i].to;
		input->dense[i] = i;
		copies |= columns[i].attno > 0 && !TupleDescAttr(input->scan_desc, columns[i].to)->attbyval;
	}
	if (!copies)
		input->child->max_bytes = 0;
	input->stored_batch = hg_batch_create(ncolumns);
	hg_budget_init(&input->budget, budget, 0);
	input->words = hg_key_column_create(CurrentMemoryContext, encoder->width, &input->budget);
	input->rows = hg_input_create_store(input);
	input->null_rows = hg_input_create_store(input);
	bms_free(needed);
	pfree(child_attnos);
	return input;
}

uint64
hg_input_reserved(const HgInput *input)
{
	uint64 spare = 0;

	if (input->spare_words != NULL)
		spare = hg_key_column_reserved(input->spare_words) +
				hg_column_store_reserved(input->spare_rows);
	return hg_key_column_reserved(input->words) + hg_column_store_reserved(input->rows) +
		   hg_column_store_reserved(input->null_rows) + spare;
}

uint64
hg_input_row_bytes(uint32 key_width, int row_width)
{
	return hg_key_column_row_bytes(key_width) + row_width;
}

/* Sorts the rows first .. end - 1 of a batch into those with a key and those without. */
static void
hg_input_sort_rows(HgInputRows *rows, const bool *null_keys, int first, int end)
{
	rows->nkeys = rows->nnull = 0;
	rows->which = rows->key_rows;
	for (int i = first; i < end; i++)
		if (null_keys[i])
			rows->null_rows[rows->nnull++] = i;
		else
			rows->key_rows[rows->nkeys++] = i;
}

/* Drops the rows of the child's batch that have not been returned. */
static void
hg_input_forget_batch(HgInput *input)
{
	input->batch->nrows = input->encoded = 0;
}

/* Fetches a batch of the child, unless some rows have not been returned; false at the end. */
static bool
hg_input_fetch_batch(HgInput *input)
{
	HgBatch *batch = input->batch;

	if (input->encoded < batch->nrows)
		return true;
	batch->checked = false;
	input->child->check = hg_input_next_check(input);
	input->encoded = 0;
	if (input->child->next(input->child, batch) || hg_uncover_next(&input->uncover, batch))
		return true;
	hg_input_forget_batch(input);
	return false;
}

/* Reads the next rows of the child; false at the end. */
static bool
hg_input_read_child(HgInput *input, HgInputRows *rows, HgSpillKeys *keys)
{
	HgBatch *batch = input->batch;
	int first;
	int nrows;
	int nleft; /* rows that no filter has rejected */
	int nvalid;

	if (!hg_input_fetch_batch(input))
		return false;
	first = input->encoded;
	nvalid = hg_input_keys_encode(&input->keys, first, &input->encoded, keys);
	nleft = nrows = input->encoded - first;
	rows->batch = input->keys.values;
	rows->at = input->from;
	rows->which = NULL;
	rows->nkeys = nvalid;
	rows->nnull = 0;
	if (nvalid < nrows || first > 0)
	{
		hg_input_sort_rows(rows, keys->null_keys, first, input->encoded);
		/* if they are spilled, they spread over the partitions */
		for (int i = 0; i < rows->nnull; i++)
			keys->words[rows->null_rows[i]] = input->null_keys + i;
		if (!input->keep_null_keys)
			rows->nnull = 0;
	}
	if (input->filter != NULL && input->filter->pays && !batch->checked)
	{
		rows->nkeys =
			hg_filter_apply(input->filter, keys->words, rows->which, nvalid, rows->key_rows);
		rows->which = rows->key_rows;
		input->filtered |= rows->nkeys < nvalid;
		nleft = nvalid = rows->nkeys;
	}
	/* the counts do not depend on whether the child has applied the filter */
	input->rows_read += nleft;
	input->null_keys += nleft - nvalid;
	input->refused += nrows - nleft;
	if (input->collector != NULL)
		hg_filter_add(input->collector, keys->words, rows->which, rows->nkeys);
	return true;
}

bool
hg_input_read(HgInput *input, HgInputRows *rows, HgSpillKeys *keys)
{
	bool more;

	CHECK_FOR_INTERRUPTS();
	if (input->source == NULL)
		more = hg_input_read_child(input, rows, keys);
	else
	{
		more = hg_spill_read(input->source, input->partition, input->stored_batch, keys);
		rows->batch = input->stored_batch;
		rows->at = input->dense;
		hg_input_sort_rows(rows, keys->null_keys, 0, input->stored_batch->nrows);
	}
	input->at_end = !more;
	hg_progress_step(input->progress, more ? rows->nkeys : HG_PROGRESS_STEP_ROWS);
	return more;
}

void
hg_input_store(HgInput *input, const HgInputRows *rows, const HgSpillKeys *keys)
{
	const uint16 *which = rows->which;
	uint16 rest[HG_BATCH_ROWS];

	for (int done = 0; done < rows->nkeys;)
	{
		uint64 first_row;
		int step = Min(hg_column_store_room(input->rows, &first_row), rows->nkeys - done);

		hg_key_column_add(input->words, first_row, keys->words, which, step);
		hg_column_store_add(input->rows, rows->batch, rows->at, which, step);
		done += step;
		if (done == rows->nkeys)
			break;
		/* the other rows are numbered in another piece */
		if (which == NULL)
		{
			for (int i = 0; i < rows->nkeys; i++)
				rest[i] = i;
			which = rest;
		}
		which += step;
	}
}

bool
hg_input_is_empty(HgInput *input)
{
	if (hg_input_rows(input) > 0 || (input->covered != NULL && input->covered->rows > 0))
		return false;
	if (!input->at_end && input->source == NULL)
		input->at_end = !hg_input_fetch_batch(input);
	return input->at_end;
}

bool
hg_input_read_run(HgInput *input, int max_rows, HgRun *run)
{
	if (!input->may_run || input->source != NULL || input->collector != NULL ||
		(input->filter != NULL && input->filter->pays))
		return false;
	/* the fetched batch comes first */
	if (input->encoded < input->batch->nrows)
		return false;
	CHECK_FOR_INTERRUPTS();
	run->values = input->run_values;
	if (!input->child->next_run(input->child, max_rows, run))
		return false;
	input->rows_read += run->nrows;
	hg_progress_step(input->progress, run->nrows);
	return true;
}

/* Stores the child's next rows as a run; false if they do not come as one. */
static bool
hg_input_store_run(HgInput *input, uint64 max_rows)
{
	HgRun run;
	uint64 first_row;
	int room = hg_column_store_room(input->rows, &first_row);

	if (input->rows->shared == NULL)
		room = HG_RUN_MOST;
	room = (int) Min((uint64) room, max_rows - hg_input_rows(input));
	room =
		(int) Min((uint64) room, HG_MAX_ROWS - hg_input_first_number(input) - hg_input_rows(input));
	if (!hg_input_read_run(input, room, &run))
		return false;
	hg_key_column_add_external(input->words, first_row, run.values[input->keys.columns[0]],
							   run.nrows);
	hg_column_store_add_run(input->rows, run.values, input->from, run.nrows);
	return true;
}

/*
 * Uploads the words.  The next upload comes after half as many rows again, within limits: small
 * inputs are sent soon, and large ones take few messages.
 */
static void
hg_input_upload(HgInput *input)
{
	HgKeySet keys = hg_key_column_set(input->words);

	hg_upload_send(input->upload, input->side, &keys);
	input->upload_at = keys.rows + Max(HG_MIN_UPLOAD_STEP, Min(keys.rows / 2, HG_MAX_UPLOAD_STEP));
}

void
hg_input_fill(HgInput *input, uint64 max_rows)
{
	HgInputRows rows;
	HgSpillKeys keys;

	uint64 most = HG_MAX_ROWS - HG_BATCH_ROWS - hg_input_first_number(input);

	while (hg_input_rows(input) < max_rows && !hg_budget_is_full(&input->budget) &&
		   hg_input_rows(input) <= most)
	{
		if (!hg_input_store_run(input, max_rows))
		{
			input->child->max_rows = (int) Min(max_rows - hg_input_rows(input), HG_BATCH_ROWS);
			if (!hg_input_read(input, &rows, &keys))
				break;
			hg_input_store(input, &rows, &keys);
			if (rows.nnull > 0)
				hg_column_store_add(input->null_rows, rows.batch, rows.at, rows.null_rows,
									rows.nnull);
		}
		if (input->upload != NULL && input->words->rows >= input->upload_at)
			hg_input_upload(input);
	}
	input->child->max_rows = HG_BATCH_ROWS;
}

void
hg_input_set_filter(HgInput *input, HgFilter *filter)
{
	Assert(filter == NULL || !input->keep_null_keys);
	if (input->filter != NULL)
		hg_filter_destroy(input->filter);
	input->filter = filter;
}

void
hg_input_set_collector(HgInput *input, HgFilter *collector)
{
	input->collector = collector;
}

void
hg_input_set_upload(HgInput *input, HgUpload *upload)
{
	input->upload = upload;
	input->upload_at = HG_MIN_UPLOAD_STEP;
}

/* Destroys the bitmap of keys. */
static void
hg_input_drop_bits(HgInput *input)
{
	if (input->bits != NULL)
		hg_key_bits_destroy(input->bits);
	input->bits = NULL;
}

void
hg_input_clear(HgInput *input)
{
	hg_input_select_all(input);
	hg_input_drop_bits(input);
	hg_key_column_clear(input->words);
	hg_column_store_clear(input->rows);
	hg_column_store_clear(input->null_rows);
}

void
hg_input_release(HgInput *input)
{
	hg_input_select_all(input);
	hg_input_drop_bits(input);
	if (input->spare_words != NULL)
	{
		hg_key_column_release(input->spare_words);
		hg_column_store_release(input->spare_rows);
	}
	hg_key_column_release(input->words);
	hg_column_store_release(input->rows);
	hg_column_store_release(input->null_rows);
}

void
hg_input_restart(HgInput *input)
{
	input->child->restart(input->child);
	hg_input_forget_batch(input);
	input->filtered = false;
	hg_input_clear(input);
	input->source = NULL;
	input->at_end = false;
}

void
hg_input_rescan(HgInput *input)
{
	MemoryContext old;

	hg_input_restart(input);
	if (input->plan->chgParam != NULL)
		return;
	/* the plan's state must last */
	old = MemoryContextSwitchTo(input->plan->state->es_query_cxt);
	ExecReScan(input->plan);
	MemoryContextSwitchTo(old);
}
