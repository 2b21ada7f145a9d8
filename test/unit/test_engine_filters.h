/*-------------------------------------------------------------------------
 *
 * test_engine_filters.h
 *	  The suite of graph replicas (test_engine_replica.h): filters on their rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_ENGINE_FILTERS_H
#define TEST_ENGINE_FILTERS_H

#include "test_replica_star.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Runs this part; each test is reported by hg_tap_ok. */
	extern void hg_engine_filters_suite(HgEngine *engine, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_FILTERS_H */
