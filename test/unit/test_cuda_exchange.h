/*-------------------------------------------------------------------------
 *
 * test_cuda_exchange.h
 *	  Rows that change devices.
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

	/* On all devices that there are; shards share them where these are fewer. */
	extern void test_cuda_exchange(void);

#ifdef __cplusplus
}
#endif

#endif /* TEST_CUDA_EXCHANGE_H */
