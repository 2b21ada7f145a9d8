/*-------------------------------------------------------------------------
 *
 * test_cuda_sharded.c
 *	  Jobs of the CUDA engine that are shards of one join, which exchange their rows.
 *
 * Shards are on one device, and send each other their rows there; test_server_sharded has them in
 * processes of their own, and on devices of their own where there are several.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_cuda_sharded.h"

#include "../../src/engine/hg_peer_window.h"
#include "../../src/engine/hg_sharded.h"
#include "hg_tap.h"
#include "test_data.h"
#include "test_engine_suite.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Rows that a shard is dealt in turn: so few that small jobs have some with each. */
#define DEAL_ROWS 16

#define ROWS 1000

static HgEngine *
find_engine(void *arg, uint32_t shard)
{
	(void) shard;
	return arg;
}

/* A shard of two, with rows in both sides. */
static HgJob *
open_shard(HgEngine *engine, const uint32_t *keys)
{
	const HgJobSpec spec = {.key_width = 4,
							.device = -1,
							.product = {HG_PRODUCT_SHARD, .shards = 2},
							.sides[HG_OUTER] = {.ncolumns = 1, .column_width = {4}}};
	HgError error;
	HgJob *job;

	if (engine->open(engine, test_host_plain(), &spec, &job, &error) != HG_OK)
		return NULL;
	if (engine->join->append_rows(job, HG_OUTER, keys, ROWS, 0, &error) != HG_OK ||
		engine->columns->append_column(job, HG_OUTER, 0, keys, NULL, ROWS, 0, &error) != HG_OK ||
		engine->join->append_rows(job, HG_INNER, keys, ROWS, 0, &error) != HG_OK)
	{
		engine->join->close(job);
		return NULL;
	}
	return job;
}

/* What a side is to expect where half of the parts are its own, and as many come as it has. */
static HgExchange
expected(HgEngine *engine, HgJob *job, HgSide side)
{
	HgExchange exchange = {.shards = 2, .numbers = 2 * ROWS, .ends = {HG_EXCHANGE_PARTS / 2}};
	uint64_t tally[HG_EXCHANGE_PARTS] = {0};
	HgError error;

	for (int shard = 1; shard < HG_MAX_SHARDS; shard++)
		exchange.ends[shard] = HG_EXCHANGE_PARTS;
	engine->exchange->tally(job, side, tally, &error);
	exchange.rows[0] = exchange.rows[1] = hg_exchange_rows_of(tally, exchange.ends, 0);
	return exchange;
}

