/*-------------------------------------------------------------------------
 *
 * test_engine_replica.c
 *	  The conformity suite of graph replicas: what an engine that has them must do.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_engine_replica.h"

#include "hg_tap.h"
#include "test_engine_replica_columns.h"
#include "test_engine_replica_lookups.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Pairs of a drawn case at most, which would say no more if they were more. */
#define MOST_PAIRS 3000000

/* Parts of a graph that may have a mask: more would be words and words of it. */
#define FEW_PARTS 3

/* Threads that join the same graphs at once, and jobs of each. */
#define CROWD 8

static const char *const way_names[TEST_REPLICA_WAYS] = {"kept", "appended", "numbered"};
static const char *const mask_names[TEST_MASKS] = {"", ", mask not given", ", masked",
												   ", masked a little", ", none of them counts"};

/* ------------------------------------------------------------------------
 * One join
 * ------------------------------------------------------------------------ */

/* Does a job tell of itself what it should? */
static bool
stats_right(HgEngine *engine, HgJob *job, const TestReplicaSide *outer,
			const TestReplicaSide *inner, uint64_t matches)
{
	HgJobStats stats;

	engine->join->stats(job, &stats);
	return stats.rows[HG_OUTER] == outer->spread.count &&
		   stats.rows[HG_INNER] == inner->spread.count && stats.build == HG_BUILD_RESIDENT &&
		   stats.probe == HG_PROBE_INTERSECT && stats.bins == 1 && stats.passes == 1 &&
		   stats.vertices > 0 && (stats.vertices & (stats.vertices - 1)) == 0 &&
		   stats.matches == matches;
}

/* Read the whole stream of a mode and look at it. */
static bool
stream_right(HgEngine *engine, HgJob *job, HgMatchMode mode, size_t capacity,
			 const TestReplicaPairs *wanted, HgError *error)
{
	TestReplicaPairs pairs = {0};
	bool good = engine->join->match(job, mode, error) == HG_OK &&
				test_replica_read(engine, job, capacity, UINT64_MAX, &pairs, error) == HG_OK &&
				test_replica_right(&pairs, wanted, mode);

	/* the end stays the end */
	pairs.count = 0;
	good = good && test_replica_read(engine, job, 1, 1, &pairs, error) == HG_OK && pairs.count == 0;
	free(pairs.pairs);
	return good;
}

/* Join two sides, whose graphs are made, in all ways. */
static bool
join_right(HgEngine *engine, const HgHost *host, const TestReplicaSide *outer,
		   const TestReplicaSide *inner, size_t capacity)
{
	TestReplicaPairs wanted;
	TestReplicaPairs some = {0};
	HgError error = {0};
	uint64_t counts[2] = {0, 0};
	uint64_t all;
	uint64_t first;
	HgJob *job;
	bool good;

	test_replica_naive(outer, inner, &wanted);
	all = test_replica_wanted(&wanted, HG_MATCH_ALL);
	first = test_replica_wanted(&wanted, HG_MATCH_FIRST);
	good = test_replica_build(engine, host, outer, inner, &job, &error) == HG_OK &&
		   stats_right(engine, job, outer, inner, 0) &&
		   engine->join->count(job, HG_MATCH_ALL, &counts[0], &error) == HG_OK &&
		   counts[0] == all &&
		   engine->join->count(job, HG_MATCH_FIRST, &counts[1], &error) == HG_OK &&
		   counts[1] == first && stats_right(engine, job, outer, inner, all + first) &&
		   stream_right(engine, job, HG_MATCH_ALL, capacity, &wanted, &error) &&
		   stream_right(engine, job, HG_MATCH_ALL, capacity, &wanted, &error) &&
		   stream_right(engine, job, HG_MATCH_FIRST, capacity, &wanted, &error);

	/* a stream that is not read to its end begins anew */
	good = good && engine->join->match(job, HG_MATCH_ALL, &error) == HG_OK &&
		   test_replica_read(engine, job, capacity, 2, &some, &error) == HG_OK &&
		   stream_right(engine, job, HG_MATCH_ALL, capacity, &wanted, &error);
	if (!good)
		hg_tap_diag("wanted %" PRIu64 " and %" PRIu64 ", counted %" PRIu64 " and %" PRIu64 "; %s",
					all, first, counts[0], counts[1], error.message);
	if (job != NULL)
		engine->join->close(job);
	free(some.pairs);
	free(wanted.pairs);
	return good;
}

