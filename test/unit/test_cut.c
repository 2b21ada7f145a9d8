/*-------------------------------------------------------------------------
 *
 * test_cut.c
 *	  Sides of joins that are cut into slices, each a side of its own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_cut.h"

#include <stdlib.h>
#include <string.h>

static void *
zeroed(size_t bytes)
{
	void *memory = calloc(1, bytes + 1);

	if (memory == NULL)
		abort();
	return memory;
}

/* The slice of row i of the side. */
static uint32_t
slice_of_row(const TestCut *cut, uint32_t i)
{
	return hg_slice_of(cut->slices.count, test_replica_key(cut->side, i));
}

/* Set the bits of all rows. */
static void
mark_rows(TestCut *cut)
{
	const TestReplicaSide *side = cut->side;

	cut->words = zeroed(side->spread.parts * sizeof(uint32_t));
	cut->bits = zeroed(side->spread.parts * sizeof(uint64_t *));
	for (uint32_t i = 0; i < side->spread.count; i++)
	{
		uint32_t *words = &cut->words[HG_FLAT_PART(side->rows[i])];
		const uint32_t needed = HG_FLAT_NUMBER(side->rows[i]) / 64 + 1;

		*words = needed > *words ? needed : *words;
	}
	for (uint32_t part = 0; part < side->spread.parts; part++)
		cut->bits[part] = zeroed(cut->slices.count * (size_t) cut->words[part] * sizeof(uint64_t));
	for (uint32_t i = 0; i < side->spread.count; i++)
	{
		const uint32_t part = HG_FLAT_PART(side->rows[i]);
		const uint32_t number = HG_FLAT_NUMBER(side->rows[i]);

		cut->bits[part][slice_of_row(cut, i) * (size_t) cut->words[part] + number / 64] |=
			UINT64_C(1) << number % 64;
	}
}

bool
test_cut_has(const TestCut *cut, uint32_t slice, uint32_t row)
{
	const uint32_t part = HG_FLAT_PART(row);
	const uint32_t number = HG_FLAT_NUMBER(row);

	return number / 64 < cut->words[part] &&
		   (hg_slice_bits(&cut->slices, slice, part)[number / 64] >> number % 64 & 1) != 0;
}

uint32_t
test_cut_number(const TestCut *cut, uint32_t slice, uint32_t row)
{
	const uint32_t part = HG_FLAT_PART(row);
	const uint64_t *bits = hg_slice_bits(&cut->slices, slice, part);
	uint32_t *ranks = zeroed(hg_slice_ranks(cut->slices.words[part]) * sizeof(uint32_t));
	uint32_t rank;

	hg_slice_rank_all(bits, cut->slices.words[part], ranks);
	rank = hg_slice_rank(bits, ranks, HG_FLAT_NUMBER(row));
	free(ranks);
	return (uint32_t) hg_slice_before(&cut->slices, slice, part) + rank;
}

/* Copy the rows of a slice, with their columns, into a side. */
static void
fill_slice(TestCut *cut, uint32_t number)
{
	const TestReplicaSide *side = cut->side;
	TestReplicaSide *slice = &cut->slice[number];
	const uint32_t width = side->spread.width;
	uint32_t count = 0;

	slice->spread = side->spread;
	slice->spread.parts = hg_slice_shape(&cut->slices, number, width).parts;
	slice->spread.numbers = 0;
	slice->spread.stride = hg_slice_column_shape(&cut->slices, number, 8).stride;
	slice->keys = zeroed((size_t) side->spread.count * width);
	slice->rows = zeroed(side->spread.count * sizeof(uint32_t));
	for (uint32_t column = 0; column < side->spread.ncolumns; column++)
	{
		slice->columns[column].values =
			zeroed((size_t) side->spread.count * test_replica_widths[column]);
		if (side->columns[column].nulls != NULL)
			slice->columns[column].nulls = zeroed(side->spread.count);
	}
	for (uint32_t i = 0; i < side->spread.count; i++)
	{
		if (slice_of_row(cut, i) != number)
			continue;
		memcpy((char *) slice->keys + (size_t) count * width,
			   (const char *) side->keys + (size_t) i * width, width);
		slice->rows[count] = test_cut_number(cut, number, side->rows[i]);
		for (uint32_t column = 0; column < side->spread.ncolumns; column++)
		{
			const uint32_t bytes = test_replica_widths[column];

			memcpy(slice->columns[column].values + (size_t) count * bytes,
				   side->columns[column].values + (size_t) i * bytes, bytes);
			if (side->columns[column].nulls != NULL)
				slice->columns[column].nulls[count] = side->columns[column].nulls[i];
		}
		count++;
	}
	slice->spread.count = count;
}

bool
test_cut_create(TestCut *cut, HgEngine *engine, const HgHost *host, const TestReplicaSide *side,
				uint32_t count)
{
	HgError error;
	bool good = true;

	memset(cut, 0, sizeof(*cut));
	cut->side = side;
	cut->slices.count = count;
	cut->slices.parts = side->spread.parts;
	mark_rows(cut);
	cut->before = zeroed(count * (size_t) (side->spread.parts + 1) * sizeof(uint64_t));
	cut->slices.words = cut->words;
	cut->slices.bits = (const uint64_t *const *) cut->bits;
	cut->slices.before = cut->before;
	hg_slices_count(&cut->slices, cut->before);
	for (uint32_t i = 0; i < count; i++)
	{
		fill_slice(cut, i);
		good = good && cut->slice[i].spread.count == hg_slice_rows(&cut->slices, i);
		for (uint32_t row = 0; row < cut->slice[i].spread.count && good; row++)
			good = cut->slice[i].rows[row] < cut->slice[i].spread.count;
		good = good && test_replica_make(engine, host, &cut->slice[i], &error) == HG_OK;
	}
	return good;
}

void
test_cut_destroy(TestCut *cut, HgEngine *engine)
{
	for (uint32_t i = 0; i < cut->slices.count; i++)
	{
		TestReplicaSide *slice = &cut->slice[i];

		test_replica_release(engine, slice);
		for (uint32_t column = 0; column < slice->spread.ncolumns; column++)
		{
			free(slice->columns[column].values);
			free(slice->columns[column].nulls);
		}
		free(slice->keys);
		free(slice->rows);
	}
	for (uint32_t part = 0; part < cut->slices.parts; part++)
		free(cut->bits[part]);
	free(cut->bits);
	free(cut->words);
	free(cut->before);
}
