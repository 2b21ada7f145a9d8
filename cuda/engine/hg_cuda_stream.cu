/*-------------------------------------------------------------------------
 *
 * hg_cuda_stream.cu
 *	  The matches of a job: all found at once, written a chunk at a time.
 *
 * The layouts are joined in three ways. Graphs are joined by hg_cuda_join.cu: all matches are
 * found, then any range of them can be written. Bins are joined by hg_cuda_bins.cu: the pass that
 * finds the matches writes them on the way, and no other pass follows if the chunk has room for
 * all, as in most joins. The graphs of both sides, if they come from bins, are built when first
 * needed, and the pass that builds them finds the matches as well (hg_cuda_both.cu). Only if the
 * chunk was too small, or matches are requested again, the edges of these graphs are joined as
 * rows in bins, which they are.
 *
 * MEMORY: the chunk, 8 bytes a pair, and what the joins above take. If memory is short, the chunk
 * is small and filled more often. But it can hold the matches of any outer row of bins, which are
 * never written in part.
 *
 * A job is admitted with the least chunk, and takes a larger one if it can, so that all matches
 * fit: as many as a pass has counted, else as many as unique keys would have. Up to HG_CHUNK_PAIRS
 * it takes nearly all free memory; that is little beside the rows of a large job. Above that it
 * takes a quarter of the memory that is neither held nor promised to an open job. The rest is for
 * jobs that come while the chunk is read: jobs in the queue of a device process, which are
 * admitted if their minimum is neither reserved nor held (hg_queue_internal.h), and jobs with more
 * rows than expected, which were promised less than they take. So one job leaves three quarters,
 * and ten jobs a twentieth, without any account of who took what. A chunk of more than
 * HG_CHUNK_PAIRS is replaced by a smaller one if the matches fill less than half of it, and is
 * freed when its last match has left, because a session may keep a job that it has read until its
 * query ends. Smaller chunks stay from stream to stream.
 *
 * There is no second chunk to overlap writing with copying to the host. Copying takes ten times as
 * long (hg_cuda_tuning.h), so that this could hide a tenth of it at best, only for matches that do
 * not fit one chunk, and for twice the memory, which is short then.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_job.h"

#include "../kernels/hg_cuda_tuning.h"

/* ------------------------------------------------------------------------
 * The chunk
 * ------------------------------------------------------------------------ */

static constexpr uint64_t PAIR_BYTES = 2 * sizeof(uint32_t);

static void
free_chunk(HgCudaJob *job)
{
	hg_cuda_free(&job->work, job->chunk);
	job->chunk = nullptr;
	job->chunk_capacity = 0;
	job->chunk_count = 0;
}

/* Returns the pairs that a chunk should have room for if `wanted` pairs are to come. */
static uint64_t
choose_capacity(HgCudaJob *job, uint64_t wanted, uint64_t least)
{
	/* a larger chunk replaces the present one */
	const uint64_t before = job->chunk_capacity * PAIR_BYTES;
	/* later steps need memory, too: counters, and 8 bytes for each unit of rows in bins */
	const uint64_t room = (hg_cuda_work_room(&job->work) + before) / 8 * 7 / PAIR_BYTES;
	uint64_t capacity = wanted < HG_CHUNK_PAIRS ? wanted : HG_CHUNK_PAIRS;

	if (capacity > room)
		capacity = room;
	if (wanted > HG_CHUNK_PAIRS)
	{
		const uint64_t most = wanted < HG_CHUNK_MOST_PAIRS ? wanted : HG_CHUNK_MOST_PAIRS;
		const uint64_t spare = hg_cuda_work_spare(&job->work) + before;
		const uint64_t share = spare / HG_CHUNK_SHARE / PAIR_BYTES;

		if (share > capacity)
			capacity = share < most ? share : most;
	}
	return capacity > least ? capacity : least;
}

/*
 * Gives the chunk room for `wanted` pairs, or for as many as a chunk may have, or for fewer if
 * memory is short, but at least `least`. The pairs in the chunk are lost if it is replaced.
 */
static HgStatus
reserve_chunk(HgCudaJob *job, uint64_t wanted, uint64_t least, HgError *error)
{
	const uint64_t before = job->chunk_capacity;
	uint64_t capacity;
	HgStatus status;

	/* the job has its minimum, except for the chunk */
	hg_cuda_work_promise(&job->work, 0);
	capacity = choose_capacity(job, wanted, least);
	/* no growth for a small gain, as other jobs free memory */
	if (capacity <= before || (before >= least && capacity < wanted && capacity / 2 < before))
		return HG_OK;
	free_chunk(job);
	for (;;)
	{
		uint64_t fewer = capacity / 2;

		status = hg_cuda_alloc_array(&job->work, 2 * capacity, &job->chunk, error);
		if (status == HG_OK)
			job->chunk_capacity = capacity;
		if (status != HG_DEVICE_OUT_OF_MEMORY || capacity == least)
			return status;
		if (fewer < before && before < capacity)
			fewer = before;
		capacity = fewer > least ? fewer : least;
	}
}

