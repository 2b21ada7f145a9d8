/*-------------------------------------------------------------------------
 *
 * hg_ranges_slice.c
 *	  Loading ranges of rows, and parting slices of them.
 *
 * hg_ranges.c tells the whole way.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_ranges_internal.h"

#include "hg_hash.h"

/* A portion of a range's outer rows is the mean of the ranges and a quarter, or this. */
#define LEAST_PORTION 65536

#define HG_KEY_BITS 32
#include "hg_ranges_impl.h"
#undef HG_KEY_BITS
#define HG_KEY_BITS 64
#include "hg_ranges_impl.h"
#undef HG_KEY_BITS

/* The next keys of a walk: returns how many, at most max, and 0 at the end. */
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
hg_ranges_count_side(HgRangesJob *job, HgRangesSide *side, HgError *error)
{
	HgRangesWalk walk = {0, 0, 0};
	const void *keys;
	uint64_t count;

	while ((count = walk_on(side, &walk, job->spec.key_width, HG_RANGES_POLL_ROWS, &keys)) > 0)
	{
		HgStatus status = hg_ranges_poll(job, error);

		if (status != HG_OK)
			return status;
		if (job->spec.key_width == 4)
			count_keys32(keys, count, side->range_rows);
		else
			count_keys64(keys, count, side->range_rows);
	}
	return HG_OK;
}

/*
 * Have buffers for the rows of any range of a side, or for a portion of them: outer rows
 * that one key has many of come in portions, but where the whole graph is wanted.
 */
static HgStatus
side_reserve(HgRangesJob *job, int which, HgError *error)
{
	HgRangesSide *side = &job->sides[which];
	uint64_t capacity = 0;
	void *numbers;
	HgStatus status;

	for (int range = 0; range < HG_RANGES; range++)
		if (side->range_rows[range] > capacity)
			capacity = side->range_rows[range];
	if (which == HG_OUTER && job->purpose != HG_RANGES_FOR_DESCRIBE)
	{
		uint64_t portion = side->rows / HG_RANGES / 4 * 5;

		capacity = hg_ranges_smaller(capacity, portion < LEAST_PORTION ? LEAST_PORTION : portion);
	}

	/* selecting writes behind the rows that are selected, as far as it reads */
	capacity += HG_RANGES_POLL_ROWS;
	if (capacity <= side->capacity)
		return HG_OK;

	hg_ranges_free(job, side->mixed, side->capacity, job->spec.key_width);
	hg_ranges_free(job, side->numbers, side->capacity, sizeof(uint32_t));
	side->mixed = NULL;
	side->numbers = NULL;
	side->capacity = 0;
	status = hg_ranges_alloc(job, capacity, job->spec.key_width, &side->mixed, error);
	if (status != HG_OK)
		return status;
	status = hg_ranges_alloc(job, capacity, sizeof(uint32_t), &numbers, error);
	if (status != HG_OK)
	{
		hg_ranges_free(job, side->mixed, capacity, job->spec.key_width);
		side->mixed = NULL;
		return status;
	}
	side->numbers = numbers;
	side->capacity = capacity;
	return HG_OK;
}

/* Load as many of a side's rows of a range as there is room for, from its walk on. */
static HgStatus
side_load(HgRangesJob *job, HgRangesSide *side, uint32_t range, HgError *error)
{
	uint32_t width = job->spec.key_width;

	side->loaded = 0;
	while (side->left > 0 && side->capacity - side->loaded >= HG_RANGES_POLL_ROWS)
	{
		uint32_t first = (uint32_t) side->walk.row;
		const void *keys;
		uint64_t count = walk_on(side, &side->walk, width, HG_RANGES_POLL_ROWS, &keys);
		void *mixed = (char *) side->mixed + side->loaded * width;
		uint32_t *numbers = side->numbers + side->loaded;
		HgStatus status = hg_ranges_poll(job, error);

		if (status != HG_OK)
			return status;
		count = width == 4 ? select_keys32(keys, count, first, range, mixed, numbers)
						   : select_keys64(keys, count, first, range, mixed, numbers);
		side->loaded += count;
		side->left -= count;
	}
	return HG_OK;
}

/* Put a slice on the stack, unless nothing comes of it for the pass. */
static void
slice_push(HgRangesJob *job, const HgRangesSlice *slice)
{
	for (int side = 0; side < 2; side++)
		if (job->wanted[side] && slice->low[side] == slice->high[side])
			return;
	job->stack[job->depth++] = *slice;
}

bool
hg_ranges_is_wanted(const HgRangesJob *job, uint32_t range)
{
	for (int side = 0; side < 2; side++)
		if (job->wanted[side] && job->sides[side].range_rows[range] == 0)
			return false;
	return true;
}

