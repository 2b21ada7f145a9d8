/*-------------------------------------------------------------------------
 *
 * test_engine_replica.h
 *	  The conformity suite of graph replicas.
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
	 * Runs the suite on an engine, with graphs of up to most_rows rows, and reports each test by
	 * hg_tap_ok.  host allocates memory; its cancelled() must be false.  HG_SUITE and HG_STRIDE of
	 * the environment apply (hg_tap.h).
	 */
	extern void hg_engine_replica_suite(HgEngine *engine, const HgHost *host, uint32_t most_rows);

	/*
	 * Makes two graphs, joins them with a mask, and one of them with appended rows, and releases
	 * them; then the same with columns, by groups, and with lookups.  Returns the first status
	 * that is not HG_OK, and leaves nothing allocated.
	 */
	extern HgStatus test_replica_stretch(HgEngine *engine, const HgHost *host, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_REPLICA_H */
