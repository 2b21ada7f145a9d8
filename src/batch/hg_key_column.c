/*-------------------------------------------------------------------------
 *
 * hg_key_column.c
 *	  The keys of one side: their words in the order of its rows, or a bitmap of those that
 *	  exist.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "backend/hg_memory.h"
#include "batch/hg_key_column.h"
#include "engine/cpu/hg_cpu.h"
#include "hg_guc.h"

/* Words of the first block and of the largest ones. */
#define HG_FIRST_BLOCK 1024
#define HG_LARGEST_BLOCK (1024 * 1024)

uint64
hg_key_column_row_bytes(uint32 width)
{
	return width + (uint64) ceil(hg_cpu_row_bytes(width, hg_load_factor));
}

HgKeyColumn *
hg_key_column_create(MemoryContext parent, uint32 width, HgBudget *budget)
{
	HgKeyColumn *column = MemoryContextAllocZero(parent, sizeof(HgKeyColumn));

	column->context = AllocSetContextCreate(parent, "HashGraph keys", ALLOCSET_SMALL_SIZES);
	column->width = width;
	column->row_bytes = hg_key_column_row_bytes(width);
	column->charge.budget = budget;
	return column;
}

/* Makes room for one more element at the end of an array of the column. */
static void *
hg_key_column_extend(HgKeyColumn *column, void *array, int used, int *allocated, Size size)
{
	if (used < *allocated)
		return array;
	*allocated = Max(16, 2 * *allocated);
	if (array == NULL)
		return MemoryContextAlloc(column->context, *allocated * size);
	return repalloc_huge(array, *allocated * size);
}

/* Moves on to the next block, which may have to be allocated. */
static void
hg_key_column_next_block(HgKeyColumn *column)
{
	int i = column->blocks_used;

	if (i == column->nblocks)
	{
		uint64 capacity =
			i == 0 ? HG_FIRST_BLOCK : Min(2 * column->blocks[i - 1].capacity, HG_LARGEST_BLOCK);
		char *words;

		column->blocks = hg_key_column_extend(column, column->blocks, i, &column->max_blocks,
											  sizeof(HgKeyBlock));
		words = hg_block_alloc(column->context, capacity * column->width);
		if (words == NULL)
			ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
							errdetail("Failed to allocate %zu bytes for the keys of a join.",
									  (size_t) (capacity * column->width))));
		column->blocks[i].words = words;
		column->blocks[i].capacity = capacity;
		column->nblocks++;
	}
	column->next = column->blocks[i].words;
	column->end = column->next + column->blocks[i].capacity * column->width;
	column->blocks_used++;
}

/* Begins a piece with the next word. */
static void
hg_key_column_next_piece(HgKeyColumn *column, const char *words, uint64 first_row)
{
	HgKeyPiece *piece;

	column->pieces = hg_key_column_extend(column, column->pieces, column->npieces,
										  &column->max_pieces, sizeof(HgKeyPiece));
	piece = &column->pieces[column->npieces++];
	piece->keys = words;
	piece->count = 0;
	piece->first_row = first_row;
}

void
hg_key_column_add(HgKeyColumn *column, uint64 first_row, const uint64 *words, const uint16 *which,
				  int nwords)
{
	int i = 0;

	while (i < nwords)
	{
		bool new_block = column->next == column->end;
		int step;

		if (new_block)
			hg_key_column_next_block(column);
		if (new_block || column->external != NULL || first_row + i != column->next_row)
			hg_key_column_next_piece(column, column->next, first_row + i);
		column->external = NULL;
		step = (int) Min((size_t) (nwords - i), (column->end - column->next) / column->width);
		if (column->width == 4)
			for (int k = 0; k < step; k++)
				((uint32 *) column->next)[k] = (uint32) words[which != NULL ? which[i + k] : i + k];
		else
			for (int k = 0; k < step; k++)
				((uint64 *) column->next)[k] = words[which != NULL ? which[i + k] : i + k];
		i += step;
		column->next += (Size) step * column->width;
		column->pieces[column->npieces - 1].count += step;
		column->next_row = first_row + i;
	}
	column->rows += nwords;
	hg_charge_set(&column->charge, column->rows * column->row_bytes);
}

void
hg_key_column_add_external(HgKeyColumn *column, uint64 first_row, const void *words, int nwords)
{
	if (words != column->external || first_row != column->next_row)
		hg_key_column_next_piece(column, words, first_row);
	column->pieces[column->npieces - 1].count += nwords;
	column->external = (const char *) words + (Size) nwords * column->width;
	column->next_row = first_row + nwords;
	column->rows += nwords;
	hg_charge_set(&column->charge, column->rows * column->row_bytes);
}

