/*-------------------------------------------------------------------------
 *
 * test_engine_replica_columns.c
 *	  The part of the suite of graph replicas that is about their columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_engine_replica_columns.h"

#include "hg_tap.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Threads that join by the same columns at once. */
#define CROWD 6

static const char *const way_names[TEST_REPLICA_WAYS] = {"kept", "appended", "numbered"};

/* A status that there should be, and the call that gave another. */
static bool
expect(HgStatus status, HgStatus wanted, const char *what)
{
	if (status == wanted)
		return true;
	hg_tap_diag("%s: status %d, not %d", what, (int) status, (int) wanted);
	return false;
}

static bool
create_sides(HgEngine *engine, const HgHost *host, const TestReplicaSpread *spreads,
			 TestReplicaSide *sides, int count, uint64_t state)
{
	HgError error = {0};
	bool good = true;

	for (int i = 0; i < count; i++)
		test_replica_side_create(&sides[i], &spreads[i], &state);
	for (int i = 0; i < count && good; i++)
		if (spreads[i].way == TEST_REPLICA_GRAPH)
			good = expect(test_replica_make(engine, host, &sides[i], &error), HG_OK, error.message);
	return good;
}

static void
destroy_sides(HgEngine *engine, TestReplicaSide *sides, int count)
{
	for (int i = 0; i < count; i++)
	{
		test_replica_release(engine, &sides[i]);
		test_replica_side_destroy(&sides[i]);
	}
}

/* ------------------------------------------------------------------------
 * One join
 * ------------------------------------------------------------------------ */

/* A join of two sides, and what it must give. */
typedef struct Joined
{
	HgEngine *engine;
	const TestReplicaSide *outer;
	const TestReplicaSide *inner;
	TestReplicaPairs wanted;
	HgJob *job;
} Joined;

static HgStatus
join_open(Joined *joined, const HgHost *host, HgError *error)
{
	test_replica_naive(joined->outer, joined->inner, &joined->wanted);
	return test_replica_build(joined->engine, host, joined->outer, joined->inner, &joined->job,
							  error);
}

static void
join_close(Joined *joined)
{
	if (joined->job != NULL)
		joined->engine->join->close(joined->job);
	free(joined->wanted.pairs);
}

/* Reduce by what a spec says, and compare.  HG_INVALID where the groups are wrong. */
static HgStatus
reduce_right(Joined *joined, HgMatchMode mode, const HgReduceSpec *spec, size_t capacity,
			 HgError *error)
{
	TestReplicaGroups groups = {0};
	TestReplicaGroups wanted;
	uint64_t count = 0;
	HgStatus status = joined->engine->columns->reduce(joined->job, mode, spec, &count, error);

	if (status != HG_OK)
		return status;
	/* what has no room is no failure, but there would have been */
	if (count == HG_TOO_MANY_GROUPS)
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, NULL, "too many groups");
	test_replica_naive_groups(joined->outer, joined->inner, &joined->wanted, mode, spec, &wanted);
	status = test_replica_fetch_groups(joined->engine, joined->job, spec, count, capacity, &groups,
									   error);
	if (status == HG_OK && !test_replica_groups_equal(&groups, &wanted, spec))
		status =
			hg_error_set(error, HG_INVALID, NULL, "%u keys: %lu groups, of %lu, or wrong ones",
						 spec->nkeys, (unsigned long) groups.count, (unsigned long) wanted.count);
	free(groups.words);
	free(wanted.words);
	return status;
}

/* Read the whole stream with values. */
static HgStatus
values_right(Joined *joined, HgMatchMode mode, size_t capacity, uint32_t unwanted, HgError *error)
{
	TestReplicaPairs pairs = {0};
	HgStatus status = joined->engine->join->match(joined->job, mode, error);

	if (status == HG_OK)
		status = test_replica_read_values(joined->engine, joined->job, joined->outer, joined->inner,
										  capacity, UINT64_MAX, unwanted, &pairs, error);
	if (status == HG_OK && !test_replica_right(&pairs, &joined->wanted, mode))
		status = hg_error_set(error, HG_INVALID, NULL, "wrong pairs");
	free(pairs.pairs);
	return status;
}

/* With one group fewer than there are there are too many, and what comes then is as ever. */
static HgStatus
too_many_right(Joined *joined, HgReduceSpec *spec, HgError *error)
{
	TestReplicaGroups wanted;
	uint64_t count = 0;
	HgStatus status = HG_OK;

	test_replica_naive_groups(joined->outer, joined->inner, &joined->wanted, HG_MATCH_ALL, spec,
							  &wanted);
	free(wanted.words);
	if (wanted.count < 2)
		return HG_OK;
	spec->max_groups = wanted.count - 1;
	status = joined->engine->columns->reduce(joined->job, HG_MATCH_ALL, spec, &count, error);
	if (status == HG_OK && count != HG_TOO_MANY_GROUPS)
		status = hg_error_set(error, HG_INVALID, NULL, "more groups than may be");
	if (status == HG_OK)
		status = values_right(joined, HG_MATCH_ALL, 700, 0, error);
	spec->max_groups++;
	return status == HG_OK ? reduce_right(joined, HG_MATCH_ALL, spec, 1000, error) : status;
}

