/*-------------------------------------------------------------------------
 *
 * test_engine_replica_lookups.h
 *	  The suite of graph replicas (test_engine_replica.h): lookups of their rows.
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

	/* Runs this part, with graphs of up to most_rows rows; each test is reported by hg_tap_ok. */
	extern void hg_engine_replica_lookups_suite(HgEngine *engine, const HgHost *host,
												uint32_t most_rows);

	/*
	 * Joins two stars, whose replicas are made, and checks all results, in chunks of capacity.
	 * The status is HG_NOT_UNIQUE if a selected row finds two.  If the result is wrong, it is
	 * HG_INVALID, and *error says why.
	 */
	extern HgStatus test_star_join(HgEngine *engine, const HgHost *host, const TestStar *outer,
								   const TestStar *inner, size_t capacity, uint64_t *state,
								   HgError *error);

	/* The part of test_replica_stretch (test_engine_replica.h) with lookups. */
	extern HgStatus test_replica_lookups_stretch(HgEngine *engine, const HgHost *host,
												 HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_REPLICA_LOOKUPS_H */
