/*-------------------------------------------------------------------------
 *
 * hg_exchange.c
 *	  Which shard of a join has which rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_exchange.h"

#include "hg_exchange_ranges.h"

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
		return hg_error_set(error, HG_INVALID, NULL, "the job is no member of several");
	if (exchange->shards != shards || exchange->self >= shards)
		return hg_error_set(error, HG_INVALID, NULL, "the join has not that many members");
	for (uint32_t shard = 0; shard < shards; shard++)
	{
		if (exchange->ends[shard] < begin || exchange->ends[shard] > HG_EXCHANGE_PARTS)
			return hg_error_set(error, HG_INVALID, NULL, "the parts of a member are none");
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
