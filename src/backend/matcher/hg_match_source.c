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
#include "engine/cpu/hg_cpu.h"
#include "engine/hg_lookup.h"
#include "hg_guc.h"
#include "tables/hg_table_cpu.h"

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
	 * million unique inner rows, whether or not these fit a near cache
	 * (docs/benchmarks/hash-tables.md).
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

/* ---------------------------------------------------------------------
 * What all match sources with an engine job have in common
 * ---------------------------------------------------------------------
 */

/* Matches taken from the engine at a time: bounds, and the part of the rows of the larger side. */
#define HG_LEAST_CHUNK 1024
#define HG_LARGEST_CHUNK 65536
#define HG_CHUNK_PART 4

/* Memory that a chunk of matches may take with values. */
#define HG_CHUNK_BYTES (4 * 1024 * 1024)

/* Returns the CPU engine, whose jobs may have their inner rows in a table. */
static HgEngine *
hg_match_job_cpu_engine(void)
{
	static HgLookup lookup;

	if (lookup.graphs == NULL)
		hg_lookup_init(&lookup, hg_cpu_engine(), hg_table_cpu());
	return &lookup.engine;
}

HgMatchSource *
hg_match_job_create_on_cpu(HgMatchTask *task, const HgMatchSourceOps *ops)
{
	const HgMatchColumns none = {0};
	HgMatchJob *job = hg_match_source_create(task, ops, &none, sizeof(HgMatchJob));

	job->engine = hg_match_job_cpu_engine();
	hg_host_set_timeout(&task->host, -1);
	task->report.device[0] = '\0';
	return &job->source;
}

HgStatus
hg_match_job_open(HgMatchSource *source, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;
	HgJobSpec spec;

	hg_match_source_fill_spec(source, &spec);
	return job->engine->open(job->engine, &source->task->host.host, &spec, &job->job, error);
}

/* Gives the job the keys and columns of a side. */
static HgStatus
hg_match_job_append(HgMatchJob *job, HgSide side, HgError *error)
{
	const HgMatchSource *source = &job->source;
	const HgKeySet *set = &source->task->sides[side];
	const HgKeyBitmap *bits = side == HG_INNER ? source->task->spec.inner_bits : NULL;
	HgStatus status = HG_OK;

	if (bits != NULL)
		return job->engine->local->append_bits(job->job, bits, error);

	for (int i = 0; i < set->npieces && status == HG_OK; i++)
		status = job->engine->join->append(job->job, side, set->pieces[i].keys,
										   set->pieces[i].count, error);
	if (status == HG_OK)
		status = hg_column_set_append(source->reduction != NULL ? &source->reduction->columns[side]
																: source->gather.columns[side],
									  job->engine, job->job, side, 0, set->rows, error);
	return status;
}

/* Measures the task's table. */
static HgStatus
hg_match_job_measure(HgMatchJob *job, HgError *error)
{
	HgMatchTask *task = job->source.task;
	HgStatus status;

	/* measuring takes an unknown time */
	hg_host_set_timeout(&task->host, -1);
	status = job->engine->measure->measure_table(job->job, &task->measure, error);
	task->measured = status == HG_OK || status == HG_INVALID;
	task->unmeasurable.status = HG_OK;
	if (status == HG_INVALID)
		task->unmeasurable = *error;
	return task->measured ? HG_OK : status;
}

HgStatus
hg_match_job_build(HgMatchSource *source, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;
	HgStatus status = HG_OK;

	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK && !job->filled; side++)
		status = hg_match_job_append(job, (HgSide) side, error);
	if (status == HG_OK && source->task->spec.trial != NULL)
		status = hg_match_job_measure(job, error);
	else if (status == HG_OK)
		status = job->engine->join->build(job->job, error);
	return status;
}

/* Prepares an empty block for a chunk of matches with their values. */
static void
hg_match_job_reserve(HgMatchJob *job)
{
	HgMatchTask *task = job->source.task;
	const HgGather *gather = &job->source.gather;
	/* streamed rows come in batches, and most have few matches */
	const uint64 rows = task->spec.streamed_rows > 0
							? HG_LEAST_CHUNK
							: Max(task->sides[HG_OUTER].rows, task->sides[HG_INNER].rows);
	const uint64 most = Min(HG_LARGEST_CHUNK, HG_CHUNK_BYTES / hg_gather_match_bytes(gather));

	if (job->block == NULL)
		job->block = hg_match_block_create(
			gather, Max(HG_LEAST_CHUNK, Min(rows / HG_CHUNK_PART, most)), task->context);
	job->block->all.count = 0;
}

bool
hg_match_job_next_rest(HgMatchJob *job, const HgMatches **matches)
{
	HgMatches *all;

	hg_match_job_reserve(job);
	all = &job->block->all;
	all->count =
		hg_emitted_next_rest(&job->source.task->emitted, all->outer, all->inner, all->capacity);
	*matches = all;
	return all->count > 0;
}

