/*-------------------------------------------------------------------------
 *
 * hg_held_rows.c
 *	  The rows of an input of a join that are in memory, as key words and columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"

#include "batch/hg_held_rows.h"

/* If more than this share of the rows would be selected, all of them are joined. */
#define HG_SELECTED_MOST 0.5

/* Bounds of the keys that are uploaded at a time. */
#define HG_MIN_UPLOAD_STEP ((uint64) 8 * 1024)
#define HG_MAX_UPLOAD_STEP ((uint64) 128 * 1024)

/* Creates an empty store of the columns, in CurrentMemoryContext. */
static HgColumnStore *
hg_held_create_store(HgHeldRows *held)
{
	int *attnos = palloc(Max(held->ncolumns, 1) * sizeof(int));
	HgColumnStore *store;

	for (int i = 0; i < held->ncolumns; i++)
		attnos[i] = held->to[i] + 1;
	store = hg_column_store_create(CurrentMemoryContext, held->scan_desc, held->ncolumns, attnos,
								   &held->budget);
	pfree(attnos);
	return store;
}

void
hg_held_init(HgHeldRows *held, TupleDesc scan_desc, int ncolumns, const HgInputColumn *columns,
			 uint32 key_width, HgBudget *budget)
{
	held->scan_desc = scan_desc;
	held->ncolumns = ncolumns;
	held->to = palloc(Max(ncolumns, 1) * sizeof(int));
	held->dense = palloc(Max(ncolumns, 1) * sizeof(int));
	for (int i = 0; i < ncolumns; i++)
	{
		held->to[i] = columns[i].to;
		held->dense[i] = i;
	}
	held->moved = hg_batch_create(ncolumns);
	hg_budget_init(&held->budget, budget, 0);
	held->words = hg_key_column_create(CurrentMemoryContext, key_width, &held->budget);
	held->rows = hg_held_create_store(held);
	held->null_rows = hg_held_create_store(held);
}

uint64
hg_held_reserved(const HgHeldRows *held)
{
	uint64 spare = 0;

	if (held->spare_words != NULL)
		spare =
			hg_key_column_reserved(held->spare_words) + hg_column_store_reserved(held->spare_rows);
	return hg_key_column_reserved(held->words) + hg_column_store_reserved(held->rows) +
		   hg_column_store_reserved(held->null_rows) + spare;
}

uint64
hg_held_row_bytes(uint32 key_width, int row_width)
{
	return hg_key_column_row_bytes(key_width) + row_width;
}

