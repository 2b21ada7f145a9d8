/*-------------------------------------------------------------------------
 *
 * hg_host_filter.c
 *	  Filters of graph replicas' rows, in host memory, by the plainest means.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_filter.h"

/* Rows of a part between two looks at whether the job was cancelled. */
#define CHECKED_ROWS 65536

/* The same of the rows of a lookup, as HgRowFilter has it; where it has none nothing is done. */
static HgStatus
apply(const HgHostFilters *filters, uint32_t lookup, HgHostMask *mask, const HgHost *host,
	  HgError *error)
{
	HgFilterTest test;
	HgStatus status = HG_OK;
	bool computes;
	bool lost = false;

	if (!hg_filter_test_init(&test, &filters->filters, lookup))
		return HG_OK;
	computes = hg_filter_computes(&test);
	for (uint32_t i = 0; i < filters->filters.ncolumns; i++)
	{
		test.columns[i].values = filters->columns[i]->values;
		test.columns[i].nulls = filters->columns[i]->nulls;
	}
	for (uint32_t part = 0; part < mask->shape.parts; part++)
		for (uint32_t number = 0; number < test.stride; number++)
		{
			const uint32_t row = HG_FLAT_ROW(part, number);

			if (number % CHECKED_ROWS == 0)
				status = hg_host_check_cancel(host, error);
			if (status != HG_OK)
				return status;
			if (hg_host_mask_has(mask, row) &&
				!hg_filter_holds(&test, computes, hg_replica_ordinal(test.stride, row), &lost))
				mask->words[row / 64] &= ~(UINT64_C(1) << row % 64);
		}
	return lost ? hg_error_set(error, HG_OVERFLOW, NULL,
							   "a number that a filter computes does not fit")
				: HG_OK;
}

HgStatus
hg_host_filters_apply(const HgHostFilters *filters, HgHostMask *mask, HgHostLookups *lookups,
					  const HgHost *host, HgError *error)
{
	HgStatus status = apply(filters, 0, mask, host, error);

	for (uint32_t i = 0; i < lookups->count && status == HG_OK; i++)
		status = apply(filters, i + 1, &lookups->lookups[i].mask, host, error);
	return status;
}
