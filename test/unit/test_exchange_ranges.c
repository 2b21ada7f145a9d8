/*-------------------------------------------------------------------------
 *
 * test_exchange_ranges.c
 *	  How bins are parted among devices: which are whose, and how even that is.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"

#include "../../src/engine/hg_exchange.h"
#include "../../src/engine/hg_hash.h"

#include <stdbool.h>
#include <string.h>

#define MAX_BINS (1 << HG_EXCHANGE_MAX_LOG2)

static uint64_t rows[MAX_BINS];
static uint32_t ends[HG_EXCHANGE_SHARDS];

/* The rows of a shard's bins. */
static uint64_t
rows_of(uint32_t shard)
{
	uint64_t sum = 0;

	for (uint32_t bin = shard == 0 ? 0 : ends[shard - 1]; bin < ends[shard]; bin++)
		sum += rows[bin];
	return sum;
}

/*
 * Choose, and check what holds always: ranges follow one another, end with the last bin, and none
 * has more than its share by more than the longest bin.
 */
static bool
choose(uint32_t bins, uint32_t shards, const uint32_t *shares)
{
	uint64_t longest = 0;
	uint64_t all = 0;
	uint64_t sum = 0;
	bool right = true;

	for (uint32_t bin = 0; bin < bins; bin++)
	{
		all += rows[bin];
		longest = rows[bin] > longest ? rows[bin] : longest;
	}
	for (uint32_t m = 0; m < shards; m++)
		sum += shares != NULL ? shares[m] : 1;
	memset(ends, 0xff, sizeof(ends));
	hg_exchange_ranges_choose(rows, bins, shards, shares, ends);
	for (uint32_t m = 0; m < shards; m++)
	{
		right &= ends[m] <= bins && (m == 0 || ends[m] >= ends[m - 1]);
		if (right && shares == NULL)
			right &= rows_of(m) <= all / shards + all / shards / 8 + longest + 1;
		else if (right)
			right &= rows_of(m) <= all * shares[m] / sum + longest + 1;
	}
	return right && ends[shards - 1] == bins;
}

static bool
are_as_wide(uint32_t bins, uint32_t shards)
{
	for (uint32_t m = 0; m < shards; m++)
		if (ends[m] != bins / shards * (m + 1))
			return false;
	return true;
}

static void
test_even(void)
{
	for (uint32_t shards = 1; shards <= HG_EXCHANGE_SHARDS; shards++)
	{
		const uint32_t log2 = hg_exchange_ranges_log2(shards);
		const uint32_t bins = UINT32_C(1) << log2;
		const bool is_power = (shards & (shards - 1)) == 0;

		hg_tap_ok(log2 <= HG_EXCHANGE_MAX_LOG2 && bins >= 64 * shards,
				  "%u members have enough bins: 2^%u", shards, log2);
		for (uint32_t bin = 0; bin < bins; bin++)
			rows[bin] = 1000 + hg_mix32(bin) % 50;
		hg_tap_ok(choose(bins, shards, NULL), "%u members get shares of rows that are spread",
				  shards);
		hg_tap_ok(are_as_wide(bins, shards) == is_power,
				  "... and ranges as wide where they are a power of two");
	}
}

/* Shards with very different room get rows in proportion to it, and others equal shares. */
static void
test_room(void)
{
	static const struct
	{
		uint32_t shards;
		uint64_t room[HG_EXCHANGE_SHARDS];
		bool are_alike;
	} cases[] = {
		{1, {0}, true},
		{2, {0, 0}, true},
		{2, {2000, 3000}, true},
		{2, {1999, 3000}, false},
		{2, {1, (UINT64_C(1) << 48) - 1}, false},
		{3, {80, 10, 80}, false},
		{8, {3, 3, 3, 2, 3, 3, 3, 3}, true},
		{8, {0, 0, 0, 0, 0, 0, 0, 1}, false},
		{8, {80, 70, 60, 50, 40, 30, 20, 10}, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		const uint32_t shards = cases[i].shards;
		const uint32_t bins = UINT32_C(1) << hg_exchange_ranges_log2(shards);
		uint32_t shares[HG_EXCHANGE_SHARDS];
		const uint32_t sum = hg_exchange_ranges_share(shards, cases[i].room, shares);
		uint64_t all = 0;
		uint32_t added = 0;
		bool right = sum == (cases[i].are_alike ? shards : HG_EXCHANGE_SHARES * shards);

		for (uint32_t m = 0; m < shards; m++)
			all += cases[i].room[m];
		for (uint32_t m = 0; m < shards; m++)
		{
			const double part = all > 0 ? (double) cases[i].room[m] / (double) all * sum : 1;

			right &= shares[m] >= 1;
			right &= cases[i].are_alike ? shares[m] == 1
										: shares[m] >= part - shards && shares[m] < part + shards;
			added += shares[m];
		}
		for (uint32_t bin = 0; bin < bins; bin++)
			rows[bin] = 1000 + hg_mix32(bin) % 50;
		hg_tap_ok(right && added == sum && choose(bins, shards, shares),
				  "%u members get shares in proportion to room: case %zu", shards, i);
	}
}

/* A bin may have any part of all rows. */
static void
test_skew(void)
{
	static const uint64_t hot[] = {0, 1, 500000, UINT64_C(1) << 40};

	for (size_t i = 0; i < sizeof(hot) / sizeof(hot[0]); i++)
		for (uint32_t shards = 1; shards <= HG_EXCHANGE_SHARDS; shards++)
		{
			const uint32_t bins = UINT32_C(1) << hg_exchange_ranges_log2(shards);
			bool right = true;

			for (uint32_t hot_bin = 0; hot_bin < bins; hot_bin += bins / 8 - 1)
			{
				for (uint32_t bin = 0; bin < bins; bin++)
					rows[bin] = 1000;
				rows[hot_bin] = hot[i];
				right &= choose(bins, shards, NULL);
				memset(rows, 0, sizeof(rows));
				rows[hot_bin] = hot[i];
				right &= choose(bins, shards, NULL);
			}
			hg_tap_ok(right, "%u members, a bin of %llu rows, and others or none", shards,
					  (unsigned long long) hot[i]);
		}
}

/* Rows that become fewer from bin to bin: ranges differ in width, not in rows. */
static void
test_slope(void)
{
	const uint32_t bins = 512;

	for (uint32_t bin = 0; bin < bins; bin++)
		rows[bin] = 1000 * (bins - bin);
	hg_tap_ok(choose(bins, 4, NULL), "four members get shares of rows that become fewer");
	hg_tap_ok(!are_as_wide(bins, 4) && ends[0] < 128 && ends[3] - ends[2] > 128,
			  "... the first a narrow range, the last a wide one");
	for (uint32_t m = 0; m < 4; m++)
		hg_tap_ok(rows_of(m) * 4 < UINT64_C(1000) * bins * (bins + 1) / 2 / 100 * 102,
				  "... member %u is within 2 %% of its share", m);
}

int
main(void)
{
	test_even();
	test_room();
	test_skew();
	test_slope();
	return hg_tap_done();
}
