/*-------------------------------------------------------------------------
 *
 * test_cuda_replica.h
 *	  Tests of the device memory of graph replicas, and of jobs with them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_REPLICA_H
#define TEST_CUDA_REPLICA_H

#include "../../src/engine/hg_engine.h"

/* Runs the tests, which report by hg_tap.  HG_SUITE=tiny has the refusals only. */
extern void test_cuda_replica(HgEngine *engine);

#endif /* TEST_CUDA_REPLICA_H */
