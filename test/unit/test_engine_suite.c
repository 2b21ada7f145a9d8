/*-------------------------------------------------------------------------
 *
 * test_engine_suite.c
 *	  The conformity suite: what every engine must do.
 *
 * Written against hg_engine.h alone, so that the same tests hold the CPU engine,
 * the CUDA engine and the remote engine.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_engine_suite.h"
#include "hg_tap.h"

#include <inttypes.h>
#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Streams of more matches are not read in chunks of a few. */
#define TINY_CHUNKS_PAIRS 20000

static const HgBuildAlgorithm builds[] = {HG_BUILD_AUTO, HG_BUILD_V1, HG_BUILD_V2};
static const HgProbeAlgorithm probes[] = {HG_PROBE_AUTO, HG_PROBE_STANDARD, HG_PROBE_INTERSECT};
static const double load_factors[] = {0, 0.25, 1, 16};
static const uint32_t bin_numbers[] = {0, 1, 7, 1024};
static const uint32_t key_widths[] = {4, 8};

HgJobSpec hg_engine_suite_base;

static bool
small_suite(void)
{
	return hg_tap_suite() <= HG_SUITE_SMALL;
}

/* A spec that leaves everything open. */
static HgJobSpec
default_spec(uint32_t key_width)
{
	HgJobSpec spec = hg_engine_suite_base;

	spec.key_width = key_width;
	spec.device = -1;
	return spec;
}

/*
 * Chunk capacities take turns from job to job; tiny ones only where there are few
 * matches, as each chunk may be a message to another process.
 */
static size_t
next_capacity(const TestData *data, unsigned *turn)
{
	static const size_t capacities[] = {65536, 1000, 7, 1};
	size_t capacity = capacities[(*turn)++ % LENGTH(capacities)];

	return data->pairs / capacity > 1000 ? 65536 : capacity;
}

/* Every combination of algorithms and shapes over one pair of sides. */
static void
test_grid(HgEngine *engine, const HgHost *host, TestKeys kind, uint64_t outer_rows,
		  uint64_t inner_rows)
{
	const unsigned stride = hg_tap_suite() == HG_SUITE_TINY ? 41 : small_suite() ? 11 : 1;
	static unsigned combination; /* goes on from grid to grid: each combination comes in some */
	unsigned turn = 0;
	unsigned failures = 0;

	for (size_t w = 0; w < LENGTH(key_widths); w++)
	{
		TestData data;

		test_data_create(&data, kind, key_widths[w], outer_rows, inner_rows);
		for (size_t b = 0; b < LENGTH(builds); b++)
			for (size_t p = 0; p < LENGTH(probes); p++)
				for (size_t c = 0; c < LENGTH(load_factors); c++)
					for (size_t n = 0; n < LENGTH(bin_numbers); n++)
					{
						TestRun run = {engine, host, &data, default_spec(key_widths[w]), 0, 1};

						/* one in eleven is enough where each job is slow, or fewer */
						if (combination++ % stride != 0 || !hg_tap_turn())
							continue;
						run.spec.shape.build = builds[b];
						run.spec.shape.probe = probes[p];
						run.spec.shape.load_factor = load_factors[c];
						run.spec.shape.bins = bin_numbers[n];
						run.capacity = next_capacity(&data, &turn);
						run.piece = turn % 3 == 0 ? 300 : 0;
						failures += !test_run(&run);
					}
		test_data_destroy(&data);
	}
	hg_tap_ok(failures == 0, "%s: every shape of %" PRIu64 " x %" PRIu64 " rows, keys %s",
			  engine->name, outer_rows, inner_rows, test_keys_name(kind));
}

static void
test_grids(HgEngine *engine, const HgHost *host)
{
	static const uint64_t sizes[][2] = {{0, 0}, {0, 1}, {1, 0},	   {1, 1},	  {2, 1},
										{2, 2}, {5, 0}, {0, 1000}, {1000, 0}, {1000, 1}};

	for (size_t i = 0; i < LENGTH(sizes); i++)
		test_grid(engine, host, TEST_KEYS_UNIQUE, sizes[i][0], sizes[i][1]);
	for (int kind = 0; kind < TEST_KEYS_COUNT; kind++)
	{
		test_grid(engine, host, (TestKeys) kind, 2, 3);
		test_grid(engine, host, (TestKeys) kind, 300, 300);
		test_grid(engine, host, (TestKeys) kind, 1000, 40);
		test_grid(engine, host, (TestKeys) kind, 40, 1000);
	}
}

