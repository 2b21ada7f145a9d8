/*-------------------------------------------------------------------------
 *
 * hg_emitted.c
 *	  The matches of a stream that have been returned, so that another engine can continue it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "backend/matcher/hg_emitted.h"
#include "backend/hg_memory.h"

/* Rows processed between two checks for interrupts. */
#define HG_ROWS_AT_ONCE 65536

/* Clears a bitmap of rows rows and returns it; allocates it if bits is NULL. */
static uint8 *
hg_emitted_clear_bits(HgEmitted *emitted, uint8 *bits, uint64 rows)
{
	Size bytes = rows / 8 + 1;

	if (bits == NULL)
		bits = MemoryContextAllocHuge(emitted->context, bytes);
	hg_block_clear(bits, bytes);
	return bits;
}

static inline bool
hg_emitted_bit(const uint8 *bits, uint32 row)
{
	return (bits[row / 8] & (1 << (row % 8))) != 0;
}

static inline void
hg_emitted_set_bit(uint8 *bits, uint32 row)
{
	bits[row / 8] |= 1 << (row % 8);
}

static inline void
hg_emitted_clear_bit(uint8 *bits, uint32 row)
{
	bits[row / 8] &= ~(1 << (row % 8));
}

void
hg_emitted_init(HgEmitted *emitted, MemoryContext context, const HgMatcherSpec *spec,
				const HgKeySet *sides)
{
	memset(emitted, 0, sizeof(*emitted));
	emitted->context = context;
	emitted->sides = sides;
	emitted->key_width = spec->key_width;
	emitted->mode = spec->mode;
}

void
hg_emitted_reset(HgEmitted *emitted)
{
	if (emitted->any)
		hg_emitted_clear_bits(emitted, emitted->rows, emitted->sides[HG_OUTER].rows);
	emitted->any = false;
	emitted->resumed = false;
	emitted->recorded = false;
	emitted->in_rest = false;
	emitted->last_count = 0;
}

/* Makes room for count inner rows of the last outer row. */
static void
hg_emitted_reserve(HgEmitted *emitted, size_t count)
{
	size_t capacity = Max(count, 2 * emitted->last_capacity);

	if (count <= emitted->last_capacity)
		return;
	if (emitted->last_inner == NULL)
		emitted->last_inner = MemoryContextAllocHuge(emitted->context, capacity * sizeof(uint32));
	else
		emitted->last_inner = repalloc_huge(emitted->last_inner, capacity * sizeof(uint32));
	emitted->last_capacity = capacity;
}

/*
 * Sets the bits of outer rows. Returns false, changing no bit, if a row had matches before, unless
 * it is the first one here and the last one returned.
 */
static bool
hg_emitted_mark(HgEmitted *emitted, const uint32 *outer, size_t count)
{
	bool goes_on = emitted->any && outer[0] == emitted->last_outer;
	size_t marked = 0;

	/* with HG_MATCH_FIRST each outer row has one match */
	if (goes_on && emitted->mode == HG_MATCH_FIRST)
		return false;
	while (marked < count)
	{
		uint32 row = outer[marked];

		if (marked > 0 ? row == outer[marked - 1] : goes_on)
		{
			if (emitted->mode == HG_MATCH_FIRST)
				break;
		}
		else if (hg_emitted_bit(emitted->rows, row))
			break;
		hg_emitted_set_bit(emitted->rows, row);
		marked++;
	}
	if (marked == count)
		return true;
	for (size_t i = 0; i < marked; i++)
		if (!goes_on || outer[i] != emitted->last_outer)
			hg_emitted_clear_bit(emitted->rows, outer[i]);
	return false;
}

