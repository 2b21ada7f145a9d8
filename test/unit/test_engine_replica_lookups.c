/*-------------------------------------------------------------------------
 *
 * test_engine_replica_lookups.c
 *	  The part of the suite of graph replicas that is about what their rows look up.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_engine_replica_lookups.h"

#include "hg_tap.h"
#include "test_replica_groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* A status that there should be, and the call that gave another. */
static bool
expect(HgStatus status, HgStatus wanted, const char *what)
{
	if (status == wanted)
		return true;
	hg_tap_diag("%s: status %d, not %d", what, (int) status, (int) wanted);
	return false;
}

/* ------------------------------------------------------------------------
 * One join
 * ------------------------------------------------------------------------ */

/* A join of two sides, and what it must give. */
typedef struct Joined
{
	HgEngine *engine;
	const TestReplicaSide *outer; /* what they come to */
	const TestReplicaSide *inner;
	TestReplicaPairs wanted;
	HgJob *job;
} Joined;

/* Reduce by what a spec says, and compare.  HG_INVALID where the groups are wrong. */
static HgStatus
reduce_right(Joined *joined, const HgReduceSpec *spec, size_t capacity, HgError *error)
{
	TestReplicaGroups groups = {0};
	TestReplicaGroups wanted;
	uint64_t count = 0;
	HgStatus status =
		joined->engine->columns->reduce(joined->job, HG_MATCH_ALL, spec, &count, error);

	if (status != HG_OK)
		return status;
	/* what has no room is no failure, but there would have been */
	if (count == HG_TOO_MANY_GROUPS)
		return hg_error_set(error, HG_DEVICE_OUT_OF_MEMORY, NULL, "too many groups");
	test_replica_naive_groups(joined->outer, joined->inner, &joined->wanted, HG_MATCH_ALL, spec,
							  &wanted);
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
values_right(Joined *joined, HgMatchMode mode, size_t capacity, HgError *error)
{
	TestReplicaPairs pairs = {0};
	HgStatus status = joined->engine->join->match(joined->job, mode, error);

	if (status == HG_OK)
		status = test_replica_read_values(joined->engine, joined->job, joined->outer, joined->inner,
										  capacity, UINT64_MAX, 0, &pairs, error);
	if (status == HG_OK && !test_replica_right(&pairs, &joined->wanted, mode))
		status = hg_error_set(error, HG_INVALID, NULL, "%zu pairs of %zu, or wrong ones",
							  pairs.count, joined->wanted.count);
	free(pairs.pairs);
	return status;
}

static HgStatus
count_right(Joined *joined, HgMatchMode mode, HgError *error)
{
	uint64_t count = 0;
	HgStatus status = joined->engine->join->count(joined->job, mode, &count, error);

	if (status == HG_OK && count != test_replica_wanted(&joined->wanted, mode))
		status = hg_error_set(error, HG_INVALID, NULL, "a wrong count");
	return status;
}

/* All that there is to ask of a join. */
static HgStatus
join_right(Joined *joined, size_t capacity, uint64_t *state, HgError *error)
{
	HgStatus status = count_right(joined, HG_MATCH_ALL, error);

	if (status == HG_OK)
		status = values_right(joined, HG_MATCH_ALL, capacity, error);
	for (uint32_t nkeys = 0; nkeys <= 3 && status == HG_OK; nkeys++)
	{
		HgReduceSpec spec;

		test_replica_draw_reduce(&spec, joined->outer, joined->inner, false, nkeys, state);
		status = reduce_right(joined, &spec, capacity, error);
	}
	if (status == HG_OK)
		status = count_right(joined, HG_MATCH_FIRST, error);
	if (status == HG_OK)
		status = values_right(joined, HG_MATCH_FIRST, capacity, error);
	return status;
}

HgStatus
test_star_join(HgEngine *engine, const HgHost *host, const TestStar *outer, const TestStar *inner,
			   size_t capacity, uint64_t *state, HgError *error)
{
	Joined joined = {
		.engine = engine, .outer = test_star_flat(outer), .inner = test_star_flat(inner)};
	const bool unique = outer->unique && inner->unique;
	HgStatus status = test_star_build(engine, host, outer, inner, &joined.job, error);

	if (status == HG_OK && !unique)
		status = hg_error_set(error, HG_INVALID, NULL, "a row has found two");
	else if (status == HG_OK)
	{
		test_replica_naive(joined.outer, joined.inner, &joined.wanted);
		status = join_right(&joined, capacity, state, error);
	}
	else if (status == HG_NOT_UNIQUE && unique)
		status = hg_error_set(error, HG_INVALID, NULL, "no row finds two");
	if (joined.job != NULL)
		engine->join->close(joined.job);
	free(joined.wanted.pairs);
	return status;
}

/* A join, named, of sides as two spreads say, which is wanted to end like this. */
static void
test_join(HgEngine *engine, const HgHost *base, const TestStarSpread *outer,
		  const TestStarSpread *inner, HgStatus wanted, size_t capacity, uint64_t seed,
		  const char *what)
{
	TestStar stars[2];
	HgError error = {0};
	TestHost host;
	HgStatus status;

	if (!hg_tap_turn())
		return;
	test_host_init(&host, base);
	test_star_create(&stars[HG_OUTER], outer, &seed);
	test_star_create(&stars[HG_INNER], inner, &seed);
	status = test_star_make(engine, &host.host, &stars[HG_OUTER], &error);
	if (status == HG_OK)
		status = test_star_make(engine, &host.host, &stars[HG_INNER], &error);
	if (status == HG_OK)
		status = test_star_join(engine, &host.host, &stars[HG_OUTER], &stars[HG_INNER], capacity,
								&seed, &error);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		test_star_release(engine, &stars[side]);
		test_star_destroy(&stars[side]);
	}
	if (!hg_tap_ok(status == wanted && host.held_bytes == 0 && !host.misused,
				   "%s: lookups, %s: %u rows, %u lookups, %u columns x %u, %u, %u", engine->name,
				   what, outer->side.count, outer->nlookups, outer->side.ncolumns,
				   inner->side.count, inner->nlookups, inner->side.ncolumns))
		hg_tap_diag("status %d, %s %s", (int) status, error.message, error.detail);
}

