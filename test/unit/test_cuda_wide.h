/*-------------------------------------------------------------------------
 *
 * test_cuda_wide.h
 *	  Jobs of the CUDA engine that are members of one join.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_WIDE_H
#define TEST_CUDA_WIDE_H

#include "../../src/engine/hg_engine.h"

extern void test_cuda_wide(HgEngine *engine);

#endif /* TEST_CUDA_WIDE_H */
