/*-------------------------------------------------------------------------
 *
 * hg_input_spill.c
 *	  Writes an input to a spill set, and reads it back.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"

#include "batch/hg_input_spill.h"

/* Moves the bitmap's keys to a spill set. */
static void
hg_input_unload_bits(HgInput *input, HgSpill *spill)
{
	HgBatch *batch = input->stored_batch;
	HgSpillKeys keys;
	uint64 position = 0;

	memset(keys.null_keys, 0, sizeof(keys.null_keys));
	while ((batch->nrows = hg_key_bits_next(input->bits, &position, keys.words, HG_BATCH_ROWS)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (input->collector != NULL)
			hg_filter_add(input->collector, keys.words, NULL, batch->nrows);
		hg_spill_write(spill, &keys, batch, input->dense, NULL, batch->nrows);
	}
}

/* Moves consecutive rows of a store to a spill set; words is NULL for NULL keys. */
static void
hg_input_unload_rows(HgInput *input, HgSpill *spill, const HgColumnStore *store, uint64 first_row,
					 uint64 nrows, const void *words)
{
	HgBatch *batch = input->stored_batch;
	HgSpillKeys keys;
	uint32 numbers[HG_BATCH_ROWS];

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
			else if (input->words->width == 4)
				keys.words[i] = ((const uint32 *) words)[at + i];
			else
				keys.words[i] = ((const uint64 *) words)[at + i];
		}
		hg_column_store_get(store, numbers, batch->nrows, batch, input->dense);
		hg_spill_write(spill, &keys, batch, input->dense, NULL, batch->nrows);
	}
}

/* Moves the rows in memory to a spill set. */
static void
hg_input_unload(HgInput *input, HgSpill *spill)
{
	HgKeySet words = hg_key_column_set(input->words);

	if (input->bits != NULL)
		hg_input_unload_bits(input, spill);
	for (int i = 0; i < words.npieces; i++)
		hg_input_unload_rows(input, spill, input->rows, words.pieces[i].first_row,
							 words.pieces[i].count, words.pieces[i].keys);
	hg_input_unload_rows(input, spill, input->null_rows, 0, input->null_rows->rows, NULL);
	hg_input_release(input);
}

void
hg_input_spill(HgInput *input, HgSpill *spill)
{
	HgInputRows rows;
	HgSpillKeys keys;

	hg_input_unload(input, spill);
	while (!input->at_end && hg_input_read(input, &rows, &keys))
	{
		hg_spill_write(spill, &keys, rows.batch, rows.at, rows.which, rows.nkeys);
		if (rows.nnull > 0)
			hg_spill_write(spill, &keys, rows.batch, rows.at, rows.null_rows, rows.nnull);
	}
}

void
hg_input_set_source(HgInput *input, HgSpill *source, int partition)
{
	hg_input_clear(input);
	hg_spill_rewind(source, partition);
	input->source = source;
	input->partition = partition;
	input->at_end = false;
}

void
hg_input_end_source(HgInput *input)
{
	hg_input_clear(input);
	input->source = NULL;
	input->at_end = true;
}
