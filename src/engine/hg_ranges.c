/*-------------------------------------------------------------------------
 *
 * hg_ranges.c
 *	  An engine that cuts jobs which do not fit another engine's memory.
 *
 * While a job runs whole, each call goes to the job of the wrapped engine, and the
 * appended arrays are remembered, nothing more.  When the device refuses, that job is
 * closed, and the rows are joined in passes: build begins one, and match, count and
 * describe begin another unless they can use the one that is about to begin.  A pass:
 *
 *	1. The rows are cut into ranges by the first bits of their hash (HG_RANGE_BITS).  How
 *	   many each has was counted once.
 *	2. As many ranges are loaded as buffers have room for, a quarter of the rows or so: the keys
 *	   of both sides are read in the order of their rows, and the mixed keys and row
 *	   numbers of these ranges written to the buffers, range by range.  Should one range have
 *	   more outer rows than the buffer, they are loaded in several portions, with
 *	   the inner rows left where they are.
 *	3. What is loaded is cut into slices of consecutive ranges, which need not be moved for
 *	   that.  Each is given to a job of the device.  If that has no memory for it, the slice is
 *	   halved, and no later one is made as large.  A slice of one range is parted in place by the
 *	   first bit in which its mixed keys differ; where none differs, by the position
 *	   of the outer rows.
 *	4. When the slice's job has done what the pass is for, the next slice is taken, or the
 *	   next ranges or portion are loaded.
 *
 * TWO JOBS.  Where the wrapped engine works by itself (it has the call start), a job for the
 * next slice is opened before the device is told to begin with a slice, and filled while it
 * works; each of them may have half of the memory limit.  The next slice waits where it is
 * not loaded yet, or where the device refuses to have both.  The last resort for a key
 * that does not fit is to be tried without another job, with all of the memory.
 *
 * The keys are read once to be counted and once for each load; choosing those that are wanted
 * takes a nanosecond or so, writing these where they belong a few more.  The rest is
 * turning the mixed words into keys again, and sending them.
 *
 * All rows of one key are in one slice of the inner side, and an outer row in one
 * slice of the outer: thus its matches come from one job, one after the other.
 *
 * The keys of a slice agree in the first bits of their mixed word, which choose the vertex.
 * Given as they are, they would share a few vertices and make long lists.  They are given
 * with these bits (those of a range, where a slice has several) turned to the end of the
 * mixed word, so that the engine sees keys that are spread like any, in a one-to-one exchange for
 * the real ones.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_ranges_internal.h"

#include <string.h>

/* Appended arrays that the first append makes room for. */
#define FIRST_ARRAYS 16

static HgRangesJob *
job_of(HgJob *handle)
{
	return (HgRangesJob *) handle;
}

/* Close a call: what the contract forbids has done nothing, all else is the job's end. */
static HgStatus
job_finish(HgRangesJob *job, HgStatus status)
{
	if (status != HG_OK && status != HG_INVALID)
		job->failed = true;
	return status;
}

/* Must a job with this spec run whole?  Only keys can be given to the device range by range. */
static bool
must_run_whole(const HgJobSpec *spec)
{
	return spec->ncolumns[HG_OUTER] + spec->ncolumns[HG_INNER] > 0;
}

/*
 * Is this the answer of a device that has no memory for the whole job?  Then the job
 * turns to ranges, and *status becomes what came of that.
 */
static bool
job_turns(HgRangesJob *job, HgStatus *status, HgError *error)
{
	if (*status != HG_DEVICE_OUT_OF_MEMORY || must_run_whole(&job->spec))
		return false;
	*status = hg_ranges_cut(job, error);
	return *status == HG_OK;
}

static HgStatus
check_usable(const HgRangesJob *job, HgError *error)
{
	if (job->failed)
		return hg_error_set(error, HG_INVALID, NULL, "the job has failed before");
	return HG_OK;
}

static HgStatus
check_built(const HgRangesJob *job, HgError *error)
{
	HgStatus status = check_usable(job, error);

	if (status == HG_OK && !job->built)
		return hg_error_set(error, HG_INVALID, NULL, "the job has not been built yet");
	return status;
}

