/*-------------------------------------------------------------------------
 *
 * hg_host_exchange.h
 *	  An engine whose jobs exchange rows, by the plainest means: keys and numbers, in host memory.
 *
 * It is the CPU engine for jobs that are shards (hg_exchange.h).  It has no columns: whoever has
 * them beside it (hg_host_reduce.h) knows them by the numbers of rows.
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

	/* take_rows of the engine for its job, with the columns of the rows. */
	extern HgStatus hg_host_exchange_take(HgEngine *engine, HgJob *job, const HgHostReduce *reduce,
										  HgSide side, uint32_t shard, HgExchangeRows *rows,
										  HgError *error);

	/*
	 * put_rows likewise, all of whose rows get their columns.  It fails where a row is here
	 * already.
	 */
	extern HgStatus hg_host_exchange_put(HgEngine *engine, HgJob *job, HgHostReduce *reduce,
										 HgSide side, const HgExchangeRows *rows, HgError *error);

	/*
	 * The rows of a side that a job of the engine has for another shard, of which none may have
	 * been taken: else, or where it is not the time to take them, HG_INVALID.
	 */
	extern HgStatus hg_host_exchange_count(HgJob *job, HgSide side, uint32_t shard, uint64_t *rows,
										   HgError *error);

	/* What was taken for a shard is to be taken again. */
	extern void hg_host_exchange_rewind(HgJob *job, HgSide side, uint32_t shard);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_EXCHANGE_H */
