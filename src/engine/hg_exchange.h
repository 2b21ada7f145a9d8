/*-------------------------------------------------------------------------
 *
 * hg_exchange.h
 *	  Sharded joins: how the shards of one join exchange rows before build.
 *
 * A join that is too large for one device can be spread over several, with a job on each: its
 * shards (HG_PRODUCT_SHARD).  The caller gives each shard any share of the rows of both sides by
 * append_rows, and their columns.  No two rows of a side of the join have the same number.  Then
 * the shards exchange rows, so that all rows of a key are in one shard.  From there on each shard
 * is a job like any other.  The matches, counts and groups of all shards together are those of the
 * join.  Rows of one group can be in several shards, because the group columns need not be the
 * join's keys.
 *
 * PARTS.  Each key belongs to one of HG_EXCHANGE_PARTS parts, and a shard has consecutive parts.
 * The mixed word of the key is mixed once more, and its first bits are the part.  The first bits
 * of the mixed word itself determine the vertex: with those as the part, a shard would use few
 * vertices and have long lists.  With other bits of the mixed word, the slices of partition passes
 * (hg_passes.h) would have keys of few parts.
 *
 * THE EXCHANGE comes between the last append or append_column and build.  The caller of the shards
 * runs it, one side at a time:
 *
 *	tally		on each shard: counts its rows of each part
 *	hg_exchange_choose
 *				chooses the parts of each shard
 *	expect		on each shard: sets its parts, and how many rows come from each other
 *				shard.  It makes room for them: HG_DEVICE_OUT_OF_MEMORY if there is none
 *	take_rows	on each shard, for each other shard, until no more come: returns rows of
 *				the other shard's parts
 *	put_rows	on that other shard: adds the rows that were taken
 *	arrived		on each shard: all rows have come.  It drops the rows that it sent away
 *
 * If the devices of the shards reach each other's memory, rows go from one to another without a
 * copy in the caller's memory: hg_peer_window.h.
 *
 * Rows keep their numbers, which matches return.  Statistics count the rows that were appended to
 * a shard, and, once all have arrived, the rows that it has.
 *
 * HG_INVALID answers a call out of this order, a row of another shard's part, and a row beyond the
 * expected number.  It also answers arrived if rows are missing.  The arrays of put_rows may be in
 * memory that others can write to: the engine copies them before it checks them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_EXCHANGE_H
#define HG_EXCHANGE_H

#include <stdint.h>

#include "hg_engine.h"
#include "hg_hash.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Maximum number of shards of a join. */
#define HG_MAX_SHARDS 16

