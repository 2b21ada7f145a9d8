/*-------------------------------------------------------------------------
 *
 * test_host_replica.c
 *	  Graph replicas on the host (hg_host_replica.h): the suite of all engines, and what it says
 *	  beyond.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_replica.h"

#include "hg_tap.h"
#include "test_engine_computed.h"
#include "test_engine_filters.h"
#include "test_engine_replica.h"
#include "test_engine_replica_lookups.h"

#include <inttypes.h>

/*
 * An owner that refuses memory is found out, whatever replica was to be made, and has all of it
 * back.
 */
static void
test_owner(void)
{
	TestHost owner;
	HgHostReplica replica;
	HgError error = {0};
	uint64_t allocations;
	bool good;

	test_host_init(&owner, test_host_plain());
	hg_host_replica_init(&replica, &owner.host);
	good = test_replica_stretch(&replica.engine, test_host_plain(), &error) == HG_OK &&
		   owner.held_bytes == 0 && !owner.misused;
	allocations = owner.allocations;
	for (uint64_t i = 1; i <= allocations && good; i++)
	{
		test_host_init(&owner, test_host_plain());
		owner.fail_allocation = i;
		good =
			test_replica_stretch(&replica.engine, test_host_plain(), &error) == HG_OUT_OF_MEMORY &&
			owner.held_bytes == 0 && !owner.misused;
	}
	hg_tap_ok(good && allocations > 0, "a keeper that refuses memory, at %" PRIu64 " points",
			  allocations);
}

/* The bytes of replicas are told exactly, and jobs take no more than was reckoned. */
static void
test_bytes(void)
{
	static const TestReplicaSpread spreads[] = {
		{.width = 8, .parts = 2, .mask = TEST_MASK_SOME, .count = 20000, .keys = 5000},
		{.width = 4, .parts = 1, .count = 0, .keys = 1},
		{.way = TEST_REPLICA_APPENDED, .width = 4, .count = 30000, .keys = 5000},
	};
	const HgReplicaUse use = {.shape = {.key_width = 8, .parts = 2, .rows = 20000}, .masked = 1};
	const HgJobSpec joining = {
		.key_width = 4,
		.sides = {{.kind = HG_SOURCE_REPLICA, .replica = {.use = &use}}, {.expected_rows = 30000}}};
	TestReplicaSide sides[3];
	TestHost owner;
	TestHost host;
	HgHostReplica replica;
	HgError error = {0};
	HgJob *job = NULL;
	uint64_t state = 9;
	bool good = true;

	test_host_init(&owner, test_host_plain());
	test_host_init(&host, test_host_plain());
	hg_host_replica_init(&replica, &owner.host);
	for (int i = 0; i < 3; i++)
		test_replica_side_create(&sides[i], &spreads[i], &state);
	for (int i = 0; i < 2; i++)
	{
		const HgReplicaSpec new_replica = {.shape = test_replica_shape(&sides[i])};
		const HgJobSpec making = {.key_width = 8,
								  .product = {HG_PRODUCT_GRAPH, .graph = &new_replica}};
		const uint64_t before = owner.held_bytes;

		owner.peak_bytes = host.peak_bytes = 0;
		good = good && test_replica_make(&replica.engine, &host.host, &sides[i], &error) == HG_OK &&
			   owner.held_bytes - before == sides[i].bytes && host.held_bytes == 0 &&
			   owner.peak_bytes - before + host.peak_bytes <= hg_host_replica_bytes(&making);
	}
	hg_tap_ok(good, "what is kept is told to the byte");

	host.peak_bytes = 0;
	good = good && test_replica_build(&replica.engine, &host.host, &sides[0], &sides[2], &job,
									  &error) == HG_OK;
	hg_tap_ok(good && host.peak_bytes <= hg_host_replica_bytes(&joining) + 100000,
			  "a join takes what was reckoned: %" PRIu64 " bytes of %" PRIu64, host.peak_bytes,
			  hg_host_replica_bytes(&joining));
	if (job != NULL)
		replica.engine.join->close(job);
	for (int i = 0; i < 3; i++)
	{
		test_replica_release(&replica.engine, &sides[i]);
		test_replica_side_destroy(&sides[i]);
	}
	hg_tap_ok(host.held_bytes == 0 && owner.held_bytes == 0, "and gives it back");
}

