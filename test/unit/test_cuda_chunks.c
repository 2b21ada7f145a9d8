/*-------------------------------------------------------------------------
 *
 * test_cuda_chunks.c
 *	  Streams of the CUDA engine that need one chunk or several, and the memory of chunks.
 *
 * Their budgets are so small, or their matches so many, that chunks get less than they want; what
 * they hold is seen by what all jobs of an engine do.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_cuda_chunks.h"

#include "../../cuda/engine/hg_cuda_engine.h"
#include "hg_tap.h"
#include "test_engine_suite.h"

/* Jobs of each layout, which are joined in different ways. */
static const struct
{
	HgBuildAlgorithm build;
	HgProbeAlgorithm probe;
} layouts[] = {{HG_BUILD_AUTO, HG_PROBE_AUTO},
			   {HG_BUILD_V2, HG_PROBE_INTERSECT},
			   {HG_BUILD_V1, HG_PROBE_STANDARD}};

#define LAYOUTS 3

/*
 * Streams that fit one chunk, or need several, which get as much memory as they want or less: under
 * every step-th of some budgets, and under a limit of the job's own.
 */
static void
test_chunks(const TestData *data, size_t step)
{
	const uint64_t rows = data->rows[HG_OUTER] + data->rows[HG_INNER];
	/* bytes of both graphs, in MB, with their rows in bins */
	const uint64_t least = (rows * 2 * (data->key_width + 4) >> 20) + (rows * 8 >> 20) + 2;
	static const uint64_t more[] = {20, 60, 100, 200, 4096}; /* in MB */

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i += step)
	{
		const uint64_t budget = least + more[i];
		bool good = true;
		HgEngine *engine;
		HgError error = {0};

		if (!hg_tap_turn())
			continue;
		if (hg_cuda_engine_start(-1, budget << 20, &engine, &error) != HG_OK)
		{
			hg_tap_ok(false, "cuda: a second engine starts");
			return;
		}
		for (int layout = 0; layout < LAYOUTS; layout++)
			for (int limited = 0; limited <= 1; limited++)
			{
				TestRun run = {.engine = engine,
							   .host = test_host_plain(),
							   .data = data,
							   .spec = {.key_width = data->key_width,
										.shape.build = layouts[layout].build,
										.shape.probe = layouts[layout].probe,
										.memory_limit = (limited ? least + 16 : 2 * budget) << 20,
										.device = -1},
							   .capacity = limited ? 65536 : 1000000};

				good = good && test_run(&run);
			}
		hg_tap_ok(good, "cuda: %llu matches with %llu MB, keys of %u bytes",
				  (unsigned long long) data->pairs, (unsigned long long) budget, data->key_width);
		hg_cuda_engine_stop(engine);
	}
}

/* What the jobs of an engine hold of its device. */
static uint64_t
held_by(HgEngine *engine)
{
	uint64_t budget;
	uint64_t held;
	uint64_t peak;

	hg_cuda_engine_memory(engine, &budget, &held, &peak);
	return held;
}

/* What jobs hold together, once the first matches of a stream have come; 0 where they have not. */
static uint64_t
held_with_stream(const TestRun *run, HgMatches *matches, HgJob **job)
{
	HgEngine *engine = run->engine;
	HgError error = {0};

	if (test_run_build(run, job, &error) != HG_OK ||
		engine->join->match(*job, HG_MATCH_ALL, &error) != HG_OK ||
		engine->join->next(*job, matches, &error) != HG_OK)
		return 0;
	return held_by(engine);
}

/* Read what is left of a stream, and close its job; *left is what jobs held at its end. */
static bool
end_stream(const TestRun *run, HgMatches *matches, HgJob *job, uint64_t *left)
{
	uint64_t read = matches->count;
	HgError error = {0};

	while (job != NULL && matches->count > 0 &&
		   run->engine->join->next(job, matches, &error) == HG_OK)
		read += matches->count;
	*left = held_by(run->engine);
	if (job != NULL)
		run->engine->join->close(job);
	return read == run->data->pairs;
}

/* Where streams are read to. */
static uint32_t read_rows[2][1 << 20];

static HgMatches
read_matches(void)
{
	const HgMatches matches = {
		.outer = read_rows[HG_OUTER], .inner = read_rows[HG_INNER], .capacity = 1 << 20};

	return matches;
}

/*
 * A chunk for all matches is taken of memory to spare, and goes with the last of them.  What
 * another job was promised is not to spare.
 */
