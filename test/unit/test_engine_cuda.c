/*-------------------------------------------------------------------------
 *
 * test_engine_cuda.c
 *	  The CUDA engine: the conformity suite, and what only a device has.
 *
 * On a machine without a usable device it says so and passes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../cuda/engine/hg_cuda_engine.h"
#include "../../src/engine/hg_passes.h"
#include "hg_tap.h"
#include "test_cuda_bins.h"
#include "test_cuda_chunks.h"
#include "test_cuda_exchange.h"
#include "test_cuda_replica.h"
#include "test_cuda_lookups.h"
#include "test_cuda_pages.h"
#include "test_cuda_sharded.h"
#include "test_engine_computed.h"
#include "test_engine_filters.h"
#include "test_engine_replica.h"
#include "test_engine_replica_lookups.h"
#include "test_engine_suite.h"
#include "test_measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool
small_suite(void)
{
	return hg_tap_suite() <= HG_SUITE_SMALL;
}

/* Append and build a job under a budget; returns what came of it. */
static HgStatus
status_of_job(HgEngine *engine, const TestData *data)
{
	TestRun run = {.engine = engine,
				   .host = test_host_plain(),
				   .data = data,
				   .spec = {.key_width = data->key_width, .shape.probe = HG_PROBE_INTERSECT}};
	HgError error = {0};
	HgStatus status;
	HgJob *job;

	status = test_run_build(&run, &job, &error);
	if (job != NULL)
		engine->join->close(job);
	return status == HG_OK || error.message[0] != '\0' ? status : HG_INVALID;
}

/*
 * The budget is for all jobs together, and what a job gives back is there again: found out with
 * about as much as one job needs.
 */
static void
test_budget(void)
{
	HgEngine *engine = NULL;
	HgJob *holder = NULL;
	HgError error = {0};
	TestData data;
	TestRun run = {.host = test_host_plain(),
				   .data = &data,
				   .spec = {.key_width = 4, .shape.probe = HG_PROBE_INTERSECT}};
	const uint64_t rows = hg_tap_suite() == HG_SUITE_TINY ? 10000 : 100000;
	const int turns = hg_tap_suite() == HG_SUITE_TINY ? 5 : 100;
	bool good = true;
	bool fits = false;

	if (!hg_tap_turn())
		return;
	test_data_create(&data, TEST_KEYS_UNIQUE, 4, rows, rows);
	for (uint64_t budget = 10 * rows; !fits && budget < 640 * rows; budget += budget / 8)
	{
		if (engine != NULL)
			hg_cuda_engine_stop(engine);
		if (hg_cuda_engine_start(HG_CUDA_EMPTIEST, budget, &engine, &error) != HG_OK)
		{
			hg_tap_ok(false, "cuda: a second engine starts");
			return;
		}
		fits = status_of_job(engine, &data) == HG_OK;
	}
	run.engine = engine;
	for (int turn = 0; turn < turns; turn++)
		good = good && status_of_job(engine, &data) == HG_OK;
	hg_tap_ok(good, "cuda: %d jobs one after the other stay within the budget", turns);

	good = test_run_build(&run, &holder, &error) == HG_OK;
	hg_tap_ok(good && status_of_job(engine, &data) == HG_DEVICE_OUT_OF_MEMORY,
			  "cuda: a second job at a time does not");
	if (holder != NULL)
		engine->join->close(holder);
	hg_tap_ok(status_of_job(engine, &data) == HG_OK, "cuda: it does when the first one is closed");
	hg_cuda_engine_stop(engine);
	test_data_destroy(&data);
}

static HgEngine *
itself(void *arg)
{
	return arg;
}

