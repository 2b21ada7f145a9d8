/*-------------------------------------------------------------------------
 *
 * test_partition_stars.c
 *	  Stars whose sides are in partitions, each on a device of its own, give what they should.
 *
 * The devices are the host's engine of graph replicas, which has what a shard asks for by its names
 * here: partitions of a side, graphs of those that look up, which are co-partitioned, and all else
 * whole.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../src/engine/hg_sharded.h"
#include "hg_host_replica.h"
#include "hg_tap.h"
#include "test_partitions.h"
#include "test_replica_groups.h"
#include "test_replica_star.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The number of the cut of a lookup's graph. */
#define PARTITIONS_OF(lookup) ((uint32_t) (lookup) *3 + 1)

/* ------------------------------------------------------------------------
 * Stars that are partitioned
 * ------------------------------------------------------------------------ */

/* What rows of the partitions of a star's side look up by. */
typedef struct PartitionedStar
{
	TestStar star;
	bool is_partitioned;
	TestPartitions partitioning;
	TestPartitions found[HG_MAX_LOOKUPS]; /* of those that are looked up by the key of the cut */
	TestReplicaSide own[HG_MAX_LOOKUPS][HG_MAX_SHARDS];
	uint64_t rows[HG_MAX_LOOKUPS][HG_MAX_SHARDS];
	HgCopartition copartition[HG_MAX_LOOKUPS];
} PartitionedStar;

static HgHostReplica holding;
static HgSharded sharded;
static PartitionedStar stars[2]; /* by HgSide */

/* How rows are partitioned that look up, those of a side or what it finds; NULL: they are whole. */
static const TestPartitions *
partitions_of(const PartitionedStar *of, uint32_t from)
{
	if (!of->is_partitioned)
		return NULL;
	if (from == 0)
		return &of->partitioning;
	return of->star.lookups[from - 1].spread.by_key ? &of->found[from - 1] : NULL;
}

/* Copy the rows of a graph that a partition of those that look up has. */
static void
fill_own(PartitionedStar *of, uint32_t lookup, uint32_t partition)
{
	const TestPartitions *partitioning = partitions_of(of, of->star.lookups[lookup].spread.from);
	const TestReplicaSide *whole = &of->star.lookups[lookup].own;
	TestReplicaSide *own = &of->own[lookup][partition];
	const uint32_t width = whole->spread.width;

	own->spread = whole->spread;
	own->spread.parts = hg_partition_shape(&partitioning->partitions, partition, width).parts;
	own->spread.count = 0;
	own->keys = test_malloc((size_t) whole->spread.count * width + 1);
	own->rows = test_malloc(whole->spread.count * sizeof(uint32_t) + 1);
	for (uint32_t i = 0; i < whole->spread.count; i++)
	{
		if (!test_partitions_has(partitioning, partition, whole->rows[i]))
			continue;
		memcpy((char *) own->keys + (size_t) own->spread.count * width,
			   (const char *) whole->keys + (size_t) i * width, width);
		own->rows[own->spread.count++] =
			test_partitions_number(partitioning, partition, whole->rows[i]);
	}
	of->rows[lookup][partition] = own->spread.count;
	of->copartition[lookup] =
		(HgCopartition){.partitioning = PARTITIONS_OF(lookup), .rows = of->rows[lookup]};
}

/* Cut what a lookup finds, or the graph by which it is made along, where rows that are partitioned
 * look up.
 */
static bool
copartition_create(PartitionedStar *of, uint32_t lookup, uint32_t shards)
{
	const TestLookupSpread *spread = &of->star.lookups[lookup].spread;
	HgError error;
	bool good = true;

	if (spread->by_key)
	{
		of->copartition[lookup] = (HgCopartition){.found = &of->found[lookup].partitions};
		return test_partitions_create(&of->found[lookup], &holding.engine, test_host_plain(),
									  &of->star.lookups[lookup].found, shards);
	}
	for (uint32_t i = 0; i < shards && partitions_of(of, spread->from) != NULL && good; i++)
	{
		fill_own(of, lookup, i);
		good = test_replica_make(&holding.engine, test_host_plain(), &of->own[lookup][i], &error) ==
			   HG_OK;
	}
	return good;
}

