/*-------------------------------------------------------------------------
 *
 * hg_ranges_slice.c
 *	  Loads ranges of rows, and divides the loads into slices.
 *
 * hg_ranges.c describes the algorithm.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_ranges_slice.h"

#include "hg_hash.h"
#include "hg_host_memory.h"

#include <string.h>

/* Least number of rows of a side that a load has room for. */
#define LEAST_ROOM 65536

/* Rows that are selected before they are scattered: few enough to stay in the caches. */
#define SELECTED_ROWS 2048

#define HG_KEY_BITS 32
#include "hg_ranges_impl.h"
#undef HG_KEY_BITS
#define HG_KEY_BITS 64
#include "hg_ranges_impl.h"
#undef HG_KEY_BITS

/* Returns the number of the next keys of a walk, at most max, and sets *keys; 0 at the end. */
static uint64_t
walk_on(const HgRangesSide *side, HgRangesWalk *walk, uint32_t key_width, uint64_t max,
		const void **keys)
{
	const HgRangesArray *array;
	uint64_t count;

	if (walk->array == side->array_count)
		return 0;
	array = &side->arrays[walk->array];
	count = hg_ranges_smaller(array->count - walk->at, max);
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
hg_ranges_count_side(HgRangesSlices *slices, HgRangesSide *side, HgError *error)
{
	HgRangesWalk walk = {0, 0, 0};
	const void *keys;
	uint64_t count;

	while ((count = walk_on(side, &walk, slices->key_width, HG_RANGES_POLL_ROWS, &keys)) > 0)
	{
		HgStatus status = hg_host_check_cancel(slices->host, error);

		if (status != HG_OK)
			return status;
		if (slices->key_width == 4)
			count_keys32(keys, count, side->range_rows);
		else
			count_keys64(keys, count, side->range_rows);
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Loads
 * ------------------------------------------------------------------------ */

/* Returns true if the range has slices in this pass. */
static bool
is_wanted(const HgRangesSlices *slices, uint32_t range)
{
	for (int side = 0; side < 2; side++)
		if (slices->wanted[side] && slices->sides[side].range_rows[range] == 0)
			return false;
	return true;
}

/* Returns how many rows of a side a load may have, unless they are of one range. */
static uint64_t
load_room(const HgRangesSide *side)
{
	/* a little more than its share, as ranges differ in size */
	uint64_t room = side->rows / HG_RANGES_LOADS / 16 * 17;

	return room < LEAST_ROOM ? LEAST_ROOM : room;
}

/*
 * Allocates buffers for a load of a side, large enough for all rows of any range.  Outer rows of a
 * frequent key may come in portions instead, unless the pass needs whole ranges.
 */
static HgStatus
side_reserve(HgRangesSlices *slices, int which, HgError *error)
{
	HgRangesSide *side = &slices->sides[which];
	uint64_t capacity = hg_ranges_smaller(load_room(side), side->rows);
	void *numbers;
	HgStatus status;

	if (which == HG_INNER || slices->whole)
		for (int range = 0; range < HG_RANGES; range++)
			if (side->range_rows[range] > capacity)
				capacity = side->range_rows[range];

	/* a portion ends when there is no room for the rows that are read at a time */
	capacity += HG_RANGES_POLL_ROWS;
	if (capacity <= side->capacity)
		return HG_OK;

	hg_host_memory_free(slices->host, side->mixed, side->capacity * slices->key_width);
	hg_host_memory_free(slices->host, side->numbers, side->capacity * sizeof(uint32_t));
	side->mixed = NULL;
	side->numbers = NULL;
	side->capacity = 0;
	status = hg_host_memory_alloc(slices->host, capacity * slices->key_width, &side->mixed, error);
	if (status != HG_OK)
		return status;
	status = hg_host_memory_alloc(slices->host, capacity * sizeof(uint32_t), &numbers, error);
	if (status != HG_OK)
	{
		hg_host_memory_free(slices->host, side->mixed, capacity * slices->key_width);
		side->mixed = NULL;
		return status;
	}
	side->numbers = numbers;
	side->capacity = capacity;
	return HG_OK;
}

/* Reads up to max rows of a side and writes those of chosen ranges to the buffers. */
static void
load_rows(HgRangesSlices *slices, HgRangesSide *side, uint64_t max)
{
	const uint32_t width = slices->key_width;
	void *mixed = slices->give;
	uint32_t *numbers = (uint32_t *) ((char *) slices->give + SELECTED_ROWS * sizeof(uint64_t));

	while (max > 0 && side->left > 0)
	{
		uint32_t first = (uint32_t) side->walk.row;
		const void *keys;
		uint64_t count =
			walk_on(side, &side->walk, width, hg_ranges_smaller(max, SELECTED_ROWS), &keys);

		max -= count;
		if (width == 4)
		{
			count = select_keys32(keys, count, first, slices->chosen, mixed, numbers);
			scatter_keys32(mixed, numbers, count, side->range_end, side->mixed, side->numbers);
		}
		else
		{
			count = select_keys64(keys, count, first, slices->chosen, mixed, numbers);
			scatter_keys64(mixed, numbers, count, side->range_end, side->mixed, side->numbers);
		}
		side->loaded += count;
		side->left -= count;
	}
}

/* Loads the remaining rows of a side, or as many as there is room for. */
static HgStatus
side_load(HgRangesSlices *slices, HgRangesSide *side, HgError *error)
{
	while (side->left > 0 && (side->capacity - side->loaded >= side->left ||
							  side->capacity - side->loaded >= HG_RANGES_POLL_ROWS))
	{
		HgStatus status = hg_host_check_cancel(slices->host, error);

		if (status != HG_OK)
			return status;
		load_rows(slices, side, HG_RANGES_POLL_ROWS);
	}
	return HG_OK;
}

/* Chooses the ranges that the next load has room for; none if no further one is needed. */
static void
choose_ranges(HgRangesSlices *slices, HgRangesSlice *load)
{
	uint64_t rows[2] = {0, 0};
	uint32_t range = slices->next_range;

	while (range < HG_RANGES && !is_wanted(slices, range))
		range++;
	memset(slices->chosen, 0, sizeof(slices->chosen));
	load->first_range = range;
	for (bool fits = true; fits && range < HG_RANGES; range++)
	{
		const bool wanted = is_wanted(slices, range);

		for (int which = 0; which < 2 && wanted; which++)
			fits &=
				!slices->wanted[which] || rows[which] + slices->sides[which].range_rows[range] <=
											  load_room(&slices->sides[which]);
		/* a range that is too large has a load of its own */
		if (!fits && range > load->first_range)
			break;
		slices->chosen[range] = wanted;
		for (int which = 0; which < 2; which++)
		{
			/* a side that the pass does not need takes no part */
			slices->sides[which].range_end[range] = rows[which];
			if (wanted && slices->wanted[which])
				rows[which] += slices->sides[which].range_rows[range];
		}
	}
	load->end_range = slices->next_range = range;
	for (int which = 0; which < 2; which++)
		slices->sides[which].left = rows[which];
}

HgStatus
hg_ranges_load_next(HgRangesSlices *slices, HgError *error)
{
	HgRangesSide *outer = &slices->sides[HG_OUTER];
	HgRangesSlice load = {.bits = HG_RANGE_BITS};
	double start = hg_clock_ms();
	HgStatus status = HG_OK;

	if (outer->left > 0)
	{
		/* more of the only range of the load, whose inner rows stay */
		load.end_range = slices->next_range;
		load.first_range = slices->next_range - 1;
		outer->loaded = outer->range_end[load.first_range] = 0;
	}
	else
	{
		choose_ranges(slices, &load);
		for (int which = 0; which < 2 && status == HG_OK; which++)
		{
			HgRangesSide *side = &slices->sides[which];

			side->walk = (HgRangesWalk){0, 0, 0};
			side->loaded = 0;
			if (side->left > 0)
				status = side_reserve(slices, which, error);
		}
		if (status == HG_OK)
			status = side_load(slices, &slices->sides[HG_INNER], error);
	}
	if (status == HG_OK)
		status = side_load(slices, outer, error);
	for (int which = 0; which < 2; which++)
		load.high[which] = slices->sides[which].loaded;
	if (load.first_range < load.end_range)
		hg_ranges_give_back(slices, &load);
	slices->load_ms += hg_clock_ms() - start;
	return status;
}

/* ------------------------------------------------------------------------
 * Slices
 * ------------------------------------------------------------------------ */

/* Returns how many rows a slice of several ranges may have now. */
static uint64_t
most_slice_rows(const HgRangesSlices *slices)
{
	const uint64_t loaded = slices->sides[HG_OUTER].loaded + slices->sides[HG_INNER].loaded;
	const uint64_t share = loaded / HG_RANGES_LOAD_SLICES + 1;

	return hg_ranges_smaller(slices->most_rows,
							 share < HG_RANGES_SMALL_SLICE ? HG_RANGES_SMALL_SLICE : share);
}

/* Returns the begin of a range in a load of several. */
static uint64_t
range_begin(const HgRangesSlices *slices, int which, uint32_t range)
{
	const HgRangesSide *side = &slices->sides[which];

	return side->range_end[range] -
		   (slices->wanted[which] && slices->chosen[range] ? side->range_rows[range] : 0);
}

/* Returns the rows of a range, of both sides, in a load of several. */
static uint64_t
range_rows(const HgRangesSlices *slices, uint32_t range)
{
	uint64_t rows = 0;

	for (int which = 0; which < 2; which++)
		rows += slices->sides[which].range_end[range] - range_begin(slices, which, range);
	return rows;
}

/* Splits a slice of several ranges before a range. */
static void
split_at(const HgRangesSlices *slices, const HgRangesSlice *slice, uint32_t range,
		 HgRangesSlice *low, HgRangesSlice *high)
{
	*low = *high = *slice;
	low->end_range = high->first_range = range;
	for (int which = 0; which < 2; which++)
		low->high[which] = high->low[which] = range_begin(slices, which, range);
}

/* Returns the range before which a slice of several ranges is split into halves, roughly. */
static uint32_t
middle_range(const HgRangesSlices *slices, const HgRangesSlice *slice)
{
	const uint64_t half = hg_ranges_slice_rows(slice) / 2;
	uint32_t range = slice->first_range;
	uint64_t rows = range_rows(slices, range);

	while (++range + 1 < slice->end_range && rows < half)
		rows += range_rows(slices, range);
	return range;
}

/* Returns true if the slice has rows of all sides that the pass needs. */
static bool
is_useful(const HgRangesSlices *slices, const HgRangesSlice *slice)
{
	for (int side = 0; side < 2; side++)
		if (slices->wanted[side] && slice->low[side] == slice->high[side])
			return false;
	return true;
}

void
hg_ranges_give_back(HgRangesSlices *slices, const HgRangesSlice *slice)
{
	if (is_useful(slices, slice))
		slices->stack[slices->depth++] = *slice;
}

bool
hg_ranges_take_slice(HgRangesSlices *slices, HgRangesSlice *slice)
{
	const uint64_t most = most_slice_rows(slices);
	uint64_t rows;

	if (slices->depth == 0)
		return false;
	*slice = slices->stack[--slices->depth];
	rows = hg_ranges_slice_rows(slice);
	if (rows > most && slice->end_range - slice->first_range > 1)
	{
		/* split off an equal share, so that the rest makes pieces of the same size */
		const uint64_t aim = rows / ((rows + most - 1) / most);
		uint32_t range = slice->first_range;
		uint64_t taken = range_rows(slices, range);
		HgRangesSlice rest;

		while (++range + 1 < slice->end_range && taken < aim &&
			   taken + range_rows(slices, range) <= most)
			taken += range_rows(slices, range);
		split_at(slices, slice, range, slice, &rest);
		hg_ranges_give_back(slices, &rest);
	}
	return true;
}

uint64_t
hg_ranges_slices_left(const HgRangesSlices *slices)
{
	const uint64_t most = most_slice_rows(slices);
	uint64_t left = slices->sides[HG_OUTER].left > 0;
	uint64_t rows = 0;

	for (int i = 0; i < slices->depth; i++)
		left += (hg_ranges_slice_rows(&slices->stack[i]) + most - 1) / most;
	for (uint32_t range = slices->next_range; range < HG_RANGES; range++)
		if (is_wanted(slices, range))
			rows += slices->sides[HG_OUTER].range_rows[range] +
					slices->sides[HG_INNER].range_rows[range];
	return left + (rows + most - 1) / most;
}

/* Sets *differing to the bits in which mixed keys of the slice differ. */
static HgStatus
slice_differing(HgRangesSlices *slices, const HgRangesSlice *slice, uint64_t *differing,
				HgError *error)
{
	uint64_t word = 0;
	bool any = false;

	*differing = 0;
	for (int which = 0; which < 2; which++)
	{
		const void *mixed = slices->sides[which].mixed;
		uint64_t step;

		for (uint64_t at = slice->low[which]; at < slice->high[which]; at += step)
		{
			HgStatus status = hg_host_check_cancel(slices->host, error);

			if (status != HG_OK)
				return status;
			if (!any)
				word = slices->key_width == 4 ? mixed_at32(mixed, at) : mixed_at64(mixed, at);
			any = true;
			step = hg_ranges_smaller(slice->high[which] - at, HG_RANGES_POLL_ROWS);
			*differing |= slices->key_width == 4 ? differing_bits32(mixed, at, step, word)
												 : differing_bits64(mixed, at, step, word);
		}
	}
	return HG_OK;
}

/* Splits a slice of one range by a bit of its mixed keys, in place. */
static HgStatus
split_by_bit(HgRangesSlices *slices, const HgRangesSlice *slice, uint32_t bit, HgRangesSlice *low,
			 HgRangesSlice *high, HgError *error)
{
	*low = *high = *slice;
	low->bits = high->bits = 8 * slices->key_width - bit;
	for (int which = 0; which < 2; which++)
	{
		HgRangesSide *side = &slices->sides[which];
		uint64_t from = slice->low[which];
		uint64_t to = slice->high[which];

		while (from < to)
		{
			HgStatus status = hg_host_check_cancel(slices->host, error);

			if (status != HG_OK)
				return status;
			if (slices->key_width == 4)
				part_rows32(side->mixed, side->numbers, &from, &to, UINT64_C(1) << bit,
							HG_RANGES_POLL_ROWS);
			else
				part_rows64(side->mixed, side->numbers, &from, &to, UINT64_C(1) << bit,
							HG_RANGES_POLL_ROWS);
		}
		low->high[which] = high->low[which] = from;
	}
	return HG_OK;
}

HgStatus
hg_ranges_part_slice(HgRangesSlices *slices, const HgRangesSlice *slice, bool *parted,
					 HgError *error)
{
	const uint64_t outer_rows = slice->high[HG_OUTER] - slice->low[HG_OUTER];
	HgRangesSlice low = *slice;
	HgRangesSlice high = *slice;
	uint64_t differing = 0;
	HgStatus status = HG_OK;

	*parted = true;
	if (slice->end_range - slice->first_range > 1)
		split_at(slices, slice, middle_range(slices, slice), &low, &high);
	else
	{
		status = slice_differing(slices, slice, &differing, error);
		if (status == HG_OK && differing != 0)
		{
			uint32_t highest = 63;

			while ((differing >> highest & 1) == 0)
				highest--;
			status = split_by_bit(slices, slice, highest, &low, &high, error);
		}
		else if (status == HG_OK && slices->in_pairs && !slice->alone)
		{
			low.alone = true;
			high.low[HG_OUTER] = high.high[HG_OUTER];
			high.low[HG_INNER] = high.high[HG_INNER];
		}
		else if (status == HG_OK && outer_rows > 1 && slices->wanted[HG_OUTER] &&
				 slices->wanted[HG_INNER])
			low.high[HG_OUTER] = high.low[HG_OUTER] = slice->low[HG_OUTER] + outer_rows / 2;
		else
			*parted = false;
		if (status != HG_OK || !*parted)
			return status;
	}
	hg_ranges_give_back(slices, &high);
	hg_ranges_give_back(slices, &low);
	return HG_OK;
}

void
hg_ranges_make_keys(const HgRangesSlices *slices, const HgRangesSlice *slice,
					const HgRangesSide *side, uint64_t at, uint64_t count)
{
	if (slices->key_width == 4)
		make_keys32(side->mixed, at, count, slice->bits, slices->give);
	else
		make_keys64(side->mixed, at, count, slice->bits, slices->give);
}
