/*-------------------------------------------------------------------------
 *
 * test_cuda_replica.h
 *	  Graph replicas on a device: the memory that they, and jobs about them, take.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_REPLICA_H
#define TEST_CUDA_REPLICA_H

#include "../../src/engine/hg_engine.h"

/* Report on it by hg_tap.  HG_SUITE=tiny has the refusals alone. */
extern void test_cuda_replica(HgEngine *engine);

#endif /* TEST_CUDA_REPLICA_H */
