/*-------------------------------------------------------------------------
 *
 * hg_exchange.c
 *	  Which shard of a join has which rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <stdbool.h>
#include <stddef.h>

#include "hg_exchange.h"

void
hg_exchange_choose(uint32_t shards, const uint64_t rows[HG_EXCHANGE_PARTS], const uint32_t *shares,
				   uint32_t ends[HG_MAX_SHARDS])
{
	hg_exchange_ranges_balance(rows, HG_EXCHANGE_PARTS, shards, shares, ends);
	for (uint32_t shard = shards; shard < HG_MAX_SHARDS; shard++)
		ends[shard] = HG_EXCHANGE_PARTS;
}

HgStatus
hg_exchange_check(const HgExchange *exchange, uint32_t shards, HgError *error)
{
	uint32_t begin = 0;
	uint64_t rows = 0;

	if (shards < 2 || shards > HG_MAX_SHARDS)
		return hg_error_set(error, HG_INVALID, NULL, "the job has too few shards, or too many");
	if (exchange->shards != shards || exchange->self >= shards)
		return hg_error_set(error, HG_INVALID, NULL, "the job has another number of shards");
	for (uint32_t shard = 0; shard < shards; shard++)
	{
		if (exchange->ends[shard] < begin || exchange->ends[shard] > HG_EXCHANGE_PARTS)
			return hg_error_set(error, HG_INVALID, NULL,
								"the partitions of a shard are not a range");
		begin = exchange->ends[shard];
		if (exchange->rows[shard] >= HG_MAX_ROWS - rows)
			return hg_error_set(error, HG_TOO_MANY_ROWS, NULL,
								"too many rows in one side of a join");
		rows += exchange->rows[shard];
	}
	if (exchange->numbers > HG_MAX_ROWS)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in one side of a join");
	if (rows > exchange->numbers)
		return hg_error_set(error, HG_INVALID, NULL, "more rows are expected than have numbers");
	if (begin != HG_EXCHANGE_PARTS)
		return hg_error_set(error, HG_INVALID, NULL, "a part is no member's");
	return HG_OK;
}

uint64_t
hg_exchange_rows(const HgExchange *exchange)
{
	uint64_t rows = 0;

	for (uint32_t shard = 0; shard < exchange->shards; shard++)
		rows += exchange->rows[shard];
	return rows;
}

uint64_t
hg_exchange_rows_of(const uint64_t tally[HG_EXCHANGE_PARTS], const uint32_t ends[HG_MAX_SHARDS],
					uint32_t shard)
{
	uint64_t rows = 0;

	for (uint32_t part = shard > 0 ? ends[shard - 1] : 0; part < ends[shard]; part++)
		rows += tally[part];
	return rows;
}

void
hg_exchange_owners(const HgExchange *exchange, uint8_t owners[HG_EXCHANGE_PARTS])
{
	uint32_t part = 0;

	for (uint32_t shard = 0; shard < exchange->shards; shard++)
		for (; part < exchange->ends[shard]; part++)
			owners[part] = (uint8_t) shard;
}

/* ---------------------------------------------------------------------
 * How rows are divided over devices that do one job together
 * ---------------------------------------------------------------------
 */

/*
 * log2 of the number of bins for each shard that divides rows well enough, and of the least number
 * of all bins.  (Measured on two H200 that build a graph of 2^29 rows: 2^8 bins 7.8 ms, 2^9 7.6,
 * 2^10 8.0.)
 */
#define SHARD_LOG2 7
#define LEAST_LOG2 9

/* Ranges of equal width may exceed their share of the rows by one part in MORE_PARTS. */
#define MORE_PARTS 8

uint32_t
hg_exchange_ranges_log2(uint32_t shards)
{
	uint32_t log2 = LEAST_LOG2;

	while (log2 < HG_EXCHANGE_MAX_LOG2 && UINT32_C(1) << (log2 - SHARD_LOG2) < shards)
		log2++;
	return log2;
}

uint32_t
hg_exchange_ranges_share(uint32_t shards, const uint64_t *room, uint32_t *shares)
{
	const uint32_t units = HG_EXCHANGE_SHARES * shards;
	uint64_t all = 0;
	uint32_t most = 0;
	uint32_t least = 0;
	uint32_t sum = 0;

	for (uint32_t m = 0; m < shards; m++)
	{
		all += room[m];
		most = room[m] > room[most] ? m : most;
		least = room[m] < room[least] ? m : least;
		shares[m] = 1;
	}
	if (room[least] * HG_EXCHANGE_ALIKE_OF >= room[most] * HG_EXCHANGE_ALIKE)
		return shards;
	for (uint32_t m = 0; m < shards; m++)
	{
		shares[m] = (uint32_t) (room[m] * units / all);
		shares[m] += shares[m] == 0;
		sum += shares[m];
	}
	/* the rounding error matters least there, and the share stays at least 1 */
	shares[most] += units - sum;
	return units;
}

/* Sets ranges of equal width if possible; returns false otherwise. */
static bool
part_evenly(const uint64_t *rows, uint32_t bins, uint32_t shards, uint64_t all, uint32_t *ends)
{
	const uint64_t share = all / shards;
	const uint32_t width = bins / shards;

	if (bins % shards != 0 || (shards & (shards - 1)) != 0)
		return false;
	for (uint32_t m = 0; m < shards; m++)
	{
		uint64_t sum = 0;

		for (uint32_t bin = m * width; bin < (m + 1) * width; bin++)
			sum += rows[bin];
		if (sum > share + share / MORE_PARTS)
			return false;
		ends[m] = (m + 1) * width;
	}
	return true;
}

void
hg_exchange_ranges_balance(const uint64_t *rows, uint32_t bins, uint32_t shards,
						   const uint32_t *shares, uint32_t *ends)
{
	uint32_t bin = 0;
	uint64_t left = 0;
	uint64_t shares_left = 0;

	for (uint32_t i = 0; i < bins; i++)
		left += rows[i];
	for (uint32_t m = 0; m < shards; m++)
		shares_left += shares != NULL ? shares[m] : 1;
	for (uint32_t m = 0; m < shards; m++)
	{
		const uint32_t own = shares != NULL ? shares[m] : 1;
		/* of the rest: the shards behind a bin with very many rows share what is left */
		const uint64_t share = left * own / shares_left;
		uint64_t has = 0;

		/* as long as that comes nearer to the share */
		while (bin < bins && m + 1 < shards &&
			   (has == 0 || has + rows[bin] <= share ||
				(has < share && has + rows[bin] - share < share - has)))
			has += rows[bin++];
		left -= has;
		shares_left -= own;
		ends[m] = m + 1 < shards ? bin : bins;
	}
}

void
hg_exchange_ranges_choose(const uint64_t *rows, uint32_t bins, uint32_t shards,
						  const uint32_t *shares, uint32_t *ends)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < bins; i++)
		all += rows[i];
	if (shares != NULL || !part_evenly(rows, bins, shards, all, ends))
		hg_exchange_ranges_balance(rows, bins, shards, shares, ends);
}
