/*-------------------------------------------------------------------------
 *
 * test_cuda_pages.c
 *	  Sides that come as pages, on a device: the suite of all engines, and the memory that it takes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_cuda_pages.h"

#include "../../cuda/engine/hg_cuda_engine.h"
#include "hg_tap.h"
#include "test_engine_brought.h"

#include <string.h>
#include <time.h>

/* What is allocated whatever there is to do. */
#define SLACK (UINT64_C(4) << 20)

/* Does an engine hold nothing any more?  A stream may not have passed the end of its job yet. */
static bool
lets_go(HgEngine *engine)
{
	const struct timespec pause = {0, 1000000};
	uint64_t budget;
	uint64_t held;
	uint64_t peak;

	hg_cuda_engine_memory(engine, &budget, &held, &peak);
	for (int i = 0; i < 2000 && held != 0; i++)
	{
		nanosleep(&pause, NULL);
		hg_cuda_engine_memory(engine, &budget, &held, &peak);
	}
	return held == 0;
}

/* Jobs take no more than was reckoned: pages are let go when they have been taken apart. */
static void
test_pages_bytes(HgEngine *engine)
{
	static const TestReplicaWay ways[][2] = {{TEST_REPLICA_PAGES, TEST_REPLICA_PAGES},
											 {TEST_REPLICA_PAGES, TEST_REPLICA_APPENDED},
											 {TEST_REPLICA_APPENDED, TEST_REPLICA_PAGES}};
	static const TestPagesForm forms[2] = {{.plain = true, .run = 1 << 20},
										   {.noise = 20, .nquals = 2, .run = 100}};
	for (int i = 0; i < 3; i++)
	{
		TestReplicaSpread spreads[2] = {
			{.width = 8, .count = 3000000, .keys = 3000000, .ncolumns = 2, .nulls = 10},
			{.width = 8, .count = 500000, .keys = 3000000}};
		HgJobSpec spec = {.key_width = 8, .device = -1};
		TestPagesJoin join;
		HgError error = {0};
		HgJob *job = NULL;
		HgJobStats stats = {0};
		uint64_t reckoned;
		uint64_t counted;
		bool good;

		for (int side = 0; side < 2; side++)
			spreads[side].way = ways[i][side];
		test_pages_join_create(&join, spreads, forms, 31 + i);
		for (int side = 0; side < 2; side++)
		{
			spec.sides[side].expected_rows = spreads[side].count;
			spec.sides[side].ncolumns = spreads[side].ncolumns;
			memcpy(spec.sides[side].column_width, test_replica_widths, sizeof(test_replica_widths));
			if (spreads[side].way == TEST_REPLICA_PAGES)
			{
				spec.sides[side].kind = HG_SOURCE_PAGES;
				spec.sides[side].pages = &join.sides[side].pages.spec;
			}
		}
		reckoned = hg_cuda_engine_job_bytes(&spec);
		good = test_replica_build(engine, test_host_plain(), &join.sides[0], &join.sides[1], &job,
								  &error) == HG_OK &&
			   engine->join->count(job, HG_MATCH_ALL, &counted, &error) == HG_OK &&
			   engine->join->match(job, HG_MATCH_ALL, &error) == HG_OK &&
			   counted == test_replica_wanted(&join.wanted, HG_MATCH_ALL);
		if (good)
			engine->join->stats(job, &stats);
		if (job != NULL)
			engine->join->close(job);
		if (!hg_tap_ok(good && stats.peak_bytes <= reckoned + SLACK && lets_go(engine),
					   "cuda: a join of pages takes no more than the %llu bytes reckoned",
					   (unsigned long long) reckoned))
			hg_tap_diag("%s %s", error.message, error.detail);
		test_pages_join_destroy(&join);
	}
}

/* With little memory jobs with pages are refused, and all of it comes back. */
static void
test_pages_little_room(void)
{
	const uint64_t steps = hg_tap_suite() == HG_SUITE_TINY ? 2 : 16;
	uint64_t refused = 0;
	uint64_t fitted = 0;
	bool good = true;

	for (uint64_t budget = 4096; good && fitted < 3; budget += budget / steps)
	{
		HgEngine *engine;
		HgError error = {0};
		HgStatus status;

		good = hg_cuda_engine_start(-1, budget, &engine, &error) == HG_OK;
		if (!good)
			break;
		status = test_pages_stretch(engine, test_host_plain(), &error);
		refused += status == HG_DEVICE_OUT_OF_MEMORY;
		fitted += status == HG_OK;
		good = (status == HG_OK || status == HG_DEVICE_OUT_OF_MEMORY) && lets_go(engine);
		if (!good)
			hg_tap_diag("budget %llu: status %d, %s %s", (unsigned long long) budget, (int) status,
						error.message, error.detail);
		hg_cuda_engine_stop(engine);
	}
	hg_tap_ok(good && refused > 3 && fitted > 0, "cuda: pages within little memory");
}

void
test_cuda_pages(HgEngine *engine)
{
	static const uint32_t rows[] = {
		[HG_SUITE_TINY] = 3000,
		[HG_SUITE_SMALL] = 100000,
		[HG_SUITE_WHOLE] = 3000000,
		[HG_SUITE_LARGE] = 20000000,
	};

	hg_engine_pages_suite(engine, test_host_plain(), rows[hg_tap_suite()]);
	if (hg_tap_turn())
		hg_engine_brought_suite(engine, test_host_plain(),
								rows[hg_tap_suite()] < 100000 ? rows[hg_tap_suite()] : 100000);
	if (hg_tap_turn())
		test_pages_little_room();
	if (hg_tap_suite() != HG_SUITE_TINY && hg_tap_turn())
		test_pages_bytes(engine);
}
