/*-------------------------------------------------------------------------
 *
 * test_exchange.c
 *	  Members of a join exchange rows, one call at a time, and share their parts out.
 *
 * The devices are the CPU engine with little memory (hg_small_device.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../../src/engine/hg_exchange.h"
#include "hg_small_device.h"
#include "hg_tap.h"
#include "test_engine_suite.h"

#include <string.h>

static HgEngine *device;

/* ------------------------------------------------------------------------
 * Parts
 * ------------------------------------------------------------------------ */

/* The most rows that a member has, of these. */
static uint64_t
most_rows(uint32_t members, const uint64_t *rows, uint64_t *sum)
{
	uint32_t ends[HG_MAX_MEMBERS];
	uint64_t most = 0;

	*sum = 0;
	hg_exchange_choose(members, rows, NULL, ends);
	for (uint32_t member = 0; member < members; member++)
	{
		const uint64_t has = hg_exchange_rows_of(rows, ends, member);

		most = has > most ? has : most;
		*sum += has;
	}
	return most;
}

/* Members get equal shares, where there are no parts with very many rows. */
static void
test_choose(void)
{
	uint64_t rows[HG_EXCHANGE_PARTS];
	uint64_t sum;
	bool good = true;

	for (uint32_t members = 2; members <= HG_MAX_MEMBERS; members++)
	{
		for (uint32_t part = 0; part < HG_EXCHANGE_PARTS; part++)
			rows[part] = 900 + hg_mix32(part) % 200;
		good = good && most_rows(members, rows, &sum) <= sum / members * 9 / 8;
		good = good && sum > HG_EXCHANGE_PARTS * 900;
		/* one part has as many as all others: nobody has more than that, and all the rest */
		for (uint32_t part = 0; part < HG_EXCHANGE_PARTS; part += 73)
		{
			const uint64_t had = rows[part];
			const uint64_t others = sum - had;

			rows[part] = others;
			good = good && most_rows(members, rows, &sum) <= others + others / members &&
				   sum == 2 * others;
			rows[part] = had;
			sum = others + had;
		}
		memset(rows, 0, sizeof(rows));
		good = good && most_rows(members, rows, &sum) == 0 && sum == 0;
		rows[HG_EXCHANGE_PARTS - 1] = rows[0] = 7;
		good = good && most_rows(members, rows, &sum) == 7 && sum == 14;
	}
	hg_tap_ok(good, "exchange: members get equal shares, as far as parts allow");
}

/* What can't be expected of a side is told. */
static void
test_check(void)
{
	const HgExchange right = {.members = 3,
							  .self = 2,
							  .numbers = 6,
							  .ends = {10, 10, HG_EXCHANGE_PARTS},
							  .rows = {1, 2, 3}};
	HgExchange wrong;
	HgError error;
	bool good = hg_exchange_check(&right, 3, &error) == HG_OK && hg_exchange_rows(&right) == 6;

	good = good && hg_exchange_check(&right, 4, &error) == HG_INVALID;
	good = good && hg_exchange_check(&right, 0, &error) == HG_INVALID;
	good = good && hg_exchange_check(&right, HG_MAX_MEMBERS + 1, &error) == HG_INVALID;
	wrong = right;
	wrong.self = 3;
	good = good && hg_exchange_check(&wrong, 3, &error) == HG_INVALID;
	wrong = right;
	wrong.ends[1] = 9;
	good = good && hg_exchange_check(&wrong, 3, &error) == HG_INVALID;
	wrong = right;
	wrong.ends[2] = HG_EXCHANGE_PARTS - 1;
	good = good && hg_exchange_check(&wrong, 3, &error) == HG_INVALID;
	wrong.ends[2] = HG_EXCHANGE_PARTS + 1;
	good = good && hg_exchange_check(&wrong, 3, &error) == HG_INVALID;
	wrong = right;
	wrong.rows[1] = HG_MAX_ROWS - 4;
	good = good && hg_exchange_check(&wrong, 3, &error) == HG_TOO_MANY_ROWS;
	wrong.rows[1] = UINT64_MAX;
	good = good && hg_exchange_check(&wrong, 3, &error) == HG_TOO_MANY_ROWS;
	wrong = right;
	wrong.numbers = 5;
	good = good && hg_exchange_check(&wrong, 3, &error) == HG_INVALID;
	wrong.numbers = UINT64_C(1) << 32;
	good = good && hg_exchange_check(&wrong, 3, &error) == HG_TOO_MANY_ROWS;
	hg_tap_ok(good, "exchange: what no member can expect is told");
}

/* ------------------------------------------------------------------------
 * Members, one call at a time
 * ------------------------------------------------------------------------ */

#define BY_HAND_ROWS 100

/* Two members, each with rows of both sides: 0 .. 99 are the keys and numbers of one, and so on. */
typedef struct ByHand
{
	HgJob *jobs[2];
	uint64_t tallies[2][HG_EXCHANGE_PARTS];
	HgExchange exchange; /* of the first */
	uint64_t keys[BY_HAND_ROWS];
	uint32_t numbers[BY_HAND_ROWS];
	HgExchangeRows rows;
	HgError error;
} ByHand;