HgKeySet
hg_key_column_set(const HgKeyColumn *column)
{
	return (HgKeySet){column->pieces, column->npieces, column->rows};
}

void
hg_key_column_clear(HgKeyColumn *column)
{
	column->rows = 0;
	column->npieces = 0;
	column->blocks_used = 0;
	column->next_row = 0;
	column->external = NULL;
	column->next = column->end = NULL;
	hg_charge_set(&column->charge, 0);
}

void
hg_key_column_release(HgKeyColumn *column)
{
	hg_key_column_clear(column);
	MemoryContextReset(column->context);
	column->pieces = NULL;
	column->blocks = NULL;
	column->nblocks = column->max_blocks = column->max_pieces = 0;
}

/* ---------------------------------------------------------------------
 * A set of join keys as a bitmap
 *
 * The bitmap is one array.  It grows towards the next key, by at least a quarter or by what the
 * limit allows, because keys come in any order and their range is unknown.
 * ---------------------------------------------------------------------
 */

/* Bits of the first bitmap. */
#define HG_FIRST_BITS UINT64CONST(65536)

/* The bitmap's bounds are multiples of this. */
#define HG_BITS_STEP UINT64CONST(64)

/* The bitmap grows by 1/HG_BITS_GROWTH of its size. */
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

/* Returns a - b, modulo the words' width. */
static inline uint64
hg_key_bits_minus(const HgKeyBits *bits, uint64 a, uint64 b)
{
	return bits->width == sizeof(uint32) ? (uint32) (a - b) : a - b;
}

static inline Size
hg_key_bits_bytes(uint64 size)
{
	/* a reader of a bit's word may read the next word */
	return (Size) (size / 8 + sizeof(uint32));
}

/* Reallocates the bitmap: size bits from the word least on; false if that does not fit. */
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
	/* the difference may not fit 64 bits */
	if ((uint64) greatest - (uint64) least >= bits->limit * BITS_PER_BYTE)
		return false;
	below = (-(uint64) least + HG_BITS_STEP - 1) / HG_BITS_STEP * HG_BITS_STEP;
	return hg_key_bits_resize(bits, hg_key_bits_minus(bits, first, below),
							  below + ((uint64) greatest / HG_BITS_STEP + 1) * HG_BITS_STEP);
}

/* Returns the most bits of a grown bitmap, beside the old one. */
static uint64
hg_key_bits_most(const HgKeyBits *bits)
{
	Size held = hg_key_bits_bytes(bits->map.size) + hg_key_bits_bytes(0);
	uint64 most = held < bits->limit ? (bits->limit - held) * BITS_PER_BYTE : 0;

	if (bits->width == sizeof(uint32))
		most = Min(most, UINT64CONST(1) << 32);
	return most / HG_BITS_STEP * HG_BITS_STEP;
}

/* Grows the bitmap to a word outside of it; false if that does not fit. */
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
	/* farther away than the limit allows */
	if (most <= bits->map.size || step > most - bits->map.size)
		return false;
	/* up to the limit, because growth by single steps would be quadratic */
	size = Min(bits->map.size + Max(step, bits->map.size / HG_BITS_GROWTH), most) / HG_BITS_STEP *
		   HG_BITS_STEP;
	step = size - bits->map.size;
	return hg_key_bits_resize(
		bits, above <= below ? bits->map.least : hg_key_bits_minus(bits, bits->map.least, step),
		size);
}

/* Adds a word.  Returns false for a forbidden duplicate, or if it does not fit. */
static inline bool
hg_key_bits_add_word(HgKeyBits *bits, uint64 word)
{
	uint64 at = hg_key_bits_minus(bits, word, bits->map.least);
	uint32 *target;
	uint32 bit;

	if (unlikely(at >= bits->map.size))
	{
		if (!hg_key_bits_reach(bits, word))
			return false;
		at = hg_key_bits_minus(bits, word, bits->map.least);
	}
	target = bits->bits + at / 32;
	bit = UINT32_C(1) << (at % 32);
	if ((*target & bit) != 0)
		return bits->repeats;
	*target |= bit;
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
hg_key_bits_next(const HgKeyBits *bits, uint64 *position, uint64 *words, int max)
{
	int n = 0;

	while (n < max && *position < bits->map.size)
	{
		uint32 left = bits->bits[*position / 32] >> (*position % 32);

		if (left == 0)
		{
			*position = (*position / 32 + 1) * 32;
			continue;
		}
		*position += pg_rightmost_one_pos32(left);
		words[n] = bits->map.least + *position;
		if (bits->width == sizeof(uint32))
			words[n] = (uint32) words[n];
		n++;
		(*position)++;
	}
	return n;
}
