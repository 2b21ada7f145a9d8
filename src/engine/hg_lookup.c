/*-------------------------------------------------------------------------
 *
 * hg_lookup.c
 *	  An engine whose jobs can have their inner rows in a table, in which they look outer rows up.
 *
 * append only remembers the arrays of keys.  build makes the table of all inner rows
 * (hg_lookup_build.c).  Then the outer keys are looked up in their arrays (hg_lookup_match.c).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_lookup_job.h"

static HgLookupJob *
lookup_job(HgJob *job)
{
	return (HgLookupJob *) job;
}

static HgEngine *
wrapped(const HgLookupJob *job)
{
	return job->lookup->graphs;
}

/* Opens a job of the wrapped engine, with the rows so far, to which all calls then go. */
static HgStatus
job_hand_over(HgLookupJob *job, HgError *error)
{
	HgEngine *engine = wrapped(job);
	HgStatus status = engine->open(engine, job->base.host, &job->base.spec, &job->graphs, error);

	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		for (size_t i = 0; i < job->base.sides[side].piece_count && status == HG_OK; i++)
			status =
				engine->append(job->graphs, (HgSide) side, job->base.sides[side].pieces[i].keys,
							   job->base.sides[side].pieces[i].count, error);
	return status;
}

/* Ends a call.  A job that has failed stays failed, and has no stream. */
static HgStatus
job_finish(HgLookupJob *job, HgStatus status)
{
	status = hg_host_finish(&job->base, status);
	if (job->base.state == HG_HOST_FAILED)
		hg_lookup_end_stream(job);
	return status;
}

static HgStatus
job_check_mode(const HgLookupJob *job, HgMatchMode mode, HgError *error)
{
	HgStatus status = hg_host_check_mode(&job->base, mode, error);

	if (status == HG_OK && mode == HG_MATCH_ALL && job->base.spec.first_only)
		status = hg_error_set(error, HG_INVALID, NULL, "not all matches were to be asked for");
	return status;
}

/* Returns true if the spec requests a table that the job can use, before its rows are known. */
static bool
requests_table(const HgJobSpec *spec)
{
	return spec->table != HG_TABLE_CSR && spec->build != HG_BUILD_V2 &&
		   spec->probe != HG_PROBE_INTERSECT && spec->bins <= 1;
}

static HgStatus
engine_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
			HgError *error)
{
	HgHostJob *base;
	HgStatus status = hg_host_open(host, spec, sizeof(HgLookupJob), &base, error);

	if (status != HG_OK)
		return status;
	lookup_job((HgJob *) base)->lookup = (HgLookup *) engine;
	if (!requests_table(spec))
		status = job_hand_over((HgLookupJob *) base, error);
	if (status == HG_OK)
		*job = (HgJob *) base;
	else
		hg_host_close(base);
	return status;
}

static HgStatus
engine_append(HgJob *handle, HgSide which, const void *keys, uint64_t count, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->append(job->graphs, which, keys, count, error);
	status = hg_host_check_append(&job->base, which, error);
	if (status != HG_OK || count == 0)
		return status;
	return job_finish(
		job, hg_host_append(&job->base, which, keys, count, job->base.sides[which].rows, error));
}

/* Hands the job over to the wrapped engine, for numbered rows, keys as bits, and shared jobs. */
static HgStatus
job_pass_on(HgLookupJob *job, HgError *error)
{
	HgStatus status;

	if (job->graphs != NULL)
		return HG_OK;
	status = hg_host_check_appending(&job->base, error);
	if (status == HG_OK && job->base.sides[HG_OUTER].rows + job->base.sides[HG_INNER].rows > 0)
		status = hg_error_set(error, HG_INVALID, NULL, "rows are numbered in two ways");
	if (status == HG_OK)
		status = job_hand_over(job, error);
	return job_finish(job, status);
}

static HgStatus
engine_append_rows(HgJob *handle, HgSide which, const void *keys, uint64_t count,
				   uint64_t first_row, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);
	HgStatus status = job_pass_on(job, error);

	if (status == HG_OK)
		status = wrapped(job)->append_rows(job->graphs, which, keys, count, first_row, error);
	return status;
}

static HgStatus
engine_append_bits(HgJob *handle, const HgKeyBitmap *bitmap, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);
	HgStatus status = job_pass_on(job, error);

	if (status == HG_OK)
		status = wrapped(job)->append_bits(job->graphs, bitmap, error);
	return status;
}

static HgStatus
engine_share(HgJob *handle, const HgParticipants *participants, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);
	HgStatus status = job_pass_on(job, error);

	return status == HG_OK ? wrapped(job)->share(job->graphs, participants, error) : status;
}