static bool
by_hand_open(ByHand *two)
{
	HgJobSpec spec = {.key_width = 8, .device = -1, .members = 2};
	uint64_t sum[HG_EXCHANGE_PARTS];
	bool good = true;

	device = hg_small_device(0, false);
	memset(two, 0, sizeof(*two));
	two->rows.keys = two->keys;
	two->rows.numbers = two->numbers;
	two->rows.capacity = BY_HAND_ROWS;
	for (uint64_t member = 0; member < 2; member++)
	{
		HgJob **job = &two->jobs[member];

		good = good && device->open(device, test_host_plain(), &spec, job, &two->error) == HG_OK;
		for (int side = 0; side < 2 && good; side++)
		{
			for (uint64_t i = 0; i < BY_HAND_ROWS; i++)
				two->keys[i] = member * BY_HAND_ROWS + i;
			good = device->append_rows(*job, (HgSide) side, two->keys, BY_HAND_ROWS,
									   member * BY_HAND_ROWS, &two->error) == HG_OK;
		}
		good = good && device->tally(*job, HG_OUTER, two->tallies[member], &two->error) == HG_OK;
	}
	for (uint32_t part = 0; part < HG_EXCHANGE_PARTS; part++)
		sum[part] = two->tallies[0][part] + two->tallies[1][part];
	two->exchange.members = 2;
	two->exchange.numbers = 2 * BY_HAND_ROWS;
	hg_exchange_choose(2, sum, NULL, two->exchange.ends);
	for (int member = 0; member < 2; member++)
		two->exchange.rows[member] =
			hg_exchange_rows_of(two->tallies[member], two->exchange.ends, 0);
	return good;
}

static void
by_hand_close(ByHand *two)
{
	for (int member = 0; member < 2; member++)
		device->close(two->jobs[member]);
}

/* Calls that come out of their order, or with what can't be, are refused and do no harm. */
static void
test_order(void)
{
	ByHand two;
	HgError *error = &two.error;
	HgExchange wrong;
	uint64_t counted = 0;
	bool good = by_hand_open(&two);
	HgJob *job = two.jobs[0];

	good = good && device->take_rows(job, HG_OUTER, 1, &two.rows, error) == HG_INVALID;
	good = good && device->put_rows(job, HG_OUTER, &two.rows, error) == HG_INVALID;
	good = good && device->arrived(job, HG_OUTER, error) == HG_INVALID;
	good = good && device->build(job, error) == HG_INVALID;
	good = good && device->append(job, HG_OUTER, two.keys, 1, error) == HG_INVALID;
	for (int way = 0; way < 4; way++)
	{
		wrong = two.exchange;
		if (way == 0)
			wrong.members = 3;
		else if (way == 1)
			wrong.rows[0]++;
		else if (way == 2)
			wrong.rows[0]--;
		else
			wrong.numbers = BY_HAND_ROWS - 1;
		good = good && device->expect(job, HG_OUTER, &wrong, error) == HG_INVALID;
	}
	hg_tap_ok(good, "exchange: what has no sense yet is refused");

	for (int side = 0; side < 2; side++)
	{
		good = good && device->expect(job, (HgSide) side, &two.exchange, error) == HG_OK;
		good = good && device->expect(job, (HgSide) side, &two.exchange, error) == HG_INVALID;
		good =
			good && device->append_rows(job, (HgSide) side, two.keys, 1, 500, error) == HG_INVALID;
		good = good && device->tally(job, (HgSide) side, two.tallies[0], error) == HG_INVALID;
		good = good && device->arrived(job, (HgSide) side, error) == HG_INVALID;
		good = good && device->take_rows(job, (HgSide) side, 0, &two.rows, error) == HG_INVALID;
		good = good && device->take_rows(job, (HgSide) side, 2, &two.rows, error) == HG_INVALID;

		/* its own rows come to nobody else, and no more than were expected come to it */
		good = good && device->take_rows(job, (HgSide) side, 1, &two.rows, error) == HG_OK &&
			   two.rows.count == BY_HAND_ROWS - two.exchange.rows[0];
		good = good && device->put_rows(job, (HgSide) side, &two.rows, error) == HG_INVALID;
		two.rows.count = 0;
		for (uint64_t key = BY_HAND_ROWS; key < 2 * BY_HAND_ROWS; key++)
			if (hg_exchange_part64(hg_mix64(key)) < two.exchange.ends[0])
			{
				two.keys[two.rows.count] = key;
				two.numbers[two.rows.count++] = (uint32_t) key;
			}
		two.numbers[0] += BY_HAND_ROWS;
		good = good && device->put_rows(job, (HgSide) side, &two.rows, error) == HG_INVALID;
		two.numbers[0] -= BY_HAND_ROWS;
		good = good && device->put_rows(job, (HgSide) side, &two.rows, error) == HG_OK;
		good = good && device->put_rows(job, (HgSide) side, &two.rows, error) == HG_INVALID;
		good = good && device->arrived(job, (HgSide) side, error) == HG_OK;
		good = good && device->arrived(job, (HgSide) side, error) == HG_INVALID;
	}
	good = good && device->build(job, error) == HG_OK &&
		   device->count(job, HG_MATCH_ALL, &counted, error) == HG_OK;
	hg_tap_ok(good && counted == two.exchange.rows[0] + two.exchange.rows[1],
			  "exchange: a member has its part of the join after that");
	by_hand_close(&two);
	hg_tap_ok(hg_small_device_open_jobs() == 0, "exchange: ... and ends");
}

int
main(void)
{
	test_choose();
	test_check();
	test_order();
	return hg_tap_done();
}