/* Every pair of algorithms over sides that need bins. */
static void
test_big(HgEngine *engine, const HgHost *host, TestKeys kind, uint64_t outer_rows,
		 uint64_t inner_rows)
{
	unsigned turn = 0;
	unsigned failures = 0;

	for (size_t w = 0; w < LENGTH(key_widths); w++)
	{
		TestData data;

		test_data_create(&data, kind, key_widths[w], outer_rows, inner_rows);
		for (size_t b = 0; b < LENGTH(builds); b++)
			for (size_t p = 0; p < LENGTH(probes); p++)
			{
				TestRun run = {engine, host, &data, default_spec(key_widths[w]), 0, 65536};

				if (!hg_tap_turn())
					continue;
				run.spec.shape.build = builds[b];
				run.spec.shape.probe = probes[p];
				run.spec.shape.load_factor = load_factors[turn % LENGTH(load_factors)];
				run.spec.shape.bins = bin_numbers[turn / 2 % LENGTH(bin_numbers)];
				run.piece = turn % 2 == 0 ? 0 : 7777;
				turn++;
				failures += !test_run(&run);
			}
		test_data_destroy(&data);
	}
	hg_tap_ok(failures == 0, "%s: every algorithm on %" PRIu64 " x %" PRIu64 " rows, keys %s",
			  engine->name, outer_rows, inner_rows, test_keys_name(kind));
}

static void
test_millions(HgEngine *engine, const HgHost *host)
{
	TestData data;
	TestRun run = {engine, host, &data, default_spec(4), 100000, 65536};

	if (!hg_tap_turn())
		return;
	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 3000000, 3000000);
	hg_tap_ok(test_run(&run), "%s: 3000000 x 3000000 rows", engine->name);
	test_data_destroy(&data);
}

/* Chunks of any size cut the same stream. */
static void
test_chunks(HgEngine *engine, const HgHost *host)
{
	static const size_t capacities[] = {1, 2, 3, 7, 1000, 65536};
	TestKeys kinds[] = {TEST_KEYS_DUPLICATES, TEST_KEYS_SKEWED, TEST_KEYS_ONE_LIST};

	for (size_t k = 0; k < LENGTH(kinds); k++)
	{
		TestData data;

		test_data_create(&data, kinds[k], 4, 200, 200);
		for (size_t i = 0; i < LENGTH(capacities); i++)
		{
			TestRun run = {engine, host, &data, default_spec(4), 0, capacities[i]};
			bool good = true;

			if (!hg_tap_turn())
				continue;
			for (size_t p = 0; p < LENGTH(probes); p++)
			{
				run.spec.shape.probe = probes[p];
				good &= test_run(&run);
			}
			hg_tap_ok(good, "%s: chunks of %zu, keys %s", engine->name, capacities[i],
					  test_keys_name(kinds[k]));
		}
		test_data_destroy(&data);
	}
}

/*
 * 2^22 rows of one key join 2^10 of the same: 2^32 matches are counted, and the
 * stream of them can be read in part, with memory that does not grow.
 */
static void
test_long_list(HgEngine *engine, const HgHost *base, uint64_t outer_rows, uint64_t inner_rows,
			   HgProbeAlgorithm probe)
{
	uint64_t wanted = outer_rows * inner_rows;
	uint64_t counted = 0;
	uint64_t first = 0;
	uint64_t held;
	TestHost host;
	TestData data;
	TestRun run = {engine, &host.host, &data, default_spec(4), 0, 65536};
	HgMatches matches = {0};
	HgJobStats before;
	HgJobStats after;
	HgError error;
	HgJob *job;
	HgStatus status;
	bool right = true;

	if (!hg_tap_turn())
		return;
	test_host_init(&host, base);
	test_data_create(&data, TEST_KEYS_EQUAL, 4, outer_rows, inner_rows);
	matches.capacity = run.capacity;
	matches.outer = test_malloc(run.capacity * sizeof(uint32_t));
	matches.inner = test_malloc(run.capacity * sizeof(uint32_t));
	run.spec.shape.probe = probe;

	status = test_run_build(&run, &job, &error);
	held = host.held_bytes;
	if (status == HG_OK)
	{
		engine->join->stats(job, &before);
		status = engine->join->match(job, HG_MATCH_ALL, &error);
	}

	/* enough chunks to go through several outer rows either way */
	for (int chunk = 0; chunk < 150 && status == HG_OK; chunk++)
	{
		status = engine->join->next(job, &matches, &error);
		right &= status == HG_OK && matches.count > 0 && matches.count <= matches.capacity;
		for (size_t i = 0; i < matches.count && status == HG_OK; i++)
			right &= matches.outer[i] < outer_rows && matches.inner[i] < inner_rows;
	}
	right &= host.held_bytes == held;
	if (status == HG_OK)
		status = engine->join->count(job, HG_MATCH_ALL, &counted, &error);
	if (status == HG_OK)
		status = engine->join->count(job, HG_MATCH_FIRST, &first, &error);
	if (status != HG_OK)
		hg_tap_diag("status %d, %s (%s)", (int) status, error.message, error.detail);
	else
	{
		engine->join->stats(job, &after);
		right &= after.peak_bytes < before.peak_bytes + (UINT64_C(256) << 20);
	}
	if (job != NULL)
		engine->join->close(job);

	hg_tap_ok(status == HG_OK && right && counted == wanted && first == outer_rows &&
				  host.held_bytes == 0,
			  "%s: %" PRIu64 " x %" PRIu64 " rows of one key, probe %s", engine->name, outer_rows,
			  inner_rows, hg_probe_name(probe));
	free(matches.inner);
	free(matches.outer);
	test_data_destroy(&data);
}

