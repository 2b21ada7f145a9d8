/*-------------------------------------------------------------------------
 *
 * hg_cpu.c
 *	  The CPU engine: the life of a job and the table of calls.
 *
 * A job runs in the thread that calls it. append only notes where the keys are. build reads them
 * there, twice, and so does the standard probe with the outer keys if there are no bins. That is
 * why keys must stay until close.
 *
 * All memory, the job itself included, comes from the host's callbacks and is counted. close frees
 * everything, so that a function that fails frees only what its local variables hold. Build
 * allocates all that matching needs. The exception is the table of a job whose keys are the
 * vertices: match and count make it (hg_cpu_direct.c), and build ensures that it stays within the
 * job's limit. The runs of a shared job come from the participants' shared memory; they are
 * counted, too, and stay when the job is closed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_phases.h"
#include "hg_cpu_side.h"
#include "hg_cpu_participants.h"

/* A job, from open to close. */
typedef struct CpuJob
{
	HgJob job;		  /* first: calls get its address */
	bool numbered;	  /* append_rows was called */
	bool has_arrived; /* a shared job's build was called */
	bool shared_out;  /* a shared job's only stream was started */
	HgCpuCursor cursor;
	HgCpuDirectCursor direct_cursor; /* if the job's vertices are keys */
} CpuJob;

static CpuJob *
cpu_job(HgJob *job)
{
	return (CpuJob *) job;
}

/* Returns a clock that stands still while graphs are built. */
static double
match_clock(const HgJob *job)
{
	return hg_clock_ms() - job->base.stats.phase_ms[HG_PHASE_BUILD];
}

/* HG_INVALID if the side does not exist or has no graph. */
static HgStatus
job_check_graph(const HgJob *job, HgSide side, HgError *error)
{
	HG_TRY(hg_host_check_built(&job->base, error));
	if (job->participants != NULL)
		return hg_error_set(error, HG_INVALID, NULL, "no participant has the graph of a side");
	if ((side != HG_OUTER && side != HG_INNER) || hg_cpu_is_direct(job) ||
		(side == HG_OUTER && job->shape.probe == HG_PROBE_STANDARD))
		return hg_error_set(error, HG_INVALID, NULL, "no graph was built for this side");
	return HG_OK;
}

/* Checks that matches may be requested, and starts the stream; a shared job has only one. */
static HgStatus
job_begin_matches(HgJob *job, HgMatchMode mode, HgError *error)
{
	HG_TRY(hg_host_check_mode(&job->base, mode, error));
	if (cpu_job(job)->shared_out)
		return hg_error_set(error, HG_INVALID, NULL, "a shared job has one stream");
	cpu_job(job)->shared_out = job->participants != NULL;
	hg_cpu_cursor_init(&cpu_job(job)->cursor, mode);
	return HG_OK;
}

static HgStatus
engine_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
			HgError *error)
{
	HgHostJob *base;
	HgStatus status = hg_host_open(host, spec, sizeof(CpuJob), &base, error);

	(void) engine;
	if (status == HG_OK)
		*job = (HgJob *) base;
	return status;
}

/* HG_INVALID if keys can't be appended by the one of the two calls. */
static HgStatus
job_check_append(const HgJob *job, HgSide which, bool numbered, HgError *error)
{
	HG_TRY(hg_host_check_append(&job->base, which, error));
	if (numbered != ((const CpuJob *) job)->numbered &&
		(job->participants != NULL || job->base.sides[HG_OUTER].rows > 0 ||
		 job->base.sides[HG_INNER].rows > 0))
		return hg_error_set(error, HG_INVALID, NULL, "rows are numbered in two ways");
	return HG_OK;
}

static HgStatus
engine_append(HgJob *job, HgSide which, const void *keys, uint64_t count, HgError *error)
{
	HgStatus status = job_check_append(job, which, false, error);

	if (status != HG_OK || count == 0)
		return status;
	return hg_host_append(&job->base, which, keys, count, job->base.sides[which].rows, error);
}

static HgStatus
engine_append_rows(HgJob *job, HgSide which, const void *keys, uint64_t count, uint64_t first_row,
				   HgError *error)
{
	HgStatus status = job_check_append(job, which, true, error);

	if (status != HG_OK || count == 0)
		return status;
	cpu_job(job)->numbered = true;
	return hg_host_append(&job->base, which, keys, count, first_row, error);
}

static HgStatus
engine_append_bits(HgJob *job, const HgKeyBitmap *bitmap, HgError *error)
{
	HG_TRY(job_check_append(job, HG_INNER, false, error));
	if (!job->base.spec.streamed || !job->base.spec.outer_only ||
		job->base.sides[HG_INNER].rows > 0 || hg_cpu_is_direct(job))
		return hg_error_set(error, HG_INVALID, NULL, "the job can't have its inner keys as bits");
	if (bitmap->size == 0 || (job->base.spec.key_width == 4 && bitmap->size > UINT64_C(1) << 32))
		return hg_error_set(error, HG_INVALID, NULL, "there can't be so many bits of keys");
	hg_cpu_direct_give(job, bitmap);
	job->base.stats.rows[HG_INNER] = bitmap->keys;
	return HG_OK;
}

static HgStatus
engine_share(HgJob *job, const HgParticipants *participants, HgError *error)
{
	if (job->base.state != HG_HOST_APPENDING || job->participants != NULL ||
		job->base.sides[HG_OUTER].rows > 0 || job->base.sides[HG_INNER].rows > 0 ||
		job->base.spec.streamed)
		return hg_error_set(error, HG_INVALID, NULL, "the job can be shared no more");
	job->participants = participants;
	cpu_job(job)->numbered = true;
	return HG_OK;
}

