/*-------------------------------------------------------------------------
 *
 * test_cuda_exchange.h
 *	  Tests of rows that change devices.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_CUDA_EXCHANGE_H
#define TEST_CUDA_EXCHANGE_H

#ifdef __cplusplus
extern "C"
{
#endif

	/* Runs the tests on all devices; several shards share one if there are too few. */
	extern void test_cuda_exchange(void);

#ifdef __cplusplus
}
#endif

#endif /* TEST_CUDA_EXCHANGE_H */