/* Returns the pairs that a chunk must have room for. */
static uint64_t
least_chunk(const HgCudaJob *job)
{
	return hg_cuda_job_in_bins(job) && job->bins.longest > HG_LEAST_CHUNK_PAIRS
			   ? job->bins.longest
			   : HG_LEAST_CHUNK_PAIRS;
}

/* Returns the expected number of matches of a mode: the exact one if a pass has counted them. */
static uint64_t
expected_pairs(const HgCudaJob *job, HgMatchMode mode)
{
	const uint64_t outer = job->stats.rows[HG_OUTER];
	const uint64_t inner = job->stats.rows[HG_INNER];

	if (job->counted[mode].known)
		return job->counted[mode].matches;
	return mode == HG_MATCH_FIRST || outer > inner ? outer : inner;
}

/*
 * Translates the rows of the first count matches of the chunk: to the caller's numbers or, in a
 * job with columns, to positions, which change only for a graph replica with columns.
 */
static HgStatus
number_chunk(HgCudaJob *job, uint64_t count, HgError *error)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		uint32_t *rows = job->chunk + (side == HG_OUTER ? 0 : job->chunk_capacity);

		HG_TRY(
			hg_cuda_job_has_columns(job)
				? hg_cuda_numbers_to_ordinals(&job->work, &job->numbers[side], rows, count, error)
				: hg_cuda_numbers_translate(&job->work, &job->numbers[side], rows, count, error));
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Graphs of both sides
 * ------------------------------------------------------------------------ */

/*
 * Builds the graphs of both sides, unless that was done. pairs is as for hg_cuda_both_build; if
 * `writing`, the pairs go to the chunk.
 */
static HgStatus
build_both(HgCudaJob *job, HgCudaBothPairs *pairs, bool writing, HgError *error)
{
	if (job->both_built)
		return HG_OK;
	HG_TRY(hg_cuda_both_begin(&job->work, &job->shape, job->partitions, job->graphs, error));
	if (writing)
	{
		/* after the graphs, because the chunk makes do with the memory that they leave */
		HG_TRY(reserve_chunk(job, expected_pairs(job, pairs->mode), HG_LEAST_CHUNK_PAIRS, error));
		pairs->outer_rows = job->chunk;
		pairs->inner_rows = job->chunk + job->chunk_capacity;
		pairs->capacity = job->chunk_capacity;
	}
	HG_TRY(hg_cuda_both_build(&job->work, &job->shape, job->partitions, job->graphs, pairs, error));
	if (pairs != nullptr)
		job->counted[pairs->mode] = {true, pairs->counts.matches};
	for (HgCudaPartition &partition : job->partitions)
		hg_cuda_partition_free(&job->work, &partition);
	job->both_built = true;
	return hg_cuda_both_common(&job->work, job->graphs, &job->common, error);
}

HgStatus
hg_cuda_stream_graphs(HgCudaJob *job, HgError *error)
{
	return job->both ? build_both(job, nullptr, false, error) : HG_OK;
}

