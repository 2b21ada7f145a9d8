/*-------------------------------------------------------------------------
 *
 * hg_cuda_engine.cu
 *	  The CUDA engine: the life of a job on the host's side.
 *
 * Keys are copied to the device piece by piece as they are appended; nothing of the
 * caller's is read after append has returned.  What build makes of them is the layout
 * (hg_cuda_shape.h): where the caller asks for algorithms, graphs (hg_cuda_graph.cu), else
 * bins (hg_cuda_partition.cu).  Match finds all matches (hg_cuda_join.cu, hg_cuda_bins.cu).
 * They are written to device memory a chunk at a time, and next copies some of them out, or
 * has the next chunk written.  Reduce has all chunks written, and makes groups of each where it is
 * (hg_cuda_reduce.cu).  Graphs of both sides in bins are not built before match, which
 * finds the matches on the way, or before something else needs them (hg_cuda_both.cu).
 *
 * Any thread may use an engine, and a job one thread at a time: jobs share nothing but the
 * device and need no locks, each having a stream and memory of its own (hg_cuda_work.h).
 * Every wait polls the job's cancelled().  What was launched before runs on after a
 * cancellation: a piece of some milliseconds, or one digit of a radix sort.  Copies to the
 * caller's memory are always waited for.
 *
 * A job that says how many rows are to come, and has no room for them, is refused before
 * anything is copied.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_both.h"
#include "hg_cuda_describe.h"
#include "hg_cuda_devices.h"
#include "hg_cuda_gather.h"
#include "hg_cuda_reduce.h"
#include "hg_cuda_tuning.h"

#include <cstdio>
#include <cstring>
#include <new>

struct CudaEngine
{
	HgEngine engine; /* first: engine calls get its address */
	HgCudaDevice device;
};

/* One side of a job until it is built. */
struct CudaColumn
{
	void *keys; /* [capacity] in device memory, or NULL */
	uint64_t rows;
	uint64_t capacity;
};

struct CudaJob
{
	CudaEngine *engine;
	HgJobSpec spec;
	HgCudaWork work;
	CudaColumn columns[2]; /* by HgSide; empty once the side has its graph or bins */
	HgCudaLayout layout;
	HgShape shape;
	bool both;		 /* layout graphs: those of both sides are built at a time, when first needed */
	bool both_built; /* and have been */
	bool viewed;	 /* and their edges are rows in bins */
	uint64_t common; /* vertices that have edges in both graphs */
	HgCudaGraph graphs[2];		   /* by HgSide; offsets NULL where none was built */
	HgCudaPartition partitions[2]; /* by HgSide; layout bins, and both graphs */
	HgCudaBins bins;			   /* of the partitions */
	HgCudaColumns values[2];	   /* by HgSide; beside the keys */
	HgCudaNumbers numbers[2];	   /* by HgSide; without a run where rows were not numbered */
	bool built;

	/* of the last match() */
	HgMatchMode mode;
	bool joined;
	HgCudaJoin join;				/* other graphs */
	HgCudaBinsMatches bins_matches; /* layout bins, and both graphs */
	uint64_t matches;				/* of the whole stream */
	uint64_t position;				/* the next match to be delivered */

	uint32_t *chunk; /* [2 * chunk_capacity]: outer rows, then inner rows; in a job with columns
					  * by position, else by number */
	uint64_t chunk_capacity;
	uint64_t chunk_first; /* the number of its first match */
	uint64_t chunk_count; /* matches in it */
	HgCudaGather gather;  /* where the job has columns */

	HgCudaReduce reduce; /* the groups of the last reduce() */

	HgJobStats stats;
};

/* The least room of a column whose rows nobody knows beforehand. */
static constexpr uint64_t FIRST_CAPACITY = UINT64_C(1) << 16;

/* Adds the time of its life to a phase. */
class PhaseTimer
{
  public:
	PhaseTimer(double *phase_ms) : phase(phase_ms), started(hg_clock_ms())
	{
	}

