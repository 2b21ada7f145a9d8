/*-------------------------------------------------------------------------
 *
 * test_engine_suite.h
 *	  The conformity suite of all engines.
 *
 *	test_engine_suite.c		the cases
 *	test_engine_run.c		runs one job, and checks all results
 *	test_engine_cancel.c	how soon big jobs stop
 *	test_engine_crowd.c		jobs of many threads at once
 *	test_engine_reduce.c	columns and groups, of engines that have them
 *	test_engine_replica.c	graph replicas, of engines that have them
 *	test_finished.c			a caller that does not need all matches of some rows
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
	 * Runs the suite on an engine and reports each test by hg_tap_ok.  host allocates memory and,
	 * for a remote engine, waits; its cancelled() must be false.  Returns the number of failures.
	 *
	 * HG_SUITE=small in the environment leaves out everything that is big or repetitive, and
	 * HG_SUITE=tiny most of the rest: for tools that make a program slow.
	 */
	extern int hg_engine_suite(HgEngine *engine, const HgHost *host);

	/* Defaults of the suite's job specs.  Zeroed unless a test program sets it. */
	extern HgJobSpec hg_engine_suite_base;

	/*
	 * Cancels jobs of up to most_rows rows a side at random moments, more than a hundred times,
	 * and reports whether 99 of 100 stop in time.  The engine must work in this process, as the
	 * host does not wait.  With by_cpu_time this process alone does all the work: then its CPU
	 * time counts, and not time in which other processes have the CPU.
	 */
	extern void hg_engine_cancel_times(HgEngine *engine, const HgHost *host, uint64_t most_rows,
									   bool by_cpu_time);

	/*
	 * Runs jobs jobs in each of 16 threads at once, all different, of up to most_rows rows a side,
	 * and reports whether each had the right result.
	 */
	extern void hg_engine_crowd(HgEngine *engine, const HgHost *host, uint64_t most_rows, int jobs);

	/* Runs the suite of columns, on an engine that has them.  HG_SUITE applies as above. */
	extern void hg_engine_reduce_suite(HgEngine *engine, const HgHost *host);

	/* A host for tests: it counts the memory of another host, and fills it with garbage. */
	typedef struct TestHost
	{
		HgHost host; /* for jobs; arg is the TestHost */
		const HgHost *base;

		uint64_t held_bytes;
		uint64_t peak_bytes;
		uint64_t allocations; /* attempts so far */
		uint64_t polls;		  /* calls of cancelled() or wait_readable() so far */
		bool misused;		  /* memory was freed with a wrong size */

		uint64_t fail_allocation; /* the number of the allocation that fails, from 1; 0: none */
		uint64_t cancel_poll;	  /* the first poll that is cancelled, from 1; 0: none */
	} TestHost;

	/* Initializes a host with the memory of base, which must outlive it. */
	extern void test_host_init(TestHost *host, const HgHost *base);

	/* Returns a host with the memory of malloc, which never cancels. */
	extern const HgHost *test_host_plain(void);

	/* A job to run. */
	typedef struct TestRun
	{
		HgEngine *engine;
		const HgHost *host;
		const TestData *data;
		HgJobSpec spec;
		uint64_t piece;	 /* keys of one append; 0: all of a side */
		size_t capacity; /* of a chunk of matches */
	} TestRun;

	/*
	 * Runs a job and checks all that hg_engine.h promises.  Returns false, after an explanation by
	 * hg_tap_diag, if a check fails.
	 */
	extern bool test_run(const TestRun *run);

	/*
	 * Checks the intersections of a job after one count, as hg_engine.h defines them.  Returns
	 * false, after an explanation, if they are wrong.
	 */
	extern bool test_run_intersections(const TestRun *run);

	/* Opens a job and appends the keys.  The caller closes *job unless it is NULL. */
	extern HgStatus test_run_append(const TestRun *run, HgJob **job, HgError *error);

	/* The same, and builds. */
	extern HgStatus test_run_build(const TestRun *run, HgJob **job, HgError *error);

	/* The same, counts and closes.  *stats gets the statistics of the job; it may be NULL. */
	extern HgStatus test_run_count(const TestRun *run, HgMatchMode mode, uint64_t *matches,
								   HgJobStats *stats, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_SUITE_H */
