/*-------------------------------------------------------------------------
 *
 * test_exchange.c
 *	  Shards of a join exchange rows, one call at a time, and share their parts out.
 *
 * The devices are the CPU engine with little memory (hg_small_device.h), which offer each other
 * some.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* memfd_create */

#include "../../src/engine/hg_peer_window.h"
#include "../../src/engine/hg_sharded.h"
#include "hg_small_device.h"
#include "hg_tap.h"
#include "test_engine_suite.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static HgEngine *device;

/* ------------------------------------------------------------------------
 * Parts
 * ------------------------------------------------------------------------ */

/* The most rows that a shard has, of these. */
static uint64_t
most_rows(uint32_t shards, const uint64_t *rows, uint64_t *sum)
{
	uint32_t ends[HG_MAX_SHARDS];
	uint64_t most = 0;

	*sum = 0;
	hg_exchange_choose(shards, rows, NULL, ends);
	for (uint32_t shard = 0; shard < shards; shard++)
	{
		const uint64_t has = hg_exchange_rows_of(rows, ends, shard);

		most = has > most ? has : most;
		*sum += has;
	}
	return most;
}

/* Shards get equal shares, where there are no parts with very many rows. */
static void
test_choose(void)
{
	uint64_t rows[HG_EXCHANGE_PARTS];
	uint64_t sum;
	bool good = true;

	for (uint32_t shards = 2; shards <= HG_MAX_SHARDS; shards++)
	{
		for (uint32_t part = 0; part < HG_EXCHANGE_PARTS; part++)
			rows[part] = 900 + hg_mix32(part) % 200;
		good = good && most_rows(shards, rows, &sum) <= sum / shards * 9 / 8;
		good = good && sum > HG_EXCHANGE_PARTS * 900;
		/* one part has as many as all others: nobody has more than that, and all the rest */
		for (uint32_t part = 0; part < HG_EXCHANGE_PARTS; part += 73)
		{
			const uint64_t had = rows[part];
			const uint64_t others = sum - had;

			rows[part] = others;
			good = good && most_rows(shards, rows, &sum) <= others + others / shards &&
				   sum == 2 * others;
			rows[part] = had;
			sum = others + had;
		}
		memset(rows, 0, sizeof(rows));
		good = good && most_rows(shards, rows, &sum) == 0 && sum == 0;
		rows[HG_EXCHANGE_PARTS - 1] = rows[0] = 7;
		good = good && most_rows(shards, rows, &sum) == 7 && sum == 14;
	}
	hg_tap_ok(good, "exchange: members get equal shares, as far as parts allow");
}

/* What can't be expected of a side is told. */
static void
test_check(void)
{
	const HgExchange right = {.shards = 3,
							  .self = 2,
							  .numbers = 6,
							  .ends = {10, 10, HG_EXCHANGE_PARTS},
							  .rows = {1, 2, 3}};
	HgExchange wrong;
	HgError error;
	bool good = hg_exchange_check(&right, 3, &error) == HG_OK && hg_exchange_rows(&right) == 6;

	good = good && hg_exchange_check(&right, 4, &error) == HG_INVALID;
	good = good && hg_exchange_check(&right, 0, &error) == HG_INVALID;
	good = good && hg_exchange_check(&right, HG_MAX_SHARDS + 1, &error) == HG_INVALID;
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
 * Shards, one call at a time
 * ------------------------------------------------------------------------ */

#define BY_HAND_ROWS 100

/* Two shards, each with rows of both sides: 0 .. 99 are the keys and numbers of one, and so on. */
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
	HgJobSpec spec = {.key_width = 8, .device = -1, .product = {HG_PRODUCT_SHARD, .shards = 2}};
	uint64_t sum[HG_EXCHANGE_PARTS];
	bool good = true;

	device = hg_small_device(0, false);
	memset(two, 0, sizeof(*two));
	two->rows.keys = two->keys;
	two->rows.numbers = two->numbers;
	two->rows.capacity = BY_HAND_ROWS;
	for (uint64_t shard = 0; shard < 2; shard++)
	{
		HgJob **job = &two->jobs[shard];

		good = good && device->open(device, test_host_plain(), &spec, job, &two->error) == HG_OK;
		for (int side = 0; side < 2 && good; side++)
		{
			for (uint64_t i = 0; i < BY_HAND_ROWS; i++)
				two->keys[i] = shard * BY_HAND_ROWS + i;
			good = device->join->append_rows(*job, (HgSide) side, two->keys, BY_HAND_ROWS,
											 shard * BY_HAND_ROWS, &two->error) == HG_OK;
		}
		good = good &&
			   device->exchange->tally(*job, HG_OUTER, two->tallies[shard], &two->error) == HG_OK;
	}
	for (uint32_t part = 0; part < HG_EXCHANGE_PARTS; part++)
		sum[part] = two->tallies[0][part] + two->tallies[1][part];
	two->exchange.shards = 2;
	two->exchange.numbers = 2 * BY_HAND_ROWS;
	hg_exchange_choose(2, sum, NULL, two->exchange.ends);
	for (int shard = 0; shard < 2; shard++)
		two->exchange.rows[shard] = hg_exchange_rows_of(two->tallies[shard], two->exchange.ends, 0);
	return good;
}

