/*-------------------------------------------------------------------------
 *
 * hg_filter.c
 *	  Runtime filters: the inner side's keys reject outer rows that cannot match.
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

/* Upper bounds of a bitmap: bits for each key, or bits in all if that is more. */
#define HG_BITMAP_BITS_PER_KEY 16
#define HG_BITMAP_BITS ((uint64) 1 << 19)

/* Lower bound of a Bloom filter: bits for each key. */
#define HG_BLOOM_BITS_PER_KEY 12

/* After HG_FILTER_SAMPLE rows, a filter must reject one row in HG_FILTER_PAYS. */
#define HG_FILTER_SAMPLE 16384
#define HG_FILTER_PAYS 5

/* Keys between two checks for interrupts. */
#define HG_FILTER_POLL 65536

static inline uint64
hg_filter_word(const HgKeyPiece *piece, uint32 key_width, uint64 i)
{
	return key_width == sizeof(uint32) ? ((const uint32 *) piece->keys)[i]
									   : ((const uint64 *) piece->keys)[i];
}

static inline uint64
hg_filter_sign(uint32 key_width)
{
	return UINT64CONST(1) << (key_width * 8 - 1);
}

/* Finds the least and the greatest of the ordered words. */
static void
hg_filter_measure(const HgKeySet *keys, uint32 key_width, uint64 *least, uint64 *greatest)
{
	uint64 sign = hg_filter_sign(key_width);

	*least = PG_UINT64_MAX;
	*greatest = 0;
	for (int p = 0; p < keys->npieces; p++)
		for (uint64 i = 0; i < keys->pieces[p].count; i++)
		{
			uint64 word = hg_filter_word(&keys->pieces[p], key_width, i) ^ sign;

			if (i % HG_FILTER_POLL == 0)
				CHECK_FOR_INTERRUPTS();
			*least = Min(*least, word);
			*greatest = Max(*greatest, word);
		}
}

/* Chooses the form of a filter and its number of blocks. */
static HgFilterForm
hg_filter_form(uint64 rows, uint64 extent, uint64 *blocks)
{
	if (extent < Max(HG_BITMAP_BITS, rows * HG_BITMAP_BITS_PER_KEY))
	{
		*blocks = extent / 64 + 1;
		return HG_FILTER_BITMAP;
	}
	*blocks = rows * HG_BLOOM_BITS_PER_KEY / 64 + 1;
	return HG_FILTER_BLOOM;
}

/* Returns the block of a word in a Bloom filter; sets *mask to its bits. */
static inline uint64
hg_bloom_block(const HgFilter *filter, uint64 word, uint64 *mask)
{
	uint64 hash = hg_mix64(word);

	*mask = UINT64CONST(1) << (hash & 63) | UINT64CONST(1) << (hash >> 6 & 63) |
			UINT64CONST(1) << (hash >> 12 & 63) | UINT64CONST(1) << (hash >> 18 & 63);
	return ((hash >> 32) * filter->blocks) >> 32;
}

static inline void
hg_filter_set(HgFilter *filter, uint64 block, uint64 mask)
{
	if (!filter->shared)
		filter->bits[block] |= mask;
	else if ((filter->bits[block] & mask) != mask)
		pg_atomic_fetch_or_u64((pg_atomic_uint64 *) &filter->bits[block], mask);
}

/* Sets the bits of all keys. */
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
				hg_filter_set(filter, word / 64, UINT64CONST(1) << (word % 64));
			}
			else
			{
				uint64 block = hg_bloom_block(filter, word, &mask);

				hg_filter_set(filter, block, mask);
			}
		}
}

/* Creates a filter without bits, in its own context. */
static HgFilter *
hg_filter_new(uint32 key_width, HgFilterForm form, uint64 blocks)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph filter", ALLOCSET_SMALL_SIZES);
	HgFilter *filter = MemoryContextAllocZero(context, sizeof(HgFilter));

	filter->context = context;
	filter->form = form;
	filter->blocks = blocks;
	filter->sign = hg_filter_sign(key_width);
	filter->extent = PG_UINT64_MAX;
	filter->pays = true;
	return filter;
}

/* Allocates zeroed bits.  Destroys the filter and returns NULL if memory is short. */
static HgFilter *
hg_filter_clear(HgFilter *filter)
{
	filter->bits = hg_block_alloc(filter->context, filter->blocks * sizeof(uint64));
	if (filter->bits == NULL)
	{
		hg_filter_destroy(filter);
		return NULL;
	}
	hg_block_clear(filter->bits, filter->blocks * sizeof(uint64));
	return filter;
}

HgFilter *
hg_filter_create(const HgKeySet *keys, uint32 key_width, uint64 max_bytes)
{
	HgFilter *filter;
	HgFilterForm form;
	uint64 least, greatest, blocks;

	if (keys->rows == 0 || keys->rows > PG_UINT32_MAX)
		return NULL;
	hg_filter_measure(keys, key_width, &least, &greatest);
	form = hg_filter_form(keys->rows, greatest - least, &blocks);
	if (blocks > max_bytes / sizeof(uint64))
		return NULL;
	filter = hg_filter_clear(hg_filter_new(key_width, form, blocks));
	if (filter == NULL)
		return NULL;
	filter->least = least;
	filter->extent = greatest - least;
	hg_filter_fill(filter, keys, key_width);
	return filter;
}

HgFilter *
hg_filter_begin(const HgKeySet *keys, uint32 key_width, uint64 bytes)
{
	uint64 blocks = Min(bytes / sizeof(uint64), PG_UINT32_MAX);
	HgFilter *filter = hg_filter_clear(hg_filter_new(key_width, HG_FILTER_BLOOM, Max(blocks, 1)));

	if (filter != NULL)
		hg_filter_fill(filter, keys, key_width);
	return filter;
}

