/*-------------------------------------------------------------------------
 *
 * test_flat_make.c
 *	  Making flat HashGraphs (hg_flat.h): of rows, and of older graphs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"
#include "test_flat_side.h"

#include <stdlib.h>
#include <string.h>

/*
 * Make a graph of an older one's rows that count and the rows of a side, some bins at a time; its
 * bins are malloc's.
 */
static HgStatus
merge(const HgHost *host, const HgFlatShape *shape, const TestFlatSide *older,
	  const TestFlatSide *newer, uint64_t limit, HgFlatGraph *graph, uint32_t *passes,
	  HgError *error)
{
	uint64_t bins = UINT64_C(1) << shape->bins_log2;
	const HgFlatBin **made = calloc(bins, sizeof(HgFlatBin *));
	HgFlatMaker *maker = NULL;
	uint32_t end = 0;
	HgStatus status;

	*passes = 0;
	graph->shape = *shape;
	graph->rows = 0;
	graph->bins = made;
	status = hg_flat_maker_open(host, shape, &maker, error);
	if (status == HG_OK)
		status = hg_flat_count_graph(maker, older->graph, older->used_mask, error);
	for (int p = 0; p < TEST_FLAT_PIECES && status == HG_OK; p++)
		status = hg_flat_count(maker, &newer->pieces[p], error);
	while (status == HG_OK && end < bins)
	{
		uint32_t first = end;

		++*passes;
		status = hg_flat_begin(maker, first, limit, &end, error);
		if (status == HG_OK)
			status = hg_flat_add_graph(maker, older->graph, older->used_mask, error);
		for (int p = 0; p < TEST_FLAT_PIECES && status == HG_OK; p++)
			status = hg_flat_add(maker, &newer->pieces[p], error);
		for (uint32_t b = first; b < end && status == HG_OK; b++)
		{
			uint64_t bytes = hg_flat_bin_bytes(shape, hg_flat_counted(maker, b));
			void *memory = bytes > 0 ? test_malloc(bytes) : NULL;

			made[b] = memory;
			graph->rows += hg_flat_counted(maker, b);
			status = hg_flat_finish_bin(maker, b, memory, error);
		}
	}
	hg_flat_maker_close(maker);
	return status;
}

static void
merge_destroy(HgFlatGraph *graph)
{
	for (uint64_t b = 0; b < UINT64_C(1) << graph->shape.bins_log2; b++)
		free((void *) graph->bins[b]);
	free((void *) graph->bins);
}

/* Append the rows of a side that count to another one, as parts of their own. */
static void
side_union(TestFlatSide *all, const TestFlatSide *older, const TestFlatSide *newer)
{
	uint32_t n = 0;

	memset(all, 0, sizeof(*all));
	all->width = older->width;
	all->keys = test_malloc(((size_t) older->count + newer->count) * all->width + 1);
	all->rows = test_malloc(((size_t) older->count + newer->count) * sizeof(uint32_t) + 1);
	for (int s = 0; s < 2; s++)
	{
		const TestFlatSide *from = s == 0 ? older : newer;

		for (uint32_t i = 0; i < from->count; i++)
			if (test_flat_counts(from, i))
			{
				test_flat_set_key(all, n, test_flat_key(from, i));
				all->rows[n++] = from->rows[i];
			}
	}
	all->count = n;
}

