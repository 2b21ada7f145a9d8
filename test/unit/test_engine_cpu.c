/*-------------------------------------------------------------------------
 *
 * test_engine_cpu.c
 *	  The CPU engine: the conformity suite, and what is its own promise.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"
#include "test_engine_suite.h"
#include "test_finished.h"

#include "../../src/engine/cpu/hg_cpu.h"
#include "../../src/engine/hg_features.h"
#include "../../src/engine/hg_finished.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Build and close; returns the status and what the job said of itself. */
static HgStatus
build_once(const TestRun *run, HgJobStats *stats, HgError *error)
{
	HgJob *job;
	HgStatus status = test_run_build(run, &job, error);

	if (job != NULL)
	{
		run->engine->join->stats(job, stats);
		run->engine->join->close(job);
	}
	return status;
}

/* peak_bytes is what the host saw, and a limit holds to the byte. */
static void
test_memory_account(HgBuildAlgorithm build)
{
	TestData data;
	TestHost host;
	TestRun run = {hg_cpu_engine(), &host.host, &data, {.key_width = 4, .device = -1}, 100, 1};
	HgJobStats stats;
	HgError error;
	HgStatus status;
	uint64_t peak;

	run.spec.shape.build = build;
	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 100000, 50000);

	test_host_init(&host, test_host_plain());
	status = build_once(&run, &stats, &error);
	peak = stats.peak_bytes;
	hg_tap_ok(status == HG_OK && peak == host.peak_bytes && peak > 0,
			  "cpu: the peak of memory is accounted for, build %s", hg_build_name(build));

	run.spec.memory_limit = peak;
	hg_tap_ok(build_once(&run, &stats, &error) == HG_OK && stats.peak_bytes == peak,
			  "cpu: a job runs in the memory that it needs, build %s", hg_build_name(build));

	run.spec.memory_limit = peak - 1;
	hg_tap_ok(build_once(&run, &stats, &error) == HG_OUT_OF_MEMORY &&
				  stats.peak_bytes <= run.spec.memory_limit && host.held_bytes == 0,
			  "cpu: a job does not run in a byte less, build %s", hg_build_name(build));
	test_data_destroy(&data);
}

/* Rows of one list stand in ascending order, so that gathering reads forward. */
static void
test_row_order(void)
{
	enum
	{
		ROWS = 5000
	};
	TestData data;
	TestRun run = {hg_cpu_engine(), test_host_plain(), &data, {.key_width = 4, .device = -1}, 0, 1};
	uint32_t *rows = test_malloc(ROWS * sizeof(uint32_t));
	uint32_t *keys = test_malloc(ROWS * sizeof(uint32_t));
	uint32_t *offsets = test_malloc((UINT64_C(1) << 16) * sizeof(uint32_t));
	HgError error;
	bool ascending = true;

	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, ROWS, ROWS);
	for (int build = HG_BUILD_V1; build <= HG_BUILD_V2; build++)
	{
		HgStatus status;
		HgJob *job;

		run.spec.shape.build = (HgBuildAlgorithm) build;
		run.spec.shape.bins = build == HG_BUILD_V2 ? 16 : 0;
		status = test_run_build(&run, &job, &error);
		if (status == HG_OK)
			status = run.engine->join->export_graph(job, HG_INNER, offsets, keys, rows, &error);
		ascending &= status == HG_OK;
		for (uint32_t i = 1; i < ROWS && status == HG_OK; i++)
			ascending &= keys[i] != keys[i - 1] || rows[i] > rows[i - 1];
		if (job != NULL)
			run.engine->join->close(job);
	}
	hg_tap_ok(ascending, "cpu: equal keys keep the order of their rows in short lists");
	free(offsets);
	free(keys);
	free(rows);
	test_data_destroy(&data);
}

/*
 * 30000 different keys in one list, on both sides: 9 * 10^8 comparisons, were the
 * list not searched.
 */
