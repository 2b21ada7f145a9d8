/*-------------------------------------------------------------------------
 *
 * hg_slices.c
 *	  Graph replicas in slices, of which each of several devices has one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_slices.h"

static uint32_t
ones(uint64_t word)
{
	return (uint32_t) __builtin_popcountll(word);
}

uint32_t
hg_slice_number(uint32_t count, uint32_t slice)
{
	return count << 16 | slice;
}

uint32_t
hg_slice_number_along(uint32_t cut, uint32_t count, uint32_t slice)
{
	return cut << 24 | hg_slice_number(count, slice);
}

void
hg_slices_count(const HgSlices *slices, uint64_t *before)
{
	for (uint32_t slice = 0; slice < slices->count; slice++)
	{
		uint64_t *of_slice = before + (size_t) slice * (slices->parts + 1);
		uint64_t rows = 0;

		for (uint32_t part = 0; part < slices->parts; part++)
		{
			const uint64_t *bits = hg_slice_bits(slices, slice, part);

			of_slice[part] = rows;
			for (uint32_t word = 0; word < slices->words[part]; word++)
				rows += ones(bits[word]);
		}
		of_slice[slices->parts] = rows;
	}
}

/* Parts of HG_FLAT_ROW_BITS that so many dense numbers take. */
static uint32_t
parts_of(uint64_t rows)
{
	return rows > 0 ? (uint32_t) ((rows - 1) >> HG_FLAT_ROW_BITS) + 1 : 1;
}

HgReplicaShape
hg_slice_shape(const HgSlices *slices, uint32_t slice, uint32_t key_width)
{
	const uint64_t rows = hg_slice_rows(slices, slice);

	return (HgReplicaShape){.key_width = key_width, .parts = parts_of(rows), .rows = rows};
}

HgReplicaShape
hg_slice_shape_along(const HgSlices *slices, uint32_t slice, uint32_t key_width, uint64_t rows)
{
	return (HgReplicaShape){
		.key_width = key_width, .parts = parts_of(hg_slice_rows(slices, slice)), .rows = rows};
}

HgReplicaColumnShape
hg_slice_column_shape(const HgSlices *slices, uint32_t slice, uint32_t width)
{
	const uint64_t rows = hg_slice_rows(slices, slice);
	const uint32_t parts = parts_of(rows);
	const uint64_t stride = parts > 1 ? UINT64_C(1) << HG_FLAT_ROW_BITS : rows;

	/* a row's ordinal is its number */
	return (HgReplicaColumnShape){
		.width = width, .parts = parts, .stride = stride > 0 ? (uint32_t) stride : 1};
}

void
hg_slice_rank_all(const uint64_t *bits, uint32_t words, uint32_t *ranks)
{
	uint32_t rank = 0;

	for (uint32_t word = 0; word < words; word++)
	{
		if (word % HG_SLICE_RANK_WORDS == 0)
			ranks[word / HG_SLICE_RANK_WORDS] = rank;
		rank += ones(bits[word]);
	}
}

uint32_t
hg_slice_rank(const uint64_t *bits, const uint32_t *ranks, uint32_t number)
{
	const uint32_t word = number / 64;
	uint32_t first = word / HG_SLICE_RANK_WORDS * HG_SLICE_RANK_WORDS;
	uint32_t rank = ranks[word / HG_SLICE_RANK_WORDS];

	for (; first < word; first++)
		rank += ones(bits[first]);
	return rank + ones(bits[word] & ((UINT64_C(1) << number % 64) - 1));
}

/* The lowest bits of a word, so many. */
static uint64_t
low_bits(uint64_t word, uint32_t count)
{
	return count < 64 ? word & ((UINT64_C(1) << count) - 1) : word;
}

/* The bits of a word that are set in another one, one behind the other. */
static uint64_t
extract(uint64_t word, uint64_t set)
{
	uint64_t extracted = 0;

	if ((word & set) == 0)
		return 0;
	for (uint64_t bit = 1; set != 0; bit <<= 1, set &= set - 1)
		if ((word & set & -set) != 0)
			extracted |= bit;
	return extracted;
}

/* Write so many bits at a place of a mask. */
static void
write_bits(uint64_t *mask, uint64_t at, uint64_t bits, uint32_t count)
{
	const uint32_t shift = (uint32_t) (at % 64);
	uint64_t *word = mask + at / 64;

	word[0] = (word[0] & ~(low_bits(UINT64_MAX, count) << shift)) | bits << shift;
	if (shift + count > 64)
	{
		const uint32_t rest = shift + count - 64;

		word[1] = (word[1] & ~low_bits(UINT64_MAX, rest)) | bits >> (64 - shift);
	}
}

void
hg_slice_mask(const HgSlices *slices, uint32_t slice, uint32_t part, uint32_t first,
			  const uint64_t *words, uint32_t count, uint64_t *mask)
{
	const uint64_t *bits = hg_slice_bits(slices, slice, part);
	uint64_t at = hg_slice_before(slices, slice, part);

	/* a part may have numbers beyond those of the graph's rows */
	for (uint32_t word = 0; word < slices->words[part] && word < first + count; word++)
	{
		const uint32_t rows = ones(bits[word]);
		const uint64_t given = words != NULL && word >= first ? words[word - first] : 0;

		if (rows > 0 && word >= first)
			write_bits(mask, at,
					   given == UINT64_MAX ? low_bits(UINT64_MAX, rows)
										   : extract(given, bits[word]),
					   rows);
		at += rows;
	}
}

uint64_t
hg_slices_mask_bytes(const HgSlices *slices)
{
	uint64_t words = 0;

	for (uint32_t slice = 0; slice < slices->count; slice++)
		words += hg_slice_mask_words(slices, slice);
	return words * sizeof(uint64_t);
}