static HgStatus
check_mode(HgMatchMode mode, HgError *error)
{
	if (mode != HG_MATCH_ALL && mode != HG_MATCH_FIRST)
		return hg_error_set(error, HG_INVALID, NULL, "unknown match mode: %d", (int) mode);
	return HG_OK;
}

/* A job without a job of the wrapped engine; NULL when out of memory. */
static HgRangesJob *
job_create(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgError *error)
{
	HgRangesJob *job = host->alloc(host->arg, sizeof(*job));

	if (job == NULL)
	{
		hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
		return NULL;
	}
	memset(job, 0, sizeof(*job));
	job->ranges = (HgRanges *) engine;
	job->host = host;
	job->spec = *spec;
	return job;
}

static HgStatus
ranges_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **handle,
			HgError *error)
{
	HgRangesJob *job = job_create(engine, host, spec, error);
	HgStatus status;

	if (job == NULL)
		return HG_OUT_OF_MEMORY;
	status = hg_ranges_run_open(job, &job->now, spec, error);
	if (status == HG_DEVICE_OUT_OF_MEMORY && !must_run_whole(spec))
	{
		job->refused = true;
		status = HG_OK;
	}
	if (status != HG_OK)
	{
		host->free(host->arg, job, sizeof(*job));
		return status;
	}
	*handle = (HgJob *) job;
	return HG_OK;
}

HgStatus
hg_ranges_adopt(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob *open,
				HgJob **handle, HgError *error)
{
	HgRanges *ranges = (HgRanges *) engine;
	HgEngine *target = ranges->target(ranges->arg);
	HgRangesJob *job;

	if (target == NULL)
		return hg_error_set(error, HG_CONNECTION_LOST, NULL, "the device process is gone");
	job = job_create(engine, host, spec, error);
	if (job == NULL)
		return HG_OUT_OF_MEMORY;
	job->now.calls = *target;
	job->now.job = open;
	*handle = (HgJob *) job;
	return HG_OK;
}

