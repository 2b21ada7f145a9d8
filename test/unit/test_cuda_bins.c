/*-------------------------------------------------------------------------
 *
 * test_cuda_bins.c
 *	  Bins of a device: of all sizes, and those that no block has room for.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_cuda_bins.h"

#include "../../cuda/engine/hg_cuda_engine.h"
#include "hg_tap.h"
#include "test_engine_suite.h"

#include <stdlib.h>
#include <string.h>

static bool
small_suite(void)
{
	return hg_tap_suite() <= HG_SUITE_SMALL;
}

/*
 * Keys that make bins overflow: every other outer row has one key, the others and the
 * inner rows have each its own.
 */
static void
create_skewed(TestData *data, uint32_t width, uint64_t rows)
{
	memset(data, 0, sizeof(*data));
	data->key_width = width;
	data->rows[HG_OUTER] = data->rows[HG_INNER] = rows;
	for (int side = 0; side < 2; side++)
	{
		data->keys[side] = test_malloc(rows * width);
		for (uint64_t row = 0; row < rows; row++)
		{
			uint64_t key = side == HG_OUTER && row % 2 == 1 ? 7 : row * 3;

			if (width == 4)
				((uint32_t *) data->keys[side])[row] = (uint32_t) key;
			else
				((uint64_t *) data->keys[side])[row] = key << 20;
		}
	}

	/* 7 is no inner key, and half of the rows have it */
	data->pairs = data->first = (rows + 1) / 2;
	data->distinct[HG_OUTER] = (rows + 1) / 2 + (rows > 1 ? 1 : 0);
	data->distinct[HG_INNER] = rows;
	for (uint64_t row = 0; row < rows; row += 2)
		data->checksum += test_pair_checksum((uint32_t) row, (uint32_t) row);
}

/* Sizes that need many bins, with a key that fits in none of them. */
static void
test_overflowing_bins(HgEngine *engine)
{
	static const HgBuildAlgorithm builds[] = {HG_BUILD_V1, HG_BUILD_V2};
	uint64_t rows = small_suite() ? 60000 : 4000000;

	for (uint32_t width = 4; width <= 8; width += 4)
		for (int b = 0; b < 2; b++)
		{
			TestData data;
			TestRun run = {.engine = engine,
						   .host = test_host_plain(),
						   .data = &data,
						   .spec = {.key_width = width,
									.shape.build = builds[b],
									.shape.probe = HG_PROBE_INTERSECT,
									.shape.bins = small_suite() && b == 1 ? 64 : 0},
						   .capacity = 1000000};

			if (!hg_tap_turn())
				continue;
			create_skewed(&data, width, rows);
			hg_tap_ok(test_run(&run), "cuda: a key that fits no bin, build %s, keys of %u bytes",
					  hg_build_name(builds[b]), width);
			test_data_destroy(&data);
		}
}

/* Whether it is this test's turn, with so many rows of one key, which make the most matches. */
static bool
turn_of_hot(const uint64_t hot[2])
{
	return (hg_tap_suite() != HG_SUITE_TINY || hot[HG_OUTER] * hot[HG_INNER] <= 1000000) &&
		   hg_tap_turn();
}

/* A job that is left to the engine, which joins bins then. */
static void
test_bins(HgEngine *engine, uint32_t width, const uint64_t rows[2], const uint64_t hot[2],
		  size_t capacity)
{
	TestData data;
	TestRun run = {.engine = engine,
				   .host = test_host_plain(),
				   .data = &data,
				   .spec = {.key_width = width, .device = -1},
				   .capacity = capacity};

	if (!turn_of_hot(hot))
		return;
	test_data_create_hot(&data, width, rows, hot);
	hg_tap_ok(
		test_run(&run),
		"cuda: bins of %llu x %llu rows, %llu and %llu of one key, of %u bytes, chunks of %zu",
		(unsigned long long) rows[HG_OUTER], (unsigned long long) rows[HG_INNER],
		(unsigned long long) hot[HG_OUTER], (unsigned long long) hot[HG_INNER], width, capacity);
	test_data_destroy(&data);
}

/*
 * Sizes around those of hg_cuda_tuning.h: what a bin has on average, what narrow blocks have
 * room for, what no block has room for, tiles, units and pieces of outer rows.
 */
