/*-------------------------------------------------------------------------
 *
 * test_engine_replica_columns.h
 *	  The part of the suite of graph replicas (test_engine_replica.h) that is about their columns.
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

	extern void hg_engine_replica_columns_suite(HgEngine *engine, const HgHost *host);

	/*
	 * Make column replicas, reduce joins that have them, and release them: returns the first status
	 * that is not HG_OK. Nothing is left of it.
	 */
	extern HgStatus test_replica_columns_stretch(HgEngine *engine, const HgHost *host,
												 HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_REPLICA_COLUMNS_H */