static void
by_hand_close(ByHand *two)
{
	for (int shard = 0; shard < 2; shard++)
		device->join->close(two->jobs[shard]);
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

	good = good && device->exchange->take_rows(job, HG_OUTER, 1, &two.rows, error) == HG_INVALID;
	good = good && device->exchange->put_rows(job, HG_OUTER, &two.rows, error) == HG_INVALID;
	good = good && device->exchange->arrived(job, HG_OUTER, error) == HG_INVALID;
	good = good && device->join->build(job, error) == HG_INVALID;
	good = good && device->join->append(job, HG_OUTER, two.keys, 1, error) == HG_INVALID;
	for (int way = 0; way < 4; way++)
	{
		wrong = two.exchange;
		if (way == 0)
			wrong.shards = 3;
		else if (way == 1)
			wrong.rows[0]++;
		else if (way == 2)
			wrong.rows[0]--;
		else
			wrong.numbers = BY_HAND_ROWS - 1;
		good = good && device->exchange->expect(job, HG_OUTER, &wrong, error) == HG_INVALID;
	}
	hg_tap_ok(good, "exchange: what has no sense yet is refused");

	for (int side = 0; side < 2; side++)
	{
		good = good && device->exchange->expect(job, (HgSide) side, &two.exchange, error) == HG_OK;
		good = good &&
			   device->exchange->expect(job, (HgSide) side, &two.exchange, error) == HG_INVALID;
		good = good &&
			   device->join->append_rows(job, (HgSide) side, two.keys, 1, 500, error) == HG_INVALID;
		good = good &&
			   device->exchange->tally(job, (HgSide) side, two.tallies[0], error) == HG_INVALID;
		good = good && device->exchange->arrived(job, (HgSide) side, error) == HG_INVALID;
		good = good &&
			   device->exchange->take_rows(job, (HgSide) side, 0, &two.rows, error) == HG_INVALID;
		good = good &&
			   device->exchange->take_rows(job, (HgSide) side, 2, &two.rows, error) == HG_INVALID;

		/* its own rows come to nobody else, and no more than were expected come to it */
		good = good &&
			   device->exchange->take_rows(job, (HgSide) side, 1, &two.rows, error) == HG_OK &&
			   two.rows.count == BY_HAND_ROWS - two.exchange.rows[0];
		good =
			good && device->exchange->put_rows(job, (HgSide) side, &two.rows, error) == HG_INVALID;
		two.rows.count = 0;
		for (uint64_t key = BY_HAND_ROWS; key < 2 * BY_HAND_ROWS; key++)
			if (hg_exchange_part64(hg_mix64(key)) < two.exchange.ends[0])
			{
				two.keys[two.rows.count] = key;
				two.numbers[two.rows.count++] = (uint32_t) key;
			}
		two.numbers[0] += BY_HAND_ROWS;
		good =
			good && device->exchange->put_rows(job, (HgSide) side, &two.rows, error) == HG_INVALID;
		two.numbers[0] -= BY_HAND_ROWS;
		good = good && device->exchange->put_rows(job, (HgSide) side, &two.rows, error) == HG_OK;
		good =
			good && device->exchange->put_rows(job, (HgSide) side, &two.rows, error) == HG_INVALID;
		good = good && device->exchange->arrived(job, (HgSide) side, error) == HG_OK;
		good = good && device->exchange->arrived(job, (HgSide) side, error) == HG_INVALID;
	}
	good = good && device->join->build(job, error) == HG_OK &&
		   device->join->count(job, HG_MATCH_ALL, &counted, error) == HG_OK;
	hg_tap_ok(good && counted == two.exchange.rows[0] + two.exchange.rows[1],
			  "exchange: a member has its part of the join after that");
	by_hand_close(&two);
	hg_tap_ok(hg_small_device_open_jobs() == 0, "exchange: ... and ends");
}

/* ------------------------------------------------------------------------
 * Rows that shards send each other
 * ------------------------------------------------------------------------ */

