/*-------------------------------------------------------------------------
 *
 * hg_join_gather.c
 *	  Late materialisation on a device: columns are sent there and come back with the matches.
 *
 * A joined row gathers its values from the column store of its side, by row number, all over
 * memory.  If the columns of a side are of fixed width and by value, a device can have them beside
 * the keys and gather them in the order of the matches.  The matcher decides whether that takes
 * less time.  The values stay in the store as well, for rows without a match or key, and for
 * matches of the CPU, which may take over at any time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_values.h"
#include "executor/join/hg_join_gather.h"

struct HgJoinGather
{
	HgUploadColumns upload[2]; /* by HgSide */
	HgColumnSet sets[2];	   /* without columns if the side's cannot be sent */
};

/* HgColumnSet.read for a column store */
static uint64
hg_join_read_column(void *arg, uint32 column, uint64 row, uint64 rows, const void **values,
					const uint8 **nulls)
{
	HgUploadColumns *upload = arg;
	bool any_null;
	int run;

	if (upload->nulls == NULL)
		upload->nulls = MemoryContextAlloc(upload->context, HG_RUN_ROWS * sizeof(bool));
	run = hg_column_store_run(upload->input->held.rows, upload->columns[column], row, rows, values,
							  upload->nulls, &any_null);
	*nulls = any_null ? (const uint8 *) upload->nulls : NULL;
	return (uint64) run;
}

void
hg_join_init_upload_columns(const HgInput *input, HgUploadColumns *upload, HgColumnSet *set)
{
	upload->input = input;
	upload->context = CurrentMemoryContext;
	set->read = hg_join_read_column;
	set->arg = upload;
}

bool
hg_join_add_column(HgUploadColumns *upload, HgColumnSet *set, int stored, uint8 width,
				   uint32 *column)
{
	*column = 0;
	while (*column < set->ncolumns && upload->columns[*column] != stored)
		(*column)++;
	if (*column < set->ncolumns)
		return true;
	if (*column == HG_MAX_COLUMNS)
		return false;
	upload->columns[*column] = stored;
	set->widths[*column] = width;
	set->ncolumns++;
	return true;
}

bool
hg_join_can_upload_values(const HgInput *input, int stored)
{
	return input->held.rows->columns[stored].attbyval;
}

HgJoinGather *
hg_join_gather_create(const HgJoinRules *rules, HgInput *const inputs[2])
{
	HgJoinGather *gather;

	if (!rules->return_matched && rules->join_qual == NULL)
		return NULL;
	gather = palloc0(sizeof(HgJoinGather));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgColumnSet *set = &gather->sets[side];
		bool possible = true;
		uint32 column;

		hg_join_init_upload_columns(inputs[side], &gather->upload[side], set);
		for (int stored = 0; stored < inputs[side]->held.ncolumns && possible; stored++)
			possible = hg_join_can_upload_values(inputs[side], stored) &&
					   hg_join_add_column(&gather->upload[side], set, stored,
										  (uint8) inputs[side]->held.rows->columns[stored].attlen,
										  &column);
		if (!possible)
			set->ncolumns = 0;
	}
	return gather;
}

const HgColumnSet *
hg_join_gathered_columns(const HgJoinGather *gather, HgSide side)
{
	return gather != NULL && gather->sets[side].ncolumns > 0 ? &gather->sets[side] : NULL;
}

bool
hg_join_take_gathered(const HgJoinGather *gather, const HgMatcher *matcher, HgSide side,
					  size_t first, const uint16 *which, int count, HgBatch *batch)
{
	const HgMatchValues *matched = hg_matcher_values(matcher, side);
	const HgColumnSet *set;

	if (matched == NULL)
		return false;
	/* the set has the store's columns, in its order */
	set = &gather->sets[side];
	for (uint32 column = 0; column < set->ncolumns; column++)
	{
		const char *values = matched->values[column];
		const uint8 *nulls = matched->nulls[column];
		int at = gather->upload[side].input->held.to[column];

		values += first * set->widths[column];
		if (which != NULL)
			hg_values_gather(set->widths[column], values, which, count, batch->values[at]);
		else
			hg_values_load(set->widths[column], values, count, batch->values[at]);
		batch->has_nulls[at] = nulls != NULL;
		for (int i = 0; nulls != NULL && i < count; i++)
			batch->nulls[at][i] = nulls[first + (which != NULL ? which[i] : i)] != 0;
	}
	return true;
}