/* Make a star, and all of its replicas. */
static bool
star_create(PartitionedStar *of, const TestStarSpread *spread, bool is_partitioned, uint32_t shards,
			uint64_t *seed)
{
	HgError error;
	bool good;

	memset(of, 0, sizeof(*of));
	of->is_partitioned = is_partitioned;
	test_star_create(&of->star, spread, seed);
	good = test_star_make(&holding.engine, test_host_plain(), &of->star, &error) == HG_OK;
	if (!is_partitioned)
		return good;
	good &= test_partitions_create(&of->partitioning, &holding.engine, test_host_plain(),
								   &of->star.side, shards);
	for (uint32_t l = 0; l < of->star.nlookups && good; l++)
		good = copartition_create(of, l, shards);
	return good;
}

static void
star_destroy(PartitionedStar *of)
{
	test_star_release(&holding.engine, &of->star);
	for (uint32_t i = 0; of->is_partitioned && i < of->partitioning.partitions.count; i++)
		for (uint32_t l = 0; l < of->star.nlookups; l++)
		{
			test_replica_release(&holding.engine, &of->own[l][i]);
			free(of->own[l][i].keys);
			free(of->own[l][i].rows);
		}
	for (uint32_t l = 0; of->is_partitioned && l < of->star.nlookups; l++)
		if (of->star.lookups[l].spread.by_key)
			test_partitions_destroy(&of->found[l], &holding.engine);
	if (of->is_partitioned)
		test_partitions_destroy(&of->partitioning, &holding.engine);
	test_star_destroy(&of->star);
}

/* ------------------------------------------------------------------------
 * Devices
 * ------------------------------------------------------------------------ */

static HgEngine device;
static uint32_t opened; /* shards so far */

/* What a shard has in place of the names of a lookup; false where it has not what these say. */
static bool
find_lookup(const PartitionedStar *of, uint32_t number, HgReplicaLookup *lookup)
{
	const uint32_t shard = opened - 1;
	const TestPartitions *partitioning = partitions_of(of, lookup->from);

	if (partitioning == NULL)
		return lookup->own.name.partition == 0 && lookup->found.name.partition == 0;
	if (of->star.lookups[number].spread.by_key)
	{
		lookup->own.graph = partitioning->partition[shard].graph;
		lookup->found.graph = of->found[number].partition[shard].graph;
		return lookup->own.name.partition == hg_partition_number(sharded.shards, shard) &&
			   lookup->found.name.partition == hg_partition_number(sharded.shards, shard);
	}
	lookup->own.graph = of->own[number][shard].graph;
	return lookup->own.name.partition ==
			   hg_copartition_number(PARTITIONS_OF(number), sharded.shards, shard) &&
		   lookup->found.name.partition == 0;
}

/* The same of a side. */
static bool
find_side(const HgJobSpec *spec, HgSide side, TestStarUse *use)
{
	const PartitionedStar *of = &stars[side];
	const uint32_t shard = opened - 1;
	const uint32_t number = of->is_partitioned ? hg_partition_number(sharded.shards, shard) : 0;
	bool good;

	use->side = *spec->sides[side].replica.use;
	good = use->side.name.partition == number;
	if (of->is_partitioned)
		use->side.graph = of->partitioning.partition[shard].graph;
	for (uint32_t i = 0; i < spec->sides[side].ncolumns; i++)
	{
		HgReplicaColumnUse *column = &use->columns[i];
		const TestPartitions *partitioning =
			partitions_of(of, spec->sides[side].replica.columns[i].lookup);

		*column = spec->sides[side].replica.columns[i];
		good &= column->name.partition == (partitioning != NULL ? number : 0);
		if (partitioning != NULL)
			column->column = partitioning->partition[shard].columns[i].replica;
	}
	for (uint32_t l = 0; l < spec->sides[side].replica.nlookups; l++)
	{
		use->lookups[l] = spec->sides[side].replica.lookups[l];
		good &= find_lookup(of, l, &use->lookups[l]);
	}
	return good;
}

/* HgEngine.open of a device, which finds replicas by their names. */
static HgStatus
device_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
			HgError *error)
{
	TestStarUse uses[2];
	HgJobSpec named = *spec;

	(void) engine;
	opened++;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		if (!find_side(spec, (HgSide) side, &uses[side]))
			return hg_error_set(error, HG_NO_REPLICA, NULL, "something else was asked for");
		named.sides[side].kind = HG_SOURCE_REPLICA;
		named.sides[side].replica.use = &uses[side].side;
		named.sides[side].replica.columns = uses[side].columns;
		named.sides[side].replica.lookups = uses[side].lookups;
	}
	return holding.engine.open(&holding.engine, host, &named, job, error);
}