	~PhaseTimer()
	{
		*phase += hg_clock_ms() - started;
	}

  private:
	double *phase;
	double started;
};

static CudaJob *
job_of(HgJob *handle)
{
	return reinterpret_cast<CudaJob *>(handle);
}

/* Are its matches those of bins? */
static bool
in_bins(const CudaJob *job)
{
	return job->layout == HG_LAYOUT_BINS || job->both;
}

/* Does it have columns beside its keys? */
static bool
has_columns(const CudaJob *job)
{
	return job->spec.ncolumns[HG_OUTER] + job->spec.ncolumns[HG_INNER] > 0;
}

/* Make the job's device the current one, of this thread. */
static HgStatus
enter(CudaJob *job, HgError *error)
{
	HG_CUDA_TRY(cudaSetDevice(job->engine->device.ordinal), error);
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * From open to build
 * ------------------------------------------------------------------------ */

/* Would a job of the expected rows have room on the device as it is now? */
static HgStatus
check_room(CudaEngine *self, const HgJobSpec *spec, HgError *error)
{
	const uint64_t bytes = hg_cuda_engine_job_bytes(spec);
	uint64_t held;
	uint64_t peak;
	uint64_t room;
	char detail[120];

	hg_cuda_device_use(&self->device, &held, &peak);
	room = self->device.budget - held;
	if (spec->memory_limit > 0 && spec->memory_limit < room)
		room = spec->memory_limit;
	if (bytes <= room)
		return HG_OK;
	snprintf(detail, sizeof(detail), "It needs %llu bytes at least, and may have %llu.",
			 (unsigned long long) bytes, (unsigned long long) room);
	return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, detail,
						"the join is too large for the device memory that it may have");
}

static HgStatus
cuda_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **handle,
		  HgError *error)
{
	CudaEngine *self = reinterpret_cast<CudaEngine *>(engine);
	CudaJob *job;
	HgStatus status;

	HG_TRY(hg_spec_check(spec, error));
	if (spec->device >= 0 && spec->device != self->device.ordinal)
		return hg_error_set(error, HG_UNAVAILABLE, nullptr, "this process uses device %d, not %d",
							self->device.ordinal, (int) spec->device);

	HG_TRY(check_room(self, spec, error));

	job = static_cast<CudaJob *>(host->alloc(host->arg, sizeof(*job)));
	if (job == nullptr)
		return hg_error_set(error, HG_OUT_OF_MEMORY, nullptr, "out of memory");
	memset(job, 0, sizeof(*job));
	job->engine = self;
	job->spec = *spec;
	status = hg_cuda_work_open(&job->work, &self->device, host, spec->memory_limit, error);
	if (status != HG_OK)
	{
		host->free(host->arg, job, sizeof(*job));
		return status;
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_cuda_columns_init(&job->values[side], spec, (HgSide) side);
	*handle = reinterpret_cast<HgJob *>(job);
	return HG_OK;
}

/*
 * Make room for rows rows in a column, keeping what it has: the first time for those that are
 * expected, then for half as many more at a time, or, where memory is short, for no more than
 * these.
 */
static HgStatus
reserve(CudaJob *job, CudaColumn *column, uint64_t rows, uint64_t expected, HgError *error)
{
	const uint32_t width = job->spec.key_width;
	uint64_t capacity = column->capacity + column->capacity / 2;
	HgStatus status;
	void *keys;

	if (rows <= column->capacity)
		return HG_OK;
	if (column->capacity == 0)
		capacity = expected > 0 && expected <= HG_MAX_ROWS ? expected : FIRST_CAPACITY;
	if (capacity < rows)
		capacity = rows;
	if (capacity > HG_MAX_ROWS)
		capacity = HG_MAX_ROWS;

	status = hg_cuda_alloc(&job->work, capacity * width, &keys, error);
	if (status == HG_DEVICE_OUT_OF_MEMORY && capacity > rows)
	{
		capacity = rows;
		status = hg_cuda_alloc(&job->work, capacity * width, &keys, error);
	}
	HG_TRY(status);
	if (column->rows > 0)
		HG_CUDA_TRY(cudaMemcpyAsync(keys, column->keys, column->rows * width,
									cudaMemcpyDeviceToDevice, job->work.stream),
					error);
	hg_cuda_free(&job->work, column->keys);
	column->keys = keys;
	column->capacity = capacity;
	return HG_OK;
}

static HgStatus
append(CudaJob *job, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	CudaColumn *column = &job->columns[side];
	const unsigned char *from = static_cast<const unsigned char *>(keys);
	const uint32_t width = job->spec.key_width;
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_TRANSFER]);

	if (job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "keys can not be appended after build");
	if (count > HG_MAX_ROWS - column->rows)
		return hg_error_set(error, HG_TOO_MANY_ROWS, nullptr,
							"too many rows in one side of a join");
	HG_TRY(enter(job, error));
	HG_TRY(reserve(job, column, column->rows + count, job->spec.expected_rows[side], error));

	while (count > 0)
	{
		uint64_t piece = count < HG_APPEND_KEYS ? count : HG_APPEND_KEYS;
		unsigned char *to = static_cast<unsigned char *>(column->keys) + column->rows * width;

		HG_CUDA_TRY(
			cudaMemcpyAsync(to, from, piece * width, cudaMemcpyHostToDevice, job->work.stream),
			error);
		HG_TRY(hg_cuda_wait(&job->work, error));
		column->rows += piece;
		job->stats.rows[side] += piece;
		from += piece * width;
		count -= piece;
	}
	return HG_OK;
}