/* Prepares the edges of both graphs to be joined as rows in bins. */
static HgStatus
view_both(HgCudaJob *job, HgError *error)
{
	if (!job->both || job->viewed)
		return HG_OK;
	HG_TRY(build_both(job, nullptr, false, error));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		HG_TRY(hg_cuda_both_view(&job->work, &job->graphs[side], job->stats.rows[HG_INNER],
								 &job->partitions[side], error));
	HG_TRY(hg_cuda_bins_open(&job->work, &job->partitions[HG_INNER], &job->partitions[HG_OUTER],
							 job->shape.vertices_log2, 0, &job->bins, error));
	job->viewed = true;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Finding
 * ------------------------------------------------------------------------ */

static HgCudaOuter
outer_of(const HgCudaJob *job)
{
	HgCudaOuter outer;

	outer.in_lists = job->stats.probe == HG_PROBE_INTERSECT;
	outer.count = job->stats.rows[HG_OUTER];
	if (outer.in_lists)
	{
		/* a graph replica may have rows that are masked */
		outer.count = job->graphs[HG_OUTER].rows;
		outer.words = job->graphs[HG_OUTER].edge_words;
		outer.rows = job->graphs[HG_OUTER].edge_rows;
	}
	else
	{
		outer.words = job->columns[HG_OUTER].keys; /* mixed in build */
		outer.rows = nullptr;
	}
	return outer;
}

static void
add_counts(HgCudaJob *job, HgMatchMode mode, const HgCudaMatchCounts *counts)
{
	job->counted[mode] = {true, counts->matches};
	job->stats.comparisons += counts->comparisons;
	job->stats.intersections += job->both ? job->common : counts->intersections;
}

void
hg_cuda_stream_end(HgCudaJob *job)
{
	hg_cuda_join_close(&job->work, &job->join);
	hg_cuda_bins_end(&job->work, &job->bins_matches);
	job->joined = false;
	job->spent = false;
	job->chunk_count = 0;
	if (job->chunk_capacity > HG_CHUNK_PAIRS)
		free_chunk(job);
}

void
hg_cuda_stream_close(HgCudaJob *job)
{
	hg_cuda_stream_end(job);
	free_chunk(job);
}

/* Builds both sides' graphs, and finds the matches; *written: the chunk has all of them. */
static HgStatus
match_both(HgCudaJob *job, HgMatchMode mode, bool *written, HgError *error)
{
	HgCudaBothPairs pairs = {};

	pairs.mode = mode;
	HG_TRY(build_both(job, &pairs, true, error));
	*written = pairs.complete;
	if (!pairs.complete)
		return HG_OK;
	add_counts(job, mode, &pairs.counts);
	job->matches = pairs.counts.matches;
	job->chunk_count = job->matches;
	job->chunk_first = 0;
	return number_chunk(job, job->chunk_count, error);
}

/* Finds the matches; those of bins are written at once if the chunk has room for all. */
static HgStatus
find_matches(HgCudaJob *job, HgMatchMode mode, HgError *error)
{
	const HgCudaMatchCounts *counts = &job->join.counts;
	HgCudaOuter outer;
	bool written = false;

	hg_cuda_stream_end(job);
	job->mode = mode;
	if (job->both && !job->both_built)
	{
		HG_TRY(match_both(job, mode, &written, error));
		job->joined = written;
		if (written)
			return HG_OK;
	}
	if (hg_cuda_job_in_bins(job))
	{
		HG_TRY(view_both(job, error));
		HG_TRY(reserve_chunk(job, expected_pairs(job, mode), least_chunk(job), error));
		HG_TRY(hg_cuda_bins_match(&job->work, &job->bins, mode, job->chunk,
								  job->chunk + job->chunk_capacity, job->chunk_capacity,
								  &job->bins_matches, &job->chunk_count, error));
		HG_TRY(number_chunk(job, job->chunk_count, error));
		job->chunk_first = 0;
		counts = &job->bins_matches.counts;
	}
	else
	{
		outer = outer_of(job);
		HG_TRY(
			hg_cuda_join_open(&job->work, &outer, &job->graphs[HG_INNER], mode, &job->join, error));
	}
	add_counts(job, mode, counts);
	job->matches = counts->matches;
	job->joined = true;
	return HG_OK;
}

HgStatus
hg_cuda_stream_count(HgCudaJob *job, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgCudaMatchCounts counts;
	HgCudaOuter outer;

	if (job->both && !job->both_built)
	{
		HgCudaBothPairs pairs = {};

		pairs.mode = mode;
		HG_TRY(build_both(job, &pairs, false, error));
		counts = pairs.counts;
	}
	else if (hg_cuda_job_in_bins(job))
	{
		HG_TRY(view_both(job, error));
		HG_TRY(hg_cuda_bins_count(&job->work, &job->bins, mode, &counts, error));
	}
	else
	{
		outer = outer_of(job);
		HG_TRY(
			hg_cuda_join_count(&job->work, &outer, &job->graphs[HG_INNER], mode, &counts, error));
	}
	add_counts(job, mode, &counts);
	job->stats.matches += counts.matches;
	*matches = counts.matches;
	return HG_OK;
}

/* Frees a large chunk after the last match, so that other jobs can have the memory at once. */
static HgStatus
release_chunk(HgCudaJob *job, HgError *error)
{
	if (job->chunk_capacity <= HG_CHUNK_PAIRS)
		return HG_OK;
	free_chunk(job);
	job->spent = true;
	return hg_cuda_wait(&job->work, error);
}

/* Replaces a large chunk by a smaller one if the matches fill at most half of it. */
static HgStatus
fit_chunk(HgCudaJob *job, HgError *error)
{
	const uint64_t before = job->chunk_capacity;
	const size_t bytes = job->chunk_count * sizeof(uint32_t);
	const uint64_t least = least_chunk(job);
	uint64_t capacity = job->matches > HG_CHUNK_PAIRS ? job->matches : HG_CHUNK_PAIRS;
	uint32_t *chunk;
	HgStatus status;

	if (capacity < least)
		capacity = least;
	if (capacity > before / 2)
		return HG_OK;
	status = hg_cuda_alloc_array(&job->work, 2 * capacity, &chunk, error);
	if (status != HG_OK)
		return status == HG_DEVICE_OUT_OF_MEMORY ? HG_OK : status;
	HG_CUDA_TRY(
		cudaMemcpyAsync(chunk, job->chunk, bytes, cudaMemcpyDeviceToDevice, job->work.stream),
		error);
	HG_CUDA_TRY(cudaMemcpyAsync(chunk + capacity, job->chunk + before, bytes,
								cudaMemcpyDeviceToDevice, job->work.stream),
				error);
	hg_cuda_free(&job->work, job->chunk);
	job->chunk = chunk;
	job->chunk_capacity = capacity;
	return HG_OK;
}

HgStatus
hg_cuda_stream_start(HgCudaJob *job, HgMatchMode mode, HgError *error)
{
	if (!job->joined || job->mode != mode || job->spent)
		HG_TRY(find_matches(job, mode, error));
	job->position = 0;
	return job->matches == 0 ? release_chunk(job, error) : fit_chunk(job, error);
}

/* ------------------------------------------------------------------------
 * Writing and copying
 * ------------------------------------------------------------------------ */

HgStatus
hg_cuda_stream_fill(HgCudaJob *job, HgError *error)
{
	const uint64_t left = job->matches - job->position;
	uint64_t count;

	if (job->position >= job->chunk_first && job->position < job->chunk_first + job->chunk_count)
		return HG_OK;
	job->chunk_count = 0;
	HG_TRY(reserve_chunk(job, left, least_chunk(job), error));
	count = left < job->chunk_capacity ? left : job->chunk_capacity;
	if (hg_cuda_job_in_bins(job))
		HG_TRY(hg_cuda_bins_write(&job->work, &job->bins, &job->bins_matches, job->position,
								  job->chunk, job->chunk + job->chunk_capacity, job->chunk_capacity,
								  &count, error));
	else
		HG_TRY(hg_cuda_join_write(&job->work, &job->join, job->position, count, job->chunk,
								  job->chunk + job->chunk_capacity, error));
	HG_TRY(number_chunk(job, count, error));
	HG_TRY(hg_cuda_wait(&job->work, error));
	job->chunk_first = job->position;
	job->chunk_count = count;
	return HG_OK;
}

/*
 * Copies count pairs, from number `first` of the chunk on, to the caller, with the requested
 * values; waits even after a failure.
 */
static HgStatus
copy_pairs(HgCudaJob *job, uint64_t first, uint64_t count, HgMatches *matches, HgError *error)
{
	const size_t bytes = count * sizeof(uint32_t);
	const uint32_t *const rows[2] = {job->chunk + first, job->chunk + job->chunk_capacity + first};
	cudaError_t code;

	if (hg_cuda_job_has_columns(job))
		return hg_cuda_gather_matches(&job->work, &job->gather, job->values, job->numbers, rows,
									  count, matches, error);
	code = cudaMemcpyAsync(matches->outer, rows[HG_OUTER], bytes, cudaMemcpyDeviceToHost,
						   job->work.stream);
	if (code == cudaSuccess)
		code = cudaMemcpyAsync(matches->inner, rows[HG_INNER], bytes, cudaMemcpyDeviceToHost,
							   job->work.stream);
	HG_TRY(hg_cuda_finish(&job->work, error));
	HG_CUDA_TRY(code, error);
	return HG_OK;
}

HgStatus
hg_cuda_stream_next(HgCudaJob *job, HgMatches *matches, HgError *error)
{
	uint64_t count;

	matches->count = 0;
	HG_TRY(hg_cuda_look(&job->work, error));
	HG_TRY(hg_cuda_stream_fill(job, error));
	count = job->chunk_first + job->chunk_count - job->position;
	if (count > matches->capacity)
		count = matches->capacity;
	if (hg_cuda_job_has_columns(job) && count > HG_GATHER_PAIRS)
		count = HG_GATHER_PAIRS;
	HG_TRY(copy_pairs(job, job->position - job->chunk_first, count, matches, error));

	job->position += count;
	job->stats.matches += count;
	matches->count = count;
	return job->position == job->matches ? release_chunk(job, error) : HG_OK;
}
