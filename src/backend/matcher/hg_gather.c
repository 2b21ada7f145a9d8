/*-------------------------------------------------------------------------
 *
 * hg_gather.c
 *	  Columns of a job: their values come with its matches, or the engine makes groups of
 *	  these.
 *
 * A block of matches is one allocation: the row numbers, and behind them an array for each column.
 * NULL flags of a column are written only if a value of it is NULL, and then for all matches of
 * the block.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "backend/hg_memory.h"
#include "backend/matcher/hg_gather.h"

/* ---------------------------------------------------------------------
 * Columns of a job, and groups that the engine makes of its matches instead of returning them
 * ---------------------------------------------------------------------
 */

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

		HG_TRY(engine->columns->next_groups(job, &records, error));
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

/* Block capacities are multiples of this, so that arrays begin at cache lines. */
#define HG_BLOCK_ROUND 64

void
hg_gather_forget(HgGather *gather)
{
	memset(gather, 0, sizeof(*gather));
}

void
hg_gather_limit(HgGather *gather, uint64 pairs, uint64 bytes)
{
	const uint64 most = bytes / Max(pairs, 1);
	uint64 pair_bytes = 2 * sizeof(uint32);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const size_t value_bytes = hg_column_set_bytes(gather->columns[side]);

		if (pair_bytes + value_bytes <= most)
			pair_bytes += value_bytes;
		else
			gather->columns[side] = NULL;
	}
}

size_t
hg_gather_match_bytes(const HgGather *gather)
{
	return 2 * sizeof(uint32) + hg_column_set_bytes(gather->columns[HG_OUTER]) +
		   hg_column_set_bytes(gather->columns[HG_INNER]);
}

/* Returns an array from the front of *memory and moves *memory behind it. */
static void *
hg_match_block_cut(char **memory, size_t bytes)
{
	char *array = *memory;

	*memory += bytes;
	return array;
}

HgMatchBlock *
hg_match_block_create(const HgGather *gather, size_t capacity, MemoryContext context)
{
	HgMatchBlock *block = MemoryContextAllocZero(context, sizeof(HgMatchBlock));
	HgMatches *all = &block->all;
	char *memory;

	all->capacity = TYPEALIGN(HG_BLOCK_ROUND, capacity);
	memory = hg_block_alloc(context, all->capacity * hg_gather_match_bytes(gather));
	if (memory == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
						errdetail("Failed to allocate %zu bytes for the matches of a join.",
								  (size_t) (all->capacity * hg_gather_match_bytes(gather)))));
	all->outer = hg_match_block_cut(&memory, all->capacity * sizeof(uint32));
	all->inner = hg_match_block_cut(&memory, all->capacity * sizeof(uint32));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgColumnSet *set = gather->columns[side];

		for (uint32 column = 0; set != NULL && column < set->ncolumns; column++)
		{
			all->values[side][column] =
				hg_match_block_cut(&memory, all->capacity * set->widths[column]);
			all->nulls[side][column] = hg_match_block_cut(&memory, all->capacity);
		}
	}
	return block;
}

void
hg_match_block_destroy(HgMatchBlock *block)
{
	/* the start of the block's array memory */
	hg_block_free(block->all.outer);
	pfree(block);
}

void
hg_match_block_rest(const HgMatchBlock *block, const HgGather *gather, HgMatches *rest)
{
	const HgMatches *all = &block->all;

	memset(rest, 0, sizeof(*rest));
	rest->outer = all->outer + all->count;
	rest->inner = all->inner + all->count;
	rest->capacity = all->capacity - all->count;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgColumnSet *set = gather->columns[side];

		for (uint32 column = 0; set != NULL && column < set->ncolumns; column++)
		{
			rest->values[side][column] =
				(char *) all->values[side][column] + all->count * set->widths[column];
			rest->nulls[side][column] = all->nulls[side][column] + all->count;
		}
	}
}

void
hg_match_block_add(HgMatchBlock *block, const HgGather *gather, const HgMatches *rest)
{
	HgMatches *all = &block->all;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgColumnSet *set = gather->columns[side];

		for (uint32 column = 0; set != NULL && column < set->ncolumns; column++)
		{
			bool had_nulls = all->count > 0 && all->has_nulls[side][column];
			bool has_nulls = rest->has_nulls[side][column];

			if (has_nulls && !had_nulls)
				memset(all->nulls[side][column], 0, all->count);
			else if (had_nulls && !has_nulls)
				memset(all->nulls[side][column] + all->count, 0, rest->count);
			all->has_nulls[side][column] = had_nulls || has_nulls;
		}
	}
	all->count += rest->count;
}

uint32
hg_gather_show(HgGather *gather, const HgMatchBlock *block)
{
	const HgMatches *all = &block->all;
	uint32 gathered = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgColumnSet *set = gather->columns[side];
		HgMatchValues *matched = &gather->matched[side];

		gather->has_matched[side] = set != NULL;
		for (uint32 column = 0; set != NULL && column < set->ncolumns; column++)
		{
			matched->values[column] = all->values[side][column];
			matched->nulls[column] = all->has_nulls[side][column] ? all->nulls[side][column] : NULL;
			gathered++;
		}
	}
	return gathered;
}