/* open() refuses a spec with one thing wrong. */
static void
test_bad_spec(HgEngine *engine, const HgHost *base, const char *what, HgJobSpec spec)
{
	TestHost host;
	HgJob *job = NULL;
	HgError error = {0};
	HgStatus status;

	test_host_init(&host, base);
	status = engine->open(engine, &host.host, &spec, &job, &error);
	hg_tap_ok(status == HG_INVALID && job == NULL && error.status == HG_INVALID &&
				  error.message[0] != '\0' && host.held_bytes == 0 &&
				  engine->open(engine, &host.host, &spec, &job, NULL) == HG_INVALID,
			  "%s: a spec with %s is refused", engine->name, what);
}

static void
test_bad_specs(HgEngine *engine, const HgHost *host)
{
	HgJobSpec spec = default_spec(5);
	volatile double zero = 0;

	test_bad_spec(engine, host, "keys of 5 bytes", spec);
	spec = default_spec(4);
	spec.shape.build = (HgBuildAlgorithm) 9;
	test_bad_spec(engine, host, "an unknown build", spec);
	spec = default_spec(4);
	spec.shape.probe = (HgProbeAlgorithm) 9;
	test_bad_spec(engine, host, "an unknown probe", spec);
	spec = default_spec(4);
	spec.shape.load_factor = -1;
	test_bad_spec(engine, host, "a negative load factor", spec);
	spec.shape.load_factor = zero / zero;
	test_bad_spec(engine, host, "a load factor that is no number", spec);
	spec.shape.load_factor = 1e9;
	test_bad_spec(engine, host, "a huge load factor", spec);
	spec = default_spec(4);
	spec.shape.bins = (UINT32_C(1) << HG_MAX_BINS_LOG2) + 1;
	test_bad_spec(engine, host, "too many bins", spec);
	spec = default_spec(4);
	spec.device = -2;
	test_bad_spec(engine, host, "an impossible device", spec);
}

/* One call out of turn, after as much of a job as the case needs. */
typedef enum Misuse
{
	MISUSE_MATCH_EARLY,
	MISUSE_COUNT_EARLY,
	MISUSE_NEXT_EARLY,
	MISUSE_APPEND_LATE,
	MISUSE_BUILD_TWICE,
	MISUSE_NO_ROOM,
	MISUSE_TOO_MANY_ROWS,
	MISUSE_COUNT /* number of cases, not a case */
} Misuse;

static const char *
misuse_name(Misuse misuse)
{
	static const char *const names[] = {
		"match before build", "count before build", "next without match", "append after build",
		"build twice",		  "no room in a chunk", "too many rows",
	};

	return names[misuse];
}

