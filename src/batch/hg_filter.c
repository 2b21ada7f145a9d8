/*-------------------------------------------------------------------------
 *
 * hg_filter.c
 *	  Which rows of one side can match at all: told by the keys of the other, while it is read.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "backend/hg_memory.h"
#include "batch/hg_batch.h"
#include "batch/hg_filter.h"
#include "engine/hg_hash.h"

/* A bitmap may have so many bits for each key, or so many in all whatever the keys. */
#define HG_BITMAP_BITS_PER_KEY 16
#define HG_BITMAP_BITS ((uint64) 1 << 19)

/* A Bloom filter has at least so many bits for each key. */
#define HG_BLOOM_BITS_PER_KEY 12

/* After so many rows it is clear what a filter is worth: it must refuse one row in ... */
#define HG_FILTER_SAMPLE 16384
#define HG_FILTER_PAYS 5

/* Keys between two looks at interrupts. */
#define HG_FILTER_POLL 65536

static inline uint64
hg_filter_word(const HgKeyPiece *piece, uint32 key_width, uint64 i)
{
	return key_width == sizeof(uint32) ? ((const uint32 *) piece->keys)[i]
									   : ((const uint64 *) piece->keys)[i];
}

/* Find the least and the greatest of the keys in their order. */
static void
hg_filter_measure(HgFilter *filter, const HgKeySet *keys, uint32 key_width)
{
	uint64 least = PG_UINT64_MAX;
	uint64 greatest = 0;

	for (int p = 0; p < keys->npieces; p++)
		for (uint64 i = 0; i < keys->pieces[p].count; i++)
		{
			uint64 word = hg_filter_word(&keys->pieces[p], key_width, i) ^ filter->sign;

			if (i % HG_FILTER_POLL == 0)
				CHECK_FOR_INTERRUPTS();
			least = Min(least, word);
			greatest = Max(greatest, word);
		}
	filter->least = least;
	filter->extent = greatest - least;
}

/* The block of a word in a Bloom filter; *mask becomes its bits there. */
static inline uint64
hg_bloom_block(const HgFilter *filter, uint64 word, uint64 *mask)
{
	uint64 hash = hg_mix64(word);

	*mask = UINT64CONST(1) << (hash & 63) | UINT64CONST(1) << (hash >> 6 & 63) |
			UINT64CONST(1) << (hash >> 12 & 63) | UINT64CONST(1) << (hash >> 18 & 63);
	return ((hash >> 32) * filter->blocks) >> 32;
}

/* Set the bits of all keys. */
static void
hg_filter_fill(HgFilter *filter, const HgKeySet *keys, uint32 key_width)
{
	for (int p = 0; p < keys->npieces; p++)
		for (uint64 i = 0; i < keys->pieces[p].count; i++)
		{
			uint64 word = hg_filter_word(&keys->pieces[p], key_width, i) ^ filter->sign;
			uint64 mask;

			if (i % HG_FILTER_POLL == 0)
				CHECK_FOR_INTERRUPTS();
			if (filter->form == HG_FILTER_BITMAP)
			{
				word -= filter->least;
				filter->bits[word / 64] |= UINT64CONST(1) << (word % 64);
			}
			else
			{
				uint64 block = hg_bloom_block(filter, word, &mask);

				filter->bits[block] |= mask;
			}
		}
}

/* A filter without bits, in a context of its own. */
static HgFilter *
hg_filter_new(uint32 key_width)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph filter", ALLOCSET_SMALL_SIZES);
	HgFilter *filter = MemoryContextAllocZero(context, sizeof(HgFilter));

	filter->context = context;
	filter->sign = UINT64CONST(1) << (key_width * 8 - 1);
	filter->extent = PG_UINT64_MAX;
	filter->pays = true;
	return filter;
}

/* Give a filter bits, all of them 0; where it would take too much, destroy it and return NULL. */
static HgFilter *
hg_filter_size(HgFilter *filter, HgFilterForm form, uint64 blocks, uint64 max_bytes)
{
	filter->form = form;
	filter->blocks = blocks;
	if (blocks <= max_bytes / sizeof(uint64))
		filter->bits = hg_block_alloc(filter->context, blocks * sizeof(uint64));
	if (filter->bits == NULL)
	{
		hg_filter_destroy(filter);
		return NULL;
	}
	memset(filter->bits, 0, blocks * sizeof(uint64));
	return filter;
}