/* Have filters of a star's rows, and of those that a lookup looks up, which have no masks. */
static void
add_filters(TestStar *star)
{
	star->filters = (HgRowFilters){
		.nfilters = 2,
		.ncolumns = 2,
		.filters = {{.lookup = 0, .nsteps = 1}, {.lookup = 2, .nsteps = 1}},
		.columns = {{.lookup = 0}, {.lookup = 2}},
		.steps = {{.kind = HG_FILTER_NOT_NULL}, {.kind = HG_FILTER_NOT_NULL, .column = 1}}};
}

/*
 * And with lookups, of rows of the side, and of those that they have found; or computed columns, or
 * filters.
 */
static void
test_lookup_bytes(bool computed, bool filtered)
{
	const TestStarSpread spreads[2] = {
		{.side = {.width = 8,
				  .parts = 2,
				  .count = 30000,
				  .keys = 5000,
				  .numbers = 20000,
				  .ncolumns = computed || filtered ? 5 : 0},
		 .nlookups = 2,
		 .lookups = {{.found = {.width = 8,
								.parts = 1,
								.mask = TEST_MASK_SOME,
								.count = 20000,
								.keys = 20000,
								.numbers = 30000},
					  .width = 4},
					 {.from = 1,
					  .found = {.width = 4, .parts = 3, .count = 900, .keys = 900, .numbers = 1000},
					  .width = 8}}},
		{.side = {.width = 8, .parts = 1, .count = 100, .keys = 5000, .numbers = 100}},
	};
	HgJobSpec spec = {.key_width = 8, .device = -1};
	TestStarUse uses[2];
	TestStar stars[2];
	TestHost owner;
	TestHost host;
	HgHostReplica replica;
	HgError error = {0};
	HgJob *job = NULL;
	uint64_t state = 10;
	bool good = true;

	test_host_init(&owner, test_host_plain());
	test_host_init(&host, test_host_plain());
	hg_host_replica_init(&replica, &owner.host);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		test_star_create(&stars[side], &spreads[side], &state);
		if (computed && side == HG_OUTER)
			test_star_compute(&stars[side], 4, 5);
		if (filtered && side == HG_OUTER)
			add_filters(&stars[side]);
		test_star_use(&stars[side], (HgSide) side, &uses[side], &spec);
		good = good &&
			   test_star_make(&replica.engine, test_host_plain(), &stars[side], &error) == HG_OK;
	}
	good = good && test_star_build(&replica.engine, &host.host, &stars[0], &stars[1], &job,
								   &error) == HG_OK;
	hg_tap_ok(good && host.peak_bytes <= hg_host_replica_bytes(&spec) + 100000 &&
				  host.peak_bytes >= hg_host_replica_bytes(&spec) / 2,
			  "a join with lookups%s takes what was reckoned: %" PRIu64 " bytes of %" PRIu64,
			  computed	 ? " and a computed column"
			  : filtered ? " and filters"
						 : "",
			  host.peak_bytes, hg_host_replica_bytes(&spec));
	if (job != NULL)
		replica.engine.join->close(job);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		test_star_release(&replica.engine, &stars[side]);
		test_star_destroy(&stars[side]);
	}
	hg_tap_ok(host.held_bytes == 0 && owner.held_bytes == 0, "and gives it back");
}