static void
test_collisions(void)
{
	enum
	{
		ROWS = 30000
	};
	TestData data;
	TestRun run = {hg_cpu_engine(), test_host_plain(), &data, {.key_width = 8, .device = -1}, 0, 1};
	uint64_t counted = 0;
	HgStatus status;
	HgJobStats stats;
	HgError error;

	test_data_create(&data, TEST_KEYS_UNIQUE, 8, ROWS, ROWS);
	for (uint64_t i = 0; i < ROWS; i++)
	{
		((uint64_t *) data.keys[HG_OUTER])[i] = hg_unmix64(i * 3);
		((uint64_t *) data.keys[HG_INNER])[i] = hg_unmix64(i * 2);
	}
	status = test_run_count(&run, HG_MATCH_ALL, &counted, &stats, &error);
	hg_tap_ok(status == HG_OK && counted == ROWS * 2 / 3 / 2 && stats.comparisons < ROWS * 40,
			  "cpu: keys that collide are found in %" PRIu64 " comparisons", stats.comparisons);
	test_data_destroy(&data);
}

/* One key, one match of each row wanted: no more than a few matches of each row are written. */
static void
test_finished_few(void)
{
	enum
	{
		ROWS = 3000
	};
	static const char *const names[] = {"build v1, standard", "build v1, intersect",
										"build v2, standard", "build v2, intersect", "direct"};

	for (int way = 0; way < 5; way++)
		for (uint32_t width = 4; width <= 8; width += 4)
		{
			TestData data;
			TestRun run = {hg_cpu_engine(), test_host_plain(), &data, {.device = -1}, 1700, 1000};
			TestJobStream of = {.engine = hg_cpu_engine()};
			TestStream stream = test_job_stream(&of, ROWS, 60000);
			uint64_t first = 0;
			HgError error;

			test_data_create(&data, TEST_KEYS_EQUAL, width, ROWS, ROWS);
			run.spec.key_width = width;
			run.spec.shape.direct = way == 4;
			if (way < 4)
			{
				run.spec.shape.build = way / 2 == 0 ? HG_BUILD_V1 : HG_BUILD_V2;
				run.spec.shape.probe = way % 2 == 0 ? HG_PROBE_STANDARD : HG_PROBE_INTERSECT;
			}
			if (test_run_build(&run, &of.job, &error) == HG_OK)
				first = test_finished_first(&stream);
			hg_tap_ok(first >= ROWS && first <= ROWS * HG_MATCHES_FIRST_PART,
					  "cpu: of %" PRIu64 " pairs of one key %" PRIu64
					  " are written where one of each row is wanted, keys of %u bytes, %s",
					  data.pairs, first, width, names[way]);
			if (of.job != NULL)
				of.engine->join->close(of.job);
			test_data_destroy(&data);
		}
}

/* Kernels for machines that have less than this one give the same matches. */
static void
test_features(void)
{
	static const char *const names[] = {"portable", "AVX2", "AVX-512"};
	HgCpuFeatures best = hg_cpu_features();

	for (int features = HG_CPU_PORTABLE; features <= HG_CPU_AVX512; features++)
	{
		bool good = true;

		hg_cpu_limit_features((HgCpuFeatures) features);
		if (features > (int) best)
		{
			hg_tap_skip("this machine has no such instructions", "cpu: kernels, %s",
						names[features]);
			continue;
		}
		for (int kind = 0; kind < TEST_KEYS_COUNT; kind++)
			for (uint32_t width = 4; width <= 8; width += 4)
				for (int build = HG_BUILD_V1; build <= HG_BUILD_V2; build++)
				{
					TestData data;
					TestRun run = {
						hg_cpu_engine(), test_host_plain(), &data, {.device = -1}, 1700, 1000};

					test_data_create(&data, (TestKeys) kind, width, 3000, 700);
					run.spec.key_width = width;
					run.spec.shape.build = (HgBuildAlgorithm) build;
					run.spec.shape.bins = build == HG_BUILD_V2 ? 32 : 0;
					for (run.spec.shape.load_factor = 0.5; run.spec.shape.load_factor < 16;
						 run.spec.shape.load_factor *= 3)
						good &= hg_cpu_features() == (HgCpuFeatures) features && test_run(&run);
					test_data_destroy(&data);
				}
		for (uint32_t width = 4; width <= 8; width += 4)
			for (int repeats = 0; repeats < 2; repeats++)
			{
				const uint64_t rows[2] = {3000, 700};
				const TestInterval interval = {0 - UINT64_C(200), 1000, repeats != 0};
				TestData data;
				TestRun run = {
					hg_cpu_engine(), test_host_plain(), &data, {.device = -1}, 1700, 1000};

				test_data_create_interval(&data, width, rows, &interval);
				run.spec.key_width = width;
				run.spec.shape.direct = 1;
				good &= test_run(&run);
				test_data_destroy(&data);
			}
		hg_tap_ok(good, "cpu: kernels, %s", names[features]);
	}
	hg_cpu_limit_features(HG_CPU_AVX512);
}

