/*-------------------------------------------------------------------------
 *
 * hg_exchange_ranges.h
 *	  Which rows of a job go where, when several devices have it together.
 *
 * The vertex of a row is made of the first bits of its mixed word (hg_hash.h), and so is any
 * coarser bin.  Each device, a shard, gets the rows of consecutive bins, and with them a range of
 * vertices: what is built there of both sides joins by itself.  The ranges differ in width, not in
 * rows, as far as bins can be parted at all: rows of one bin stay together.  Shards that have
 * memory for very different numbers of rows are given these in proportion.  (A. Tripathy, O. Green,
 * "Scalable Hash Table for NUMA Systems", 2021.)
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_EXCHANGE_RANGES_H
#define HG_EXCHANGE_RANGES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

/* Devices that have a job together, at most. */
#define HG_EXCHANGE_SHARDS 8

/* Bins that ranges are made of, as a power of two, at most; there are more where shards are. */
#define HG_EXCHANGE_MAX_LOG2 10

	/* How many bins, as a power of two, ranges of so many shards are made of. */
	extern uint32_t hg_exchange_ranges_log2(uint32_t shards);

/*
 * Shards are alike where none has less than this part of the room of the one that has most:
 * HG_EXCHANGE_ALIKE / HG_EXCHANGE_ALIKE_OF. WHY two thirds: equal shares leave a fifth of the room
 * of two such shards unused at most, and where all of it is not needed, they are what makes the
 * slowest shard fastest.
 */
#define HG_EXCHANGE_ALIKE 2
#define HG_EXCHANGE_ALIKE_OF 3

/* What the shares of so many shards that are not alike are together, for each of these. */
#define HG_EXCHANGE_SHARES 64

	/*
	 * Which shares shards are to have that have so much room, each less than 2^48: shares[m] of the
	 * sum of all, which is returned.  Where they are alike, each has 1; else they are in proportion
	 * to the room, but that each has 1 at least.
	 */
	extern uint32_t hg_exchange_ranges_share(uint32_t shards, const uint64_t *room,
											 uint32_t *shares);

	/*
	 * Part bins, or whatever rows are counted by, into ranges: shard m gets ends[m - 1] (0 for the
	 * first) to ends[m] - 1, of as many as rows[bins] tell the rows of both sides of, less than
	 * 2^48 in all.  Each shard's rows come as near to its share as whole bins allow; any of them
	 * may get none.  Where shares are NULL they are equal ones.
	 */
	extern void hg_exchange_ranges_balance(const uint64_t *rows, uint32_t bins, uint32_t shards,
										   const uint32_t *shares, uint32_t *ends);

	/*
	 * The same, but that all ranges are as wide where shards are a power of two, have equal shares,
	 * and it leaves none of them more than an eighth above its own.
	 */
	extern void hg_exchange_ranges_choose(const uint64_t *rows, uint32_t bins, uint32_t shards,
										  const uint32_t *shares, uint32_t *ends);

#ifdef __cplusplus
}
#endif

#endif /* HG_EXCHANGE_RANGES_H */
