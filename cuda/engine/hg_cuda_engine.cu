/*-------------------------------------------------------------------------
 *
 * hg_cuda_engine.cu
 *	  The CUDA engine: the life of a job on the host's side.
 *
 * Appended keys, or pages, are copied to the device piece by piece (hg_cuda_append.cu); nothing of
 * the caller's is read after append has returned. Build makes graphs or bins of them
 * (hg_cuda_build.cu). Match finds all matches, which are written to device memory a chunk at a
 * time, and next copies some of them out (hg_cuda_stream.cu). Reduce has all chunks written, and
 * makes groups of each in place (hg_cuda_reduce.cu).
 *
 * Any thread may use an engine, and one thread at a time a job. Jobs share nothing but the device
 * and need no locks: each has a stream and memory of its own (hg_cuda_work.h). Only pages may be
 * brought to one job by several threads at a time (hg_cuda_pieces.h).
 *
 * Every wait polls the job's cancelled(). Work that was launched before a cancellation runs on: a
 * piece of some milliseconds, or one digit of a radix sort. Copies to the caller's memory are
 * always waited for.
 *
 * Graph replicas arrive as edges, and column replicas as values by ordinal. Jobs that join
 * replicas start with both (hg_cuda_replica.h); from build on they are jobs of graphs as others
 * are.
 *
 * A job that announces more rows than it has room for is refused before anything is copied.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../kernels/hg_cuda_graph.h"
#include "../tables/hg_cuda_tables.h"
#include "hg_cuda_job.h"
#include "hg_cuda_devices.h"
#include "../kernels/hg_cuda_tuning.h"

#include <cstdio>
#include <new>

struct CudaEngine
{
	HgEngine engine; /* first: engine calls get its address */
	HgCudaDevice device;
	HgCudaTables tables;
};

/* Adds its lifetime to a phase. */
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

static HgCudaJob *
job_of(HgJob *handle)
{
	return reinterpret_cast<HgCudaJob *>(handle);
}

/* Makes the job's device the current one of this thread. */
static HgStatus
enter(HgCudaJob *job, HgError *error)
{
	HG_CUDA_TRY(cudaSetDevice(job->work.device->ordinal), error);
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * From open to build
 * ------------------------------------------------------------------------ */

/* Returns HG_DEVICE_OUT_OF_MEMORY if the device has no room now for a job of the expected rows. */
static HgStatus
check_room(CudaEngine *self, const HgJobSpec *spec, HgError *error)
{
	const uint64_t bytes = hg_cuda_engine_job_bytes(spec);
	uint64_t budget;
	uint64_t held;
	uint64_t peak;
	uint64_t room;
	char detail[120];

	hg_cuda_device_measure(&self->device);
	hg_cuda_device_use(&self->device, &budget, &held, &peak);
	room = budget > held ? budget - held : 0;
	if (spec->memory_limit > 0 && spec->memory_limit < room)
		room = spec->memory_limit;
	if (bytes <= room)
		return HG_OK;
	snprintf(detail, sizeof(detail), "It needs %llu bytes at least, and may have %llu.",
			 (unsigned long long) bytes, (unsigned long long) room);
	return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, detail,
						"the join is too large for the device memory that it may have");
}

/* Copies into the job what outlives open of a spec. */
static void
note_spec(HgCudaJob *job, const HgJobSpec *spec, const HgCudaReplicaSide replica[2])
{
	job->spec = *spec;
	if (spec->product.kind == HG_PRODUCT_TABLE)
	{
		job->trial = *spec->product.trial;
		job->spec.product.trial = &job->trial;
	}
	else if (hg_replica_is_made(spec))
		job->spec.product.graph = nullptr;
	hg_cuda_making_init(&job->making, spec);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		job->replica[side] = replica[side];
		if (spec->sides[side].kind == HG_SOURCE_PAGES)
		{
			job->pages[side] = *spec->sides[side].pages;
			job->spec.sides[side].pages = &job->pages[side];
		}
		if (replica[side].replica != nullptr)
		{
			job->stats.rows[side] = replica[side].replica->shape.rows;
			job->spec.sides[side].replica = HgReplicaSource();
		}
		hg_cuda_columns_init(&job->values[side], spec, (HgSide) side);
		hg_cuda_replica_side_attach(spec, (HgSide) side, &job->values[side], &job->numbers[side]);
	}
}

