/*-------------------------------------------------------------------------
 *
 * hg_costs.c
 *	  What joins cost on an engine, measured on the machine that runs them.
 *
 * Every job runs a few times and the fastest run counts: disturbances only make a measurement
 * longer.  The first run warms up the engine's memory pool.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_costs.h"

/* Runs of each job. */
#define RUNS 3

/* Rows of a job that has only the cost of every job, and the divisor for a small inner side. */
#define FEW_ROWS 64
#define SMALL_SHARE 64

/* Pairs fetched at a time. */
#define CHUNK_PAIRS 65536

/* Writes the distinct keys 0 .. rows - 1 in a scattered order: multiples of an odd number. */
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

/* What a job of a measurement returns. */
typedef enum Purpose
{
	FOR_COUNT,
	FOR_PAIRS,
	FOR_COUNT_WITH_COLUMNS,
	FOR_GROUPS
} Purpose;

/* Common parameters of the jobs of a measurement. */
typedef struct Jobs
{
	HgEngine *engine;
	const HgHost *host;
	uint32_t key_width;
	const void *keys;
	HgMatches matches; /* room for pairs */
} Jobs;

/* Fetches all pairs of a job that was built. */
static HgStatus
fetch_pairs(Jobs *jobs, HgJob *job, HgError *error)
{
	HgStatus status = HG_OK;

	HG_TRY(jobs->engine->join->match(job, HG_MATCH_ALL, error));
	do
		status = jobs->engine->join->next(job, &jobs->matches, error);
	while (status == HG_OK && jobs->matches.count > 0);
	return status;
}

/* Makes a few hundred groups, with a sum in each. */
static HgStatus
make_groups(Jobs *jobs, HgJob *job, HgError *error)
{
	const HgReduceSpec spec = {
		.nkeys = 1,
		.nitems = 1,
		.keys = {{.side = HG_INNER, .column = 0, .is_signed = 1}},
		.items = {{.kind = HG_REDUCE_SUM, .argument = {.side = HG_OUTER, .is_signed = 1}}},
		.max_groups = UINT8_MAX + 1};
	uint64_t groups;

	return jobs->engine->columns->reduce(job, HG_MATCH_ALL, &spec, &groups, error);
}

/* Appends the columns of a job; the keys serve as values. */
static HgStatus
append_columns(Jobs *jobs, HgJob *job, const uint64_t rows[2], HgError *error)
{
	HgStatus status = HG_OK;

	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		status = jobs->engine->columns->append_column(job, (HgSide) side, 0, jobs->keys, NULL,
													  rows[side], 0, error);
	return status;
}

/* Returns the width of a side's column: the outer one is summed, the inner one grouped by. */
static uint8_t
column_width(const Jobs *jobs, HgSide side)
{
	return side == HG_OUTER ? (uint8_t) jobs->key_width : 1;
}

/* Runs one job from open to close. */
static HgStatus
run_job(Jobs *jobs, const uint64_t rows[2], Purpose purpose, HgError *error)
{
	HgEngine *engine = jobs->engine;
	HgJobSpec spec = {.key_width = jobs->key_width, .device = -1};
	uint64_t count;
	HgStatus status;
	HgJob *job;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec.sides[side].expected_rows = rows[side];
		spec.sides[side].ncolumns = purpose >= FOR_COUNT_WITH_COLUMNS;
		spec.sides[side].column_width[0] = column_width(jobs, (HgSide) side);
	}
	status = engine->open(engine, jobs->host, &spec, &job, error);
	if (status != HG_OK)
		return status;
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		status = engine->join->append(job, (HgSide) side, jobs->keys, rows[side], error);
	if (status == HG_OK && purpose >= FOR_COUNT_WITH_COLUMNS)
		status = append_columns(jobs, job, rows, error);
	if (status == HG_OK)
		status = engine->join->build(job, error);
	if (status == HG_OK)
		switch (purpose)
		{
			case FOR_COUNT:
			case FOR_COUNT_WITH_COLUMNS:
				status = engine->join->count(job, HG_MATCH_ALL, &count, error);
				break;
			case FOR_PAIRS:
				status = fetch_pairs(jobs, job, error);
				break;
			case FOR_GROUPS:
				status = make_groups(jobs, job, error);
				break;
		}
	engine->join->close(job);
	return status;
}

