/*-------------------------------------------------------------------------
 *
 * test_flat.c
 *	  Joins of flat HashGraphs (hg_flat.h), against a join by sorting.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"
#include "test_flat_side.h"
#include "test_finished.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Open the join of two sides: of graphs, or with the keys of one looked up. */
typedef enum Kind
{
	KIND_GRAPHS,
	KIND_OUTER_KEYS,
	KIND_INNER_KEYS,
	KINDS
} Kind;

static HgStatus
join_open(const HgHost *host, TestFlatSide *outer, TestFlatSide *inner, Kind kind,
		  HgFlatJoin **join, HgError *error)
{
	HgFlatSide outer_side = test_flat_side(outer);
	HgFlatSide inner_side = test_flat_side(inner);
	const TestFlatSide *keys = kind == KIND_OUTER_KEYS ? outer : inner;
	HgFlatRows rows = {.keys = keys->keys, .rows = keys->rows, .count = keys->count};

	if (kind == KIND_GRAPHS)
		return hg_flat_join_open(host, &outer_side, &inner_side, NULL, join, error);
	return hg_flat_lookup_open(host, &rows, keys->width,
							   kind == KIND_OUTER_KEYS ? HG_OUTER : HG_INNER,
							   kind == KIND_OUTER_KEYS ? &inner_side : &outer_side, join, error);
}

/* Join in each mode, in some chunks; after a rewind in the middle, and counted. */
static bool
join_checked(TestFlatSide *outer, TestFlatSide *inner, Kind kind, size_t capacity,
			 const TestPairs *wanted)
{
	HgFlatJoin *join = NULL;
	bool good = true;
	TestHost host;

	test_host_init(&host, test_host_plain());
	good = join_open(&host.host, outer, inner, kind, &join, NULL) == HG_OK;
	for (int mode = HG_MATCH_ALL; mode <= HG_MATCH_FIRST && good; mode++)
		for (int with_inner = 0; with_inner < 2 && good; with_inner++)
		{
			uint32_t few[2][3];
			HgMatches matches = {.outer = few[0], .inner = few[1], .capacity = 3};
			uint64_t allocations = host.allocations;
			uint64_t count = 0;
			TestPairs pairs;

			good = test_pairs_read(join, (HgMatchMode) mode, capacity, with_inner, &pairs) &&
				   test_pairs_right(&pairs, wanted, (HgMatchMode) mode, with_inner) && good;
			free(pairs.pairs);
			hg_flat_rewind(join);
			good = good && hg_flat_next(join, (HgMatchMode) mode, &matches, NULL) == HG_OK;
			good =
				good && hg_flat_join_count(join, (HgMatchMode) mode, &count, NULL) == HG_OK &&
				count == (mode == HG_MATCH_ALL ? wanted->count : test_pairs_outer_rows(wanted)) &&
				host.allocations == allocations;
			if (!good)
				hg_tap_diag("kind %d, mode %d, with inner %d: %d pairs", kind, mode, with_inner,
							(int) count);
		}
	hg_flat_close(join);
	return good && host.held_bytes == 0 && !host.misused;
}

/*
 * Everything about two sides whose graphs are made.  Where they are big a small suite takes one
 * combination of masks and kinds in five, which go on from call to call, so that each takes its
 * turn.
 */
static bool
sides_checked(TestFlatSide *outer, TestFlatSide *inner, uint64_t *state)
{
	const bool big = outer->count + inner->count > 100000;
	const unsigned stride = big && hg_tap_suite() <= HG_SUITE_SMALL ? 5 : 1;
	static unsigned combination;
	bool good = true;

	for (int masks = 0; masks < 8 && good; masks++)
		for (int kind = 0; kind < KINDS && good; kind++)
		{
			static const size_t capacities[] = {1, 3, 17, 300, 4096};
			TestPairs wanted;

			if (combination++ % stride != 0)
				continue;
			outer->used_mask = (masks & 1) && kind != KIND_OUTER_KEYS ? &outer->mask : NULL;
			outer->marks = inner->marks = (masks & 4) != 0;
			inner->used_mask = (masks & 2) && kind != KIND_INNER_KEYS ? &inner->mask : NULL;
			test_flat_naive(outer, inner, &wanted);
			good = join_checked(outer, inner, (Kind) kind, capacities[test_random_below(state, 5)],
								&wanted);
			free(wanted.pairs);
		}
	outer->used_mask = inner->used_mask = NULL;
	return good;
}

