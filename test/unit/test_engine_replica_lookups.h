/*-------------------------------------------------------------------------
 *
 * test_engine_replica_lookups.h
 *	  The part of the suite of graph replicas that is about what their rows look up.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_ENGINE_REPLICA_LOOKUPS_H
#define TEST_ENGINE_REPLICA_LOOKUPS_H

#include "test_replica_star.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Run it; each test is reported by hg_tap_ok. */
	extern void hg_engine_replica_lookups_suite(HgEngine *engine, const HgHost *host,
												uint32_t most_rows);

	/*
	 * Join two stars, whose graphs are made, and look at all that it gives, in chunks of some
	 * capacity; where a row finds two it is HG_NOT_UNIQUE, and *error says so.
	 */
	extern HgStatus test_star_join(HgEngine *engine, const HgHost *host, const TestStar *outer,
								   const TestStar *inner, size_t capacity, uint64_t *state,
								   HgError *error);

	/* Part of test_replica_stretch (test_engine_replica.h). */
	extern HgStatus test_replica_lookups_stretch(HgEngine *engine, const HgHost *host,
												 HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_REPLICA_LOOKUPS_H */