/* Rows are numbered by the caller, or not: all rows of a job alike. */
static HgStatus
check_numbering(const CudaJob *job, bool numbered, HgError *error)
{
	const uint64_t runs = job->numbers[HG_OUTER].count + job->numbers[HG_INNER].count;

	if (job->stats.rows[HG_OUTER] + job->stats.rows[HG_INNER] > 0 && (runs > 0) != numbered)
		return hg_error_set(error, HG_INVALID, nullptr, "rows are numbered in two ways");
	return HG_OK;
}

static HgStatus
cuda_append(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	CudaJob *job = job_of(handle);

	HG_TRY(check_numbering(job, false, error));
	return append(job, side, keys, count, error);
}

static HgStatus
cuda_append_rows(HgJob *handle, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
				 HgError *error)
{
	CudaJob *job = job_of(handle);

	HG_TRY(check_numbering(job, true, error));
	if (first_row > HG_MAX_ROWS || count > HG_MAX_ROWS - first_row)
		return hg_error_set(error, HG_TOO_MANY_ROWS, nullptr,
							"too many rows in one side of a join");
	HG_TRY(hg_cuda_numbers_add(&job->numbers[side], job->work.host, job->columns[side].rows, count,
							   first_row, error));
	return append(job, side, keys, count, error);
}

static HgStatus
cuda_append_column(HgJob *handle, HgSide side, uint32_t column, const void *values,
				   const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	CudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_TRANSFER]);

	if (job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "columns can not be appended after build");
	HG_TRY(enter(job, error));
	return hg_cuda_columns_append(&job->work, &job->values[side], &job->numbers[side],
								  job->stats.rows[side], job->spec.expected_rows[side], column,
								  values, nulls, count, first_row, error);
}

/* Add the time between two marks to a phase. */
static HgStatus
add_phase(CudaJob *job, HgPhase phase, int from, int to, HgError *error)
{
	const cudaEvent_t *marks = job->work.kit.marks;
	float ms;

	HG_CUDA_TRY(cudaEventElapsedTime(&ms, marks[from], marks[to]), error);
	job->stats.phase_ms[phase] += ms;
	return HG_OK;
}

