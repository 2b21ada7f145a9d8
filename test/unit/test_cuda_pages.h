/*-------------------------------------------------------------------------
 *
 * test_cuda_pages.h
 *	  Sides that come as pages, on a device: the suite of all engines, and the memory that it takes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_PAGES_H
#define TEST_CUDA_PAGES_H

#include "../../src/engine/hg_engine.h"

/* Report on it by hg_tap.  HG_SUITE=tiny leaves out the memory of millions of rows. */
extern void test_cuda_pages(HgEngine *engine);

#endif /* TEST_CUDA_PAGES_H */