/* Have both shards expect what each is to have of the outer side. */
static bool
by_hand_expect(ByHand *two)
{
	bool good = true;

	for (uint32_t to = 0; to < 2; to++)
	{
		HgExchange exchange = two->exchange;

		exchange.self = to;
		for (int from = 0; from < 2; from++)
			exchange.rows[from] = hg_exchange_rows_of(two->tallies[from], exchange.ends, to);
		good = good &&
			   device->exchange->expect(two->jobs[to], HG_OUTER, &exchange, &two->error) == HG_OK;
	}
	return good;
}

/* What comes out of the order is refused, and an offer is of one side and one shard. */
static void
test_window_order(void)
{
	ByHand two;
	HgError *error = &two.error;
	HgPeerWindow windows[2];
	bool good = by_hand_open(&two);
	HgJob **jobs = two.jobs;

	hg_small_device_set_windows(true, HG_SEND_WELL);
	good = good && device->windows->window(jobs[0], HG_OUTER, &windows[0], error) == HG_INVALID;
	memset(windows, 0, sizeof(windows));
	windows[0].memory = -1;
	good =
		good && device->windows->send_rows(jobs[1], HG_OUTER, 0, &windows[0], error) == HG_INVALID;
	good = good && by_hand_expect(&two);
	for (int to = 0; to < 2; to++)
		good = good && device->windows->window(jobs[to], HG_OUTER, &windows[to], error) == HG_OK;
	good =
		good && device->windows->window(jobs[0], HG_OUTER, &(HgPeerWindow){0}, error) == HG_INVALID;
	good =
		good && device->windows->window(jobs[0], HG_INNER, &(HgPeerWindow){0}, error) == HG_INVALID;
	good =
		good && device->windows->send_rows(jobs[0], HG_OUTER, 0, &windows[1], error) == HG_INVALID;
	good =
		good && device->windows->send_rows(jobs[0], HG_OUTER, 2, &windows[1], error) == HG_INVALID;
	good =
		good && device->windows->send_rows(jobs[0], HG_OUTER, 1, &windows[0], error) == HG_INVALID;
	good =
		good && device->windows->send_rows(jobs[0], HG_INNER, 1, &windows[1], error) == HG_INVALID;
	good = good && device->exchange->arrived(jobs[1], HG_OUTER, error) == HG_INVALID;
	hg_tap_ok(good, "offers: what comes out of the order is refused");

	/* what was offered to the second is there no more, as it was said that all had come */
	good = device->windows->send_rows(jobs[1], HG_OUTER, 0, &windows[0], error) == HG_OK &&
		   device->windows->sent(jobs[1], HG_OUTER, error) == HG_OK &&
		   device->exchange->take_rows(jobs[1], HG_OUTER, 0, &two.rows, error) == HG_OK &&
		   two.rows.count == 0 &&
		   device->windows->send_rows(jobs[1], HG_OUTER, 0, &windows[0], error) == HG_INVALID;
	good = good && device->exchange->arrived(jobs[0], HG_OUTER, error) == HG_OK;
	good =
		good && device->exchange->take_rows(jobs[0], HG_OUTER, 1, &two.rows, error) == HG_INVALID;
	hg_tap_ok(good, "offers: rows that were sent are there, and are not to be taken again");
	by_hand_close(&two);
	for (int to = 0; to < 2; to++)
		close(windows[to].memory);
	hg_tap_ok(hg_small_device_open_jobs() == 0, "offers: ... and nothing is left of it");
}

/* A file of so many bytes, sealed or not. */
static int
make_file(uint64_t bytes, bool sealed)
{
	int file = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (ftruncate(file, (off_t) bytes) != 0 ||
		(sealed && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0))
		close(file);
	return file;
}

/* What is no offer, or not this one, is not written to: the rows are there to be taken. */
static void
test_forged(void)
{
	ByHand two;
	HgError *error = &two.error;
	HgPeerWindow window;
	HgPeerWindow forged[6];
	bool good = by_hand_open(&two) && by_hand_expect(&two);
	unsigned char *empty;

	hg_small_device_set_windows(true, HG_SEND_WELL);
	good = good && device->windows->window(two.jobs[0], HG_OUTER, &window, error) == HG_OK;
	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++)
		forged[i] = window;
	forged[0].token[1]++;
	forged[1].bytes += HG_PEER_WINDOW_ROWS;
	forged[2].bytes = HG_PEER_WINDOW_ROWS;
	forged[3].memory = open("/dev/null", O_RDWR | O_CLOEXEC);
	forged[4].memory = make_file(window.bytes, false);
	forged[5].memory = make_file(window.bytes, true);
	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++)
		good = good && device->windows->send_rows(two.jobs[1], HG_OUTER, 0, &forged[i], error) ==
						   HG_INVALID;
	empty = mmap(NULL, (size_t) window.bytes, PROT_READ, MAP_SHARED, forged[5].memory, 0);
	for (uint64_t i = 0; i < window.bytes; i++)
		good = good && empty[i] == 0;
	munmap(empty, (size_t) window.bytes);
	hg_tap_ok(good, "offers: forged ones are refused, and nothing is written there");

	good = device->exchange->take_rows(two.jobs[1], HG_OUTER, 0, &two.rows, error) == HG_OK &&
		   two.rows.count == hg_exchange_rows_of(two.tallies[1], two.exchange.ends, 0) &&
		   device->exchange->put_rows(two.jobs[0], HG_OUTER, &two.rows, error) == HG_OK &&
		   device->windows->send_rows(two.jobs[1], HG_OUTER, 0, &window, error) == HG_INVALID &&
		   device->exchange->arrived(two.jobs[0], HG_OUTER, error) == HG_OK;
	hg_tap_ok(good, "offers: ... and the rows go another way");
	by_hand_close(&two);
	for (int i = 3; i < 6; i++)
		close(forged[i].memory);
	close(window.memory);
}

