/*-------------------------------------------------------------------------
 *
 * test_passes.c
 *	  Jobs that do not fit a device are cut into ranges, and give the same matches.
 *
 * The device is the CPU engine with little memory (hg_small_device.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include "../../src/engine/hg_passes.h"
#include "hg_small_device.h"
#include "hg_tap.h"
#include "test_engine_suite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static HgPasses passes;
static uint64_t device_bytes;
static bool by_itself;			 /* the device works by itself */
static int jobs_until_gone = -1; /* -1: the device stays */

static HgEngine *
device(void *arg)
{
	(void) arg;
	if (jobs_until_gone == 0)
		return NULL;
	if (jobs_until_gone > 0)
		jobs_until_gone--;
	return hg_small_device(device_bytes, by_itself);
}

/* The engine around a device of so many bytes, 0 for no limit. */
static HgEngine *
passes_of(uint64_t bytes)
{
	device_bytes = bytes;
	jobs_until_gone = -1;
	hg_passes_init(&passes, "ranges", device, NULL);
	return &passes.engine;
}

/*
 * Have the suites of every engine take few samples: all of them are taken of the engines
 * themselves.
 */
static void
in_short(HgTapSuite most, void (*test)(void))
{
	static const char *const names[] = {[HG_SUITE_TINY] = "tiny", [HG_SUITE_SMALL] = "small"};
	const char *suite = getenv("HG_SUITE");
	char *before = suite != NULL ? strdup(suite) : NULL;

	if (hg_tap_suite() > most)
		setenv("HG_SUITE", names[most], 1);
	test();
	if (before != NULL)
		setenv("HG_SUITE", before, 1);
	else
		unsetenv("HG_SUITE");
	free(before);
}

/* The suite, its big jobs left out: they come below, with devices that are big enough. */
static void
test_suite(void)
{
	hg_engine_suite(passes_of(0), test_host_plain());
}

/* The same with a device that refuses jobs. */
static void
test_refused(void)
{
	/* which call it is that is refused makes no difference to a device in the caller's thread */
	for (int stage = 0; stage < (by_itself ? HG_SMALL_STAGES : 1); stage++)
	{
		static const char *const names[] = {
			"ranges refused by open",	  "ranges refused by append", "ranges refused by build",
			"ranges refused by match",	  "ranges refused by next",	  "ranges refused by count",
			"ranges refused by describe", "ranges refused by reduce"};

		/* one stage after the other, and several stages at once */
		passes_of(0);
		passes.engine.name = names[stage];
		hg_small_device_refuse((HgSmallStage) stage, 20);
		hg_engine_suite(&passes.engine, test_host_plain());
		if (stage > 0)
			hg_small_device_refuse((HgSmallStage) stage, 0);
		hg_small_device_refuse(HG_SMALL_OPEN, stage % 2 == 0 ? 100 : 0);
	}
	hg_small_device_refuse(HG_SMALL_OPEN, 0);
	hg_tap_ok(hg_small_device_open_jobs() == 0, "ranges: no job of the device is left open");
}

/* Append two rows to each side of a job that has columns, build it and have it reduced. */
static HgStatus
reduce_rows(HgEngine *engine, HgError *error)
{
	const uint64_t key = 7;
	const uint16_t value = 5;
	const HgReduceSpec spec = {.nkeys = 1, .max_groups = 1};
	HgJobSpec job_spec = {
		.key_width = 8,
		.device = -1,
		.sides = {{.ncolumns = 1, .expected_rows = 2}, {.ncolumns = 1, .expected_rows = 2}}};
	uint64_t groups = 0;
	HgJob *job = NULL;
	HgStatus status;

	job_spec.sides[HG_OUTER].column_width[0] = job_spec.sides[HG_INNER].column_width[0] =
		sizeof(value);
	status = engine->open(engine, test_host_plain(), &job_spec, &job, error);
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		for (uint64_t row = 0; row < 2 && status == HG_OK; row++)
		{
			status = engine->join->append(job, (HgSide) side, &key, 1, error);
			if (status == HG_OK)
				status = engine->columns->append_column(job, (HgSide) side, 0, &value, NULL, 1, row,
														error);
		}
	if (status == HG_OK)
		status = engine->join->build(job, error);
	if (status == HG_OK)
		status = engine->columns->reduce(job, HG_MATCH_ALL, &spec, &groups, error);
	if (job != NULL)
		engine->join->close(job);
	return status == HG_OK && groups != 1 ? HG_INVALID : status;
}

