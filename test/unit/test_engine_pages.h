/*-------------------------------------------------------------------------
 *
 * test_engine_pages.h
 *	  The conformity suite of sides that come as pages.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_ENGINE_PAGES_H
#define TEST_ENGINE_PAGES_H

#include "test_pages.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/*
	 * Runs the suite on an engine, which may have graph replicas too, with sides of up to
	 * most_rows rows, and reports each test by hg_tap_ok.  host allocates memory; its cancelled()
	 * must be false.  HG_SUITE and HG_STRIDE of the environment apply (hg_tap.h).
	 */
	extern void hg_engine_pages_suite(HgEngine *engine, const HgHost *host, uint32_t most_rows);

	/*
	 * Joins sides that come as pages, with columns, one by one and by groups, and with a graph
	 * replica if the engine has them.  Returns the first status that is not HG_OK, and leaves
	 * nothing allocated.
	 */
	extern HgStatus test_pages_stretch(HgEngine *engine, const HgHost *host, HgError *error);

	/* Two sides, one at least of which comes as pages, and the right result of their join. */
	typedef struct TestPagesJoin
	{
		TestReplicaSide sides[2];
		TestReplicaPairs wanted;
	} TestPagesJoin;

	/* create draws a join that a suite runs on an engine or a device process; destroy frees it. */
	extern void test_pages_join_create(TestPagesJoin *join, const TestReplicaSpread spreads[2],
									   const TestPagesForm forms[2], uint64_t seed);
	extern void test_pages_join_destroy(TestPagesJoin *join);

	/* Joins the sides on an engine, and checks all results: HG_INVALID if one is wrong. */
	extern HgStatus test_pages_join_run(TestPagesJoin *join, HgEngine *engine, const HgHost *host,
										size_t capacity, HgError *error);

	/* The same for a job that is built. */
	extern HgStatus test_pages_join_ask(TestPagesJoin *join, HgEngine *engine, HgJob *job,
										size_t capacity, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_PAGES_H */
