/*-------------------------------------------------------------------------
 *
 * test_costs.c
 *	  What is measured of an engine, and what is expected of a job then.
 *
 * The engine that is measured does nothing but take its time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../src/engine/cpu/hg_cpu.h"
#include "../../src/engine/hg_costs.h"
#include "../../src/engine/hg_reduce.h"
#include "hg_tap.h"
#include "test_engine_suite.h"

#include <stdlib.h>
#include <string.h>

#define ROWS (UINT64_C(1) << 16)

/* How often the engine is measured at most. */
#define TRIES 100

/* What the engine takes. */
static const HgCosts real = {.job_ms = 0.5,
							 .outer_ns = 40,
							 .inner_ns = 160,
							 .pair_ns = 80,
							 .column_ns = 20,
							 .reduce_ns = 60};

static struct
{
	HgJobSpec spec;
	uint64_t rows[2];
	uint64_t pairs; /* that are still to be returned */
	int open;
	bool distinct; /* all keys that came were */
	HgStatus build;
} slow;

/* Be busy: a sleep would last longer than it is told to. */
static void
take(double ms)
{
	double start = hg_clock_ms();

	while (hg_clock_ms() - start < ms)
		;
}

static HgStatus
slow_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job, HgError *error)
{
	(void) host;
	(void) error;
	slow.spec = *spec;
	slow.open++;
	memset(slow.rows, 0, sizeof(slow.rows));
	take(real.job_ms);
	*job = (HgJob *) engine;
	return HG_OK;
}

static HgStatus
slow_append(HgJob *job, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	static uint8_t seen[ROWS];

	(void) job;
	(void) error;
	memset(seen, 0, sizeof(seen));
	for (uint64_t i = 0; i < count; i++)
	{
		uint32_t key = ((const uint32_t *) keys)[i];

		slow.distinct = slow.distinct && key < ROWS && !seen[key];
		seen[key % ROWS] = 1;
	}
	slow.rows[side] += count;
	take((double) count * (side == HG_OUTER ? real.outer_ns : real.inner_ns) * 1e-6);
	return HG_OK;
}

static HgStatus
slow_build(HgJob *job, HgError *error)
{
	(void) job;
	return slow.build == HG_OK ? HG_OK : hg_error_set(error, slow.build, NULL, "told to fail");
}

static HgStatus
slow_match(HgJob *job, HgMatchMode mode, HgError *error)
{
	(void) job;
	(void) mode;
	(void) error;
	slow.pairs = slow.rows[HG_INNER];
	return HG_OK;
}

static HgStatus
slow_next(HgJob *job, HgMatches *matches, HgError *error)
{
	(void) job;
	(void) error;
	matches->count = slow.pairs < matches->capacity ? (size_t) slow.pairs : matches->capacity;
	slow.pairs -= matches->count;
	take((double) matches->count * real.pair_ns * 1e-6);
	return HG_OK;
}

static HgStatus
slow_count(HgJob *job, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	(void) job;
	(void) mode;
	(void) error;
	*matches = slow.rows[HG_INNER];
	return HG_OK;
}

static HgStatus
slow_append_column(HgJob *job, HgSide side, uint32_t column, const void *values,
				   const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	(void) job;
	(void) values;
	(void) nulls;
	(void) first_row;
	(void) error;
	take((double) count * slow.spec.sides[side].column_width[column] * real.column_ns * 1e-6);
	return HG_OK;
}

static HgStatus
slow_reduce(HgJob *job, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
			HgError *error)
{
	(void) job;
	(void) mode;
	*groups = spec->max_groups;
	take((double) slow.rows[HG_INNER] * real.reduce_ns * 1e-6);
	return hg_reduce_check(&slow.spec, spec, error);
}

static void
slow_close(HgJob *job)
{
	(void) job;
	slow.open--;
}

static const HgJoinCalls slow_join = {.append = slow_append,
									  .build = slow_build,
									  .match = slow_match,
									  .next = slow_next,
									  .count = slow_count,
									  .close = slow_close};

