/*-------------------------------------------------------------------------
 *
 * test_cuda_chunks.h
 *	  Tests of the CUDA engine's streams with one or several chunks, and of the memory of chunks.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_CHUNKS_H
#define TEST_CUDA_CHUNKS_H

/*
 * Runs the tests, which report by hg_tap, with engines of their own; there must be a device.
 * HG_SUITE=tiny leaves them out, as they have millions of matches.
 */
extern void test_cuda_chunks(void);

#endif /* TEST_CUDA_CHUNKS_H */