static HgEngine *
find_device(void *arg, uint32_t shard)
{
	(void) arg;
	(void) shard;
	return &device;
}

/* ------------------------------------------------------------------------
 * Joins
 * ------------------------------------------------------------------------ */

/* Open a job of both stars. */
static HgStatus
open_job(const HgHost *host, HgJob **job, HgError *error)
{
	HgJobSpec spec = {.key_width = 8, .device = -1};
	TestStarUse uses[2];
	HgStatus status;

	*job = NULL;
	opened = 0;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		test_star_use(&stars[side].star, (HgSide) side, &uses[side], &spec);
		if (!stars[side].is_partitioned)
			continue;
		spec.sides[side].replica.partitions = &stars[side].partitioning.partitions;
		spec.sides[side].replica.copartition = stars[side].copartition;
	}
	status = sharded.engine.open(&sharded.engine, host, &spec, job, error);
	/* nothing of it is looked at any more */
	memset(uses, 0x5a, sizeof(uses));
	return status;
}

/* Open it, tell which rows count, and build. */
static HgStatus
build_job(const HgHost *host, HgJob **job, HgError *error)
{
	HgStatus status = open_job(host, job, error);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const TestStar *star = &stars[side].star;

		if (status == HG_OK)
			status =
				test_replica_append(&sharded.engine, *job, (HgSide) side, 0, &star->side, error);
		for (uint32_t l = 0; l < star->nlookups && status == HG_OK; l++)
			status = test_replica_append(&sharded.engine, *job, (HgSide) side, l + 1,
										 &star->lookups[l].found, error);
	}
	return status == HG_OK ? sharded.engine.join->build(*job, error) : status;
}

/* Are the groups of a job those that there should be? */
static bool
groups_right(HgJob *job, const TestReplicaPairs *pairs, HgMatchMode mode, uint32_t nkeys,
			 uint64_t *seed)
{
	const TestReplicaSide *outer = test_star_flat(&stars[HG_OUTER].star);
	const TestReplicaSide *inner = test_star_flat(&stars[HG_INNER].star);
	TestReplicaGroups wanted;
	TestReplicaGroups groups = {0};
	HgReduceSpec spec;
	HgError error;
	uint64_t count;
	bool good;

	test_replica_draw_reduce(&spec, outer, inner, mode == HG_MATCH_FIRST, nkeys, seed);
	test_replica_naive_groups(outer, inner, pairs, mode, &spec, &wanted);
	good = sharded.engine.columns->reduce(job, mode, &spec, &count, &error) == HG_OK &&
		   count == wanted.count &&
		   test_replica_fetch_groups(&sharded.engine, job, &spec, count, 100, &groups, &error) ==
			   HG_OK &&
		   test_replica_groups_equal(&groups, &wanted, &spec);
	free(groups.words);
	free(wanted.words);
	return good;
}

/* Does a job that is built count, and make groups, as it should? */
static bool
answers_right(HgJob *job, uint64_t *seed)
{
	TestReplicaPairs pairs;
	HgError error;
	bool good = true;

	test_replica_naive(test_star_flat(&stars[HG_OUTER].star), test_star_flat(&stars[HG_INNER].star),
					   &pairs);
	for (int mode = HG_MATCH_ALL; mode <= HG_MATCH_FIRST && good; mode++)
	{
		uint64_t matches;

		good = sharded.engine.join->count(job, (HgMatchMode) mode, &matches, &error) == HG_OK &&
			   matches == test_replica_wanted(&pairs, (HgMatchMode) mode);
		for (uint32_t nkeys = 0; nkeys <= 2 && good; nkeys++)
			good = groups_right(job, &pairs, (HgMatchMode) mode, nkeys, seed);
	}
	free(pairs.pairs);
	return good;
}

