/*-------------------------------------------------------------------------
 *
 * hg_host_exchange.h
 *	  An engine whose jobs exchange rows, by the simplest means: keys and numbers, in host memory.
 *
 * It is the CPU engine for jobs that are shards (hg_exchange.h).  It has no columns: a caller with
 * columns beside it (hg_host_reduce.h) identifies rows by their numbers.
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

	/* Returns the engine.  All memory of its jobs is their host's. */
	extern HgEngine *hg_host_exchange(void);

	/* Calls take_rows of the engine for its job, and adds the columns of the rows. */
	extern HgStatus hg_host_exchange_take(HgEngine *engine, HgJob *job, const HgHostReduce *reduce,
										  HgSide side, uint32_t shard, HgExchangeRows *rows,
										  HgError *error);

	/*
	 * Calls put_rows of the engine for its job, and stores the columns of the rows.  Fails if a
	 * row was put before.
	 */
	extern HgStatus hg_host_exchange_put(HgEngine *engine, HgJob *job, HgHostReduce *reduce,
										 HgSide side, const HgExchangeRows *rows, HgError *error);

	/*
	 * Sets *rows to the rows of a side that a job of the engine has for another shard.  Returns
	 * HG_INVALID if some of them were taken already, or the job is in the wrong state.
	 */
	extern HgStatus hg_host_exchange_count(HgJob *job, HgSide side, uint32_t shard, uint64_t *rows,
										   HgError *error);

	/* Lets the rows for a shard be taken again from the beginning. */
	extern void hg_host_exchange_rewind(HgJob *job, HgSide side, uint32_t shard);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_EXCHANGE_H */