/* Build the graph of one side, and note the time its phases took. */
static HgStatus
build_side(CudaJob *job, const HgShape *shape, HgSide side, HgError *error)
{
	CudaColumn *column = &job->columns[side];

	HG_TRY(hg_cuda_graph_build(&job->work, shape, job->spec.key_width, column->keys, column->rows,
							   false, side == HG_INNER, &job->graphs[side], error));
	memset(column, 0, sizeof(*column));
	HG_TRY(add_phase(job, HG_PHASE_BIN, 0, 1, error));
	return add_phase(job, HG_PHASE_BUILD, 1, 2, error);
}

static HgStatus
build_graphs(CudaJob *job, const HgShape *shape, HgError *error)
{
	CudaColumn *outer = &job->columns[HG_OUTER];

	HG_TRY(build_side(job, shape, HG_INNER, error));
	if (shape->probe == HG_PROBE_INTERSECT)
		return build_side(job, shape, HG_OUTER, error);
	/* its rows are looked up as they are */
	return hg_cuda_mix(&job->work, job->spec.key_width, outer->keys, outer->keys, outer->rows,
					   error);
}

/* Put the rows of both sides into bins; with both graphs nothing else is built yet. */
static HgStatus
build_bins(CudaJob *job, const HgShape *shape, HgError *error)
{
	const cudaEvent_t *marks = job->work.kit.marks;

	HG_CUDA_TRY(cudaEventRecord(marks[0], job->work.stream), error);
	for (int side = HG_INNER; side >= HG_OUTER; side--)
	{
		CudaColumn *column = &job->columns[side];

		HG_TRY(hg_cuda_partition_make(&job->work, job->spec.key_width, column->keys, column->rows,
									  false, shape->bins_log2, &job->partitions[side], error));
		memset(column, 0, sizeof(*column));
	}
	HG_CUDA_TRY(cudaEventRecord(marks[1], job->work.stream), error);
	if (!job->both)
		HG_TRY(hg_cuda_bins_open(&job->work, &job->partitions[HG_INNER], &job->partitions[HG_OUTER],
								 shape->vertices_log2, 0, &job->bins, error));
	HG_CUDA_TRY(cudaEventRecord(marks[2], job->work.stream), error);
	HG_TRY(hg_cuda_wait(&job->work, error));
	HG_TRY(add_phase(job, HG_PHASE_BIN, 0, 1, error));
	return add_phase(job, HG_PHASE_BUILD, 1, 2, error);
}