/* ------------------------------------------------------------------------
 * Joins
 * ------------------------------------------------------------------------ */

/* A side of so many rows, in so many parts. */
static TestReplicaSpread
side_of(uint32_t rows, uint32_t parts, uint32_t ncolumns)
{
	return (TestReplicaSpread){.width = 8,
							   .parts = parts,
							   .count = rows,
							   .keys = rows / 2 + 1,
							   .hot = rows / 100,
							   .numbers = rows / parts + 100,
							   .ncolumns = ncolumns,
							   .values = 12,
							   .nulls = 20};
}

/* And rows that are looked up, some of which may not count. */
static TestReplicaSpread
found_of(uint32_t rows, uint32_t parts, TestReplicaMask mask)
{
	TestReplicaSpread spread = side_of(rows, parts, 0);

	spread.mask = mask;
	spread.stride = spread.numbers + 17;
	spread.width = rows % 2 ? 4 : 8;
	return spread;
}

static uint32_t
usual_rows(void)
{
	return hg_tap_suite() == HG_SUITE_TINY ? 500 : 5000;
}

/* Stars of some lookups, with masks of all kinds on both, and rows that may find nothing. */
static void
test_stars(HgEngine *engine, const HgHost *host)
{
	const uint32_t rows = usual_rows();
	uint64_t seed = 7000;

	for (uint32_t nlookups = 1; nlookups <= 4; nlookups++)
		for (int mask = 0; mask < TEST_MASKS; mask++)
			for (int unmatched = 0; unmatched < 2; unmatched++)
			{
				TestStarSpread outer = {.side = side_of(rows, 3, 8), .nlookups = nlookups};
				TestStarSpread inner = {.side = side_of(rows / 2, 2, 3)};

				outer.side.mask = (TestReplicaMask) mask;
				inner.side.way = (TestReplicaWay) (mask % TEST_REPLICA_WAYS);
				for (uint32_t l = 0; l < nlookups; l++)
					outer.lookups[l] = (TestLookupSpread){
						.unmatched = unmatched != 0 && l % 2 == 0,
						.found = found_of(rows / (3 * l + 1) + l, 1 + l % 3,
										  (TestReplicaMask) ((mask + l) % TEST_MASK_ZERO)),
						.width = l % 2 ? 8 : 4,
						.nulls = l == 0 ? 0 : 10,
						.misses = 10 * l % 30};
				test_join(engine, host, &outer, &inner, HG_OK, 1500, seed++,
						  unmatched ? "a star, some need nothing" : "a star");
			}
}