/*
 * Jobs with columns run whole, or not at all: they are the device's, whose suite test_wire runs at
 * length.
 */
static void
test_columns(void)
{
	static const HgSmallStage stages[] = {HG_SMALL_OPEN, HG_SMALL_APPEND, HG_SMALL_BUILD,
										  HG_SMALL_REDUCE};
	HgEngine *engine = passes_of(0);
	HgError error = {0};
	bool good;

	hg_engine_reduce_suite(engine, test_host_plain());
	good = reduce_rows(engine, &error) == HG_OK;
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
	{
		hg_small_device_refuse(stages[i], 1);
		good = good && reduce_rows(engine, &error) == HG_DEVICE_OUT_OF_MEMORY;
		hg_small_device_refuse(stages[i], 0);
	}
	hg_tap_ok(good && hg_small_device_open_jobs() == 0,
			  "ranges: a job with columns that does not fit is refused as the device does");
}

/* Jobs that are cut into many ranges, and into ranges of ranges. */
static void
test_partitions(TestKeys kind, uint32_t width, uint64_t outer_rows, uint64_t inner_rows,
				uint64_t bytes)
{
	TestData data;
	TestRun run = {.engine = passes_of(bytes), .host = test_host_plain(), .data = &data};
	bool good = true;

	test_data_create(&data, kind, width, outer_rows, inner_rows);
	run.spec.key_width = width;
	run.spec.device = -1;
	run.capacity = 65536;
	for (int probe = HG_PROBE_AUTO; probe <= HG_PROBE_INTERSECT; probe++)
	{
		run.spec.shape.probe = (HgProbeAlgorithm) probe;
		run.piece = probe == HG_PROBE_AUTO ? 0 : 77777;
		good &= test_run(&run);
	}
	hg_tap_ok(good && hg_small_device_open_jobs() == 0,
			  "ranges: %" PRIu64 " x %" PRIu64 " rows in %" PRIu64 " bytes, keys %s of %u bytes",
			  outer_rows, inner_rows, bytes, test_keys_name(kind), width);
	test_data_destroy(&data);
}

/* A job of the device that was opened and filled before: it joins whole, or is cut. */
static void
test_adopted(HgSmallStage refuses, const char *what)
{
	TestData data;
	const HgHost *host = test_host_plain();
	HgEngine *engine = passes_of(0);
	HgEngine *inside = hg_small_device(0, by_itself);
	HgJobSpec spec = {.key_width = 4, .device = -1};
	uint64_t counted = 0;
	HgStatus status;
	HgJob *open;
	HgJob *job = NULL;

	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 30000, 20000);
	status = inside->open(inside, host, &spec, &open, NULL);
	for (int side = 0; side < 2 && status == HG_OK; side++)
		status = inside->join->append(open, (HgSide) side, data.keys[side], 5000, NULL);
	if (status == HG_OK)
		status = hg_passes_adopt(engine, host, &spec, open, &job, NULL);
	for (int side = 0; side < 2 && status == HG_OK; side++)
	{
		status = hg_passes_note(job, (HgSide) side, data.keys[side], 5000, NULL);
		/* the rest comes as ever */
		if (status == HG_OK)
			status =
				engine->join->append(job, (HgSide) side, (const uint32_t *) data.keys[side] + 5000,
									 data.rows[side] - 5000, NULL);
	}
	if (refuses != HG_SMALL_STAGES)
		hg_small_device_refuse(refuses, 10000);
	if (status == HG_OK)
		status = engine->join->build(job, NULL);
	if (status == HG_OK)
		status = engine->join->count(job, HG_MATCH_ALL, &counted, NULL);
	hg_tap_ok(status == HG_OK && counted == data.pairs, "ranges: an adopted job %s", what);
	if (job != NULL)
		engine->join->close(job);
	if (refuses != HG_SMALL_STAGES)
		hg_small_device_refuse(refuses, 0);
	hg_tap_ok(hg_small_device_open_jobs() == 0, "ranges: ... and ends");
	test_data_destroy(&data);
}

