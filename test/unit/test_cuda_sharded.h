/*-------------------------------------------------------------------------
 *
 * test_cuda_sharded.h
 *	  Tests of the CUDA engine's jobs that are shards of one join.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_SHARDED_H
#define TEST_CUDA_SHARDED_H

#include "../../src/engine/hg_engine.h"

/* Runs the tests, which report by hg_tap. */
extern void test_cuda_sharded(HgEngine *engine);

#endif /* TEST_CUDA_SHARDED_H */
