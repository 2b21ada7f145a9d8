/*-------------------------------------------------------------------------
 *
 * test_replica_partitions.c
 *	  Graph replicas in partitions, each on a device of its own, give what whole ones give.
 *
 * The devices are the host's engine of graph replicas, which has partitions by their names here.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../src/engine/hg_partitioning.h"
#include "../../src/engine/hg_sharded.h"
#include "hg_host_replica.h"
#include "hg_tap.h"
#include "test_partitions.h"
#include "test_replica_groups.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Rows that columns of partitions have no more of: their stride is that of a whole part. */
#define COLUMNS 3

/* ------------------------------------------------------------------------
 * Devices
 * ------------------------------------------------------------------------ */

static HgHostReplica holding;
static HgEngine device;
static const TestPartitions *partitionings[2]; /* by HgSide; NULL: the side is whole */
static const TestReplicaSide *wholes[2];	   /* the same of those that are */
static uint32_t missing; /* this shard, from 1, has not what is asked for; 0: all have */
static uint32_t opened;

/* What a name of a partition stands for; NULL where that is not the shard's. */
static const TestReplicaSide *
find_partition(const HgReplicaName *name, HgSide side)
{
	const uint32_t shard = opened - 1;

	if (partitionings[side] == NULL)
		return name->partition == 0 ? wholes[side] : NULL;
	return name->partition == hg_partition_number(partitionings[side]->partitions.count, shard)
			   ? &partitionings[side]->partition[shard]
			   : NULL;
}

/* HgEngine.open of a device, which finds replicas by their names. */
static HgStatus
device_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
			HgError *error)
{
	HgReplicaColumnUse columns[2][HG_MAX_COLUMNS];
	HgReplicaUse uses[2];
	HgJobSpec named = *spec;

	(void) engine;
	opened++;
	if (opened == missing)
		return hg_error_set(error, HG_NO_REPLICA, NULL, "it is not kept");
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const TestReplicaSide *partition =
			find_partition(&spec->sides[side].replica.use->name, (HgSide) side);

		if (partition == NULL)
			return hg_error_set(error, HG_NO_REPLICA, NULL, "another slice was asked for");
		uses[side] = *spec->sides[side].replica.use;
		uses[side].graph = partition->graph;
		named.sides[side].kind = HG_SOURCE_REPLICA;
		named.sides[side].replica.use = &uses[side];
		for (uint32_t i = 0; i < spec->sides[side].ncolumns; i++)
		{
			columns[side][i] = spec->sides[side].replica.columns[i];
			if (find_partition(&columns[side][i].name, (HgSide) side) != partition)
				return hg_error_set(error, HG_NO_REPLICA, NULL, "another column was asked for");
			columns[side][i].column = partition->columns[i].replica;
		}
		named.sides[side].replica.columns = columns[side];
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

static HgSharded sharded;

/* Open a job of both sides, cut or whole. */
static HgStatus
open_job(const HgHost *host, const TestReplicaSide *sides, HgJob **job, HgError *error)
{
	HgJobSpec spec = {.key_width = 8, .device = -1};
	HgReplicaColumnUse columns[2][HG_MAX_COLUMNS] = {0};
	HgReplicaUse uses[2] = {0};

	*job = NULL;
	opened = 0;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec.sides[side].ncolumns = sides[side].spread.ncolumns;
		memcpy(spec.sides[side].column_width, test_replica_widths, sizeof(test_replica_widths));
		for (uint32_t i = 0; i < sides[side].spread.ncolumns; i++)
			columns[side][i].shape = test_replica_column_shape(&sides[side], i);
		uses[side].shape = test_replica_shape(&sides[side]);
		uses[side].masked = sides[side].spread.mask != TEST_MASK_NONE;
		spec.sides[side].kind = HG_SOURCE_REPLICA;
		spec.sides[side].replica.use = &uses[side];
		spec.sides[side].replica.columns = columns[side];
		spec.sides[side].replica.partitions =
			partitionings[side] != NULL ? &partitionings[side]->partitions : NULL;
	}
	return sharded.engine.open(&sharded.engine, host, &spec, job, error);
}

/* Open it, tell which rows count, and build. */
static HgStatus
build_job(const HgHost *host, const TestReplicaSide *sides, HgJob **job, HgError *error)
{
	HgStatus status = open_job(host, sides, job, error);

	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		status = test_replica_append(&sharded.engine, *job, (HgSide) side, 0, &sides[side], error);
	if (status == HG_OK)
		status = sharded.engine.join->build(*job, error);
	return status;
}

