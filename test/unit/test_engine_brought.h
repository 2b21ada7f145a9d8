/*-------------------------------------------------------------------------
 *
 * test_engine_brought.h
 *	  The conformity suite of pages that are brought to a job, and taken later.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_ENGINE_BROUGHT_H
#define TEST_ENGINE_BROUGHT_H

#include "test_engine_pages.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/*
	 * Runs the suite on an engine that can bring pages, with sides of rows rows, and reports each
	 * test by hg_tap_ok.  host allocates memory, for any thread; its cancelled() must be false.
	 */
	extern void hg_engine_brought_suite(HgEngine *engine, const HgHost *host, uint32_t rows);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_BROUGHT_H */