/* Does the engine choose keys for vertices? */
static bool
is_direct(HgJobSpec spec, const uint64_t rows[2], TestInterval interval)
{
	TestData data;
	TestRun run = {hg_cpu_engine(), test_host_plain(), &data, spec, 0, 1};
	HgJobStats stats = {0};
	HgError error;
	HgStatus status;

	test_data_create_interval(&data, spec.key_width, rows, &interval);
	status = build_once(&run, &stats, &error);
	test_data_destroy(&data);
	return status == HG_OK && stats.build == HG_BUILD_DIRECT;
}

static void
test_direct_choice(uint32_t key_width)
{
	const uint64_t rows[2] = {1000, 50000};
	const uint64_t few[2] = {100, 40};
	const uint64_t more[2] = {100, 50001};
	const HgJobSpec direct = {.key_width = key_width, .device = -1, .shape.direct = 1};
	const TestInterval dense = {0 - UINT64_C(1000), 50000, false};
	const TestInterval at_limit = {1000, 200000, false};
	const TestInterval beyond = {1000, 200001, false};
	const TestInterval few_at_limit = {1000, 1120, false};
	const TestInterval few_beyond = {1000, 1121, false};
	const TestInterval wide = {7, (UINT64_C(1) << (8 * key_width - 1)) + 50, false};
	HgJobSpec spec;

	hg_tap_ok(is_direct(direct, rows, dense) && is_direct(direct, rows, at_limit) &&
				  is_direct(direct, few, few_at_limit),
			  "cpu: dense keys of %u bytes are vertices", key_width);
	hg_tap_ok(!is_direct(direct, rows, beyond) && !is_direct(direct, few, few_beyond) &&
				  !is_direct(direct, rows, wide) && !is_direct(direct, few, wide),
			  "cpu: keys of %u bytes that are not dense are hashed", key_width);

	/* a limit of all jobs, or of those with a table, that leaves no room for the largest table */
	for (int all = 0; all < 2; all++)
	{
		spec = direct;
		*(all ? &spec.memory_limit : &spec.shape.direct_limit) = 1000000;
		hg_tap_ok(is_direct(spec, rows, dense) && !is_direct(spec, rows, at_limit) &&
					  !is_direct(spec, more, at_limit),
				  "cpu: keys of %u bytes are hashed where a table would take too much%s", key_width,
				  all ? " for any job" : "");
	}
	spec = direct;
	spec.shape.direct_limit = 1;
	hg_tap_ok(!is_direct(spec, few, few_at_limit) && !is_direct(spec, rows, dense),
			  "cpu: keys of %u bytes are hashed where there is no room for a table", key_width);

	spec = direct;
	spec.shape.direct = 0;
	hg_tap_ok(!is_direct(spec, rows, dense), "cpu: keys of %u bytes are hashed by default",
			  key_width);
	for (int setting = 0; setting < 4; setting++)
	{
		bool asked = false;

		spec = direct;
		spec.shape.build = setting == 0 ? HG_BUILD_V1 : HG_BUILD_AUTO;
		spec.shape.probe = setting == 1 ? HG_PROBE_STANDARD : HG_PROBE_AUTO;
		spec.shape.bins = setting == 2 ? 1 : 0;
		spec.shape.load_factor = setting == 3 ? 2 : 0;
		asked = is_direct(spec, rows, dense);
		hg_tap_ok(!asked, "cpu: setting %d has keys of %u bytes hashed", setting, key_width);
	}
}