/* Rows that were found look up others, and these others; as the outer and as the inner side. */
static void
test_snowflakes(HgEngine *engine, const HgHost *host)
{
	static const uint32_t chains[][5] = {
		{0, 1, 2, 3, 4}, {0, 1, 1, 0, 3}, {0, 0, 2, 2, 1}, {0, 1, 0, 2, 0}};
	const uint32_t rows = usual_rows();
	uint64_t seed = 7200;

	for (size_t c = 0; c < LENGTH(chains); c++)
		for (int unmatched = 0; unmatched < 4; unmatched++)
			for (int turned = 0; turned < 2; turned++)
			{
				TestStarSpread star = {.side = side_of(rows, 2, 8), .nlookups = 5};
				const TestStarSpread plain = {.side = side_of(rows / 3, 1, 2)};

				star.side.mask = unmatched % 2 ? TEST_MASK_SOME : TEST_MASK_NONE;
				for (uint32_t l = 0; l < 5; l++)
					star.lookups[l] = (TestLookupSpread){
						.from = chains[c][l],
						.unmatched = ((uint32_t) unmatched >> l % 2 & 1) != 0,
						.found = found_of(rows / (l + 2), 1 + l % 2,
										  l == 3 ? TEST_MASK_SOME : TEST_MASK_NONE),
						.width = l % 3 ? 8 : 4,
						.nulls = 3,
						.misses = 3};
				test_join(engine, host, turned ? &plain : &star, turned ? &star : &plain, HG_OK,
						  700, seed++, turned ? "a snowflake inside" : "a snowflake");
			}
}

/* Both sides look up, as many as they can, also without any column. */
static void
test_both(HgEngine *engine, const HgHost *host)
{
	const uint32_t rows = usual_rows();
	uint64_t seed = 7400;

	for (uint32_t ncolumns = 0; ncolumns <= HG_MAX_COLUMNS; ncolumns += 4)
	{
		TestStarSpread stars[2] = {
			{.side = side_of(rows, 2, ncolumns), .nlookups = HG_MAX_LOOKUPS},
			{.side = side_of(rows / 2, 3, HG_MAX_COLUMNS - ncolumns), .nlookups = 3}};

		for (int side = HG_OUTER; side <= HG_INNER; side++)
			for (uint32_t l = 0; l < stars[side].nlookups; l++)
				stars[side].lookups[l] = (TestLookupSpread){
					.from = l == 2 ? 1 : 0,
					.unmatched = l == 1,
					.found = found_of(rows / 4 + l, 1, l == 0 ? TEST_MASK_SOME : TEST_MASK_NONE),
					.width = 8,
					.nulls = 2,
					.misses = 2};
		test_join(engine, host, &stars[0], &stars[1], HG_OK, 10000, seed++, "of both sides");
	}
}

/* Sizes of 0 and of 1, strides as small and as large as they can be. */
static void
test_edges(HgEngine *engine, const HgHost *host)
{
	static const struct
	{
		uint32_t side;
		uint32_t found;
		uint32_t numbers; /* of the side; 0: all that there are */
		uint32_t nulls;
	} shapes[] = {{0, 10, 1, 0},	{1, 0, 1, 0},	 {1, 1, 1, 0},
				  {100, 0, 100, 0}, {90, 1, 33, 0},	 {300, 50, 0, 5},
				  {64, 64, 64, 0},	{65, 40, 65, 0}, {500, 9, 500, 100}};
	uint64_t seed = 7500;

	for (size_t i = 0; i < LENGTH(shapes); i++)
		for (int unmatched = 0; unmatched < 2; unmatched++)
		{
			TestStarSpread star = {.side = side_of(shapes[i].side, 1, 4), .nlookups = 2};
			const TestStarSpread plain = {.side = side_of(200, 1, 1)};

			if (shapes[i].side == 90)
				star.side.parts = 3;
			star.side.numbers = shapes[i].numbers;
			star.side.hot = 10;
			star.side.hot = star.side.hot < star.side.count ? star.side.hot : 0;
			for (uint32_t l = 0; l < 2; l++)
			{
				star.lookups[l] =
					(TestLookupSpread){.unmatched = unmatched != 0,
									   .found = found_of(shapes[i].found, 1, TEST_MASK_NONE),
									   .width = 4,
									   .nulls = shapes[i].nulls};
				star.lookups[l].found.numbers =
					shapes[i].numbers == 0 ? 0 : shapes[i].found + 20 * l + 1;
				star.lookups[l].found.stride = 0;
			}
			test_join(engine, host, &star, &plain, HG_OK, 100, seed++, "of few rows");
		}
}

