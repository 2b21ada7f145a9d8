/*-------------------------------------------------------------------------
 *
 * hg_row_filter.c
 *	  Prepares filters of graph replicas' rows for evaluation.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_row_filter.h"

#include <string.h>

/* Returns the index of the first step of a side's filter of this number. */
static uint32_t
first_step(const HgRowFilters *filters, uint32_t number)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < number; i++)
		first += filters->filters[i].nsteps;
	return first;
}

bool
hg_filter_test_init(HgFilterTest *test, const HgRowFilters *filters, uint32_t lookup)
{
	const HgRowFilter *filter = hg_row_filter_find(filters, lookup);

	if (filter == NULL)
		return false;
	memset(test, 0, sizeof(*test));
	test->nsteps = filter->nsteps;
	test->stride = hg_row_filter_stride(filters, lookup);
	memcpy(test->steps,
		   filters->steps + first_step(filters, (uint32_t) (filter - filters->filters)),
		   filter->nsteps * sizeof(*test->steps));
	memcpy(test->ranges, filters->ranges, filters->nranges * sizeof(*test->ranges));
	memcpy(test->numbers, filters->numbers, sizeof(test->numbers));
	memcpy(test->number_steps, filters->number_steps, sizeof(test->number_steps));
	for (uint32_t i = 0; i < filters->ncolumns; i++)
		test->columns[i].width = filters->columns[i].shape.width;
	return true;
}