static HgStatus
cuda_build(HgJob *handle, HgError *error)
{
	CudaJob *job = job_of(handle);
	HgShape shape;

	if (job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "the join is built already");
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		HG_TRY(hg_cuda_columns_check(&job->values[side], job->stats.rows[side], error));
	HG_TRY(enter(job, error));
	if (has_columns(job))
		HG_TRY(hg_cuda_gather_open(&job->work, &job->gather, error));
	job->layout = hg_cuda_layout_choose(&job->spec);
	shape =
		hg_cuda_shape_choose(&job->spec, job->columns[HG_OUTER].rows, job->columns[HG_INNER].rows);
	job->shape = shape;
	job->both = hg_cuda_is_both(&job->spec, &shape);
	if (in_bins(job))
		HG_TRY(build_bins(job, &shape, error));
	else
		HG_TRY(build_graphs(job, &shape, error));

	job->stats.vertices = UINT64_C(1) << shape.vertices_log2;
	job->stats.bins = UINT64_C(1) << shape.bins_log2;
	job->stats.ranges = 1;
	job->stats.build = shape.build;
	job->stats.probe = shape.probe;
	job->built = true;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Matches
 * ------------------------------------------------------------------------ */

static HgCudaOuter
outer_of(const CudaJob *job)
{
	HgCudaOuter outer;

	outer.in_lists = job->stats.probe == HG_PROBE_INTERSECT;
	outer.count = job->stats.rows[HG_OUTER];
	if (outer.in_lists)
	{
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

static HgStatus
check_built(const CudaJob *job, HgError *error)
{
	if (!job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "the join is not built yet");
	return HG_OK;
}

static void
add_counts(CudaJob *job, const HgCudaMatchCounts *counts)
{
	job->stats.comparisons += counts->comparisons;
	job->stats.intersections += job->both ? job->common : counts->intersections;
}

/*
 * Have room in the chunk for wanted pairs, or for as many as a chunk may have, or, where memory
 * is short, for fewer, but for least ones.
 */
static HgStatus
reserve_chunk(CudaJob *job, uint64_t wanted, uint64_t least, HgError *error)
{
	uint64_t capacity = wanted < HG_CHUNK_PAIRS ? wanted : HG_CHUNK_PAIRS;

	if (capacity < least)
		capacity = least;
	while (capacity > job->chunk_capacity)
	{
		uint32_t *chunk;
		HgStatus status = hg_cuda_alloc_array(&job->work, 2 * capacity, &chunk, error);

		if (status == HG_OK)
		{
			hg_cuda_free(&job->work, job->chunk);
			job->chunk = chunk;
			job->chunk_capacity = capacity;
			return HG_OK;
		}
		if (status != HG_DEVICE_OUT_OF_MEMORY || (capacity <= least && job->chunk_capacity < least))
			return status;
		capacity = capacity / 2 > least ? capacity / 2 : least;
	}
	return HG_OK;
}

/* The pairs that a chunk must have room for. */
static uint64_t
least_chunk(const CudaJob *job)
{
	return in_bins(job) && job->bins.longest > HG_LEAST_CHUNK_PAIRS ? job->bins.longest
																	: HG_LEAST_CHUNK_PAIRS;
}

/* Give back what match() took, but for the chunk. */
static void
end_stream(CudaJob *job)
{
	hg_cuda_join_close(&job->work, &job->join);
	hg_cuda_bins_end(&job->work, &job->bins_matches);
	job->joined = false;
	job->chunk_count = 0;
}

/*
 * The first count matches of the chunk get the numbers of their rows, where the caller gave any and
 * positions are not needed.
 */
static HgStatus
number_chunk(CudaJob *job, uint64_t count, HgError *error)
{
	if (has_columns(job))
		return HG_OK;
	HG_TRY(
		hg_cuda_numbers_translate(&job->work, &job->numbers[HG_OUTER], job->chunk, count, error));
	return hg_cuda_numbers_translate(&job->work, &job->numbers[HG_INNER],
									 job->chunk + job->chunk_capacity, count, error);
}

/*
 * Build the graphs of both sides, unless they are; pairs as for hg_cuda_both_build, but that those
 * which are to be written go to the chunk.
 */
static HgStatus
build_both(CudaJob *job, HgCudaBothPairs *pairs, bool writing, HgError *error)
{
	if (job->both_built)
		return HG_OK;
	HG_TRY(hg_cuda_both_begin(&job->work, &job->shape, job->partitions, job->graphs, error));
	if (writing)
	{
		/* after the graphs, as it gets by with what they leave */
		HG_TRY(reserve_chunk(job, job->stats.rows[HG_OUTER], HG_LEAST_CHUNK_PAIRS, error));
		pairs->outer_rows = job->chunk;
		pairs->inner_rows = job->chunk + job->chunk_capacity;
		pairs->capacity = job->chunk_capacity;
	}
	HG_TRY(hg_cuda_both_build(&job->work, &job->shape, job->partitions, job->graphs, pairs, error));
	for (HgCudaPartition &partition : job->partitions)
		hg_cuda_partition_free(&job->work, &partition);
	job->both_built = true;
	return hg_cuda_both_common(&job->work, job->graphs, &job->common, error);
}

/* Make the edges of both graphs ready to be joined as rows in bins. */
static HgStatus
view_both(CudaJob *job, HgError *error)
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

/*
 * Build the graphs of both sides, and find the matches on the way; *written tells whether the
 * chunk has all of them.
 */
static HgStatus
match_both(CudaJob *job, HgMatchMode mode, bool *written, HgError *error)
{
	HgCudaBothPairs pairs = {};

	pairs.mode = mode;
	HG_TRY(build_both(job, &pairs, true, error));
	*written = pairs.complete;
	if (!pairs.complete)
		return HG_OK;
	add_counts(job, &pairs.counts);
	job->matches = pairs.counts.matches;
	job->chunk_count = job->matches;
	job->chunk_first = 0;
	return number_chunk(job, job->chunk_count, error);
}

/* Find the matches; those of bins are written at once where the chunk has room for all. */
static HgStatus
start_stream(CudaJob *job, HgMatchMode mode, HgError *error)
{
	const HgCudaMatchCounts *counts = &job->join.counts;
	HgCudaOuter outer;
	bool written = false;

	end_stream(job);
	job->mode = mode;
	if (job->both && !job->both_built)
	{
		HG_TRY(match_both(job, mode, &written, error));
		job->joined = written;
		if (written)
			return HG_OK;
	}
	if (in_bins(job))
	{
		HG_TRY(view_both(job, error));
		HG_TRY(reserve_chunk(job, job->stats.rows[HG_OUTER], least_chunk(job), error));
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
	add_counts(job, counts);
	job->matches = counts->matches;
	job->joined = true;
	return HG_OK;
}

static HgStatus
cuda_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	CudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_MATCH]);

	HG_TRY(check_built(job, error));
	HG_TRY(enter(job, error));
	if (!job->joined || job->mode != mode)
		HG_TRY(start_stream(job, mode, error));
	job->position = 0;
	return HG_OK;
}

/* Have the matches from the stream's position on written to the chunk. */
static HgStatus
fill_chunk(CudaJob *job, HgError *error)
{
	const uint64_t left = job->matches - job->position;
	uint64_t count;

	HG_TRY(reserve_chunk(job, left, least_chunk(job), error));
	count = left < job->chunk_capacity ? left : job->chunk_capacity;
	job->chunk_count = 0;
	if (in_bins(job))
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
 * Copy count pairs, from number first of the chunk on, to the caller, with the values that are
 * wanted; wait even on failure.
 */
static HgStatus
copy_pairs(CudaJob *job, uint64_t first, uint64_t count, HgMatches *matches, HgError *error)
{
	const size_t bytes = count * sizeof(uint32_t);
	const uint32_t *const rows[2] = {job->chunk + first, job->chunk + job->chunk_capacity + first};
	cudaError_t code;

	if (has_columns(job))
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

static HgStatus
cuda_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	CudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_MATCH]);
	uint64_t count;

	matches->count = 0;
	if (!job->joined)
		return hg_error_set(error, HG_INVALID, nullptr, "no stream of matches was started");
	if (matches->capacity == 0)
		return hg_error_set(error, HG_INVALID, nullptr, "a chunk of matches needs room for one");
	HG_TRY(hg_matches_check(&job->spec, matches, error));
	if (job->position == job->matches)
		return HG_OK;

	HG_TRY(enter(job, error));
	HG_TRY(hg_cuda_look(&job->work, error));
	if (job->position < job->chunk_first || job->position >= job->chunk_first + job->chunk_count)
		HG_TRY(fill_chunk(job, error));
	count = job->chunk_first + job->chunk_count - job->position;
	if (count > matches->capacity)
		count = matches->capacity;
	if (has_columns(job) && count > HG_GATHER_PAIRS)
		count = HG_GATHER_PAIRS;
	HG_TRY(copy_pairs(job, job->position - job->chunk_first, count, matches, error));

	job->position += count;
	job->stats.matches += count;
	matches->count = count;
	return HG_OK;
}