/* Rows with the same key are found, or are not, because they do not count or are not looked for. */
static void
test_doubles(HgEngine *engine, const HgHost *host)
{
	static const char *const names[] = {
		[TEST_DOUBLES_NONE] = "unique keys",
		[TEST_DOUBLES_MASKED] = "doubles that do not count",
		[TEST_DOUBLES_UNSEEN] = "doubles that rows find which do not count",
		[TEST_DOUBLES_SEEN] = "doubles that are found",
	};
	const uint32_t rows = usual_rows();
	uint64_t seed = 7600;

	for (int doubles = TEST_DOUBLES_NONE; doubles <= TEST_DOUBLES_SEEN; doubles++)
		for (uint32_t at = 0; at < 4; at++)
		{
			TestStarSpread star = {.side = side_of(rows, 2, 3), .nlookups = 3};
			const TestStarSpread plain = {.side = side_of(rows / 2, 1, 1)};

			/* the last one is of the rows that the one before has found; or all need nothing */
			star.side.mask = TEST_MASK_SOME;
			for (uint32_t l = 0; l < 3; l++)
			{
				const TestStarDoubles own =
					l == at % 3 ? (TestStarDoubles) doubles : TEST_DOUBLES_NONE;

				star.lookups[l] = (TestLookupSpread){
					.from = l == 2 ? 2 : 0,
					.unmatched = at == 3,
					.found = found_of(rows / 5, 1,
									  own == TEST_DOUBLES_MASKED || l == 1 ? TEST_MASK_SOME
																		   : TEST_MASK_NONE),
					.width = 8,
					.doubles = own};
			}
			test_join(engine, host, &star, &plain,
					  doubles == TEST_DOUBLES_SEEN ? HG_NOT_UNIQUE : HG_OK, 1000, seed++,
					  names[doubles]);
		}
}

/* Drawn joins of all that there is. */
static void
test_random(HgEngine *engine, const HgHost *host)
{
	const int rounds = hg_tap_suite() == HG_SUITE_TINY	  ? 4
					   : hg_tap_suite() == HG_SUITE_SMALL ? 25
														  : 120;
	uint64_t state = 7800;

	for (int round = 0; round < rounds; round++)
	{
		TestStarSpread stars[2];

		memset(stars, 0, sizeof(stars));
		for (int side = HG_OUTER; side <= HG_INNER; side++)
		{
			TestStarSpread *star = &stars[side];

			star->side =
				side_of((uint32_t) test_replica_random(&state, 1 + (UINT64_C(1) << round % 14)),
						1 + (uint32_t) test_replica_random(&state, 3),
						(uint32_t) test_replica_random(&state, HG_MAX_COLUMNS + 1));
			star->side.width = test_replica_random(&state, 2) ? 4 : 8;
			star->side.mask = (TestReplicaMask) test_replica_random(&state, TEST_MASKS);
			star->nlookups = (uint32_t) test_replica_random(&state, side == HG_OUTER ? 6 : 3);
			for (uint32_t l = 0; l < star->nlookups; l++)
			{
				TestLookupSpread *lookup = &star->lookups[l];

				lookup->from = (uint32_t) test_replica_random(&state, l + 1);
				lookup->unmatched = test_replica_random(&state, 3) == 0;
				lookup->found = found_of(
					(uint32_t) test_replica_random(&state, 1 + (UINT64_C(1) << round % 13)),
					1 + (uint32_t) test_replica_random(&state, 3),
					(TestReplicaMask) test_replica_random(&state, TEST_MASK_ZERO));
				lookup->width = test_replica_random(&state, 2) ? 4 : 8;
				lookup->nulls = (uint32_t) test_replica_random(&state, 10);
				lookup->misses = (uint32_t) test_replica_random(&state, 20);
			}
		}
		test_join(engine, host, &stars[HG_OUTER], &stars[HG_INNER], HG_OK,
				  1 + test_replica_random(&state, UINT64_C(1) << test_replica_random(&state, 15)),
				  7800 + (uint64_t) round, "drawn");
	}
}