static HgStatus
cuda_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **handle,
		  HgError *error)
{
	CudaEngine *self = reinterpret_cast<CudaEngine *>(engine);
	HgCudaReplicaSide replica[2];
	HgCudaJob *job;
	HgStatus status;

	HG_TRY(hg_spec_check(spec, error));
	if (spec->device >= 0 && spec->device != self->device.ordinal)
		return hg_error_set(error, HG_UNAVAILABLE, nullptr, "this process uses device %d, not %d",
							self->device.ordinal, (int) spec->device);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		HG_TRY(
			hg_cuda_replica_side_open(&replica[side], &self->device, spec, (HgSide) side, error));
	HG_TRY(check_room(self, spec, error));

	HG_TRY(hg_cuda_make_struct(host, sizeof(*job), &job, error));
	note_spec(job, spec, replica);
	status = hg_cuda_work_open(&job->work, &self->device, host, spec->memory_limit, error);
	if (status != HG_OK)
	{
		host->free(host->arg, job, sizeof(*job));
		return status;
	}
	hg_cuda_work_promise(&job->work, hg_cuda_engine_job_bytes(spec));
	status = hg_cuda_append_open(job, hg_cuda_engine_job_bytes(spec), error);
	if (status != HG_OK)
	{
		hg_cuda_work_close(&job->work);
		host->free(host->arg, job, sizeof(*job));
		return status;
	}
	*handle = reinterpret_cast<HgJob *>(job);
	return HG_OK;
}

/* Copies keys, which the caller has checked, to a side. */
static HgStatus
append(HgCudaJob *job, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_TRANSFER]);

	if (job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "keys can not be appended after build");
	HG_TRY(enter(job, error));
	return hg_cuda_append_keys(job, side, keys, count, error);
}

/* Returns the rows that were appended to a side as keys, not as pages. */
static uint64_t
appended(const HgCudaJob *job, HgSide side)
{
	return job->spec.sides[side].kind == HG_SOURCE_PAGES ? 0 : job->columns[side].rows;
}

/*
 * Checks that keys may be appended to a side: not if it is a graph replica or comes as pages.
 * Either all rows of a job are numbered by the caller, or none.
 */
static HgStatus
check_append(const HgCudaJob *job, HgSide side, bool numbered, HgError *error)
{
	const uint64_t runs = job->numbers[HG_OUTER].count + job->numbers[HG_INNER].count;

	if (hg_cuda_job_is_making(job) || job->replica[side].replica != nullptr)
		return hg_error_set(error, HG_INVALID, nullptr,
							"keys can not be appended to a graph replica");
	if (job->spec.sides[side].kind == HG_SOURCE_PAGES)
		return hg_error_set(error, HG_INVALID, nullptr, "this side of the join comes as pages");
	HG_TRY(hg_cuda_shards_check_append(job, side, error));
	if (appended(job, HG_OUTER) + appended(job, HG_INNER) > 0 && (runs > 0) != numbered)
		return hg_error_set(error, HG_INVALID, nullptr, "rows are numbered in two ways");
	return HG_OK;
}

static HgStatus
cuda_append(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	HgCudaJob *job = job_of(handle);

	HG_TRY(check_append(job, side, false, error));
	return append(job, side, keys, count, error);
}

static HgStatus
cuda_append_rows(HgJob *handle, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
				 HgError *error)
{
	HgCudaJob *job = job_of(handle);

	/* the numbers are on the device from then on */
	if (job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "keys can not be appended after build");
	HG_TRY(check_append(job, side, true, error));
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
	HgCudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_TRANSFER]);

	if (job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "columns can not be appended after build");
	if (job->spec.sides[side].kind == HG_SOURCE_PAGES)
		return hg_error_set(error, HG_INVALID, nullptr, "this side of the join comes as pages");
	HG_TRY(hg_cuda_shards_check_append(job, side, error));
	HG_TRY(enter(job, error));
	return hg_cuda_columns_append(&job->work, &job->values[side], &job->numbers[side],
								  job->stats.rows[side], job->spec.sides[side].expected_rows,
								  column, values, nulls, count, first_row, error);
}

