/*-------------------------------------------------------------------------
 *
 * hg_input_bits.c
 *	  An input's keys as a bitmap instead of rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"

#include "batch/hg_input_bits.h"

bool
hg_input_begin_bits(HgInput *input, bool repeats, uint64 limit)
{
	HgKeySet words = hg_key_column_set(input->words);
	HgKeyBits *bits = hg_key_bits_create(GetMemoryChunkContext(input), input->words->width, repeats,
										 limit, &input->budget);
	bool done = hg_key_bits_reserve(bits, words.pieces, words.npieces);

	Assert(input->ncolumns == 0 && input->null_rows->rows == 0);
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
	hg_key_column_release(input->words);
	hg_column_store_clear(input->rows);
	input->bits = bits;
	return true;
}

/* Adds a run.  Returns false if a key cannot be added; the rest of the run is then in words. */
static bool
hg_input_add_run(HgInput *input, const HgRun *run)
{
	const char *words = run->values[input->keys.columns[0]];
	uint64 done = hg_key_bits_add(input->bits, words, run->nrows);

	if (done == (uint64) run->nrows)
		return true;
	hg_key_column_add_external(input->words, 0, words + done * input->words->width,
							   run->nrows - done);
	return false;
}

bool
hg_input_fill_bits(HgInput *input)
{
	HgInputRows rows;
	HgSpillKeys keys;
	HgRun run;

	while (input->bits->map.keys <= HG_MAX_ROWS - HG_RUN_MOST)
	{
		int done;

		if (hg_input_read_run(input, HG_RUN_MOST, &run))
		{
			if (!hg_input_add_run(input, &run))
				return false;
			continue;
		}
		if (!hg_input_read(input, &rows, &keys))
			return true;
		done = hg_key_bits_add_words(input->bits, keys.words, rows.which, rows.nkeys);
		if (done < rows.nkeys)
		{
			for (int i = done; i < rows.nkeys; i++)
				rows.key_rows[i - done] = rows.which != NULL ? rows.which[i] : i;
			rows.which = rows.key_rows;
			rows.nkeys -= done;
			hg_input_store(input, &rows, &keys);
			return false;
		}
	}
	return false;
}