/* Make the graphs of sides that are replicas. */
static bool
make_graphs(HgEngine *engine, const HgHost *host, TestReplicaSide *sides, int count)
{
	HgError error = {0};
	bool good = true;

	for (int i = 0; i < count && good; i++)
	{
		good = sides[i].spread.way != TEST_REPLICA_GRAPH ||
			   (test_replica_make(engine, host, &sides[i], &error) == HG_OK &&
				sides[i].graph != NULL &&
				sides[i].bytes >=
					(uint64_t) sides[i].spread.count * (sides[i].spread.width + sizeof(uint32_t)));
		if (!good)
			hg_tap_diag("a graph is not made: %s %s", error.message, error.detail);
	}
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
 * Joins
 * ------------------------------------------------------------------------ */

static const char *
mask_name(const TestReplicaSpread *spread)
{
	return mask_names[spread->way == TEST_REPLICA_GRAPH ? spread->mask : TEST_MASK_NONE];
}

/* A join, named, of sides as two spreads say. */
static void
test_join(HgEngine *engine, const HgHost *base, const TestReplicaSpread *outer,
		  const TestReplicaSpread *inner, size_t capacity, uint64_t seed)
{
	TestReplicaSide sides[2];
	TestHost host;
	bool good;

	if (!hg_tap_turn())
		return;
	test_host_init(&host, base);
	test_replica_side_create(&sides[HG_OUTER], outer, &seed);
	test_replica_side_create(&sides[HG_INNER], inner, &seed);
	good = make_graphs(engine, &host.host, sides, 2) &&
		   join_right(engine, &host.host, &sides[HG_OUTER], &sides[HG_INNER], capacity);
	destroy_sides(engine, sides, 2);
	hg_tap_ok(good && host.held_bytes == 0 && !host.misused,
			  "%s: %u %s rows of %u bytes%s, x %u %s of %u%s, in chunks of %zu", engine->name,
			  outer->count, way_names[outer->way], outer->width, mask_name(outer), inner->count,
			  way_names[inner->way], inner->width, mask_name(inner), capacity);
}

/* All ways of both sides, and both widths, with every mask. */
static void
test_ways(HgEngine *engine, const HgHost *host)
{
	const bool tiny = hg_tap_suite() == HG_SUITE_TINY;
	const uint32_t rows = tiny ? 700 : 6000;
	uint64_t seed = 1;

	for (int ways = 0; ways < TEST_REPLICA_WAYS * TEST_REPLICA_WAYS; ways++)
		for (int widths = tiny ? 2 : 0; widths < (tiny ? 3 : 4); widths++)
			for (int mask = 0; mask < TEST_MASKS; mask++)
			{
				TestReplicaSpread outer = {.way = (TestReplicaWay) (ways / TEST_REPLICA_WAYS),
										   .mask = (TestReplicaMask) mask,
										   .width = widths & 1 ? 4 : 8,
										   .parts = FEW_PARTS,
										   .count = rows,
										   .keys = rows,
										   .hot = 7};
				TestReplicaSpread inner = {.way = (TestReplicaWay) (ways % TEST_REPLICA_WAYS),
										   .mask = (TestReplicaMask) ((mask * 2) % TEST_MASKS),
										   .width = widths & 2 ? 4 : 8,
										   .parts = 1 + (uint32_t) mask % FEW_PARTS,
										   .count = rows / 2,
										   .keys = rows,
										   .hot = 3};

				if (outer.way != TEST_REPLICA_GRAPH && inner.way != TEST_REPLICA_GRAPH)
					continue;
				test_join(engine, host, &outer, &inner, 500, seed++);
			}
}

/* Sizes of all kinds, of which one or both may be 0. */
static void
test_sizes(HgEngine *engine, const HgHost *host, uint32_t most_rows)
{
	static const uint32_t sizes[] = {0, 1, 2, 60, 2048, 2049, 20000};
	const size_t count = hg_tap_suite() == HG_SUITE_TINY ? LENGTH(sizes) - 1 : LENGTH(sizes);
	uint64_t seed = 1000;

	for (size_t i = 0; i < count * count; i += count < LENGTH(sizes) ? 5 : 1)
	{
		/* keys of the smaller side, so that there are partners */
		const uint32_t a = sizes[i / count];
		const uint32_t b = sizes[i % count];
		const uint32_t smaller = a < b ? a : b;
		TestReplicaSpread outer = {.mask = i % 3 == 1 ? TEST_MASK_SOME : TEST_MASK_NONE,
								   .width = i % 2 ? 4 : 8,
								   .parts = i % 3 == 1 ? 2 : HG_FLAT_PARTS,
								   .count = a,
								   .keys = smaller + 1};
		TestReplicaSpread inner = {.mask = i % 4 == 2 ? TEST_MASK_SOME : TEST_MASK_NONE,
								   .width = i / 2 % 2 ? 4 : 8,
								   .parts = i % 4 == 2 ? 3 : HG_FLAT_PARTS - 1,
								   .count = b,
								   .keys = smaller + 1};

		if ((uint64_t) a * b / (smaller + 1) > MOST_PAIRS)
			outer.keys = inner.keys = (uint64_t) a * b / MOST_PAIRS + 1;
		test_join(engine, host, &outer, &inner, i % 5 == 0 ? 100000 : 333, seed++);
	}

	/* rows that need more than one piece of whatever is done with them */
	for (int way = 0; way < TEST_REPLICA_WAYS; way++)
		for (int turned = 0; turned < 2; turned++)
		{
			const TestReplicaSpread larger = {.mask = way == 1 ? TEST_MASK_SOME : TEST_MASK_NONE,
											  .width = turned ? 4 : 8,
											  .parts = 20,
											  .count = most_rows,
											  .keys = most_rows,
											  .hot = most_rows / 10};
			const TestReplicaSpread smaller = {.way = (TestReplicaWay) way,
											   .mask = TEST_MASK_FEW,
											   .width = way == 1 ? 4 : 8,
											   .parts = 20,
											   .count = most_rows / 7,
											   .keys = most_rows};

			test_join(engine, host, turned ? &smaller : &larger, turned ? &larger : &smaller,
					  100000, seed++);
		}
}

/* Keys that many rows have, with chunks that are too small for the matches of one row. */
static void
test_skew(HgEngine *engine, const HgHost *host)
{
	static const size_t capacities[] = {1, 7, 1000};
	uint64_t seed = 2000;

	for (int turned = 0; turned < 2; turned++)
		for (int way = 0; way < TEST_REPLICA_WAYS; way++)
			for (int masked = 0; masked < 2; masked++)
				for (size_t c = 0; c < LENGTH(capacities); c++)
				{
					const bool tiny = capacities[c] < 1000;
					const bool small = hg_tap_suite() <= HG_SUITE_SMALL;
					const TestReplicaSpread many = {.mask =
														masked ? TEST_MASK_SOME : TEST_MASK_NONE,
													.width = 8,
													.parts = 2,
													.count = tiny ? 900 : 12000,
													.keys = 2,
													.hot = tiny ? 300 : 7000};
					const TestReplicaSpread few = {.way = (TestReplicaWay) way,
												   .width = 4,
												   .parts = 1,
												   .count = tiny	? 30
															: small ? 60
																	: 300,
												   .keys = 40,
												   .hot = tiny	  ? 20
														  : small ? 30
																  : 150};

					test_join(engine, host, turned ? &few : &many, turned ? &many : &few,
							  capacities[c], seed++);
				}
}

/* Drawn joins of all that there is. */
static void
test_random_joins(HgEngine *engine, const HgHost *host)
{
	const int rounds = hg_tap_suite() == HG_SUITE_TINY	  ? 5
					   : hg_tap_suite() == HG_SUITE_SMALL ? 30
														  : 150;
	uint64_t state = 3000;

	for (int round = 0; round < rounds; round++)
	{
		TestReplicaSpread spreads[2];

		for (int side = 0; side < 2; side++)
		{
			TestReplicaSpread *spread = &spreads[side];

			memset(spread, 0, sizeof(*spread));
			spread->way = (TestReplicaWay) test_replica_random(&state, TEST_REPLICA_WAYS);
			if (side == 1 && spreads[0].way != TEST_REPLICA_GRAPH)
				spread->way = TEST_REPLICA_GRAPH;
			spread->mask = (TestReplicaMask) test_replica_random(&state, TEST_MASKS);
			spread->width = test_replica_random(&state, 2) ? 4 : 8;
			spread->parts = 1 + (uint32_t) test_replica_random(&state, FEW_PARTS);
			spread->count = (uint32_t) test_replica_random(&state, 1 + (1 << (round % 15)));
			spread->keys = 1 + spread->count / (1 + test_replica_random(&state, 3));
			spread->hot = round % 4 == 0 ? spread->count / 50 : 0;
		}
		if (spreads[0].keys < spreads[1].keys)
			spreads[1].keys = spreads[0].keys;
		if ((uint64_t) spreads[0].count * spreads[1].count / spreads[1].keys > MOST_PAIRS)
			spreads[1].keys = (uint64_t) spreads[0].count * spreads[1].count / MOST_PAIRS + 1;
		test_join(engine, host, &spreads[0], &spreads[1],
				  1 + test_replica_random(&state, UINT64_C(1) << test_replica_random(&state, 17)),
				  3000 + (uint64_t) round);
	}
}

/* ------------------------------------------------------------------------
 * Graphs of several jobs
 * ------------------------------------------------------------------------ */

/* Create sides, and make their graphs. */
static bool
create_sides(HgEngine *engine, const HgHost *host, const TestReplicaSpread *spreads,
			 TestReplicaSide *sides, int count)
{
	uint64_t state = 77;

	for (int i = 0; i < count; i++)
		test_replica_side_create(&sides[i], &spreads[i], &state);
	return make_graphs(engine, host, sides, count);
}

static const TestReplicaSpread several[] = {
	{.width = 8, .parts = 3, .count = 9000, .keys = 8000, .hot = 30},
	{.width = 4, .parts = 2, .count = 5000, .keys = 8000, .hot = 50},
	{.way = TEST_REPLICA_NUMBERED, .width = 4, .count = 1000, .keys = 8000, .hot = 5},
};

/* A graph is joined with itself, and jobs that have it for either side take turns. */
static void
test_several_jobs(HgEngine *engine, const HgHost *base)
{
	static const int joins[][2] = {{0, 1}, {1, 0}, {0, 0}, {2, 0}, {0, 2}, {1, 2}};
	TestReplicaSide sides[LENGTH(several)];
	TestReplicaPairs wanted[LENGTH(joins)];
	TestReplicaPairs pairs[LENGTH(joins)];
	HgJob *jobs[LENGTH(joins)];
	HgError error = {0};
	TestHost host;
	bool good;

	if (!hg_tap_turn())
		return;
	test_host_init(&host, base);
	memset(jobs, 0, sizeof(jobs));
	memset(pairs, 0, sizeof(pairs));
	memset(wanted, 0, sizeof(wanted));
	good = create_sides(engine, &host.host, several, sides, LENGTH(several));
	for (size_t i = 0; i < LENGTH(joins) && good; i++)
	{
		const TestReplicaSide *outer = &sides[joins[i][0]];
		const TestReplicaSide *inner = &sides[joins[i][1]];

		test_replica_naive(outer, inner, &wanted[i]);
		good = test_replica_build(engine, &host.host, outer, inner, &jobs[i], &error) == HG_OK &&
			   engine->join->match(jobs[i], HG_MATCH_ALL, &error) == HG_OK;
	}
	for (size_t most = 1; most > 0 && good;)
	{
		most = 0;
		for (size_t i = 0; i < LENGTH(joins) && good; i++)
		{
			const size_t before = pairs[i].count;

			good = test_replica_read(engine, jobs[i], 900, 1, &pairs[i], &error) == HG_OK;
			most = pairs[i].count - before > most ? pairs[i].count - before : most;
		}
	}
	for (size_t i = 0; i < LENGTH(joins); i++)
	{
		good = good && test_replica_right(&pairs[i], &wanted[i], HG_MATCH_ALL);
		if (jobs[i] != NULL)
			engine->join->close(jobs[i]);
		free(pairs[i].pairs);
		free(wanted[i].pairs);
	}
	destroy_sides(engine, sides, LENGTH(several));
	hg_tap_ok(good && host.held_bytes == 0 && !host.misused,
			  "%s: a graph replica is a side of several jobs at a time, and both of one",
			  engine->name);
}

/* What a thread of a crowd does with the same graphs. */
typedef struct CrowdMember
{
	HgEngine *engine;
	const HgHost *host;
	const TestReplicaSide *sides;
	int number;
	int jobs;
	bool good;
} CrowdMember;

static void *
run_member(void *arg)
{
	CrowdMember *member = arg;

	member->good = true;
	for (int i = 0; i < member->jobs && member->good; i++)
	{
		const int turn = (member->number + i) % 4;

		member->good = join_right(member->engine, member->host, &member->sides[turn & 1],
								  &member->sides[turn < 2 ? 1 - (turn & 1) : 2], 5000);
	}
	return NULL;
}

static void *
run_release(void *arg)
{
	CrowdMember *member = arg;

	for (int i = 0; i < 2; i++)
		member->engine->store->release(member->engine, member->sides[i].graph);
	return NULL;
}

/* Threads join the same graphs, and another one gives these back. */
static void
test_crowd(HgEngine *engine, const HgHost *host)
{
	const int jobs = hg_tap_suite() == HG_SUITE_TINY ? 1 : 6;
	TestReplicaSide sides[LENGTH(several)];
	CrowdMember members[CROWD];
	pthread_t threads[CROWD];
	bool made;
	bool good;

	if (!hg_tap_turn())
		return;
	good = made = create_sides(engine, host, several, sides, LENGTH(several));
	for (int i = 0; i < CROWD; i++)
	{
		members[i] = (CrowdMember){
			.engine = engine, .host = host, .sides = sides, .number = i, .jobs = made ? jobs : 0};
		if (pthread_create(&threads[i], NULL, run_member, &members[i]) != 0)
			abort();
	}
	for (int i = 0; i < CROWD; i++)
	{
		pthread_join(threads[i], NULL);
		good = good && members[i].good;
	}
	if (made)
	{
		if (pthread_create(&threads[0], NULL, run_release, &members[0]) != 0)
			abort();
		pthread_join(threads[0], NULL);
		sides[0].graph = sides[1].graph = NULL;
	}
	destroy_sides(engine, sides, LENGTH(several));
	hg_tap_ok(good, "%s: %d threads join the same graph replicas, and one more releases them",
			  engine->name, CROWD);
}

/* ------------------------------------------------------------------------
 * What fails
 * ------------------------------------------------------------------------ */

HgStatus
test_replica_stretch(HgEngine *engine, const HgHost *host, HgError *error)
{
	static const TestReplicaSpread spreads[] = {
		{.width = 8, .parts = 1, .mask = TEST_MASK_SOME, .count = 900, .keys = 500, .hot = 200},
		{.width = 4, .parts = 1, .count = 700, .keys = 500, .hot = 40},
		{.way = TEST_REPLICA_NUMBERED, .width = 4, .count = 3000, .keys = 900, .hot = 40},
	};
	TestReplicaSide sides[LENGTH(spreads)];
	HgStatus status = HG_OK;
	uint64_t state = 5;

	for (size_t i = 0; i < LENGTH(spreads); i++)
	{
		test_replica_side_create(&sides[i], &spreads[i], &state);
		if (spreads[i].way == TEST_REPLICA_GRAPH && status == HG_OK)
			status = test_replica_make(engine, host, &sides[i], error);
	}
	for (int join = 0; join < 3 && status == HG_OK; join++)
	{
		const TestReplicaSide *outer = &sides[join == 2 ? 2 : join];
		const TestReplicaSide *inner = &sides[join == 1 ? 2 : 1 - join / 2];
		TestReplicaPairs pairs = {0};
		TestReplicaPairs wanted;
		uint64_t counted;
		HgJob *job;

		test_replica_naive(outer, inner, &wanted);
		status = test_replica_build(engine, host, outer, inner, &job, error);
		if (status == HG_OK)
			status = engine->join->count(job, HG_MATCH_FIRST, &counted, error);
		if (status == HG_OK)
			status = engine->join->match(job, HG_MATCH_ALL, error);
		if (status == HG_OK)
			status = test_replica_read(engine, job, 2000, UINT64_MAX, &pairs, error);
		if (status == HG_OK && (counted != test_replica_wanted(&wanted, HG_MATCH_FIRST) ||
								!test_replica_right(&pairs, &wanted, HG_MATCH_ALL)))
			status = HG_INVALID;
		if (job != NULL)
			engine->join->close(job);
		free(pairs.pairs);
		free(wanted.pairs);
	}
	destroy_sides(engine, sides, LENGTH(spreads));
	if (status == HG_OK)
		status = test_replica_columns_stretch(engine, host, error);
	return status == HG_OK ? test_replica_lookups_stretch(engine, host, error) : status;
}

/* Refuse each allocation of the stretch, and then cancel at each of its polls. */
static void
test_failures(HgEngine *engine, const HgHost *base)
{
	const unsigned stride = hg_tap_stride();
	HgError error = {0};
	uint64_t events[2];
	TestHost host;
	bool good;

	if (!hg_tap_turn())
		return;
	test_host_init(&host, base);
	good = test_replica_stretch(engine, &host.host, &error) == HG_OK && host.held_bytes == 0 &&
		   !host.misused;
	events[0] = host.allocations;
	events[1] = host.polls;
	if (!hg_tap_ok(good && events[0] > 0 && events[1] > 0,
				   "%s: graphs are made, joined and released, and leave nothing", engine->name))
		hg_tap_diag("%s %s", error.message, error.detail);

	for (int cancel = 0; cancel < 2; cancel++)
	{
		uint64_t failed = 0;

		for (uint64_t i = 1; i <= events[cancel] && good; i += stride)
		{
			HgStatus status;

			test_host_init(&host, base);
			if (cancel)
				host.cancel_poll = i;
			else
				host.fail_allocation = i;
			error.status = HG_OK;
			status = test_replica_stretch(engine, &host.host, &error);
			failed += status != HG_OK;
			good = status == (cancel ? HG_CANCELLED : HG_OUT_OF_MEMORY) ||
				   (!cancel && status == HG_DEVICE_OUT_OF_MEMORY) ||
				   (status == HG_OK && cancel && host.polls < i);
			good = good && (status == HG_OK || error.status == status) && host.held_bytes == 0 &&
				   !host.misused;
			if (!good)
				hg_tap_diag("event %" PRIu64 ": status %d, %s; %" PRIu64 " bytes held", i,
							(int) status, error.message, host.held_bytes);
		}
		hg_tap_ok(good && failed > 0, "%s: it is %s at each of %" PRIu64 " points", engine->name,
				  cancel ? "cancelled" : "refused memory", events[cancel]);
	}
}

/* ------------------------------------------------------------------------
 * Bad use
 * ------------------------------------------------------------------------ */

/* A status that there should be, and the call that gave another. */
static bool
expect(HgStatus status, HgStatus wanted, const char *what)
{
	if (status == wanted)
		return true;
	hg_tap_diag("%s: status %d, not %d", what, (int) status, (int) wanted);
	return false;
}

static void
test_bad_shapes(HgEngine *engine, const HgHost *host)
{
	static const struct
	{
		HgReplicaShape shape;
		HgStatus status;
	} shapes[] = {
		{{4, 1, 0}, HG_OK},
		{{8, 1, 1 << HG_FLAT_ROW_BITS}, HG_OK},
		{{2, 1, 1}, HG_INVALID},
		{{8, 0, 0}, HG_INVALID},
		{{8, HG_FLAT_PARTS + 1, 1}, HG_INVALID},
		{{8, 1, (1 << HG_FLAT_ROW_BITS) + 1}, HG_TOO_MANY_ROWS},
		{{8, HG_FLAT_PARTS, HG_MAX_ROWS}, HG_TOO_MANY_ROWS},
	};
	bool good = true;

	for (size_t i = 0; i < LENGTH(shapes); i++)
	{
		const HgReplicaSpec new_replica = {.shape = shapes[i].shape};
		const HgJobSpec spec = {
			.key_width = 4, .device = -1, .product = {HG_PRODUCT_GRAPH, .graph = &new_replica}};
		HgError error = {0};
		HgJob *job = NULL;

		good &= expect(engine->open(engine, host, &spec, &job, &error), shapes[i].status, "open");
		if (job != NULL)
			engine->join->close(job);
	}
	hg_tap_ok(good, "%s: a graph of a shape that can't be is refused", engine->name);
}

/* What must not be done to a job that makes a graph. */
static void
test_bad_making(HgEngine *engine, const HgHost *host)
{
	static const int32_t keys[4] = {1, 2, 3, 4};
	static const uint32_t rows[4] = {0, 7, 1000, (1 << HG_FLAT_ROW_BITS) - 1};
	static const uint32_t beyond[1] = {1 << HG_FLAT_ROW_BITS};
	const HgReplicaSpec new_replica = {.shape = {.key_width = 4, .parts = 1, .rows = 4}};
	const HgJobSpec spec = {
		.key_width = 4, .device = -1, .product = {HG_PRODUCT_GRAPH, .graph = &new_replica}};
	HgGraphStats described;
	HgError error = {0};
	HgJob *job = NULL;
	HgReplica *graph = NULL;
	HgReplica *other = NULL;
	uint64_t number;
	bool good;

	good =
		expect(engine->open(engine, host, &spec, &job, &error), HG_OK, "open") &&
		expect(engine->join->append(job, HG_OUTER, keys, 1, &error), HG_INVALID, "append") &&
		expect(engine->join->append_rows(job, HG_INNER, keys, 1, 0, &error), HG_INVALID,
			   "append_rows") &&
		expect(engine->masks->mask(job, HG_OUTER, 0, 0, 1, NULL, &error), HG_INVALID, "mask") &&
		expect(engine->store->put_edges(job, keys, rows, 3, &error), HG_OK, "put_edges") &&
		expect(engine->store->put_edges(job, keys, rows, 2, &error), HG_INVALID,
			   "too many edges") &&
		expect(engine->join->build(job, &error), HG_INVALID, "build of too few edges") &&
		expect(engine->store->take_replica(job, &graph, &number, &error), HG_INVALID,
			   "keep before build") &&
		expect(engine->store->put_edges(job, keys + 3, rows + 3, 1, &error), HG_OK, "put_edges") &&
		expect(engine->join->match(job, HG_MATCH_ALL, &error), HG_INVALID, "match before build") &&
		expect(engine->join->build(job, &error), HG_OK, "build") &&
		expect(engine->join->build(job, &error), HG_INVALID, "build twice") &&
		expect(engine->store->put_edges(job, keys, rows, 1, &error), HG_INVALID,
			   "put_edges after build") &&
		expect(engine->join->match(job, HG_MATCH_ALL, &error), HG_INVALID, "match") &&
		expect(engine->join->count(job, HG_MATCH_ALL, &number, &error), HG_INVALID, "count") &&
		expect(engine->join->describe(job, HG_INNER, &described, &error), HG_INVALID, "describe") &&
		expect(engine->store->take_replica(job, &graph, &number, &error), HG_OK, "keep") &&
		expect(engine->store->take_replica(job, &other, &number, &error), HG_INVALID, "keep twice");
	if (job != NULL)
		engine->join->close(job);
	if (graph != NULL)
		engine->store->release(engine, graph);
	hg_tap_ok(good, "%s: a job that makes a graph is there for nothing else", engine->name);

	job = NULL;
	good = expect(engine->open(engine, host, &spec, &job, &error), HG_OK, "open") &&
		   expect(engine->store->put_edges(job, keys, rows, 3, &error), HG_OK, "put_edges") &&
		   expect(engine->store->put_edges(job, keys + 3, beyond, 1, &error), HG_OK, "put_edges") &&
		   expect(engine->join->build(job, &error), HG_INVALID, "build of a row beyond") &&
		   expect(engine->store->take_replica(job, &graph, &number, &error), HG_INVALID,
				  "keep after that");
	if (job != NULL)
		engine->join->close(job);
	hg_tap_ok(good, "%s: an edge of a row that can't be is refused", engine->name);

	job = NULL;
	good = expect(engine->open(engine, host, &spec, &job, &error), HG_OK, "open") &&
		   expect(engine->store->put_edges(job, keys, rows, 4, &error), HG_OK, "put_edges") &&
		   expect(engine->join->build(job, &error), HG_OK, "build");
	if (job != NULL)
		engine->join->close(job);
	hg_tap_ok(good, "%s: a graph that is not kept goes with its job", engine->name);
}

/* What a job can't ask of graphs, or for. */
static void
test_bad_opens(HgEngine *engine, const HgHost *host, const TestReplicaSide *sides)
{
	const HgReplicaSpec new_replica = {.shape = test_replica_shape(&sides[0])};
	HgReplicaUse use = {.shape = test_replica_shape(&sides[0]), .graph = sides[0].graph};
	HgJobSpec spec = {.key_width = 4,
					  .device = -1,
					  .sides[HG_OUTER] = {.kind = HG_SOURCE_REPLICA, .replica = {.use = &use}}};
	HgError error = {0};
	HgJob *job = NULL;
	bool good = true;

	use.shape.rows++;
	good &= expect(engine->open(engine, host, &spec, &job, &error), HG_NO_REPLICA, "other rows");
	use.shape.rows--;
	use.shape.key_width = 12 - use.shape.key_width;
	good &= expect(engine->open(engine, host, &spec, &job, &error), HG_NO_REPLICA, "other width");
	use.shape = test_replica_shape(&sides[0]);
	use.graph = NULL;
	good &= expect(engine->open(engine, host, &spec, &job, &error), HG_NO_REPLICA, "no graph");
	use.graph = sides[0].graph;
	spec.product = (HgJobProduct){HG_PRODUCT_GRAPH, .graph = &new_replica};
	good &= expect(engine->open(engine, host, &spec, &job, &error), HG_INVALID, "keep and kept");
	spec.product.kind = HG_PRODUCT_MATCHES;
	spec.sides[HG_OUTER].ncolumns = 1;
	spec.sides[HG_OUTER].column_width[0] = 4;
	good &= expect(engine->open(engine, host, &spec, &job, &error), HG_INVALID, "columns");
	spec.sides[HG_OUTER].ncolumns = 0;
	spec.participants_id = 5;
	good &= expect(engine->open(engine, host, &spec, &job, &error), HG_INVALID, "a team");
	hg_tap_ok(good && job == NULL, "%s: a job of graph replicas that can't be is refused",
			  engine->name);
}

/* What must not be done to a job that has a graph replica, masked, for its outer side. */
static void
test_bad_joining(HgEngine *engine, const HgHost *host, const TestReplicaSide *sides)
{
	static const int32_t keys[3] = {1, 2, 3};
	const HgReplicaShape shape = test_replica_shape(&sides[0]);
	const uint64_t words = hg_replica_mask_words(&shape);
	HgReplicaUse use = {.shape = shape, .masked = 1, .graph = sides[0].graph};
	const HgJobSpec spec = {
		.key_width = 4,
		.device = -1,
		.sides[HG_OUTER] = {.kind = HG_SOURCE_REPLICA, .replica = {.use = &use}}};
	uint32_t room[2];
	HgMatches matches = {.outer = room, .inner = room + 1, .capacity = 1};
	HgGraphStats described;
	HgError error = {0};
	HgJob *job = NULL;
	HgReplica *graph;
	uint64_t number;
	bool good;

	good =
		expect(engine->open(engine, host, &spec, &job, &error), HG_OK, "open") &&
		expect(engine->join->append(job, HG_OUTER, keys, 1, &error), HG_INVALID, "append") &&
		expect(engine->join->append_rows(job, HG_OUTER, keys, 1, 0, &error), HG_INVALID,
			   "append_rows") &&
		expect(engine->store->put_edges(job, keys, room, 1, &error), HG_INVALID, "put_edges") &&
		expect(engine->masks->mask(job, HG_INNER, 0, 0, 1, NULL, &error), HG_INVALID,
			   "mask of no graph") &&
		expect(engine->masks->mask(job, HG_OUTER, 0, words, 1, NULL, &error), HG_INVALID,
			   "mask beyond") &&
		expect(engine->masks->mask(job, HG_OUTER, 0, 1, words, NULL, &error), HG_INVALID,
			   "mask beyond") &&
		expect(engine->masks->mask(job, HG_OUTER, 0, UINT64_MAX, 2, NULL, &error), HG_INVALID,
			   "mask that wraps") &&
		expect(engine->masks->mask(job, HG_OUTER, 0, 2, UINT64_MAX, NULL, &error), HG_INVALID,
			   "mask that wraps") &&
		expect(engine->masks->mask(job, HG_OUTER, 0, words, 0, NULL, &error), HG_OK,
			   "mask of nothing") &&
		expect(engine->join->match(job, HG_MATCH_ALL, &error), HG_INVALID, "match before build") &&
		expect(engine->join->count(job, HG_MATCH_ALL, &number, &error), HG_INVALID,
			   "count before build") &&
		expect(engine->join->append_rows(job, HG_INNER, keys, 1, 77, &error), HG_OK,
			   "append_rows") &&
		expect(engine->join->append(job, HG_INNER, keys, 1, &error), HG_INVALID, "append, too") &&
		expect(engine->join->build(job, &error), HG_OK, "build") &&
		expect(engine->join->build(job, &error), HG_INVALID, "build twice") &&
		expect(engine->join->append_rows(job, HG_INNER, keys, 1, 99, &error), HG_INVALID,
			   "append after build") &&
		expect(engine->masks->mask(job, HG_OUTER, 0, 0, 1, NULL, &error), HG_INVALID,
			   "mask after build") &&
		expect(engine->store->take_replica(job, &graph, &number, &error), HG_INVALID, "keep") &&
		expect(engine->join->next(job, &matches, &error), HG_INVALID, "next without match") &&
		expect(engine->join->describe(job, HG_OUTER, &described, &error), HG_INVALID, "describe") &&
		expect(engine->join->describe(job, HG_INNER, &described, &error), HG_INVALID, "describe") &&
		expect(engine->join->export_graph(job, HG_INNER, room, room, room, &error), HG_INVALID,
			   "export") &&
		expect(engine->join->match(job, HG_MATCH_ALL, &error), HG_OK, "match");
	matches.capacity = 0;
	good = good && expect(engine->join->next(job, &matches, &error), HG_INVALID, "no room");
	matches.capacity = 1;
	good = good && expect(engine->join->next(job, &matches, &error), HG_OK, "next");
	if (job != NULL)
		engine->join->close(job);

	/* the same without a mask */
	job = NULL;
	use.masked = 0;
	good = good && expect(engine->open(engine, host, &spec, &job, &error), HG_OK, "open") &&
		   expect(engine->masks->mask(job, HG_OUTER, 0, 0, 1, NULL, &error), HG_INVALID, "mask") &&
		   expect(engine->join->append_rows(job, HG_INNER, keys, 3, HG_MAX_ROWS - 2, &error),
				  HG_TOO_MANY_ROWS, "append_rows");
	if (job != NULL)
		engine->join->close(job);

	/* nothing was appended, and a job is closed before it is built */
	job = NULL;
	good = good && expect(engine->open(engine, host, &spec, &job, &error), HG_OK, "open") &&
		   expect(engine->join->build(job, &error), HG_OK, "build") &&
		   expect(engine->join->count(job, HG_MATCH_ALL, &number, &error), HG_OK, "count") &&
		   number == 0;
	if (job != NULL)
		engine->join->close(job);
	job = NULL;
	use.masked = 1;
	good = good && expect(engine->open(engine, host, &spec, &job, &error), HG_OK, "open");
	if (job != NULL)
		engine->join->close(job);
	hg_tap_ok(good, "%s: a job that has graph replicas refuses what can't be asked of it",
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
	made = create_sides(engine, &host.host, several, sides, LENGTH(several));
	if (made)
	{
		test_bad_opens(engine, &host.host, sides);
		test_bad_joining(engine, &host.host, sides);
	}
	destroy_sides(engine, sides, LENGTH(several));
	hg_tap_ok(made && host.held_bytes == 0 && !host.misused, "%s: none of it leaves anything",
			  engine->name);
}

void
hg_engine_replica_suite(HgEngine *engine, const HgHost *host, uint32_t most_rows)
{
	if (engine->store == NULL || engine->masks == NULL)
	{
		hg_tap_ok(false, "%s: it keeps graphs", engine->name);
		return;
	}
	test_bad_use(engine, host);
	test_ways(engine, host);
	test_sizes(engine, host, most_rows);
	test_skew(engine, host);
	test_random_joins(engine, host);
	test_several_jobs(engine, host);
	test_crowd(engine, host);
	hg_engine_replica_columns_suite(engine, host);
	test_failures(engine, host);
}