/* Random sides of either key width, in random shapes. */
static void
test_random(int rounds, const char *isa)
{
	uint64_t state = 17;
	int bad = 0;

	for (int round = 0; round < rounds && bad == 0; round++)
	{
		static const uint32_t most[] = {0, 1, 20, 500, 3000, 20000};
		TestFlatSide sides[2];

		for (int s = 0; s < 2; s++)
		{
			uint32_t limit = most[test_random_below(&state, 6)];
			uint32_t count = (uint32_t) test_random_below(&state, limit + 1);
			uint64_t keys =
				test_random_below(&state, 3) == 0 ? 40 + count / 8 : 20 + 2 * (uint64_t) count;

			test_flat_create(&sides[s], &state, test_random_below(&state, 2) ? 4 : 8, count, keys,
							 count > 0 && test_random_below(&state, 5) == 0 ? count / 16 : 0, true);
			if (test_random_below(&state, 2))
			{
				sides[s].shape.bins_log2 = (uint32_t) test_random_below(&state, 7);
				sides[s].shape.vertices_log2 = (uint32_t) test_random_below(&state, 11);
			}
			if (!test_flat_make(&sides[s]) || !test_flat_graph_right(sides[s].graph, &sides[s]))
				bad++;
		}
		if (bad == 0 && !sides_checked(&sides[0], &sides[1], &state))
			bad++;
		if (bad > 0)
			for (int s = 0; s < 2; s++)
				hg_tap_diag("round %d: %u rows of %u bytes in 2^%u bins of 2^%u vertices", round,
							sides[s].count, sides[s].width, sides[s].shape.bins_log2,
							sides[s].shape.vertices_log2);
		test_flat_destroy(&sides[0]);
		test_flat_destroy(&sides[1]);
	}
	hg_tap_ok(bad == 0, "%s: %d random joins are as joins by sorting are", isa, rounds);
}

/*
 * A key that is frequent on one side, and in the other graph's list: wide offsets, sorted lists.
 * The smaller side is intersected with the other, or its keys are searched there.
 */
static void
test_frequent(const char *isa)
{
	static const uint32_t counts[] = {3000, 1000};

	for (int i = 0; i < 2; i++)
	{
		uint64_t state = 23;
		TestFlatSide sides[2];
		bool good;

		test_flat_create(&sides[0], &state, 4, 120000, 50000, 100000, false);
		test_flat_create(&sides[1], &state, 8, counts[i], 60000, 3, true);
		good = test_flat_make(&sides[0]) && test_flat_make(&sides[1]) &&
			   test_flat_graph_right(sides[0].graph, &sides[0]) &&
			   sides_checked(&sides[0], &sides[1], &state) &&
			   sides_checked(&sides[1], &sides[0], &state);
		hg_tap_ok(good, "%s: a key with 100000 rows is joined with %d rows, from either side", isa,
				  (int) counts[i]);
		test_flat_destroy(&sides[0]);
		test_flat_destroy(&sides[1]);
	}
}

/* Different keys, all of one list, on both sides. */
static void
test_one_list(const char *isa)
{
	uint64_t state = 29;
	TestFlatSide sides[2];
	bool good = true;

	for (int s = 0; s < 2; s++)
	{
		test_flat_create(&sides[s], &state, 8, 20000, 100, 0, false);
		for (uint32_t i = 0; i < sides[s].count; i++)
			test_flat_set_key(&sides[s], i,
							  (int64_t) hg_unmix64(UINT64_C(0x12345678) << 32 | (i / 2 * (s + 1))));
		good = test_flat_make(&sides[s]) && good;
	}
	good = good && sides_checked(&sides[0], &sides[1], &state);
	hg_tap_ok(good, "%s: lists of 20000 rows with 10000 keys are joined", isa);
	test_flat_destroy(&sides[0]);
	test_flat_destroy(&sides[1]);
}

