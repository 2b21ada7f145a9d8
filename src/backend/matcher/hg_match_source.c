/*-------------------------------------------------------------------------
 *
 * hg_match_source.c
 *	  What all match sources have in common, with or without an engine job.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "backend/matcher/hg_match_source.h"
#include "backend/matcher/hg_upload.h"
#include "hg_guc.h"

void *
hg_match_source_create(HgMatchTask *task, const HgMatchSourceOps *ops,
					   const HgMatchColumns *columns, Size bytes)
{
	HgMatchSource *source = MemoryContextAllocZero(task->context, bytes);

	source->ops = ops;
	source->task = task;
	source->reduction = columns->reduction;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		source->gather.columns[side] = columns->gathered[side];
	task->report.gathered = 0;
	return source;
}

void
hg_match_source_destroy(HgMatchSource *source)
{
	source->ops->close(source);
	pfree(source);
}

HgStatus
hg_match_source_pass(HgMatchSource *source pg_attribute_unused(),
					 HgError *error pg_attribute_unused())
{
	return HG_OK;
}

void
hg_match_source_fill_spec(const HgMatchSource *source, HgJobSpec *spec)
{
	const HgMatchTask *task = source->task;
	const bool on_device = source->ops->on_device;

	hg_matcher_init_spec(spec, task->spec.key_width, source->reduction, on_device);
	spec->shape.direct = task->spec.direct && !on_device && hg_table == HG_TABLE_AUTO;
	/*
	 * Under auto no table: none was faster than the graph that a join builds, from 100,000 to 3
	 * million unique inner rows, whether or not these fit a near cache (docs/tables.md).
	 */
	spec->shape.table =
		on_device || hg_table == HG_TABLE_AUTO ? HG_TABLE_CSR : (HgTableKind) hg_table;
	spec->first_only = task->spec.mode == HG_MATCH_FIRST;
	spec->shape.direct_limit = task->spec.direct_limit;
	spec->streamed = task->spec.streamed_rows > 0;
	/* a replacement on the CPU would need the inner rows to skip returned matches */
	spec->outer_only = spec->streamed && task->spec.unread[HG_INNER];
	if (on_device && task->spec.trial != NULL)
		spec->product = (HgJobProduct){HG_PRODUCT_TABLE, .trial = task->spec.trial};
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec->sides[side].expected_rows =
			side == HG_OUTER && spec->streamed ? task->spec.streamed_rows : task->sides[side].rows;
		if (source->gather.columns[side] != NULL)
			hg_column_set_fill_spec(source->gather.columns[side], (HgSide) side, spec);
	}
}

const HgMatches *
hg_match_source_show(HgMatchSource *source, const HgMatchBlock *block)
{
	source->task->report.gathered = hg_gather_show(&source->gather, block);
	return &block->all;
}

void
hg_match_task_end_upload(HgMatchTask *task)
{
	if (task->spec.upload != NULL)
		hg_upload_cancel(task->spec.upload);
	task->spec.upload = NULL;
}

/* ---------------------------------------------------------------------
 * A list of matches that are stored in blocks until they are returned
 * ---------------------------------------------------------------------
 */

HgMatchBlock *
hg_match_list_reserve(HgMatchList *list, size_t capacity)
{
	HgMatchBlock *block = list->last;

	if (block != NULL && block->all.count < block->all.capacity)
		return block;
	block = hg_match_block_create(list->gather, capacity, list->context);
	if (list->last == NULL)
		list->first = block;
	else
		list->last->next = block;
	list->last = block;
	return block;
}

void
hg_match_list_clear(HgMatchList *list)
{
	while (list->first != NULL)
	{
		HgMatchBlock *block = list->first;

		list->first = block->next;
		hg_match_block_destroy(block);
	}
	list->last = NULL;
	list->next = NULL;
}

void
hg_match_list_rewind(HgMatchList *list)
{
	list->next = list->first;
}

const HgMatchBlock *
hg_match_list_next(HgMatchList *list)
{
	const HgMatchBlock *block = list->next;

	/* the last block may have been created without getting any matches */
	if (block == NULL || block->all.count == 0)
		return NULL;
	list->next = block->next;
	return block;
}

uint64
hg_match_list_bytes(const HgMatchList *list)
{
	uint64 bytes = 0;

	for (const HgMatchBlock *block = list->first; block != NULL; block = block->next)
		bytes += block->all.capacity * hg_gather_match_bytes(list->gather);
	return bytes;
}