/*
 * Each kind of table keeps to the limit that it was chosen under, and peak_bytes is what it took.
 */
static void
test_direct_memory(bool repeats)
{
	const uint64_t rows[2] = {3000, 50000};
	const TestInterval interval = {5, 60000, repeats};
	TestData data;
	TestHost host;
	TestRun run = {hg_cpu_engine(), &host.host, &data, {.key_width = 4, .device = -1}, 0, 1000};
	HgJobStats stats = {0};
	HgError error;
	HgStatus status;
	uint64_t counted;
	bool good = true;
	HgJob *job;

	test_host_init(&host, test_host_plain());
	test_data_create_interval(&data, 4, rows, &interval);
	run.spec.shape.direct = 1;
	run.spec.memory_limit = 460000;
	status = test_run_build(&run, &job, &error);
	for (int mode = HG_MATCH_ALL; mode <= HG_MATCH_FIRST && status == HG_OK; mode++)
	{
		status = run.engine->join->match(job, (HgMatchMode) mode, &error);
		if (status == HG_OK)
			status = run.engine->join->count(job, (HgMatchMode) mode, &counted, &error);
		good &= status == HG_OK && counted == (mode == HG_MATCH_ALL ? data.pairs : data.first);
	}
	if (job != NULL)
	{
		run.engine->join->stats(job, &stats);
		run.engine->join->close(job);
	}
	hg_tap_ok(good && stats.build == HG_BUILD_DIRECT && stats.peak_bytes == host.peak_bytes &&
				  stats.peak_bytes <= run.spec.memory_limit && host.held_bytes == 0,
			  "cpu: tables of keys keep to the memory limit, keys %s",
			  repeats ? "more than once" : "once");
	test_data_destroy(&data);
}

/* Rows with the same key come in their order, whatever kind of graph they are in. */
static void
test_direct_order(void)
{
	const uint64_t rows[2] = {100, 5000};
	const TestInterval interval = {0, 1000, true};
	TestData data;
	TestRun run = {hg_cpu_engine(), test_host_plain(), &data, {.key_width = 4, .device = -1}, 0, 1};
	uint32_t *room = test_malloc(2 * 1000 * sizeof(uint32_t));
	HgMatches matches = {.outer = room, .inner = room + 1000, .capacity = 1000};
	HgError error;
	HgStatus status;
	bool ascending = true;
	HgJob *job;

	test_data_create_interval(&data, 4, rows, &interval);
	run.spec.shape.direct = 1;
	status = test_run_build(&run, &job, &error);
	if (status == HG_OK)
		status = run.engine->join->match(job, HG_MATCH_ALL, &error);
	if (status == HG_OK)
		status = run.engine->join->next(job, &matches, &error);
	for (size_t i = 1; i < matches.count; i++)
		ascending &=
			matches.outer[i] > matches.outer[i - 1] ||
			(matches.outer[i] == matches.outer[i - 1] && matches.inner[i] > matches.inner[i - 1]);
	hg_tap_ok(status == HG_OK && matches.count == data.pairs && data.pairs > 0 && ascending,
			  "cpu: where keys are vertices matches come in the order of the rows of both sides");
	if (job != NULL)
		run.engine->join->close(job);
	free(room);
	test_data_destroy(&data);
}

/* How many rows the biggest jobs have: tools that look at every step take their time. */
static uint64_t
most_rows(void)
{
	bool small = hg_tap_suite() <= HG_SUITE_SMALL;

#if defined(__SANITIZE_ADDRESS__)
	small = true;
#endif
	return UINT64_C(1) << (small ? 20 : 24);
}

