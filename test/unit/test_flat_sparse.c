/*-------------------------------------------------------------------------
 *
 * test_flat_sparse.c
 *	  Joins of flat HashGraphs few of whose rows do not count: long runs of vertices without such.
 *
 * Runs of vertices that have rows which do not count, and of those that have none, are joined in
 * loops of their own (hg_cpu_flat_kernels.h).  Sides differ in how far such rows lie apart, from
 * every second row to none at all, and joins stop and go on after few pairs and many.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"
#include "test_flat_side.h"

#include <stdlib.h>

/* Pairs of a join that are formed to be compared. */
#define MOST_PAIRS 3000000

/* Who takes the stretches of a join that is shared. */
static uint32_t
take_next(void *arg)
{
	uint32_t *taken = arg;

	return (*taken)++;
}

/* Have one row in apart not count, of those parts that may have some at all. */
static void
set_sparse(TestFlatSide *side, uint64_t *state, uint64_t apart)
{
	side->mask.nparts = side->nparts;
	for (uint32_t part = 0; part < side->nparts; part++)
	{
		side->states[part] = test_random_below(state, 10) < 4 ? HG_FLAT_SOME : HG_FLAT_ALL;
		for (uint32_t word = 0; word < (TEST_FLAT_PART_ROWS + 63) / 64; word++)
		{
			side->bits[part][word] = ~UINT64_C(0);
			for (int bit = 0; bit < 64; bit++)
				if (test_random_below(state, apart) == 0)
					side->bits[part][word] &= ~(UINT64_C(1) << bit);
		}
	}
}

static bool
make_side(TestFlatSide *side, uint64_t *state)
{
	static const uint32_t most[] = {200, 3000, 20000, 60000};
	static const uint64_t apart[] = {2, 20, 300, 3000, 100000};
	uint32_t count = 1 + (uint32_t) test_random_below(state, most[test_random_below(state, 4)]);
	bool frequent = test_random_below(state, 3) == 0;
	uint32_t hot = test_random_below(state, 4) == 0 ? (uint32_t) test_random_below(state, 120) : 0;

	test_flat_create(side, state, test_random_below(state, 2) == 0 ? 8 : 4, count,
					 frequent ? 40 + count / 8 : 20 + 2 * (uint64_t) count, hot % count, true);
	if (test_random_below(state, 2) == 0)
	{
		side->shape.bins_log2 = (uint32_t) test_random_below(state, 6);
		side->shape.vertices_log2 = (uint32_t) test_random_below(state, 14);
	}
	set_sparse(side, state, apart[test_random_below(state, 5)]);
	side->marks = true;
	return test_flat_make(side);
}

/* Are the pairs and the count of a mode right, whether one side's rows are asked for or both's? */
static bool
mode_right(HgFlatJoin *join, uint32_t *taken, uint64_t *state, const TestPairs *wanted,
		   HgMatchMode mode)
{
	static const size_t capacities[] = {1, 2, 5, 63, 64, 100, 1039, 1040, 1041, 4096};
	uint64_t count = 0;

	for (int with_inner = 0; with_inner < 2; with_inner++)
	{
		TestPairs pairs;
		bool right;

		*taken = 0;
		hg_flat_rewind(join);
		right = test_pairs_read(join, mode, capacities[test_random_below(state, 10)],
								with_inner != 0, &pairs) &&
				test_pairs_right(&pairs, wanted, mode, with_inner != 0);
		free(pairs.pairs);
		if (!right)
			return false;
	}
	*taken = 0;
	return hg_flat_join_count(join, mode, &count, NULL) == HG_OK &&
		   count == (mode == HG_MATCH_ALL ? wanted->count : test_pairs_outer_rows(wanted));
}

/* Is the join of two sides right, by the masks that they use? */
static bool
join_right(TestFlatSide sides[2], uint64_t *state)
{
	HgFlatSide outer = test_flat_side(&sides[HG_OUTER]);
	HgFlatSide inner = test_flat_side(&sides[HG_INNER]);
	uint32_t taken = 0;
	HgFlatWork work = {take_next, &taken};
	bool shared = test_random_below(state, 2) == 0;
	TestPairs wanted;
	HgFlatJoin *join;
	bool right = true;

	test_flat_naive(&sides[HG_OUTER], &sides[HG_INNER], &wanted);
	if (wanted.count <= MOST_PAIRS)
	{
		right = hg_flat_join_open(test_host_plain(), &outer, &inner, shared ? &work : NULL, &join,
								  NULL) == HG_OK;
		if (right)
		{
			right = mode_right(join, &taken, state, &wanted, HG_MATCH_ALL) &&
					mode_right(join, &taken, state, &wanted, HG_MATCH_FIRST);
			hg_flat_close(join);
		}
	}
	free(wanted.pairs);
	return right;
}

/* Sides of a round, joined with the mask of one of them and of both. */
static bool
round_right(uint64_t *state)
{
	TestFlatSide sides[2];
	bool right = make_side(&sides[HG_OUTER], state);

	right = make_side(&sides[HG_INNER], state) && right;
	for (int used = 1; used < 4 && right; used++)
	{
		sides[HG_OUTER].used_mask = (used & 1) != 0 ? &sides[HG_OUTER].mask : NULL;
		sides[HG_INNER].used_mask = (used & 2) != 0 ? &sides[HG_INNER].mask : NULL;
		right = join_right(sides, state);
	}
	test_flat_destroy(&sides[HG_OUTER]);
	test_flat_destroy(&sides[HG_INNER]);
	return right;
}

int
main(void)
{
	const int rounds = hg_tap_suite() == HG_SUITE_TINY ? 4 : 60;

	for (int isa = 0; isa < TEST_FLAT_ISAS; isa++)
	{
		const char *name = test_flat_limit_isa(isa);
		uint64_t state = 3;
		int right = 0;

		if (name == NULL)
			continue;
		while (right < rounds && round_right(&state))
			right++;
		hg_tap_ok(right == rounds, "%s: joins where few rows do not count, %d of %d rounds", name,
				  right, rounds);
	}
	return hg_tap_done();
}
