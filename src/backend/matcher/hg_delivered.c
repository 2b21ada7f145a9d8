/*-------------------------------------------------------------------------
 *
 * hg_delivered.c
 *	  The matches of a stream that have been returned, so that another engine can continue it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "backend/matcher/hg_delivered.h"
#include "backend/hg_memory.h"

/* Rows processed between two checks for interrupts. */
#define HG_ROWS_AT_ONCE 65536

/* Clears a bitmap of rows rows and returns it; allocates it if bits is NULL. */
static uint8 *
hg_delivered_clear_bits(HgDelivered *delivered, uint8 *bits, uint64 rows)
{
	Size bytes = rows / 8 + 1;

	if (bits == NULL)
		bits = MemoryContextAllocHuge(delivered->context, bytes);
	hg_block_clear(bits, bytes);
	return bits;
}

static inline bool
hg_delivered_bit(const uint8 *bits, uint32 row)
{
	return (bits[row / 8] & (1 << (row % 8))) != 0;
}

static inline void
hg_delivered_set_bit(uint8 *bits, uint32 row)
{
	bits[row / 8] |= 1 << (row % 8);
}

static inline void
hg_delivered_clear_bit(uint8 *bits, uint32 row)
{
	bits[row / 8] &= ~(1 << (row % 8));
}

void
hg_delivered_init(HgDelivered *delivered, MemoryContext context, const HgMatcherSpec *spec,
				  const HgKeySet *sides)
{
	memset(delivered, 0, sizeof(*delivered));
	delivered->context = context;
	delivered->sides = sides;
	delivered->key_width = spec->key_width;
	delivered->mode = spec->mode;
}

void
hg_delivered_forget(HgDelivered *delivered)
{
	if (delivered->any)
		hg_delivered_clear_bits(delivered, delivered->rows, delivered->sides[HG_OUTER].rows);
	delivered->any = false;
	delivered->resumed = false;
	delivered->noted = false;
	delivered->in_rest = false;
	delivered->last_count = 0;
}

/* Makes room for count inner rows of the last outer row. */
static void
hg_delivered_reserve(HgDelivered *delivered, size_t count)
{
	size_t capacity = Max(count, 2 * delivered->last_capacity);

	if (count <= delivered->last_capacity)
		return;
	if (delivered->last_inner == NULL)
		delivered->last_inner =
			MemoryContextAllocHuge(delivered->context, capacity * sizeof(uint32));
	else
		delivered->last_inner = repalloc_huge(delivered->last_inner, capacity * sizeof(uint32));
	delivered->last_capacity = capacity;
}

/*
 * Sets the bits of outer rows. Returns false, changing no bit, if a row had matches before, unless
 * it is the first one here and the last one returned.
 */
static bool
hg_delivered_mark(HgDelivered *delivered, const uint32 *outer, size_t count)
{
	bool goes_on = delivered->any && outer[0] == delivered->last_outer;
	size_t marked = 0;

	/* with HG_MATCH_FIRST each outer row has one match */
	if (goes_on && delivered->mode == HG_MATCH_FIRST)
		return false;
	while (marked < count)
	{
		uint32 row = outer[marked];

		if (marked > 0 ? row == outer[marked - 1] : goes_on)
		{
			if (delivered->mode == HG_MATCH_FIRST)
				break;
		}
		else if (hg_delivered_bit(delivered->rows, row))
			break;
		hg_delivered_set_bit(delivered->rows, row);
		marked++;
	}
	if (marked == count)
		return true;
	for (size_t i = 0; i < marked; i++)
		if (!goes_on || outer[i] != delivered->last_outer)
			hg_delivered_clear_bit(delivered->rows, outer[i]);
	return false;
}

