/*-------------------------------------------------------------------------
 *
 * test_engine_suite.h
 *	  The conformity suite: what every engine must do.
 *
 *	test_engine_suite.c		the cases
 *	test_engine_run.c		one job, checked in every respect
 *	test_engine_cancel.c	how soon big jobs stop
 *	test_engine_crowd.c		jobs of many threads at once
 *	test_engine_reduce.c	columns and groups, of engines that have them
 *	test_engine_replica.c		graph replicas, of engines that have them
 *	test_settled.c			a caller that has enough of some rows' matches before he has all
 *	test_host.c				a host that counts, and that cancels or fails on demand
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_ENGINE_SUITE_H
#define TEST_ENGINE_SUITE_H

#include "../../src/engine/hg_engine.h"
#include "test_data.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/*
	 * Run the suite on an engine and report each test by hg_tap_ok.  host is where
	 * memory and, for a remote engine, waiting come from; its cancelled() must be
	 * false.  Returns the number of failures.
	 *
	 * The environment variable HG_SUITE=small leaves out everything that is big or
	 * repeats itself, and HG_SUITE=tiny most of the rest: for tools that make a program slow.
	 */
	extern int hg_engine_suite(HgEngine *engine, const HgHost *host);

	/* What the suite asks of every job beside what a test is about: nothing, unless it is set. */
	extern HgJobSpec hg_engine_suite_base;

	/*
	 * Cancel jobs of up to most_rows rows a side at random moments, more than a hundred
	 * times, and report whether 99 of 100 stop in time.  The engine has to work in this
	 * process: nothing is waited for.  by_cpu_time tells that this process alone does all the work:
	 * then its own time counts, and not that in which others have the CPU.
	 */
	extern void hg_engine_cancel_times(HgEngine *engine, const HgHost *host, uint64_t most_rows,
									   bool by_cpu_time);

	/*
	 * Have 16 threads run so many jobs each of up to most_rows rows a side, all different, on the
	 * engine at once, and report whether each had the right result.
	 */
	extern void hg_engine_crowd(HgEngine *engine, const HgHost *host, uint64_t most_rows, int jobs);

	/*
	 * What an engine with columns must do with them, reported in the same way.  The environment
	 * variable means the same.
	 */
	extern void hg_engine_reduce_suite(HgEngine *engine, const HgHost *host);

	/*
	 * A host for tests: it hands out memory of another host, filled with rubbish,
	 * and keeps account of it.
	 */
	typedef struct TestHost
	{
		HgHost host; /* to be lent to a job; arg is the TestHost */
		const HgHost *base;

		uint64_t held_bytes;
		uint64_t peak_bytes;
		uint64_t allocations; /* asked for so far */
		uint64_t polls;		  /* of cancelled() or wait_readable() so far */
		bool misused;		  /* memory was freed with a wrong size */

		uint64_t fail_allocation; /* this one fails, from 1; 0 = none */
		uint64_t cancel_poll;	  /* cancelled from this poll on, from 1; 0 = never */
	} TestHost;

	extern void test_host_init(TestHost *host, const HgHost *base);

	/* A host with the memory of malloc, that never cancels. */
	extern const HgHost *test_host_plain(void);

	/* What of a job is to be checked, beside what always is. */
	typedef struct TestRun
	{
		HgEngine *engine;
		const HgHost *host;
		const TestData *data;
		HgJobSpec spec;
		uint64_t piece;	 /* keys in one append; 0 = all of a side */
		size_t capacity; /* of a chunk of matches */
	} TestRun;

	/*
	 * Run a job and check everything that hg_engine.h promises of it.  Returns false
	 * after explaining by hg_tap_diag.
	 */
	extern bool test_run(const TestRun *run);

	/*
	 * Check the intersections of a job after one count, as hg_engine.h defines them.
	 * Returns false after explaining by hg_tap_diag.
	 */
	extern bool test_run_intersections(const TestRun *run);

	/*
	 * Open a job and append the keys of data.  The job is open afterwards whatever is
	 * returned, unless *job is NULL.
	 */
	extern HgStatus test_run_append(const TestRun *run, HgJob **job, HgError *error);

	/* The same, and build. */
	extern HgStatus test_run_build(const TestRun *run, HgJob **job, HgError *error);

	/*
	 * The same, count into *matches and close.  *stats, unless it is NULL, gets what the job said
	 * of itself.
	 */
	extern HgStatus test_run_count(const TestRun *run, HgMatchMode mode, uint64_t *matches,
								   HgJobStats *stats, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_SUITE_H */
