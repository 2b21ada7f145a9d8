/*-------------------------------------------------------------------------
 *
 * hg_passes.c
 *	  An engine that runs a job which does not fit a device as partition passes.
 *
 * While a job runs whole, each call goes to the job of the wrapped engine, and the list of
 * appended arrays is kept, nothing more.  When the device refuses the job, that job is closed, and
 * the rows are joined in passes.  build begins a pass; match, count and describe begin another
 * unless they can use the one that build began.  A pass:
 *
 *	1. Rows are partitioned into ranges by the first bits of their hash (HG_PASSES_RANGE_BITS).  The
 *	   rows of each range are counted once.
 *	2. As many ranges are loaded as the buffers hold, about a quarter of the rows.  The keys
 *	   of both sides are read in row order, and the mixed keys and row numbers of these
 *	   ranges are written to the buffers, range by range.  If one range has more outer rows
 *	   than the buffer holds, they are loaded in several portions, while its inner rows stay.
 *	3. The load is divided into parts of consecutive ranges, without moving rows.  Each
 *	   part is given to a job of the device.  If the device has no memory for it, the part
 *	   is halved, and no later one is made as large.  A part of one range is split in place
 *	   by the first bit in which its mixed keys differ; if none differs, by the position of
 *	   the outer rows.
 *	4. When the part's job has finished, the next part is taken, or the next ranges or
 *	   portion are loaded.
 *
 * TWO JOBS.  If the wrapped engine is asynchronous (it has HgAheadCalls), a job for the next
 * part is opened before the device begins with a part, and filled while the device works.  Each
 * may use half of the memory limit.  The next part waits if it is not loaded yet, or if the
 * device refuses to have both.  The last resort for a key that does not fit is to try it without
 * another job, with all of the memory.
 *
 * COST.  The keys are read once to count them and once for each load.  Selecting the keys of a
 * load takes about a nanosecond each, and writing one to its range a few more.  The rest is
 * turning the mixed words into keys again, and sending them.
 *
 * All rows of one key are in one part of the inner side, and an outer row is in one part of the
 * outer side.  So the matches of an outer row come from one job, one after the other.
 *
 * ROTATION.  The keys of a part have the first bits of their mixed word in common, and these bits
 * choose the vertex.  With the real keys, all would share a few vertices and make long lists.
 * Therefore these bits (those of a range, if a part has several) are rotated to the end of the
 * mixed word.  The engine sees keys that are spread evenly and map one-to-one to the real keys.
 *
 *	hg_passes.c			the calls of hg_engine.h
 *	hg_passes_run.c		passes over the parts of a partitioned job
 *	hg_passes_parts.c	loading ranges and splitting parts
 *	hg_engine.c			memory, cancel
 *
 * Each file calls only those below it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_passes_run.h"
#include "hg_shape.h"
#include "hg_wrapped_job.h"

#include <string.h>

/* Appended arrays that the first append makes room for. */
#define FIRST_ARRAYS 16

typedef struct HgPassesJob
{
	HgPassState pass;
	bool refused; /* the device has no memory for the whole job */
	HgWrappedState state;
	bool partitioned;
} HgPassesJob;

static HgPassesJob *
job_of(HgJob *handle)
{
	return (HgPassesJob *) handle;
}

/* Returns true if a job has columns: only keys can be given to the device by ranges. */
static bool
must_run_whole(const HgJobSpec *spec)
{
	return spec->sides[HG_OUTER].ncolumns + spec->sides[HG_INNER].ncolumns > 0;
}

/* Returns HG_OK, or HG_INVALID if a job has no columns. */
static HgStatus
check_columns(const HgPassesJob *job, HgError *error)
{
	if (!must_run_whole(&job->pass.spec))
		return hg_error_set(error, HG_INVALID, NULL, "the job has no columns");
	return HG_OK;
}

/*
 * Handles the device's answer that it has no memory for the whole job: prepares partition passes
 * and sets *status to the result.  Returns true if the caller continues with passes.
 */
static bool
job_turns(HgPassesJob *job, HgStatus *status, HgError *error)
{
	if (*status != HG_DEVICE_OUT_OF_MEMORY || must_run_whole(&job->pass.spec))
		return false;
	job->partitioned = true;
	*status = hg_passes_prepare(&job->pass, error);
	return *status == HG_OK;
}

