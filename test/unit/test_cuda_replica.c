/*-------------------------------------------------------------------------
 *
 * test_cuda_replica.c
 *	  Graph replicas on a device: the memory that they, and jobs about them, take.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_cuda_replica.h"

#include "../../cuda/engine/hg_cuda_engine.h"
#include "hg_tap.h"
#include "test_engine_replica.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The memory that jobs and replicas hold on the device of an engine. */
static uint64_t
held_by(HgEngine *engine)
{
	uint64_t budget;
	uint64_t held;
	uint64_t peak;

	hg_cuda_engine_memory(engine, &budget, &held, &peak);
	return held;
}

/* Does an engine come to hold so many bytes?  Streams may still have to pass the ends of jobs. */
static bool
comes_to_hold(HgEngine *engine, uint64_t bytes)
{
	const struct timespec pause = {0, 1000000};

	for (int i = 0; i < 2000 && held_by(engine) != bytes; i++)
		nanosleep(&pause, NULL);
	return held_by(engine) == bytes;
}

/* With little memory replicas are refused, or jobs that have them, and all of it comes back. */
static void
test_replica_little_room(void)
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

		good = hg_cuda_engine_start(HG_CUDA_EMPTIEST, budget, &engine, &error) == HG_OK;
		if (!good)
			break;
		status = test_replica_stretch(engine, test_host_plain(), &error);
		refused += status == HG_DEVICE_OUT_OF_MEMORY;
		fitted += status == HG_OK;
		good = (status == HG_OK || status == HG_DEVICE_OUT_OF_MEMORY) && comes_to_hold(engine, 0);
		if (!good)
			hg_tap_diag("budget %llu: status %d, %s %s", (unsigned long long) budget, (int) status,
						error.message, error.detail);
		hg_cuda_engine_stop(engine);
	}
	hg_tap_ok(good && refused > 3 && fitted > 0, "cuda: graph replicas within little memory");
}

/* Of a job that is to be told: what it took, beside what is allocated whatever there is to do. */
static uint64_t
peak_of(HgEngine *engine, HgJob *job)
{
	const uint64_t slack = UINT64_C(4) << 20;
	HgJobStats stats;

	engine->join->stats(job, &stats);
	return stats.peak_bytes > slack ? stats.peak_bytes - slack : 0;
}

/* Replicas are charged to the budget to the byte, and jobs take no more than was reckoned. */
static void
test_replica_bytes(HgEngine *engine)
{
	static const TestReplicaSpread spreads[] = {
		{.width = 8,
		 .parts = 9,
		 .mask = TEST_MASK_SOME,
		 .count = 4000000,
		 .keys = 4000000,
		 .ncolumns = 2,
		 .nulls = 10},
		{.width = 4,
		 .parts = 9,
		 .count = 3000000,
		 .keys = 4000000,
		 .hot = 9000,
		 .numbers = 400000,
		 .ncolumns = 3},
		{.way = TEST_REPLICA_APPENDED,
		 .width = 4,
		 .count = 2000000,
		 .keys = 4000000,
		 .ncolumns = 4,
		 .nulls = 10},
	};
	static const int joins[][2] = {{0, 1}, {1, 0}, {0, 2}, {2, 0}};
	TestReplicaSide sides[3];
	uint64_t bytes = 0;
	uint64_t state = 4711;
	HgError error = {0};
	bool good = comes_to_hold(engine, bytes);

	for (int i = 0; i < 3; i++)
		test_replica_side_create(&sides[i], &spreads[i], &state);
	for (int i = 0; i < 2; i++)
	{
		good = good && test_replica_make(engine, test_host_plain(), &sides[i], &error) == HG_OK;
		bytes += sides[i].bytes;
		for (uint32_t column = 0; column < spreads[i].ncolumns; column++)
			bytes += sides[i].columns[column].bytes;
		good = good && comes_to_hold(engine, bytes);
	}
	hg_tap_ok(good, "cuda: what is kept is held of the budget");

	for (int i = 0; i < 4 && good; i++)
	{
		const TestReplicaSide *const both[2] = {&sides[joins[i][0]], &sides[joins[i][1]]};
		HgReplicaUse uses[2];
		HgJobSpec spec = {.key_width = 4, .device = -1};
		uint64_t reckoned;
		uint64_t counted;
		uint64_t peak;
		HgJob *job;

		memset(uses, 0, sizeof(uses));
		for (int side = 0; side < 2; side++)
		{
			uses[side].shape = test_replica_shape(both[side]);
			uses[side].masked = both[side]->spread.mask != TEST_MASK_NONE;
			spec.sides[side].expected_rows = both[side]->spread.count;
			if (both[side]->graph != NULL)
			{
				spec.sides[side].kind = HG_SOURCE_REPLICA;
				spec.sides[side].replica.use = &uses[side];
			}
			spec.sides[side].ncolumns = both[side]->spread.ncolumns;
			memcpy(spec.sides[side].column_width, test_replica_widths, sizeof(test_replica_widths));
		}
		reckoned = hg_cuda_engine_job_bytes(&spec);
		good = test_replica_build(engine, test_host_plain(), both[0], both[1], &job, &error) ==
				   HG_OK &&
			   engine->join->count(job, HG_MATCH_ALL, &counted, &error) == HG_OK &&
			   engine->join->match(job, HG_MATCH_ALL, &error) == HG_OK;
		peak = good ? peak_of(engine, job) : 0;
		if (job != NULL)
			engine->join->close(job);
		good = good && peak <= reckoned && comes_to_hold(engine, bytes);
		if (!hg_tap_ok(good,
					   "cuda: a join of graph replicas takes no more than the %llu bytes reckoned",
					   (unsigned long long) reckoned))
			hg_tap_diag("status %d, %s %s; %llu bytes at its peak, then %llu held, %llu are kept",
						(int) error.status, error.message, error.detail, (unsigned long long) peak,
						(unsigned long long) held_by(engine), (unsigned long long) bytes);
	}

	/* of graphs that are there nothing more is taken to count, and of columns nothing at all */
	sides[0].spread.mask = TEST_MASK_NONE;
	if (good)
	{
		uint64_t counted;
		HgJobStats stats;
		HgJob *job;

		good = test_replica_build(engine, test_host_plain(), &sides[0], &sides[1], &job, &error) ==
				   HG_OK &&
			   engine->join->count(job, HG_MATCH_ALL, &counted, &error) == HG_OK;
		stats.peak_bytes = UINT64_MAX;
		if (job != NULL)
		{
			engine->join->stats(job, &stats);
			engine->join->close(job);
		}
		hg_tap_ok(good && stats.peak_bytes < 1048576,
				  "cuda: nothing is made to count their matches");
	}
	for (int i = 0; i < 3; i++)
	{
		test_replica_release(engine, &sides[i]);
		test_replica_side_destroy(&sides[i]);
	}
	hg_tap_ok(comes_to_hold(engine, 0), "cuda: nothing is held when they are released");
}