/* All that there is to ask of a join. */
static HgStatus
join_right(Joined *joined, size_t capacity, uint64_t *state, HgError *error)
{
	HgReduceSpec spec;
	HgStatus status = values_right(joined, HG_MATCH_ALL, capacity, 0, error);

	for (uint32_t nkeys = 0; nkeys <= 3 && status == HG_OK; nkeys++)
	{
		test_replica_draw_reduce(&spec, joined->outer, joined->inner, false, nkeys, state);
		spec.expected_groups = nkeys == 2 ? 5000 : 0;
		status = reduce_right(joined, HG_MATCH_ALL, &spec, capacity, error);
	}
	if (status == HG_OK)
		status = too_many_right(joined, &spec, error);
	if (status == HG_OK)
		status = values_right(joined, HG_MATCH_FIRST, capacity, 0x155, error);
	if (status == HG_OK && joined->outer->spread.ncolumns > 0)
	{
		test_replica_draw_reduce(&spec, joined->outer, joined->inner, true, 2, state);
		status = reduce_right(joined, HG_MATCH_FIRST, &spec, capacity, error);
	}
	if (status == HG_OK)
		status = values_right(joined, HG_MATCH_ALL, 1 + capacity / 3, UINT32_MAX, error);
	return status;
}

/* A join, named, of sides as two spreads say. */
static void
test_join(HgEngine *engine, const HgHost *base, const TestReplicaSpread *outer,
		  const TestReplicaSpread *inner, size_t capacity, uint64_t seed)
{
	const TestReplicaSpread spreads[2] = {*outer, *inner};
	TestReplicaSide sides[2];
	Joined joined = {.engine = engine, .outer = &sides[0], .inner = &sides[1]};
	HgError error = {0};
	TestHost host;
	bool good;

	if (!hg_tap_turn())
		return;
	test_host_init(&host, base);
	good = create_sides(engine, &host.host, spreads, sides, 2, seed) &&
		   join_open(&joined, &host.host, &error) == HG_OK &&
		   join_right(&joined, capacity, &seed, &error) == HG_OK;
	join_close(&joined);
	destroy_sides(engine, sides, 2);
	if (!hg_tap_ok(good && host.held_bytes == 0 && !host.misused,
				   "%s: columns, %u of %u %s rows in %u parts x %u of %u %s in %u, mask %d, %d, "
				   "strides %u, %u, in chunks of %zu",
				   engine->name, outer->ncolumns, outer->count, way_names[outer->way], outer->parts,
				   inner->ncolumns, inner->count, way_names[inner->way], inner->parts,
				   (int) outer->mask, (int) inner->mask, outer->stride, inner->stride, capacity))
		hg_tap_diag("%s %s", error.message, error.detail);
}

/* ------------------------------------------------------------------------
 * Joins
 * ------------------------------------------------------------------------ */

/* Both sides in each way, with columns of both or of one, with and without masks. */
static void
test_ways(HgEngine *engine, const HgHost *host)
{
	static const uint32_t ncolumns[][2] = {{8, 8}, {5, 0}, {0, 3}};
	const uint32_t rows = hg_tap_suite() == HG_SUITE_TINY ? 500 : 5000;
	uint64_t seed = 100;

	for (int ways = 0; ways < TEST_REPLICA_WAYS * TEST_REPLICA_WAYS; ways++)
		for (size_t c = 0; c < LENGTH(ncolumns); c++)
			for (int mask = 0; mask < (c == 0 ? TEST_MASKS : 1); mask++)
			{
				TestReplicaSpread outer = {.way = (TestReplicaWay) (ways / TEST_REPLICA_WAYS),
										   .mask = (TestReplicaMask) mask,
										   .width = 8,
										   .parts = 3,
										   .count = rows,
										   .keys = rows,
										   .hot = 40,
										   .numbers = 70000,
										   .ncolumns = ncolumns[c][0],
										   .values = 12,
										   .nulls = 20};
				TestReplicaSpread inner = outer;

				inner.way = (TestReplicaWay) (ways % TEST_REPLICA_WAYS);
				inner.mask = (TestReplicaMask) ((mask * 2) % TEST_MASKS);
				inner.width = 4;
				inner.parts = 2;
				inner.hot = 25;
				inner.numbers = 9000;
				inner.stride = 9001;
				inner.ncolumns = ncolumns[c][1];
				if (outer.way != TEST_REPLICA_GRAPH && inner.way != TEST_REPLICA_GRAPH)
					continue;
				test_join(engine, host, &outer, &inner, 1500, seed++);
			}
}

