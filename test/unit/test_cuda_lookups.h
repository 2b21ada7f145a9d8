/*-------------------------------------------------------------------------
 *
 * test_cuda_lookups.h
 *	  Tests of the device memory of lookups from graph replicas.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_LOOKUPS_H
#define TEST_CUDA_LOOKUPS_H

#include "../../src/engine/hg_engine.h"

/* Runs the tests, which report by hg_tap.  HG_SUITE=tiny leaves them out: they have many rows. */
extern void test_cuda_lookups(HgEngine *engine);

#endif /* TEST_CUDA_LOOKUPS_H */