/* Rows that need more than one piece of whatever is done with them. */
static void
test_many(HgEngine *engine, const HgHost *host, uint32_t most_rows)
{
	TestStarSpread star = {.side = side_of(most_rows, most_rows >> 18 | 1, 4), .nlookups = 2};
	const TestStarSpread plain = {.side = side_of(most_rows / 7, 1 + most_rows / 2000000, 1)};

	star.side.mask = TEST_MASK_SOME;
	for (uint32_t l = 0; l < 2; l++)
		star.lookups[l] = (TestLookupSpread){
			.from = l,
			.found = found_of(most_rows / (10 * l + 2), 1 + most_rows / 500000, TEST_MASK_FEW),
			.width = 4,
			.nulls = 1,
			.misses = 2};
	test_join(engine, host, &star, &plain, HG_OK, 100000, 7900, "many rows");
}

/* ------------------------------------------------------------------------
 * What fails
 * ------------------------------------------------------------------------ */

HgStatus
test_replica_lookups_stretch(HgEngine *engine, const HgHost *host, HgError *error)
{
	static const TestStarSpread spreads[2] = {
		{.side = {.width = 8,
				  .parts = 1,
				  .mask = TEST_MASK_SOME,
				  .count = 600,
				  .keys = 300,
				  .numbers = 700,
				  .ncolumns = 3,
				  .values = 9,
				  .nulls = 9},
		 .nlookups = 2,
		 .lookups = {{.found = {.width = 4,
								.parts = 1,
								.mask = TEST_MASK_SOME,
								.count = 90,
								.keys = 90,
								.numbers = 100},
					  .width = 4,
					  .misses = 5},
					 {.from = 1,
					  .unmatched = true,
					  .found = {.width = 8, .parts = 1, .count = 20, .keys = 20, .numbers = 20},
					  .width = 8,
					  .nulls = 9}}},
		{.side =
			 {.way = TEST_REPLICA_NUMBERED, .width = 4, .count = 300, .keys = 300, .ncolumns = 1}},
	};
	TestStar stars[2];
	HgStatus status = HG_OK;
	uint64_t state = 12;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		test_star_create(&stars[side], &spreads[side], &state);
		if (status == HG_OK)
			status = test_star_make(engine, host, &stars[side], error);
	}
	if (status == HG_OK)
		status =
			test_star_join(engine, host, &stars[HG_OUTER], &stars[HG_INNER], 1000, &state, error);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		test_star_release(engine, &stars[side]);
		test_star_destroy(&stars[side]);
	}
	return status;
}

/* ------------------------------------------------------------------------
 * Bad use
 * ------------------------------------------------------------------------ */

/* A star and its job, which is changed in one way after the other. */
typedef struct Opened
{
	HgEngine *engine;
	const HgHost *host;
	const TestStar *star;
	TestStarUse use;
	HgJobSpec spec;
} Opened;

/* Open it as it is now, and have it as it was again. */
static bool
opens(Opened *opened, HgStatus wanted, const char *what)
{
	HgError error = {0};
	HgJob *job = NULL;
	bool good =
		expect(opened->engine->open(opened->engine, opened->host, &opened->spec, &job, &error),
			   wanted, what);

	if (job != NULL)
		opened->engine->join->close(job);
	memset(&opened->spec, 0, sizeof(opened->spec));
	opened->spec.key_width = 8;
	opened->spec.device = -1;
	test_star_use(opened->star, HG_OUTER, &opened->use, &opened->spec);
	return good;
}