/* A join, named, of stars of which those are partitioned that a number says, bit by bit. */
static void
test_join(const TestStarSpread *outer, const TestStarSpread *inner, uint32_t shards, uint32_t which,
		  uint64_t seed, const char *what)
{
	const TestStarSpread *spreads[2] = {outer, inner};
	bool unique;
	TestHost host;
	HgError error = {0};
	HgStatus status;
	HgJob *job;
	bool good = true;

	if (!hg_tap_turn())
		return;
	test_host_init(&host, test_host_plain());
	hg_sharded_init(&sharded, "slices", shards, HG_SHARDED_DEAL_ROWS, find_device, NULL);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		good &= star_create(&stars[side], spreads[side], (which >> side & 1) != 0, shards, &seed);
	unique = stars[HG_OUTER].star.unique && stars[HG_INNER].star.unique;
	status = build_job(&host.host, &job, &error);
	good = good && status == (unique ? HG_OK : HG_NOT_UNIQUE);
	if (good && unique)
		good = answers_right(job, &seed);
	if (job != NULL)
		sharded.engine.join->close(job);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		star_destroy(&stars[side]);
	if (!hg_tap_ok(good && host.held_bytes == 0 && !host.misused,
				   "%u devices, %s: %s: %u rows, %u lookups x %u, %u", shards,
				   which == 3	? "both sides cut"
				   : which == 1 ? "outer side cut"
								: "inner side cut",
				   what, outer->side.count, outer->nlookups, inner->side.count, inner->nlookups))
		hg_tap_diag("status %d, %s", (int) status, error.message);
}

/* A side of so many rows, and rows that are looked up. */
static TestReplicaSpread
side_of(uint32_t rows, uint32_t parts, TestReplicaMask mask)
{
	return (TestReplicaSpread){.mask = mask,
							   .width = rows % 3 == 0 ? 4 : 8,
							   .parts = parts,
							   .count = rows,
							   .keys = rows / 2 + 1,
							   .hot = rows / 100,
							   .numbers = rows / parts + 100,
							   .ncolumns = 4,
							   .values = 12,
							   .nulls = 20};
}

/* Are rows of a new lookup looked up by the key of the cut?  Some are. */
static bool
is_by_key(const TestStarSpread *star, uint32_t number, TestStarDoubles doubles, uint64_t *seed)
{
	const uint32_t from = star->lookups[number].from;

	return doubles == TEST_DOUBLES_NONE && (from == 0 || star->lookups[from - 1].by_key) &&
		   test_replica_random(seed, 3) == 0;
}

/* Lookups of the side's rows, and of what these have found, with masks on them. */
static void
draw_lookups(TestStarSpread *star, uint32_t nlookups, TestStarDoubles doubles, uint64_t *seed)
{
	star->nlookups = nlookups;
	for (uint32_t l = 0; l < nlookups; l++)
	{
		star->lookups[l] =
			(TestLookupSpread){.from = l > 0 && test_replica_random(seed, 3) == 0
										   ? 1 + (uint32_t) test_replica_random(seed, l)
										   : 0,
							   .unmatched = test_replica_random(seed, 2) != 0,
							   .found = side_of(500 + 100 * l, 1 + l % 3,
												doubles == TEST_DOUBLES_MASKED
													? TEST_MASK_SOME
													: (TestReplicaMask) (l % TEST_MASK_ZERO)),
							   .width = l % 2 == 0 ? 4 : 8,
							   .nulls = 10 * (l % 3),
							   .misses = 5 * (l % 2),
							   .doubles = l == 0 ? doubles : TEST_DOUBLES_NONE};
		star->lookups[l].by_key = is_by_key(star, l, doubles, seed);
	}
}