/*
 * Strides from what the rows need to all that there can be, values of any bits, and columns
 * without NULL.
 */
static void
test_strides(HgEngine *engine, const HgHost *host)
{
	static const struct
	{
		uint32_t count;
		uint32_t parts;
		uint32_t numbers;
		uint32_t stride;
	} shapes[] = {
		{.count = 0, .parts = 1, .numbers = 1, .stride = 1},
		{1, 1, 1, 1},
		{30, 30, 1, 1},
		{900, 3, 300, 300},
		{900, 300, 3, 64},
		{2500, 5, 1000, 65537},
		{3000, 2, 0, 0},
		{3000, 2, 1 << 18, 1 << HG_FLAT_ROW_BITS},
		{3000, 7, 4096, 4096},
	};
	uint64_t seed = 300;

	for (size_t i = 0; i < LENGTH(shapes); i++)
		for (size_t j = 0; j < LENGTH(shapes); j++)
		{
			const TestReplicaSpread outer = {.width = 8,
											 .parts = shapes[i].parts,
											 .count = shapes[i].count,
											 .keys = 500,
											 .numbers = shapes[i].numbers,
											 .stride = shapes[i].stride,
											 .ncolumns = 4,
											 .nulls = i % 2 ? 50 : 0};
			const TestReplicaSpread inner = {.width = 4,
											 .parts = shapes[j].parts,
											 .count = shapes[j].count,
											 .keys = 500,
											 .numbers = shapes[j].numbers,
											 .stride = shapes[j].stride,
											 .ncolumns = 4,
											 .values = j % 3 ? 5 : 0,
											 .nulls = j % 3 ? 5 : 0};

			if (hg_tap_suite() == HG_SUITE_TINY && (i + j) % 4 != 0)
				continue;
			test_join(engine, host, &outer, &inner, j == 3 ? 7 : 100000, seed++);
		}
}

/* A million pairs, in few groups and in many. */
static void
test_many(HgEngine *engine, const HgHost *host)
{
	const bool large = hg_tap_suite() > HG_SUITE_SMALL;
	uint64_t seed = 500;

	for (int many = 0; many < 2; many++)
	{
		const TestReplicaSpread outer = {.mask = many ? TEST_MASK_SOME : TEST_MASK_NONE,
										 .width = 8,
										 .parts = 3,
										 .count = large ? 60000 : 20000,
										 .keys = 2000,
										 .numbers = 1 << 17,
										 .ncolumns = 3,
										 .values = many ? 0 : 3,
										 .nulls = 10};
		const TestReplicaSpread inner = {.width = 8,
										 .parts = 1,
										 .count = large ? 40000 : 5000,
										 .keys = 2000,
										 .ncolumns = 2,
										 .values = many ? 1000 : 4};

		test_join(engine, host, &outer, &inner, 100000, seed++);
	}
}

/* ------------------------------------------------------------------------
 * Columns of several jobs
 * ------------------------------------------------------------------------ */

static const TestReplicaSpread several[] = {
	{.width = 8,
	 .parts = 3,
	 .count = 6000,
	 .keys = 5000,
	 .hot = 30,
	 .numbers = 5000,
	 .ncolumns = 5,
	 .values = 30,
	 .nulls = 30},
	{.width = 4,
	 .parts = 2,
	 .count = 4000,
	 .keys = 5000,
	 .hot = 50,
	 .numbers = 3000,
	 .stride = 8000,
	 .ncolumns = 3,
	 .values = 4},
	{.way = TEST_REPLICA_NUMBERED,
	 .width = 4,
	 .count = 1500,
	 .keys = 5000,
	 .hot = 5,
	 .ncolumns = 2,
	 .values = 7,
	 .nulls = 3},
};

