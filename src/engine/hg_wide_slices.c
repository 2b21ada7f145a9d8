/*-------------------------------------------------------------------------
 *
 * hg_wide_slices.c
 *	  Kept graphs of which each member has a slice.
 *
 * A member has its slice in the place of the graph, under the name and in the shape that follow
 * from how that is cut; a graph that is whole on all devices is each member's.  What rows of a
 * slice look up is whole, and the graph by which they do it is cut along.  Masks of a graph
 * that is whole are passed on.  Those of one that is cut are collected, for each member by the
 * numbers that rows have in its slice, and given to it before it builds.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_memory.h"
#include "hg_slices.h"
#include "hg_wide_job.h"

#include <string.h>

/* Words of one part of a whole graph's mask. */
#define PART_WORDS (1 << (HG_FLAT_ROW_BITS - 6))

bool
hg_wide_are_sliced(const HgJobSpec *spec)
{
	return spec->slices[HG_OUTER] != NULL || spec->slices[HG_INNER] != NULL;
}

/* Are the graphs cut along by which rows of a side that is cut look up? */
static HgStatus
check_along(const HgJobSpec *spec, HgSide side, HgError *error)
{
	const HgSlices *slices = spec->slices[side];

	for (uint32_t i = 0; i < spec->nlookups[side]; i++)
	{
		const HgSlicedAlong *along = spec->along[side] != NULL ? &spec->along[side][i] : NULL;
		bool good;

		if (spec->lookups[side][i].from > 0)
			continue;
		good = along != NULL && along->cut < HG_SLICED_CUTS &&
			   (along->cut == 0 || along->rows != NULL);
		for (uint32_t s = 0; good && along->cut > 0 && s < slices->count; s++)
			good = along->rows[s] <= hg_slice_rows(slices, s);
		if (!good)
			return hg_error_set(error, HG_INVALID, NULL,
								"rows of slices look up by a graph that is not cut along");
	}
	return HG_OK;
}

/* Can a side of so many members be so? */
static HgStatus
check_side(const HgJobSpec *spec, HgSide side, uint32_t members, HgError *error)
{
	const HgSlices *slices = spec->slices[side];

	if (spec->kept[side] == NULL)
		return hg_error_set(error, HG_INVALID, NULL, "slices are joined with kept graphs alone");
	if (slices == NULL)
		return HG_OK;
	if (slices->count != members || slices->parts != spec->kept[side]->shape.parts)
		return hg_error_set(error, HG_INVALID, NULL,
							"a graph is not cut into as many slices as there are members");
	return check_along(spec, side, error);
}

HgStatus
hg_wide_slices_open(HgWideJob *job, HgError *error)
{
	const HgJobSpec *spec = &job->spec;
	HgStatus status = HG_OK;

	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
	{
		status = check_side(spec, (HgSide) side, job->wide->members, error);
		if (status != HG_OK)
			break;
		job->sliced.slices[side] = spec->slices[side];
		job->sliced.parts[side] = spec->kept[side]->shape.parts;
		job->appended[side] = spec->kept[side]->shape.rows;
	}
	return status;
}

/* The columns of a member's rows of a side; those of rows that these look up are whole. */
static void
cut_columns(const HgJobSpec *spec, HgSide side, uint32_t member, HgKeptColumnUse *columns)
{
	const HgSlices *slices = spec->slices[side];

	for (uint32_t i = 0; i < spec->ncolumns[side]; i++)
	{
		columns[i] = spec->kept_columns[side][i];
		if (columns[i].lookup > 0)
			continue;
		columns[i].shape = hg_slice_column_shape(slices, member, columns[i].shape.width);
		if (columns[i].program == 0)
			columns[i].name.slice = hg_slice_number(slices->count, member);
	}
}

/* What they look up, by graphs that are cut along. */
static void
cut_lookups(const HgJobSpec *spec, HgSide side, uint32_t member, HgKeptLookup *lookups)
{
	const HgSlices *slices = spec->slices[side];

	for (uint32_t i = 0; i < spec->nlookups[side]; i++)
	{
		const HgSlicedAlong *along = &spec->along[side][i];
		HgKeptUse *own = &lookups[i].own;

		lookups[i] = spec->lookups[side][i];
		if (lookups[i].from > 0)
			continue;
		lookups[i].stride = hg_slice_column_shape(slices, member, 1).stride;
		own->name.slice = hg_slice_number_along(along->cut, slices->count, member);
		own->shape = hg_slice_shape_along(slices, member, own->shape.key_width,
										  along->cut > 0 ? along->rows[member]
														 : hg_slice_rows(slices, member));
	}
}