/* Can a job have outer rows a few at a time?  Others take none after build. */
static bool
can_stream(HgJobSpec spec, uint64_t inner_rows)
{
	const uint64_t rows[2] = {0, inner_rows};
	const TestInterval interval = {7, inner_rows, false};
	TestData data;
	TestRun run = {hg_cpu_engine(), test_host_plain(), &data, spec, 0, 1};
	uint32_t key = 0;
	HgJobStats stats = {0};
	HgError error;
	HgStatus status;
	HgJob *job;

	test_data_create_interval(&data, spec.key_width, rows, &interval);
	status = test_run_build(&run, &job, &error);
	if (status == HG_OK)
		run.engine->join->stats(job, &stats);
	if (status == HG_OK && run.engine->local->renew(job, &key, 1, &error) !=
							   (spec.streamed && stats.vertices > 0 ? HG_OK : HG_INVALID))
		status = HG_INVALID;
	if (job != NULL)
		run.engine->join->close(job);
	test_data_destroy(&data);
	return status == HG_OK && spec.streamed && stats.vertices > 0;
}

static void
test_streamed_choice(void)
{
	HgJobSpec spec = {
		.key_width = 4, .device = -1, .streamed = 1, .sides[HG_OUTER].expected_rows = 1000000};

	hg_tap_ok(
		can_stream(spec, 0) && can_stream(spec, 250000) && !can_stream(spec, 350000),
		"cpu: outer rows are looked up as they come in a graph that bins would be a loss for");
	spec.shape.direct = 1;
	hg_tap_ok(can_stream(spec, 350000), "cpu: they are in any table of dense keys");
	spec.streamed = 0;
	hg_tap_ok(!can_stream(spec, 1000), "cpu: a job that has its outer rows takes no others");
}

/* Outer rows that are no more leave a table for matches, and there is nothing to count in it. */
static void
test_streamed_none(bool repeats)
{
	const uint64_t rows[2] = {50, 100};
	const TestInterval interval = {7, 120, repeats};
	TestData data;
	TestData none;
	TestRun run = {hg_cpu_engine(), test_host_plain(), &none, {.key_width = 4, .device = -1}, 0, 1};
	uint32_t room[2][50];
	HgMatches matches = {.outer = room[0], .inner = room[1], .capacity = 50};
	uint64_t counted = 1;
	HgStatus status;
	HgError error;
	HgJob *job;

	test_data_create_interval(&data, 4, rows, &interval);
	none = data;
	none.rows[HG_OUTER] = 0;
	run.spec.shape.direct = 1;
	run.spec.streamed = 1;
	run.spec.sides[HG_OUTER].expected_rows = rows[HG_OUTER];
	status = test_run_build(&run, &job, &error);
	if (status == HG_OK)
		status = run.engine->local->renew(job, data.keys[HG_OUTER], rows[HG_OUTER], &error);
	if (status == HG_OK)
		status = run.engine->join->match(job, HG_MATCH_ALL, &error);
	if (status == HG_OK)
		status = run.engine->join->next(job, &matches, &error);
	if (status == HG_OK)
		status = run.engine->local->renew(job, NULL, 0, &error);
	if (status == HG_OK)
		status = run.engine->join->count(job, HG_MATCH_ALL, &counted, &error);
	hg_tap_ok(status == HG_OK && matches.count > 0 && counted == 0,
			  "cpu: no outer rows are counted after some were matched, keys %s",
			  repeats ? "more than once" : "once");
	if (job != NULL)
		run.engine->join->close(job);
	test_data_destroy(&data);
}

/*
 * Inner keys as bits, every third of an interval of a circle from least on: outer keys of all of
 * it, and around, are matched where their bit is set.
 */
