/*-------------------------------------------------------------------------
 *
 * hg_row_filter.c
 *	  Prepares filters of graph replicas' rows for evaluation.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "hg_row_filter.h"

/* ---------------------------------------------------------------------
 * Checks of filters of graph replicas' rows, common to all engines
 * ---------------------------------------------------------------------
 */

/* Returns true if a column has the rows that the filter selects from. */
static bool
has_column(const HgRowFilters *filters, const HgRowFilter *filter, uint32_t column)
{
	return column < filters->ncolumns && filters->columns[column].lookup == filter->lookup;
}

/* Returns true if values of a column fit signed integers of 64 bits. */
static bool
is_integer(const HgRowFilters *filters, uint32_t column, uint8_t is_signed)
{
	return is_signed == 1 ||
		   (is_signed == 0 && filters->columns[column].shape.width < sizeof(int64_t));
}

/* Returns true if a number exists and is computed from columns of the filter's rows. */
static bool
has_number(const HgRowFilters *filters, const HgRowFilter *filter, uint32_t number)
{
	const HgFilterNumber *computed;
	const HgStep *steps;

	if (number >= filters->nnumbers)
		return false;
	computed = &filters->numbers[number];
	if (computed->first > HG_MAX_FILTER_NUMBER_STEPS ||
		computed->count > HG_MAX_FILTER_NUMBER_STEPS - computed->first)
		return false;
	steps = filters->number_steps + computed->first;
	if (hg_steps_check(steps, computed->count, filters->ncolumns, NULL) != HG_OK)
		return false;
	for (uint32_t i = 0; i < computed->count; i++)
		if (steps[i].kind == HG_STEP_COLUMN &&
			(!has_column(filters, filter, steps[i].column) ||
			 !is_integer(filters, steps[i].column, steps[i].is_signed)))
			return false;
	return true;
}

/* Returns true if an operand, a column or a number, can be compared as a 64-bit integer. */
static bool
is_comparable(const HgRowFilters *filters, const HgRowFilter *filter, bool computed,
			  uint32_t number, uint8_t is_signed)
{
	if (computed)
		return is_signed == 1 && has_number(filters, filter, number);
	return has_column(filters, filter, number) && is_integer(filters, number, is_signed);
}

/* Returns true if the ranges of a step exist and ascend. */
static bool
has_ranges(const HgRowFilters *filters, const HgFilterStep *step)
{
	const HgFilterRange *ranges = filters->ranges + step->first;

	if (step->first > filters->nranges || step->count > filters->nranges - step->first)
		return false;
	for (uint32_t i = 0; i < step->count; i++)
		if (ranges[i].low > ranges[i].high || (i > 0 && ranges[i].low <= ranges[i - 1].high))
			return false;
	return true;
}

/* Checks one step by itself. */
static HgStatus
check_step(const HgRowFilters *filters, const HgRowFilter *filter, const HgFilterStep *step,
		   HgError *error)
{
	bool sane = true;

	if (step->kind >= HG_FILTER_KINDS)
		return hg_error_set(error, HG_INVALID, NULL, "unknown kind of a filter's step: %u",
							(unsigned) step->kind);
	if (!hg_filter_looks(step))
		return HG_OK;
	if (step->kind == HG_FILTER_IN)
		sane =
			step->computed <= HG_FILTER_COMPUTED && step->negated <= 1 && has_ranges(filters, step);
	else if (step->kind == HG_FILTER_ORDER)
		sane = step->computed <= (HG_FILTER_COMPUTED | HG_FILTER_OTHER_COMPUTED) &&
			   step->allowed <= (HG_FILTER_LESS | HG_FILTER_EQUAL | HG_FILTER_GREATER) &&
			   is_comparable(filters, filter, (step->computed & HG_FILTER_OTHER_COMPUTED) != 0,
							 step->other, step->is_signed);
	else
		sane = step->computed == 0 && has_column(filters, filter, step->column);
	if (step->kind <= HG_FILTER_ORDER)
		sane = sane && is_comparable(filters, filter, (step->computed & HG_FILTER_COMPUTED) != 0,
									 step->column, step->is_signed);
	return sane ? HG_OK
				: hg_error_set(error, HG_INVALID, NULL, "a filter compares values with none");
}

/* Checks one filter, whose steps are given. */
static HgStatus
check_filter(const HgRowFilters *filters, const HgRowFilter *filter, const HgFilterStep *steps,
			 HgError *error)
{
	uint32_t sets = 0;
	bool looks = false;

	for (uint32_t i = 0; i < filter->nsteps; i++)
	{
		HG_TRY(check_step(filters, filter, &steps[i], error));
		if (hg_filter_takes(&steps[i]) > sets)
			return hg_error_set(error, HG_INVALID, NULL, "a step takes sets that no one left");
		sets += 1 - hg_filter_takes(&steps[i]);
		if (sets > HG_MAX_FILTER_SETS)
			return hg_error_set(error, HG_INVALID, NULL, "steps leave too many sets");
		looks |= hg_filter_looks(&steps[i]);
	}
	/* only its columns tell the ordinals of rows */
	return sets == 1 && looks ? HG_OK
							  : hg_error_set(error, HG_INVALID, NULL,
											 "a filter is to leave one set, by what columns have");
}

HgStatus
hg_row_filters_check(const HgRowFilters *filters, uint32_t nlookups, HgError *error)
{
	uint32_t nsteps = 0;
	HgStatus status = HG_OK;

	if (filters->nfilters > HG_MAX_FILTERS || filters->ncolumns > HG_MAX_FILTER_COLUMNS ||
		filters->nranges > HG_MAX_FILTER_RANGES || filters->nnumbers > HG_MAX_FILTER_NUMBERS)
		return hg_error_set(error, HG_INVALID, NULL, "a side has too many filters");
	for (uint32_t i = 0; i < filters->nfilters && status == HG_OK; i++)
	{
		const HgRowFilter *filter = &filters->filters[i];

		if (filter->lookup > nlookups ||
			(i > 0 && filter->lookup <= filters->filters[i - 1].lookup))
			return hg_error_set(error, HG_INVALID, NULL, "a filter is of no rows, or the second");
		if (filter->nsteps > HG_MAX_FILTER_STEPS - nsteps)
			return hg_error_set(error, HG_INVALID, NULL, "filters have too many steps");
		status = check_filter(filters, filter, filters->steps + nsteps, error);
		nsteps += filter->nsteps;
	}
	return status;
}

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
