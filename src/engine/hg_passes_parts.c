/*-------------------------------------------------------------------------
 *
 * hg_passes_parts.c
 *	  Loads ranges of rows, and divides the loads into parts.
 *
 * hg_passes.c describes the algorithm.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_passes_parts.h"

#include "hg_hash.h"

#include <string.h>

/* Rows of a side that a load has room for: at least, and in 16ths of its share. */
#define LEAST_ROOM 65536
#define ROOM_16THS 17

/* Rows that are selected before they are scattered: few enough to stay in the caches. */
#define SELECTED_ROWS 2048

#define HG_KEY_BITS 32
#include "hg_passes_impl.h"
#undef HG_KEY_BITS
#define HG_KEY_BITS 64
#include "hg_passes_impl.h"
#undef HG_KEY_BITS

/* Returns the number of the next keys of a walk, at most max, and sets *keys; 0 at the end. */
static uint64_t
walk_on(const HgPassSide *side, HgPassWalk *walk, uint32_t key_width, uint64_t max,
		const void **keys)
{
	const HgPassArray *array;
	uint64_t count;

	if (walk->array == side->array_count)
		return 0;
	array = &side->arrays[walk->array];
	count = hg_passes_min(array->count - walk->at, max);
	*keys = (const char *) array->keys + walk->at * key_width;
	walk->at += count;
	walk->row += count;
	if (walk->at == array->count)
	{
		walk->array++;
		walk->at = 0;
	}
	return count;
}