static void
test_misuse(HgEngine *engine, const HgHost *base, Misuse misuse)
{
	uint32_t keys[2] = {1, 2};
	uint32_t room[2];
	uint64_t counted;
	HgMatches matches = {.outer = &room[0], .inner = &room[1], .capacity = 1};
	HgJobSpec spec = default_spec(4);
	HgStatus wanted = HG_INVALID;
	HgStatus status;
	HgError error = {0};
	TestHost host;
	HgJob *job;

	test_host_init(&host, base);
	status = engine->open(engine, &host.host, &spec, &job, &error);
	if (!hg_tap_ok(status == HG_OK, "%s: open", engine->name))
		return;
	for (int side = 0; side < 2 && status == HG_OK; side++)
		status = engine->join->append(job, (HgSide) side, keys, 2, &error);
	if (misuse != MISUSE_MATCH_EARLY && misuse != MISUSE_COUNT_EARLY &&
		misuse != MISUSE_TOO_MANY_ROWS && status == HG_OK)
		status = engine->join->build(job, &error);
	if (status != HG_OK)
		hg_tap_diag("status %d, %s", (int) status, error.message);

	switch (misuse)
	{
		case MISUSE_MATCH_EARLY:
			status = engine->join->match(job, HG_MATCH_ALL, &error);
			break;
		case MISUSE_COUNT_EARLY:
			status = engine->join->count(job, HG_MATCH_ALL, &counted, &error);
			break;
		case MISUSE_NEXT_EARLY:
			status = engine->join->next(job, &matches, &error);
			break;
		case MISUSE_APPEND_LATE:
			status = engine->join->append(job, HG_OUTER, keys, 1, &error);
			break;
		case MISUSE_BUILD_TWICE:
			status = engine->join->build(job, &error);
			break;
		case MISUSE_NO_ROOM:
			matches.capacity = 0;
			status = engine->join->match(job, HG_MATCH_ALL, &error);
			if (status == HG_OK)
				status = engine->join->next(job, &matches, &error);
			break;
		case MISUSE_TOO_MANY_ROWS:
			/* refused before a key of it is looked at */
			wanted = HG_TOO_MANY_ROWS;
			status = engine->join->append(job, HG_OUTER, keys, HG_MAX_ROWS - 1, &error);
			break;
		case MISUSE_COUNT:
			break;
	}
	engine->join->close(job);
	hg_tap_ok(status == wanted && error.status == wanted && error.message[0] != '\0' &&
				  host.held_bytes == 0,
			  "%s: %s is refused", engine->name, misuse_name(misuse));
}

/* Everything that a job can do, up to the first failure; then close. */
static HgStatus
whole_job(const TestRun *run, HgError *error)
{
	HgEngine *engine = run->engine;
	uint32_t *room = test_malloc(2 * run->capacity * sizeof(uint32_t));
	HgMatches matches = {
		.outer = room, .inner = room + run->capacity, .capacity = run->capacity, .count = 1};
	HgGraphStats graph;
	uint64_t counted;
	HgJob *job;
	HgStatus status;

	status = test_run_build(run, &job, error);
	if (status == HG_OK)
		status = engine->join->match(job, HG_MATCH_ALL, error);
	while (status == HG_OK && matches.count > 0)
		status = engine->join->next(job, &matches, error);
	if (status == HG_OK)
		status = engine->join->count(job, HG_MATCH_ALL, &counted, error);
	if (status == HG_OK && !run->spec.shape.direct && run->spec.shape.table == HG_TABLE_CSR)
		status = engine->join->describe(job, HG_INNER, &graph, error);
	if (job != NULL)
		engine->join->close(job);
	free(room);
	return status;
}

/*
 * A job is cancelled at its first poll, at its second, and so on until it runs to
 * its end.  Each time it says so, and nothing is left.
 */
static void
test_cancel(HgEngine *engine, const HgHost *base, TestKeys kind, HgJobSpec spec)
{
	const uint64_t rows = small_suite() ? 2000 : 100000;
	const unsigned polls = hg_tap_suite() == HG_SUITE_TINY ? 3 : 30; /* one by one, at first */
	uint64_t inner_rows = kind == TEST_KEYS_EQUAL ? 50 : rows;
	TestData data;
	TestHost host;
	TestRun run = {engine, &host.host, &data, spec, 0, 65536};
	HgStatus status = HG_CANCELLED;
	HgError error = {0};
	uint64_t poll;
	bool good = true;

	if (!hg_tap_turn())
		return;
	test_data_create(&data, kind, 4, rows, inner_rows);
	for (poll = 1; status == HG_CANCELLED && good; poll += 1 + poll / polls)
	{
		test_host_init(&host, base);
		host.cancel_poll = poll;
		status = whole_job(&run, &error);
		good = host.held_bytes == 0 && !host.misused;
	}
	hg_tap_ok(good && status == HG_OK && poll > 2,
			  "%s: cancelled anywhere, build %s%s, probe %s, keys %s", engine->name,
			  spec.shape.direct ? "direct or " : "", hg_build_name(spec.shape.build),
			  hg_probe_name(spec.shape.probe), test_keys_name(kind));
	if (status != HG_OK)
		hg_tap_diag("poll %" PRIu64 ": status %d, %s", poll, (int) status, error.message);
	test_data_destroy(&data);
}