/*
 * Frequent keys of which a mask leaves few rows, or none: the mask is asked about each row some
 * times, not once for each pair of rows.  Polls tell how often, as each follows so much work.
 */
static void
test_few_left(const char *isa)
{
	const uint64_t most = UINT64_C(20000) * 800 / 4096 / 6; /* of each pair: six times as many */

	for (int kind = KIND_GRAPHS; kind <= KIND_OUTER_KEYS; kind++)
		for (int left = 0; left < 2; left++)
		{
			uint64_t state = 31;
			TestFlatSide sides[2];
			HgFlatJoin *join = NULL;
			TestPairs wanted;
			uint64_t pairs = 0;
			TestHost host;
			bool good = true;

			for (int s = 0; s < 2; s++)
			{
				test_flat_create(&sides[s], &state, 4, 20000, 25, 0, false);
				for (uint32_t i = 0; i < sides[s].count; i++)
					test_flat_set_key(&sides[s], i, i * 7 % 25);
				good = test_flat_make(&sides[s]) && good;
			}
			sides[HG_INNER].used_mask = &sides[HG_INNER].mask;
			sides[HG_INNER].mask.nparts = sides[HG_INNER].nparts;
			for (uint32_t part = 0; part < sides[HG_INNER].nparts; part++)
			{
				sides[HG_INNER].states[part] = left && part % 8 == 0 ? HG_FLAT_SOME : HG_FLAT_NONE;
				memset(sides[HG_INNER].bits[part], 0, TEST_FLAT_PART_ROWS / 64 * sizeof(uint64_t));
				sides[HG_INNER].bits[part][0] = 1;
			}
			test_flat_naive(&sides[HG_OUTER], &sides[HG_INNER], &wanted);
			test_host_init(&host, test_host_plain());
			good = good && join_open(&host.host, &sides[HG_OUTER], &sides[HG_INNER], (Kind) kind,
									 &join, NULL) == HG_OK;
			host.polls = 0;
			good = good && hg_flat_join_count(join, HG_MATCH_ALL, &pairs, NULL) == HG_OK &&
				   pairs == wanted.count && (pairs > 0) == (left != 0);
			hg_tap_ok(good && (uint64_t) host.polls < most + pairs / 4096,
					  "%s: %d pairs of frequent keys take %d polls, kind %d", isa, (int) pairs,
					  (int) host.polls, kind);
			free(wanted.pairs);
			hg_flat_close(join);
			test_flat_destroy(&sides[HG_OUTER]);
			test_flat_destroy(&sides[HG_INNER]);
		}
}

/* A kernel reads on behind the keys of a bin, where row numbers stand that may look like keys. */
static void
test_behind_keys(const char *isa)
{
	bool good = true;

	for (uint32_t width = 4; width <= 8; width += 4)
	{
		HgFlatShape shape = {width, 0, 0};
		int32_t narrow[2][5] = {{11, 12, 13, 14, 15}, {21, 22, 23, 24, 25}};
		int64_t wide[2][5] = {{INT64_C(12) << 32 | 11, INT64_C(14) << 32 | 13, 1, 2, 3},
							  {21, 22, 23, 24, 25}};
		static const uint32_t rows[5] = {11, 12, 13, 14, 15};
		HgFlatGraph *graphs[2] = {NULL, NULL};
		HgFlatJoin *join = NULL;
		uint64_t pairs = 1;

		for (int s = 0; s < 2; s++)
		{
			HgFlatRows piece = {.keys = width == 4 ? (void *) narrow[s] : (void *) wide[s],
								.rows = rows,
								.count = 5};

			good = hg_flat_make(test_host_plain(), &shape, &piece, 1, &graphs[s], NULL) == HG_OK &&
				   good;
		}
		good =
			good &&
			hg_flat_join_open(test_host_plain(), &(HgFlatSide){graphs[0], NULL, NULL},
							  &(HgFlatSide){graphs[1], NULL, NULL}, NULL, &join, NULL) == HG_OK &&
			hg_flat_join_count(join, HG_MATCH_ALL, &pairs, NULL) == HG_OK && pairs == 0;
		hg_flat_close(join);
		hg_flat_destroy(test_host_plain(), graphs[0]);
		hg_flat_destroy(test_host_plain(), graphs[1]);
	}
	hg_tap_ok(good, "%s: what stands behind the keys of a bin is no key", isa);
}