static void
test_joins(void)
{
	static const uint32_t counts[] = {0, 1, 700, 5000};
	static const uint32_t devices[] = {2, 3, 8};
	uint64_t seed = 4242;

	for (uint32_t d = 0; d < LENGTH(devices); d++)
		for (uint32_t which = 1; which <= 3; which++)
			for (int mask = TEST_MASK_NONE; mask < TEST_MASKS; mask++)
			{
				TestStarSpread outer = {.side =
											side_of(4000 + (uint32_t) mask, 1 + (uint32_t) mask % 3,
													(TestReplicaMask) mask)};
				TestStarSpread inner = {
					.side = side_of(counts[test_replica_random(&seed, LENGTH(counts))], 2,
									(TestReplicaMask) ((mask + d) % TEST_MASKS))};

				draw_lookups(&outer, 1 + (uint32_t) mask, TEST_DOUBLES_NONE, &seed);
				draw_lookups(&inner, (uint32_t) mask % 3, TEST_DOUBLES_NONE, &seed);
				test_join(&outer, &inner, devices[d], which, seed, "a star");
			}
	for (int doubles = TEST_DOUBLES_MASKED; doubles <= TEST_DOUBLES_SEEN; doubles++)
	{
		static const char *const names[] = {
			[TEST_DOUBLES_MASKED] = "doubles that do not count",
			[TEST_DOUBLES_UNSEEN] = "doubles that rows find which do not count",
			[TEST_DOUBLES_SEEN] = "doubles that are found",
		};
		TestStarSpread outer = {.side = side_of(4000, 2, TEST_MASK_SOME)};
		const TestStarSpread inner = {.side = side_of(2000, 1, TEST_MASK_NONE)};

		draw_lookups(&outer, 2, (TestStarDoubles) doubles, &seed);
		test_join(&outer, &inner, 3, 1, seed, names[doubles]);
	}
}

/* ------------------------------------------------------------------------
 * What can't be
 * ------------------------------------------------------------------------ */

static void
test_refusals(void)
{
	TestStarSpread outer = {.side = side_of(1000, 2, TEST_MASK_NONE)};
	const TestStarSpread inner = {.side = side_of(500, 1, TEST_MASK_NONE)};
	uint64_t seed = 7;
	TestHost host;
	HgError error;
	uint64_t word = 1;
	HgJob *job;
	PartitionedStar *partitioning = &stars[HG_OUTER];

	test_host_init(&host, test_host_plain());
	hg_sharded_init(&sharded, "slices", 2, HG_SHARDED_DEAL_ROWS, find_device, NULL);
	draw_lookups(&outer, 1, TEST_DOUBLES_MASKED, &seed);
	(void) star_create(partitioning, &outer, true, 2, &seed);
	(void) star_create(&stars[HG_INNER], &inner, false, 2, &seed);
	hg_tap_ok(open_job(&host.host, &job, &error) == HG_OK &&
				  sharded.engine.masks->mask(job, HG_OUTER, 2, 0, 1, &word, &error) == HG_INVALID &&
				  sharded.engine.masks->mask(job, HG_INNER, 1, 0, 1, &word, &error) == HG_INVALID,
			  "masks of what is not looked up are refused");
	sharded.engine.join->close(job);
	partitioning->copartition[0].partitioning = HG_MAX_COPARTITIONS;
	hg_tap_ok(open_job(&host.host, &job, &error) == HG_INVALID && host.held_bytes == 0,
			  "a cut has a number that names have room for");
	partitioning->copartition[0] = (HgCopartition){.partitioning = 1};
	hg_tap_ok(open_job(&host.host, &job, &error) == HG_INVALID && host.held_bytes == 0,
			  "... and its rows are told");
	partitioning->copartition[0].rows = partitioning->rows[0];
	partitioning->rows[0][1] = hg_partition_rows(&partitioning->partitioning.partitions, 1) + 1;
	hg_tap_ok(open_job(&host.host, &job, &error) == HG_INVALID && host.held_bytes == 0,
			  "... which are no more than those of the slice");
	partitioning->copartition[0] = (HgCopartition){0};
	hg_tap_ok(open_job(&host.host, &job, &error) == HG_NO_REPLICA && host.held_bytes == 0,
			  "by the graph that is cut itself its rows would look up by its slices");
	partitioning->copartition[0].found = &partitioning->partitioning.partitions;
	hg_tap_ok(open_job(&host.host, &job, &error) == HG_INVALID && host.held_bytes == 0,
			  "what they find is not cut as another graph is");
	partitioning->copartition[0].partitioning = 1;
	partitioning->copartition[0].rows = partitioning->rows[0];
	partitioning->rows[0][1]--;
	hg_tap_ok(open_job(&host.host, &job, &error) == HG_INVALID && host.held_bytes == 0,
			  "... nor cut, where it is found by another key");
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		star_destroy(&stars[side]);
}

int
main(void)
{
	hg_host_replica_init(&holding, test_host_plain());
	device = holding.engine;
	device.open = device_open;
	test_joins();
	test_refusals();
	return hg_tap_done();
}