/* A job that fits is one job of the device, and the ranges engine holds next to nothing. */
static void
test_whole(void)
{
	TestData data;
	TestHost host;
	TestRun run = {.engine = passes_of(0), .host = &host.host, .data = &data, .capacity = 1000};
	uint64_t jobs = hg_small_device_jobs();
	uint64_t counted;
	HgJobStats stats = {0};
	HgError error;
	HgStatus status;

	test_host_init(&host, test_host_plain());
	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 100000, 100000);
	run.spec.key_width = 4;
	status = test_run_count(&run, HG_MATCH_ALL, &counted, &stats, &error);
	hg_tap_ok(status == HG_OK && counted == data.pairs && stats.passes == 1 &&
				  hg_small_device_jobs() == jobs + 1 && host.peak_bytes < 20000,
			  "ranges: a job that fits is passed on as it is, %" PRIu64 " bytes held",
			  host.peak_bytes);
	test_data_destroy(&data);
}

/* What a job that is cut holds of host memory, as hg_passes.h says. */
static void
test_host_memory(TestKeys kind, uint32_t width, uint64_t outer_rows, uint64_t inner_rows)
{
	TestData data;
	TestHost host;
	TestRun run = {.engine = passes_of(1000000), .host = &host.host, .data = &data};
	uint64_t bound = (outer_rows + inner_rows) / 4 * 17 / 16 * (width + 4) + 2000000;
	uint64_t counted;
	HgError error;
	HgStatus status;

	test_host_init(&host, test_host_plain());
	test_data_create(&data, kind, width, outer_rows, inner_rows);
	run.spec.key_width = width;
	status = test_run_count(&run, HG_MATCH_ALL, &counted, NULL, &error);
	hg_tap_ok(status == HG_OK && counted == data.pairs && host.peak_bytes <= bound &&
				  host.held_bytes == 0,
			  "ranges: %" PRIu64 " x %" PRIu64 " rows, keys %s of %u bytes, take %" PRIu64
			  " kB of the host",
			  outer_rows, inner_rows, test_keys_name(kind), width, host.peak_bytes / 1000);
	test_data_destroy(&data);
}

/* One key with more inner rows than the device has room for. */
static void
test_hopeless(void)
{
	TestData data;
	TestHost host;
	TestRun run = {.engine = passes_of(100000), .host = &host.host, .data = &data};
	HgError error = {0};
	HgStatus status;
	HgJob *job;

	test_host_init(&host, test_host_plain());
	test_data_create(&data, TEST_KEYS_EQUAL, 4, 1000, 100000);
	run.spec.key_width = 4;
	status = test_run_build(&run, &job, &error);
	hg_tap_ok(status == HG_DEVICE_OUT_OF_MEMORY && error.status == HG_DEVICE_OUT_OF_MEMORY &&
				  strcmp(error.message, "the small device is full") == 0,
			  "ranges: where one key does not fit, the device's own error is told");
	hg_tap_ok(job != NULL && run.engine->join->build(job, &error) == HG_INVALID,
			  "ranges: and the job has failed");
	if (job != NULL)
		run.engine->join->close(job);
	hg_tap_ok(host.held_bytes == 0 && hg_small_device_open_jobs() == 0,
			  "ranges: nothing of it is left");
	test_data_destroy(&data);
}