/* Creates a job without a job of the wrapped engine. */
static HgStatus
job_create(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgPassesJob **created,
		   HgError *error)
{
	void *memory;
	HgStatus status = hg_host_memory_alloc(host, sizeof(HgPassesJob), &memory, error);
	HgPassesJob *job = memory;

	if (status != HG_OK)
		return status;
	memset(job, 0, sizeof(*job));
	job->pass.passes = (HgPasses *) engine;
	job->pass.host = job->pass.parts.host = host;
	job->pass.spec = *spec;
	job->pass.spec.shape.direct = 0; /* one range might have dense keys, and the next not */
	job->pass.parts.key_width = spec->key_width;
	*created = job;
	return HG_OK;
}

static HgStatus
passes_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **handle,
			HgError *error)
{
	HgPassesJob *job;
	HgStatus status;

	HG_TRY(hg_spec_check_joins_rows(spec, error));
	HG_TRY(job_create(engine, host, spec, &job, error));
	status = hg_passes_run_open(&job->pass, &job->pass.now, &job->pass.spec, error);
	if (status == HG_DEVICE_OUT_OF_MEMORY && !must_run_whole(spec))
	{
		job->refused = true;
		status = HG_OK;
	}
	if (status != HG_OK)
	{
		hg_host_memory_free(host, job, sizeof(*job));
		return status;
	}
	*handle = (HgJob *) job;
	return HG_OK;
}

HgStatus
hg_passes_adopt(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob *open,
				HgJob **handle, HgError *error)
{
	HgPasses *passes = (HgPasses *) engine;
	HgEngine *target = passes->target(passes->arg);
	HgPassesJob *job;

	if (target == NULL)
		return hg_error_set(error, HG_CONNECTION_LOST, NULL, "the device process is gone");
	HG_TRY(job_create(engine, host, spec, &job, error));
	job->pass.now.calls = *target;
	job->pass.now.job = open;
	*handle = (HgJob *) job;
	return HG_OK;
}

/* Adds an appended array to the list of a side. */
static HgStatus
side_remember(HgPassesJob *job, HgPassSide *side, const void *keys, uint64_t count, HgError *error)
{
	if (side->array_count == side->array_capacity)
	{
		size_t capacity = side->array_capacity == 0 ? FIRST_ARRAYS : 2 * side->array_capacity;
		void *arrays;
		HgStatus status =
			hg_host_memory_alloc(job->pass.host, capacity * sizeof(HgPassArray), &arrays, error);

		if (status != HG_OK)
			return status;
		if (side->array_count > 0)
			memcpy(arrays, side->arrays, side->array_count * sizeof(HgPassArray));
		hg_host_memory_free(job->pass.host, side->arrays,
							side->array_capacity * sizeof(HgPassArray));
		side->arrays = arrays;
		side->array_capacity = capacity;
	}
	side->arrays[side->array_count].keys = keys;
	side->arrays[side->array_count].count = count;
	side->array_count++;
	side->rows += count;
	return HG_OK;
}

HgStatus
hg_passes_note(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	HgPassesJob *job = job_of(handle);

	return hg_wrapped_finish(&job->state,
							 side_remember(job, &job->pass.parts.sides[side], keys, count, error));
}

static HgStatus
passes_append(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	HgPassesJob *job = job_of(handle);
	HgStatus status;

	HG_TRY(hg_wrapped_check_usable(&job->state, error));
	if (job->state.built)
		return hg_error_set(error, HG_INVALID, NULL, "the job has been built already");
	HG_TRY(hg_wrapped_check_side(side, error));
	if (count == 0)
		return HG_OK;
	if (count >= HG_MAX_ROWS - job->pass.parts.sides[side].rows)
		return hg_wrapped_finish(&job->state, hg_error_set(error, HG_TOO_MANY_ROWS, NULL,
														   "too many rows in one side of a join"));

	status = side_remember(job, &job->pass.parts.sides[side], keys, count, error);
	if (status == HG_OK && !job->refused)
	{
		status = job->pass.now.calls.join->append(job->pass.now.job, side, keys, count, error);
		if (status == HG_DEVICE_OUT_OF_MEMORY && !must_run_whole(&job->pass.spec))
		{
			hg_passes_run_close(&job->pass, &job->pass.now, false);
			job->refused = true;
			status = HG_OK;
		}
	}
	return hg_wrapped_finish(&job->state, status);
}