bool
hg_delivered_note(HgDelivered *delivered, const uint32 *outer, const uint32 *inner, size_t count)
{
	uint32 last = outer[count - 1];
	size_t tail = count;
	size_t before;

	/* the last outer row's matches, which may continue from the chunk before */
	while (tail > 0 && outer[tail - 1] == last)
		tail--;
	before =
		tail > 0 || !delivered->any || delivered->last_outer != last ? 0 : delivered->last_count;
	if (before + (count - tail) > delivered->sides[HG_INNER].rows)
		return false;
	if (delivered->rows == NULL)
		delivered->rows = hg_delivered_clear_bits(delivered, NULL, delivered->sides[HG_OUTER].rows);
	if (!hg_delivered_mark(delivered, outer, count))
		return false;

	delivered->last_count = before;
	hg_delivered_reserve(delivered, delivered->last_count + (count - tail));
	memcpy(delivered->last_inner + delivered->last_count, inner + tail,
		   (count - tail) * sizeof(uint32));
	delivered->last_count += count - tail;
	delivered->last_outer = last;
	delivered->any = true;
	delivered->noted = true;
	return true;
}

void
hg_delivered_resume(HgDelivered *delivered)
{
	if (!delivered->any)
		return;
	/* nothing was noted since the last handover: the remaining matches are the same */
	if (delivered->resumed && !delivered->noted)
		return;
	delivered->resumed = true;
	delivered->noted = false;
	/* with HG_MATCH_FIRST nothing remains for the last row */
	if (delivered->mode == HG_MATCH_FIRST)
		return;
	delivered->last_rows =
		hg_delivered_clear_bits(delivered, delivered->last_rows, delivered->sides[HG_INNER].rows);
	for (size_t i = 0; i < delivered->last_count; i++)
	{
		if (i % HG_ROWS_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		hg_delivered_set_bit(delivered->last_rows, delivered->last_inner[i]);
	}
	delivered->in_rest = true;
	delivered->rest_piece = 0;
	delivered->rest_at = 0;
	delivered->rest_row = 0;
}

/* Returns a key of a piece, whatever its width. */
static inline uint64
hg_delivered_key(const HgDelivered *delivered, const HgKeyPiece *piece, uint64 at)
{
	return delivered->key_width == sizeof(uint32) ? ((const uint32 *) piece->keys)[at]
												  : ((const uint64 *) piece->keys)[at];
}

size_t
hg_delivered_next_rest(HgDelivered *delivered, uint32 *outer, uint32 *inner, size_t capacity)
{
	const HgKeySet *keys = &delivered->sides[HG_INNER];
	const HgKeyPiece *piece = delivered->sides[HG_OUTER].pieces;
	uint64 row = delivered->last_outer;
	size_t count = 0;
	uint64 key;

	if (!delivered->in_rest)
		return 0;
	while (row >= piece->count)
		row -= piece++->count;
	key = hg_delivered_key(delivered, piece, row);

	while (count < capacity && delivered->rest_piece < keys->npieces)
	{
		piece = &keys->pieces[delivered->rest_piece];
		if (delivered->rest_at == piece->count)
		{
			delivered->rest_piece++;
			delivered->rest_at = 0;
			continue;
		}
		if (delivered->rest_row % HG_ROWS_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		if (hg_delivered_key(delivered, piece, delivered->rest_at++) == key &&
			!hg_delivered_bit(delivered->last_rows, delivered->rest_row))
		{
			outer[count] = delivered->last_outer;
			inner[count++] = delivered->rest_row;
		}
		delivered->rest_row++;
	}
	delivered->in_rest = count > 0;
	return count;
}

size_t
hg_delivered_filter(const HgDelivered *delivered, uint32 *outer, uint32 *inner, size_t count)
{
	size_t selected = 0;

	if (!delivered->resumed)
		return count;
	for (size_t i = 0; i < count; i++)
	{
		/* the last row of the previous chunk may continue here */
		if (hg_delivered_bit(delivered->rows, outer[i]) &&
			!(delivered->noted && outer[i] == delivered->last_outer))
			continue;
		outer[selected] = outer[i];
		inner[selected++] = inner[i];
	}
	return selected;
}