/* The same with the first allocation refused, the second, and so on. */
static void
test_no_memory(HgEngine *engine, const HgHost *base, HgJobSpec spec)
{
	TestData data;
	TestHost host;
	TestRun run = {engine, &host.host, &data, spec, 50, 65536};
	HgStatus status = HG_OUT_OF_MEMORY;
	HgError error = {0};
	bool good = true;

	if (!hg_tap_turn())
		return;
	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 2000, 2000);
	for (uint64_t k = 1; status == HG_OUT_OF_MEMORY && good; k++)
	{
		test_host_init(&host, base);
		host.fail_allocation = k;
		status = whole_job(&run, &error);
		good = host.held_bytes == 0 && !host.misused;
	}
	hg_tap_ok(good && status == HG_OK, "%s: any allocation may fail, build %s%s", engine->name,
			  spec.shape.direct ? "direct or " : "", hg_build_name(spec.shape.build));
	if (status != HG_OK)
		hg_tap_diag("status %d, %s (%s)", (int) status, error.message, error.detail);
	test_data_destroy(&data);
}

/* A job keeps to its memory limit, or says that it cannot. */
static void
test_memory_limit(HgEngine *engine, const HgHost *base)
{
	TestData data;
	TestHost host;
	TestRun run = {engine, &host.host, &data, default_spec(8), 0, 65536};
	HgError error = {0};
	HgJobStats stats;
	HgStatus status;
	HgJob *job;

	if (!hg_tap_turn())
		return;
	test_host_init(&host, base);
	test_data_create(&data, TEST_KEYS_UNIQUE, 8, 100000, 100000);

	run.spec.memory_limit = UINT64_C(1) << 30;
	status = test_run_build(&run, &job, &error);
	if (status == HG_OK)
		engine->join->stats(job, &stats);
	if (job != NULL)
		engine->join->close(job);
	hg_tap_ok(status == HG_OK && stats.peak_bytes <= run.spec.memory_limit,
			  "%s: a high memory limit is kept", engine->name);

	/* less than the edges of both graphs take: too little, or a job of several ranges */
	run.spec.memory_limit = 1000000;
	run.spec.shape.probe = HG_PROBE_INTERSECT;
	status = test_run_build(&run, &job, &error);
	if (status == HG_OK)
		engine->join->stats(job, &stats);
	if (job != NULL)
		engine->join->close(job);
	if (status == HG_OK)
		hg_tap_ok(stats.passes > 1 && stats.peak_bytes > 0 &&
					  stats.peak_bytes <= run.spec.memory_limit && host.held_bytes == 0,
				  "%s: a low memory limit is kept", engine->name);
	else
		hg_tap_ok((status == HG_OUT_OF_MEMORY || status == HG_DEVICE_OUT_OF_MEMORY) &&
					  error.message[0] != '\0' && host.held_bytes == 0,
				  "%s: a low memory limit is an error", engine->name);
	test_data_destroy(&data);
}

static void
test_intersections(HgEngine *engine, const HgHost *host, HgProbeAlgorithm probe, uint32_t direct)
{
	TestData data;
	TestRun run = {engine, host, &data, default_spec(4), 0, 1};

	if (!hg_tap_turn())
		return;
	/* half of the keys of the outer side are keys of the inner one */
	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 6000, 3000);
	run.spec.shape.probe = probe;
	run.spec.shape.direct = direct;
	hg_tap_ok(test_run_intersections(&run), "%s: intersections are counted, probe %s%s",
			  engine->name, direct ? "direct or " : "", hg_probe_name(probe));
	test_data_destroy(&data);
}

/*
 * Keys that may be vertices, of intervals anywhere and of any density: as dense as a table wants
 * them, a little less, and where it does not matter because there are few.
 */
