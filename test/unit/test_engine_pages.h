/*-------------------------------------------------------------------------
 *
 * test_engine_pages.h
 *	  The conformity suite of sides that come as pages: what an engine that has them must do.
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
	 * Run the suite on an engine, which may have graph replicas too, with sides of up to so many
	 * rows, and report each test by hg_tap_ok.  host is where memory comes from, and its
	 * cancelled() must be false.
	 *
	 * The environment variables HG_SUITE and HG_STRIDE mean what hg_tap.h says.
	 */
	extern void hg_engine_pages_suite(HgEngine *engine, const HgHost *host, uint32_t most_rows);

	/*
	 * Join sides that come as pages, with columns, one by one and by groups, and with a graph
	 * replica where the engine has them: returns the first status that is not HG_OK. Nothing is
	 * left of it.
	 */
	extern HgStatus test_pages_stretch(HgEngine *engine, const HgHost *host, HgError *error);

	/* Two sides of which both come as pages, or one is appended, and the job that joins them. */
	typedef struct TestPagesJoin
	{
		TestReplicaSide sides[2];
		TestReplicaPairs wanted;
	} TestPagesJoin;

	/* One that an engine, or a device process, has nothing else to do with. */
	extern void test_pages_join_create(TestPagesJoin *join, const TestReplicaSpread spreads[2],
									   const TestPagesForm forms[2], uint64_t seed);
	extern void test_pages_join_destroy(TestPagesJoin *join);

	/* Have it done on an engine, and compare all that can be asked: HG_INVALID where it is wrong.
	 */
	extern HgStatus test_pages_join_run(TestPagesJoin *join, HgEngine *engine, const HgHost *host,
										size_t capacity, HgError *error);

	/* The same of a job that is built. */
	extern HgStatus test_pages_join_ask(TestPagesJoin *join, HgEngine *engine, HgJob *job,
										size_t capacity, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_PAGES_H */