/* Jobs read the same columns in turns, some by streams, and some by groups. */
static void
test_several_jobs(HgEngine *engine, const HgHost *base)
{
	static const int joins[][2] = {{0, 1}, {1, 0}, {0, 0}, {2, 0}, {0, 2}, {1, 2}};
	TestReplicaSide sides[LENGTH(several)];
	TestReplicaPairs pairs[LENGTH(joins)];
	Joined joined[LENGTH(joins)];
	uint64_t state = 6;
	HgError error = {0};
	TestHost host;
	bool good;

	if (!hg_tap_turn())
		return;
	test_host_init(&host, base);
	memset(joined, 0, sizeof(joined));
	memset(pairs, 0, sizeof(pairs));
	good = create_sides(engine, &host.host, several, sides, LENGTH(several), 61);
	for (size_t i = 0; i < LENGTH(joins) && good; i++)
	{
		joined[i].engine = engine;
		joined[i].outer = &sides[joins[i][0]];
		joined[i].inner = &sides[joins[i][1]];
		good = join_open(&joined[i], &host.host, &error) == HG_OK &&
			   engine->join->match(joined[i].job, HG_MATCH_ALL, &error) == HG_OK;
	}
	for (int turn = 0; turn < 3 && good; turn++)
		for (size_t i = 0; i < LENGTH(joins) && good; i++)
		{
			HgReduceSpec spec;

			/* every other stream goes on while the others are reduced */
			if (i % 2 == 0)
			{
				good = test_replica_read_values(engine, joined[i].job, joined[i].outer,
												joined[i].inner, 800, turn == 2 ? UINT64_MAX : 2, 0,
												&pairs[i], &error) == HG_OK;
				continue;
			}
			test_replica_draw_reduce(&spec, joined[i].outer, joined[i].inner, false,
									 (uint32_t) turn, &state);
			good = reduce_right(&joined[i], HG_MATCH_ALL, &spec, 100, &error) == HG_OK;
		}
	for (size_t i = 0; i < LENGTH(joins); i++)
	{
		good =
			good && (i % 2 == 1 || test_replica_right(&pairs[i], &joined[i].wanted, HG_MATCH_ALL));
		if (joined[i].engine != NULL)
			join_close(&joined[i]);
		free(pairs[i].pairs);
	}
	destroy_sides(engine, sides, LENGTH(several));
	if (!hg_tap_ok(good && host.held_bytes == 0 && !host.misused,
				   "%s: jobs read the same columns in turns", engine->name))
		hg_tap_diag("%s %s", error.message, error.detail);
}

/* What a thread of a crowd does with the same columns. */
typedef struct Member
{
	HgEngine *engine;
	const HgHost *host;
	const TestReplicaSide *sides;
	int number;
	int jobs;
	bool good;
} Member;

static void *
run_member(void *arg)
{
	Member *member = arg;
	uint64_t state = (uint64_t) member->number;

	member->good = true;
	for (int i = 0; i < member->jobs && member->good; i++)
	{
		const int turn = (member->number + i) % 4;
		Joined joined = {.engine = member->engine,
						 .outer = &member->sides[turn & 1],
						 .inner = &member->sides[turn < 2 ? 1 - (turn & 1) : 2]};
		HgError error = {0};

		member->good = join_open(&joined, member->host, &error) == HG_OK &&
					   join_right(&joined, 3000, &state, &error) == HG_OK;
		join_close(&joined);
	}
	return NULL;
}

/* Threads join by the same columns. */
static void
test_crowd(HgEngine *engine, const HgHost *host)
{
	const int jobs = hg_tap_suite() == HG_SUITE_TINY ? 1 : 5;
	TestReplicaSide sides[LENGTH(several)];
	Member members[CROWD];
	pthread_t threads[CROWD];
	bool made;
	bool good;

	if (!hg_tap_turn())
		return;
	good = made = create_sides(engine, host, several, sides, LENGTH(several), 62);
	for (int i = 0; i < CROWD; i++)
	{
		members[i] = (Member){
			.engine = engine, .host = host, .sides = sides, .number = i, .jobs = made ? jobs : 0};
		if (pthread_create(&threads[i], NULL, run_member, &members[i]) != 0)
			abort();
	}
	for (int i = 0; i < CROWD; i++)
	{
		pthread_join(threads[i], NULL);
		good = good && members[i].good;
	}
	destroy_sides(engine, sides, LENGTH(several));
	hg_tap_ok(good, "%s: %d threads join by the same columns", engine->name, CROWD);
}

/* ------------------------------------------------------------------------
 * What fails
 * ------------------------------------------------------------------------ */

