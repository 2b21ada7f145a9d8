/*-------------------------------------------------------------------------
 *
 * test_engine_replica_columns.h
 *	  The suite of graph replicas (test_engine_replica.h): their columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_ENGINE_REPLICA_COLUMNS_H
#define TEST_ENGINE_REPLICA_COLUMNS_H

#include "test_replica_groups.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Runs this part; each test is reported by hg_tap_ok. */
	extern void hg_engine_replica_columns_suite(HgEngine *engine, const HgHost *host);

	/*
	 * Makes column replicas, reduces joins that use them, and releases them.  Returns the first
	 * status that is not HG_OK, and leaves nothing allocated.
	 */
	extern HgStatus test_replica_columns_stretch(HgEngine *engine, const HgHost *host,
												 HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_REPLICA_COLUMNS_H */
