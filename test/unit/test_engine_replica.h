/*-------------------------------------------------------------------------
 *
 * test_engine_replica.h
 *	  The conformity suite of graph replicas: what an engine that has them must do.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_ENGINE_REPLICA_H
#define TEST_ENGINE_REPLICA_H

#include "test_replica_side.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/*
	 * Run the suite on an engine, with graphs of up to so many rows, and report each test by
	 * hg_tap_ok.  host is where memory comes from, and its cancelled() must be false.
	 *
	 * The environment variables HG_SUITE and HG_STRIDE mean what hg_tap.h says.
	 */
	extern void hg_engine_replica_suite(HgEngine *engine, const HgHost *host, uint32_t most_rows);

	/*
	 * Make two graphs, join them with a mask, and one of them with appended rows, and release them;
	 * and the same with columns, by groups, and with lookups: returns the first status that is not
	 * HG_OK.  Nothing is left of it.
	 */
	extern HgStatus test_replica_stretch(HgEngine *engine, const HgHost *host, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_REPLICA_H */