static HgStatus
engine_build(HgJob *handle, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);
	double start = hg_clock_ms();
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->build(job->graphs, error);
	status = hg_host_check_appending(&job->base, error);
	if (status != HG_OK)
		return status;
	/* renew allocates nothing */
	if (job->base.spec.streamed)
		status = hg_host_reserve(&job->base, HG_OUTER, error);
	if (status == HG_OK)
		status = hg_lookup_build(job, error);
	job->base.stats.phase_ms[HG_PHASE_BUILD] += hg_clock_ms() - start;
	if (status == HG_INVALID || status == HG_OUT_OF_MEMORY || status == HG_TOO_MANY_ROWS)
	{
		hg_lookup_close_table(job);
		status = job_hand_over(job, error);
		if (status == HG_OK)
			return wrapped(job)->build(job->graphs, error);
	}
	if (status == HG_OK)
		job->base.state = HG_HOST_BUILT;
	return job_finish(job, status);
}

static HgStatus
engine_renew(HgJob *handle, const void *keys, uint64_t count, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->renew(job->graphs, keys, count, error);
	status = hg_host_check_built(&job->base, error);
	if (status != HG_OK)
		return status;
	if (!job->base.spec.streamed)
		return hg_error_set(error, HG_INVALID, NULL, "the job takes no outer rows any more");
	hg_lookup_end_stream(job);
	job->base.state = HG_HOST_BUILT;
	return job_finish(job, hg_host_renew(&job->base, keys, count, error));
}

static HgStatus
engine_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->match(job->graphs, mode, error);
	status = job_check_mode(job, mode, error);
	if (status != HG_OK)
		return status;
	hg_lookup_begin(job, mode);
	job->base.state = HG_HOST_MATCHING;
	return HG_OK;
}

static HgStatus
engine_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);
	double start = hg_clock_ms();
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->next(job->graphs, matches, error);
	matches->count = 0;
	status = hg_host_check_next(&job->base, matches, error);
	if (status != HG_OK)
		return status;
	status = hg_lookup_next(job, matches, error);
	if (status != HG_OK)
		matches->count = 0;
	job->base.stats.matches += matches->count;
	job->base.stats.phase_ms[HG_PHASE_MATCH] += hg_clock_ms() - start;
	return job_finish(job, status);
}

static HgStatus
engine_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);
	double start = hg_clock_ms();
	HgStatus status;

	if (job->graphs != NULL)
		return wrapped(job)->count(job->graphs, mode, matches, error);
	status = job_check_mode(job, mode, error);
	if (status != HG_OK)
		return status;
	hg_lookup_end_stream(job);
	job->base.state = HG_HOST_BUILT;
	status = hg_lookup_count(job, mode, matches, error);
	if (status == HG_OK)
		job->base.stats.matches += *matches;
	job->base.stats.phase_ms[HG_PHASE_MATCH] += hg_clock_ms() - start;
	return job_finish(job, status);
}

/* Answers HG_INVALID to calls that need a graph, and ends the stream. */
static HgStatus
job_refuse_graph(HgLookupJob *job, HgError *error)
{
	HgStatus status = hg_host_check_built(&job->base, error);

	if (status != HG_OK)
		return status;
	hg_lookup_end_stream(job);
	job->base.state = HG_HOST_BUILT;
	return hg_error_set(error, HG_INVALID, NULL, "no graph was built for this side");
}

static HgStatus
engine_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);

	if (job->graphs != NULL)
		return wrapped(job)->describe(job->graphs, side, stats, error);
	return job_refuse_graph(job, error);
}

static HgStatus
engine_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
					uint32_t *edge_rows, HgError *error)
{
	HgLookupJob *job = lookup_job(handle);

	if (job->graphs != NULL)
		return wrapped(job)->export_graph(job->graphs, side, offsets, edge_keys, edge_rows, error);
	return job_refuse_graph(job, error);
}

static void
engine_stats(HgJob *handle, HgJobStats *stats)
{
	HgLookupJob *job = lookup_job(handle);

	if (job->graphs == NULL)
	{
		*stats = job->base.stats;
		return;
	}
	wrapped(job)->stats(job->graphs, stats);
	/* the attempt to build a table counts too */
	stats->phase_ms[HG_PHASE_BUILD] += job->base.stats.phase_ms[HG_PHASE_BUILD];
	stats->peak_bytes += job->base.held_bytes;
	if (job->base.stats.peak_bytes > stats->peak_bytes)
		stats->peak_bytes = job->base.stats.peak_bytes;
}

static void
engine_close(HgJob *handle)
{
	HgLookupJob *job = lookup_job(handle);

	if (job->graphs != NULL)
		wrapped(job)->close(job->graphs);
	hg_lookup_end_stream(job);
	hg_lookup_close_table(job);
	hg_host_close(&job->base);
}

void
hg_lookup_init(HgLookup *lookup, HgEngine *graphs, HgTables *tables)
{
	*lookup = (HgLookup){
		.engine = {.name = graphs->name, HG_HOST_ENGINE_CALLS}, .graphs = graphs, .tables = tables};
}
