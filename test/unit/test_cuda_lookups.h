/*-------------------------------------------------------------------------
 *
 * test_cuda_lookups.h
 *	  What rows of graph replicas look up, on a device: the memory that it takes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_LOOKUPS_H
#define TEST_CUDA_LOOKUPS_H

#include "../../src/engine/hg_engine.h"

/* Report on it by hg_tap.  HG_SUITE=tiny leaves it out, whose rows are millions. */
extern void test_cuda_lookups(HgEngine *engine);

#endif /* TEST_CUDA_LOOKUPS_H */