static HgStatus
engine_build(HgJob *job, HgError *error)
{
	HgCpuBounds bounds;
	uint64_t room;
	uint64_t rows[2];
	HgStatus status;

	status = hg_host_check_appending(&job->base, error);
	if (job->base.state == HG_HOST_FAILED)
	{
		/* the other participants wait for all that have joined */
		if (job->participants != NULL && !cpu_job(job)->has_arrived)
			status = hg_cpu_participants_count(job, status, rows, &bounds, &room, error);
		cpu_job(job)->has_arrived = true;
		return status;
	}
	if (status != HG_OK)
		return status;

	cpu_job(job)->has_arrived = true;
	status = hg_cpu_build(job, error);
	if (status == HG_OK)
		job->base.state = HG_HOST_BUILT;
	else if (job->participants != NULL)
		job->base.state = HG_HOST_FAILED;
	return hg_host_finish(&job->base, status);
}

static HgStatus
engine_renew(HgJob *job, const void *keys, uint64_t count, HgError *error)
{
	HG_TRY(hg_host_check_built(&job->base, error));
	if (!job->base.spec.streamed || job->base.stats.vertices == 0)
		return hg_error_set(error, HG_INVALID, NULL, "the job takes no outer rows any more");
	job->base.state = HG_HOST_BUILT;
	return hg_host_renew(&job->base, keys, count, error);
}

static HgStatus
engine_match(HgJob *job, HgMatchMode mode, HgError *error)
{
	HgStatus status = HG_OK;

	HG_TRY(job_begin_matches(job, mode, error));
	job->base.state = HG_HOST_MATCHING;
	if (hg_cpu_is_direct(job))
		status = hg_cpu_direct_match(job, &cpu_job(job)->direct_cursor, mode, error);
	return hg_host_finish(&job->base, status);
}

static HgStatus
engine_next(HgJob *job, HgMatches *matches, HgError *error)
{
	HgStatus status = hg_host_check_next(&job->base, matches, error);
	double start;

	matches->count = 0;
	if (status != HG_OK)
		return status;

	start = match_clock(job);
	status = hg_cpu_is_direct(job)
				 ? hg_cpu_direct_next(job, &cpu_job(job)->direct_cursor, matches, error)
				 : hg_cpu_next(job, &cpu_job(job)->cursor, matches, error);
	job->base.stats.matches += matches->count;
	job->base.stats.phase_ms[HG_PHASE_MATCH] += match_clock(job) - start;
	return hg_host_finish(&job->base, status);
}

static HgStatus
engine_count(HgJob *job, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgStatus status;
	uint64_t before;
	double start;

	HG_TRY(job_begin_matches(job, mode, error));
	job->base.state = HG_HOST_BUILT;
	before = job->base.stats.matches;
	start = match_clock(job);
	status = hg_cpu_is_direct(job) ? hg_cpu_direct_count(job, mode, matches, error)
								   : hg_cpu_count(job, &cpu_job(job)->cursor, matches, error);
	if (status == HG_OK)
		job->base.stats.matches = before + *matches;
	job->base.stats.phase_ms[HG_PHASE_MATCH] += match_clock(job) - start;
	return hg_host_finish(&job->base, status);
}

static HgStatus
engine_describe(HgJob *job, HgSide side, HgGraphStats *stats, HgError *error)
{
	HG_TRY(job_check_graph(job, side, error));
	job->base.state = HG_HOST_BUILT;
	return hg_host_finish(&job->base, hg_cpu_describe(job, side, stats, error));
}

static HgStatus
engine_export_graph(HgJob *job, HgSide side, uint32_t *offsets, void *edge_keys,
					uint32_t *edge_rows, HgError *error)
{
	HG_TRY(job_check_graph(job, side, error));
	job->base.state = HG_HOST_BUILT;
	return hg_host_finish(&job->base,
						  hg_cpu_export(job, side, offsets, edge_keys, edge_rows, error));
}

static void
engine_stats(HgJob *job, HgJobStats *stats)
{
	*stats = job->base.stats;
}

static void
engine_close(HgJob *job)
{
	hg_cpu_direct_close(job);
	for (int i = 0; i < 2; i++)
	{
		HgCpuSide *side = &job->sides[i];
		HgCpuGraph *graph = &job->graphs[i];

		hg_host_free(&job->base, graph->edges, graph->edges_bytes);
		hg_host_free(&job->base, graph->offsets, graph->offsets_bytes);
		for (size_t run = 0; run < side->run_count; run++)
			if (side->runs[run].bytes > 0)
				hg_host_free(&job->base, side->runs[run].header, side->runs[run].bytes);
		hg_host_free(&job->base, side->runs, side->run_capacity * sizeof(HgCpuRun));
	}
	hg_host_close(&job->base);
}

static const HgJoinCalls cpu_join = HG_JOIN_CALLS(engine);
static const HgLocalCalls cpu_local = HG_LOCAL_CALLS(engine);

HgEngine *
hg_cpu_engine(void)
{
	static HgEngine engine = {.name = "cpu",
							  .can = HG_CAN_NUMBER,
							  .open = engine_open,
							  .join = &cpu_join,
							  .local = &cpu_local};

	return &engine;
}