HgStatus
hg_passes_count_side(HgPassParts *parts, HgPassSide *side, HgError *error)
{
	HgPassWalk walk = {0, 0, 0};
	const void *keys;
	uint64_t count;

	while ((count = walk_on(side, &walk, parts->key_width, HG_PASSES_POLL_ROWS, &keys)) > 0)
	{
		HG_TRY(hg_host_check_cancel(parts->host, error));
		if (parts->key_width == 4)
			count_keys32(keys, count, side->range_rows);
		else
			count_keys64(keys, count, side->range_rows);
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Loads
 * ------------------------------------------------------------------------ */

/* Returns true if the range has parts in this pass. */
static bool
has_parts(const HgPassParts *parts, uint32_t range)
{
	for (int side = 0; side < 2; side++)
		if (parts->required[side] && parts->sides[side].range_rows[range] == 0)
			return false;
	return true;
}

/* Returns how many rows of a side a load may have, unless they are of one range. */
static uint64_t
load_room(const HgPassSide *side)
{
	/* a little more than its share, as ranges differ in size */
	uint64_t room = side->rows / HG_PASSES_LOADS / 16 * ROOM_16THS;

	return room < LEAST_ROOM ? LEAST_ROOM : room;
}

/*
 * Allocates buffers for a load of a side, large enough for all rows of any range.  Outer rows of a
 * frequent key may come in portions instead, unless the pass needs whole ranges.
 */
static HgStatus
side_reserve(HgPassParts *parts, int which, HgError *error)
{
	HgPassSide *side = &parts->sides[which];
	uint64_t capacity = hg_passes_min(load_room(side), side->rows);
	void *numbers;
	HgStatus status;

	if (which == HG_INNER || parts->whole)
		for (int range = 0; range < HG_PASSES_RANGES; range++)
			if (side->range_rows[range] > capacity)
				capacity = side->range_rows[range];

	/* a portion ends when there is no room for the rows that are read at a time */
	capacity += HG_PASSES_POLL_ROWS;
	if (capacity <= side->capacity)
		return HG_OK;

	hg_host_memory_free(parts->host, side->mixed, side->capacity * parts->key_width);
	hg_host_memory_free(parts->host, side->numbers, side->capacity * sizeof(uint32_t));
	side->mixed = NULL;
	side->numbers = NULL;
	side->capacity = 0;
	HG_TRY(hg_host_memory_alloc(parts->host, capacity * parts->key_width, &side->mixed, error));
	status = hg_host_memory_alloc(parts->host, capacity * sizeof(uint32_t), &numbers, error);
	if (status != HG_OK)
	{
		hg_host_memory_free(parts->host, side->mixed, capacity * parts->key_width);
		side->mixed = NULL;
		return status;
	}
	side->numbers = numbers;
	side->capacity = capacity;
	return HG_OK;
}

/* Reads up to max rows of a side and writes those of chosen ranges to the buffers. */
static void
load_rows(HgPassParts *parts, HgPassSide *side, uint64_t max)
{
	const uint32_t width = parts->key_width;
	void *mixed = parts->buffer;
	uint32_t *numbers = (uint32_t *) ((char *) parts->buffer + SELECTED_ROWS * sizeof(uint64_t));

	while (max > 0 && side->left > 0)
	{
		uint32_t first = (uint32_t) side->walk.row;
		const void *keys;
		uint64_t count =
			walk_on(side, &side->walk, width, hg_passes_min(max, SELECTED_ROWS), &keys);

		max -= count;
		if (width == 4)
		{
			count = select_keys32(keys, count, first, parts->chosen, mixed, numbers);
			scatter_keys32(mixed, numbers, count, side->range_end, side->mixed, side->numbers);
		}
		else
		{
			count = select_keys64(keys, count, first, parts->chosen, mixed, numbers);
			scatter_keys64(mixed, numbers, count, side->range_end, side->mixed, side->numbers);
		}
		side->loaded += count;
		side->left -= count;
	}
}

/* Loads the remaining rows of a side, or as many as there is room for. */
static HgStatus
side_load(HgPassParts *parts, HgPassSide *side, HgError *error)
{
	while (side->left > 0 && (side->capacity - side->loaded >= side->left ||
							  side->capacity - side->loaded >= HG_PASSES_POLL_ROWS))
	{
		HG_TRY(hg_host_check_cancel(parts->host, error));
		load_rows(parts, side, HG_PASSES_POLL_ROWS);
	}
	return HG_OK;
}

/* Chooses the ranges that the next load has room for; none if no further one is needed. */
static void
choose_ranges(HgPassParts *parts, HgPassPart *load)
{
	uint64_t rows[2] = {0, 0};
	uint32_t range = parts->next_range;

	while (range < HG_PASSES_RANGES && !has_parts(parts, range))
		range++;
	memset(parts->chosen, 0, sizeof(parts->chosen));
	load->first_range = range;
	for (bool fits = true; fits && range < HG_PASSES_RANGES; range++)
	{
		const bool required = has_parts(parts, range);

		for (int which = 0; which < 2 && required; which++)
			fits &=
				!parts->required[which] || rows[which] + parts->sides[which].range_rows[range] <=
											   load_room(&parts->sides[which]);
		/* a range that is too large has a load of its own */
		if (!fits && range > load->first_range)
			break;
		parts->chosen[range] = required;
		for (int which = 0; which < 2; which++)
		{
			/* a side that the pass does not need takes no part */
			parts->sides[which].range_end[range] = rows[which];
			if (required && parts->required[which])
				rows[which] += parts->sides[which].range_rows[range];
		}
	}
	load->end_range = parts->next_range = range;
	for (int which = 0; which < 2; which++)
		parts->sides[which].left = rows[which];
}

HgStatus
hg_passes_load_next(HgPassParts *parts, HgError *error)
{
	HgPassSide *outer = &parts->sides[HG_OUTER];
	HgPassPart load = {.bits = HG_PASSES_RANGE_BITS};
	double start = hg_clock_ms();
	HgStatus status = HG_OK;

	if (outer->left > 0)
	{
		/* more of the only range of the load, whose inner rows stay */
		load.end_range = parts->next_range;
		load.first_range = parts->next_range - 1;
		outer->loaded = outer->range_end[load.first_range] = 0;
	}
	else
	{
		choose_ranges(parts, &load);
		for (int which = 0; which < 2 && status == HG_OK; which++)
		{
			HgPassSide *side = &parts->sides[which];

			side->walk = (HgPassWalk){0, 0, 0};
			side->loaded = 0;
			if (side->left > 0)
				status = side_reserve(parts, which, error);
		}
		if (status == HG_OK)
			status = side_load(parts, &parts->sides[HG_INNER], error);
	}
	if (status == HG_OK)
		status = side_load(parts, outer, error);
	for (int which = 0; which < 2; which++)
		load.high[which] = parts->sides[which].loaded;
	if (load.first_range < load.end_range)
		hg_passes_push_part(parts, &load);
	parts->load_ms += hg_clock_ms() - start;
	return status;
}

/* ------------------------------------------------------------------------
 * Slices
 * ------------------------------------------------------------------------ */

/* Returns how many rows a part of several ranges may have now. */
static uint64_t
max_part_rows(const HgPassParts *parts)
{
	const uint64_t loaded = parts->sides[HG_OUTER].loaded + parts->sides[HG_INNER].loaded;
	const uint64_t share = loaded / HG_PASSES_LOAD_PARTS + 1;

	return hg_passes_min(parts->most_rows,
						 share < HG_PASSES_SMALL_PART ? HG_PASSES_SMALL_PART : share);
}

/* Returns the begin of a range in a load of several. */
static uint64_t
range_begin(const HgPassParts *parts, int which, uint32_t range)
{
	const HgPassSide *side = &parts->sides[which];

	return side->range_end[range] -
		   (parts->required[which] && parts->chosen[range] ? side->range_rows[range] : 0);
}

/* Returns the rows of a range, of both sides, in a load of several. */
static uint64_t
range_rows(const HgPassParts *parts, uint32_t range)
{
	uint64_t rows = 0;

	for (int which = 0; which < 2; which++)
		rows += parts->sides[which].range_end[range] - range_begin(parts, which, range);
	return rows;
}

/* Splits a part of several ranges before a range. */
static void
split_at(const HgPassParts *parts, const HgPassPart *part, uint32_t range, HgPassPart *low,
		 HgPassPart *high)
{
	*low = *high = *part;
	low->end_range = high->first_range = range;
	for (int which = 0; which < 2; which++)
		low->high[which] = high->low[which] = range_begin(parts, which, range);
}

/* Returns the range before which a part of several ranges is split into halves, roughly. */
static uint32_t
middle_range(const HgPassParts *parts, const HgPassPart *part)
{
	const uint64_t half = hg_passes_part_rows(part) / 2;
	uint32_t range = part->first_range;
	uint64_t rows = range_rows(parts, range);

	while (++range + 1 < part->end_range && rows < half)
		rows += range_rows(parts, range);
	return range;
}

/* Returns true if the part has rows of all sides that the pass needs. */
static bool
is_useful(const HgPassParts *parts, const HgPassPart *part)
{
	for (int side = 0; side < 2; side++)
		if (parts->required[side] && part->low[side] == part->high[side])
			return false;
	return true;
}

void
hg_passes_push_part(HgPassParts *parts, const HgPassPart *part)
{
	if (is_useful(parts, part))
		parts->stack[parts->depth++] = *part;
}

bool
hg_passes_pop_part(HgPassParts *parts, HgPassPart *part)
{
	const uint64_t most = max_part_rows(parts);
	uint64_t rows;

	if (parts->depth == 0)
		return false;
	*part = parts->stack[--parts->depth];
	rows = hg_passes_part_rows(part);
	if (rows > most && part->end_range - part->first_range > 1)
	{
		/* split off an equal share, so that the rest makes pieces of the same size */
		const uint64_t aim = rows / ((rows + most - 1) / most);
		uint32_t range = part->first_range;
		uint64_t taken = range_rows(parts, range);
		HgPassPart rest;

		while (++range + 1 < part->end_range && taken < aim &&
			   taken + range_rows(parts, range) <= most)
			taken += range_rows(parts, range);
		split_at(parts, part, range, part, &rest);
		hg_passes_push_part(parts, &rest);
	}
	return true;
}

uint64_t
hg_passes_parts_left(const HgPassParts *parts)
{
	const uint64_t most = max_part_rows(parts);
	uint64_t left = parts->sides[HG_OUTER].left > 0;
	uint64_t rows = 0;

	for (int i = 0; i < parts->depth; i++)
		left += (hg_passes_part_rows(&parts->stack[i]) + most - 1) / most;
	for (uint32_t range = parts->next_range; range < HG_PASSES_RANGES; range++)
		if (has_parts(parts, range))
			rows +=
				parts->sides[HG_OUTER].range_rows[range] + parts->sides[HG_INNER].range_rows[range];
	return left + (rows + most - 1) / most;
}

/* Sets *differing to the bits in which mixed keys of the part differ. */
static HgStatus
part_differing(HgPassParts *parts, const HgPassPart *part, uint64_t *differing, HgError *error)
{
	uint64_t word = 0;
	bool any = false;

	*differing = 0;
	for (int which = 0; which < 2; which++)
	{
		const void *mixed = parts->sides[which].mixed;
		uint64_t step;

		for (uint64_t at = part->low[which]; at < part->high[which]; at += step)
		{
			HG_TRY(hg_host_check_cancel(parts->host, error));
			if (!any)
				word = parts->key_width == 4 ? mixed_at32(mixed, at) : mixed_at64(mixed, at);
			any = true;
			step = hg_passes_min(part->high[which] - at, HG_PASSES_POLL_ROWS);
			*differing |= parts->key_width == 4 ? differing_bits32(mixed, at, step, word)
												: differing_bits64(mixed, at, step, word);
		}
	}
	return HG_OK;
}

/* Splits a part of one range by a bit of its mixed keys, in place. */
static HgStatus
split_by_bit(HgPassParts *parts, const HgPassPart *part, uint32_t bit, HgPassPart *low,
			 HgPassPart *high, HgError *error)
{
	*low = *high = *part;
	low->bits = high->bits = 8 * parts->key_width - bit;
	for (int which = 0; which < 2; which++)
	{
		HgPassSide *side = &parts->sides[which];
		uint64_t from = part->low[which];
		uint64_t to = part->high[which];

		while (from < to)
		{
			HG_TRY(hg_host_check_cancel(parts->host, error));
			if (parts->key_width == 4)
				partition_rows32(side->mixed, side->numbers, &from, &to, UINT64_C(1) << bit,
								 HG_PASSES_POLL_ROWS);
			else
				partition_rows64(side->mixed, side->numbers, &from, &to, UINT64_C(1) << bit,
								 HG_PASSES_POLL_ROWS);
		}
		low->high[which] = high->low[which] = from;
	}
	return HG_OK;
}

HgStatus
hg_passes_split_part(HgPassParts *parts, const HgPassPart *part, bool *split, HgError *error)
{
	const uint64_t outer_rows = part->high[HG_OUTER] - part->low[HG_OUTER];
	HgPassPart low = *part;
	HgPassPart high = *part;
	uint64_t differing = 0;
	HgStatus status = HG_OK;

	*split = true;
	if (part->end_range - part->first_range > 1)
		split_at(parts, part, middle_range(parts, part), &low, &high);
	else
	{
		status = part_differing(parts, part, &differing, error);
		if (status == HG_OK && differing != 0)
		{
			uint32_t highest = 63;

			while ((differing >> highest & 1) == 0)
				highest--;
			status = split_by_bit(parts, part, highest, &low, &high, error);
		}
		else if (status == HG_OK && parts->in_pairs && !part->alone)
		{
			low.alone = true;
			high.low[HG_OUTER] = high.high[HG_OUTER];
			high.low[HG_INNER] = high.high[HG_INNER];
		}
		else if (status == HG_OK && outer_rows > 1 && parts->required[HG_OUTER] &&
				 parts->required[HG_INNER])
			low.high[HG_OUTER] = high.low[HG_OUTER] = part->low[HG_OUTER] + outer_rows / 2;
		else
			*split = false;
		if (status != HG_OK || !*split)
			return status;
	}
	hg_passes_push_part(parts, &high);
	hg_passes_push_part(parts, &low);
	return HG_OK;
}

void
hg_passes_make_keys(const HgPassParts *parts, const HgPassPart *part, const HgPassSide *side,
					uint64_t at, uint64_t count)
{
	if (parts->key_width == 4)
		make_keys32(side->mixed, at, count, part->bits, parts->buffer);
	else
		make_keys64(side->mixed, at, count, part->bits, parts->buffer);
}