/* HgMatches.is_finished for the job's row numbers. */
static bool
hg_match_job_row_is_finished(void *arg, uint32_t outer_row)
{
	const HgMatcherSpec *spec = arg;

	return spec->is_finished(spec->finished_arg, outer_row + spec->first_row[HG_OUTER]);
}

/* Fetches one chunk of the engine's stream. */
static HgStatus
hg_match_job_fetch(HgMatchJob *job, HgError *error)
{
	HgMatchSource *source = &job->source;
	HgMatches chunk;
	HgStatus status = HG_OK;

	hg_match_job_reserve(job);
	hg_match_block_rest(job->block, &source->gather, &chunk);
	if (source->task->spec.is_finished != NULL)
	{
		chunk.is_finished = hg_match_job_row_is_finished;
		chunk.finished_arg = &source->task->spec;
	}
	if (!job->streaming)
		status = job->engine->join->match(job->job, source->task->spec.mode, error);
	if (status != HG_OK)
		return status;
	job->streaming = true;
	status = job->engine->join->next(job->job, &chunk, error);
	if (status == HG_OK && chunk.count > 0)
		hg_match_block_add(job->block, &source->gather, &chunk);
	return status;
}

HgStatus
hg_match_job_next_new(HgMatchJob *job, const HgMatches **matches, HgError *error)
{
	HgMatchTask *task = job->source.task;
	HgStatus status = hg_match_job_fetch(job, error);

	while (status == HG_OK && job->block->all.count > 0)
	{
		HgMatches *all = &job->block->all;

		/* the values need not move: a source that continues a stream has no columns */
		all->count = hg_emitted_filter(&task->emitted, all->outer, all->inner, all->count);
		if (all->count > 0)
		{
			*matches = hg_match_source_show(&job->source, job->block);
			return HG_OK;
		}
		status = hg_match_job_fetch(job, error);
	}
	*matches = NULL;
	return status;
}

HgStatus
hg_match_job_next(HgMatchSource *source, const HgMatches **matches, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;

	if (hg_match_job_next_rest(job, matches))
		return HG_OK;
	return hg_match_job_next_new(job, matches, error);
}

HgStatus
hg_match_job_renew(HgMatchSource *source, const void *keys, uint64 count, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;

	job->streaming = false;
	return job->engine->local->renew(job->job, keys, count, error);
}

void
hg_match_job_rewind(HgMatchSource *source)
{
	HgMatchJob *job = (HgMatchJob *) source;

	job->streaming = false;
}

HgStatus
hg_match_job_count(HgMatchSource *source, uint64 *matches, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;

	return job->engine->join->count(job->job, source->task->spec.mode, matches, error);
}

HgStatus
hg_match_job_describe(HgMatchSource *source, HgSide side, HgGraphStats *stats, HgError *error)
{
	HgMatchJob *job = (HgMatchJob *) source;

	return job->engine->join->describe(job->job, side, stats, error);
}

void
hg_match_job_report(HgMatchSource *source, HgJobStats *stats)
{
	HgMatchJob *job = (HgMatchJob *) source;

	if (job->job != NULL)
		job->engine->join->stats(job->job, stats);
}

void
hg_match_job_close(HgMatchSource *source)
{
	HgMatchJob *job = (HgMatchJob *) source;
	HgJob *open = job->job;

	job->job = NULL;
	if (open != NULL)
		job->engine->join->close(open);
	if (job->block != NULL)
		hg_match_block_destroy(job->block);
	job->block = NULL;
}

/* ---------------------------------------------------------------------
 * Match source: a job of this process on the CPU
 * ---------------------------------------------------------------------
 */

static const HgMatchSourceOps hg_match_cpu_ops = {
	.backend = "cpu",
	.open = hg_match_job_open,
	.build = hg_match_job_build,
	.next = hg_match_job_next,
	.renew = hg_match_job_renew,
	.rewind = hg_match_job_rewind,
	.count = hg_match_job_count,
	.describe = hg_match_job_describe,
	.report = hg_match_job_report,
	.close = hg_match_job_close,
};

/* The matcher's caller measures a table that no device has measured. */
static const HgMatchSourceOps hg_match_cpu_table_ops = {
	.backend = "cpu",
	.open = hg_match_source_pass,
	.build = hg_match_source_pass,
	.report = hg_match_job_report,
	.close = hg_match_job_close,
};

HgMatchSource *
hg_match_cpu_create(HgMatchTask *task)
{
	return hg_match_job_create_on_cpu(task, task->spec.trial != NULL ? &hg_match_cpu_table_ops
																	 : &hg_match_cpu_ops);
}
