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
