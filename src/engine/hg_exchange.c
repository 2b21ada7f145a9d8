/*-------------------------------------------------------------------------
 *
 * hg_exchange.c
 *	  Several jobs that are one join: which of them has which rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_exchange.h"

#include "hg_exchange_ranges.h"

void
hg_exchange_choose(uint32_t members, const uint64_t rows[HG_EXCHANGE_PARTS], const uint32_t *shares,
				   uint32_t ends[HG_MAX_MEMBERS])
{
	hg_exchange_ranges_balance(rows, HG_EXCHANGE_PARTS, members, shares, ends);
	for (uint32_t member = members; member < HG_MAX_MEMBERS; member++)
		ends[member] = HG_EXCHANGE_PARTS;
}

HgStatus
hg_exchange_check(const HgExchange *exchange, uint32_t members, HgError *error)
{
	uint32_t begin = 0;
	uint64_t rows = 0;

	if (members < 2 || members > HG_MAX_MEMBERS)
		return hg_error_set(error, HG_INVALID, NULL, "the job is no member of several");
	if (exchange->members != members || exchange->self >= members)
		return hg_error_set(error, HG_INVALID, NULL, "the join has not that many members");
	for (uint32_t member = 0; member < members; member++)
	{
		if (exchange->ends[member] < begin || exchange->ends[member] > HG_EXCHANGE_PARTS)
			return hg_error_set(error, HG_INVALID, NULL, "the parts of a member are none");
		begin = exchange->ends[member];
		if (exchange->rows[member] >= HG_MAX_ROWS - rows)
			return hg_error_set(error, HG_TOO_MANY_ROWS, NULL,
								"too many rows in one side of a join");
		rows += exchange->rows[member];
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

	for (uint32_t member = 0; member < exchange->members; member++)
		rows += exchange->rows[member];
	return rows;
}

uint64_t
hg_exchange_rows_of(const uint64_t tally[HG_EXCHANGE_PARTS], const uint32_t ends[HG_MAX_MEMBERS],
					uint32_t member)
{
	uint64_t rows = 0;

	for (uint32_t part = member > 0 ? ends[member - 1] : 0; part < ends[member]; part++)
		rows += tally[part];
	return rows;
}

void
hg_exchange_owners(const HgExchange *exchange, uint8_t owners[HG_EXCHANGE_PARTS])
{
	uint32_t part = 0;

	for (uint32_t member = 0; member < exchange->members; member++)
		for (; part < exchange->ends[member]; part++)
			owners[part] = (uint8_t) member;
}