/* Jobs that do not fit the device are cut into ranges, refused early or late. */
static void
test_passes(TestKeys kind, uint32_t width, uint64_t outer_rows, uint64_t inner_rows,
			uint64_t budget)
{
	HgPasses passes;
	HgEngine *engine;
	HgError error = {0};
	TestData data;
	TestRun run = {.host = test_host_plain(), .data = &data, .capacity = 65536};
	bool good = true;

	if (!hg_tap_turn())
		return;
	if (hg_cuda_engine_start(HG_CUDA_EMPTIEST, budget, &engine, &error) != HG_OK)
	{
		hg_tap_ok(false, "cuda: a second engine starts");
		return;
	}
	hg_passes_init(&passes, "ranges of cuda", itself, engine);
	run.engine = &passes.engine;
	test_data_create(&data, kind, width, outer_rows, inner_rows);
	run.spec.key_width = width;
	run.spec.device = -1;
	for (int early = 0; early <= 1; early++)
		for (int probe = HG_PROBE_AUTO; probe <= HG_PROBE_INTERSECT; probe++)
		{
			run.spec.shape.probe = (HgProbeAlgorithm) probe;
			run.spec.sides[HG_OUTER].expected_rows = early ? outer_rows : 0;
			run.spec.sides[HG_INNER].expected_rows = early ? inner_rows : 0;
			good &= test_run(&run);
		}
	hg_tap_ok(good, "cuda: %llu x %llu rows in %llu bytes, keys %s of %u bytes",
			  (unsigned long long) outer_rows, (unsigned long long) inner_rows,
			  (unsigned long long) budget, test_keys_name(kind), width);
	test_data_destroy(&data);
	hg_cuda_engine_stop(engine);
}

/* A job whose rows are known is refused before it takes any. */
static void
test_early_refusal(void)
{
	HgEngine *engine;
	HgError error = {0};
	HgJob *job = NULL;
	HgJobSpec spec = {.key_width = 4, .device = -1};

	if (hg_cuda_engine_start(HG_CUDA_EMPTIEST, UINT64_C(1) << 30, &engine, &error) != HG_OK)
	{
		hg_tap_ok(false, "cuda: a second engine starts");
		return;
	}
	spec.sides[HG_OUTER].expected_rows = spec.sides[HG_INNER].expected_rows = 100000000;
	hg_tap_ok(engine->open(engine, test_host_plain(), &spec, &job, &error) ==
					  HG_DEVICE_OUT_OF_MEMORY &&
				  job == NULL,
			  "cuda: a job that cannot fit is refused at once");
	spec.sides[HG_OUTER].expected_rows = spec.sides[HG_INNER].expected_rows = 10000000;
	hg_tap_ok(engine->open(engine, test_host_plain(), &spec, &job, &error) == HG_OK,
			  "cuda: one that fits is not");
	if (job != NULL)
		engine->join->close(job);
	spec.memory_limit = UINT64_C(64) << 20;
	hg_tap_ok(engine->open(engine, test_host_plain(), &spec, &job, &error) ==
				  HG_DEVICE_OUT_OF_MEMORY,
			  "cuda: but within a limit of its own it is");
	hg_cuda_engine_stop(engine);
}

/*
 * A job of rows rows a side, where row i has key i and value i in both; *groups of the values
 * of the inner side.  The job is open afterwards unless it is NULL.
 */
static HgStatus
reduce_rows(HgEngine *engine, uint64_t rows, HgJob **job, uint64_t *groups, HgError *error)
{
	const HgReduceSpec reduce = {
		.nkeys = 1, .keys = {{.side = HG_INNER, .is_signed = 1}}, .max_groups = UINT64_MAX};
	const HgJobSpec spec = {
		.key_width = 8, .device = -1, .sides = {{0}, {.ncolumns = 1, .column_width = {8}}}};
	uint64_t *keys = test_malloc(rows * sizeof(*keys));
	HgStatus status;

	for (uint64_t row = 0; row < rows; row++)
		keys[row] = row;
	*job = NULL;
	status = engine->open(engine, test_host_plain(), &spec, job, error);
	for (int side = 0; side < 2 && status == HG_OK; side++)
		status = engine->join->append(*job, (HgSide) side, keys, rows, error);
	if (status == HG_OK)
		status = engine->columns->append_column(*job, HG_INNER, 0, keys, NULL, rows, 0, error);
	if (status == HG_OK)
		status = engine->join->build(*job, error);
	if (status == HG_OK)
		status = engine->columns->reduce(*job, HG_MATCH_ALL, &reduce, groups, error);
	free(keys);
	return status;
}