/* Remember an appended array. */
static HgStatus
side_remember(HgRangesJob *job, HgRangesSide *side, const void *keys, uint64_t count,
			  HgError *error)
{
	if (side->array_count == side->array_capacity)
	{
		size_t capacity = side->array_capacity == 0 ? FIRST_ARRAYS : 2 * side->array_capacity;
		void *arrays;
		HgStatus status = hg_ranges_alloc(job, capacity, sizeof(HgRangesArray), &arrays, error);

		if (status != HG_OK)
			return status;
		if (side->array_count > 0)
			memcpy(arrays, side->arrays, side->array_count * sizeof(HgRangesArray));
		hg_ranges_free(job, side->arrays, side->array_capacity, sizeof(HgRangesArray));
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
hg_ranges_note(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	HgRangesJob *job = job_of(handle);

	return job_finish(job, side_remember(job, &job->sides[side], keys, count, error));
}

static HgStatus
ranges_append(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	HgRangesJob *job = job_of(handle);
	HgStatus status = check_usable(job, error);

	if (status != HG_OK)
		return status;
	if (job->built)
		return hg_error_set(error, HG_INVALID, NULL, "the job has been built already");
	if (side != HG_OUTER && side != HG_INNER)
		return hg_error_set(error, HG_INVALID, NULL, "unknown side: %d", (int) side);
	if (count == 0)
		return HG_OK;
	if (count >= HG_MAX_ROWS - job->sides[side].rows)
		return job_finish(job, hg_error_set(error, HG_TOO_MANY_ROWS, NULL,
											"too many rows in one side of a join"));

	status = side_remember(job, &job->sides[side], keys, count, error);
	if (status == HG_OK && !job->refused)
	{
		status = job->now.calls.append(job->now.job, side, keys, count, error);
		if (status == HG_DEVICE_OUT_OF_MEMORY && !must_run_whole(&job->spec))
		{
			hg_ranges_run_close(job, &job->now, false);
			job->refused = true;
			status = HG_OK;
		}
	}
	return job_finish(job, status);
}

static HgStatus
ranges_append_column(HgJob *handle, HgSide side, uint32_t column, const void *values,
					 const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	HgRangesJob *job = job_of(handle);
	HgStatus status = check_usable(job, error);

	if (status != HG_OK)
		return status;
	if (!must_run_whole(&job->spec))
		return hg_error_set(error, HG_INVALID, NULL, "the job has no columns");
	return job_finish(job, job->now.calls.append_column(job->now.job, side, column, values, nulls,
														count, first_row, error));
}

static HgStatus
ranges_build(HgJob *handle, HgError *error)
{
	HgRangesJob *job = job_of(handle);
	HgStatus status = check_usable(job, error);

	if (status != HG_OK)
		return status;
	if (job->built)
		return hg_error_set(error, HG_INVALID, NULL, "the job has been built already");

	status = job->refused ? HG_DEVICE_OUT_OF_MEMORY : job->now.calls.build(job->now.job, error);
	if (job_turns(job, &status, error))
	{
		hg_ranges_pass_begin(job, HG_RANGES_FOR_BUILD, true, true);
		status = hg_ranges_pass_build(job, error);
	}
	job->built = status == HG_OK;
	return job_finish(job, status);
}

static HgStatus
ranges_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	HgRangesJob *job = job_of(handle);
	HgStatus status = check_built(job, error);

	if (status == HG_OK)
		status = check_mode(mode, error);
	if (status != HG_OK)
		return status;

	job->mode = mode;
	job->delivered = false;
	if (!job->cut)
	{
		status = job->now.calls.match(job->now.job, mode, error);
		job_turns(job, &status, error);
	}
	if (job->cut && status == HG_OK)
	{
		hg_ranges_pass_begin(job, HG_RANGES_FOR_MATCH, true, true);
		status = hg_ranges_pass_match(job, error);
	}
	job->streaming = status == HG_OK;
	return job_finish(job, status);
}

/* The row numbers of a slice's matches become those of the job. */
static void
map_rows(const HgRangesJob *job, HgMatches *matches)
{
	const uint32_t *outer = job->sides[HG_OUTER].numbers + job->now.slice.low[HG_OUTER];
	const uint32_t *inner = job->sides[HG_INNER].numbers + job->now.slice.low[HG_INNER];

	for (size_t i = 0; i < matches->count; i++)
	{
		matches->outer[i] = outer[matches->outer[i]];
		matches->inner[i] = inner[matches->inner[i]];
	}
}

/* next() of a job that was cut: goes on with the next slice at the end of one. */
static HgStatus
cut_next(HgRangesJob *job, HgMatches *matches, HgError *error)
{
	while (job->now.job != NULL)
	{
		HgStatus status = job->now.calls.next(job->now.job, matches, error);

		if (status == HG_OK && matches->count > 0)
		{
			job->delivered = true;
			map_rows(job, matches);
			return HG_OK;
		}

		/* what was delivered cannot be taken back: then it is too late to part the slice */
		if (status == HG_OK)
			hg_ranges_run_close(job, &job->now, true);
		else if (!job->delivered)
			status = hg_ranges_retry(job, &job->now, status, error);
		if (status == HG_OK)
			status = hg_ranges_pass_match(job, error);
		if (status != HG_OK)
			return status;
	}
	matches->count = 0;
	return HG_OK;
}

static HgStatus
ranges_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	HgRangesJob *job = job_of(handle);
	HgStatus status = check_built(job, error);

	matches->count = 0;
	if (status != HG_OK)
		return status;
	if (!job->streaming)
		return hg_error_set(error, HG_INVALID, NULL, "no stream of matches was started");
	if (matches->capacity == 0)
		return hg_error_set(error, HG_INVALID, NULL, "there is no room for a match");

	if (!job->cut)
	{
		status = job->now.calls.next(job->now.job, matches, error);
		job->delivered |= status == HG_OK && matches->count > 0;
		if (!job->delivered && job_turns(job, &status, error))
		{
			hg_ranges_pass_begin(job, HG_RANGES_FOR_MATCH, true, true);
			job->streaming = true;
			status = hg_ranges_pass_match(job, error);
		}
	}
	if (job->cut && status == HG_OK)
		status = cut_next(job, matches, error);
	if (status != HG_OK)
		matches->count = 0;
	return job_finish(job, status);
}

