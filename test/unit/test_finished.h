/*-------------------------------------------------------------------------
 *
 * test_finished.h
 *	  Tests of a caller that does not need all matches of some rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_SETTLED_H
#define TEST_SETTLED_H

#include "../../src/engine/hg_engine.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* A stream of all matches, which can be started repeatedly. */
	typedef struct TestStream
	{
		HgStatus (*begin)(void *arg, HgError *error);
		HgStatus (*next)(void *arg, HgMatches *matches, HgError *error);
		void *arg;
		uint64_t rows;	 /* bound of the numbers of outer rows */
		size_t capacity; /* of a chunk */
	} TestStream;

	/*
	 * Checks what hg_engine.h promises if is_finished() is set, with rows of which none, one, 20 or
	 * all matches are wanted.  Returns false, after an explanation by hg_tap_diag, if a check
	 * fails.
	 */
	extern bool test_finished_checked(const TestStream *stream);

	/* Returns the number of matches that come if one of each outer row is wanted; 0 on failure. */
	extern uint64_t test_finished_first(const TestStream *stream);

	/* A job of an engine, which is built. */
	typedef struct TestJobStream
	{
		HgEngine *engine;
		HgJob *job;
	} TestJobStream;

	/* Returns the stream of a job's matches.  *of must stay. */
	extern TestStream test_job_stream(TestJobStream *of, uint64_t rows, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif /* TEST_SETTLED_H */