static HgStatus
cuda_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	CudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_MATCH]);
	HgCudaMatchCounts counts;
	HgCudaOuter outer;

	HG_TRY(check_built(job, error));
	HG_TRY(enter(job, error));
	if (job->both && !job->both_built)
	{
		HgCudaBothPairs pairs = {};

		pairs.mode = mode;
		HG_TRY(build_both(job, &pairs, false, error));
		counts = pairs.counts;
	}
	else if (in_bins(job))
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
	add_counts(job, &counts);
	job->stats.matches += counts.matches;
	*matches = counts.matches;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Groups
 * ------------------------------------------------------------------------ */

/* Have all matches written, a chunk at a time, and add each to the groups. */
static HgStatus
reduce_matches(CudaJob *job, HgMatchMode mode, HgError *error)
{
	HG_TRY(start_stream(job, mode, error));
	job->position = 0;
	while (job->position < job->matches && !job->reduce.too_many)
	{
		if (job->position < job->chunk_first ||
			job->position >= job->chunk_first + job->chunk_count)
			HG_TRY(fill_chunk(job, error));
		HG_TRY(hg_cuda_reduce_add(&job->work, &job->reduce, job->chunk,
								  job->chunk + job->chunk_capacity, job->chunk_count, error));
		job->position = job->chunk_first + job->chunk_count;
	}
	return HG_OK;
}