HgStatus
test_replica_columns_stretch(HgEngine *engine, const HgHost *host, HgError *error)
{
	static const TestReplicaSpread spreads[] = {
		{.width = 8,
		 .parts = 2,
		 .mask = TEST_MASK_SOME,
		 .count = 900,
		 .keys = 500,
		 .numbers = 600,
		 .ncolumns = 2,
		 .values = 9,
		 .nulls = 9},
		{.width = 4, .parts = 1, .count = 700, .keys = 500, .numbers = 800, .ncolumns = 1},
		{.way = TEST_REPLICA_NUMBERED, .width = 4, .count = 1000, .keys = 900, .ncolumns = 1},
	};
	static const int joins[][2] = {{0, 1}, {2, 0}};
	TestReplicaSide sides[LENGTH(spreads)];
	HgStatus status = HG_OK;
	uint64_t state = 8;

	for (size_t i = 0; i < LENGTH(spreads); i++)
	{
		test_replica_side_create(&sides[i], &spreads[i], &state);
		if (spreads[i].way == TEST_REPLICA_GRAPH && status == HG_OK)
			status = test_replica_make(engine, host, &sides[i], error);
	}
	for (size_t i = 0; i < LENGTH(joins) && status == HG_OK; i++)
	{
		Joined joined = {
			.engine = engine, .outer = &sides[joins[i][0]], .inner = &sides[joins[i][1]]};
		HgReduceSpec spec;

		test_replica_draw_reduce(&spec, joined.outer, joined.inner, false, 1 + (uint32_t) i,
								 &state);
		status = join_open(&joined, host, error);
		if (status == HG_OK)
			status = values_right(&joined, HG_MATCH_ALL, 2000, 0, error);
		if (status == HG_OK)
			status = reduce_right(&joined, HG_MATCH_ALL, &spec, 5000, error);
		join_close(&joined);
	}
	destroy_sides(engine, sides, LENGTH(spreads));
	return status;
}

/* ------------------------------------------------------------------------
 * Bad use
 * ------------------------------------------------------------------------ */

static void
test_bad_shapes(HgEngine *engine, const HgHost *host)
{
	static const uint32_t most = UINT32_C(1) << HG_FLAT_ROW_BITS;
	const struct
	{
		HgReplicaColumnShape shape;
		HgStatus status;
	} shapes[] = {
		{{.width = 1, .parts = 1, .stride = 1}, HG_OK},
		{{.width = 8, .parts = 2, .stride = most}, HG_OK},
		{{.width = 3, .parts = 1, .stride = 1}, HG_INVALID},
		{{.width = 16, .parts = 1, .stride = 1}, HG_INVALID},
		{{.width = 4, .parts = 0, .stride = 1}, HG_INVALID},
		{{.width = 4, .parts = HG_FLAT_PARTS + 1, .stride = 1}, HG_INVALID},
		{{.width = 4, .parts = 1, .stride = 0}, HG_INVALID},
		{{.width = 4, .parts = 1, .stride = most + 1}, HG_INVALID},
		{{.width = 1, .parts = HG_FLAT_PARTS, .stride = most}, HG_TOO_MANY_ROWS},
	};
	bool good = true;

	for (size_t i = 0; i < LENGTH(shapes); i++)
	{
		const HgReplicaColumnSpec new_replica = {.shape = shapes[i].shape};
		const HgJobSpec spec = {
			.key_width = 4, .device = -1, .product = {HG_PRODUCT_COLUMN, .column = &new_replica}};
		HgError error = {0};
		HgJob *job = NULL;

		good &= expect(engine->open(engine, host, &spec, &job, &error), shapes[i].status, "open");
		if (job != NULL)
			engine->join->close(job);
	}
	hg_tap_ok(good, "%s: a column of a shape that can't be is refused", engine->name);
}