/* The rows of a part get numbers of its own. */
static HgStatus
passes_append_rows(HgJob *handle, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
				   HgError *error)
{
	(void) handle;
	(void) side;
	(void) keys;
	(void) count;
	(void) first_row;
	return hg_error_set(error, HG_INVALID, NULL, "this engine numbers rows itself");
}

static HgStatus
passes_append_column(HgJob *handle, HgSide side, uint32_t column, const void *values,
					 const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	HgPassesJob *job = job_of(handle);

	HG_TRY(hg_wrapped_check_usable(&job->state, error));
	HG_TRY(check_columns(job, error));
	return hg_wrapped_finish(
		&job->state, job->pass.now.calls.columns->append_column(
						 job->pass.now.job, side, column, values, nulls, count, first_row, error));
}

static HgStatus
passes_build(HgJob *handle, HgError *error)
{
	HgPassesJob *job = job_of(handle);
	HgStatus status;

	HG_TRY(hg_wrapped_check_usable(&job->state, error));
	if (job->state.built)
		return hg_error_set(error, HG_INVALID, NULL, "the job has been built already");

	status = job->refused ? HG_DEVICE_OUT_OF_MEMORY
						  : job->pass.now.calls.join->build(job->pass.now.job, error);
	if (job_turns(job, &status, error))
	{
		hg_passes_begin(&job->pass, HG_PASSES_FOR_BUILD, true, true);
		status = hg_passes_build(&job->pass, error);
	}
	job->state.built = status == HG_OK;
	return hg_wrapped_finish(&job->state, status);
}

static HgStatus
passes_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	HgPassesJob *job = job_of(handle);
	HgStatus status = HG_OK;

	HG_TRY(hg_wrapped_check_matching(&job->state, mode, error));

	job->pass.mode = mode;
	job->pass.emitted = false;
	if (!job->partitioned)
	{
		status = job->pass.now.calls.join->match(job->pass.now.job, mode, error);
		job_turns(job, &status, error);
	}
	if (job->partitioned && status == HG_OK)
	{
		hg_passes_begin(&job->pass, HG_PASSES_FOR_MATCH, true, true);
		status = hg_passes_match(&job->pass, error);
	}
	job->pass.streaming = status == HG_OK;
	return hg_wrapped_finish(&job->state, status);
}

static HgStatus
passes_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	HgPassesJob *job = job_of(handle);
	HgStatus status = HG_OK;

	matches->count = 0;
	HG_TRY(hg_wrapped_check_built(&job->state, error));
	if (!job->pass.streaming)
		return hg_error_set(error, HG_INVALID, NULL, "no stream of matches was started");
	if (matches->capacity == 0)
		return hg_error_set(error, HG_INVALID, NULL, "there is no room for a match");

	if (!job->partitioned)
	{
		status = job->pass.now.calls.join->next(job->pass.now.job, matches, error);
		job->pass.emitted |= status == HG_OK && matches->count > 0;
		if (!job->pass.emitted && job_turns(job, &status, error))
		{
			hg_passes_begin(&job->pass, HG_PASSES_FOR_MATCH, true, true);
			job->pass.streaming = true;
			status = hg_passes_match(&job->pass, error);
		}
	}
	if (job->partitioned && status == HG_OK)
		status = hg_passes_partitioned_next(&job->pass, matches, error);
	if (status != HG_OK)
		matches->count = 0;
	return hg_wrapped_finish(&job->state, status);
}

static HgStatus
passes_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgPassesJob *job = job_of(handle);
	HgStatus status = HG_OK;

	HG_TRY(hg_wrapped_check_matching(&job->state, mode, error));

	if (!job->partitioned)
	{
		status = job->pass.now.calls.join->count(job->pass.now.job, mode, matches, error);
		job_turns(job, &status, error);
	}
	if (job->partitioned && status == HG_OK)
		status = hg_passes_partitioned_count(&job->pass, mode, matches, error);
	return hg_wrapped_finish(&job->state, status);
}

