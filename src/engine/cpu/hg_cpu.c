/*-------------------------------------------------------------------------
 *
 * hg_cpu.c
 *	  The CPU engine: the life of a job, its memory and the table of calls.
 *
 * A job runs in the thread that calls it.  append only remembers where the keys
 * are; build reads them from there (twice), and so does the standard probe with
 * the outer ones: that is why they must stay until close.
 *
 * All memory, the job itself included, comes from the host's callbacks and is
 * counted; close gives back whatever is held, so that no function has to tidy up
 * after a failure but for what it holds in local variables.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include "hg_cpu_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* Pieces that the first append makes room for. */
#define FIRST_PIECE_CAPACITY 16

HgStatus
hg_cpu_alloc(HgJob *job, uint64_t bytes, void **ptr, HgError *error)
{
	uint64_t limit = job->spec.memory_limit;
	char detail[160];

	*ptr = NULL;
	if (limit != 0 && (bytes > limit || job->held_bytes > limit - bytes))
	{
		snprintf(detail, sizeof(detail),
				 "%" PRIu64 " bytes were wanted in addition to %" PRIu64 " bytes held.", bytes,
				 job->held_bytes);
		return hg_error_set(error, HG_OUT_OF_MEMORY, detail,
							"memory limit of %" PRIu64 " bytes reached", limit);
	}

	if (bytes <= SIZE_MAX)
		*ptr = job->host->alloc(job->host->arg, (size_t) bytes);
	if (*ptr == NULL)
	{
		snprintf(detail, sizeof(detail), "An allocation of %" PRIu64 " bytes failed.", bytes);
		return hg_error_set(error, HG_OUT_OF_MEMORY, detail, "out of memory");
	}

	job->held_bytes += bytes;
	if (job->held_bytes > job->stats.peak_bytes)
		job->stats.peak_bytes = job->held_bytes;
	return HG_OK;
}

void
hg_cpu_free(HgJob *job, void *ptr, uint64_t bytes)
{
	if (ptr == NULL)
		return;
	job->host->free(job->host->arg, ptr, (size_t) bytes);
	job->held_bytes -= bytes;
}

HgStatus
hg_cpu_poll(HgJob *job, HgError *error)
{
	if (HG_CPU_UNLIKELY(job->host->cancelled(job->host->arg)))
		return hg_error_set(error, HG_CANCELLED, NULL, "cancelled");
	return HG_OK;
}

double
hg_cpu_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

/*
 * Close a call: a job that has failed stays failed, except that a call which the
 * contract forbids (HG_INVALID) has done nothing.
 */
static HgStatus
job_finish(HgJob *job, HgStatus status)
{
	if (status != HG_OK && status != HG_INVALID)
		job->state = HG_CPU_FAILED;
	return status;
}

/* HG_OK if the job is built, or HG_INVALID. */
static HgStatus
job_check_built(const HgJob *job, HgError *error)
{
	if (job->state == HG_CPU_FAILED)
		return hg_error_set(error, HG_INVALID, NULL, "the job has failed before");
	if (job->state == HG_CPU_APPENDING)
		return hg_error_set(error, HG_INVALID, NULL, "the job has not been built yet");
	return HG_OK;
}

/* HG_OK if the side is one and has a graph, or HG_INVALID. */
static HgStatus
job_check_graph(const HgJob *job, HgSide side, HgError *error)
{
	HgStatus status = job_check_built(job, error);

	if (status != HG_OK)
		return status;
	if ((side != HG_OUTER && side != HG_INNER) || job->sides[side].offsets == NULL)
		return hg_error_set(error, HG_INVALID, NULL, "no graph was built for this side");
	return HG_OK;
}

static HgStatus
job_check_mode(HgMatchMode mode, HgError *error)
{
	if (mode != HG_MATCH_ALL && mode != HG_MATCH_FIRST)
		return hg_error_set(error, HG_INVALID, NULL, "unknown match mode: %d", (int) mode);
	return HG_OK;
}

static HgStatus
engine_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
			HgError *error)
{
	HgJob start;
	HgStatus status;
	void *memory;

	(void) engine;
	status = hg_spec_check(spec, error);
	if (status != HG_OK)
		return status;

	/* the job accounts for its own memory like for all other */
	memset(&start, 0, sizeof(start));
	start.host = host;
	start.spec = *spec;
	start.state = HG_CPU_APPENDING;
	start.stats.build = spec->build;
	start.stats.probe = spec->probe;
	status = hg_cpu_alloc(&start, sizeof(HgJob), &memory, error);
	if (status != HG_OK)
		return status;

	*job = memory;
	**job = start;
	return HG_OK;
}

/* Make room for one more piece of a side. */
static HgStatus
side_reserve_piece(HgJob *job, HgCpuSide *side, HgError *error)
{
	size_t capacity = side->piece_capacity == 0 ? FIRST_PIECE_CAPACITY : 2 * side->piece_capacity;
	void *pieces;
	HgStatus status;

	if (side->piece_count < side->piece_capacity)
		return HG_OK;

	status = hg_cpu_alloc(job, capacity * sizeof(HgCpuPiece), &pieces, error);
	if (status != HG_OK)
		return status;
	if (side->piece_count > 0)
		memcpy(pieces, side->pieces, side->piece_count * sizeof(HgCpuPiece));
	hg_cpu_free(job, side->pieces, side->piece_capacity * sizeof(HgCpuPiece));
	side->pieces = pieces;
	side->piece_capacity = capacity;
	return HG_OK;
}