/* Who offered it is closed before rows are sent there: that is no one's harm. */
static void
test_window_of_closed(void)
{
	ByHand two;
	HgPeerWindow window;
	bool good = by_hand_open(&two) && by_hand_expect(&two);

	hg_small_device_set_windows(true, HG_SEND_WELL);
	good = good && device->windows->window(two.jobs[0], HG_OUTER, &window, &two.error) == HG_OK;
	device->join->close(two.jobs[0]);
	good = good &&
		   device->windows->send_rows(two.jobs[1], HG_OUTER, 0, &window, &two.error) == HG_OK &&
		   device->windows->sent(two.jobs[1], HG_OUTER, &two.error) == HG_OK;
	close(window.memory);
	device->join->close(two.jobs[1]);
	hg_tap_ok(good && hg_small_device_open_jobs() == 0,
			  "offers: to send rows to a job that is closed does no harm");
}

static HgEngine *
find_device(void *arg, uint32_t shard)
{
	(void) arg;
	(void) shard;
	return device;
}

/* A job over so many devices, which send rows so; how many did, of how many? */
static HgStatus
run_sending(uint32_t shards, bool windows, HgHostSendFault fault, HgJobStats *stats, bool *right)
{
	HgSharded sharded;
	TestData data;
	TestRun run = {.engine = &sharded.engine, .host = test_host_plain(), .data = &data};
	uint64_t counted = 0;
	HgError error;
	HgStatus status;

	device = hg_small_device(0, false);
	hg_sharded_init(&sharded, "wide", shards, 100, find_device, NULL);
	hg_small_device_set_windows(windows, fault);
	test_data_create(&data, TEST_KEYS_DUPLICATES, 8, 20000, 10000);
	run.spec.key_width = 8;
	run.spec.device = -1;
	memset(stats, 0, sizeof(*stats));
	status = test_run_count(&run, HG_MATCH_ALL, &counted, stats, &error);
	*right = (status != HG_OK || counted == data.pairs) && hg_small_device_open_jobs() == 0;
	test_data_destroy(&data);
	return status;
}

/* All rows are sent where all is well, none where nothing is offered or in reach. */
static void
test_sending(uint32_t shards)
{
	HgJobStats stats;
	bool right;
	bool good = run_sending(shards, true, HG_SEND_WELL, &stats, &right) == HG_OK && right;

	good = good && stats.sent == stats.exchanged;
	good = good && stats.exchanged > (30000 - 30000 / shards) * 9 / 10;
	hg_tap_ok(good, "%u members send each other all rows that they exchange", shards);
	good = run_sending(shards, false, HG_SEND_WELL, &stats, &right) == HG_OK && right;
	good = good && stats.sent == 0 && stats.exchanged > 0;
	good = good && run_sending(shards, true, HG_SEND_FAILS, &stats, &right) == HG_OK && right;
	hg_tap_ok(good && stats.sent == 0,
			  "... or none, where none can be sent, or half of them are there when that fails");
	for (int fault = HG_SEND_ALTERS; fault <= HG_SEND_SILENT; fault++)
		good = good &&
			   run_sending(shards, true, (HgHostSendFault) fault, &stats, &right) ==
				   HG_CONNECTION_LOST &&
			   right;
	hg_tap_ok(good, "... and who sends what can not be, or not what he says, is found out");
}

int
main(void)
{
	test_choose();
	test_check();
	test_order();
	test_window_order();
	test_forged();
	test_window_of_closed();
	for (uint32_t shards = 2; shards <= HG_MAX_SHARDS; shards *= 2)
		test_sending(shards);
	return hg_tap_done();
}
