/*-------------------------------------------------------------------------
 *
 * test_engine_computed.h
 *	  The part of the suite of kept graphs (test_engine_kept.h) that is about computed columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_ENGINE_COMPUTED_H
#define TEST_ENGINE_COMPUTED_H

#include "test_kept_star.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Run it; each test is reported by hg_tap_ok. */
	extern void hg_engine_computed_suite(HgEngine *engine, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_COMPUTED_H */