/* Rows of all parts that there may be, and masks of fewer. */
static void
test_many_parts(const char *isa)
{
	static const uint32_t nparts[] = {0, 300, 512, 513, HG_FLAT_PARTS};
	uint64_t bits[4] = {UINT64_C(0x123456789abcdef), 0, ~UINT64_C(0), UINT64_C(0xf0f0f0f0f0f0f0f0)};
	static const uint64_t *arrays[HG_FLAT_PARTS];
	static uint8_t states[HG_FLAT_PARTS];
	uint64_t state = 47;
	TestFlatSide side;
	bool good;

	test_flat_create(&side, &state, 4, 30000, 1, 0, false);
	for (uint32_t i = 0; i < side.count; i++)
	{
		test_flat_set_key(&side, i, i);
		side.rows[i] = HG_FLAT_ROW(i % HG_FLAT_PARTS, i / HG_FLAT_PARTS * 40);
	}
	for (uint32_t p = 0; p < HG_FLAT_PARTS; p++)
	{
		states[p] = (uint8_t) test_random_below(&state, 3);
		arrays[p] = &bits[p % 2];
	}
	good = test_flat_make(&side);
	for (size_t n = 0; n < sizeof(nparts) / sizeof(nparts[0]) && good; n++)
		for (int s = 0; s < 2; s++)
		{
			HgFlatMask mask = {nparts[n], states, arrays};
			HgFlatSide sides[2] = {{.graph = side.graph}, {.graph = side.graph}};
			HgFlatJoin *join = NULL;
			uint64_t pairs = 0;
			uint64_t wanted = 0;

			for (uint32_t i = 0; i < side.count; i++)
			{
				uint32_t part = HG_FLAT_PART(side.rows[i]);
				uint32_t number = HG_FLAT_NUMBER(side.rows[i]);

				wanted +=
					part < nparts[n] && (states[part] == HG_FLAT_ALL ||
										 (states[part] == HG_FLAT_SOME &&
										  (arrays[part][number / 64] >> number % 64 & 1) != 0));
			}
			sides[s].mask = &mask;
			good = hg_flat_join_open(test_host_plain(), &sides[0], &sides[1], NULL, &join, NULL) ==
					   HG_OK &&
				   hg_flat_join_count(join, HG_MATCH_ALL, &pairs, NULL) == HG_OK &&
				   pairs == wanted && good;
			hg_flat_close(join);
		}
	hg_tap_ok(good, "%s: rows of %d parts count as masks say", isa, HG_FLAT_PARTS);
	test_flat_destroy(&side);
}

/* Threads that share a join, and what each of them gets. */
typedef struct Shared
{
	const TestFlatSide *sides;
	atomic_uint *next;
	bool good;
	TestPairs pairs;
	uint64_t count;
} Shared;

static uint32_t
take_next(void *arg)
{
	return atomic_fetch_add((atomic_uint *) arg, 1);
}

static bool
shared_open(const Shared *shared, HgFlatJoin **join)
{
	HgFlatSide sides[2] = {{shared->sides[0].graph, shared->sides[0].used_mask, NULL},
						   {shared->sides[1].graph, shared->sides[1].used_mask, NULL}};
	HgFlatWork work = {take_next, shared->next};

	return hg_flat_join_open(test_host_plain(), &sides[0], &sides[1], &work, join, NULL) == HG_OK;
}