/* Groups that a device has no room for are too many; columns that it has none for are refused. */
static void
test_little_room(void)
{
	const uint64_t rows = hg_tap_suite() == HG_SUITE_TINY ? 40000 : 100000;
	bool some_few = false;
	bool some_many = false;
	bool some_refused = false;
	bool good = true;

	for (uint64_t budget = 10 * rows; good && budget < 640 * rows; budget += budget / 3)
	{
		HgEngine *engine;
		HgError error = {0};
		uint64_t groups = 0;
		uint64_t pairs = 0;
		HgStatus status;
		HgJob *job;

		good = hg_cuda_engine_start(HG_CUDA_EMPTIEST, budget, &engine, &error) == HG_OK;
		if (!good)
			break;
		status = reduce_rows(engine, rows, &job, &groups, &error);
		some_refused |= status == HG_DEVICE_OUT_OF_MEMORY;
		some_many |= status == HG_OK && groups == HG_TOO_MANY_GROUPS;
		some_few |= status == HG_OK && groups == rows;
		good = status == HG_DEVICE_OUT_OF_MEMORY ||
			   (status == HG_OK && (groups == HG_TOO_MANY_GROUPS || groups == rows));
		if (status == HG_OK)
			good = good && engine->join->count(job, HG_MATCH_ALL, &pairs, &error) == HG_OK &&
				   pairs == rows;
		if (job != NULL)
			engine->join->close(job);
		hg_cuda_engine_stop(engine);
	}
	hg_tap_ok(good && some_refused && some_many && some_few,
			  "cuda: with little memory columns are refused, with more groups are too many");
}

/* What jobs hold on the device of an engine, and what they may. */
static uint64_t
held_by(HgEngine *engine, uint64_t *budget)
{
	uint64_t held;
	uint64_t peak;

	hg_cuda_engine_memory(engine, budget, &held, &peak);
	return held;
}

/*
 * Many bins that no block has room for, with few outer rows each: their rows are copied, and take
 * no more than they did before.
 */
static void
test_small_pieces(HgEngine *engine)
{
	enum
	{
		KEYS = 100,
		LIST = 30000
	};
	TestData data = {.key_width = 4, .rows = {KEYS, (uint64_t) KEYS * LIST}};
	TestRun run = {.engine = engine,
				   .host = test_host_plain(),
				   .data = &data,
				   .spec = {.key_width = 4, .device = -1},
				   .capacity = 1 << 20};
	HgJobStats stats;
	HgError error = {0};
	uint64_t budget;
	uint64_t before;
	HgJob *job;

	for (int side = 0; side < 2; side++)
	{
		uint32_t *keys = test_malloc(data.rows[side] * sizeof(*keys));

		for (uint64_t row = 0; row < data.rows[side]; row++)
			keys[row] = (uint32_t) (row % KEYS * 7919);
		data.keys[side] = keys;
		data.distinct[side] = KEYS;
	}
	data.pairs = data.rows[HG_INNER];
	data.first = KEYS;
	for (uint64_t row = 0; row < data.rows[HG_INNER]; row++)
		data.checksum += test_pair_checksum((uint32_t) (row % KEYS), (uint32_t) row);
	hg_tap_ok(test_run(&run), "cuda: bins of one key each that no block has room for");

	before = held_by(engine, &budget);
	if (test_run_build(&run, &job, &error) == HG_OK)
	{
		engine->join->stats(job, &stats);
		/* keys and row numbers, twice, and a graph's offsets */
		hg_tap_ok(held_by(engine, &budget) - before <
					  2 * (data.rows[HG_OUTER] + data.rows[HG_INNER]) * 8 +
						  (stats.vertices + 1) * sizeof(uint32_t) + (UINT64_C(2) << 20),
				  "cuda: their rows take no more than they need");
	}
	else
		hg_tap_ok(false, "cuda: they are built");
	if (job != NULL)
		engine->join->close(job);
	test_data_destroy(&data);
}

/* Bytes that an engine without jobs may keep of a device: streams, and modules that were loaded. */
#define OTHER_HOLDS (UINT64_C(64) << 20)

/* A second, and some more: how old a measurement of free memory gets. */
static void
grow_old(void)
{
	const struct timespec while_measured = {.tv_sec = 1, .tv_nsec = 100000000};

	nanosleep(&while_measured, NULL);
}

