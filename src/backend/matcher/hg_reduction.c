/*-------------------------------------------------------------------------
 *
 * hg_reduction.c
 *	  Columns of a job, and groups that the engine makes of its matches instead of returning them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "backend/matcher/hg_reduction.h"

/* Groups counted between two checks for interrupts. */
#define HG_GROUPS_AT_ONCE 65536

HgStatus
hg_column_set_append(const HgColumnSet *set, HgEngine *engine, HgJob *job, HgSide side,
					 uint64 first_row, uint64 rows, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32 column = 0; set != NULL && column < set->ncolumns; column++)
		for (uint64 done = 0; done < rows && status == HG_OK;)
		{
			const void *values;
			const uint8 *nulls;
			uint64 run =
				set->read(set->arg, column, first_row + done, rows - done, &values, &nulls);

			status = engine->columns->append_column(job, side, column, values, nulls, run,
													first_row + done, error);
			done += run;
		}
	return status;
}

HgStatus
hg_reduction_fetch(const HgReduction *reduction, HgEngine *engine, HgJob *job, HgMatchMode mode,
				   MemoryContext context, HgGroupSet *groups, HgError *error)
{
	const uint32 words = hg_reduce_words(&reduction->spec);
	uint64 total = 0;
	HgStatus status = engine->columns->reduce(job, mode, &reduction->spec, &total, error);

	memset(groups, 0, sizeof(*groups));
	if (status != HG_OK)
		return status;
	groups->too_many = total == HG_TOO_MANY_GROUPS;
	if (groups->too_many || total == 0)
		return HG_OK;
	/* total is at most spec.max_groups (hg_wire_answer.c), and each call returns some of them */
	groups->words = MemoryContextAllocHuge(context, total * words * sizeof(uint64));
	while (groups->count < total)
	{
		HgGroupRecords records = {groups->words + groups->count * words, total - groups->count, 0};

		status = engine->columns->next_groups(job, &records, error);
		if (status != HG_OK)
			return status;
		groups->count += records.count;
	}
	for (uint64 i = 0; i < total; i++)
	{
		if (i % HG_GROUPS_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		groups->pairs += groups->words[i * words + reduction->spec.nkeys + 1];
	}
	return HG_OK;
}

void
hg_column_set_fill_spec(const HgColumnSet *set, HgSide side, HgJobSpec *spec)
{
	spec->sides[side].ncolumns = set->ncolumns;
	memcpy(spec->sides[side].column_width, set->widths, set->ncolumns);
}

void
hg_reduction_fill_spec(const HgReduction *reduction, HgJobSpec *spec)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_column_set_fill_spec(&reduction->columns[side], (HgSide) side, spec);
}

size_t
hg_column_set_bytes(const HgColumnSet *set)
{
	size_t bytes = 0;

	for (uint32 column = 0; set != NULL && column < set->ncolumns; column++)
		bytes += set->widths[column] + 1;
	return bytes;
}

double
hg_reduction_bytes(const HgReduction *reduction, uint64 outer_rows, uint64 inner_rows)
{
	double bytes = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32 column = 0; column < reduction->columns[side].ncolumns; column++)
			bytes += (double) (side == HG_OUTER ? outer_rows : inner_rows) *
					 reduction->columns[side].widths[column];
	return bytes;
}