/* A graph is made where there is room for what was reckoned, whatever its keys are. */
static void
test_replica_room(void)
{
	static const TestReplicaSpread spreads[] = {
		{.width = 8, .parts = 9, .count = 3000000, .keys = 3000000},
		{.width = 4, .parts = 9, .count = 3000000, .keys = 3000000, .hot = 600000},
		{.width = 4, .parts = 1, .count = 400000, .keys = 400000, .hot = 20000},
	};

	for (size_t i = 0; i < sizeof(spreads) / sizeof(spreads[0]); i++)
	{
		const uint64_t slack = UINT64_C(4) << 20; /* for what does not grow with the rows */
		HgReplicaSpec new_replica = {.shape = {.parts = 1}};
		const HgJobSpec spec = {
			.key_width = 4, .device = -1, .product = {HG_PRODUCT_GRAPH, .graph = &new_replica}};
		HgEngine *engine;
		HgError error = {0};
		TestReplicaSide side;
		uint64_t state = i;
		uint64_t reckoned;
		bool good;

		test_replica_side_create(&side, &spreads[i], &state);
		new_replica.shape = test_replica_shape(&side);
		reckoned = hg_cuda_engine_job_bytes(&spec);
		good = hg_cuda_engine_start(HG_CUDA_EMPTIEST, reckoned + slack, &engine, &error) == HG_OK;
		if (good)
		{
			good = test_replica_make(engine, test_host_plain(), &side, &error) == HG_OK;
			if (good)
				engine->store->release(engine, side.graph);
			hg_cuda_engine_stop(engine);
		}
		test_replica_side_destroy(&side);
		if (!hg_tap_ok(good, "cuda: a graph of %u keys of %u bytes, %u of one, in %llu bytes",
					   spreads[i].count, spreads[i].width, spreads[i].hot,
					   (unsigned long long) reckoned))
			hg_tap_diag("%s %s", error.message, error.detail);
	}
}

/* A column is made within what was reckoned, with NULLs and without, and not within less. */
static void
test_replica_column_room(HgEngine *engine)
{
	const HgReplicaColumnSpec new_replica = {.shape = {.width = 8, .parts = 5, .stride = 300000}};
	const uint64_t ordinals = hg_replica_ordinals(&new_replica.shape);
	const uint64_t slack = 1024; /* of two blocks that are rounded up */
	HgJobSpec spec = {
		.key_width = 8, .device = -1, .product = {HG_PRODUCT_COLUMN, .column = &new_replica}};
	const uint64_t reckoned = hg_cuda_engine_job_bytes(&spec);
	unsigned char *values = test_malloc(ordinals * 8);
	uint8_t *nulls = test_malloc(ordinals);
	const uint64_t before = held_by(engine);
	bool good = true;

	memset(values, 1, ordinals * 8);
	memset(nulls, 1, ordinals);
	for (int turn = 0; turn < 3; turn++)
	{
		const HgStatus wanted = turn == 2 ? HG_DEVICE_OUT_OF_MEMORY : HG_OK;
		HgError error = {0};
		HgJob *job = NULL;
		HgReplica *column = NULL;
		uint64_t bytes = 0;
		HgStatus status;

		spec.memory_limit = turn == 2 ? reckoned - 1 : reckoned + slack;
		status = engine->open(engine, test_host_plain(), &spec, &job, &error);
		if (status == HG_OK)
			status = engine->store->put_values(job, values, turn == 1 ? NULL : nulls, ordinals, 0,
											   &error);
		if (status == HG_OK)
			status = engine->join->build(job, &error);
		if (status == HG_OK)
			status = engine->store->take_replica(job, &column, &bytes, &error);
		if (job != NULL)
			engine->join->close(job);
		good = good && status == wanted;
		if (column != NULL)
		{
			good = good && bytes >= ordinals * (turn == 1 ? 8 : 9) && bytes <= reckoned + slack &&
				   comes_to_hold(engine, before + bytes);
			engine->store->release(engine, column);
		}
		good = good && comes_to_hold(engine, before);
	}
	free(values);
	free(nulls);
	hg_tap_ok(good, "cuda: a column is made in the %llu bytes reckoned, and not in fewer",
			  (unsigned long long) reckoned);
}

void
test_cuda_replica(HgEngine *engine)
{
	if (hg_tap_turn())
		test_replica_little_room();
	if (hg_tap_suite() != HG_SUITE_TINY && hg_tap_turn())
	{
		test_replica_bytes(engine);
		test_replica_room();
		test_replica_column_room(engine);
	}
}