static HgStatus
engine_append(HgJob *job, HgSide which, const void *keys, uint64_t count, HgError *error)
{
	HgCpuSide *side;
	HgStatus status;

	if (job->state == HG_CPU_FAILED)
		return hg_error_set(error, HG_INVALID, NULL, "the job has failed before");
	if (job->state != HG_CPU_APPENDING)
		return hg_error_set(error, HG_INVALID, NULL, "the job has been built already");
	if (which != HG_OUTER && which != HG_INNER)
		return hg_error_set(error, HG_INVALID, NULL, "unknown side: %d", (int) which);
	if (count == 0)
		return HG_OK;

	side = &job->sides[which];
	if (count >= HG_MAX_ROWS - side->rows)
		return job_finish(job, hg_error_set(error, HG_TOO_MANY_ROWS, NULL,
											"too many rows in one side of a join"));

	status = side_reserve_piece(job, side, error);
	if (status != HG_OK)
		return job_finish(job, status);
	side->pieces[side->piece_count].keys = keys;
	side->pieces[side->piece_count].count = count;
	side->piece_count++;
	side->rows += count;
	job->stats.rows[which] = side->rows;
	return HG_OK;
}

static HgStatus
engine_build(HgJob *job, HgError *error)
{
	HgStatus status;

	if (job->state == HG_CPU_FAILED)
		return hg_error_set(error, HG_INVALID, NULL, "the job has failed before");
	if (job->state != HG_CPU_APPENDING)
		return hg_error_set(error, HG_INVALID, NULL, "the job has been built already");

	status = hg_cpu_build(job, error);
	if (status == HG_OK)
		job->state = HG_CPU_BUILT;
	return job_finish(job, status);
}

static HgStatus
engine_match(HgJob *job, HgMatchMode mode, HgError *error)
{
	HgStatus status = job_check_built(job, error);

	if (status == HG_OK)
		status = job_check_mode(mode, error);
	if (status != HG_OK)
		return status;

	hg_cpu_cursor_init(job, &job->cursor, mode);
	job->state = HG_CPU_MATCHING;
	return HG_OK;
}

static HgStatus
engine_next(HgJob *job, HgMatches *matches, HgError *error)
{
	HgStatus status = job_check_built(job, error);
	double start;

	matches->count = 0;
	if (status != HG_OK)
		return status;
	if (job->state != HG_CPU_MATCHING)
		return hg_error_set(error, HG_INVALID, NULL, "no stream of matches was started");
	if (matches->capacity == 0)
		return hg_error_set(error, HG_INVALID, NULL, "there is no room for a match");

	start = hg_cpu_clock_ms();
	status = hg_cpu_next(job, &job->cursor, matches, error);
	job->stats.matches += matches->count;
	job->stats.phase_ms[HG_PHASE_MATCH] += hg_cpu_clock_ms() - start;
	return job_finish(job, status);
}

static HgStatus
engine_count(HgJob *job, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgStatus status = job_check_built(job, error);
	HgCpuCursor cursor;
	double start;

	if (status == HG_OK)
		status = job_check_mode(mode, error);
	if (status != HG_OK)
		return status;

	/* a cursor of its own: the stream goes on where it was */
	start = hg_cpu_clock_ms();
	hg_cpu_cursor_init(job, &cursor, mode);
	status = hg_cpu_count(job, &cursor, matches, error);
	if (status == HG_OK)
		job->stats.matches += *matches;
	job->stats.phase_ms[HG_PHASE_MATCH] += hg_cpu_clock_ms() - start;
	return job_finish(job, status);
}

static HgStatus
engine_describe(HgJob *job, HgSide side, HgGraphStats *stats, HgError *error)
{
	HgStatus status = job_check_graph(job, side, error);

	if (status != HG_OK)
		return status;
	return job_finish(job, hg_cpu_describe(job, &job->sides[side], stats, error));
}

static HgStatus
engine_export_graph(HgJob *job, HgSide side, uint32_t *offsets, void *edge_keys,
					uint32_t *edge_rows, HgError *error)
{
	HgStatus status = job_check_graph(job, side, error);

	if (status != HG_OK)
		return status;
	return job_finish(job,
					  hg_cpu_export(job, &job->sides[side], offsets, edge_keys, edge_rows, error));
}

static void
engine_stats(HgJob *job, HgJobStats *stats)
{
	*stats = job->stats;
}

static void
engine_close(HgJob *job)
{
	HgJob end;

	for (int i = 0; i < 2; i++)
	{
		HgCpuSide *side = &job->sides[i];

		hg_cpu_free(job, side->edges, side->edges_bytes);
		hg_cpu_free(job, side->offsets, side->offsets_bytes);
		hg_cpu_free(job, side->pieces, side->piece_capacity * sizeof(HgCpuPiece));
	}

	/* the job is the last thing that it holds */
	end = *job;
	hg_cpu_free(&end, job, sizeof(HgJob));
}

double
hg_cpu_row_bytes(uint32_t key_width, double load_factor)
{
	return key_width + sizeof(uint32_t) + 1.5 * sizeof(uint32_t) / load_factor;
}

HgEngine *
hg_cpu_engine(void)
{
	static HgEngine engine = {
		.name = "cpu",
		.open = engine_open,
		.append = engine_append,
		.build = engine_build,
		.match = engine_match,
		.next = engine_next,
		.count = engine_count,
		.describe = engine_describe,
		.export_graph = engine_export_graph,
		.stats = engine_stats,
		.close = engine_close,
	};

	return &engine;
}