static HgStatus
cuda_append_pages(HgJob *handle, HgSide side, const void *pages, uint64_t count,
				  uint64_t first_page, HgError *error)
{
	HgCudaJob *job = job_of(handle);
	HgStatus status;

	if (job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "pages can not be appended after build");
	HG_TRY(hg_pages_append_check(hg_side_pages(&job->spec, side), count, first_page, error));
	HG_TRY(enter(job, error));
	hg_cuda_pieces_enter(job->pieces);
	status = hg_cuda_append_pages(job, side, pages, count, first_page, error);
	hg_cuda_pieces_leave(job->pieces);
	return status;
}

/* Any thread may call it: it reads only what stays as it was when the job was opened. */
static HgStatus
cuda_bring_pages(HgJob *handle, const HgHost *host, HgSide side, const void *pages, uint64_t count,
				 HgBroughtPages **brought, HgError *error)
{
	HgCudaJob *job = job_of(handle);
	HgCudaPiece *piece;

	HG_TRY(hg_pages_append_check(hg_side_pages(&job->spec, side), count, 0, error));
	HG_TRY(enter(job, error));
	HG_TRY(hg_cuda_pieces_bring(job->pieces, host, side, pages, count, &piece, error));
	*brought = reinterpret_cast<HgBroughtPages *>(piece);
	return HG_OK;
}

static void
cuda_drop_pages(HgJob *handle, HgBroughtPages *brought)
{
	HgCudaJob *job = job_of(handle);

	cudaSetDevice(job->work.device->ordinal);
	hg_cuda_pieces_release(job->pieces, reinterpret_cast<HgCudaPiece *>(brought));
}

/* Checks that a piece's rows may be appended, and makes the device current. */
static HgStatus
check_piece(HgCudaJob *job, const HgCudaPages *pages, uint64_t first_page, HgError *error)
{
	if (job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "pages can not be appended after build");
	HG_TRY(hg_pages_append_check(hg_side_pages(&job->spec, pages->side), pages->count, first_page,
								 error));
	return enter(job, error);
}

static HgStatus
cuda_take_pages(HgJob *handle, HgBroughtPages *brought, uint64_t first_page, HgError *error)
{
	HgCudaJob *job = job_of(handle);
	HgCudaPiece *piece = reinterpret_cast<HgCudaPiece *>(brought);
	HgStatus status = check_piece(job, &piece->pages, first_page, error);

	if (status == HG_OK)
		return hg_cuda_append_piece(job, piece, first_page, error);
	cuda_drop_pages(handle, brought);
	return status;
}

static HgStatus
cuda_tally(HgJob *handle, HgSide side, uint64_t *counts, HgError *error)
{
	HgCudaJob *job = job_of(handle);

	HG_TRY(enter(job, error));
	return hg_cuda_shards_tally(job, side, counts, error);
}

static HgStatus
cuda_expect(HgJob *handle, HgSide side, const HgExchange *exchange, HgError *error)
{
	HgCudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_TRANSFER]);

	HG_TRY(enter(job, error));
	return hg_cuda_shards_expect(job, side, exchange, error);
}

static HgStatus
cuda_take_rows(HgJob *handle, HgSide side, uint32_t shard, HgExchangeRows *rows, HgError *error)
{
	HgCudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_TRANSFER]);

	HG_TRY(enter(job, error));
	return hg_cuda_shards_take(job, side, shard, rows, error);
}

static HgStatus
cuda_put_rows(HgJob *handle, HgSide side, const HgExchangeRows *rows, HgError *error)
{
	HgCudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_TRANSFER]);

	HG_TRY(enter(job, error));
	return hg_cuda_shards_put(job, side, rows, error);
}

static HgStatus
cuda_arrived(HgJob *handle, HgSide side, HgError *error)
{
	HgCudaJob *job = job_of(handle);

	HG_TRY(enter(job, error));
	HG_TRY(hg_cuda_peer_windows_take(job, side, error));
	return hg_cuda_shards_arrived(job, side, error);
}

static HgStatus
cuda_window(HgJob *handle, HgSide side, HgPeerWindow *window, HgError *error)
{
	HgCudaJob *job = job_of(handle);

	HG_TRY(enter(job, error));
	return hg_cuda_peer_windows_make(job, side, window, error);
}

static HgStatus
cuda_send_rows(HgJob *handle, HgSide side, uint32_t shard, const HgPeerWindow *window,
			   HgError *error)
{
	HgCudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_TRANSFER]);

	HG_TRY(enter(job, error));
	return hg_cuda_peer_windows_send(job, side, shard, window, error);
}