static inline uint64
hg_bloom_blocks(uint64 keys)
{
	return keys * HG_BLOOM_BITS_PER_KEY / 64 + 1;
}

HgFilter *
hg_filter_create(const HgKeySet *keys, uint32 key_width, uint64 max_bytes)
{
	HgFilter *filter;

	if (keys->rows == 0 || keys->rows > PG_UINT32_MAX)
		return NULL;
	filter = hg_filter_new(key_width);
	hg_filter_measure(filter, keys, key_width);
	if (filter->extent < Max(HG_BITMAP_BITS, keys->rows * HG_BITMAP_BITS_PER_KEY))
		filter = hg_filter_size(filter, HG_FILTER_BITMAP, filter->extent / 64 + 1, max_bytes);
	else
		filter = hg_filter_size(filter, HG_FILTER_BLOOM, hg_bloom_blocks(keys->rows), max_bytes);
	if (filter != NULL)
		hg_filter_fill(filter, keys, key_width);
	return filter;
}

HgFilter *
hg_filter_begin(uint64 keys, uint32 key_width, uint64 max_bytes)
{
	if (keys > PG_UINT32_MAX)
		return NULL;
	return hg_filter_size(hg_filter_new(key_width), HG_FILTER_BLOOM, hg_bloom_blocks(keys),
						  max_bytes);
}

void
hg_filter_add(HgFilter *filter, const uint64 *words, const uint16 *which, int nwords)
{
	for (int i = 0; i < nwords; i++)
	{
		uint64 mask;
		uint64 block =
			hg_bloom_block(filter, words[which != NULL ? which[i] : i] ^ filter->sign, &mask);

		filter->bits[block] |= mask;
	}
}

uint64
hg_filter_bytes(const HgFilter *filter)
{
	return filter != NULL ? filter->blocks * sizeof(uint64) : 0;
}

/* Ask a bitmap. */
static int
hg_filter_apply_bitmap(const HgFilter *filter, const uint64 *words, const uint16 *which, int nwords,
					   uint16 *kept)
{
	int nkept = 0;

	for (int i = 0; i < nwords; i++)
	{
		uint16 row = which != NULL ? which[i] : i;
		uint64 word = (words[row] ^ filter->sign) - filter->least;
		bool inside = word <= filter->extent;

		/* an outsider reads the first bit, which says nothing of it */
		word = inside ? word : 0;
		kept[nkept] = row;
		nkept += inside & (filter->bits[word / 64] >> (word % 64));
	}
	return nkept;
}

/* Ask a Bloom filter. */
static int
hg_filter_apply_bloom(const HgFilter *filter, const uint64 *words, const uint16 *which, int nwords,
					  uint16 *kept)
{
	uint64 blocks[HG_BATCH_ROWS];
	uint64 masks[HG_BATCH_ROWS];
	int nkept = 0;

	for (int i = 0; i < nwords; i++)
	{
		blocks[i] =
			hg_bloom_block(filter, words[which != NULL ? which[i] : i] ^ filter->sign, &masks[i]);
		HG_PREFETCH(&filter->bits[blocks[i]]);
	}
	for (int i = 0; i < nwords; i++)
	{
		uint16 row = which != NULL ? which[i] : i;
		bool inside = (words[row] ^ filter->sign) - filter->least <= filter->extent;

		kept[nkept] = row;
		nkept += inside & ((filter->bits[blocks[i]] & masks[i]) == masks[i]);
	}
	return nkept;
}

int
hg_filter_apply(HgFilter *filter, const uint64 *words, const uint16 *which, int nwords,
				uint16 *kept)
{
	int nkept = filter->form == HG_FILTER_BITMAP
					? hg_filter_apply_bitmap(filter, words, which, nwords, kept)
					: hg_filter_apply_bloom(filter, words, which, nwords, kept);

	filter->tested += nwords;
	filter->refused += nwords - nkept;
	if (filter->tested >= HG_FILTER_SAMPLE && filter->refused < filter->tested / HG_FILTER_PAYS)
		filter->pays = false;
	return nkept;
}

void
hg_filter_destroy(HgFilter *filter)
{
	MemoryContextDelete(filter->context);
}