/* What a job's lookups can't be. */
static bool
test_bad_lookups(Opened *opened)
{
	HgReplicaLookup *lookups = opened->use.lookups;
	HgJobSpec *spec = &opened->spec;
	bool good = opens(opened, HG_INVALID, "nothing") && opens(opened, HG_OK, "all as it is");

	spec->sides[HG_OUTER].replica.lookups = NULL;
	good &= opens(opened, HG_INVALID, "lookups that are not there");
	spec->sides[HG_OUTER].replica.nlookups = HG_MAX_LOOKUPS + 1;
	good &= opens(opened, HG_INVALID, "too many lookups");
	spec->sides[HG_OUTER].replica.nlookups = UINT32_MAX;
	good &= opens(opened, HG_INVALID, "far too many lookups");
	lookups[0].from = 1;
	good &= opens(opened, HG_INVALID, "a lookup from itself");
	lookups[1].from = 2;
	good &= opens(opened, HG_INVALID, "the second one from itself");
	lookups[1].from = UINT32_MAX;
	good &= opens(opened, HG_INVALID, "one from none");
	lookups[1].from = 0;
	good &= opens(opened, HG_INVALID, "one with the rows of another one");
	lookups[0].own.masked = 1;
	good &= opens(opened, HG_INVALID, "a masked graph to look up with");
	for (uint32_t l = 0; l < 2; l++)
	{
		lookups[l].stride++;
		good &= opens(opened, HG_INVALID, "another stride");
		lookups[l].stride = 0;
		good &= opens(opened, HG_INVALID, "no stride");
		lookups[l].found_stride = 0;
		good &= opens(opened, HG_INVALID, "no stride of what is found");
		lookups[l].found_stride = (1 << HG_FLAT_ROW_BITS) + 1;
		good &= opens(opened, HG_INVALID, "too large a stride");
		lookups[l].own.shape.parts++;
		good &= opens(opened, HG_INVALID, "other parts");
		lookups[l].own.shape.parts = 0;
		good &= opens(opened, HG_INVALID, "no parts");
		lookups[l].found.shape.parts = HG_FLAT_PARTS + 1;
		good &= opens(opened, HG_INVALID, "too many parts");
		lookups[l].own.shape.key_width = 5;
		good &= opens(opened, HG_INVALID, "keys of no width");
		lookups[l].found.shape.rows = HG_MAX_ROWS;
		good &= opens(opened, HG_TOO_MANY_ROWS, "too many rows");
	}
	lookups[1].found.shape.parts = HG_FLAT_PARTS;
	lookups[1].found_stride = 1 << HG_FLAT_ROW_BITS;
	return opens(opened, HG_TOO_MANY_ROWS, "too many places") && good;
}

/* What lookups and columns can't have. */
static bool
test_bad_graphs(Opened *opened)
{
	HgReplicaColumnUse *columns = opened->use.columns;
	HgReplicaLookup *lookups = opened->use.lookups;
	bool good = true;

	for (uint32_t l = 0; l < 2; l++)
	{
		lookups[l].own.graph = NULL;
		good &= opens(opened, HG_NO_REPLICA, "nothing to look up with");
		lookups[l].found.graph = NULL;
		good &= opens(opened, HG_NO_REPLICA, "nothing to be looked up");
		lookups[l].own.shape.rows++;
		good &= opens(opened, HG_NO_REPLICA, "other rows that look up");
		lookups[l].found.shape.rows++;
		good &= opens(opened, HG_NO_REPLICA, "other rows that are looked up");
		lookups[l].found.graph = columns[0].column;
		good &= opens(opened, HG_NO_REPLICA, "a column to be looked up");
	}
	/* the columns of these are not asked for */
	opened->spec.sides[HG_OUTER].ncolumns = 0;
	lookups[1].found_stride--;
	good &= opens(opened, HG_INVALID, "a row that is found and has no place");
	opened->spec.sides[HG_OUTER].ncolumns = 0;
	lookups[0].found_stride--;
	lookups[1].stride--;
	good &= opens(opened, HG_INVALID, "the same of one that looks up then");
	opened->spec.sides[HG_OUTER].ncolumns = 0;
	lookups[0].stride--;
	good &= opens(opened, HG_INVALID, "a row of the side that has no place");
	for (uint32_t i = 0; i < 3; i++)
	{
		columns[i].lookup = 3;
		good &= opens(opened, HG_INVALID, "a column of no lookup");
		columns[i].lookup = UINT32_MAX;
		good &= opens(opened, HG_INVALID, "a column of none at all");
		columns[i].lookup = (columns[i].lookup + 1) % 3;
		good &= opens(opened, HG_INVALID, "a column of another lookup");
		columns[i].shape.stride++;
		good &= opens(opened, HG_INVALID, "a column of another stride");
		columns[i].shape.parts++;
		good &= opens(opened, HG_INVALID, "a column of other parts");
		columns[i].shape.width = 3;
		good &= opens(opened, HG_INVALID, "a column of no width");
		columns[i].column = NULL;
		good &= opens(opened, HG_NO_REPLICA, "no column");
	}
	return good;
}