/* send_rows has waited for the rows already. */
static HgStatus
cuda_sent(HgJob *, HgSide, HgError *)
{
	return HG_OK;
}

static HgStatus
cuda_put_edges(HgJob *handle, const void *keys, const uint32_t *rows, uint64_t count,
			   HgError *error)
{
	HgCudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_TRANSFER]);

	if (!hg_cuda_job_is_making_graph(job))
		return hg_error_set(error, HG_INVALID, nullptr, "the job makes no graph");
	if (job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "edges can not be put after build");
	HG_TRY(enter(job, error));
	return hg_cuda_making_put(&job->work, &job->making, keys, rows, count, error);
}

static HgStatus
cuda_put_values(HgJob *handle, const void *values, const uint8_t *nulls, uint64_t count,
				uint64_t first_ordinal, HgError *error)
{
	HgCudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_TRANSFER]);

	if (!hg_cuda_job_is_making_column(job))
		return hg_error_set(error, HG_INVALID, nullptr, "the job makes no column");
	if (job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "values can not be put after build");
	HG_TRY(enter(job, error));
	return hg_cuda_replica_column_put(&job->work, &job->making.column, values, nulls, count,
									  first_ordinal, error);
}

static HgStatus
cuda_mask(HgJob *handle, HgSide side, uint32_t lookup, uint64_t first_word, uint64_t count,
		  const uint64_t *words, HgError *error)
{
	HgCudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_TRANSFER]);

	if (job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "a mask can not be given after build");
	HG_TRY(enter(job, error));
	return hg_cuda_replica_side_mask(&job->work, &job->replica[side], lookup, first_word, count,
									 words, error);
}

static HgStatus
cuda_build(HgJob *handle, HgError *error)
{
	HgCudaJob *job = job_of(handle);

	if (job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "the join is built already");
	if (job->bad_page)
		return hg_pages_bad(error);
	HG_TRY(hg_cuda_shards_check_build(job, error));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		HG_TRY(hg_cuda_columns_check(&job->values[side], job->stats.rows[side], error));
	HG_TRY(enter(job, error));
	hg_cuda_append_end(job);
	return hg_cuda_build(job, error);
}

/* ------------------------------------------------------------------------
 * Matches
 * ------------------------------------------------------------------------ */

static HgStatus
check_built(const HgCudaJob *job, HgError *error)
{
	if (!job->built || hg_cuda_job_is_making(job))
		return hg_error_set(error, HG_INVALID, nullptr, "the join is not built yet");
	return HG_OK;
}

static HgStatus
cuda_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	HgCudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_MATCH]);

	HG_TRY(check_built(job, error));
	HG_TRY(enter(job, error));
	return hg_cuda_stream_start(job, mode, error);
}

static HgStatus
cuda_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	HgCudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_MATCH]);

	matches->count = 0;
	if (!job->joined)
		return hg_error_set(error, HG_INVALID, nullptr, "no stream of matches was started");
	if (matches->capacity == 0)
		return hg_error_set(error, HG_INVALID, nullptr, "a chunk of matches needs room for one");
	HG_TRY(hg_matches_check(&job->spec, matches, error));
	if (job->position == job->matches)
		return HG_OK;

	HG_TRY(enter(job, error));
	return hg_cuda_stream_next(job, matches, error);
}

static HgStatus
cuda_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgCudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_MATCH]);

	HG_TRY(check_built(job, error));
	HG_TRY(enter(job, error));
	return hg_cuda_stream_count(job, mode, matches, error);
}

/* ------------------------------------------------------------------------
 * Groups
 * ------------------------------------------------------------------------ */

/* Writes all matches, a chunk at a time, and adds each chunk to the groups. */
static HgStatus
reduce_matches(HgCudaJob *job, HgMatchMode mode, HgError *error)
{
	HG_TRY(hg_cuda_stream_start(job, mode, error));
	while (job->position < job->matches && !job->reduce.too_many)
	{
		HG_TRY(hg_cuda_stream_fill(job, error));
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
	HgCudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_MATCH]);

	HG_TRY(check_built(job, error));
	HG_TRY(hg_reduce_check(&job->spec, spec, error));
	HG_TRY(enter(job, error));
	hg_cuda_stream_end(job);
	hg_cuda_reduce_close(&job->work, &job->reduce);
	HG_TRY(hg_cuda_reduce_open(&job->work, spec, job->values, &job->reduce, error));
	HG_TRY(reduce_matches(job, mode, error));
	hg_cuda_stream_end(job);
	hg_cuda_reduce_end(&job->work, &job->reduce);

	*groups = job->reduce.too_many ? HG_TOO_MANY_GROUPS : job->reduce.groups;
	if (!job->reduce.too_many)
		job->stats.matches += job->matches;
	return HG_OK;
}

