/*-------------------------------------------------------------------------
 *
 * test_cuda_lookups.c
 *	  What rows of graph replicas look up, on a device: the memory that it takes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_cuda_lookups.h"

#include "../../cuda/engine/hg_cuda_engine.h"
#include "hg_tap.h"
#include "test_replica_star.h"

#include <stdlib.h>

/* What is allocated whatever there is to do. */
#define SLACK (UINT64_C(4) << 20)

/* A table of so many rows, that are found or find. */
static TestReplicaSpread
table_of(uint32_t rows, TestReplicaMask mask)
{
	return (TestReplicaSpread){.mask = mask,
							   .width = 8,
							   .parts = rows / 400000 + 1,
							   .count = rows,
							   .keys = rows,
							   .numbers = 450000,
							   .ncolumns = 6,
							   .nulls = 10};
}

/*
 * Stars of all shapes: columns of all, with masks or without, where rows go on or need not find;
 * the last one has filters.
 */
static TestStarSpread
star_of(int shape)
{
	TestStarSpread star = {.side = table_of(2000000, shape == 1 ? TEST_MASK_SOME : TEST_MASK_NONE),
						   .nlookups = shape == 2 ? 1 : 3};

	for (uint32_t l = 0; l < star.nlookups; l++)
		star.lookups[l] = (TestLookupSpread){
			.from = shape == 0 ? 0 : l,
			.unmatched = shape == 2,
			.found = table_of(1500000 / (l + 1), shape == 1 ? TEST_MASK_SOME : TEST_MASK_NONE),
			.width = 8,
			.nulls = 2,
			.misses = 2};
	return star;
}

/* Have filters of all tables of a star: rows pass that have a value. */
static void
filter(TestStar *star)
{
	for (uint32_t l = 0; l <= star->nlookups; l++)
	{
		TestReplicaSide *table = test_star_table(star, l);
		uint64_t bits;

		star->filters.filters[l] = (HgRowFilter){.lookup = l, .nsteps = 1};
		star->filters.columns[l].lookup = l;
		star->filters.steps[l] = (HgFilterStep){.kind = HG_FILTER_NOT_NULL, .column = (uint8_t) l};
		star->filtered[l] = 1;
		table->passed = test_malloc((size_t) table->spread.count + 1);
		for (uint32_t i = 0; i < table->spread.count; i++)
			table->passed[i] = !test_replica_value(table, 1, i, false, &bits);
	}
	star->filters.nfilters = star->filters.ncolumns = star->nlookups + 1;
	test_star_filtered(star);
}

static uint64_t
held_by(HgEngine *engine)
{
	uint64_t budget;
	uint64_t held;
	uint64_t peak;

	hg_cuda_engine_memory(engine, &budget, &held, &peak);
	return held;
}

/* Is a join of the two done within so much memory?  What it took at most. */
static HgStatus
join_within(HgEngine *engine, const TestStar *outer, const TestStar *inner, uint64_t *peak,
			HgError *error)
{
	TestReplicaPairs wanted;
	HgJobStats stats;
	HgJob *job = NULL;
	uint64_t count = 0;
	HgStatus status = test_star_build(engine, test_host_plain(), outer, inner, &job, error);

	if (status == HG_OK)
		status = engine->join->count(job, HG_MATCH_ALL, &count, error);
	if (status == HG_OK)
		status = engine->join->match(job, HG_MATCH_ALL, error);
	if (job != NULL)
	{
		engine->join->stats(job, &stats);
		*peak = stats.peak_bytes;
		engine->join->close(job);
	}
	if (status != HG_OK)
		return status;
	test_replica_naive(test_star_flat(outer), test_star_flat(inner), &wanted);
	if (count != wanted.count)
		status = hg_error_set(error, HG_INVALID, NULL, "a wrong count");
	free(wanted.pairs);
	return status;
}

/* One of them as the outer side or the inner one, with another table. */
static void
test_bytes(HgEngine *engine, int shape, bool turned)
{
	const TestStarSpread spreads[2] = {star_of(shape), {.side = table_of(700000, TEST_MASK_NONE)}};
	const uint64_t before = held_by(engine);
	HgJobSpec spec = {.key_width = 8, .device = -1};
	uint64_t state = 31 + (uint64_t) shape;
	uint64_t reckoned = 0;
	uint64_t peak = 0;
	HgError error = {0};
	TestStarUse uses[2];
	TestStar stars[2];
	HgStatus status = HG_OK;
	bool good = true;

	for (int i = 0; i < 2; i++)
	{
		test_star_create(&stars[i], &spreads[i], &state);
		if (shape == 3)
			filter(&stars[i]);
		if (status == HG_OK)
			status = test_star_make(engine, test_host_plain(), &stars[i], &error);
		/* and two columns that are computed, or none */
		for (uint32_t column = 0; column <= 4 && shape != 2; column += 4)
			test_star_compute(&stars[i], column, column);
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		test_star_use(&stars[(side == HG_INNER) != turned], (HgSide) side, &uses[side], &spec);
	reckoned = hg_cuda_engine_job_bytes(&spec);
	if (status == HG_OK)
		status = join_within(engine, &stars[turned], &stars[!turned], &peak, &error);
	good = status == HG_OK && peak > SLACK && peak - SLACK <= reckoned;
	if (!hg_tap_ok(good, "cuda: a join with %u lookups of the %s side takes %llu bytes of %llu",
				   spreads[0].nlookups, turned ? "inner" : "outer", (unsigned long long) peak,
				   (unsigned long long) reckoned))
		hg_tap_diag("status %d, %s %s", (int) status, error.message, error.detail);
	for (int i = 0; i < 2; i++)
	{
		test_star_release(engine, &stars[i]);
		test_star_destroy(&stars[i]);
	}
	hg_tap_ok(held_by(engine) == before, "cuda: and nothing is held then");
}

void
test_cuda_lookups(HgEngine *engine)
{
	if (hg_tap_suite() == HG_SUITE_TINY)
		return;
	for (int shape = 0; shape < 4; shape++)
		for (int turned = 0; turned < 2; turned++)
			if (hg_tap_turn())
				test_bytes(engine, shape, turned != 0);
}
