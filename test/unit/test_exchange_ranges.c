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

#include "../../src/engine/hg_exchange_ranges.h"
#include "../../src/engine/hg_hash.h"

#include <stdbool.h>
#include <string.h>

#define MAX_BINS (1 << HG_EXCHANGE_MAX_LOG2)

static uint64_t rows[MAX_BINS];
static uint32_t ends[HG_EXCHANGE_MEMBERS];

/* The rows of a member's bins. */
static uint64_t
rows_of(uint32_t member)
{
	uint64_t sum = 0;

	for (uint32_t bin = member == 0 ? 0 : ends[member - 1]; bin < ends[member]; bin++)
		sum += rows[bin];
	return sum;
}

/*
 * Choose, and check what holds always: ranges follow one another, end with the last bin, and none
 * has more than its share by more than the longest bin.
 */
static bool
choose(uint32_t bins, uint32_t members, const uint32_t *shares)
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
	for (uint32_t m = 0; m < members; m++)
		sum += shares != NULL ? shares[m] : 1;
	memset(ends, 0xff, sizeof(ends));
	hg_exchange_ranges_choose(rows, bins, members, shares, ends);
	for (uint32_t m = 0; m < members; m++)
	{
		right &= ends[m] <= bins && (m == 0 || ends[m] >= ends[m - 1]);
		if (right && shares == NULL)
			right &= rows_of(m) <= all / members + all / members / 8 + longest + 1;
		else if (right)
			right &= rows_of(m) <= all * shares[m] / sum + longest + 1;
	}
	return right && ends[members - 1] == bins;
}

static bool
are_as_wide(uint32_t bins, uint32_t members)
{
	for (uint32_t m = 0; m < members; m++)
		if (ends[m] != bins / members * (m + 1))
			return false;
	return true;
}

static void
test_even(void)
{
	for (uint32_t members = 1; members <= HG_EXCHANGE_MEMBERS; members++)
	{
		const uint32_t log2 = hg_exchange_ranges_log2(members);
		const uint32_t bins = UINT32_C(1) << log2;
		const bool is_power = (members & (members - 1)) == 0;

		hg_tap_ok(log2 <= HG_EXCHANGE_MAX_LOG2 && bins >= 64 * members,
				  "%u members have enough bins: 2^%u", members, log2);
		for (uint32_t bin = 0; bin < bins; bin++)
			rows[bin] = 1000 + hg_mix32(bin) % 50;
		hg_tap_ok(choose(bins, members, NULL), "%u members get shares of rows that are spread",
				  members);
		hg_tap_ok(are_as_wide(bins, members) == is_power,
				  "... and ranges as wide where they are a power of two");
	}
}

/* Members with very different room get rows in proportion to it, and others equal shares. */
static void
test_room(void)
{
	static const struct
	{
		uint32_t members;
		uint64_t room[HG_EXCHANGE_MEMBERS];
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
		const uint32_t members = cases[i].members;
		const uint32_t bins = UINT32_C(1) << hg_exchange_ranges_log2(members);
		uint32_t shares[HG_EXCHANGE_MEMBERS];
		const uint32_t sum = hg_exchange_ranges_share(members, cases[i].room, shares);
		uint64_t all = 0;
		uint32_t added = 0;
		bool right = sum == (cases[i].are_alike ? members : HG_EXCHANGE_SHARES * members);

		for (uint32_t m = 0; m < members; m++)
			all += cases[i].room[m];
		for (uint32_t m = 0; m < members; m++)
		{
			const double part = all > 0 ? (double) cases[i].room[m] / (double) all * sum : 1;

			right &= shares[m] >= 1;
			right &= cases[i].are_alike ? shares[m] == 1
										: shares[m] >= part - members && shares[m] < part + members;
			added += shares[m];
		}
		for (uint32_t bin = 0; bin < bins; bin++)
			rows[bin] = 1000 + hg_mix32(bin) % 50;
		hg_tap_ok(right && added == sum && choose(bins, members, shares),
				  "%u members get shares in proportion to room: case %zu", members, i);
	}
}

/* A bin may have any part of all rows. */
static void
test_skew(void)
{
	static const uint64_t hot[] = {0, 1, 500000, UINT64_C(1) << 40};

	for (size_t i = 0; i < sizeof(hot) / sizeof(hot[0]); i++)
		for (uint32_t members = 1; members <= HG_EXCHANGE_MEMBERS; members++)
		{
			const uint32_t bins = UINT32_C(1) << hg_exchange_ranges_log2(members);
			bool right = true;

			for (uint32_t place = 0; place < bins; place += bins / 8 - 1)
			{
				for (uint32_t bin = 0; bin < bins; bin++)
					rows[bin] = 1000;
				rows[place] = hot[i];
				right &= choose(bins, members, NULL);
				memset(rows, 0, sizeof(rows));
				rows[place] = hot[i];
				right &= choose(bins, members, NULL);
			}
			hg_tap_ok(right, "%u members, a bin of %llu rows, and others or none", members,
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