static HgStatus
cuda_next_groups(HgJob *handle, HgGroupRecords *records, HgError *error)
{
	HgCudaJob *job = job_of(handle);
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_MATCH]);

	HG_TRY(enter(job, error));
	return hg_cuda_reduce_next(&job->work, &job->reduce, records, error);
}

/* ------------------------------------------------------------------------
 * Graphs
 * ------------------------------------------------------------------------ */

/*
 * Gets the graph of a side. The inner bins' graph is built for the call, after the stream has
 * freed its memory; the caller frees it by put_graph.
 */
static HgStatus
get_graph(HgCudaJob *job, HgSide side, HgError *error)
{
	PhaseTimer timer(&job->stats.phase_ms[HG_PHASE_BUILD]);

	HG_TRY(check_built(job, error));
	if (hg_cuda_job_has_replicas(job))
		return hg_error_set(error, HG_INVALID, nullptr, "this side of the join has no graph");
	HG_TRY(enter(job, error));
	HG_TRY(hg_cuda_stream_graphs(job, error));
	if (job->layout == HG_LAYOUT_BINS && side == HG_INNER)
	{
		hg_cuda_stream_close(job);
		HG_TRY(hg_cuda_bins_graph(&job->work, &job->bins, &job->graphs[HG_INNER], error));
	}
	if (job->graphs[side].offsets == nullptr)
		return hg_error_set(error, HG_INVALID, nullptr, "this side of the join has no graph");
	return HG_OK;
}

static void
put_graph(HgCudaJob *job, HgSide side)
{
	if (job->layout == HG_LAYOUT_BINS)
		hg_cuda_graph_free(&job->work, &job->graphs[side]);
}

static HgStatus
cuda_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	HgCudaJob *job = job_of(handle);

	HG_TRY(get_graph(job, side, error));
	HG_TRY(hg_cuda_graph_describe(&job->work, &job->graphs[side], stats, error));
	put_graph(job, side);
	return HG_OK;
}

static HgStatus
cuda_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
				  uint32_t *edge_rows, HgError *error)
{
	HgCudaJob *job = job_of(handle);

	HG_TRY(get_graph(job, side, error));
	HG_TRY(hg_cuda_graph_export(&job->work, &job->graphs[side], &job->numbers[side], offsets,
								edge_keys, edge_rows, error));
	put_graph(job, side);
	return HG_OK;
}

static HgStatus
cuda_take_replica(HgJob *handle, HgReplica **graph, uint64_t *bytes, HgError *error)
{
	HgCudaJob *job = job_of(handle);

	if (!job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "what is to be kept is not built yet");
	return hg_cuda_making_take_replica(&job->work, &job->making, graph, bytes, error);
}

static void
cuda_release(HgEngine *, HgReplica *graph)
{
	hg_cuda_replica_release(graph);
}

/* ------------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------------ */

static HgStatus
cuda_measure_table(HgJob *handle, HgTableMeasure *measure, HgError *error)
{
	HgCudaJob *job = job_of(handle);
	const HgCudaKeyColumn *column = &job->columns[HG_INNER];

	if (job->spec.product.kind != HG_PRODUCT_TABLE || job->built)
		return hg_error_set(error, HG_INVALID, nullptr, "the job has no table");
	HG_TRY(enter(job, error));
	return hg_cuda_table_measure(&job->work, &job->trial, column->keys, column->rows, measure,
								 error);
}

static void
cuda_stats(HgJob *handle, HgJobStats *stats)
{
	HgCudaJob *job = job_of(handle);

	*stats = job->stats;
	stats->peak_bytes = job->work.peak;
	hg_cuda_append_stats(job, stats);
}

