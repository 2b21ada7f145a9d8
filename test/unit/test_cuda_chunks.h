/*-------------------------------------------------------------------------
 *
 * test_cuda_chunks.h
 *	  Streams of the CUDA engine that need one chunk or several, and the memory of chunks.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_CHUNKS_H
#define TEST_CUDA_CHUNKS_H

/*
 * Report on them by hg_tap, with engines of its own, of a device that there is.  HG_SUITE=tiny
 * leaves them out, whose matches are millions.
 */
extern void test_cuda_chunks(void);

#endif /* TEST_CUDA_CHUNKS_H */
