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

#include "backend/hg_device.h"
#include "backend/hg_gather.h"

/*
 * What it takes more to fetch a value by its row than in the order of the matches: where the
 * column's values are in a near cache, of so many bytes, and where they are not.  Measured with 4
 * million matches, values asked for ahead by batches, columns of 4 and 8 bytes: 1.3 to 2.1 ns up to
 * 1 MB, 6 to 9 ns for 4 to 16 MB, twice that and more beyond.
 */
#define HG_NEAR_VALUE_NS 2.0
#define HG_FAR_VALUE_NS 8.0
#define HG_NEAR_BYTES (2.0 * 1024 * 1024)

/* Does it pay for a side? */
static bool
hg_gather_pays(const HgEngineCosts *costs, uint32 key_width, const HgColumnSet *set, uint64 rows,
			   double pairs)
{
	double row_bytes = 0;
	double lookup_ns = 0;

	for (uint32 column = 0; column < set->ncolumns; column++)
	{
		double bytes = (double) rows * set->widths[column];
		double near_share = Min(1, HG_NEAR_BYTES / Max(bytes, 1));

		row_bytes += set->widths[column];
		lookup_ns += HG_FAR_VALUE_NS - near_share * (HG_FAR_VALUE_NS - HG_NEAR_VALUE_NS);
	}
	return hg_device_estimate_values(costs, key_width, set->ncolumns, row_bytes, rows, pairs) <
		   pairs * lookup_ns / 1e6;
}

void
hg_gather_choose(uint32 key_width, const HgColumnSet *const columns[2], const uint64 rows[2],
				 double pairs, const HgColumnSet *chosen[2])
{
	HgEngineCosts costs;
	bool known = hg_device_costs(&costs);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgColumnSet *set = columns[side];

		chosen[side] =
			known && set != NULL && hg_gather_pays(&costs, key_width, set, rows[side], pairs)
				? set
				: NULL;
	}
}

void
hg_gather_forget(HgGather *gather)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		gather->columns[side] = NULL;
		gather->has_matched[side] = false;
	}
}

size_t
hg_gather_bytes(const HgGather *gather)
{
	size_t bytes = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgColumnSet *set = gather->columns[side];

		for (uint32 column = 0; set != NULL && column < set->ncolumns; column++)
			bytes += set->widths[column] + 1;
	}
	return bytes;
}

void
hg_gather_reserve(HgGather *gather, size_t capacity, MemoryContext context)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgColumnSet *set = gather->columns[side];

		for (uint32 column = 0; set != NULL && column < set->ncolumns; column++)
		{
			gather->values[side][column] =
				MemoryContextAlloc(context, capacity * set->widths[column]);
			gather->nulls[side][column] = MemoryContextAlloc(context, capacity);
		}
	}
}

void
hg_gather_ask(HgGather *gather, HgMatches *matches)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		gather->has_matched[side] = false;
		if (gather->columns[side] == NULL)
			continue;
		memcpy(matches->values[side], gather->values[side], sizeof(matches->values[side]));
		memcpy(matches->nulls[side], gather->nulls[side], sizeof(matches->nulls[side]));
	}
}

uint32
hg_gather_take(HgGather *gather, const HgMatches *matches)
{
	uint32 gathered = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgColumnSet *set = gather->columns[side];
		HgMatchValues *matched = &gather->matched[side];

		gather->has_matched[side] = set != NULL;
		for (uint32 column = 0; set != NULL && column < set->ncolumns; column++)
		{
			matched->values[column] = matches->values[side][column];
			matched->nulls[column] =
				matches->has_nulls[side][column] ? matches->nulls[side][column] : NULL;
			gathered++;
		}
	}
	return gathered;
}