static void
test_bits(uint32_t key_width, uint64_t least)
{
	enum
	{
		SIZE = 1000,
		AROUND = 100,
		ROWS = SIZE + 2 * AROUND
	};
	static uint32_t bits[SIZE / 32 + 2];
	static uint64_t wide[ROWS];
	static uint32_t narrow[ROWS];
	HgKeyBitmap bitmap = {.least = least, .size = SIZE, .bits = bits};
	HgJobSpec spec = {.key_width = key_width, .device = -1, .streamed = 1, .outer_only = 1};
	const void *keys = key_width == 4 ? (const void *) narrow : wide;
	HgEngine *engine = hg_cpu_engine();
	uint32_t outer[ROWS];
	uint32_t inner[ROWS];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = ROWS};
	uint64_t counted[2] = {0, 0};
	uint64_t wrong = 0;
	HgError error = {0};
	HgStatus status;
	HgJob *job;

	memset(bits, 0, sizeof(bits));
	for (uint32_t i = 0; i < SIZE; i += 3)
	{
		bits[i / 32] |= UINT32_C(1) << i % 32;
		bitmap.keys++;
	}
	for (uint32_t i = 0; i < ROWS; i++)
	{
		wide[i] = least - AROUND + (uint64_t) i * 7 % ROWS;
		narrow[i] = (uint32_t) wide[i];
	}
	status = engine->open(engine, test_host_plain(), &spec, &job, &error);
	if (status == HG_OK)
		status = engine->local->append_bits(job, &bitmap, &error);
	if (status == HG_OK && (engine->local->append_bits(job, &bitmap, NULL) != HG_INVALID))
		wrong++;
	if (status == HG_OK)
		status = engine->join->build(job, &error);
	if (status == HG_OK)
		status = engine->local->renew(job, keys, ROWS, &error);
	if (status == HG_OK)
		status = engine->join->match(job, HG_MATCH_ALL, &error);
	if (status == HG_OK)
		status = engine->join->next(job, &matches, &error);
	for (size_t i = 0; i < matches.count && status == HG_OK; i++)
	{
		uint64_t at = wide[outer[i]] - least;

		wrong += at >= SIZE || at % 3 != 0;
	}
	for (int mode = HG_MATCH_ALL; mode <= HG_MATCH_FIRST && status == HG_OK; mode++)
		status = engine->join->count(job, (HgMatchMode) mode, &counted[mode], &error);
	hg_tap_ok(status == HG_OK && wrong == 0 && matches.count == bitmap.keys &&
				  counted[0] == bitmap.keys && counted[1] == bitmap.keys,
			  "cpu: inner keys of %u bytes come as bits from %" PRIx64 " on", key_width, least);
	if (status != HG_OK)
		hg_tap_diag("status %d: %s", (int) status, error.message);
	engine->join->close(job);
}

/* Jobs that can't have bits: whose inner rows are asked for, or are there, or that are not
 * streamed. */
static void
test_bits_refused(void)
{
	const uint32_t bits[2] = {1, 0};
	const uint32_t key = 0;
	HgEngine *engine = hg_cpu_engine();
	unsigned refused = 0;

	for (int i = 0; i < 4; i++)
	{
		HgJobSpec spec = {.key_width = 4, .device = -1, .streamed = i != 0, .outer_only = i != 1};
		const HgKeyBitmap bitmap = {.size = i == 2 ? 0 : 32, .bits = bits, .keys = 1};
		HgJob *job;

		if (engine->open(engine, test_host_plain(), &spec, &job, NULL) != HG_OK)
			continue;
		if (i == 3)
			engine->join->append(job, HG_INNER, &key, 1, NULL);
		refused += engine->local->append_bits(job, &bitmap, NULL) == HG_INVALID;
		engine->join->close(job);
	}
	hg_tap_ok(refused == 4, "cpu: bits are for streamed jobs without inner rows");
}

int
main(void)
{
	hg_engine_suite(hg_cpu_engine(), test_host_plain());
	test_memory_account(HG_BUILD_V1);
	test_memory_account(HG_BUILD_V2);
	test_row_order();
	test_collisions();
	test_features();
	test_finished_few();
	test_direct_choice(4);
	test_direct_choice(8);
	test_direct_memory(false);
	test_direct_memory(true);
	test_direct_order();
	test_streamed_choice();
	test_streamed_none(false);
	test_streamed_none(true);
	for (uint32_t width = 4; width <= 8; width += 4)
	{
		test_bits(width, 12345);
		test_bits(width, 0);
		test_bits(width, UINT64_MAX - 500);
		test_bits(width, UINT32_MAX - 500);
		test_bits(width, UINT64_C(0x7fffffff) - 500);
	}
	test_bits_refused();
	hg_engine_crowd(hg_cpu_engine(), test_host_plain(), 50000, 20);
	hg_engine_cancel_times(hg_cpu_engine(), test_host_plain(), most_rows(), true);
	return hg_tap_done();
}