static void
test_merge(const char *isa)
{
	uint64_t state = 37;
	bool good = true;
	uint32_t most_passes = 0;

	for (int round = 0; round < 40 && good; round++)
	{
		uint32_t width = round % 2 ? 4 : 8;
		uint32_t count = (uint32_t) test_random_below(&state, 20000);
		HgFlatShape shape = {width, (uint32_t) test_random_below(&state, 7),
							 (uint32_t) test_random_below(&state, 10)};
		HgFlatGraph graph;
		uint32_t passes = 0;
		TestFlatSide older;
		TestFlatSide newer;
		TestFlatSide all;

		test_flat_create(&older, &state, width, count, 30000, 0, true);
		test_flat_create(&newer, &state, width, count / 10, 30000, count / 100, true);
		if (round % 4 < 2)
			older.used_mask = &older.mask;
		if (round % 8 < 4)
			older.shape = shape;
		if (round % 5 == 0)
		{
			/* graphs of fewer, larger bins, and of more */
			older.shape.bins_log2 = (uint32_t) test_random_below(&state, 8);
			older.shape.vertices_log2 = 3;
		}
		good = test_flat_make(&older);
		side_union(&all, &older, &newer);
		good = good &&
			   merge(test_host_plain(), &shape, &older, &newer,
					 test_random_below(&state, 2) ? UINT64_MAX : test_random_below(&state, 100000),
					 &graph, &passes, NULL) == HG_OK;
		most_passes = passes > most_passes ? passes : most_passes;
		good = good && test_flat_graph_right(&graph, &all);
		if (!good)
			hg_tap_diag("round %d: %u rows", round, count);
		merge_destroy(&graph);
		free(all.keys);
		free(all.rows);
		test_flat_destroy(&older);
		test_flat_destroy(&newer);
	}
	hg_tap_ok(good && most_passes > 2,
			  "%s: a graph of an older one's rows and new ones is as one of all, made in %u passes",
			  isa, most_passes);
}

static HgStatus
stretch_make(const HgHost *host, TestFlatSide *sides, HgError *error)
{
	HgFlatGraph *graph = NULL;
	HgStatus status =
		hg_flat_make(host, &sides[0].shape, sides[0].pieces, TEST_FLAT_PIECES, &graph, error);

	hg_flat_destroy(host, graph);
	return status;
}

static HgStatus
stretch_merge(const HgHost *host, TestFlatSide *sides, HgError *error)
{
	HgFlatGraph graph;
	uint32_t passes;
	HgStatus status =
		merge(host, &sides[0].shape, &sides[0], &sides[2], 100000, &graph, &passes, error);

	merge_destroy(&graph);
	return status;
}

/* Making and merging, where memory is refused and the work cancelled. */
static void
test_failures(void)
{
	static const TestFlatStretch stretches[] = {
		{"making", stretch_make, 20},
		{"merging", stretch_merge, 20},
	};

	test_flat_failures(stretches, sizeof(stretches) / sizeof(stretches[0]));
}

/* Shapes keep what the header promises, and memory what was told. */
static void
test_shapes(void)
{
	static const uint64_t rows[] = {0, 1, 7, 100, 10000, 100000, 1000000, 10000000, 4000000000};
	bool good = true;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint32_t width = 4; width <= 8; width += 4)
		{
			HgFlatShape shape = hg_flat_shape(width, rows[i]);
			uint64_t bins = UINT64_C(1) << shape.bins_log2;
			double bytes = (double) hg_flat_bin_bytes(&shape, rows[i] / bins) * (double) bins;

			good = good && shape.key_width == width && shape.bins_log2 <= HG_MAX_BINS_LOG2 &&
				   shape.bins_log2 + shape.vertices_log2 <= HG_MAX_VERTICES_LOG2 &&
				   rows[i] / bins <= 16384 &&
				   (rows[i] < 10000 || bytes <= 1.3 * (width + 8.0) * (double) rows[i]);
		}
	hg_tap_ok(good, "bins hold 16384 rows at most, and take 1.3 times 12 bytes a row");

	good = true;
	for (uint32_t count = 0; count < 30000; count += 1 + count / 2)
	{
		uint64_t state = 43;
		HgFlatGraph *graph = NULL;
		TestHost host;
		TestFlatSide side;

		test_flat_create(&side, &state, count % 2 ? 4 : 8, count, 1000000, 0, false);
		test_host_init(&host, test_host_plain());
		good = hg_flat_make(&host.host, &side.shape, side.pieces, TEST_FLAT_PIECES, &graph, NULL) ==
				   HG_OK &&
			   good && host.peak_bytes <= hg_flat_make_bytes(&side.shape, count) &&
			   test_flat_graph_right(graph, &side);
		hg_flat_destroy(&host.host, graph);
		good = good && host.held_bytes == 0;
		test_flat_destroy(&side);
	}
	hg_tap_ok(good, "a graph is made in the memory that was told");
}