/* What can't be asked of a job that looks up. */
static bool
test_bad_masks(Opened *opened)
{
	static const uint64_t values[1] = {0};
	const HgReplicaShape *shape = &opened->use.lookups[0].found.shape;
	const uint64_t words = hg_replica_mask_words(shape);
	HgEngine *engine = opened->engine;
	HgError error = {0};
	HgJob *job = NULL;
	bool good;

	good = expect(engine->open(engine, opened->host, &opened->spec, &job, &error), HG_OK, "open") &&
		   expect(engine->masks->mask(job, HG_OUTER, 0, 0, 1, NULL, &error), HG_INVALID,
				  "the side's") &&
		   expect(engine->masks->mask(job, HG_OUTER, 2, 0, 1, NULL, &error), HG_INVALID,
				  "one of none") &&
		   expect(engine->masks->mask(job, HG_OUTER, 3, 0, 1, NULL, &error), HG_INVALID,
				  "no lookup") &&
		   expect(engine->masks->mask(job, HG_OUTER, UINT32_MAX, 0, 1, NULL, &error), HG_INVALID,
				  "none") &&
		   expect(engine->masks->mask(job, HG_INNER, 1, 0, 1, NULL, &error), HG_INVALID,
				  "another side's") &&
		   expect(engine->masks->mask(job, HG_OUTER, 1, words, 1, NULL, &error), HG_INVALID,
				  "beyond") &&
		   expect(engine->masks->mask(job, HG_OUTER, 1, 1, words, NULL, &error), HG_INVALID,
				  "beyond") &&
		   expect(engine->masks->mask(job, HG_OUTER, 1, UINT64_MAX, 2, NULL, &error), HG_INVALID,
				  "wraps") &&
		   expect(engine->masks->mask(job, HG_OUTER, 1, 2, UINT64_MAX, NULL, &error), HG_INVALID,
				  "wraps") &&
		   expect(engine->masks->mask(job, HG_OUTER, 1, words, 0, NULL, &error), HG_OK,
				  "of nothing") &&
		   expect(engine->masks->mask(job, HG_OUTER, 1, 0, words, NULL, &error), HG_OK, "of all") &&
		   expect(engine->columns->append_column(job, HG_OUTER, 0, values, NULL, 1, 0, &error),
				  HG_INVALID, "append_column") &&
		   expect(engine->columns->append_column(job, HG_OUTER, 2, values, NULL, 1, 0, &error),
				  HG_INVALID, "append_column to what is found") &&
		   expect(engine->join->build(job, &error), HG_OK, "build") &&
		   expect(engine->masks->mask(job, HG_OUTER, 1, 0, 1, NULL, &error), HG_INVALID,
				  "after build");
	if (job != NULL)
		engine->join->close(job);
	return good;
}

static void
test_bad_use(HgEngine *engine, const HgHost *base)
{
	/* parts and strides that are all different */
	static const TestStarSpread spread = {
		.side = {.width = 8, .parts = 2, .count = 300, .keys = 100, .numbers = 200, .ncolumns = 3},
		.nlookups = 2,
		.lookups = {{.found = {.width = 4,
							   .parts = 1,
							   .mask = TEST_MASK_NEVER,
							   .count = 90,
							   .keys = 90,
							   .numbers = 100},
					 .width = 4},
					{.from = 1,
					 .found = {.width = 8, .parts = 3, .count = 20, .keys = 20, .numbers = 30},
					 .width = 8}}};
	Opened opened = {.engine = engine};
	HgError error = {0};
	TestStar star;
	TestHost host;
	uint64_t state = 15;
	bool good;

	if (!hg_tap_turn())
		return;
	test_host_init(&host, base);
	opened.host = &host.host;
	opened.star = &star;
	test_star_create(&star, &spread, &state);
	good = expect(test_star_make(engine, &host.host, &star, &error), HG_OK, error.message);
	hg_tap_ok(good && test_bad_lookups(&opened), "%s: lookups that can't be are refused",
			  engine->name);
	hg_tap_ok(good && test_bad_graphs(&opened),
			  "%s: lookups and columns of what is not there, or is other, are refused",
			  engine->name);
	hg_tap_ok(good && test_bad_masks(&opened), "%s: each lookup has a mask of its own, or none",
			  engine->name);
	test_star_release(engine, &star);
	test_star_destroy(&star);
	hg_tap_ok(host.held_bytes == 0 && !host.misused, "%s: none of it leaves anything of lookups",
			  engine->name);
}

void
hg_engine_replica_lookups_suite(HgEngine *engine, const HgHost *host, uint32_t most_rows)
{
	test_bad_use(engine, host);
	test_stars(engine, host);
	test_snowflakes(engine, host);
	test_both(engine, host);
	test_edges(engine, host);
	test_doubles(engine, host);
	test_random(engine, host);
	test_many(engine, host, most_rows);
}
