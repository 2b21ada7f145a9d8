/*-------------------------------------------------------------------------
 *
 * hg_key_bits.c
 *	  Keys that are near each other, as bits: for those who ask of a key only whether it is there.
 *
 * The bits are one array, which grows towards the next key, by a quarter at least or by what there
 * is room for: keys come in any order, and nobody knows how far apart they will be.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "backend/hg_memory.h"
#include "batch/hg_key_bits.h"

/* Bits that there are at first. */
#define HG_FIRST_BITS UINT64CONST(65536)

/* A bound of bits is a multiple of this. */
#define HG_BITS_STEP UINT64CONST(64)

/* They grow by this part of what they are. */
#define HG_BITS_GROWTH 4

HgKeyBits *
hg_key_bits_create(MemoryContext parent, uint32 width, bool repeats, uint64 limit, HgBudget *budget)
{
	MemoryContext context =
		AllocSetContextCreate(parent, "HashGraph key bits", ALLOCSET_SMALL_SIZES);
	HgKeyBits *bits = MemoryContextAllocZero(context, sizeof(HgKeyBits));

	bits->context = context;
	bits->charge.budget = budget;
	bits->width = width;
	bits->repeats = repeats;
	bits->limit = limit;
	return bits;
}

void
hg_key_bits_destroy(HgKeyBits *bits)
{
	hg_charge_set(&bits->charge, 0);
	MemoryContextDelete(bits->context);
}

/* A difference of words. */
static inline uint64
hg_key_bits_minus(const HgKeyBits *bits, uint64 a, uint64 b)
{
	return bits->width == sizeof(uint32) ? (uint32) (a - b) : a - b;
}

static inline Size
hg_key_bits_bytes(uint64 size)
{
	/* whoever reads the word of a bit may read the next one */
	return (Size) (size / 8 + sizeof(uint32));
}

/* Have so many bits from a word on, those that there are among them; false: no room. */
static bool
hg_key_bits_resize(HgKeyBits *bits, uint64 least, uint64 size)
{
	Size bytes = hg_key_bits_bytes(size);
	Size held = bits->bits != NULL ? hg_key_bits_bytes(bits->map.size) : 0;
	uint32 *grown;

	if (bytes + held > bits->limit)
		return false;
	grown = hg_block_alloc(bits->context, bytes);
	if (grown == NULL)
		return false;
	hg_charge_set(&bits->charge, bytes + held);
	hg_block_clear(grown, bytes);
	if (bits->bits != NULL)
	{
		memcpy(grown + hg_key_bits_minus(bits, bits->map.least, least) / 32, bits->bits,
			   bits->map.size / 8);
		hg_block_free(bits->bits);
	}
	bits->bits = grown;
	bits->map.bits = grown;
	bits->map.least = least;
	bits->map.size = size;
	hg_charge_set(&bits->charge, bytes);
	return true;
}

bool
hg_key_bits_reserve(HgKeyBits *bits, const HgKeyPiece *pieces, int npieces)
{
	uint64 first = 0;
	int64 least = 0;
	int64 greatest = 0;
	uint64 below;

	for (int p = 0; p < npieces; p++)
	{
		const uint32 *narrow = pieces[p].keys;
		const uint64 *wide = pieces[p].keys;

		if (p == 0)
			first = bits->width == sizeof(uint32) ? narrow[0] : wide[0];
		CHECK_FOR_INTERRUPTS();
		for (uint64 i = 0; i < pieces[p].count; i++)
		{
			int64 difference = bits->width == sizeof(uint32) ? (int32) (narrow[i] - (uint32) first)
															 : (int64) (wide[i] - first);

			least = Min(least, difference);
			greatest = Max(greatest, difference);
		}
	}
	/* so far apart that their difference may not be a number */
	if ((uint64) greatest - (uint64) least >= bits->limit * BITS_PER_BYTE)
		return false;
	below = (-(uint64) least + HG_BITS_STEP - 1) / HG_BITS_STEP * HG_BITS_STEP;
	return hg_key_bits_resize(bits, hg_key_bits_minus(bits, first, below),
							  below + ((uint64) greatest / HG_BITS_STEP + 1) * HG_BITS_STEP);
}