/* Sets *ms to the time of the fastest run. */
static HgStatus
time_job(Jobs *jobs, uint64_t outer_rows, uint64_t inner_rows, Purpose purpose, double *ms,
		 HgError *error)
{
	const uint64_t rows[2] = {[HG_OUTER] = outer_rows, [HG_INNER] = inner_rows};
	HgStatus status = HG_OK;

	for (int run = 0; run < RUNS && status == HG_OK; run++)
	{
		double start = hg_clock_ms();
		double took;

		status = run_job(jobs, rows, purpose, error);
		took = hg_clock_ms() - start;
		if (run == 0 || took < *ms)
			*ms = took;
	}
	return status;
}

/* Returns nanoseconds per row from the difference of two times; 0 if noise made it negative. */
static double
ns_a_row(double more_ms, double less_ms, uint64_t rows)
{
	return more_ms > less_ms ? (more_ms - less_ms) * 1e6 / (double) rows : 0;
}

/* Measures the costs of columns and of groups; equal is the time of a count without columns. */
static HgStatus
measure_columns(Jobs *jobs, uint64_t rows, double equal, HgCosts *costs, HgError *error)
{
	const uint64_t bytes =
		rows * (column_width(jobs, HG_OUTER) + (uint64_t) column_width(jobs, HG_INNER));
	double columns;
	double reduced;

	HG_TRY(time_job(jobs, rows, rows, FOR_COUNT_WITH_COLUMNS, &columns, error));
	HG_TRY(time_job(jobs, rows, rows, FOR_GROUPS, &reduced, error));
	costs->column_ns = ns_a_row(columns, equal, bytes);
	costs->reduce_ns = ns_a_row(reduced, columns, rows);
	return HG_OK;
}

static HgStatus
measure(Jobs *jobs, uint64_t rows, HgCosts *costs, HgError *error)
{
	HgCosts measured = {0};
	double none;
	double small;
	double equal;
	double returned;
	HgStatus status;

	status = time_job(jobs, FEW_ROWS, FEW_ROWS, FOR_COUNT, &none, error);
	if (status == HG_OK)
		status = time_job(jobs, rows, rows / SMALL_SHARE, FOR_COUNT, &small, error);
	if (status == HG_OK)
		status = time_job(jobs, rows, rows, FOR_COUNT, &equal, error);
	if (status == HG_OK)
		status = time_job(jobs, rows, rows, FOR_PAIRS, &returned, error);
	if (status == HG_OK && jobs->engine->columns != NULL)
		status = measure_columns(jobs, rows, equal, &measured, error);
	if (status != HG_OK)
		return status;

	measured.job_ms = none;
	measured.outer_ns = ns_a_row(small, none, rows);
	measured.inner_ns = ns_a_row(equal, small, rows);
	measured.pair_ns = ns_a_row(returned, equal, rows);
	*costs = measured;
	return HG_OK;
}

HgStatus
hg_costs_measure(HgEngine *engine, const HgHost *host, uint32_t key_width, void *keys,
				 uint64_t rows, HgCosts *costs, HgError *error)
{
	const size_t bytes = 2 * CHUNK_PAIRS * sizeof(uint32_t);
	void *pairs;
	HgStatus status = hg_host_memory_alloc(host, bytes, &pairs, error);
	Jobs jobs = {.engine = engine, .host = host, .key_width = key_width, .keys = keys};

	if (status != HG_OK)
		return status;
	jobs.matches = (HgMatches){
		.outer = pairs, .inner = (uint32_t *) pairs + CHUNK_PAIRS, .capacity = CHUNK_PAIRS};
	fill_keys(keys, key_width, rows);
	status = measure(&jobs, rows, costs, error);
	hg_host_memory_free(host, pairs, bytes);
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

double
hg_costs_estimate_values(const HgCosts *costs, double column_bytes, double value_bytes)
{
	return (column_bytes * costs->column_ns +
			value_bytes * costs->pair_ns / (2 * sizeof(uint32_t))) *
		   1e-6;
}