HgStatus
hg_ranges_load_next(HgRangesJob *job, HgError *error)
{
	HgRangesSlice slice = {{0, 0}, {0, 0}, HG_RANGE_BITS};
	double start = hg_clock_ms();
	HgStatus status = HG_OK;

	if (job->sides[HG_OUTER].left == 0)
	{
		while (job->next_range < HG_RANGES && !hg_ranges_is_wanted(job, job->next_range))
			job->next_range++;
		if (job->next_range == HG_RANGES)
			return HG_OK;
		for (int which = 0; which < 2 && status == HG_OK; which++)
		{
			HgRangesSide *side = &job->sides[which];

			/* a side that nothing is wanted of takes no part */
			side->walk = (HgRangesWalk){0, 0, 0};
			side->left = job->wanted[which] ? side->range_rows[job->next_range] : 0;
			side->loaded = 0;
			if (side->left > 0)
				status = side_reserve(job, which, error);
		}
		if (status == HG_OK)
			status = side_load(job, &job->sides[HG_INNER], job->next_range, error);
		job->next_range++;
	}
	if (status == HG_OK)
		status = side_load(job, &job->sides[HG_OUTER], job->next_range - 1, error);
	for (int which = 0; which < 2; which++)
		slice.high[which] = job->sides[which].loaded;
	slice_push(job, &slice);
	job->sum.phase_ms[HG_PHASE_TRANSFER] += hg_clock_ms() - start;
	return status;
}

/* The bits in which mixed keys of the slice differ. */
static HgStatus
slice_differing(HgRangesJob *job, uint64_t *differing, HgError *error)
{
	const HgRangesSlice *slice = &job->slice;
	uint64_t word = 0;
	bool any = false;

	*differing = 0;
	for (int which = 0; which < 2; which++)
	{
		const void *mixed = job->sides[which].mixed;
		uint64_t step;

		for (uint64_t at = slice->low[which]; at < slice->high[which]; at += step)
		{
			HgStatus status = hg_ranges_poll(job, error);

			if (status != HG_OK)
				return status;
			if (!any)
				word = job->spec.key_width == 4 ? mixed_at32(mixed, at) : mixed_at64(mixed, at);
			any = true;
			step = hg_ranges_smaller(slice->high[which] - at, HG_RANGES_POLL_ROWS);
			*differing |= job->spec.key_width == 4 ? differing_bits32(mixed, at, step, word)
												   : differing_bits64(mixed, at, step, word);
		}
	}
	return HG_OK;
}

HgStatus
hg_ranges_part_slice(HgRangesJob *job, bool *parted, HgError *error)
{
	const uint32_t key_bits = 8 * job->spec.key_width;
	HgRangesSlice low = job->slice;
	HgRangesSlice high = job->slice;
	uint64_t differing;
	uint32_t bits = key_bits;
	HgStatus status = slice_differing(job, &differing, error);

	*parted = false;
	if (status != HG_OK)
		return status;
	if (differing == 0)
	{
		uint64_t outer_rows = low.high[HG_OUTER] - low.low[HG_OUTER];

		if (outer_rows < 2 || !job->wanted[HG_OUTER] || !job->wanted[HG_INNER])
			return HG_OK;
		low.high[HG_OUTER] = high.low[HG_OUTER] = low.low[HG_OUTER] + outer_rows / 2;
	}
	else
	{
		uint32_t highest = 63;

		while ((differing >> highest & 1) == 0)
			highest--;
		bits = key_bits - highest;
		for (int which = 0; which < 2; which++)
		{
			HgRangesSide *side = &job->sides[which];
			uint64_t from = low.low[which];
			uint64_t to = low.high[which];

			while (from < to)
			{
				status = hg_ranges_poll(job, error);
				if (status != HG_OK)
					return status;
				if (job->spec.key_width == 4)
					part_rows32(side->mixed, side->numbers, &from, &to, UINT64_C(1) << highest,
								HG_RANGES_POLL_ROWS);
				else
					part_rows64(side->mixed, side->numbers, &from, &to, UINT64_C(1) << highest,
								HG_RANGES_POLL_ROWS);
			}
			low.high[which] = high.low[which] = from;
		}
	}
	low.bits = high.bits = bits;
	slice_push(job, &high);
	slice_push(job, &low);
	*parted = true;
	return HG_OK;
}

void
hg_ranges_make_keys(const HgRangesJob *job, const HgRangesSide *side, uint64_t at, uint64_t count)
{
	if (job->spec.key_width == 4)
		make_keys32(side->mixed, at, count, job->slice.bits, job->give);
	else
		make_keys64(side->mixed, at, count, job->slice.bits, job->give);
}