/* log2 of the number of parts. */
#define HG_EXCHANGE_BITS 9
#define HG_EXCHANGE_PARTS (1 << HG_EXCHANGE_BITS)

	/* What a shard expects of a side.  The struct has no holes. */
	typedef struct HgExchange
	{
		uint32_t shards;  /* as in HgJobProduct */
		uint32_t self;	  /* the number of the shard, from 0 */
		uint64_t numbers; /* upper bound of the numbers of all rows of the side, exclusive */

		/*
		 * Shard d has the parts from ends[d - 1] (0 for d = 0) to ends[d] - 1.  Entries of the last
		 * shard and beyond are HG_EXCHANGE_PARTS.
		 */
		uint32_t ends[HG_MAX_SHARDS];

		/*
		 * rows[s]: rows of this shard's parts that are in shard s before the exchange.  rows[self]
		 * stay here; the others arrive.
		 */
		uint64_t rows[HG_MAX_SHARDS];
	} HgExchange;

	/* Rows in transfer, in arrays of the caller. */
	typedef struct HgExchangeRows
	{
		void *keys;						/* [capacity] of spec.key_width bytes each */
		uint32_t *numbers;				/* [capacity] */
		void *values[HG_MAX_COLUMNS];	/* [capacity] values of each column, in its width */
		uint8_t *nulls[HG_MAX_COLUMNS]; /* [capacity] bytes, not 0 where the value is NULL */
		bool has_nulls[HG_MAX_COLUMNS]; /* false: no value is NULL, and the bytes are not written */
		size_t capacity;				/* at least 1; set by the caller */
		size_t count;					/* set by take_rows(): 0 at the end */
	} HgExchangeRows;

	/* Return the part of a key, given its mixed word (hg_hash.h) of 32 or 64 bits. */
	HG_HOST_DEVICE uint32_t
	hg_exchange_part32(uint32_t mixed)
	{
		return hg_mix32(mixed) >> (32 - HG_EXCHANGE_BITS);
	}

	HG_HOST_DEVICE uint32_t
	hg_exchange_part64(uint64_t mixed)
	{
		return (uint32_t) (hg_mix64(mixed) >> (64 - HG_EXCHANGE_BITS));
	}

	/*
	 * Chooses the parts of each shard; rows are the rows of both sides together in each part.
	 * Each shard gets as near to its share of all rows (hg_exchange_ranges_share) as whole parts
	 * allow, and may get none.  shares NULL means equal shares.
	 */
	extern void hg_exchange_choose(uint32_t shards, const uint64_t rows[HG_EXCHANGE_PARTS],
								   const uint32_t *shares, uint32_t ends[HG_MAX_SHARDS]);

	/*
	 * Checks an exchange for a join of `shards` shards.  Returns HG_OK, HG_INVALID with an
	 * explanation, or HG_TOO_MANY_ROWS.
	 */
	extern HgStatus hg_exchange_check(const HgExchange *exchange, uint32_t shards, HgError *error);

	/* Returns how many rows a shard has once all have arrived. */
	extern uint64_t hg_exchange_rows(const HgExchange *exchange);

	/* Returns how many of the tallied rows belong to a shard's parts. */
	extern uint64_t hg_exchange_rows_of(const uint64_t tally[HG_EXCHANGE_PARTS],
										const uint32_t ends[HG_MAX_SHARDS], uint32_t shard);

	/* Sets owners[part] to the shard that has the part. */
	extern void hg_exchange_owners(const HgExchange *exchange, uint8_t owners[HG_EXCHANGE_PARTS]);

	/* The calls of the exchange, which the shards of a join run in this order. */
	typedef struct HgExchangeCalls
	{
		/*
		 * For a shard, after the last append: counts the rows of a side in each part,
		 * counts[HG_EXCHANGE_PARTS].
		 */
		HgStatus (*tally)(HgJob *job, HgSide side, uint64_t *counts, HgError *error);

		/*
		 * For a shard whose rows were tallied: sets which parts of a side the shard gets, and how
		 * many rows of them will come.  No rows can be appended to the side afterwards.
		 */
		HgStatus (*expect)(HgJob *job, HgSide side, const struct HgExchange *exchange,
						   HgError *error);

		/*
		 * Returns the next rows of a side that belong to another shard's parts, with their
		 * columns, at most rows->capacity; count is 0 when all have been returned.
		 */
		HgStatus (*take_rows)(HgJob *job, HgSide side, uint32_t shard, struct HgExchangeRows *rows,
							  HgError *error);

		/* Adds rows that were taken from another shard.  The arrays stay the caller's. */
		HgStatus (*put_rows)(HgJob *job, HgSide side, const struct HgExchangeRows *rows,
							 HgError *error);

		/* Ends the exchange of a side: the rows that have come are its rows from now on. */
		HgStatus (*arrived)(HgJob *job, HgSide side, HgError *error);
	} HgExchangeCalls;

#define HG_EXCHANGE_CALLS(prefix)                                                                  \
	{                                                                                              \
		.tally = prefix##_tally, .expect = prefix##_expect, .take_rows = prefix##_take_rows,       \
		.put_rows = prefix##_put_rows, .arrived = prefix##_arrived                                 \
	}

/*
 * How rows are divided over devices that do one job together.
 *
 * The vertex of a row consists of the first bits of its mixed word (hg_hash.h), and so does any
 * coarser bin.  Each device, a shard, gets the rows of consecutive bins, and with them a range of
 * vertices: the parts of both sides that are built there join by themselves.  The ranges have
 * equal numbers of rows, not equal widths, as far as whole bins allow.  Shards with memory for
 * very different numbers of rows get rows in proportion to their memory.  (A. Tripathy, O. Green,
 * "Scalable Hash Table for NUMA Systems", 2021.)
 */

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
	 * Divides bins into ranges of equal width if shares is NULL, the number of shards is a power of
	 * two, and no range has more than an eighth above its share of the rows.  Otherwise does what
	 * hg_exchange_ranges_balance() does.
	 */
	extern void hg_exchange_ranges_choose(const uint64_t *rows, uint32_t bins, uint32_t shards,
										  const uint32_t *shares, uint32_t *ends);

#ifdef __cplusplus
}
#endif

#endif /* HG_EXCHANGE_H */