/* What breaks the contract is refused. */
static void
test_misuse(void)
{
	HgFlatShape wrong[] = {{2, 3, 3}, {4, 21, 3}, {4, 3, 21}, {8, 16, 16}};
	HgFlatShape shape = {4, 2, 2};
	int32_t keys[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	HgFlatRows rows = {.keys = keys, .count = 10};
	HgFlatRows more[2] = {rows, rows};
	HgFlatMaker *maker = NULL;
	HgError error = {0};
	uint64_t memory[64];
	bool good = true;
	uint32_t end;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		good = good &&
			   hg_flat_maker_open(test_host_plain(), &wrong[i], &maker, &error) == HG_INVALID &&
			   maker == NULL && error.message[0] != '\0';
	hg_tap_ok(good, "a shape out of its limits is refused");

	good = hg_flat_maker_open(test_host_plain(), &shape, &maker, NULL) == HG_OK &&
		   hg_flat_count(maker, &rows, NULL) == HG_OK &&
		   hg_flat_finish_bin(maker, 0, memory, NULL) == HG_INVALID &&
		   hg_flat_begin(maker, 4, UINT64_MAX, &end, NULL) == HG_INVALID &&
		   hg_flat_begin(maker, 0, UINT64_MAX, &end, NULL) == HG_OK && end == 4 &&
		   hg_flat_finish_bin(maker, 0, memory, NULL) == HG_INVALID &&
		   hg_flat_finish_bin(maker, 4, memory, NULL) == HG_INVALID &&
		   hg_flat_add(maker, &rows, NULL) == HG_OK &&
		   hg_flat_finish_bin(maker, 0, memory, NULL) == HG_OK &&
		   hg_flat_add(maker, &more[1], NULL) == HG_INVALID;
	hg_flat_maker_close(maker);
	hg_tap_ok(good, "rows that are not those counted are refused");

	/* the same of rows that are kept, whose bins are those of the maker, or more or fewer */
	for (uint32_t bins_log2 = 0; bins_log2 < 3; bins_log2++)
	{
		HgFlatShape other = {4, bins_log2, 2};
		HgFlatGraph *graph = NULL;

		shape.bins_log2 = 1;
		good = hg_flat_make(test_host_plain(), &other, &rows, 1, &graph, NULL) == HG_OK &&
			   hg_flat_maker_open(test_host_plain(), &shape, &maker, NULL) == HG_OK &&
			   hg_flat_count_graph(maker, graph, NULL, NULL) == HG_OK &&
			   hg_flat_add_graph(maker, graph, NULL, NULL) == HG_INVALID &&
			   hg_flat_begin(maker, 0, UINT64_MAX, &end, NULL) == HG_OK &&
			   hg_flat_add_graph(maker, graph, NULL, NULL) == HG_OK &&
			   hg_flat_add_graph(maker, graph, NULL, NULL) == HG_INVALID && good;
		hg_flat_maker_close(maker);
		hg_flat_destroy(test_host_plain(), graph);
	}
	hg_tap_ok(good, "rows kept that are not those counted are refused");
}

int
main(void)
{
	for (int i = 0; i < TEST_FLAT_ISAS; i++)
	{
		const char *isa = test_flat_limit_isa(i);

		if (isa != NULL)
			test_merge(isa);
	}
	test_failures();
	test_shapes();
	test_misuse();
	return hg_tap_done();
}
