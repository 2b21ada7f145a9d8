/*-------------------------------------------------------------------------
 *
 * hg_gather.c
 *	  Values of columns that come with the matches of a job.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "backend/hg_gather.h"

static void
hg_gather_forget_side(HgGather *gather, HgSide side)
{
	gather->columns[side] = NULL;
	gather->has_matched[side] = false;
	for (int column = 0; column < HG_MAX_COLUMNS && gather->values[side][column] != NULL; column++)
	{
		pfree(gather->values[side][column]);
		pfree(gather->nulls[side][column]);
		gather->values[side][column] = NULL;
		gather->nulls[side][column] = NULL;
	}
}

void
hg_gather_forget(HgGather *gather)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_gather_forget_side(gather, (HgSide) side);
}

void
hg_gather_limit(HgGather *gather, uint64 pairs, uint64 bytes)
{
	const uint64 most = bytes / Max(pairs, 1);
	uint64 pair_bytes = 2 * sizeof(uint32);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		pair_bytes += hg_column_set_bytes(gather->columns[side]);
		if (pair_bytes <= most)
			continue;
		pair_bytes -= hg_column_set_bytes(gather->columns[side]);
		hg_gather_forget_side(gather, (HgSide) side);
	}
}

size_t
hg_gather_bytes(const HgGather *gather)
{
	return hg_column_set_bytes(gather->columns[HG_OUTER]) +
		   hg_column_set_bytes(gather->columns[HG_INNER]);
}

/* An array of so many bytes, which begins as another one that may be there already. */
static void *
hg_gather_extend(void *array, size_t bytes, MemoryContext context)
{
	return array == NULL ? MemoryContextAllocHuge(context, bytes) : repalloc_huge(array, bytes);
}

void
hg_gather_reserve(HgGather *gather, size_t capacity, MemoryContext context)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgColumnSet *set = gather->columns[side];

		for (uint32 column = 0; set != NULL && column < set->ncolumns; column++)
		{
			void **values = &gather->values[side][column];
			uint8 **nulls = &gather->nulls[side][column];

			*values = hg_gather_extend(*values, capacity * set->widths[column], context);
			*nulls = hg_gather_extend(*nulls, capacity, context);
		}
	}
}

/* Where a column's values are from a match on. */
static inline void *
hg_gather_place(const HgGather *gather, int side, uint32 column, size_t first)
{
	return (char *) gather->values[side][column] + first * gather->columns[side]->widths[column];
}

void
hg_gather_ask(HgGather *gather, HgMatches *matches, size_t first)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgColumnSet *set = gather->columns[side];

		gather->has_matched[side] = false;
		for (uint32 column = 0; set != NULL && column < set->ncolumns; column++)
		{
			matches->values[side][column] = hg_gather_place(gather, side, column, first);
			matches->nulls[side][column] = gather->nulls[side][column] + first;
		}
	}
}

void
hg_gather_keep(HgGather *gather, const HgMatches *matches, size_t first)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgColumnSet *set = gather->columns[side];

		for (uint32 column = 0; set != NULL && column < set->ncolumns; column++)
		{
			uint8 *nulls = gather->nulls[side][column];
			bool *has_nulls = &gather->has_nulls[side][column];
			bool had_nulls = first > 0 && *has_nulls;

			*has_nulls = had_nulls || matches->has_nulls[side][column];
			/* bytes are written where there is a NULL: those before it, or behind */
			if (*has_nulls && !had_nulls)
				memset(nulls, 0, first);
			else if (*has_nulls && !matches->has_nulls[side][column])
				memset(nulls + first, 0, matches->count);
		}
	}
}

uint32
hg_gather_show(HgGather *gather, size_t first)
{
	uint32 gathered = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgColumnSet *set = gather->columns[side];
		HgMatchValues *matched = &gather->matched[side];

		gather->has_matched[side] = set != NULL;
		for (uint32 column = 0; set != NULL && column < set->ncolumns; column++)
		{
			matched->values[column] = hg_gather_place(gather, side, column, first);
			matched->nulls[column] =
				gather->has_nulls[side][column] ? gather->nulls[side][column] + first : NULL;
			gathered++;
		}
	}
	return gathered;
}
