/*-------------------------------------------------------------------------
 *
 * test_tally.c
 *	  Rows of joins of flat HashGraphs, tallied: those of the pairs of a join by sorting, in order.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"
#include "test_flat_side.h"

#include <stdlib.h>
#include <string.h>

/* Row numbers of a side of rows that are in parts of TEST_FLAT_PART_ROWS. */
static uint64_t
rows_end(const TestFlatSide *side)
{
	return (uint64_t) side->nparts << HG_FLAT_ROW_BITS;
}

typedef struct Rows
{
	uint32_t *rows;
	size_t count;
	size_t room;
} Rows;

static void
rows_add(Rows *rows, uint32_t row)
{
	if (rows->count == rows->room)
	{
		rows->room = rows->room * 2 + 100;
		rows->rows = realloc(rows->rows, rows->room * sizeof(uint32_t));
	}
	rows->rows[rows->count++] = row;
}

static int
compare_rows(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *) left;
	uint32_t b = *(const uint32_t *) right;

	return (a > b) - (a < b);
}

/* What is wanted of pairs that are sorted by outer row, in order. */
static Rows
rows_wanted(const TestPairs *pairs, HgMatchMode mode, HgSide side)
{
	Rows wanted = {0};

	for (size_t i = 0; i < pairs->count; i++)
	{
		uint32_t outer = (uint32_t) (pairs->pairs[i] >> 32);

		if (mode == HG_MATCH_FIRST && i > 0 && (uint32_t) (pairs->pairs[i - 1] >> 32) == outer)
			continue;
		rows_add(&wanted, side == HG_OUTER ? outer : (uint32_t) pairs->pairs[i]);
	}
	if (wanted.count > 0)
		qsort(wanted.rows, wanted.count, sizeof(uint32_t), compare_rows);
	return wanted;
}

/* Those that are left for the end, of rows in order: without all that was returned ahead. */
static size_t
rows_left(const Rows *wanted)
{
	size_t left = 0;

	for (size_t i = 0; i < wanted->count;)
	{
		size_t next = i;

		while (next < wanted->count && wanted->rows[next] == wanted->rows[i])
			next++;
		left += (next - i) % (HG_FLAT_TALLY_MOST + 1);
		i = next;
	}
	return left;
}

/* Tally the join of two graphs: is it what is wanted, the rest of it in order? */
static bool
tally_checked(TestFlatSide *outer, TestFlatSide *inner, HgMatchMode mode, HgSide side,
			  size_t capacity, const TestPairs *pairs)
{
	HgFlatSide sides[2] = {test_flat_side(outer), test_flat_side(inner)};
	uint64_t end = rows_end(side == HG_OUTER ? outer : inner);
	uint32_t *chunk = malloc(capacity * sizeof(uint32_t));
	HgFlatJoin *join = NULL;
	HgFlatTally *tally = NULL;
	Rows wanted = rows_wanted(pairs, mode, side);
	Rows got = {0};
	bool good;
	size_t count = 1;
	uint64_t held;
	TestHost host;

	test_host_init(&host, test_host_plain());
	good = hg_flat_join_open(&host.host, &sides[0], &sides[1], NULL, &join, NULL) == HG_OK;
	held = host.held_bytes;
	good = good && hg_flat_tally_open(&host.host, join, side, end, &tally, NULL) == HG_OK &&
		   host.held_bytes - held == hg_flat_tally_bytes(end);
	while (good && count > 0)
	{
		good = hg_flat_tally_next(tally, mode, chunk, capacity, &count, NULL) == HG_OK &&
			   count <= capacity;
		for (size_t i = 0; good && i < count; i++)
			rows_add(&got, chunk[i]);
	}
	good = good && got.count == wanted.count;
	for (size_t i = good ? got.count - rows_left(&wanted) + 1 : got.count; i < got.count; i++)
		good = good && got.rows[i - 1] <= got.rows[i];
	if (good && got.count > 0)
	{
		qsort(got.rows, got.count, sizeof(uint32_t), compare_rows);
		good = memcmp(got.rows, wanted.rows, got.count * sizeof(uint32_t)) == 0;
	}
	if (!good)
		hg_tap_diag("mode %d, side %d: %zu rows, %zu wanted", mode, side, got.count, wanted.count);
	hg_flat_tally_close(tally);
	hg_flat_close(join);
	free(got.rows);
	free(wanted.rows);
	free(chunk);
	return good && host.held_bytes == 0 && !host.misused;
}