static HgStatus
passes_reduce(HgJob *handle, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
			  HgError *error)
{
	HgPassesJob *job = job_of(handle);

	HG_TRY(hg_wrapped_check_matching(&job->state, mode, error));
	HG_TRY(check_columns(job, error));
	job->pass.streaming = false;
	return hg_wrapped_finish(&job->state, job->pass.now.calls.columns->reduce(
											  job->pass.now.job, mode, spec, groups, error));
}

static HgStatus
passes_next_groups(HgJob *handle, HgGroupRecords *records, HgError *error)
{
	HgPassesJob *job = job_of(handle);

	records->count = 0;
	HG_TRY(hg_wrapped_check_built(&job->state, error));
	HG_TRY(check_columns(job, error));
	return hg_wrapped_finish(
		&job->state, job->pass.now.calls.columns->next_groups(job->pass.now.job, records, error));
}

static HgStatus
passes_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	HgPassesJob *job = job_of(handle);
	HgStatus status = HG_OK;

	HG_TRY(hg_wrapped_check_built(&job->state, error));
	HG_TRY(hg_wrapped_check_side(side, error));

	if (!job->partitioned)
	{
		status = job->pass.now.calls.join->describe(job->pass.now.job, side, stats, error);
		job_turns(job, &status, error);
	}
	if (job->partitioned && status == HG_OK)
		status = hg_passes_partitioned_describe(&job->pass, side, stats, error);
	return hg_wrapped_finish(&job->state, status);
}

static HgStatus
passes_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
					uint32_t *edge_rows, HgError *error)
{
	HgPassesJob *job = job_of(handle);

	HG_TRY(hg_wrapped_check_built(&job->state, error));
	if (job->partitioned)
		return hg_error_set(error, HG_INVALID, NULL, "the job is done in partition passes");
	return hg_wrapped_finish(
		&job->state, job->pass.now.calls.join->export_graph(job->pass.now.job, side, offsets,
															edge_keys, edge_rows, error));
}

static void
passes_stats(HgJob *handle, HgJobStats *stats)
{
	HgPassesJob *job = job_of(handle);
	if (!job->partitioned && job->pass.now.job != NULL)
		job->pass.now.calls.join->stats(job->pass.now.job, stats);
	else
		hg_passes_partitioned_stats(&job->pass, job->state.built && job->partitioned, stats);
}

static void
passes_close(HgJob *handle)
{
	HgPassesJob *job = job_of(handle);

	hg_passes_run_close(&job->pass, &job->pass.now, false);
	hg_passes_run_close(&job->pass, &job->pass.next, false);
	for (int which = 0; which < 2; which++)
	{
		HgPassSide *side = &job->pass.parts.sides[which];

		hg_host_memory_free(job->pass.host, side->mixed, side->capacity * job->pass.spec.key_width);
		hg_host_memory_free(job->pass.host, side->numbers, side->capacity * sizeof(uint32_t));
		hg_host_memory_free(job->pass.host, side->range_rows,
							2 * HG_PASSES_RANGES * sizeof(uint64_t));
		hg_host_memory_free(job->pass.host, side->arrays,
							side->array_capacity * sizeof(HgPassArray));
	}
	hg_host_memory_free(job->pass.host, job->pass.parts.buffer,
						(uint64_t) HG_PASSES_APPEND_KEYS * job->pass.spec.key_width);
	hg_host_memory_free(job->pass.host, job, sizeof(*job));
}

static const HgJoinCalls passes_join = HG_JOIN_CALLS(passes);
static const HgColumnCalls passes_columns = HG_COLUMN_CALLS(passes);

void
hg_passes_init(HgPasses *passes, const char *name, HgEngine *(*target)(void *arg), void *arg)
{
	passes->engine = (HgEngine){
		.name = name,
		.open = passes_open,
		.join = &passes_join,
		.columns = &passes_columns,
	};
	passes->target = target;
	passes->arg = arg;
}
