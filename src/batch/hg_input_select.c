/*-------------------------------------------------------------------------
 *
 * hg_input_select.c
 *	  Selects which rows of an input are joined.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "batch/hg_input_select.h"

/* If more than this share of the rows would be selected, all of them are joined. */
#define HG_SELECTED_MOST 0.5

/* Switches between the rows that are joined and the spare ones. */
static void
hg_input_switch_lists(HgInput *input)
{
	HgKeyColumn *words = input->words;
	HgColumnStore *rows = input->rows;

	input->words = input->spare_words;
	input->rows = input->spare_rows;
	input->spare_words = words;
	input->spare_rows = rows;
	input->selected = !input->selected;
}

/* Creates the spare words and rows, which are empty. */
static void
hg_input_create_spare(HgInput *input)
{
	input->spare_words =
		hg_key_column_create(CurrentMemoryContext, input->words->width, &input->budget);
	input->spare_rows = hg_input_create_store(input);
}

/* Selects those of consecutive rows that a filter lets through. */
static void
hg_input_select_rows(HgInput *input, HgFilter *filter, const HgKeyPiece *piece, uint64 first,
					 int nrows)
{
	uint64 words[HG_BATCH_ROWS];
	uint16 which[HG_BATCH_ROWS];
	uint32 numbers[HG_BATCH_ROWS];
	int nselected;

	if (input->words->width == sizeof(uint32))
		for (int i = 0; i < nrows; i++)
			words[i] = ((const uint32 *) piece->keys)[first + i];
	else
		memcpy(words, (const uint64 *) piece->keys + first, nrows * sizeof(uint64));
	nselected = hg_filter_apply(filter, words, NULL, nrows, which);
	if (nselected == 0)
		return;
	for (int i = 0; i < nselected; i++)
		numbers[i] = (uint32) (piece->first_row + first + which[i]);
	hg_column_store_get(input->spare_rows, numbers, nselected, input->stored_batch, input->dense);
	hg_key_column_add(input->words, input->rows->next_row, words, which, nselected);
	hg_column_store_add(input->rows, input->stored_batch, input->dense, NULL, nselected);
}

bool
hg_input_select(HgInput *input, HgFilter *filter, uint64 limit)
{
	uint64 most = input->budget.charged + limit;
	HgKeySet all = hg_key_column_set(input->words);
	/* rows of HG_BATCH_BYTES, on average */
	uint64 step = Min(HG_BATCH_ROWS, 1 + all.rows * HG_BATCH_BYTES / Max(input->budget.charged, 1));

	Assert(!input->selected && input->null_rows->rows == 0);
	if (input->spare_words == NULL)
		hg_input_create_spare(input);
	hg_input_switch_lists(input);
	for (int p = 0; p < all.npieces; p++)
		for (uint64 at = 0; at < all.pieces[p].count; at += step)
		{
			CHECK_FOR_INTERRUPTS();
			hg_input_select_rows(input, filter, &all.pieces[p], at,
								 (int) Min(all.pieces[p].count - at, step));
			if (!filter->pays || input->budget.charged > most ||
				input->words->rows > all.rows * HG_SELECTED_MOST)
			{
				hg_input_select_all(input);
				return false;
			}
		}
	return true;
}

void
hg_input_select_all(HgInput *input)
{
	if (!input->selected)
		return;
	hg_key_column_clear(input->words);
	hg_column_store_clear(input->rows);
	hg_input_switch_lists(input);
}