void
hg_wide_slices_member(const HgWideJob *job, uint32_t member, HgWideSliceSpec *of, HgJobSpec *spec)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgSlices *slices = spec->slices[side];

		if (slices == NULL)
			continue;
		of->kept[side] = *spec->kept[side];
		of->kept[side].name.slice = hg_slice_number(job->wide->members, member);
		of->kept[side].shape = hg_slice_shape(slices, member, spec->kept[side]->shape.key_width);
		cut_columns(spec, (HgSide) side, member, of->columns[side]);
		cut_lookups(spec, (HgSide) side, member, of->lookups[side]);
		spec->kept[side] = &of->kept[side];
		spec->kept_columns[side] = of->columns[side];
		spec->lookups[side] = of->lookups[side];
		spec->expected_rows[side] = of->kept[side].shape.rows;
		spec->slices[side] = NULL;
		spec->along[side] = NULL;
	}
}

/* Have masks of a side, in which all rows count. */
static HgStatus
make_masks(HgWideJob *job, HgSide side, HgError *error)
{
	const HgSlices *slices = job->sliced.slices[side];
	uint64_t **masks = job->sliced.masks[side];
	HgStatus status = HG_OK;

	for (uint32_t i = 0; i < job->members && status == HG_OK; i++)
	{
		const uint64_t words = hg_slice_mask_words(slices, i);
		void *memory;

		if (masks[i] != NULL || words == 0)
			continue;
		status = hg_host_memory_alloc(job->host, words * sizeof(uint64_t), &memory, error);
		if (status != HG_OK)
			break;
		masks[i] = memory;
		memset(masks[i], 0xFF, (size_t) (words * sizeof(uint64_t)));
	}
	return status;
}

/* Tell the members' masks of a part which of its rows count. */
static HgStatus
mask_part(HgWideJob *job, HgSide side, uint32_t part, uint32_t first, const uint64_t *words,
		  uint32_t count, HgError *error)
{
	HgStatus status = hg_host_check_cancel(job->host, error);

	for (uint32_t i = 0; i < job->members && status == HG_OK; i++)
		if (job->sliced.masks[side][i] != NULL)
			hg_slice_mask(job->sliced.slices[side], i, part, first, words, count,
						  job->sliced.masks[side][i]);
	return status;
}

/* The same of any words of the graph's mask. */
static HgStatus
mask_slices(HgWideJob *job, HgSide side, uint64_t first_word, uint64_t count, const uint64_t *words,
			HgError *error)
{
	const uint64_t end = (uint64_t) job->sliced.parts[side] * PART_WORDS;
	HgStatus status;

	if (first_word > end || count > end - first_word)
		return hg_error_set(error, HG_INVALID, NULL, "a mask goes beyond the rows of its graph");
	status = make_masks(job, side, error);
	for (uint64_t word = first_word; word < first_word + count && status == HG_OK;)
	{
		const uint32_t part = (uint32_t) (word / PART_WORDS);
		const uint32_t first = (uint32_t) (word % PART_WORDS);
		const uint64_t left = first_word + count - word;
		const uint32_t step = left < PART_WORDS - first ? (uint32_t) left : PART_WORDS - first;

		status = mask_part(job, side, part, first,
						   words != NULL ? words + (word - first_word) : NULL, step, error);
		word += step;
	}
	return status;
}

HgStatus
hg_wide_slices_mask(HgWideJob *job, HgSide side, uint32_t lookup, uint64_t first_word,
					uint64_t count, const uint64_t *words, HgError *error)
{
	HgStatus status = HG_OK;

	if (lookup == 0 && job->sliced.slices[side] != NULL)
		return mask_slices(job, side, first_word, count, words, error);
	for (uint32_t i = 0; i < job->members && status == HG_OK; i++)
	{
		job->wide->called = i;
		status = job->member[i].calls.mask(job->member[i].job, side, lookup, first_word, count,
										   words, error);
	}
	return status;
}

HgStatus
hg_wide_slices_tell(HgWideJob *job, HgError *error)
{
	HgStatus status = HG_OK;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t i = 0; i < job->members && status == HG_OK; i++)
		{
			const uint64_t *mask = job->sliced.masks[side][i];

			job->wide->called = i;
			if (mask != NULL)
				status = job->member[i].calls.mask(job->member[i].job, (HgSide) side, 0, 0,
												   hg_slice_mask_words(job->sliced.slices[side], i),
												   mask, error);
		}
	return status;
}

void
hg_wide_slices_free(HgWideJob *job)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t i = 0; i < HG_MAX_MEMBERS; i++)
			if (job->sliced.masks[side][i] != NULL)
				hg_host_memory_free(job->host, job->sliced.masks[side][i],
									hg_slice_mask_words(job->sliced.slices[side], i) *
										sizeof(uint64_t));
}