static HgStatus
cuda_reduce(HgJob *handle, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
			HgError *error)
{
	CudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_MATCH]);

	HG_TRY(check_built(job, error));
	HG_TRY(hg_reduce_check(&job->spec, spec, error));
	HG_TRY(enter(job, error));
	end_stream(job);
	hg_cuda_reduce_close(&job->work, &job->reduce);
	HG_TRY(hg_cuda_reduce_open(&job->work, spec, job->values, &job->reduce, error));
	HG_TRY(reduce_matches(job, mode, error));
	end_stream(job);
	hg_cuda_reduce_end(&job->work, &job->reduce);

	*groups = job->reduce.too_many ? HG_TOO_MANY_GROUPS : job->reduce.groups;
	if (!job->reduce.too_many)
		job->stats.matches += job->matches;
	return HG_OK;
}

static HgStatus
cuda_next_groups(HgJob *handle, HgGroupRecords *records, HgError *error)
{
	CudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_MATCH]);

	HG_TRY(enter(job, error));
	return hg_cuda_reduce_next(&job->work, &job->reduce, records, error);
}

/* ------------------------------------------------------------------------
 * Graphs
 * ------------------------------------------------------------------------ */

/*
 * The graph of a side.  That of the inner bins is built when it is asked for, and is the
 * caller's to give back (see put_graph); the stream makes room for it.
 */
static HgStatus
get_graph(CudaJob *job, HgSide side, HgError *error)
{
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_BUILD]);

	HG_TRY(check_built(job, error));
	HG_TRY(enter(job, error));
	if (job->both)
		HG_TRY(build_both(job, nullptr, false, error));
	if (job->layout == HG_LAYOUT_BINS && side == HG_INNER)
	{
		end_stream(job);
		hg_cuda_free(&job->work, job->chunk);
		job->chunk = nullptr;
		job->chunk_capacity = 0;
		HG_TRY(hg_cuda_bins_graph(&job->work, &job->bins, &job->graphs[HG_INNER], error));
	}
	if (job->graphs[side].offsets == nullptr)
		return hg_error_set(error, HG_INVALID, nullptr, "this side of the join has no graph");
	return HG_OK;
}

static void
put_graph(CudaJob *job, HgSide side)
{
	if (job->layout == HG_LAYOUT_BINS)
		hg_cuda_graph_free(&job->work, &job->graphs[side]);
}

static HgStatus
cuda_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	CudaJob *job = job_of(handle);

	HG_TRY(get_graph(job, side, error));
	HG_TRY(hg_cuda_graph_describe(&job->work, &job->graphs[side], stats, error));
	put_graph(job, side);
	return HG_OK;
}