/* What must not be done to a job that makes a column. */
static void
test_bad_making(HgEngine *engine, const HgHost *host)
{
	static const int32_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	static const uint8_t nulls[8] = {0, 1, 0, 0, 0, 0, 0, 0};
	static const uint32_t rows[1] = {0};
	const HgReplicaColumnSpec new_replica = {.shape = {.width = 4, .parts = 2, .stride = 4}};
	const HgReplicaSpec new_graph = {.shape = {.key_width = 4, .parts = 1, .rows = 1}};
	HgJobSpec spec = {
		.key_width = 4, .device = -1, .product = {HG_PRODUCT_COLUMN, .column = &new_replica}};
	HgReduceSpec reduce = {.max_groups = 1};
	HgError error = {0};
	HgJob *job = NULL;
	HgReplica *column = NULL;
	HgReplica *other = NULL;
	uint64_t number;
	bool good;

	good =
		expect(engine->open(engine, host, &spec, &job, &error), HG_OK, "open") &&
		expect(engine->join->append(job, HG_OUTER, values, 1, &error), HG_INVALID, "append") &&
		expect(engine->join->append_rows(job, HG_INNER, values, 1, 0, &error), HG_INVALID,
			   "append_rows") &&
		expect(engine->columns->append_column(job, HG_INNER, 0, values, NULL, 1, 0, &error),
			   HG_INVALID, "append_column") &&
		expect(engine->store->put_edges(job, values, rows, 1, &error), HG_INVALID, "put_edges") &&
		expect(engine->masks->mask(job, HG_OUTER, 0, 0, 1, NULL, &error), HG_INVALID, "mask") &&
		expect(engine->store->put_values(job, values, nulls, 9, 0, &error), HG_INVALID,
			   "too many") &&
		expect(engine->store->put_values(job, values, nulls, 2, 7, &error), HG_INVALID, "beyond") &&
		expect(engine->store->put_values(job, values, nulls, 1, 8, &error), HG_INVALID, "behind") &&
		expect(engine->store->put_values(job, values, NULL, 2, UINT64_MAX, &error), HG_INVALID,
			   "wraps") &&
		expect(engine->store->put_values(job, values, NULL, UINT64_MAX, 2, &error), HG_INVALID,
			   "wraps") &&
		expect(engine->store->put_values(job, values, nulls, 0, 8, &error), HG_OK, "nothing") &&
		expect(engine->store->put_values(job, values, nulls, 8, 0, &error), HG_OK, "put_values") &&
		expect(engine->store->put_values(job, values, NULL, 3, 5, &error), HG_OK,
			   "put_values again") &&
		expect(engine->store->take_replica(job, &column, &number, &error), HG_INVALID,
			   "keep before build") &&
		expect(engine->join->build(job, &error), HG_OK, "build") &&
		expect(engine->join->build(job, &error), HG_INVALID, "build twice") &&
		expect(engine->store->put_values(job, values, NULL, 1, 0, &error), HG_INVALID,
			   "put_values after build") &&
		expect(engine->join->match(job, HG_MATCH_ALL, &error), HG_INVALID, "match") &&
		expect(engine->join->count(job, HG_MATCH_ALL, &number, &error), HG_INVALID, "count") &&
		expect(engine->columns->reduce(job, HG_MATCH_ALL, &reduce, &number, &error), HG_INVALID,
			   "reduce") &&
		expect(engine->store->take_replica(job, &column, &number, &error), HG_OK, "keep") &&
		expect(engine->store->take_replica(job, &other, &number, &error), HG_INVALID, "keep twice");
	if (job != NULL)
		engine->join->close(job);
	if (column != NULL)
		engine->store->release(engine, column);
	hg_tap_ok(good, "%s: a job that makes a column is there for nothing else", engine->name);

	job = NULL;
	good =
		expect(engine->open(engine, host, &spec, &job, &error), HG_OK, "open") &&
		expect(engine->store->put_values(job, values, nulls, 8, 0, &error), HG_OK, "put_values") &&
		expect(engine->join->build(job, &error), HG_OK, "build");
	if (job != NULL)
		engine->join->close(job);
	job = NULL;
	good = good && expect(engine->open(engine, host, &spec, &job, &error), HG_OK, "open") &&
		   expect(engine->store->put_values(job, values, nulls, 8, 0, &error), HG_OK, "put_values");
	if (job != NULL)
		engine->join->close(job);
	hg_tap_ok(good, "%s: a column that is not kept goes with its job", engine->name);

	job = NULL;
	spec.product = (HgJobProduct){HG_PRODUCT_GRAPH, .graph = &new_graph};
	good = expect(engine->open(engine, host, &spec, &job, &error), HG_OK, "open") &&
		   expect(engine->store->put_values(job, values, nulls, 1, 0, &error), HG_INVALID,
				  "put_values");
	if (job != NULL)
		engine->join->close(job);
	hg_tap_ok(good, "%s: one that makes a graph makes no column", engine->name);
}

/* What a job can't have of columns. */
static void
test_bad_opens(HgEngine *engine, const HgHost *host, const TestReplicaSide *side)
{
	HgReplicaUse use = {.shape = test_replica_shape(side), .graph = side->graph};
	HgReplicaColumnUse columns[2] = {
		{.shape = test_replica_column_shape(side, 0), .column = side->columns[0].replica},
		{.shape = test_replica_column_shape(side, 1), .column = side->columns[1].replica},
	};
	const HgReplicaColumnShape right = columns[1].shape;
	HgJobSpec spec = {
		.key_width = 4,
		.device = -1,
		.sides[HG_OUTER] = {.kind = HG_SOURCE_REPLICA,
							.ncolumns = 2,
							.column_width = {test_replica_widths[0], test_replica_widths[1]},
							.replica = {.use = &use, .columns = columns}}};
	HgError error = {0};
	HgJob *job = NULL;
	bool good = true;

	spec.sides[HG_OUTER].replica.columns = NULL;
	good &= expect(engine->open(engine, host, &spec, &job, &error), HG_INVALID, "no columns");
	spec.sides[HG_OUTER].replica.columns = columns;
	columns[1].column = NULL;
	good &= expect(engine->open(engine, host, &spec, &job, &error), HG_NO_REPLICA, "no column");
	columns[1].column = side->graph;
	good &=
		expect(engine->open(engine, host, &spec, &job, &error), HG_NO_REPLICA, "a graph as one");
	columns[1].column = side->columns[0].replica;
	good &= expect(engine->open(engine, host, &spec, &job, &error), HG_NO_REPLICA, "other width");
	columns[1].column = side->columns[1].replica;
	columns[1].shape.parts++;
	good &= expect(engine->open(engine, host, &spec, &job, &error), HG_INVALID, "other parts");
	columns[1].shape = right;
	columns[1].shape.stride++;
	good &= expect(engine->open(engine, host, &spec, &job, &error), HG_INVALID, "two strides");
	columns[0].shape.stride++;
	good &= expect(engine->open(engine, host, &spec, &job, &error), HG_NO_REPLICA, "other stride");
	columns[0].shape.stride = columns[1].shape.stride = right.stride;
	use.graph = side->columns[0].replica;
	good &=
		expect(engine->open(engine, host, &spec, &job, &error), HG_NO_REPLICA, "one as a graph");
	hg_tap_ok(good && job == NULL, "%s: a job of columns that can't be is refused", engine->name);
}