/* count() of a job that was cut. */
static HgStatus
cut_count(HgRangesJob *job, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgStatus status;

	*matches = 0;
	/* of which the device begins to count ahead */
	job->mode = mode;
	hg_ranges_pass_begin(job, HG_RANGES_FOR_COUNT, true, true);
	while ((status = hg_ranges_pass_build(job, error)) == HG_OK && job->now.job != NULL)
	{
		uint64_t counted = 0;

		status = job->now.calls.count(job->now.job, mode, &counted, error);
		*matches += counted;
		if (status == HG_OK)
			hg_ranges_run_close(job, &job->now, true);
		else
			status = hg_ranges_retry(job, &job->now, status, error);
		if (status != HG_OK)
			break;
	}
	return status;
}

static HgStatus
ranges_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgRangesJob *job = job_of(handle);
	HgStatus status = check_built(job, error);

	if (status == HG_OK)
		status = check_mode(mode, error);
	if (status != HG_OK)
		return status;

	if (!job->cut)
	{
		status = job->now.calls.count(job->now.job, mode, matches, error);
		job_turns(job, &status, error);
	}
	if (job->cut && status == HG_OK)
		status = cut_count(job, mode, matches, error);
	return job_finish(job, status);
}

static HgStatus
ranges_reduce(HgJob *handle, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
			  HgError *error)
{
	HgRangesJob *job = job_of(handle);
	HgStatus status = check_built(job, error);

	if (status == HG_OK)
		status = check_mode(mode, error);
	if (status != HG_OK)
		return status;
	if (!must_run_whole(&job->spec))
		return hg_error_set(error, HG_INVALID, NULL, "the job has no columns");
	job->streaming = false;
	return job_finish(job, job->now.calls.reduce(job->now.job, mode, spec, groups, error));
}

static HgStatus
ranges_next_groups(HgJob *handle, HgGroupRecords *records, HgError *error)
{
	HgRangesJob *job = job_of(handle);
	HgStatus status = check_built(job, error);

	records->count = 0;
	if (status != HG_OK)
		return status;
	if (!must_run_whole(&job->spec))
		return hg_error_set(error, HG_INVALID, NULL, "the job has no columns");
	return job_finish(job, job->now.calls.next_groups(job->now.job, records, error));
}

/* describe() of a job that was cut: what it says of each slice of that side alone, in sum. */
static HgStatus
cut_describe(HgRangesJob *job, HgSide side, HgGraphStats *stats, HgError *error)
{
	HgStatus status;

	memset(stats, 0, sizeof(*stats));
	hg_ranges_pass_begin(job, HG_RANGES_FOR_DESCRIBE, side == HG_OUTER, side == HG_INNER);
	while ((status = hg_ranges_pass_build(job, error)) == HG_OK && job->now.job != NULL)
	{
		HgGraphStats one;

		status = job->now.calls.describe(job->now.job, side, &one, error);
		if (status == HG_OK)
		{
			stats->vertices += one.vertices;
			stats->edges += one.edges;
			stats->empty_vertices += one.empty_vertices;
			if (one.longest_list > stats->longest_list)
				stats->longest_list = one.longest_list;
			stats->distinct_keys += one.distinct_keys;
			stats->bytes += one.bytes;
			hg_ranges_run_close(job, &job->now, true);
		}
		else
			status = hg_ranges_retry(job, &job->now, status, error);
		if (status != HG_OK)
			break;
	}
	return status;
}