void
hg_held_store(HgHeldRows *held, const HgInputRows *rows, const HgSpillKeys *keys)
{
	const uint16 *which = rows->which;
	uint16 rest[HG_BATCH_ROWS];

	for (int done = 0; done < rows->nkeys;)
	{
		uint64 first_row;
		int step = Min(hg_column_store_room(held->rows, &first_row), rows->nkeys - done);

		hg_key_column_add(held->words, first_row, keys->words, which, step);
		hg_column_store_add(held->rows, rows->batch, rows->at, which, step);
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

void
hg_held_set_upload(HgHeldRows *held, HgUpload *upload)
{
	held->upload = upload;
	held->upload_at = HG_MIN_UPLOAD_STEP;
}

/*
 * The next upload comes after half as many rows again, within limits: small inputs are sent soon,
 * and large ones take few messages.
 */
void
hg_held_upload(HgHeldRows *held, HgSide side)
{
	HgKeySet keys;

	if (held->upload == NULL || held->words->rows < held->upload_at)
		return;
	keys = hg_key_column_set(held->words);
	hg_upload_send(held->upload, side, &keys);
	held->upload_at = keys.rows + Max(HG_MIN_UPLOAD_STEP, Min(keys.rows / 2, HG_MAX_UPLOAD_STEP));
}

/* ---------------------------------------------------------------------
 * A bitmap of keys instead of rows
 * ---------------------------------------------------------------------
 */

/* Destroys the bitmap of keys. */
static void
hg_held_drop_bits(HgHeldRows *held)
{
	if (held->bits != NULL)
		hg_key_bits_destroy(held->bits);
	held->bits = NULL;
}

bool
hg_held_begin_bits(HgHeldRows *held, bool repeats, uint64 limit)
{
	HgKeySet words = hg_key_column_set(held->words);
	HgKeyBits *bits = hg_key_bits_create(GetMemoryChunkContext(held->moved), held->words->width,
										 repeats, limit, &held->budget);
	bool done = hg_key_bits_reserve(bits, words.pieces, words.npieces);

	Assert(held->ncolumns == 0 && held->null_rows->rows == 0);
	for (int i = 0; done && i < words.npieces; i++)
	{
		CHECK_FOR_INTERRUPTS();
		done = hg_key_bits_add(bits, words.pieces[i].keys, words.pieces[i].count) ==
			   words.pieces[i].count;
	}
	if (!done)
	{
		hg_key_bits_destroy(bits);
		return false;
	}
	hg_key_column_release(held->words);
	hg_column_store_clear(held->rows);
	held->bits = bits;
	return true;
}

/* ---------------------------------------------------------------------
 * Selected rows
 * ---------------------------------------------------------------------
 */

/* Switches between the rows that are joined and the spare ones. */
static void
hg_held_switch_lists(HgHeldRows *held)
{
	HgKeyColumn *words = held->words;
	HgColumnStore *rows = held->rows;

	held->words = held->spare_words;
	held->rows = held->spare_rows;
	held->spare_words = words;
	held->spare_rows = rows;
	held->selected = !held->selected;
}

/* Creates the spare words and rows, which are empty. */
static void
hg_held_create_spare(HgHeldRows *held)
{
	held->spare_words =
		hg_key_column_create(CurrentMemoryContext, held->words->width, &held->budget);
	held->spare_rows = hg_held_create_store(held);
}

/* Selects those of consecutive rows that a filter lets through. */
static void
hg_held_select_rows(HgHeldRows *held, HgFilter *filter, const HgKeyPiece *piece, uint64 first,
					int nrows)
{
	uint64 words[HG_BATCH_ROWS];
	uint16 which[HG_BATCH_ROWS];
	uint32 numbers[HG_BATCH_ROWS];
	int nselected;

	if (held->words->width == sizeof(uint32))
		for (int i = 0; i < nrows; i++)
			words[i] = ((const uint32 *) piece->keys)[first + i];
	else
		memcpy(words, (const uint64 *) piece->keys + first, nrows * sizeof(uint64));
	nselected = hg_filter_apply(filter, words, NULL, nrows, which);
	if (nselected == 0)
		return;
	for (int i = 0; i < nselected; i++)
		numbers[i] = (uint32) (piece->first_row + first + which[i]);
	hg_column_store_get(held->spare_rows, numbers, nselected, held->moved, held->dense);
	hg_key_column_add(held->words, held->rows->next_row, words, which, nselected);
	hg_column_store_add(held->rows, held->moved, held->dense, NULL, nselected);
}

bool
hg_held_select(HgHeldRows *held, HgFilter *filter, uint64 limit)
{
	uint64 most = held->budget.charged + limit;
	HgKeySet all = hg_key_column_set(held->words);
	/* rows of HG_BATCH_BYTES, on average */
	uint64 step = Min(HG_BATCH_ROWS, 1 + all.rows * HG_BATCH_BYTES / Max(held->budget.charged, 1));

	Assert(!held->selected && held->null_rows->rows == 0);
	if (held->spare_words == NULL)
		hg_held_create_spare(held);
	hg_held_switch_lists(held);
	for (int p = 0; p < all.npieces; p++)
		for (uint64 at = 0; at < all.pieces[p].count; at += step)
		{
			CHECK_FOR_INTERRUPTS();
			hg_held_select_rows(held, filter, &all.pieces[p], at,
								(int) Min(all.pieces[p].count - at, step));
			if (!filter->pays || held->budget.charged > most ||
				held->words->rows > all.rows * HG_SELECTED_MOST)
			{
				hg_held_select_all(held);
				return false;
			}
		}
	return true;
}

void
hg_held_select_all(HgHeldRows *held)
{
	if (!held->selected)
		return;
	hg_key_column_clear(held->words);
	hg_column_store_clear(held->rows);
	hg_held_switch_lists(held);
}

/* ---------------------------------------------------------------------
 * Removal
 * ---------------------------------------------------------------------
 */

void
hg_held_clear(HgHeldRows *held)
{
	hg_held_select_all(held);
	hg_held_drop_bits(held);
	hg_key_column_clear(held->words);
	hg_column_store_clear(held->rows);
	hg_column_store_clear(held->null_rows);
}

void
hg_held_release(HgHeldRows *held)
{
	hg_held_select_all(held);
	hg_held_drop_bits(held);
	if (held->spare_words != NULL)
	{
		hg_key_column_release(held->spare_words);
		hg_column_store_release(held->spare_rows);
	}
	hg_key_column_release(held->words);
	hg_column_store_release(held->rows);
	hg_column_store_release(held->null_rows);
}

/* Moves the bitmap's keys to a spill set. */
static void
hg_held_unload_bits(HgHeldRows *held, HgSpill *spill, HgFilter *collector)
{
	HgBatch *batch = held->moved;
	HgSpillKeys keys;
	uint64 position = 0;

	memset(keys.null_keys, 0, sizeof(keys.null_keys));
	while ((batch->nrows = hg_key_bits_next(held->bits, &position, keys.words, HG_BATCH_ROWS)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (collector != NULL)
			hg_filter_add(collector, keys.words, NULL, batch->nrows);
		hg_spill_write(spill, &keys, batch, held->dense, NULL, batch->nrows);
	}
}

/* Moves consecutive rows of a store to a spill set; words is NULL for NULL keys. */
static void
hg_held_unload_rows(HgHeldRows *held, HgSpill *spill, const HgColumnStore *store, uint64 first_row,
					uint64 nrows, const void *words, HgFilter *filter)
{
	HgBatch *batch = held->moved;
	HgSpillKeys keys;
	uint32 numbers[HG_BATCH_ROWS];
	uint16 which[HG_BATCH_ROWS];

	memset(keys.null_keys, words == NULL, sizeof(keys.null_keys));
	for (uint64 at = 0; at < nrows; at += batch->nrows)
	{
		CHECK_FOR_INTERRUPTS();
		batch->nrows = (int) Min(nrows - at, HG_BATCH_ROWS);
		for (int i = 0; i < batch->nrows; i++)
		{
			numbers[i] = (uint32) (first_row + at + i);
			if (words == NULL)
				keys.words[i] = at + i;
			else if (held->words->width == 4)
				keys.words[i] = ((const uint32 *) words)[at + i];
			else
				keys.words[i] = ((const uint64 *) words)[at + i];
		}
		hg_column_store_get(store, numbers, batch->nrows, batch, held->dense);
		if (filter == NULL || words == NULL)
			hg_spill_write(spill, &keys, batch, held->dense, NULL, batch->nrows);
		else
			hg_spill_write(spill, &keys, batch, held->dense, which,
						   hg_filter_apply(filter, keys.words, NULL, batch->nrows, which));
	}
}

void
hg_held_spill(HgHeldRows *held, HgSpill *spill, HgFilter *collector, HgFilter *filter)
{
	HgKeySet words = hg_key_column_set(held->words);

	if (held->bits != NULL)
		hg_held_unload_bits(held, spill, collector);
	for (int i = 0; i < words.npieces; i++)
		hg_held_unload_rows(held, spill, held->rows, words.pieces[i].first_row,
							words.pieces[i].count, words.pieces[i].keys, filter);
	hg_held_unload_rows(held, spill, held->null_rows, 0, held->null_rows->rows, NULL, filter);
	hg_held_release(held);
}