/* The device goes away between two ranges. */
static void
test_gone(void)
{
	TestData data;
	TestHost host;
	TestRun run = {.engine = passes_of(40000), .host = &host.host, .data = &data};
	bool good = true;

	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 20000, 20000);
	run.spec.key_width = 4;
	for (int jobs = 0; jobs < 10; jobs++)
	{
		uint64_t counted;
		HgError error = {0};
		HgStatus status;

		test_host_init(&host, test_host_plain());
		jobs_until_gone = jobs;
		status = test_run_count(&run, HG_MATCH_ALL, &counted, NULL, &error);
		good &= status == HG_CONNECTION_LOST && error.status == HG_CONNECTION_LOST &&
				host.held_bytes == 0;
	}
	hg_tap_ok(good && hg_small_device_open_jobs() == 0,
			  "ranges: a device that is gone is a lost connection");
	test_data_destroy(&data);
}

/* Two jobs of a device that works by itself are open at a time, and keep to the limit together. */
static void
test_pairs(uint64_t limit, uint64_t bytes, int jobs)
{
	TestData data;
	TestRun run = {.engine = passes_of(bytes), .host = test_host_plain(), .data = &data};
	uint64_t most = limit > 0 ? limit : bytes;
	uint64_t counted;
	HgJobStats stats = {0};
	HgError error;
	HgStatus status;

	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 1000000, 1000000);
	run.spec.key_width = 4;
	run.spec.memory_limit = limit;
	hg_small_device_most_jobs();
	hg_small_device_most_bytes();
	status = test_run_count(&run, HG_MATCH_ALL, &counted, &stats, &error);
	hg_tap_ok(status == HG_OK && counted == data.pairs && stats.passes > 4 &&
				  stats.peak_bytes <= most && hg_small_device_most_bytes() <= most,
			  "ranges: %" PRIu64 " of them, in pairs or not, in %" PRIu64 " bytes", stats.passes,
			  most);
	most = (uint64_t) hg_small_device_most_jobs();
	hg_tap_ok(most == (uint64_t) jobs, "ranges: %" PRIu64 " of them are open at a time", most);
	test_data_destroy(&data);
}

/* Everything, on a device that works in the caller's thread or by itself. */
static void
test_device(void)
{
	const bool small = hg_tap_suite() <= HG_SUITE_SMALL;
	const uint64_t part =
		small ? 3 : 1; /* of the rows and of the memory, which is as many ranges */

	test_whole();
	test_adopted(HG_SMALL_STAGES, "joins whole");
	test_adopted(HG_SMALL_BUILD, "that is refused by build is cut");
	test_adopted(HG_SMALL_COUNT, "that is refused by count is cut");
	in_short(HG_SUITE_SMALL, test_suite);
	in_short(small ? HG_SUITE_TINY : HG_SUITE_SMALL, test_refused);
	test_pairs(2000000, 0, by_itself ? 2 : 1);
	test_pairs(0, 10000000, by_itself ? 2 : 1);
	in_short(HG_SUITE_SMALL, test_columns);
	/* in a small suite each width in one of the ways */
	for (uint32_t width = by_itself ? 4 : 8; width <= (small && by_itself ? 4 : 8); width += 4)
	{
		test_partitions(TEST_KEYS_UNIQUE, width, 300000 / part, 200000 / part, 200000 / part);
		test_partitions(TEST_KEYS_DUPLICATES, width, 200000 / part, 300000 / part, 1000000 / part);
		test_partitions(TEST_KEYS_SKEWED, width, 100000, 100, 50000);
		test_partitions(TEST_KEYS_SKEWED, width, 100, 100000, 4000000);
		test_partitions(TEST_KEYS_HIGH, width, 50000, 50000, 200000);
		test_partitions(TEST_KEYS_ONE_LIST, width, 20000, 1000, 100000);
		test_partitions(TEST_KEYS_EQUAL, width, 300000, 20, 100000);
		test_host_memory(TEST_KEYS_UNIQUE, width, 2000000, 1000000);
		test_host_memory(TEST_KEYS_EQUAL, width, 2000000, 10);
	}
	test_hopeless();
	test_gone();
}

int
main(void)
{
	test_device();
	by_itself = true;
	test_device();
	return hg_tap_done();
}