static void *
shared_read(void *arg)
{
	Shared *shared = arg;
	HgFlatJoin *join;

	shared->good = shared_open(shared, &join) &&
				   test_pairs_read(join, HG_MATCH_ALL, 777, true, &shared->pairs);
	hg_flat_close(join);
	return NULL;
}

static void *
shared_count(void *arg)
{
	Shared *shared = arg;
	HgFlatJoin *join;

	shared->good = shared_open(shared, &join) &&
				   hg_flat_join_count(join, HG_MATCH_ALL, &shared->count, NULL) == HG_OK;
	hg_flat_close(join);
	return NULL;
}

static void
test_shared(void)
{
	uint64_t state = 31;
	bool good = true;

	for (int round = 0; round < 6 && good; round++)
	{
		TestFlatSide sides[2];
		TestPairs wanted;
		TestPairs all = {0};

		test_flat_create(&sides[0], &state, 4, round == 5 ? 90000 : 20000 >> round * 2, 30000, 500,
						 true);
		test_flat_create(&sides[1], &state, 8, round == 5 ? 300 : 20000, 30000, 20, true);
		sides[0].used_mask = &sides[0].mask;
		good = test_flat_make(&sides[0]) && test_flat_make(&sides[1]);
		test_flat_naive(&sides[0], &sides[1], &wanted);
		for (int counted = 0; counted < 2 && good; counted++)
		{
			atomic_uint next = 0;
			Shared shared[2];
			pthread_t threads[2];
			uint64_t count = 0;

			memset(shared, 0, sizeof(shared));
			for (int t = 0; t < 2; t++)
			{
				shared[t].sides = sides;
				shared[t].next = &next;
				good = pthread_create(&threads[t], NULL, counted ? shared_count : shared_read,
									  &shared[t]) == 0 &&
					   good;
			}
			for (int t = 0; t < 2; t++)
			{
				pthread_join(threads[t], NULL);
				good = good && shared[t].good;
				count += shared[t].count;
				for (size_t i = 0; i < shared[t].pairs.count; i++)
					test_pairs_add(&all, (uint32_t) (shared[t].pairs.pairs[i] >> 32),
								   (uint32_t) shared[t].pairs.pairs[i]);
				free(shared[t].pairs.pairs);
			}
			good = good && (!counted || count == wanted.count);
		}
		good = good && test_pairs_right(&all, &wanted, HG_MATCH_ALL, true);
		free(all.pairs);
		free(wanted.pairs);
		test_flat_destroy(&sides[0]);
		test_flat_destroy(&sides[1]);
	}
	hg_tap_ok(good, "two threads take each part of a join once");
}

static HgStatus
stretch_join(const HgHost *host, TestFlatSide *outer, TestFlatSide *inner, Kind kind,
			 HgError *error)
{
	static uint32_t rows[2][1000];
	HgMatches matches = {.outer = rows[0], .inner = rows[1], .capacity = 1000};
	HgFlatJoin *join = NULL;
	uint64_t pairs;
	HgStatus status = join_open(host, outer, inner, kind, &join, error);

	do
	{
		if (status == HG_OK)
			status = hg_flat_next(join, HG_MATCH_ALL, &matches, error);
	} while (status == HG_OK && matches.count > 0);
	if (status == HG_OK)
		status = hg_flat_join_count(join, HG_MATCH_FIRST, &pairs, error);
	hg_flat_close(join);
	return status;
}

static HgStatus
stretch_intersect(const HgHost *host, TestFlatSide *sides, HgError *error)
{
	return stretch_join(host, &sides[0], &sides[1], KIND_GRAPHS, error);
}

static HgStatus
stretch_look_up(const HgHost *host, TestFlatSide *sides, HgError *error)
{
	return stretch_join(host, &sides[0], &sides[1], KIND_OUTER_KEYS, error);
}

