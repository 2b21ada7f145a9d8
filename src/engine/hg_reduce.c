/*-------------------------------------------------------------------------
 *
 * hg_reduce.c
 *	  What can be asked of the matches of a job.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_reduce.h"

static bool
column_exists(const HgJobSpec *job, const HgReduceColumn *column)
{
	return (column->side == HG_OUTER || column->side == HG_INNER) &&
		   column->column < job->ncolumns[column->side] && column->is_signed <= 1;
}

HgStatus
hg_matches_check(const HgJobSpec *job, const HgMatches *matches, HgError *error)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < HG_MAX_COLUMNS; column++)
		{
			const bool wanted = matches->values[side][column] != NULL;

			if (wanted && column >= job->ncolumns[side])
				return hg_error_set(error, HG_INVALID, NULL, "there is no such column to gather");
			if (wanted != (matches->nulls[side][column] != NULL))
				return hg_error_set(error, HG_INVALID, NULL,
									"values need room for their NULLs, and these for values");
		}
	return HG_OK;
}

HgStatus
hg_reduce_check(const HgJobSpec *job, const HgReduceSpec *spec, HgError *error)
{
	if (spec->nkeys > HG_MAX_REDUCE_KEYS || spec->nitems > HG_MAX_REDUCE_ITEMS)
		return hg_error_set(error, HG_INVALID, NULL, "too many keys or items of groups");
	if (spec->max_groups == 0)
		return hg_error_set(error, HG_INVALID, NULL, "no group may be made");
	for (uint32_t i = 0; i < spec->nkeys; i++)
		if (!column_exists(job, &spec->keys[i]))
			return hg_error_set(error, HG_INVALID, NULL, "there is no such column to group by");
	for (uint32_t i = 0; i < spec->nitems; i++)
	{
		if (spec->items[i].kind > HG_REDUCE_MAX)
			return hg_error_set(error, HG_INVALID, NULL, "unknown kind of reduction: %u",
								spec->items[i].kind);
		if (!column_exists(job, &spec->items[i].argument))
			return hg_error_set(error, HG_INVALID, NULL, "there is no such column to reduce");
	}
	return HG_OK;
}
