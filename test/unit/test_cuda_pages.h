/*-------------------------------------------------------------------------
 *
 * test_cuda_pages.h
 *	  Tests of sides that come as pages, on a device: the suite of all engines, and the memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_PAGES_H
#define TEST_CUDA_PAGES_H

#include "../../src/engine/hg_engine.h"

/* Runs the tests, which report by hg_tap.  HG_SUITE=tiny leaves out those of memory. */
extern void test_cuda_pages(HgEngine *engine);

#endif /* TEST_CUDA_PAGES_H */