/* How many bits there can be instead of those that there are: no word has two. */
static uint64
hg_key_bits_most(const HgKeyBits *bits)
{
	Size held = hg_key_bits_bytes(bits->map.size) + hg_key_bits_bytes(0);
	uint64 most = held < bits->limit ? (bits->limit - held) * BITS_PER_BYTE : 0;

	if (bits->width == sizeof(uint32))
		most = Min(most, UINT64CONST(1) << 32);
	return most / HG_BITS_STEP * HG_BITS_STEP;
}

/* Have a bit for a word that has none; false: no room. */
static bool
hg_key_bits_reach(HgKeyBits *bits, uint64 word)
{
	uint64 above;
	uint64 below;
	uint64 most;
	uint64 step;
	uint64 size;

	if (bits->bits == NULL)
		return hg_key_bits_resize(bits, hg_key_bits_minus(bits, word, word % HG_BITS_STEP),
								  HG_FIRST_BITS);
	above = hg_key_bits_minus(bits, word, bits->map.least) - bits->map.size;
	below = hg_key_bits_minus(bits, bits->map.least, word) - 1;
	step = Min(above, below) / HG_BITS_STEP * HG_BITS_STEP + HG_BITS_STEP;
	most = hg_key_bits_most(bits);
	/* further apart than there is room for */
	if (most <= bits->map.size || step > most - bits->map.size)
		return false;
	/* all that there is room for, if not the part: a step for each word would take for ever */
	size = Min(bits->map.size + Max(step, bits->map.size / HG_BITS_GROWTH), most) / HG_BITS_STEP *
		   HG_BITS_STEP;
	step = size - bits->map.size;
	return hg_key_bits_resize(
		bits, above <= below ? bits->map.least : hg_key_bits_minus(bits, bits->map.least, step),
		size);
}

/* Add a word: false, where it is there already and may not be, or there is no room. */
static inline bool
hg_key_bits_add_word(HgKeyBits *bits, uint64 word)
{
	uint64 at = hg_key_bits_minus(bits, word, bits->map.least);
	uint32 *place;
	uint32 bit;

	if (unlikely(at >= bits->map.size))
	{
		if (!hg_key_bits_reach(bits, word))
			return false;
		at = hg_key_bits_minus(bits, word, bits->map.least);
	}
	place = bits->bits + at / 32;
	bit = UINT32_C(1) << (at % 32);
	if ((*place & bit) != 0)
		return bits->repeats;
	*place |= bit;
	bits->map.keys++;
	return true;
}

uint64
hg_key_bits_add(HgKeyBits *bits, const void *words, uint64 nwords)
{
	uint64 i = 0;

	if (bits->width == sizeof(uint32))
		while (i < nwords && hg_key_bits_add_word(bits, ((const uint32 *) words)[i]))
			i++;
	else
		while (i < nwords && hg_key_bits_add_word(bits, ((const uint64 *) words)[i]))
			i++;
	return i;
}

int
hg_key_bits_add_words(HgKeyBits *bits, const uint64 *words, const uint16 *which, int nwords)
{
	int i = 0;

	while (i < nwords && hg_key_bits_add_word(bits, words[which != NULL ? which[i] : i]))
		i++;
	return i;
}

int
hg_key_bits_next(const HgKeyBits *bits, uint64 *place, uint64 *words, int max)
{
	int n = 0;

	while (n < max && *place < bits->map.size)
	{
		uint32 left = bits->bits[*place / 32] >> (*place % 32);

		if (left == 0)
		{
			*place = (*place / 32 + 1) * 32;
			continue;
		}
		*place += pg_rightmost_one_pos32(left);
		words[n] = bits->map.least + *place;
		if (bits->width == sizeof(uint32))
			words[n] = (uint32) words[n];
		n++;
		(*place)++;
	}
	return n;
}
