/*-------------------------------------------------------------------------
 *
 * hg_reduce.c
 *	  Checks of requests for columns and groups, and of group records.
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
		   column->column < job->sides[column->side].ncolumns && column->is_signed <= 1;
}

HgStatus
hg_matches_check(const HgJobSpec *job, const HgMatches *matches, HgError *error)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < HG_MAX_COLUMNS; column++)
		{
			const bool wanted = matches->values[side][column] != NULL;

			if (wanted && column >= job->sides[side].ncolumns)
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
		return hg_error_set(error, HG_INVALID, NULL, "the maximum number of groups is 0");
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

/* Returns true if value can be a value of the column, widened. */
static bool
is_widened(const HgJobSpec *job, const HgReduceColumn *column, uint64_t value)
{
	const unsigned bits = 8 * job->sides[column->side].column_width[column->column];
	const uint64_t high = bits < 64 ? value >> (bits - 1) : 0;

	/* in a signed value, all bits from its sign on are equal */
	if (column->is_signed)
		return high == 0 || high == UINT64_MAX >> (bits - 1);
	return high <= 1;
}

/* Returns true if count values of the column can have this sum. */
static bool
is_sum(const HgJobSpec *job, const HgReduceColumn *column, uint64_t count, const uint64_t *words)
{
	const unsigned bits = 8 * job->sides[column->side].column_width[column->column];
	const unsigned __int128 sum = (unsigned __int128) words[1] << 64 | words[0];
	const unsigned __int128 one = 1;

	if (!column->is_signed)
		return sum <= count * ((one << bits) - 1);
	/* sum and bounds are moved up, so that the least possible sum becomes 0 */
	return sum + count * (one << (bits - 1)) <= count * ((one << bits) - 1);
}

bool
hg_reduce_record_check(const HgJobSpec *job, const HgReduceSpec *spec, const uint64_t *record)
{
	const uint64_t nulls = record[spec->nkeys];
	const uint64_t pairs = record[spec->nkeys + 1];

	if (nulls >> spec->nkeys != 0 || (spec->nkeys > 0 && pairs == 0))
		return false;
	for (uint32_t i = 0; i < spec->nkeys; i++)
		if ((nulls >> i & 1) != 0 ? record[i] != 0 : !is_widened(job, &spec->keys[i], record[i]))
			return false;
	record += spec->nkeys + 2;
	for (uint32_t i = 0; i < spec->nitems; i++)
	{
		const HgReduceItem *item = &spec->items[i];
		const uint64_t count = record[0];

		if (count > pairs)
			return false;
		if (item->kind == HG_REDUCE_SUM && !is_sum(job, &item->argument, count, record + 1))
			return false;
		if ((item->kind == HG_REDUCE_MIN || item->kind == HG_REDUCE_MAX) && count > 0 &&
			!is_widened(job, &item->argument, record[1]))
			return false;
		record += hg_reduce_item_words(item);
	}
	return true;
}