static HgStatus
cuda_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
				  uint32_t *edge_rows, HgError *error)
{
	CudaJob *job = job_of(handle);

	HG_TRY(get_graph(job, side, error));
	HG_TRY(hg_cuda_graph_export(&job->work, &job->graphs[side], &job->numbers[side], offsets,
								edge_keys, edge_rows, error));
	put_graph(job, side);
	return HG_OK;
}

static void
cuda_stats(HgJob *handle, HgJobStats *stats)
{
	CudaJob *job = job_of(handle);

	*stats = job->stats;
	stats->peak_bytes = job->work.peak;
}

static void
cuda_close(HgJob *handle)
{
	CudaJob *job = job_of(handle);
	const HgHost *host = job->work.host;

	cudaSetDevice(job->engine->device.ordinal);
	hg_cuda_work_close(&job->work);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_cuda_numbers_close(&job->numbers[side], host);
	host->free(host->arg, job, sizeof(*job));
}

/* ------------------------------------------------------------------------
 * The engine
 * ------------------------------------------------------------------------ */

HgStatus
hg_cuda_engine_start(int device, uint64_t memory_budget, HgEngine **engine, HgError *error)
{
	CudaEngine *self;
	HgStatus status;
	int ordinal;

	HG_TRY(hg_cuda_devices_choose(device, &ordinal, error));
	self = new (std::nothrow) CudaEngine();
	if (self == nullptr)
		return hg_error_set(error, HG_OUT_OF_MEMORY, nullptr, "out of memory");
	status = hg_cuda_device_open(&self->device, ordinal, memory_budget, error);
	if (status != HG_OK)
	{
		hg_cuda_device_close(&self->device);
		delete self;
		return status;
	}

	self->engine.name = "cuda";
	self->engine.open = cuda_open;
	self->engine.append = cuda_append;
	self->engine.append_rows = cuda_append_rows;
	self->engine.append_column = cuda_append_column;
	self->engine.build = cuda_build;
	self->engine.match = cuda_match;
	self->engine.next = cuda_next;
	self->engine.count = cuda_count;
	self->engine.reduce = cuda_reduce;
	self->engine.next_groups = cuda_next_groups;
	self->engine.describe = cuda_describe;
	self->engine.export_graph = cuda_export_graph;
	self->engine.stats = cuda_stats;
	self->engine.close = cuda_close;
	*engine = &self->engine;
	return HG_OK;
}

uint64_t
hg_cuda_engine_job_bytes(const HgJobSpec *spec)
{
	const uint64_t outer_rows = spec->expected_rows[HG_OUTER];
	const uint64_t inner_rows = spec->expected_rows[HG_INNER];

	/* append will tell */
	if (outer_rows > HG_MAX_ROWS || inner_rows > HG_MAX_ROWS)
		return 0;
	return hg_cuda_job_bytes(spec, outer_rows, inner_rows);
}

void
hg_cuda_engine_memory(HgEngine *engine, uint64_t *budget, uint64_t *held, uint64_t *peak)
{
	CudaEngine *self = reinterpret_cast<CudaEngine *>(engine);

	*budget = self->device.budget;
	hg_cuda_device_use(&self->device, held, peak);
}

void
hg_cuda_engine_trim(HgEngine *engine)
{
	hg_cuda_device_trim(&reinterpret_cast<CudaEngine *>(engine)->device);
}

void
hg_cuda_engine_stop(HgEngine *engine)
{
	CudaEngine *self = reinterpret_cast<CudaEngine *>(engine);

	hg_cuda_device_close(&self->device);
	delete self;
}

HgStatus
hg_cuda_engine_register(void *memory, uint64_t bytes, HgError *error)
{
	HG_CUDA_TRY(cudaHostRegister(memory, bytes, cudaHostRegisterDefault), error);
	return HG_OK;
}

int
hg_cuda_engine_build_version(void)
{
	return CUDART_VERSION;
}
