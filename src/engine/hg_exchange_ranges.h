/*-------------------------------------------------------------------------
 *
 * hg_exchange_ranges.h
 *	  How rows are divided over devices that do one job together.
 *
 * The vertex of a row consists of the first bits of its mixed word (hg_hash.h), and so does any
 * coarser bin.  Each device, a shard, gets the rows of consecutive bins, and with them a range of
 * vertices: the parts of both sides that are built there join by themselves.  The ranges have
 * equal numbers of rows, not equal widths, as far as whole bins allow.  Shards with memory for
 * very different numbers of rows get rows in proportion to their memory.  (A. Tripathy, O. Green,
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

/* Maximum number of devices that do one job together. */
#define HG_EXCHANGE_SHARDS 8

/* log2 of the greatest number of bins that ranges consist of; it grows with the shards. */
#define HG_EXCHANGE_MAX_LOG2 10

	/* Returns log2 of the number of bins that the ranges of all shards consist of. */
	extern uint32_t hg_exchange_ranges_log2(uint32_t shards);

/*
 * Shards count as alike if each has at least HG_EXCHANGE_ALIKE / HG_EXCHANGE_ALIKE_OF of the room
 * of the largest.  WHY two thirds: equal shares then leave at most a fifth of the room of two
 * shards unused.  Where not all of the room is needed, equal shares make the slowest shard
 * fastest.
 */
#define HG_EXCHANGE_ALIKE 2
#define HG_EXCHANGE_ALIKE_OF 3

/* Sum of the shares of shards that are not alike, divided by the number of shards. */
#define HG_EXCHANGE_SHARES 64

	/*
	 * Sets shares[m], the share of shard m, and returns the sum of all shares.  room[m] is the
	 * number of rows or bytes that shard m has room for, less than 2^48.  If the shards are alike,
	 * each share is 1; otherwise shares are in proportion to the room, and at least 1.
	 */
	extern uint32_t hg_exchange_ranges_share(uint32_t shards, const uint64_t *room,
											 uint32_t *shares);

	/*
	 * Divides bins, or any other units by which rows are counted, into ranges: shard m gets the
	 * bins ends[m - 1] (0 for the first) to ends[m] - 1.  rows[bins] are the rows of both sides in
	 * each bin, less than 2^48 in all.  Each shard gets as near to its share of the rows as whole
	 * bins allow, and may get none.  shares NULL means equal shares.
	 */
	extern void hg_exchange_ranges_balance(const uint64_t *rows, uint32_t bins, uint32_t shards,
										   const uint32_t *shares, uint32_t *ends);

	/*
	 * The same, but it prefers ranges of equal width.  It uses them if shares is NULL, the number
	 * of shards is a power of two, and no range has more than an eighth above its share of the
	 * rows.
	 */
	extern void hg_exchange_ranges_choose(const uint64_t *rows, uint32_t bins, uint32_t shards,
										  const uint32_t *shares, uint32_t *ends);

#ifdef __cplusplus
}
#endif

#endif /* HG_EXCHANGE_RANGES_H */