static void
test_chunk_promises(const TestData *data)
{
	const uint64_t bytes = data->pairs * 2 * sizeof(uint32_t); /* of such a chunk */
	const HgJobSpec spec = {.key_width = 4,
							.sides[HG_OUTER].expected_rows = UINT64_C(5) << 20,
							.sides[HG_INNER].expected_rows = UINT64_C(5) << 20,
							.device = -1};
	const uint64_t budget = hg_cuda_engine_job_bytes(&spec) + (UINT64_C(100) << 20);
	HgMatches matches = read_matches();
	TestRun run = {.host = test_host_plain(), .data = data, .spec = {.key_width = 4, .device = -1}};
	HgError error = {0};
	HgJob *job = NULL;
	HgJob *other = NULL;
	uint64_t held;
	uint64_t left;
	bool good;

	if (hg_cuda_engine_start(-1, budget, &run.engine, &error) != HG_OK)
	{
		hg_tap_ok(false, "cuda: a second engine starts");
		return;
	}
	held = held_with_stream(&run, &matches, &job);
	good = end_stream(&run, &matches, job, &left);
	hg_tap_ok(
		good && held >= bytes && left < bytes / 2,
		"cuda: one chunk has all matches, and is gone at their end: %llu bytes held, then %llu",
		(unsigned long long) held, (unsigned long long) left);

	/* the same beside a job that has not taken anything yet, but is to have all that it needs */
	good = run.engine->open(run.engine, test_host_plain(), &spec, &other, &error) == HG_OK;
	held = held_with_stream(&run, &matches, &job);
	hg_tap_ok(good && held > 0 && held < bytes,
			  "cuda: a chunk is not of memory that another job was promised: %llu bytes held",
			  (unsigned long long) held);
	hg_tap_ok(end_stream(&run, &matches, job, &left), "cuda: several chunks have all matches");
	if (other != NULL)
		run.engine->join->close(other);
	hg_cuda_engine_stop(run.engine);
}

/* The chunk of unique keys has room for their matches in the first pass, and for no more then. */
static void
test_chunk_of_unique(uint64_t outer_rows, uint64_t inner_rows)
{
	const uint64_t row_bytes = 2 * sizeof(uint32_t); /* in a bin */
	const uint64_t pairs = outer_rows < inner_rows ? outer_rows : inner_rows;
	const uint64_t rows = (outer_rows + inner_rows) * row_bytes;
	HgMatches matches = read_matches();
	TestData data;
	TestRun run = {
		.host = test_host_plain(), .data = &data, .spec = {.key_width = 4, .device = -1}};
	HgError error = {0};
	HgJob *job = NULL;
	uint64_t held;
	uint64_t left;
	bool good;

	if (hg_cuda_engine_start(-1, UINT64_C(1) << 30, &run.engine, &error) != HG_OK)
	{
		hg_tap_ok(false, "cuda: a second engine starts");
		return;
	}
	test_data_create(&data, TEST_KEYS_UNIQUE, 4, outer_rows, inner_rows);
	held = held_with_stream(&run, &matches, &job);
	good = end_stream(&run, &matches, job, &left);
	/* and of a chunk that is not large */
	hg_tap_ok(good && held >= rows + pairs * row_bytes &&
				  held < rows + pairs * row_bytes + (UINT64_C(36) << 20),
			  "cuda: room for %llu matches of %llu x %llu rows: %llu bytes held, then %llu",
			  (unsigned long long) pairs, (unsigned long long) outer_rows,
			  (unsigned long long) inner_rows, (unsigned long long) held,
			  (unsigned long long) left);
	hg_cuda_engine_stop(run.engine);
	test_data_destroy(&data);
}

void
test_cuda_chunks(void)
{
	/* all match all */
	static const uint64_t rows[2] = {2100, 2200};

	if (hg_tap_suite() == HG_SUITE_TINY)
		return;
	for (uint32_t width = 4; width <= 8; width += 4)
	{
		TestData data;

		test_data_create_hot(&data, width, rows, rows);
		test_chunks(&data, 1);
		if (width == 4 && hg_tap_turn())
			test_chunk_promises(&data);
		test_data_destroy(&data);
	}
	if (hg_tap_turn())
	{
		test_chunk_of_unique(5500000, 5500000);
		test_chunk_of_unique(11000000, 500000);
	}
	if (hg_tap_suite() > HG_SUITE_SMALL)
	{
		TestData data;

		/* four pairs a row: more than were expected, of many bins */
		test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 3000000, 3000000);
		test_chunks(&data, 4);
		test_data_destroy(&data);
	}
}