static HgStatus
ranges_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	HgRangesJob *job = job_of(handle);
	HgStatus status = check_built(job, error);

	if (status != HG_OK)
		return status;
	if (side != HG_OUTER && side != HG_INNER)
		return hg_error_set(error, HG_INVALID, NULL, "unknown side: %d", (int) side);

	if (!job->cut)
	{
		status = job->now.calls.describe(job->now.job, side, stats, error);
		job_turns(job, &status, error);
	}
	if (job->cut && status == HG_OK)
		status = cut_describe(job, side, stats, error);
	return job_finish(job, status);
}

static HgStatus
ranges_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
					uint32_t *edge_rows, HgError *error)
{
	HgRangesJob *job = job_of(handle);
	HgStatus status = check_built(job, error);

	if (status != HG_OK)
		return status;
	if (job->cut)
		return hg_error_set(error, HG_INVALID, NULL, "the job was cut into ranges");
	return job_finish(
		job, job->now.calls.export_graph(job->now.job, side, offsets, edge_keys, edge_rows, error));
}

/*
 * The slices of the pass: those done, those at work, and those still to come.
 * A job that was cut has two at least, if only because one had nothing to match.
 */
static uint64_t
count_slices(const HgRangesJob *job)
{
	uint64_t slices =
		job->slices + (job->now.job != NULL) + (job->next.job != NULL) + hg_ranges_slices_left(job);

	return slices < 2 ? 2 : slices;
}

static void
ranges_stats(HgJob *handle, HgJobStats *stats)
{
	HgRangesJob *job = job_of(handle);
	HgJobStats open;

	memset(&open, 0, sizeof(open));
	if (job->now.job != NULL)
		job->now.calls.stats(job->now.job, &open);
	if (!job->cut && job->now.job != NULL)
	{
		*stats = open;
		return;
	}
	*stats = job->sum;
	for (int side = 0; side < 2; side++)
		stats->rows[side] = job->sides[side].rows;
	stats->matches += open.matches;
	stats->comparisons += open.comparisons;
	stats->intersections += open.intersections;
	stats->peak_bytes = hg_ranges_peak_bytes(job);
	for (int phase = 0; phase < HG_PHASE_COUNT; phase++)
		stats->phase_ms[phase] += open.phase_ms[phase];
	if (job->now.job != NULL)
	{
		stats->build = open.build;
		stats->probe = open.probe;
	}
	stats->vertices = job->pass[0] + open.vertices;
	stats->bins = job->pass[1] + open.bins;
	stats->ranges = job->built && job->cut ? count_slices(job) : 0;
}

static void
ranges_close(HgJob *handle)
{
	HgRangesJob *job = job_of(handle);

	hg_ranges_run_close(job, &job->now, false);
	hg_ranges_run_close(job, &job->next, false);
	for (int which = 0; which < 2; which++)
	{
		HgRangesSide *side = &job->sides[which];

		hg_ranges_free(job, side->mixed, side->capacity, job->spec.key_width);
		hg_ranges_free(job, side->numbers, side->capacity, sizeof(uint32_t));
		hg_ranges_free(job, side->range_rows, 2 * HG_RANGES, sizeof(uint64_t));
		hg_ranges_free(job, side->arrays, side->array_capacity, sizeof(HgRangesArray));
	}
	hg_ranges_free(job, job->give, HG_RANGES_GIVE_KEYS, job->spec.key_width);
	job->host->free(job->host->arg, job, sizeof(*job));
}

void
hg_ranges_init(HgRanges *ranges, const char *name, HgEngine *(*target)(void *arg), void *arg)
{
	ranges->engine = (HgEngine){
		.name = name,
		.open = ranges_open,
		.append = ranges_append,
		.append_column = ranges_append_column,
		.build = ranges_build,
		.match = ranges_match,
		.next = ranges_next,
		.count = ranges_count,
		.reduce = ranges_reduce,
		.next_groups = ranges_next_groups,
		.describe = ranges_describe,
		.export_graph = ranges_export_graph,
		.stats = ranges_stats,
		.close = ranges_close,
	};
	ranges->target = target;
	ranges->arg = arg;
}
