/*-------------------------------------------------------------------------
 *
 * test_host_pages.c
 *	  Sides that come as pages, on the host (hg_host_replica.h): the suite of all engines.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../src/engine/cpu/hg_cpu.h"
#include "hg_host_replica.h"
#include "hg_tap.h"
#include "test_engine_brought.h"

#include <inttypes.h>
#include <string.h>

/* A job takes no more than what was reckoned, and the pages of one call. */
static void
test_bytes(void)
{
	const TestReplicaSpread spreads[2] = {
		{.way = TEST_REPLICA_PAGES, .width = 8, .count = 30000, .keys = 30000},
		{.way = TEST_REPLICA_PAGES, .width = 8, .count = 20000, .keys = 30000}};
	const TestPagesForm forms[2] = {{.nquals = 2, .noise = 10}, {.plain = true}};
	HgJobSpec spec = {.key_width = 8,
					  .device = -1,
					  .sides = {{.expected_rows = 30000}, {.expected_rows = 20000}}};
	TestPagesJoin join;
	HgHostReplica replica;
	TestHost host;
	HgError error = {0};
	HgStatus status;

	test_host_init(&host, test_host_plain());
	hg_host_replica_init(&replica, test_host_plain());
	test_pages_join_create(&join, spreads, forms, 3);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec.sides[side].kind = HG_SOURCE_PAGES;
		spec.sides[side].pages = &join.sides[side].pages.spec;
	}
	status = test_pages_join_run(&join, &replica.engine, &host.host, 1000, &error);
	hg_tap_ok(status == HG_OK &&
				  host.peak_bytes <= hg_host_replica_bytes(&spec) + 4 * 8192 + UINT64_C(200000) &&
				  host.peak_bytes >= hg_host_replica_bytes(&spec) / 2,
			  "a join takes what was reckoned: %" PRIu64 " bytes of %" PRIu64, host.peak_bytes,
			  hg_host_replica_bytes(&spec));
	test_pages_join_destroy(&join);
}

/* The CPU engine takes no pages apart. */
static void
test_cpu_engine(void)
{
	const TestReplicaSpread spread = {
		.way = TEST_REPLICA_PAGES, .width = 8, .count = 10, .keys = 9};
	const TestPagesForm form = {0};
	HgJobSpec spec = {.key_width = 8, .device = -1};
	HgEngine *engine = hg_cpu_engine();
	HgJob *job = NULL;
	TestReplicaSide side;
	uint64_t seed = 4;

	test_replica_side_create(&side, &spread, &seed);
	test_pages_make(&side, &form, &seed);
	spec.sides[HG_INNER].kind = HG_SOURCE_PAGES;
	spec.sides[HG_INNER].pages = &side.pages.spec;
	hg_tap_ok(engine->pages == NULL &&
				  engine->open(engine, test_host_plain(), &spec, &job, NULL) == HG_INVALID,
			  "the CPU engine refuses pages");
	test_replica_side_destroy(&side);
}

int
main(void)
{
	HgHostReplica replica;

	hg_host_replica_init(&replica, test_host_plain());
	hg_engine_pages_suite(&replica.engine, test_host_plain(),
						  hg_tap_suite() <= HG_SUITE_SMALL ? 30000 : 300000);
	hg_engine_brought_suite(&replica.engine, test_host_plain(), 5000);
	test_bytes();
	test_cpu_engine();
	return hg_tap_done();
}