/* Another engine stands for another process: what its jobs hold is not there for this one. */
static void
test_other_processes(HgEngine *engine)
{
	HgEngine *other;
	HgError error = {0};
	HgJob *job = NULL;
	HgJobSpec spec = {.key_width = 8, .device = -1};
	const uint64_t key = 1;
	uint64_t alone;
	uint64_t beside;
	uint64_t after;
	uint64_t budget;
	uint64_t rows = HG_MAX_ROWS;
	HgStatus status;

	if (hg_cuda_engine_start(HG_CUDA_EMPTIEST, 0, &other, &error) != HG_OK)
	{
		hg_tap_ok(false, "cuda: a second engine starts");
		return;
	}
	hg_cuda_engine_trim(engine);
	grow_old();
	hg_cuda_engine_measure(engine);
	held_by(engine, &alone);

	/* as many rows as it may have, for which it takes memory with the first of them */
	do
	{
		rows -= rows / 8;
		spec.sides[HG_OUTER].expected_rows = spec.sides[HG_INNER].expected_rows = rows;
		status = other->open(other, test_host_plain(), &spec, &job, &error);
	} while (status == HG_DEVICE_OUT_OF_MEMORY && rows > 1000);
	for (int side = 0; side < 2 && status == HG_OK; side++)
		status = other->join->append(job, (HgSide) side, &key, 1, &error);
	grow_old();
	hg_cuda_engine_measure(engine);
	held_by(engine, &beside);
	hg_tap_ok(status == HG_OK && beside < alone && alone - beside < held_by(other, &budget),
			  "cuda: memory that another process has is not in the budget");

	if (job != NULL)
		other->join->close(job);
	hg_cuda_engine_trim(other);
	grow_old();
	hg_cuda_engine_measure(engine);
	held_by(engine, &after);
	/* but for what the other engine's context keeps */
	hg_tap_ok(after <= alone + OTHER_HOLDS && after + OTHER_HOLDS >= alone,
			  "cuda: it is when that has given it back: %llu bytes, %llu before",
			  (unsigned long long) after, (unsigned long long) alone);
	hg_cuda_engine_stop(other);
}

/* Memory that jobs needed for a moment, while another one is open. */
static void
test_tidying(HgEngine *engine)
{
	HgDeviceInfo infos[16];
	HgError error = {0};
	HgJob *cursor = NULL;
	HgJob *job = NULL;
	HgJobSpec spec = {.key_width = 8, .device = -1};
	const int device = hg_cuda_engine_device(engine);
	const uint64_t key = 1;
	uint64_t kept = 0;
	bool good;

	good = engine->open(engine, test_host_plain(), &spec, &cursor, &error) == HG_OK &&
		   engine->join->append(cursor, HG_INNER, &key, 1, &error) == HG_OK;
	spec.sides[HG_INNER].expected_rows = UINT64_C(1) << 27;
	good = good && engine->open(engine, test_host_plain(), &spec, &job, &error) == HG_OK &&
		   engine->join->append(job, HG_INNER, &key, 1, &error) == HG_OK;
	if (job != NULL)
		engine->join->close(job);
	if (hg_cuda_engine_list(HG_CUDA_EACH, infos, 16, &error) > device)
		kept = infos[device].memory_free;
	for (int i = 0; i < 11; i++)
	{
		hg_cuda_engine_tidy(engine);
		grow_old();
	}
	good = good && hg_cuda_engine_list(HG_CUDA_EACH, infos, 16, &error) > device &&
		   infos[device].memory_free >= kept + (UINT64_C(1) << 30) / 2;
	hg_tap_ok(good,
			  "cuda: memory that is not needed any more is given back beside an open job: %llu "
			  "bytes free, %llu before",
			  (unsigned long long) infos[device].memory_free, (unsigned long long) kept);
	if (cursor != NULL)
		engine->join->close(cursor);
}

