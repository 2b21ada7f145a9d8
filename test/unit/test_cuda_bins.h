/*-------------------------------------------------------------------------
 *
 * test_cuda_bins.h
 *	  Tests of bins on a device: of all sizes, also those that fit no block.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_BINS_H
#define TEST_CUDA_BINS_H

#include "../../src/engine/hg_engine.h"

/* Runs the tests, which report by hg_tap. */
extern void test_cuda_bins(HgEngine *engine);

#endif /* TEST_CUDA_BINS_H */
