/*-------------------------------------------------------------------------
 *
 * test_cuda_bins.h
 *	  Bins of a device: of all sizes, and those that no block has room for.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_BINS_H
#define TEST_CUDA_BINS_H

#include "../../src/engine/hg_engine.h"

/* Report on them by hg_tap. */
extern void test_cuda_bins(HgEngine *engine);

#endif /* TEST_CUDA_BINS_H */
