/*-------------------------------------------------------------------------
 *
 * hg_exchange.h
 *	  Several jobs that are one join: how rows come to the job that joins them.
 *
 * A join that is too large for one device can be spread over several: a job on each, its shards
 * (HgJobSpec.shards).  Each shard is given any share of the rows of both sides, by append_rows,
 * under numbers that no two of the join's rows have, and their columns.  Then the shards exchange
 * rows, so that each key's are all with one of them, and from there on each is a job like any
 * other: the matches, the counts and the groups of all shards together are those of the join.  The
 * rows of a group may be with several shards, as it is not made by keys of the join.
 *
 * PARTS. A key is of one of HG_EXCHANGE_PARTS parts, and a shard has consecutive ones.  The part is
 * told by the first bits of the mixed word mixed once more.  By those of the mixed word itself,
 * which tell the vertex, a shard would have keys of few vertices, and thus long lists; by others of
 * its bits, so would slices of a join (hg_ranges.h) have keys of few parts.
 *
 * THE EXCHANGE stands between the last append, or append_column, and build.  The caller of all the
 * shards makes it, a side at a time:
 *
 *	tally		of each shard and side: how many rows has it of each part?
 *	hg_exchange_choose
 *				which parts is each shard to have?
 *	expect		of each shard: these parts are its own, and so many rows come from each other
 *				shard.  It makes room for them: HG_DEVICE_OUT_OF_MEMORY where there is none
 *	take_rows	of each shard, for each other one, until it has no more: rows of that one's parts
 *	put_rows	of that one: the rows that were taken
 *	arrived		of each shard: all rows have come.  It gives up what it sent away
 *
 * Where the devices of shards reach each other rows go from one to another without the caller's
 * memory in between: hg_offer.h.
 *
 * Rows keep their numbers, by which they are known in matches.  Statistics tell the rows that were
 * appended to a shard, and, once all have come, those that it has.
 *
 * A call that comes out of this order is HG_INVALID, as is a row of another shard's part, one more
 * than was expected, or one less when they are said to have arrived.  What put_rows is given may
 * lie where others can write: it is copied before it is checked.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_EXCHANGE_H
#define HG_EXCHANGE_H

#include "hg_engine.h"
#include "hg_hash.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Jobs that one join is spread over, at most. */
#define HG_MAX_SHARDS 16

/* log2 of the parts that rows are counted by. */
#define HG_EXCHANGE_BITS 9
#define HG_EXCHANGE_PARTS (1 << HG_EXCHANGE_BITS)

	/* What a shard is to expect of a side.  It has no holes. */
	typedef struct HgExchange
	{
		uint32_t shards;			  /* as HgJobSpec.shards */
		uint32_t self;				  /* which of them the job is, from 0 */
		uint64_t numbers;			  /* those of all rows of the side are below this */
		uint32_t ends[HG_MAX_SHARDS]; /* shard d has the parts ends[d - 1] .. ends[d] - 1,
									   * from 0 on, and the last shard all others */
		uint64_t rows[HG_MAX_SHARDS]; /* of the job's parts, which each shard has: rows[self]
									   * stay, and all others come */
	} HgExchange;

	/* Rows on their way, in arrays of the caller. */
	typedef struct HgExchangeRows
	{
		void *keys;						/* [capacity] of spec.key_width bytes each */
		uint32_t *numbers;				/* [capacity] */
		void *values[HG_MAX_COLUMNS];	/* [capacity] of each column of the side, of its width */
		uint8_t *nulls[HG_MAX_COLUMNS]; /* [capacity] bytes, not 0 where the row has NULL */
		bool has_nulls[HG_MAX_COLUMNS]; /* false: none has, and the bytes are not written */
		size_t capacity;				/* at least 1; set by the caller */
		size_t count;					/* set by take_rows(): 0 means that there are no more */
	} HgExchangeRows;

	/* The part of a key's mixed word. */
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
	 * Choose the parts of so many shards, of parts that have so many rows of both sides together:
	 * each shard's rows come as near to its share (hg_exchange_ranges.h), or an equal one where
	 * shares are NULL, as whole parts allow.  Any of them may get none.
	 */
	extern void hg_exchange_choose(uint32_t shards, const uint64_t rows[HG_EXCHANGE_PARTS],
								   const uint32_t *shares, uint32_t ends[HG_MAX_SHARDS]);

	/*
	 * Is this something that a job of so many shards can expect?  HG_OK, or HG_INVALID with an
	 * explanation, or HG_TOO_MANY_ROWS.
	 */
	extern HgStatus hg_exchange_check(const HgExchange *exchange, uint32_t shards, HgError *error);

	/* Rows that a shard has when all have arrived. */
	extern uint64_t hg_exchange_rows(const HgExchange *exchange);

	/* Rows of these tallied ones which are of a shard's parts. */
	extern uint64_t hg_exchange_rows_of(const uint64_t tally[HG_EXCHANGE_PARTS],
										const uint32_t ends[HG_MAX_SHARDS], uint32_t shard);

	/* Tell of each part whose it is. */
	extern void hg_exchange_owners(const HgExchange *exchange, uint8_t owners[HG_EXCHANGE_PARTS]);

#ifdef __cplusplus
}
#endif

#endif /* HG_EXCHANGE_H */