/* A graph that has rows beyond the places of a column is not joined by it. */
static void
test_beyond(HgEngine *engine, const HgHost *host)
{
	static const TestReplicaSpread short_spread = {
		.width = 4, .parts = 2, .count = 50, .keys = 9, .numbers = 100, .ncolumns = 1};
	static const TestReplicaSpread long_spread = {
		.width = 4, .parts = 2, .count = 50, .keys = 9, .numbers = 101, .ncolumns = 1};
	TestReplicaSide sides[2];
	HgReplicaColumnUse column = {0};
	HgReplicaUse use = {0};
	const HgJobSpec spec = {.key_width = 4,
							.device = -1,
							.sides = {{0},
									  {.kind = HG_SOURCE_REPLICA,
									   .ncolumns = 1,
									   .column_width = {test_replica_widths[0]},
									   .replica = {.use = &use, .columns = &column}}}};
	HgError error = {0};
	HgJob *job = NULL;
	uint64_t state = 3;
	bool good;

	test_replica_side_create(&sides[0], &short_spread, &state);
	test_replica_side_create(&sides[1], &long_spread, &state);
	good = expect(test_replica_make(engine, host, &sides[0], &error), HG_OK, "make") &&
		   expect(test_replica_make(engine, host, &sides[1], &error), HG_OK, "make");
	/* a column that is longer than it must be is one that can be read, and closed unread */
	for (int i = 0; i < 2 && good; i++)
	{
		use.shape = test_replica_shape(&sides[i]);
		use.graph = sides[i].graph;
		column.shape = test_replica_column_shape(&sides[1 - i], 0);
		column.column = sides[1 - i].columns[0].replica;
		good = expect(engine->open(engine, host, &spec, &job, &error), i == 0 ? HG_OK : HG_INVALID,
					  "a column of another graph");
		if (job != NULL)
			engine->join->close(job);
		job = NULL;
	}
	destroy_sides(engine, sides, 2);
	hg_tap_ok(good, "%s: a row that has no place in a column is refused with all its graph",
			  engine->name);
}

/* What must not be done to a job that has columns: replicas, and appended columns. */
static void
test_bad_joining(HgEngine *engine, const HgHost *host, const TestReplicaSide *sides)
{
	static const int32_t keys[2] = {1, 2};
	static const uint64_t values[2] = {1, 2};
	uint32_t room[2];
	uint8_t bytes[2];
	HgMatches matches = {.outer = room, .inner = room + 1, .capacity = 1};
	HgGroupRecords records = {.words = (uint64_t[1]){0}, .capacity = 1};
	HgReduceSpec reduce = {
		.nitems = 1, .items = {{.argument = {.side = HG_OUTER, .column = 99}}}, .max_groups = 1};
	HgError error = {0};
	HgJob *job = NULL;
	uint64_t number;
	bool good;

	good = expect(test_replica_open(engine, host, &sides[0], &sides[2], &job, &error), HG_OK,
				  "open") &&
		   expect(engine->columns->append_column(job, HG_OUTER, 0, values, NULL, 1, 0, &error),
				  HG_INVALID, "append_column to a graph replica") &&
		   expect(engine->store->put_values(job, values, NULL, 1, 0, &error), HG_INVALID,
				  "put_values") &&
		   expect(engine->join->append_rows(job, HG_INNER, keys, 1, 5, &error), HG_OK,
				  "append_rows") &&
		   expect(engine->columns->append_column(job, HG_INNER, 0, values, NULL, 1, 5, &error),
				  HG_OK, "append_column") &&
		   expect(engine->join->build(job, &error), HG_INVALID, "build without all columns") &&
		   expect(engine->columns->append_column(job, HG_INNER, 1, values, NULL, 1, 5, &error),
				  HG_OK, "append_column") &&
		   expect(engine->join->build(job, &error), HG_OK, "build") &&
		   expect(engine->columns->next_groups(job, &records, &error), HG_INVALID, "next_groups") &&
		   expect(engine->columns->reduce(job, HG_MATCH_ALL, &reduce, &number, &error), HG_INVALID,
				  "reduce") &&
		   expect(engine->join->match(job, HG_MATCH_ALL, &error), HG_OK, "match");
	matches.values[HG_OUTER][7] = matches.nulls[HG_OUTER][7] = bytes;
	good = good && expect(engine->join->next(job, &matches, &error), HG_INVALID, "no such column");
	matches.values[HG_OUTER][7] = matches.nulls[HG_OUTER][7] = NULL;
	good = good && expect(engine->join->next(job, &matches, &error), HG_OK, "next");
	if (job != NULL)
		engine->join->close(job);

	hg_tap_ok(good, "%s: a job with columns refuses what can't be asked of it", engine->name);
}

