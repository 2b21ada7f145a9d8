/*-------------------------------------------------------------------------
 *
 * test_settled.h
 *	  A caller that has enough of some rows' matches before he has all of them.
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

	/* A stream of all matches, that can be begun again and again. */
	typedef struct TestStream
	{
		HgStatus (*begin)(void *arg, HgError *error);
		HgStatus (*next)(void *arg, HgMatches *matches, HgError *error);
		void *arg;
		uint64_t rows;	 /* numbers of outer rows are below this */
		size_t capacity; /* of a chunk */
	} TestStream;

	/*
	 * Check what hg_engine.h promises where settled() is set, with rows of which none, one, 20 or
	 * all matches are wanted.  Returns false after explaining by hg_tap_diag.
	 */
	extern bool test_settled_checked(const TestStream *stream);

	/* How many matches are returned where one of each outer row is wanted; 0 on failure. */
	extern uint64_t test_settled_first(const TestStream *stream);

	/* The stream of an engine's job that is built. */
	typedef struct TestJobStream
	{
		HgEngine *engine;
		HgJob *job;
	} TestJobStream;

	extern TestStream test_job_stream(TestJobStream *of, uint64_t rows, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif /* TEST_SETTLED_H */