/* Are the groups of a job those that there should be? */
static bool
groups_right(HgJob *job, const TestReplicaSide *sides, const TestReplicaPairs *pairs,
			 HgMatchMode mode, uint32_t nkeys, uint64_t *seed)
{
	TestReplicaGroups wanted;
	TestReplicaGroups groups = {0};
	HgReduceSpec spec;
	HgError error;
	uint64_t count;
	bool good;

	test_replica_draw_reduce(&spec, &sides[HG_OUTER], &sides[HG_INNER], mode == HG_MATCH_FIRST,
							 nkeys, seed);
	test_replica_naive_groups(&sides[HG_OUTER], &sides[HG_INNER], pairs, mode, &spec, &wanted);
	good = sharded.engine.columns->reduce(job, mode, &spec, &count, &error) == HG_OK &&
		   count == wanted.count &&
		   test_replica_fetch_groups(&sharded.engine, job, &spec, count, 100, &groups, &error) ==
			   HG_OK &&
		   test_replica_groups_equal(&groups, &wanted, &spec);
	free(groups.words);
	free(wanted.words);
	return good;
}

/* Does a job of both sides count, and make groups, as it should? */
static bool
join_right(const HgHost *host, const TestReplicaSide *sides, uint64_t *seed)
{
	TestReplicaPairs pairs;
	HgError error;
	HgJob *job;
	HgJobStats stats;
	bool good = build_job(host, sides, &job, &error) == HG_OK;

	test_replica_naive(&sides[HG_OUTER], &sides[HG_INNER], &pairs);
	for (int mode = HG_MATCH_ALL; mode <= HG_MATCH_FIRST && good; mode++)
	{
		uint64_t matches;

		good = sharded.engine.join->count(job, (HgMatchMode) mode, &matches, &error) == HG_OK &&
			   matches == test_replica_wanted(&pairs, (HgMatchMode) mode);
		for (uint32_t nkeys = 0; nkeys <= 2 && good; nkeys++)
			good = groups_right(job, sides, &pairs, (HgMatchMode) mode, nkeys, seed);
	}
	if (good)
	{
		sharded.engine.join->stats(job, &stats);
		good = stats.rows[HG_OUTER] == sides[HG_OUTER].spread.count &&
			   stats.rows[HG_INNER] == sides[HG_INNER].spread.count;
		good = good && sharded.engine.join->match(job, HG_MATCH_ALL, &error) == HG_INVALID;
	}
	if (job != NULL)
		sharded.engine.join->close(job);
	free(pairs.pairs);
	return good;
}

/* A join, named, of sides of which those are partitioned that a number says, bit by bit. */
static void
test_join(const TestReplicaSpread *outer, const TestReplicaSpread *inner, uint32_t shards,
		  uint32_t which, uint64_t seed)
{
	const TestReplicaSpread *spreads[2] = {outer, inner};
	TestReplicaSide sides[2];
	TestPartitions made[2];
	TestHost host;
	HgError error;
	bool good = true;

	if (!hg_tap_turn())
		return;
	test_host_init(&host, test_host_plain());
	hg_sharded_init(&sharded, "slices", shards, HG_SHARDED_DEAL_ROWS, find_device, NULL);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		test_replica_side_create(&sides[side], spreads[side], &seed);
		partitionings[side] = NULL;
		wholes[side] = &sides[side];
		if ((which >> side & 1) == 0)
		{
			good &= test_replica_make(&holding.engine, test_host_plain(), &sides[side], &error) ==
					HG_OK;
			continue;
		}
		good &= test_partitions_create(&made[side], &holding.engine, test_host_plain(),
									   &sides[side], shards);
		partitionings[side] = &made[side];
	}
	good = good && join_right(&host.host, sides, &seed);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		if (partitionings[side] != NULL)
			test_partitions_destroy(&made[side], &holding.engine);
		test_replica_release(&holding.engine, &sides[side]);
		test_replica_side_destroy(&sides[side]);
	}
	hg_tap_ok(good && host.held_bytes == 0 && !host.misused,
			  "%u devices, %s: %u rows of %u bytes in %u parts%s x %u of %u in %u%s", shards,
			  which == 3   ? "both sides cut"
			  : which == 1 ? "outer side cut"
						   : "inner side cut",
			  outer->count, outer->width, outer->parts,
			  outer->mask != TEST_MASK_NONE ? ", masked" : "", inner->count, inner->width,
			  inner->parts, inner->mask != TEST_MASK_NONE ? ", masked" : "");
}