/* A column in which nothing was ever put can be read: whatever it has, nothing else happens. */
static void
test_empty(HgEngine *engine, const HgHost *host, const TestReplicaSide *side)
{
	const HgReplicaColumnSpec new_replica = {.shape = test_replica_column_shape(side, 1)};
	const HgJobSpec making = {
		.key_width = 4, .device = -1, .product = {HG_PRODUCT_COLUMN, .column = &new_replica}};
	HgReplicaUse use = {.shape = test_replica_shape(side), .graph = side->graph};
	HgReplicaColumnUse column = {.shape = new_replica.shape};
	const HgJobSpec spec = {.key_width = 4,
							.device = -1,
							.sides = {{.kind = HG_SOURCE_REPLICA,
									   .ncolumns = 1,
									   .column_width = {test_replica_widths[1]},
									   .replica = {.use = &use, .columns = &column}},
									  {.kind = HG_SOURCE_REPLICA, .replica = {.use = &use}}}};
	const HgReduceSpec reduce = {.nitems = 1, .items = {{.kind = HG_REDUCE_SUM}}, .max_groups = 1};
	uint64_t record[6];
	HgGroupRecords records = {.words = record, .capacity = 1};
	HgError error = {0};
	HgJob *job = NULL;
	uint64_t number;
	uint64_t counted = 0;
	bool good;

	good = expect(engine->open(engine, host, &making, &job, &error), HG_OK, "open") &&
		   expect(engine->join->build(job, &error), HG_OK, "build") &&
		   expect(engine->store->take_replica(job, &column.column, &number, &error), HG_OK, "keep");
	if (job != NULL)
		engine->join->close(job);
	job = NULL;
	good = good && expect(engine->open(engine, host, &spec, &job, &error), HG_OK, "open") &&
		   expect(engine->join->build(job, &error), HG_OK, "build") &&
		   expect(engine->join->count(job, HG_MATCH_ALL, &counted, &error), HG_OK, "count") &&
		   expect(engine->columns->reduce(job, HG_MATCH_ALL, &reduce, &number, &error), HG_OK,
				  "reduce") &&
		   number == 1 &&
		   expect(engine->columns->next_groups(job, &records, &error), HG_OK, "next_groups") &&
		   records.count == 1 && record[1] == counted;
	if (job != NULL)
		engine->join->close(job);
	if (column.column != NULL)
		engine->store->release(engine, column.column);
	hg_tap_ok(good && counted >= side->spread.count, "%s: a column without any value",
			  engine->name);
}

static void
test_bad_use(HgEngine *engine, const HgHost *base)
{
	TestReplicaSide sides[LENGTH(several)];
	TestHost host;
	bool made;

	if (!hg_tap_turn())
		return;
	test_host_init(&host, base);
	test_bad_shapes(engine, &host.host);
	test_bad_making(engine, &host.host);
	test_beyond(engine, &host.host);
	made = create_sides(engine, &host.host, several, sides, LENGTH(several), 63);
	if (made)
	{
		test_bad_opens(engine, &host.host, &sides[0]);
		test_bad_joining(engine, &host.host, sides);
		test_empty(engine, &host.host, &sides[0]);
	}
	destroy_sides(engine, sides, LENGTH(several));
	hg_tap_ok(made && host.held_bytes == 0 && !host.misused,
			  "%s: none of it leaves anything of columns", engine->name);
}

void
hg_engine_replica_columns_suite(HgEngine *engine, const HgHost *host)
{
	if (engine->store == NULL || engine->columns == NULL)
	{
		hg_tap_ok(false, "%s: it keeps columns", engine->name);
		return;
	}
	test_bad_use(engine, host);
	test_ways(engine, host);
	test_strides(engine, host);
	test_many(engine, host);
	test_several_jobs(engine, host);
	test_crowd(engine, host);
}