static void
test_direct(HgEngine *engine, const HgHost *host, uint32_t key_width)
{
	static const struct
	{
		uint64_t rows[2];
		uint64_t keys;
		bool repeats;
	} cases[] = {
		{{1, 1}, 1, false},			{{5, 0}, 9, false},			{{0, 5}, 9, false},
		{{300, 300}, 300, false},	{{1000, 300}, 1200, false}, {{1000, 300}, 1201, false},
		{{3000, 700}, 1, true},		{{500, 1000}, 250, true},	{{40, 1000}, 4000, true},
		{{2000, 40}, 16320, false}, {{2000, 40}, 16321, false}, {{70, 33}, 1000000, false},
		{{3000, 5000}, 7000, true}, {{5000, 3000}, 3001, true},
	};
	const uint64_t half = UINT64_C(1) << (8 * key_width - 1);
	const uint64_t leasts[] = {0, 7, half - 150, half, 0 - UINT64_C(150), 0 - UINT64_C(5000)};
	const unsigned stride = small_suite() ? 5 : 1; /* no divisor of their number: all take turns */
	static unsigned combination;
	unsigned turn = 0;
	unsigned failures = 0;

	for (size_t c = 0; c < LENGTH(cases); c++)
		for (size_t l = 0; l < LENGTH(leasts); l++)
		{
			const TestInterval interval = {leasts[l], cases[c].keys, cases[c].repeats};
			TestData data;
			TestRun run = {engine, host, &data, default_spec(key_width), 0, 1};

			if (combination++ % stride != 0 || !hg_tap_turn())
				continue;
			test_data_create_interval(&data, key_width, cases[c].rows, &interval);
			run.spec.shape.direct = 1;
			run.capacity = next_capacity(&data, &turn);
			run.piece = turn % 3 == 0 ? 77 : 0;
			failures += !test_run(&run);
			test_data_destroy(&data);
		}
	hg_tap_ok(failures == 0, "%s: keys of %u bytes may be vertices", engine->name, key_width);
}

/*
 * The matches of outer rows that come so many at a time are those that they have when all are
 * there, whatever was left of the stream before.  *outer_checksum becomes that of their outer rows;
 * where these alone are wanted it must be that already.
 */
static bool
streams(HgEngine *engine, const HgHost *host, const TestData *data, HgJobSpec spec, uint64_t step,
		uint64_t *outer_checksum)
{
	const uint64_t rows = data->rows[HG_OUTER];
	uint32_t outer[100];
	uint32_t inner[100];
	uint64_t pairs = 0;
	uint64_t counted = 0;
	uint64_t first = 0;
	uint64_t checksum = 0;
	uint64_t of_outer = 0;
	HgJobStats stats = {0};
	HgError error = {0};
	HgJob *job;
	HgStatus status;

	spec.sides[HG_OUTER].expected_rows = rows;
	status = engine->open(engine, host, &spec, &job, &error);
	if (status != HG_OK)
		return false;
	if (engine->join->append(job, HG_OUTER, data->keys[HG_OUTER], 1, NULL) != HG_INVALID ||
		engine->local->renew(job, data->keys[HG_OUTER], 1, NULL) != HG_INVALID)
		status = HG_INVALID;
	if (status == HG_OK)
		status =
			engine->join->append(job, HG_INNER, data->keys[HG_INNER], data->rows[HG_INNER], &error);
	if (status == HG_OK)
		status = engine->join->build(job, &error);
	for (uint64_t at = 0; at < rows && status == HG_OK; at += step)
	{
		const char *keys = (const char *) data->keys[HG_OUTER] + at * data->key_width;
		uint64_t count = rows - at < step ? rows - at : step;
		HgMatches matches = {.outer = outer, .inner = inner, .count = 1};
		uint64_t number = 0;

		/* tiny chunks only where there are few matches: each chunk is a call, or a message */
		matches.capacity = data->pairs > TINY_CHUNKS_PAIRS ? 100 - at % 10 : 1 + at % 100;

		/* what these begin is not brought to an end */
		status = engine->local->renew(job, data->keys[HG_OUTER], rows, &error);
		if (status == HG_OK)
			status = engine->join->match(job, HG_MATCH_ALL, &error);
		if (status == HG_OK)
			status = engine->join->next(job, &matches, &error);

		if (status == HG_OK)
			status = engine->local->renew(job, keys, count, &error);
		if (status == HG_OK)
			status = engine->join->match(job, HG_MATCH_ALL, &error);
		for (matches.count = 1; status == HG_OK && matches.count > 0 && pairs <= data->pairs;)
		{
			status = engine->join->next(job, &matches, &error);
			for (size_t i = 0; i < matches.count && status == HG_OK; i++)
			{
				of_outer += test_pair_checksum(outer[i] + (uint32_t) at, 0);
				if (!spec.outer_only)
					checksum += test_pair_checksum(outer[i] + (uint32_t) at, inner[i]);
			}
			pairs += matches.count;
		}
		if (status == HG_OK)
			status = engine->join->count(job, HG_MATCH_ALL, &number, &error);
		counted += number;
		if (status == HG_OK)
			status = engine->join->count(job, HG_MATCH_FIRST, &number, &error);
		first += number;
	}
	engine->join->stats(job, &stats);
	engine->join->close(job);
	if (!spec.outer_only)
		*outer_checksum = of_outer;
	if (status != HG_OK || stats.vertices == 0 || pairs != data->pairs || counted != data->pairs ||
		first != data->first || of_outer != *outer_checksum ||
		(!spec.outer_only && checksum != data->checksum))
	{
		hg_tap_diag("%" PRIu64 " rows at a time: status %d, %s; %" PRIu64 " pairs, %" PRIu64
					" counted, of %" PRIu64,
					step, (int) status, error.message, pairs, counted, data->pairs);
		return false;
	}
	return true;
}

