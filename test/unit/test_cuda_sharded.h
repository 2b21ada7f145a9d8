/*-------------------------------------------------------------------------
 *
 * test_cuda_sharded.h
 *	  Jobs of the CUDA engine that are shards of one join.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_SHARDED_H
#define TEST_CUDA_SHARDED_H

#include "../../src/engine/hg_engine.h"

extern void test_cuda_sharded(HgEngine *engine);

#endif /* TEST_CUDA_SHARDED_H */