bool
hg_emitted_record(HgEmitted *emitted, const uint32 *outer, const uint32 *inner, size_t count)
{
	uint32 last = outer[count - 1];
	size_t tail = count;
	size_t before;

	/* the last outer row's matches, which may continue from the chunk before */
	while (tail > 0 && outer[tail - 1] == last)
		tail--;
	before = tail > 0 || !emitted->any || emitted->last_outer != last ? 0 : emitted->last_count;
	if (before + (count - tail) > emitted->sides[HG_INNER].rows)
		return false;
	if (emitted->rows == NULL)
		emitted->rows = hg_emitted_clear_bits(emitted, NULL, emitted->sides[HG_OUTER].rows);
	if (!hg_emitted_mark(emitted, outer, count))
		return false;

	emitted->last_count = before;
	hg_emitted_reserve(emitted, emitted->last_count + (count - tail));
	memcpy(emitted->last_inner + emitted->last_count, inner + tail,
		   (count - tail) * sizeof(uint32));
	emitted->last_count += count - tail;
	emitted->last_outer = last;
	emitted->any = true;
	emitted->recorded = true;
	return true;
}

void
hg_emitted_resume(HgEmitted *emitted)
{
	if (!emitted->any)
		return;
	/* nothing was noted since the last handover: the remaining matches are the same */
	if (emitted->resumed && !emitted->recorded)
		return;
	emitted->resumed = true;
	emitted->recorded = false;
	/* with HG_MATCH_FIRST nothing remains for the last row */
	if (emitted->mode == HG_MATCH_FIRST)
		return;
	emitted->last_rows =
		hg_emitted_clear_bits(emitted, emitted->last_rows, emitted->sides[HG_INNER].rows);
	for (size_t i = 0; i < emitted->last_count; i++)
	{
		if (i % HG_ROWS_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		hg_emitted_set_bit(emitted->last_rows, emitted->last_inner[i]);
	}
	emitted->in_rest = true;
	emitted->rest_piece = 0;
	emitted->rest_at = 0;
	emitted->rest_row = 0;
}

/* Returns a key of a piece, whatever its width. */
static inline uint64
hg_emitted_key(const HgEmitted *emitted, const HgKeyPiece *piece, uint64 at)
{
	return emitted->key_width == sizeof(uint32) ? ((const uint32 *) piece->keys)[at]
												: ((const uint64 *) piece->keys)[at];
}

size_t
hg_emitted_next_rest(HgEmitted *emitted, uint32 *outer, uint32 *inner, size_t capacity)
{
	const HgKeySet *keys = &emitted->sides[HG_INNER];
	const HgKeyPiece *piece = emitted->sides[HG_OUTER].pieces;
	uint64 row = emitted->last_outer;
	size_t count = 0;
	uint64 key;

	if (!emitted->in_rest)
		return 0;
	while (row >= piece->count)
		row -= piece++->count;
	key = hg_emitted_key(emitted, piece, row);

	while (count < capacity && emitted->rest_piece < keys->npieces)
	{
		piece = &keys->pieces[emitted->rest_piece];
		if (emitted->rest_at == piece->count)
		{
			emitted->rest_piece++;
			emitted->rest_at = 0;
			continue;
		}
		if (emitted->rest_row % HG_ROWS_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		if (hg_emitted_key(emitted, piece, emitted->rest_at++) == key &&
			!hg_emitted_bit(emitted->last_rows, emitted->rest_row))
		{
			outer[count] = emitted->last_outer;
			inner[count++] = emitted->rest_row;
		}
		emitted->rest_row++;
	}
	emitted->in_rest = count > 0;
	return count;
}

size_t
hg_emitted_filter(const HgEmitted *emitted, uint32 *outer, uint32 *inner, size_t count)
{
	size_t selected = 0;

	if (!emitted->resumed)
		return count;
	for (size_t i = 0; i < count; i++)
	{
		/* the last row of the previous chunk may continue here */
		if (hg_emitted_bit(emitted->rows, outer[i]) &&
			!(emitted->recorded && outer[i] == emitted->last_outer))
			continue;
		outer[selected] = outer[i];
		inner[selected++] = inner[i];
	}
	return selected;
}
