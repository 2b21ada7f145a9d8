/*-------------------------------------------------------------------------
 *
 * hg_costs.c
 *	  What joins cost on an engine, measured on the machine that runs them.
 *
 * Every job is run a few times and the fastest counts: what disturbs a measurement only
 * ever makes it longer.  The first run warms up memory that an engine keeps.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_costs.h"

/* Runs of each job. */
#define RUNS 3

/* Rows of a job that costs what every job does, and of a small inner side. */
#define FEW_ROWS 64
#define SMALL_SHARE 64

/* Pairs asked for at a time. */
#define CHUNK_PAIRS 65536

/* Distinct keys 0 .. rows - 1 in no order that helps: multiples of an odd number. */
static void
fill_keys(void *keys, uint32_t key_width, uint64_t rows)
{
	for (uint64_t i = 0; i < rows; i++)
	{
		uint64_t key = i * UINT64_C(0x9E3779B1) & (rows - 1);

		if (key_width == 4)
			((uint32_t *) keys)[i] = (uint32_t) key;
		else
			((uint64_t *) keys)[i] = key;
	}
}

/* Return all pairs of a job that was built. */
static HgStatus
fetch_pairs(HgEngine *engine, HgJob *job, HgMatches *matches, HgError *error)
{
	HgStatus status = engine->match(job, HG_MATCH_ALL, error);

	if (status != HG_OK)
		return status;
	do
		status = engine->next(job, matches, error);
	while (status == HG_OK && matches->count > 0);
	return status;
}

/* One job from open to close; matches is NULL where its pairs are to be counted alone. */
static HgStatus
run_job(HgEngine *engine, const HgHost *host, uint32_t key_width, const void *keys,
		const uint64_t rows[2], HgMatches *matches, HgError *error)
{
	HgJobSpec spec = {.key_width = key_width, .device = -1};
	uint64_t count;
	HgStatus status;
	HgJob *job;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec.expected_rows[side] = rows[side];
	status = engine->open(engine, host, &spec, &job, error);
	if (status != HG_OK)
		return status;
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		status = engine->append(job, (HgSide) side, keys, rows[side], error);
	if (status == HG_OK)
		status = engine->build(job, error);
	if (status == HG_OK)
		status = matches != NULL ? fetch_pairs(engine, job, matches, error)
								 : engine->count(job, HG_MATCH_ALL, &count, error);
	engine->close(job);
	return status;
}

/* The time of the fastest of some runs. */
static HgStatus
time_job(HgEngine *engine, const HgHost *host, uint32_t key_width, const void *keys,
		 uint64_t outer_rows, uint64_t inner_rows, HgMatches *matches, double *ms, HgError *error)
{
	const uint64_t rows[2] = {[HG_OUTER] = outer_rows, [HG_INNER] = inner_rows};
	HgStatus status = HG_OK;

	for (int run = 0; run < RUNS && status == HG_OK; run++)
	{
		double start = hg_clock_ms();
		double took;

		status = run_job(engine, host, key_width, keys, rows, matches, error);
		took = hg_clock_ms() - start;
		if (run == 0 || took < *ms)
			*ms = took;
	}
	return status;
}

/* Nanoseconds a row of the difference of two times; noise may have made it negative. */
static double
ns_a_row(double more_ms, double less_ms, uint64_t rows)
{
	return more_ms > less_ms ? (more_ms - less_ms) * 1e6 / (double) rows : 0;
}

/* Measure, with room for CHUNK_PAIRS pairs. */
static HgStatus
measure(HgEngine *engine, const HgHost *host, uint32_t key_width, const void *keys, uint64_t rows,
		uint32_t *pairs, HgCosts *costs, HgError *error)
{
	HgMatches matches = {.outer = pairs, .inner = pairs + CHUNK_PAIRS, .capacity = CHUNK_PAIRS};
	double none;
	double small;
	double equal;
	double returned;
	HgStatus status;

	status = time_job(engine, host, key_width, keys, FEW_ROWS, FEW_ROWS, NULL, &none, error);
	if (status == HG_OK)
		status =
			time_job(engine, host, key_width, keys, rows, rows / SMALL_SHARE, NULL, &small, error);
	if (status == HG_OK)
		status = time_job(engine, host, key_width, keys, rows, rows, NULL, &equal, error);
	if (status == HG_OK)
		status = time_job(engine, host, key_width, keys, rows, rows, &matches, &returned, error);
	if (status != HG_OK)
		return status;

	costs->job_ms = none;
	costs->outer_ns = ns_a_row(small, none, rows);
	costs->inner_ns = ns_a_row(equal, small, rows);
	costs->pair_ns = ns_a_row(returned, equal, rows);
	return HG_OK;
}

HgStatus
hg_costs_measure(HgEngine *engine, const HgHost *host, uint32_t key_width, void *keys,
				 uint64_t rows, HgCosts *costs, HgError *error)
{
	const size_t bytes = 2 * CHUNK_PAIRS * sizeof(uint32_t);
	uint32_t *pairs = host->alloc(host->arg, bytes);
	HgStatus status;

	if (pairs == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	fill_keys(keys, key_width, rows);
	status = measure(engine, host, key_width, keys, rows, pairs, costs, error);
	host->free(host->arg, pairs, bytes);
	return status;
}

double
hg_costs_estimate(const HgCosts *costs, uint64_t outer_rows, uint64_t inner_rows, double pairs)
{
	return costs->job_ms + ((double) outer_rows * costs->outer_ns +
							(double) inner_rows * costs->inner_ns + pairs * costs->pair_ns) *
							   1e-6;
}

double
hg_costs_estimate_reduced(const HgCosts *costs, uint64_t outer_rows, uint64_t inner_rows,
						  double column_bytes, double pairs)
{
	return hg_costs_estimate(costs, outer_rows, inner_rows, 0) +
		   (column_bytes * costs->column_ns + pairs * costs->reduce_ns) * 1e-6;
}