static void
test_streamed(HgEngine *engine, const HgHost *host, uint32_t key_width)
{
	static const uint64_t steps[] = {1, 77, 512, 8192};
	unsigned failures = 0;

	if (engine->local == NULL)
		return;
	for (int kind = 0; kind < TEST_KEYS_COUNT; kind++)
		for (size_t i = 0; i < LENGTH(steps); i++)
			for (uint32_t direct = 0; direct <= 1; direct++)
			{
				HgJobSpec spec = default_spec(key_width);
				uint64_t outer_checksum = 0;
				TestData data;

				if (!hg_tap_turn())
					continue;
				test_data_create(&data, (TestKeys) kind, key_width, steps[i] == 1 ? 50 : 1000, 300);
				spec.shape.direct = direct;
				spec.streamed = 1;
				failures += !streams(engine, host, &data, spec, steps[i], &outer_checksum);
				spec.outer_only = 1;
				failures += !streams(engine, host, &data, spec, steps[i], &outer_checksum);
				test_data_destroy(&data);
			}
	hg_tap_ok(failures == 0, "%s: outer rows with keys of %u bytes come a few at a time",
			  engine->name, key_width);
}

/* Does a job take rows with numbers and rows without? */
static bool
mixes(HgEngine *engine, const HgHost *host, bool numbered_first)
{
	HgJobSpec spec = {.key_width = 4, .device = -1};
	uint32_t key = 7;
	HgStatus first;
	HgStatus second;
	HgJob *job;

	if (engine->open(engine, host, &spec, &job, NULL) != HG_OK)
		return true;
	first = numbered_first ? engine->join->append_rows(job, HG_OUTER, &key, 1, 5, NULL)
						   : engine->join->append(job, HG_OUTER, &key, 1, NULL);
	second = numbered_first ? engine->join->append(job, HG_OUTER, &key, 1, NULL)
							: engine->join->append_rows(job, HG_OUTER, &key, 1, 5, NULL);
	engine->join->close(job);
	return first != HG_OK || second != HG_INVALID;
}

/* Rows that were numbered by the caller have these numbers in matches. */
static void
test_numbered(HgEngine *engine, const HgHost *host)
{
	HgJobSpec spec = {.key_width = 4, .device = -1};
	uint32_t keys[4] = {5, 6, 7, 8};
	uint32_t outer[8];
	uint32_t inner[8];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 8};
	size_t pairs = 0;
	HgError error;
	HgJob *job;
	HgStatus status;
	bool right = true;

	if ((engine->can & HG_CAN_NUMBER) == 0 || !hg_tap_turn())
		return;
	status = engine->open(engine, host, &spec, &job, &error);
	if (status == HG_OK)
		status = engine->join->append_rows(job, HG_OUTER, keys, 4, 1000, &error);
	if (status == HG_OK)
		status = engine->join->append_rows(job, HG_INNER, keys + 2, 2, HG_MAX_ROWS - 3, &error);
	if (status == HG_OK)
		status = engine->join->append_rows(job, HG_INNER, keys, 2, 40, &error);
	if (status == HG_OK)
		status = engine->join->build(job, &error);
	if (status == HG_OK)
		status = engine->join->match(job, HG_MATCH_ALL, &error);
	do
	{
		matches.count = 0;
		if (status == HG_OK)
			status = engine->join->next(job, &matches, &error);
		for (size_t i = 0; i < matches.count; i++)
			right &=
				inner[i] == (outer[i] < 1002 ? outer[i] - 960 : outer[i] - 1002 + HG_MAX_ROWS - 3);
		pairs += matches.count;
	} while (matches.count > 0);
	right &= pairs == 4;
	engine->join->close(job);
	right &= !mixes(engine, host, true) && !mixes(engine, host, false);
	hg_tap_ok(status == HG_OK && right, "%s: rows have the numbers that the caller gave them",
			  engine->name);
}