static void
cuda_close(HgJob *handle)
{
	HgCudaJob *job = job_of(handle);
	const HgHost *host = job->work.host;

	cudaSetDevice(job->work.device->ordinal);
	/* after a cancellation kernels may still read replicas that are released next */
	if (hg_cuda_job_has_replicas(job) && !hg_cuda_stream_has_passed(job->work.stream))
		hg_cuda_device_follow(job->work.device, &job->work.kit);
	hg_cuda_append_close(job);
	hg_cuda_peer_windows_close(job);
	hg_cuda_work_close(&job->work);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_cuda_numbers_close(&job->numbers[side], host);
	host->free(host->arg, job, sizeof(*job));
}

/* ------------------------------------------------------------------------
 * The engine
 * ------------------------------------------------------------------------ */

static const HgJoinCalls cuda_join = HG_JOIN_CALLS(cuda);
static const HgColumnCalls cuda_columns = HG_COLUMN_CALLS(cuda);
static const HgPageCalls cuda_pages = {.append_pages = cuda_append_pages};
static const HgBroughtCalls cuda_brought = HG_BROUGHT_CALLS(cuda);
static const HgStoreCalls cuda_store = HG_STORE_CALLS(cuda);
static const HgMaskCalls cuda_masks = {.mask = cuda_mask};
static const HgExchangeCalls cuda_exchange = HG_EXCHANGE_CALLS(cuda);
static const HgWindowCalls cuda_windows = HG_WINDOW_CALLS(cuda);
static const HgMeasureCalls cuda_measure = {.measure_table = cuda_measure_table};

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
	self->engine.can = HG_CAN_NUMBER | HG_CAN_FILTER;
	self->engine.open = cuda_open;
	self->engine.join = &cuda_join;
	self->engine.columns = &cuda_columns;
	self->engine.pages = &cuda_pages;
	self->engine.brought = &cuda_brought;
	self->engine.store = &cuda_store;
	self->engine.masks = &cuda_masks;
	self->engine.exchange = &cuda_exchange;
	self->engine.windows = &cuda_windows;
	self->engine.measure = &cuda_measure;
	hg_cuda_tables_init(&self->tables, &self->device);
	*engine = &self->engine;
	return HG_OK;
}

uint64_t
hg_cuda_engine_job_bytes(const HgJobSpec *spec)
{
	const uint64_t outer_rows = spec->sides[HG_OUTER].expected_rows;
	const uint64_t inner_rows = spec->sides[HG_INNER].expected_rows;
	const uint64_t pages = hg_cuda_append_pages_bytes(spec);

	/* append reports it */
	if (outer_rows > HG_MAX_ROWS || inner_rows > HG_MAX_ROWS)
		return 0;
	if (hg_replica_is_used(spec))
		return pages + hg_cuda_replica_job_bytes(spec);
	if (spec->product.kind == HG_PRODUCT_TABLE)
		return inner_rows * spec->key_width +
			   hg_cuda_table_measure_bytes(spec->product.trial, inner_rows);
	return pages + hg_cuda_shards_bytes(spec, hg_cuda_job_bytes(spec, outer_rows, inner_rows));
}

void
hg_cuda_engine_memory(HgEngine *engine, uint64_t *budget, uint64_t *held, uint64_t *peak)
{
	CudaEngine *self = reinterpret_cast<CudaEngine *>(engine);

	hg_cuda_device_use(&self->device, budget, held, peak);
}

int
hg_cuda_engine_device(const HgEngine *engine)
{
	return reinterpret_cast<const CudaEngine *>(engine)->device.ordinal;
}

HgTables *
hg_cuda_engine_tables(HgEngine *engine)
{
	return &reinterpret_cast<CudaEngine *>(engine)->tables.tables;
}

void
hg_cuda_engine_measure(HgEngine *engine)
{
	hg_cuda_device_measure(&reinterpret_cast<CudaEngine *>(engine)->device);
}

void
hg_cuda_engine_tidy(HgEngine *engine)
{
	hg_cuda_device_tidy(&reinterpret_cast<CudaEngine *>(engine)->device);
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
hg_cuda_engine_register(unsigned char *memory, uint64_t bytes, HgError *error)
{
	HG_CUDA_TRY(cudaHostRegister(memory, bytes, cudaHostRegisterDefault), error);
	return HG_OK;
}

int
hg_cuda_engine_build_version(void)
{
	return CUDART_VERSION;
}
