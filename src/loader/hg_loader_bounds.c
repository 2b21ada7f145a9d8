/*-------------------------------------------------------------------------
 *
 * hg_loader_bounds.c
 *	  Computes the least and the greatest value of a segment's column.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_batch.h"
#include "batch/hg_value_order.h"
#include "batch/hg_values.h"
#include "loader/hg_loader_bounds.h"

/* Extends bounds by the integers of n rows from first on. */
static void
hg_bounds_extend(HgSegmentBounds *bounds, const int64 *integers, const uint64 *valid, uint32 first,
				 int n)
{
	int64 least = bounds->least;
	int64 greatest = bounds->greatest;

	for (int i = 0; i < n; i++)
	{
		uint32 row = first + i;

		/* NULL rows have a value of zeroes */
		if (valid != NULL && (valid[row / 64] >> (row % 64) & 1) == 0)
			continue;
		bounds->all_nulls = false;
		least = Min(least, integers[i]);
		greatest = Max(greatest, integers[i]);
	}
	bounds->least = least;
	bounds->greatest = greatest;
}

/* Computes the integers that n rows compare as, or their scaled integers. */
static void
hg_bounds_integers(const HgSegmentColumnData *column, HgValueOrder order, uint32 first, int n,
				   int64 *integers)
{
	const char *values = column->parts[HG_PART_VALUES].array;
	Datum datums[HG_BATCH_ROWS];

	if (column->form.encoding == HG_ENCODING_SCALED)
	{
		for (int i = 0; i < n; i++)
			integers[i] = hg_segment_integer(column->form.width, values, first + i);
		return;
	}
	hg_values_load(column->form.width, values + (Size) first * column->form.width, n, datums);
	hg_order_integers(order, column->form.width, datums, n, integers);
}

HgSegmentBounds
hg_bounds_create(const HgSegmentColumnData *column, uint32 nrows)
{
	const uint64 *valid = column->parts[HG_PART_VALID].array;
	HgValueOrder order = hg_value_order(column->column.type);
	HgSegmentBounds bounds = {.known = column->form.encoding == HG_ENCODING_SCALED ||
									   (column->column.by_value && hg_order_is_integer(order)),
							  .all_nulls = true,
							  .least = PG_INT64_MAX,
							  .greatest = PG_INT64_MIN};

	if (!bounds.known)
	{
		for (uint32 row = 0; bounds.all_nulls && row < nrows; row++)
			bounds.all_nulls = valid != NULL && !hg_segment_bit(valid, row);
		return bounds;
	}
	for (uint32 first = 0; first < nrows; first += HG_BATCH_ROWS)
	{
		int n = (int) Min(nrows - first, HG_BATCH_ROWS);
		int64 integers[HG_BATCH_ROWS];

		hg_bounds_integers(column, order, first, n, integers);
		hg_bounds_extend(&bounds, integers, valid, first, n);
	}
	return bounds;
}
