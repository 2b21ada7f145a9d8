/*-------------------------------------------------------------------------
 *
 * test_engine_filter_numbers.h
 *	  The suite of filters (test_engine_filters.h): numbers that filters compute.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_ENGINE_FILTER_NUMBERS_H
#define TEST_ENGINE_FILTER_NUMBERS_H

#include "test_replica_star.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Runs this part; each test is reported by hg_tap_ok. */
	extern void hg_engine_filter_numbers_suite(HgEngine *engine, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_FILTER_NUMBERS_H */