static HgStatus
stretch_inner_keys(const HgHost *host, TestFlatSide *sides, HgError *error)
{
	return stretch_join(host, &sides[0], &sides[1], KIND_INNER_KEYS, error);
}

/* Joins, where memory is refused and the work cancelled. */
static void
test_failures(void)
{
	static const TestFlatStretch stretches[] = {
		{"intersecting", stretch_intersect, 10},
		{"looking up", stretch_look_up, 10},
		{"being looked up", stretch_inner_keys, 10},
	};

	test_flat_failures(stretches, sizeof(stretches) / sizeof(stretches[0]));
}

static HgStatus
finished_begin(void *arg, HgError *error)
{
	(void) error;
	hg_flat_rewind(arg);
	return HG_OK;
}

static HgStatus
finished_next(void *arg, HgMatches *matches, HgError *error)
{
	return hg_flat_next(arg, HG_MATCH_ALL, matches, error);
}

/*
 * A caller that has enough of some rows' matches: a frequent key beside others, in each kind of
 * join, and where the outer graph is searched.
 */
static void
test_finished(void)
{
	static const struct
	{
		uint32_t rows[2];
		uint32_t hot[2];
	} sizes[] = {{{600, 600}, {400, 300}}, {{600, 4000}, {500, 3000}}, {{9000, 100}, {3000, 90}}};
	uint64_t state = 23;

	for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++)
		for (int kind = 0; kind < KINDS; kind++)
			for (int masked = 0; masked < 2; masked++)
			{
				static const size_t capacities[] = {1, 5, 100, 4096};
				const uint64_t least = sizes[size].hot[HG_OUTER];
				const HgHost *host = test_host_plain();
				TestFlatSide sides[2];
				HgFlatJoin *join = NULL;
				TestStream stream = {finished_begin, finished_next, NULL, 0, 0};
				uint64_t first;
				bool good = true;

				for (int side = 0; side < 2; side++)
				{
					test_flat_create(&sides[side], &state, 4, sizes[size].rows[side], 200,
									 sizes[size].hot[side], false);
					good &= test_flat_make(&sides[side]);
				}
				/* the mask leaves some of the frequent rows */
				if (masked && kind != KIND_INNER_KEYS)
					sides[HG_INNER].used_mask = &sides[HG_INNER].mask;
				stream.rows = HG_FLAT_ROW(sizes[size].rows[HG_OUTER] / TEST_FLAT_PART_ROWS + 1, 0);
				good = good &&
					   join_open(host, &sides[0], &sides[1], (Kind) kind, &join, NULL) == HG_OK;
				stream.arg = join;
				for (int i = 0; i < 4 && good; i++)
				{
					stream.capacity = capacities[i];
					good = test_finished_checked(&stream);
				}
				first = good ? test_finished_first(&stream) : 0;
				hg_tap_ok(
					good && (masked || (first >= least && first < least * 64)),
					"flat: %d matches where one of each row is wanted, %u x %u rows, kind %d%s",
					(int) first, sizes[size].rows[0], sizes[size].rows[1], kind,
					masked ? ", masked" : "");
				hg_flat_close(join);
				for (int side = 0; side < 2; side++)
					test_flat_destroy(&sides[side]);
			}
}

int
main(void)
{
	int rounds = hg_tap_suite() == HG_SUITE_WHOLE	? 150
				 : hg_tap_suite() == HG_SUITE_LARGE ? 3000
													: 25;

	for (int i = 0; i < TEST_FLAT_ISAS; i++)
	{
		const char *isa = test_flat_limit_isa(i);

		if (isa == NULL)
			continue;
		test_random(rounds, isa);
		test_frequent(isa);
		test_one_list(isa);
		test_few_left(isa);
		test_behind_keys(isa);
		test_many_parts(isa);
	}
	test_finished();
	test_shared();
	test_failures();
	return hg_tap_done();
}
