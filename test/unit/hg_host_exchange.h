/*-------------------------------------------------------------------------
 *
 * hg_host_exchange.h
 *	  An engine whose jobs exchange rows, by the plainest means: keys and numbers, in host memory.
 *
 * It is the CPU engine for jobs that are members of several (hg_exchange.h).  It has no columns:
 * whoever has them beside it (hg_host_reduce.h) knows them by the numbers of rows, and passes them
 * on with hg_host_exchange_read and hg_host_exchange_write.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_EXCHANGE_H
#define HG_HOST_EXCHANGE_H

#include "../../src/engine/hg_exchange.h"
#include "hg_host_reduce.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* The engine; all memory of its jobs is their host's. */
	extern HgEngine *hg_host_exchange(void);

	/* Fill in the columns of rows that have been taken. */
	extern void hg_host_exchange_read(const HgHostReduce *reduce, HgSide side,
									  HgExchangeRows *rows);

	/* Have the columns of rows that are put: HG_INVALID where a row is here already. */
	extern HgStatus hg_host_exchange_write(HgHostReduce *reduce, HgSide side,
										   const HgExchangeRows *rows, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_EXCHANGE_H */