static void
test_all_bins(HgEngine *engine)
{
	static const uint64_t cases[][4] = {
		/* outer and inner rows, and those of them that have one key */
		{3000, 2048, 0, 0},		   {2049, 2049, 0, 0},		  {4095, 4096, 0, 0},
		{5000, 4097, 0, 0},		   {8192, 8192, 0, 0},		  {8193, 16385, 0, 0},
		{60, 3072, 20, 3072},	   {60, 3073, 20, 3073},	  {60, 5120, 20, 5120},
		{60, 5121, 20, 5121},	   {3000, 9000, 7, 5500},	  {33000, 100, 32769, 3},
		{70000, 50, 70000, 50},	   {6000, 20000, 300, 12000}, {300, 70000, 5, 66000},
		{20000, 90000, 30, 70000}, {1, 100000, 1, 100000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint32_t width = 4; width <= 8; width += 4)
			test_bins(engine, width, cases[i], cases[i] + 2, i % 2 == 0 ? 1000 : 65536);
	for (uint32_t width = 4; width <= 8; width += 4)
	{
		static const uint64_t rows[2] = {300, 400};
		static const uint64_t hot[2] = {10, 20};

		test_bins(engine, width, rows, hot, 1);
		test_bins(engine, width, rows, hot, 7);
	}
	if (!small_suite())
		for (uint32_t width = 4; width <= 8; width += 4)
		{
			/* two passes, more than one launch, and a stream of many chunks */
			static const uint64_t rows[2] = {20000000, 9000000};
			static const uint64_t hot[2] = {3000, 4000};

			test_bins(engine, width, rows, hot, 1 << 20);
		}
}

/* Graphs whose outer bins are too long for a block, and have few vertices or many; many bins. */
static void
test_long_bins(HgEngine *engine)
{
	static const uint64_t rows[2] = {30000, 9000};
	static const uint64_t hot[2] = {20000, 1};
	static const uint32_t bins[] = {0, 1, 8, 512, 4096, 1 << 20};
	const size_t count = hg_tap_suite() == HG_SUITE_TINY ? 4 : sizeof(bins) / sizeof(bins[0]);

	for (uint32_t width = 4; width <= 8; width += 4)
		for (size_t i = 0; i < count; i++)
		{
			TestData data;
			TestRun run = {.engine = engine,
						   .host = test_host_plain(),
						   .data = &data,
						   .spec = {.key_width = width,
									.shape.build = HG_BUILD_V2,
									.shape.probe = HG_PROBE_INTERSECT,
									.shape.bins = bins[i],
									.device = -1},
						   .capacity = 65536};

			if (!hg_tap_turn())
				continue;
			test_data_create_hot(&data, width, rows, hot);
			hg_tap_ok(test_run(&run), "cuda: build v2 with a long outer bin, %u bins, of %u bytes",
					  bins[i], width);
			test_data_destroy(&data);
		}
}

/*
 * Graphs of both sides, whose bins fit narrow blocks, wide ones, or none: then one more pass by
 * vertices has to do, or, where bins have many vertices, a sort.
 */
static void
test_both_graphs(HgEngine *engine)
{
	static const uint64_t cases[][4] = {
		/* outer and inner rows, and those of them that have one key */
		{3072, 3072, 0, 0},		  {4608, 4608, 0, 0},		  {13000, 2000, 9000, 1000},
		{20000, 500, 0, 0},		  {60, 7000, 20, 7000},		  {15000, 20, 15000, 1},
		{60000, 9000, 40000, 1},  {40000, 40000, 31000, 3},	  {3000, 60000, 20, 40000},
		{30000, 30000, 300, 300}, {100000, 3000, 33000, 100}, {40000, 3, 40000, 3},
		{0, 5000, 0, 40},		  {5000, 0, 40, 0},
	};

	for (uint32_t width = 4; width <= 8; width += 4)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		{
			const uint64_t *rows = cases[i];
			TestData data;
			TestRun run = {.engine = engine,
						   .host = test_host_plain(),
						   .data = &data,
						   .spec = {.key_width = width,
									.shape.build = HG_BUILD_V2,
									.shape.probe = HG_PROBE_INTERSECT,
									.device = -1},
						   .capacity = i % 2 == 0 ? 65536 : 5000};

			if (!turn_of_hot(rows + 2))
				continue;
			test_data_create_hot(&data, width, rows, rows + 2);
			hg_tap_ok(test_run(&run) && test_run_intersections(&run),
					  "cuda: graphs of %llu x %llu rows, %llu and %llu of one key, of %u bytes",
					  (unsigned long long) rows[HG_OUTER], (unsigned long long) rows[HG_INNER],
					  (unsigned long long) rows[2 + HG_OUTER],
					  (unsigned long long) rows[2 + HG_INNER], width);
			test_data_destroy(&data);
		}
}

void
test_cuda_bins(HgEngine *engine)
{
	test_overflowing_bins(engine);
	test_all_bins(engine);
	test_long_bins(engine);
	test_both_graphs(engine);
}