void
hg_filter_add(HgFilter *filter, const uint64 *words, const uint16 *which, int nwords)
{
	for (int i = 0; i < nwords; i++)
	{
		uint64 word = words[which != NULL ? which[i] : i] ^ filter->sign;
		uint64 mask;
		uint64 block = hg_bloom_block(filter, word, &mask);

		hg_filter_set(filter, block, mask);
	}
}

void
hg_filter_charge(HgFilter *filter, HgBudget *budget, int parts)
{
	filter->charge.budget = budget;
	hg_charge_set(&filter->charge, filter->blocks * sizeof(uint64) / parts);
}

/* Applies a bitmap. */
static int
hg_filter_apply_bitmap(const HgFilter *filter, const uint64 *words, const uint16 *which, int nwords,
					   uint16 *selected)
{
	int nselected = 0;

	for (int i = 0; i < nwords; i++)
	{
		uint16 row = which != NULL ? which[i] : i;
		uint64 word = (words[row] ^ filter->sign) - filter->least;
		bool inside = word <= filter->extent;

		/* a word out of range reads the first bit, which is then ignored */
		word = inside ? word : 0;
		selected[nselected] = row;
		nselected += inside & (filter->bits[word / 64] >> (word % 64));
	}
	return nselected;
}

/* Applies a Bloom filter. */
static int
hg_filter_apply_bloom(const HgFilter *filter, const uint64 *words, const uint16 *which, int nwords,
					  uint16 *selected)
{
	uint64 blocks[HG_BATCH_ROWS];
	uint64 masks[HG_BATCH_ROWS];
	int nselected = 0;

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

		selected[nselected] = row;
		nselected += inside & ((filter->bits[blocks[i]] & masks[i]) == masks[i]);
	}
	return nselected;
}

int
hg_filter_apply(HgFilter *filter, const uint64 *words, const uint16 *which, int nwords,
				uint16 *selected)
{
	int nselected = filter->form == HG_FILTER_BITMAP
						? hg_filter_apply_bitmap(filter, words, which, nwords, selected)
						: hg_filter_apply_bloom(filter, words, which, nwords, selected);

	filter->tested += nwords;
	filter->refused += nwords - nselected;
	if (filter->tested >= HG_FILTER_SAMPLE && filter->refused < filter->tested / HG_FILTER_PAYS)
		filter->pays = false;
	return nselected;
}

double
hg_filter_share(const HgFilter *filter)
{
	if (filter->tested < HG_FILTER_SAMPLE)
		return 1;
	return 1 - (double) filter->refused / filter->tested;
}

void
hg_filter_destroy(HgFilter *filter)
{
	hg_charge_set(&filter->charge, 0);
	MemoryContextDelete(filter->context);
}

/* ---------------------------------------------------------------------
 * Shared filters
 * ---------------------------------------------------------------------
 */

void
hg_shared_filter_init(HgSharedFilter *shared)
{
	pg_atomic_init_u64(&shared->rows, 0);
	pg_atomic_init_u64(&shared->least, PG_UINT64_MAX);
	pg_atomic_init_u64(&shared->greatest, 0);
	shared->bits = InvalidDsaPointer;
}

void
hg_shared_filter_measure(HgSharedFilter *shared, const HgKeySet *keys, uint32 key_width)
{
	uint64 least, greatest, old;

	if (keys->rows == 0)
		return;
	hg_filter_measure(keys, key_width, &least, &greatest);
	pg_atomic_fetch_add_u64(&shared->rows, keys->rows);
	old = pg_atomic_read_u64(&shared->least);
	while (least < old && !pg_atomic_compare_exchange_u64(&shared->least, &old, least))
		;
	old = pg_atomic_read_u64(&shared->greatest);
	while (greatest > old && !pg_atomic_compare_exchange_u64(&shared->greatest, &old, greatest))
		;
}

uint64
hg_shared_filter_create(HgSharedFilter *shared, dsa_area *area, uint64 max_bytes)
{
	uint64 rows = pg_atomic_read_u64(&shared->rows);
	uint64 extent = pg_atomic_read_u64(&shared->greatest) - pg_atomic_read_u64(&shared->least);

	if (rows == 0 || rows > PG_UINT32_MAX)
		return 0;
	shared->form = hg_filter_form(rows, extent, &shared->blocks);
	if (shared->blocks <= max_bytes / sizeof(uint64))
		shared->bits = dsa_allocate_extended(area, shared->blocks * sizeof(uint64),
											 DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(shared->bits))
		return 0;
	hg_block_clear(dsa_get_address(area, shared->bits), shared->blocks * sizeof(uint64));
	return shared->blocks * sizeof(uint64);
}

HgFilter *
hg_shared_filter_open(const HgSharedFilter *shared, dsa_area *area, const HgKeySet *keys,
					  uint32 key_width)
{
	HgFilter *filter;

	if (!DsaPointerIsValid(shared->bits))
		return NULL;
	filter = hg_filter_new(key_width, shared->form, shared->blocks);
	filter->bits = dsa_get_address(area, shared->bits);
	filter->shared = true;
	filter->least = pg_atomic_read_u64(unconstify(pg_atomic_uint64 *, &shared->least));
	filter->extent =
		pg_atomic_read_u64(unconstify(pg_atomic_uint64 *, &shared->greatest)) - filter->least;
	hg_filter_fill(filter, keys, key_width);
	return filter;
}

void
hg_shared_filter_release(HgSharedFilter *shared, dsa_area *area)
{
	if (DsaPointerIsValid(shared->bits))
		dsa_free(area, shared->bits);
	hg_shared_filter_init(shared);
}