/* Two jobs of one engine do not know of each other. */
static void
test_two_jobs(HgEngine *engine, const HgHost *host)
{
	TestData data[2];
	HgJob *jobs[2] = {NULL, NULL};
	uint64_t counted[2] = {0, 0};
	HgStatus status = HG_OK;
	HgError error = {0};

	if (!hg_tap_turn())
		return;
	test_data_create(&data[0], TEST_KEYS_DUPLICATES, 4, 1000, 1000);
	test_data_create(&data[1], TEST_KEYS_SKEWED, 8, 500, 700);
	for (int i = 0; i < 2 && status == HG_OK; i++)
	{
		TestRun run = {engine, host, &data[i], default_spec(data[i].key_width), 0, 100};

		status = test_run_build(&run, &jobs[i], &error);
	}
	for (int i = 0; i < 2 && status == HG_OK; i++)
		status = engine->join->match(jobs[i], HG_MATCH_ALL, &error);

	/* the streams take turns */
	for (bool more = true; more && status == HG_OK;)
	{
		more = false;
		for (int i = 0; i < 2 && status == HG_OK; i++)
		{
			uint32_t outer[100];
			uint32_t inner[100];
			HgMatches matches = {.outer = outer, .inner = inner, .capacity = 100};

			status = engine->join->next(jobs[i], &matches, &error);
			counted[i] += status == HG_OK ? matches.count : 0;
			more |= status == HG_OK && matches.count > 0;
		}
	}
	for (int i = 0; i < 2; i++)
		if (jobs[i] != NULL)
			engine->join->close(jobs[i]);
	hg_tap_ok(status == HG_OK && counted[0] == data[0].pairs && counted[1] == data[1].pairs,
			  "%s: two jobs at once", engine->name);
	test_data_destroy(&data[0]);
	test_data_destroy(&data[1]);
}

int
hg_engine_suite(HgEngine *engine, const HgHost *host)
{
	int failures = hg_tap_failures();
	HgJobSpec standard = default_spec(4);
	HgJobSpec intersect = default_spec(4);
	HgJobSpec direct = default_spec(4);

	test_grids(engine, host);
	test_chunks(engine, host);
	test_bad_specs(engine, host);
	for (int misuse = 0; misuse < MISUSE_COUNT; misuse++)
		test_misuse(engine, host, (Misuse) misuse);
	for (size_t b = 0; b < LENGTH(builds); b++)
	{
		HgJobSpec spec = default_spec(4);

		spec.shape.build = builds[b];
		test_no_memory(engine, host, spec);
		spec.shape.probe = HG_PROBE_INTERSECT;
		test_cancel(engine, host, TEST_KEYS_DUPLICATES, spec);
	}
	standard.shape.probe = HG_PROBE_STANDARD;
	test_cancel(engine, host, TEST_KEYS_DUPLICATES, standard);
	intersect.shape.probe = HG_PROBE_INTERSECT;
	test_cancel(engine, host, TEST_KEYS_EQUAL, intersect);
	direct.shape.direct = 1;
	test_no_memory(engine, host, direct);
	test_cancel(engine, host, TEST_KEYS_UNIQUE, direct);
	test_cancel(engine, host, TEST_KEYS_DUPLICATES, direct);
	for (size_t w = 0; w < LENGTH(key_widths); w++)
	{
		test_direct(engine, host, key_widths[w]);
		test_streamed(engine, host, key_widths[w]);
	}
	test_memory_limit(engine, host);
	test_two_jobs(engine, host);
	test_numbered(engine, host);
	for (size_t p = 0; p < LENGTH(probes); p++)
		test_intersections(engine, host, probes[p], 0);
	test_intersections(engine, host, HG_PROBE_AUTO, 1);

	if (!small_suite())
	{
		for (int kind = 0; kind < TEST_KEYS_COUNT; kind++)
		{
			bool unique = kind == TEST_KEYS_UNIQUE || kind == TEST_KEYS_DUPLICATES ||
						  kind == TEST_KEYS_STRIDE || kind == TEST_KEYS_HIGH;

			/* few enough matches to look at them all */
			test_big(engine, host, (TestKeys) kind, 100000, unique ? 100000 : 20);
			test_big(engine, host, (TestKeys) kind, 20, 100000);
		}
		test_millions(engine, host);
		test_long_list(engine, host, UINT64_C(1) << 22, 1 << 10, HG_PROBE_INTERSECT);
		test_long_list(engine, host, 1 << 10, UINT64_C(1) << 22, HG_PROBE_INTERSECT);
		test_long_list(engine, host, UINT64_C(1) << 22, 1 << 10, HG_PROBE_STANDARD);
		test_long_list(engine, host, 1 << 10, UINT64_C(1) << 22, HG_PROBE_STANDARD);
	}
	return hg_tap_failures() - failures;
}