/* Calls out of their order, and rows that are not what they should be, are refused. */
static void
test_refused(HgEngine *engine)
{
	uint32_t keys[ROWS];
	uint32_t numbers[ROWS];
	uint32_t values[ROWS];
	HgExchangeRows rows = {.keys = keys, .numbers = numbers, .values = {values}, .capacity = ROWS};
	HgExchange exchange;
	HgError error;
	HgJob *job;
	bool good;

	for (uint32_t i = 0; i < ROWS; i++)
		keys[i] = i;
	job = open_shard(engine, keys);
	hg_tap_ok(job != NULL, "a member of two gets rows");
	if (job == NULL)
		return;
	exchange = expected(engine, job, HG_OUTER);
	good = engine->join->build(job, &error) == HG_INVALID &&
		   engine->exchange->take_rows(job, HG_OUTER, 1, &rows, &error) == HG_INVALID &&
		   engine->exchange->put_rows(job, HG_OUTER, &rows, &error) == HG_INVALID &&
		   engine->exchange->arrived(job, HG_OUTER, &error) == HG_INVALID;
	hg_tap_ok(good, "nothing is built, taken, put or there before rows are expected");

	exchange.rows[0]++;
	good = engine->exchange->expect(job, HG_OUTER, &exchange, &error) == HG_INVALID;
	exchange.rows[0]--;
	exchange.numbers = ROWS - 1;
	good = good && engine->exchange->expect(job, HG_OUTER, &exchange, &error) == HG_INVALID;
	exchange.numbers = 2 * ROWS;
	exchange.shards = 3;
	good = good && engine->exchange->expect(job, HG_OUTER, &exchange, &error) == HG_INVALID;
	exchange.shards = 2;
	hg_tap_ok(good, "what does not go together is not expected");

	good = engine->exchange->expect(job, HG_OUTER, &exchange, &error) == HG_OK &&
		   engine->exchange->expect(job, HG_OUTER, &exchange, &error) == HG_INVALID &&
		   engine->join->append_rows(job, HG_OUTER, keys, 1, ROWS, &error) == HG_INVALID &&
		   engine->exchange->take_rows(job, HG_OUTER, 0, &rows, &error) == HG_INVALID &&
		   engine->exchange->take_rows(job, HG_OUTER, 2, &rows, &error) == HG_INVALID &&
		   engine->exchange->arrived(job, HG_OUTER, &error) == HG_INVALID;
	hg_tap_ok(good, "a side that expects rows gets no others, and is not there without them");

	good = engine->exchange->take_rows(job, HG_OUTER, 1, &rows, &error) == HG_OK &&
		   rows.count == ROWS - exchange.rows[0];
	for (size_t i = 0; good && i < rows.count; i++)
		good = keys[i] == numbers[i] && keys[i] == values[i] &&
			   hg_exchange_part32(hg_mix32(keys[i])) >= HG_EXCHANGE_PARTS / 2;
	hg_tap_ok(good, "another member's rows are taken, with numbers and values");
	hg_tap_ok(engine->exchange->take_rows(job, HG_OUTER, 1, &rows, &error) == HG_OK &&
				  rows.count == 0,
			  "... once");

	rows.count = 0;
	for (uint32_t key = 0; rows.count < exchange.rows[1]; key++)
		if (hg_exchange_part32(hg_mix32(key)) < HG_EXCHANGE_PARTS / 2)
		{
			numbers[rows.count] = ROWS + (uint32_t) rows.count;
			keys[rows.count++] = key;
		}
	good = true;
	for (uint32_t key = 0; key < 100 && good; key++)
		if (hg_exchange_part32(hg_mix32(key)) >= HG_EXCHANGE_PARTS / 2)
		{
			const uint32_t right = keys[7];

			keys[7] = key;
			good = engine->exchange->put_rows(job, HG_OUTER, &rows, &error) == HG_INVALID;
			keys[7] = right;
		}
	numbers[8] = 2 * ROWS;
	good = good && engine->exchange->put_rows(job, HG_OUTER, &rows, &error) == HG_INVALID;
	numbers[8] = ROWS + 8;
	rows.count++;
	good = good && engine->exchange->put_rows(job, HG_OUTER, &rows, &error) == HG_INVALID;
	rows.count--;
	hg_tap_ok(good, "rows of others, beyond all numbers, or too many, are not taken in");
	hg_tap_ok(engine->exchange->put_rows(job, HG_OUTER, &rows, &error) == HG_OK &&
				  engine->exchange->arrived(job, HG_OUTER, &error) == HG_OK &&
				  engine->exchange->arrived(job, HG_OUTER, &error) == HG_INVALID &&
				  engine->join->build(job, &error) == HG_INVALID,
			  "those that were expected are; the other side is still to come");
	engine->join->close(job);
}