static const HgColumnCalls slow_columns = {
	.append_column = slow_append_column,
	.reduce = slow_reduce,
};

static HgEngine slow_engine = {
	.name = "slow",
	.open = slow_open,
	.join = &slow_join,
	.columns = &slow_columns,
};

/* Is a measured number what the engine took, give or take what a busy machine adds? */
static bool
is_near(double measured, double taken)
{
	return measured > taken / 2 && measured < taken * 3;
}

static bool
all_near(const HgCosts *costs)
{
	return is_near(costs->job_ms, real.job_ms) && is_near(costs->outer_ns, real.outer_ns) &&
		   is_near(costs->inner_ns, real.inner_ns) && is_near(costs->pair_ns, real.pair_ns) &&
		   is_near(costs->column_ns, real.column_ns) && is_near(costs->reduce_ns, real.reduce_ns);
}

static void
test_near(double measured, double taken, const char *what)
{
	if (!hg_tap_ok(is_near(measured, taken), "%s is measured", what))
		hg_tap_diag("%s: %g, not %g", what, measured, taken);
}

int
main(void)
{
	void *keys = test_malloc(ROWS * sizeof(uint64_t));
	HgCosts costs;
	HgError error;

	slow.distinct = true;
	hg_tap_ok(hg_costs_measure(&slow_engine, test_host_plain(), 4, keys, ROWS, &costs, &error) ==
					  HG_OK &&
				  slow.open == 0,
			  "an engine is measured, and its jobs are closed");
	hg_tap_ok(slow.distinct, "the keys of a side are distinct");
	/* a machine may be too busy for any number to be right, but not for ever */
	for (int tries = 1; tries < TRIES && !all_near(&costs); tries++)
		hg_costs_measure(&slow_engine, test_host_plain(), 4, keys, ROWS, &costs, &error);
	test_near(costs.job_ms, real.job_ms, "the time of every job");
	test_near(costs.outer_ns, real.outer_ns, "the time of an outer row");
	test_near(costs.inner_ns, real.inner_ns, "the time of an inner row");
	test_near(costs.pair_ns, real.pair_ns, "the time of a pair");
	test_near(costs.column_ns, real.column_ns, "the time of a byte of a column");
	test_near(costs.reduce_ns, real.reduce_ns, "the time of a pair of a group");

	slow.build = HG_DEVICE_OUT_OF_MEMORY;
	hg_tap_ok(hg_costs_measure(&slow_engine, test_host_plain(), 4, keys, ROWS, &costs, &error) ==
					  HG_DEVICE_OUT_OF_MEMORY &&
				  error.status == HG_DEVICE_OUT_OF_MEMORY && slow.open == 0,
			  "an engine that fails says why, and its jobs are closed");

	for (uint32_t width = 4; width <= 8; width += 4)
		hg_tap_ok(hg_costs_measure(hg_cpu_engine(), test_host_plain(), width, keys, ROWS, &costs,
								   &error) == HG_OK &&
					  costs.job_ms > 0 && costs.outer_ns >= 0 && costs.inner_ns >= 0 &&
					  costs.pair_ns >= 0 && costs.column_ns == 0 && costs.reduce_ns == 0 &&
					  hg_costs_estimate(&costs, 10000000, 10000000, 0) > costs.job_ms,
				  "the CPU engine is measured with keys of %u bytes", (unsigned) width);

	hg_tap_ok(hg_costs_estimate(&real, 2000000, 1000000, 500000) == 0.5 + 80 + 160 + 40,
			  "an estimate is the sum of its parts");
	hg_tap_ok(hg_costs_estimate_reduced(&real, 2000000, 1000000, 3000000, 500000) ==
				  0.5 + 80 + 160 + 60 + 30,
			  "and so is one of groups");
	hg_tap_ok(hg_costs_estimate_values(&real, 3000000, 4000000) ==
				  3 * real.column_ns + 4 * real.pair_ns / 8,
			  "and what values cost that come with pairs, by their bytes");
	free(keys);
	return hg_tap_done();
}