/* The same of columns, with and without NULLs. */
static void
test_column_bytes(void)
{
	const HgReplicaColumnSpec new_replica = {.shape = {.width = 4, .parts = 3, .stride = 70000}};
	const HgJobSpec spec = {
		.key_width = 4, .device = -1, .product = {HG_PRODUCT_COLUMN, .column = &new_replica}};
	static const int32_t values[9] = {0};
	static const uint8_t nulls[9] = {1};

	for (int i = 0; i < 2; i++)
	{
		TestHost owner;
		TestHost host;
		HgHostReplica replica;
		HgError error = {0};
		HgJob *job = NULL;
		HgReplica *column = NULL;
		uint64_t bytes = 0;
		bool good;

		test_host_init(&owner, test_host_plain());
		test_host_init(&host, test_host_plain());
		hg_host_replica_init(&replica, &owner.host);
		good = replica.engine.open(&replica.engine, &host.host, &spec, &job, &error) == HG_OK &&
			   replica.engine.store->put_values(job, values, i == 0 ? NULL : nulls, 9, 77,
												&error) == HG_OK &&
			   replica.engine.join->build(job, &error) == HG_OK &&
			   replica.engine.store->take_replica(job, &column, &bytes, &error) == HG_OK;
		good = good && bytes == owner.held_bytes && bytes > 210000 * (i == 0 ? 4 : 5) &&
			   owner.peak_bytes + host.peak_bytes <= hg_host_replica_bytes(&spec);
		if (job != NULL)
			replica.engine.join->close(job);
		if (column != NULL)
			replica.engine.store->release(&replica.engine, column);
		hg_tap_ok(good && host.held_bytes == 0 && owner.held_bytes == 0,
				  "a column %s NULLs is told to the byte", i == 0 ? "without" : "with");
	}
}

/* A limit of a job's own holds for what it makes, too. */
static void
test_limit(void)
{
	const HgReplicaSpec new_replica = {.shape = {.key_width = 8, .parts = 1, .rows = 10000}};
	HgJobSpec spec = {.key_width = 8,
					  .product = {HG_PRODUCT_GRAPH, .graph = &new_replica},
					  .memory_limit = 100000};
	HgHostReplica replica;
	HgError error = {0};
	HgJob *job = NULL;

	hg_host_replica_init(&replica, test_host_plain());
	hg_tap_ok(replica.engine.open(&replica.engine, test_host_plain(), &spec, &job, &error) ==
					  HG_OUT_OF_MEMORY &&
				  job == NULL,
			  "a graph that is over the job's limit is refused");
}

/* Jobs of no graph replicas are as ever. */
static void
test_plain_jobs(void)
{
	HgHostReplica replica;

	hg_host_replica_init(&replica, test_host_plain());
	for (uint32_t width = 4; width <= 8; width += 4)
	{
		TestData data;
		TestRun run = {.engine = &replica.engine,
					   .host = test_host_plain(),
					   .data = &data,
					   .spec = {.key_width = width, .device = -1},
					   .capacity = 1000};

		test_data_create(&data, TEST_KEYS_DUPLICATES, width, 5000, 4000);
		hg_tap_ok(test_run(&run), "a job of no graph replica, keys of %u bytes", width);
		test_data_destroy(&data);
	}
}

int
main(void)
{
	const uint32_t most_rows = hg_tap_suite() <= HG_SUITE_SMALL ? 30000 : 300000;
	HgHostReplica replica;

	hg_host_replica_init(&replica, test_host_plain());
	hg_engine_replica_suite(&replica.engine, test_host_plain(), most_rows);
	hg_engine_replica_lookups_suite(&replica.engine, test_host_plain(), most_rows);
	hg_engine_computed_suite(&replica.engine, test_host_plain());
	hg_engine_filters_suite(&replica.engine, test_host_plain());
	test_owner();
	test_bytes();
	test_lookup_bytes(false, false);
	test_lookup_bytes(true, false);
	test_lookup_bytes(false, true);
	test_column_bytes();
	test_limit();
	test_plain_jobs();
	return hg_tap_done();
}