/* What is no offer, or not this one, is not written to; what is sent to one that is, is there. */
static void
test_windows(HgEngine *engine)
{
	uint32_t keys[ROWS];
	uint32_t numbers[ROWS];
	uint32_t values[ROWS];
	HgExchangeRows rows = {.keys = keys, .numbers = numbers, .values = {values}, .capacity = ROWS};
	HgExchange exchange;
	HgPeerWindow window;
	HgPeerWindow forged[4];
	HgJob *jobs[2];
	HgError error;
	HgStatus status;
	bool good;

	for (uint32_t i = 0; i < ROWS; i++)
		keys[i] = i;
	jobs[0] = open_shard(engine, keys);
	for (uint32_t i = 0; i < ROWS; i++)
		keys[i] = ROWS + i;
	jobs[1] = open_shard(engine, keys);
	good = jobs[0] != NULL && jobs[1] != NULL;
	hg_tap_ok(good, "two members get rows");
	if (!good)
		return;
	exchange = (HgExchange){.shards = 2, .numbers = 2 * ROWS, .ends = {HG_EXCHANGE_PARTS / 2}};
	for (int shard = 1; shard < HG_MAX_SHARDS; shard++)
		exchange.ends[shard] = HG_EXCHANGE_PARTS;
	good = engine->windows->window(jobs[0], HG_OUTER, &window, &error) == HG_INVALID;
	for (uint32_t self = 0; self < 2 && good; self++)
	{
		exchange.self = self;
		for (int from = 0; from < 2; from++)
		{
			uint64_t tally[HG_EXCHANGE_PARTS] = {0};

			/* as it was, before anything was expected */
			for (uint32_t i = 0; i < ROWS; i++)
				tally[hg_exchange_part32(hg_mix32((uint32_t) from * ROWS + i))]++;
			exchange.rows[from] = hg_exchange_rows_of(tally, exchange.ends, self);
		}
		good = engine->exchange->expect(jobs[self], HG_OUTER, &exchange, &error) == HG_OK;
	}
	hg_tap_ok(good, "... and expect those of each other");
	status = engine->windows->window(jobs[0], HG_OUTER, &window, &error);
	if (status != HG_OK)
	{
		if (status == HG_INVALID)
			hg_tap_skip("there are none", "offers: %s", error.message);
		else
			hg_tap_ok(false, "offers: %s", error.message);
		for (int i = 0; i < 2; i++)
			engine->join->close(jobs[i]);
		return;
	}
	for (int i = 0; i < 4; i++)
		forged[i] = window;
	forged[0].token[0]++;
	forged[1].bytes += UINT64_C(1) << 30;
	forged[2].bytes--;
	forged[3].memory = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 4; i++)
		good = good &&
			   engine->windows->send_rows(jobs[1], HG_OUTER, 0, &forged[i], &error) == HG_INVALID;
	good = good && engine->windows->send_rows(jobs[1], HG_OUTER, 1, &window, &error) == HG_INVALID;
	good = good && engine->windows->send_rows(jobs[0], HG_OUTER, 1, &window, &error) == HG_INVALID;
	good = good && engine->windows->window(jobs[0], HG_OUTER, &forged[0], &error) == HG_INVALID;
	close(forged[3].memory);
	hg_tap_ok(good, "an offer is made once, and forged ones are refused");

	good = engine->windows->send_rows(jobs[1], HG_OUTER, 0, &window, &error) == HG_OK &&
		   engine->windows->sent(jobs[1], HG_OUTER, &error) == HG_OK &&
		   engine->exchange->take_rows(jobs[1], HG_OUTER, 0, &rows, &error) == HG_OK &&
		   rows.count == 0;
	close(window.memory);
	good = good && engine->windows->window(jobs[1], HG_OUTER, &window, &error) == HG_OK;
	engine->join->close(jobs[1]);
	good = good && engine->windows->send_rows(jobs[0], HG_OUTER, 1, &window, &error) == HG_OK &&
		   engine->windows->sent(jobs[0], HG_OUTER, &error) == HG_OK;
	close(window.memory);
	hg_tap_ok(good, "... what is sent to a job that is closed does no harm");
	hg_tap_ok(engine->exchange->arrived(jobs[0], HG_OUTER, &error) == HG_OK,
			  "... and what is sent to one that is open is there");
	engine->join->close(jobs[0]);
}

/* Do shards send each other all rows that they exchange, as far as the device can? */
static void
test_sent(HgEngine *engine, uint32_t shards)
{
	HgSharded sharded;
	TestData data;
	TestRun run = {.engine = &sharded.engine, .host = test_host_plain(), .data = &data};
	HgJobStats stats = {0};
	uint64_t counted = 0;
	HgError error;
	bool good = true;

	hg_sharded_init(&sharded, "wide over cuda", shards, 1000, find_engine, engine);
	for (uint32_t width = 4; width <= 8; width += 4)
	{
		test_data_create(&data, TEST_KEYS_DUPLICATES, width, 3000000, 2000000);
		run.spec.key_width = width;
		run.spec.device = -1;
		good = good && test_run_count(&run, HG_MATCH_ALL, &counted, &stats, &error) == HG_OK &&
			   counted == data.pairs && (stats.sent == stats.exchanged || stats.sent == 0);
		test_data_destroy(&data);
	}
	hg_tap_ok(good, "%u members send each other %" PRIu64 " of %" PRIu64 " rows", shards,
			  stats.sent, stats.exchanged);
}

void
test_cuda_sharded(HgEngine *engine)
{
	test_refused(engine);
	test_windows(engine);
	for (uint32_t shards = 2; shards <= 4; shards++)
		test_sent(engine, shards);
	for (uint32_t shards = 2; shards <= 3; shards++)
	{
		HgSharded sharded;

		hg_sharded_init(&sharded, "wide over cuda", shards, DEAL_ROWS, find_engine, engine);
		hg_engine_suite(&sharded.engine, test_host_plain());
		hg_engine_reduce_suite(&sharded.engine, test_host_plain());
	}
}