static void
test_devices(HgEngine *engine)
{
	HgDeviceInfo infos[16];
	HgJobSpec spec = {.key_width = 4, .device = 15};
	HgError error = {0};
	HgJob *job;
	int count = hg_cuda_engine_list(HG_CUDA_EACH, infos, 16, &error);
	bool good = count > 0;

	for (int i = 0; i < count; i++)
		good = good && infos[i].ordinal == i && infos[i].name[0] != '\0' &&
			   infos[i].memory_total >= infos[i].memory_free && infos[i].memory_free > 0 &&
			   infos[i].driver_version > 0 && infos[i].capability_major > 0;
	hg_tap_ok(good && strcmp(infos[0].state, "ready") == 0, "cuda: devices are described");
	hg_tap_ok(engine->open(engine, test_host_plain(), &spec, &job, &error) == HG_UNAVAILABLE,
			  "cuda: a device that is not there is refused");
}

/* Tables are measured, and leave nothing behind. */
static void
test_tables(HgEngine *engine)
{
	uint64_t budget;
	uint64_t held;
	uint64_t peak;

	test_measure_suite(engine, test_host_plain());
	hg_cuda_engine_memory(engine, &budget, &held, &peak);
	hg_tap_ok(held == 0, "cuda: measured tables hold no memory any more");
}

/* Rows of the largest graph replicas. */
static const uint32_t most_rows[] = {
	[HG_SUITE_TINY] = 3000,
	[HG_SUITE_SMALL] = 300000,
	[HG_SUITE_WHOLE] = 6000000,
	[HG_SUITE_LARGE] = 80000000,
};

/* What does not have to do with graph replicas, or pages. */
static void
test_jobs(HgEngine *engine)
{
	hg_engine_suite(engine, test_host_plain());
	hg_engine_reduce_suite(engine, test_host_plain());
	test_tables(engine);
	if (hg_tap_turn())
		test_devices(engine);
	test_cuda_bins(engine);
	test_budget();
	test_early_refusal();
	if (hg_tap_turn())
		test_little_room();
	test_cuda_chunks();
	hg_engine_crowd(engine, test_host_plain(), small_suite() ? 5000 : 1000000,
					small_suite() ? 3 : 200);
	if (small_suite())
	{
		test_passes(TEST_KEYS_DUPLICATES, 4, 20000, 20000, 400000);
		test_passes(TEST_KEYS_SKEWED, 8, 20000, 20, 200000);
		return;
	}
	for (uint32_t width = 4; width <= 8; width += 4)
	{
		test_passes(TEST_KEYS_UNIQUE, width, 1000000, 1000000, 8000000);
		test_passes(TEST_KEYS_DUPLICATES, width, 300000, 1000000, 1000000);
		test_passes(TEST_KEYS_SKEWED, width, 200000, 50, 1000000);
		test_passes(TEST_KEYS_EQUAL, width, 300000, 20, 1000000);
	}
	test_small_pieces(engine);
	test_other_processes(engine);
	test_tidying(engine);
	hg_engine_cancel_times(engine, test_host_plain(), UINT64_C(1) << 26, false);
}

/* HG_KIND: engine, kept, lookups, filters, pages, exchange, or wide; all where it is not set. */
static bool
is_asked_for(const char *kind)
{
	const char *asked = getenv("HG_KIND");

	return asked == NULL || strcmp(asked, kind) == 0;
}

int
main(void)
{
	HgEngine *engine;
	HgError error = {0};

	if (hg_cuda_engine_start(HG_CUDA_EMPTIEST, 0, &engine, &error) != HG_OK)
	{
		printf("1..0 # SKIP %s\n", error.message);
		return error.status == HG_UNAVAILABLE ? 0 : 1;
	}
	if (is_asked_for("engine"))
		test_jobs(engine);
	if (is_asked_for("kept"))
	{
		hg_engine_replica_suite(engine, test_host_plain(), most_rows[hg_tap_suite()]);
		test_cuda_replica(engine);
	}
	if (is_asked_for("lookups"))
	{
		hg_engine_replica_lookups_suite(engine, test_host_plain(), most_rows[hg_tap_suite()]);
		hg_engine_computed_suite(engine, test_host_plain());
		test_cuda_lookups(engine);
	}
	if (is_asked_for("filters"))
		hg_engine_filters_suite(engine, test_host_plain());
	if (is_asked_for("pages"))
		test_cuda_pages(engine);
	if (is_asked_for("exchange"))
		test_cuda_exchange();
	if (is_asked_for("wide"))
		test_cuda_sharded(engine);
	hg_cuda_engine_stop(engine);
	return hg_tap_done();
}