static void
test_joins(void)
{
	static const uint32_t counts[] = {0, 1, 700, 5000};
	static const uint32_t devices[] = {2, 3, 8};
	uint64_t seed = 42;

	for (uint32_t d = 0; d < LENGTH(devices); d++)
		for (uint32_t which = 1; which <= 3; which++)
			for (int mask = TEST_MASK_NONE; mask < TEST_MASKS; mask++)
			{
				const uint32_t n = counts[test_replica_random(&seed, LENGTH(counts))];
				const TestReplicaSpread outer = {.mask = (TestReplicaMask) mask,
												 .width = mask % 2 == 0 ? 4 : 8,
												 .parts = 1 + (uint32_t) mask % 3,
												 .count = 5000,
												 .keys = 3000,
												 .hot = 30,
												 .numbers = 9000,
												 .ncolumns = COLUMNS,
												 .values = 20,
												 .nulls = 10};
				TestReplicaSpread inner = outer;

				inner.mask = (TestReplicaMask) ((mask + d) % TEST_MASKS);
				inner.width = d == 1 ? 8 : 4;
				inner.parts = 2;
				inner.count = n;
				inner.hot = n > 100 ? 20 : 0;
				test_join(&outer, &inner, devices[d], which, seed);
			}
}

/* ------------------------------------------------------------------------
 * What can't be
 * ------------------------------------------------------------------------ */

static void
test_refusals(void)
{
	const TestReplicaSpread spread = {
		.width = 8, .parts = 2, .count = 1000, .keys = 500, .numbers = 900};
	uint64_t seed = 7;
	TestReplicaSide sides[2];
	TestPartitions made[2];
	TestHost host;
	HgError error;
	uint64_t key = 1;
	HgJob *job;

	test_host_init(&host, test_host_plain());
	hg_sharded_init(&sharded, "slices", 2, HG_SHARDED_DEAL_ROWS, find_device, NULL);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		test_replica_side_create(&sides[side], &spread, &seed);
		(void) test_partitions_create(&made[side], &holding.engine, test_host_plain(), &sides[side],
									  2);
		partitionings[side] = &made[side];
	}
	missing = 2;
	hg_tap_ok(open_job(&host.host, sides, &job, &error) == HG_NO_REPLICA && host.held_bytes == 0 &&
				  sharded.called == 1,
			  "what one device has not is missed, and which one that is is known");
	missing = 0;
	hg_tap_ok(open_job(&host.host, sides, &job, &error) == HG_OK &&
				  sharded.engine.join->append(job, HG_OUTER, &key, 1, &error) == HG_INVALID &&
				  sharded.engine.masks->mask(job, HG_OUTER, 1, 0, 1, &key, &error) == HG_INVALID &&
				  sharded.engine.masks->mask(job, HG_OUTER, 0, UINT64_C(1) << 40, 1, &key,
											 &error) == HG_INVALID &&
				  sharded.engine.join->build(job, &error) == HG_OK &&
				  sharded.engine.masks->mask(job, HG_OUTER, 0, 0, 1, &key, &error) == HG_INVALID,
			  "keys, and masks that are none, are refused, and the job goes on");
	sharded.engine.join->close(job);
	hg_sharded_init(&sharded, "slices", 3, HG_SHARDED_DEAL_ROWS, find_device, NULL);
	hg_tap_ok(open_job(&host.host, sides, &job, &error) == HG_INVALID && host.held_bytes == 0,
			  "two slices are not for three devices");
	{
		const HgReplicaUse use = {.shape = test_replica_shape(&sides[0])};
		const HgJobSpec spec = {
			.key_width = 8,
			.device = -1,
			.sides = {{.kind = HG_SOURCE_REPLICA,
					   .replica = {.use = &use, .partitions = &made[0].partitions}},
					  {.kind = HG_SOURCE_REPLICA, .replica = {.use = &use}}}};

		hg_tap_ok(holding.engine.open(&holding.engine, &host.host, &spec, &job, &error) ==
					  HG_INVALID,
				  "an engine of one device refuses slices");
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		test_partitions_destroy(&made[side], &holding.engine);
		test_replica_side_destroy(&sides[side]);
	}
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