/* Random sides, masked and not, with rows that are in many pairs and in few. */
static void
test_random(int rounds)
{
	uint64_t state = 5;
	int bad = 0;
	size_t full = 0;

	for (int round = 0; round < rounds && bad == 0; round++)
	{
		static const uint32_t most[] = {0, 1, 30, 500, 3000, 9000};
		static const size_t capacities[] = {HG_FLAT_TALLY_ROOM, 300, 4096};
		TestFlatSide sides[2];

		for (int s = 0; s < 2; s++)
		{
			uint32_t count =
				(uint32_t) test_random_below(&state, most[test_random_below(&state, 6)] + 1);
			uint64_t keys =
				test_random_below(&state, 3) == 0 ? 20 + count / 30 : 20 + 2 * (uint64_t) count;

			test_flat_create(&sides[s], &state, 4, count, keys,
							 test_random_below(&state, 5) == 0 ? count / 32 : 0, false);
			if (!test_flat_make(&sides[s]))
				bad++;
		}
		for (int how = 0; how < 8 && bad == 0; how++)
		{
			HgSide side = how & 4 ? HG_INNER : HG_OUTER;
			size_t capacity = capacities[test_random_below(&state, 3)];
			TestPairs pairs;
			Rows wanted;

			sides[0].used_mask = how & 1 ? &sides[0].mask : NULL;
			sides[1].used_mask = how & 2 ? &sides[1].mask : NULL;
			test_flat_naive(&sides[0], &sides[1], &pairs);
			wanted = rows_wanted(&pairs, HG_MATCH_ALL, side);
			full += wanted.count - rows_left(&wanted);
			free(wanted.rows);
			if (!tally_checked(&sides[0], &sides[1], HG_MATCH_ALL, side, capacity, &pairs) ||
				(side == HG_OUTER &&
				 !tally_checked(&sides[0], &sides[1], HG_MATCH_FIRST, side, capacity, &pairs)))
				bad++;
			free(pairs.pairs);
		}
		sides[0].used_mask = sides[1].used_mask = NULL;
		test_flat_destroy(&sides[0]);
		test_flat_destroy(&sides[1]);
	}
	hg_tap_ok(bad == 0 && full > 1000,
			  "rows of %d random joins, each as often as in pairs, in order", rounds);
}

static HgStatus
tally_all(const HgHost *host, TestFlatSide *sides, HgError *error)
{
	HgFlatSide outer = test_flat_side(&sides[0]);
	HgFlatSide inner = test_flat_side(&sides[1]);
	static uint32_t rows[HG_FLAT_TALLY_ROOM];
	HgFlatJoin *join = NULL;
	HgFlatTally *tally = NULL;
	size_t count = 1;
	HgStatus status = hg_flat_join_open(host, &outer, &inner, NULL, &join, error);

	if (status == HG_OK)
		status = hg_flat_tally_open(host, join, HG_OUTER, rows_end(&sides[0]), &tally, error);
	while (status == HG_OK && count > 0)
		status = hg_flat_tally_next(tally, HG_MATCH_ALL, rows, HG_FLAT_TALLY_ROOM, &count, error);
	hg_flat_tally_close(tally);
	hg_flat_close(join);
	return status;
}

/* Refuse each allocation, and cancel at each poll. */
static void
test_failures(void)
{
	uint64_t state = 43;
	TestFlatSide sides[2];
	bool good = true;
	HgError error;
	TestHost host;
	uint64_t allocations;
	uint64_t polls;

	for (int s = 0; s < 2; s++)
	{
		test_flat_create(&sides[s], &state, 4, 40000, 50000, s == 1 ? 3 : 10000, false);
		good = test_flat_make(&sides[s]) && good;
	}
	test_host_init(&host, test_host_plain());
	good = good && tally_all(&host.host, sides, &error) == HG_OK && host.held_bytes == 0;
	allocations = host.allocations;
	polls = host.polls;
	for (uint64_t n = 1; n <= allocations && good; n++)
	{
		test_host_init(&host, test_host_plain());
		host.fail_allocation = n;
		good = tally_all(&host.host, sides, &error) == HG_OUT_OF_MEMORY && host.held_bytes == 0 &&
			   !host.misused;
	}
	hg_tap_ok(good && allocations == 2, "each of %d allocations may be refused", (int) allocations);
	for (uint64_t n = 1; n <= polls && good; n++)
	{
		test_host_init(&host, test_host_plain());
		host.cancel_poll = n;
		good = tally_all(&host.host, sides, &error) == HG_CANCELLED && host.polls == n &&
			   host.held_bytes == 0;
	}
	/* counts are set to 0, pairs found, and counts walked */
	hg_tap_ok(good && polls > 2 * (rows_end(&sides[0]) >> 21), "each of %d polls may cancel",
			  (int) polls);
	for (int s = 0; s < 2; s++)
		test_flat_destroy(&sides[s]);
}

int
main(void)
{
	test_random(hg_tap_suite() == HG_SUITE_WHOLE   ? 150
				: hg_tap_suite() == HG_SUITE_LARGE ? 2000
												   : 25);
	test_failures();
	return hg_tap_done();
}
