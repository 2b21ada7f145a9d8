/*-------------------------------------------------------------------------
 *
 * test_sharded.c
 *	  Jobs that are sharded over several devices give the same matches.
 *
 * The devices are the CPU engine with little memory (hg_small_device.h), each with that of a job.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include "../../src/engine/hg_passes.h"
#include "../../src/engine/hg_reduce.h"
#include "../../src/engine/hg_sharded.h"
#include "hg_small_device.h"
#include "hg_tap.h"
#include "test_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Rows that a shard is dealt in turn: so few that small jobs have some with each. */
#define DEAL_ROWS 16

static HgSharded sharded;
static HgPasses passes;
static HgEngine device; /* a small one, which can be told to fail */
static HgEngine *sound; /* the same without */

/* Calls of the device that tests replace. */
static HgJoinCalls device_join;
static HgColumnCalls device_columns;
static HgAheadCalls device_ahead;
static HgExchangeCalls device_exchange;
static HgWindowCalls device_windows;
static bool by_itself; /* devices work by themselves */
static char name[60];
static bool are_unequal; /* the memory of devices is very different */

/* The part of memory that a device has: a third of what the next one has. */
static uint64_t
find_room(void *arg, uint32_t shard)
{
	static const uint64_t rooms[] = {1000, 3000, 9000};

	(void) arg;
	return rooms[shard % LENGTH(rooms)];
}

/* ------------------------------------------------------------------------
 * Devices that fail
 * ------------------------------------------------------------------------ */

static uint64_t calls;		  /* of any device so far */
static uint64_t failing_call; /* this one fails, from 1; 0 = none ... */
static HgStatus failure;	  /* ... in this way */

/* HG_OK, unless it is this call that fails. */
static HgStatus
step(HgError *error)
{
	if (++calls != failing_call)
		return HG_OK;
	return hg_error_set(error, failure, NULL, "a device was told to fail");
}

#define FAILING(interface, call, parameters, arguments)                                            \
	static HgStatus failing_##call parameters                                                      \
	{                                                                                              \
		HgStatus status = step(error);                                                             \
                                                                                                   \
		return status == HG_OK ? sound->interface call arguments : status;                         \
	}

FAILING(, open,
		(HgEngine * engine, const HgHost *host, const HgJobSpec *spec, HgJob **job, HgError *error),
		(engine, host, spec, job, error))
FAILING(join->, append_rows,
		(HgJob * job, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
		 HgError *error),
		(job, side, keys, count, first_row, error))
FAILING(columns->, append_column,
		(HgJob * job, HgSide side, uint32_t column, const void *values, const uint8_t *nulls,
		 uint64_t count, uint64_t first_row, HgError *error),
		(job, side, column, values, nulls, count, first_row, error))
FAILING(join->, build, (HgJob * job, HgError *error), (job, error))
FAILING(join->, match, (HgJob * job, HgMatchMode mode, HgError *error), (job, mode, error))
FAILING(join->, next, (HgJob * job, HgMatches *matches, HgError *error), (job, matches, error))
FAILING(join->, count, (HgJob * job, HgMatchMode mode, uint64_t *matches, HgError *error),
		(job, mode, matches, error))
FAILING(columns->, reduce,
		(HgJob * job, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups, HgError *error),
		(job, mode, spec, groups, error))
FAILING(columns->, next_groups, (HgJob * job, HgGroupRecords *records, HgError *error),
		(job, records, error))
FAILING(join->, describe, (HgJob * job, HgSide side, HgGraphStats *stats, HgError *error),
		(job, side, stats, error))
FAILING(ahead->, start,
		(HgJob * job, HgAhead ahead, HgMatchMode mode, const HgReduceSpec *spec, HgError *error),
		(job, ahead, mode, spec, error))
FAILING(exchange->, tally, (HgJob * job, HgSide side, uint64_t *counts, HgError *error),
		(job, side, counts, error))
FAILING(exchange->, expect, (HgJob * job, HgSide side, const HgExchange *exchange, HgError *error),
		(job, side, exchange, error))
FAILING(exchange->, take_rows,
		(HgJob * job, HgSide side, uint32_t shard, HgExchangeRows *rows, HgError *error),
		(job, side, shard, rows, error))
FAILING(exchange->, put_rows,
		(HgJob * job, HgSide side, const HgExchangeRows *rows, HgError *error),
		(job, side, rows, error))
FAILING(exchange->, arrived, (HgJob * job, HgSide side, HgError *error), (job, side, error))
FAILING(windows->, window, (HgJob * job, HgSide side, HgPeerWindow *window, HgError *error),
		(job, side, window, error))
FAILING(windows->, send_rows,
		(HgJob * job, HgSide side, uint32_t shard, const HgPeerWindow *window, HgError *error),
		(job, side, shard, window, error))
FAILING(windows->, sent, (HgJob * job, HgSide side, HgError *error), (job, side, error))

/* A device, unless the one before was the last that there is. */
static HgEngine *
find_device(void *arg, uint32_t shard)
{
	const uint32_t *there = arg;

	if (there != NULL && shard >= *there)
		return NULL;
	return &device;
}

static void
make_device(void)
{
	sound = hg_small_device(0, by_itself);
	device = *sound;
	device_join = *sound->join;
	device.join = &device_join;
	device_columns = *sound->columns;
	device.columns = &device_columns;
	device_exchange = *sound->exchange;
	device.exchange = &device_exchange;
	device_windows = *sound->windows;
	device.windows = &device_windows;
	device_ahead.start = failing_start;
	device.ahead = by_itself ? &device_ahead : NULL;
	device.open = failing_open;
	device_join.append_rows = failing_append_rows;
	device_columns.append_column = failing_append_column;
	device_join.build = failing_build;
	device_join.match = failing_match;
	device_join.next = failing_next;
	device_join.count = failing_count;
	device_columns.reduce = failing_reduce;
	device_columns.next_groups = failing_next_groups;
	device_join.describe = failing_describe;
	device_exchange.tally = failing_tally;
	device_exchange.expect = failing_expect;
	device_exchange.take_rows = failing_take_rows;
	device_exchange.put_rows = failing_put_rows;
	device_exchange.arrived = failing_arrived;
	/* those that work by themselves also send each other their rows */
	hg_small_device_set_windows(by_itself, HG_SEND_WELL);
	device_windows.window = failing_window;
	device_windows.send_rows = failing_send_rows;
	device_windows.sent = failing_sent;
	failing_call = 0;
}

/* The engine over so many devices. */
static HgEngine *
sharded_of(uint32_t shards)
{
	make_device();
	snprintf(name, sizeof(name), "wide over %u%s%s", shards, are_unequal ? " unequal" : "",
			 by_itself ? " by themselves" : "");
	hg_sharded_init(&sharded, name, shards, DEAL_ROWS, find_device, NULL);
	if (are_unequal)
		sharded.room = find_room;
	return &sharded.engine;
}

static HgEngine *
find_sharded(void *arg)
{
	(void) arg;
	return &sharded.engine;
}

/* The same where jobs that do not fit all devices are cut. */
static HgEngine *
passes_of(uint32_t shards)
{
	sharded_of(shards);
	hg_passes_init(&passes, name, find_sharded, NULL);
	return &passes.engine;
}

/* ------------------------------------------------------------------------
 * Sharded jobs
 * ------------------------------------------------------------------------ */

/* A shard is no job of another kind, and engines without the calls have none. */
static void
test_refused(void)
{
	static const uint32_t counts[] = {1, HG_MAX_SHARDS + 1};
	const HgHost *host = test_host_plain();
	HgEngine *engine = sharded_of(2);
	HgJobSpec spec = {.key_width = 4, .device = -1};
	HgError error;
	HgJob *job;
	bool good = true;

	for (size_t i = 0; i < LENGTH(counts); i++)
	{
		spec.product = (HgJobProduct){HG_PRODUCT_SHARD, .shards = counts[i]};
		good = good && device.open(&device, host, &spec, &job, &error) == HG_INVALID;
	}
	spec.product = (HgJobProduct){HG_PRODUCT_SHARD, .shards = 2};
	good = good && engine->open(engine, host, &spec, &job, &error) == HG_INVALID;
	engine = passes_of(2);
	good = good && engine->open(engine, host, &spec, &job, &error) == HG_INVALID;
	spec.participants_id = 1;
	good = good && device.open(&device, host, &spec, &job, &error) == HG_INVALID;
	spec.participants_id = 0;
	spec.streamed = 1;
	good = good && device.open(&device, host, &spec, &job, &error) == HG_INVALID;
	spec.streamed = 0;
	spec.product.kind = HG_PRODUCT_MATCHES;
	device.exchange = NULL;
	good = good && sharded.engine.open(&sharded.engine, host, &spec, &job, &error) == HG_INVALID;
	hg_tap_ok(good && hg_small_device_open_jobs() == 0, "exchange: what can be no member is told");
}

/* Have the suites of every engine take few samples. */
static void
in_short(HgTapSuite most, void (*test)(HgEngine *), HgEngine *engine)
{
	static const char *const names[] = {[HG_SUITE_TINY] = "tiny", [HG_SUITE_SMALL] = "small"};
	const char *suite = getenv("HG_SUITE");
	char *before = suite != NULL ? strdup(suite) : NULL;

	if (hg_tap_suite() > most)
		setenv("HG_SUITE", names[most], 1);
	test(engine);
	if (before != NULL)
		setenv("HG_SUITE", before, 1);
	else
		unsetenv("HG_SUITE");
	free(before);
}

static void
test_suite(HgEngine *engine)
{
	hg_engine_suite(engine, test_host_plain());
}

static void
test_reduce_suite(HgEngine *engine)
{
	hg_engine_reduce_suite(engine, test_host_plain());
}

/* A job over devices of so many bytes each: what does not fit all of them is cut. */
static void
test_joins(uint32_t shards, TestKeys kind, uint32_t width, uint64_t outer_rows, uint64_t inner_rows,
		   uint64_t bytes)
{
	TestData data;
	TestRun run = {.engine = passes_of(shards), .host = test_host_plain(), .data = &data};
	bool good = true;

	test_data_create(&data, kind, width, outer_rows, inner_rows);
	run.spec.key_width = width;
	run.spec.device = -1;
	run.spec.memory_limit = bytes * shards;
	run.capacity = 65536;
	for (int probe = HG_PROBE_AUTO; probe <= HG_PROBE_INTERSECT; probe++)
	{
		run.spec.shape.probe = (HgProbeAlgorithm) probe;
		run.piece = probe == HG_PROBE_AUTO ? 0 : 777;
		good &= test_run(&run);
	}
	hg_tap_ok(good && hg_small_device_open_jobs() == 0,
			  "%s: %" PRIu64 " x %" PRIu64 " rows, keys %s of %u bytes, in %" PRIu64 " bytes each",
			  name, outer_rows, inner_rows, test_keys_name(kind), width, bytes);
	test_data_destroy(&data);
}

/* Shards have equal shares: where they have room for as much, nothing is cut. */
static void
test_shares(uint32_t shards)
{
	TestData data;
	TestRun run = {.engine = sharded_of(shards), .host = test_host_plain(), .data = &data};
	HgJobStats stats = {0};
	uint64_t counted;
	HgError error;
	HgStatus status;

	test_data_create(&data, TEST_KEYS_UNIQUE, 8, 200000, 200000);
	run.spec.key_width = 8;
	hg_small_device_most_bytes();
	status = test_run_count(&run, HG_MATCH_ALL, &counted, &stats, &error);
	run.spec.memory_limit = hg_small_device_most_bytes() * 9 / 8;
	run.engine = passes_of(shards);
	hg_small_device_most_jobs();
	if (status == HG_OK)
		status = test_run_count(&run, HG_MATCH_ALL, &counted, &stats, &error);
	hg_tap_ok(status == HG_OK && counted == data.pairs && stats.passes == shards &&
				  stats.rows[HG_OUTER] == 200000 && stats.rows[HG_INNER] == 200000 &&
				  hg_small_device_most_jobs() == (int) shards,
			  "%s: each has %" PRIu64 " bytes, and needs no more", name,
			  run.spec.memory_limit / shards);
	test_data_destroy(&data);
}

/* Rows that each shard was opened for, and dealt, a side at most. */
static struct
{
	HgJob *job;
	uint64_t expected[2];
	uint64_t dealt[2];
} noted[HG_MAX_SHARDS];
static uint32_t noted_count;

static HgStatus
noting_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
			HgError *error)
{
	HgStatus status = failing_open(engine, host, spec, job, error);

	if (status == HG_OK && noted_count < HG_MAX_SHARDS)
	{
		memset(&noted[noted_count], 0, sizeof(noted[noted_count]));
		noted[noted_count].job = *job;
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			noted[noted_count].expected[side] = spec->sides[side].expected_rows;
		noted_count++;
	}
	return status;
}

static HgStatus
noting_append_rows(HgJob *job, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
				   HgError *error)
{
	for (uint32_t i = 0; i < noted_count; i++)
		if (noted[i].job == job)
			noted[i].dealt[side] += count;
	return failing_append_rows(job, side, keys, count, first_row, error);
}

/* No shard is dealt more rows than it was opened for, whatever is left of the last turn. */
static void
test_expected(uint32_t shards)
{
	static const uint64_t rows[] = {1, DEAL_ROWS, DEAL_ROWS + 1, 3000, 3 * DEAL_ROWS * 100 + 5};
	bool good = true;

	for (size_t i = 0; i < LENGTH(rows); i++)
	{
		TestData data;
		TestRun run = {.engine = sharded_of(shards), .host = test_host_plain(), .data = &data};
		uint64_t counted;
		HgError error;

		device.open = noting_open;
		device_join.append_rows = noting_append_rows;
		noted_count = 0;
		test_data_create(&data, TEST_KEYS_UNIQUE, 4, (uint32_t) rows[i], (uint32_t) rows[i]);
		run.spec.key_width = 4;
		run.spec.sides[HG_OUTER].expected_rows = run.spec.sides[HG_INNER].expected_rows = rows[i];
		good = good && test_run_count(&run, HG_MATCH_ALL, &counted, NULL, &error) == HG_OK &&
			   counted == data.pairs && noted_count == shards;
		for (uint32_t m = 0; m < noted_count; m++)
			for (int side = HG_OUTER; side <= HG_INNER; side++)
				good = good && noted[m].dealt[side] <= noted[m].expected[side] &&
					   noted[m].expected[side] <= rows[i];
		test_data_destroy(&data);
	}
	hg_tap_ok(good, "%s: no member is dealt more rows than it was opened for", name);
}

/* How many shards are open, and whether these devices' limits are heeded. */
static const uint64_t *limits;

static HgStatus
limited_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
			 HgError *error)
{
	HgJobSpec limited = *spec;

	limited.memory_limit = limits[hg_small_device_open_jobs()];
	return failing_open(engine, host, &limited, job, error);
}

static uint64_t
limited_room(void *arg, uint32_t shard)
{
	(void) arg;
	return limits[shard];
}

/* Devices of very different memory: what fits all of them together is not cut. */
static void
test_room(void)
{
	TestData data;
	TestRun run = {.engine = sharded_of(3), .host = test_host_plain(), .data = &data};
	HgJobStats stats = {0};
	uint64_t counted;
	uint64_t bytes;
	uint64_t room[3];
	HgError error;
	HgStatus status;
	bool good;

	test_data_create(&data, TEST_KEYS_UNIQUE, 8, 200000, 200000);
	run.spec.key_width = 8;
	hg_small_device_most_bytes();
	status = test_run_count(&run, HG_MATCH_ALL, &counted, &stats, &error);
	bytes = hg_small_device_most_bytes() * 9 / 8;
	room[0] = bytes * 6 / 10;
	room[1] = bytes / 10;
	room[2] = bytes * 3 / 10;
	limits = room;
	for (int known = 0; known < 2; known++)
	{
		run.engine = passes_of(3);
		device.open = limited_open;
		sharded.room = known == 1 ? limited_room : NULL;
		if (status == HG_OK)
			status = test_run_count(&run, HG_MATCH_ALL, &counted, &stats, &error);
		good = status == HG_OK && counted == data.pairs && (stats.passes == 3) == (known == 1);
		hg_tap_ok(good, "devices of %" PRIu64 ", %" PRIu64 " and %" PRIu64 " bytes: %s", room[0],
				  room[1], room[2],
				  known == 1 ? "the job fits them" : "... not so in equal shares");
	}
	test_data_destroy(&data);
}

/* What a job holds of host memory, as hg_sharded.h says. */
static void
test_host_memory(uint32_t shards)
{
	TestData data;
	TestHost host;
	TestRun run = {.engine = sharded_of(shards), .host = &host.host, .data = &data};
	const uint64_t bound = shards * UINT64_C(100000) + HG_SHARDED_ROWS * UINT64_C(12);
	const uint64_t rows = hg_tap_suite() <= HG_SUITE_SMALL ? 200000 : 500000;
	uint64_t counted;
	HgError error;
	HgStatus status;

	test_host_init(&host, test_host_plain());
	test_data_create(&data, TEST_KEYS_DUPLICATES, 8, rows, rows);
	run.spec.key_width = 8;
	status = test_run_count(&run, HG_MATCH_ALL, &counted, NULL, &error);
	hg_tap_ok(status == HG_OK && counted == data.pairs && host.peak_bytes <= bound &&
				  host.held_bytes == 0 && !host.misused,
			  "%s: %" PRIu64 " x %" PRIu64 " rows take %" PRIu64 " kB of the host", name, rows,
			  rows, host.peak_bytes / 1000);
	test_data_destroy(&data);
}

/* ------------------------------------------------------------------------
 * What fails
 * ------------------------------------------------------------------------ */

#define STORY_ROWS 200

/* Read a stream to its end. */
static HgStatus
read_matches(HgEngine *engine, HgJob *job, uint64_t *pairs, HgError *error)
{
	uint32_t rows[2][64];
	HgMatches matches = {.outer = rows[0], .inner = rows[1], .capacity = 64};
	HgStatus status = engine->join->match(job, HG_MATCH_ALL, error);

	while (status == HG_OK)
	{
		status = engine->join->next(job, &matches, error);
		if (status != HG_OK || matches.count == 0)
			break;
		*pairs += matches.count;
	}
	return status;
}

/* Have groups made by the first column, and read them. */
static HgStatus
read_groups(HgEngine *engine, HgJob *job, uint64_t *pairs, HgError *error)
{
	const HgReduceSpec spec = {.nkeys = 1, .max_groups = 1000};
	uint64_t words[16 * 3];
	HgGroupRecords records = {.words = words, .capacity = 16};
	uint64_t groups;
	HgStatus status = engine->columns->reduce(job, HG_MATCH_ALL, &spec, &groups, error);

	while (status == HG_OK)
	{
		status = engine->columns->next_groups(job, &records, error);
		if (status != HG_OK || records.count == 0)
			break;
		for (size_t i = 0; i < records.count; i++)
			*pairs += words[i * 3 + 2];
	}
	return status;
}

/* A job with columns of which everything is asked; *right is whether all that it said was so. */
static HgStatus
run_story(HgEngine *engine, const HgHost *host, const TestCase *c, bool *right)
{
	uint64_t counted[3] = {0};
	HgError error = {0};
	HgGraphStats graph;
	HgJob *job;
	HgStatus status = test_case_build(c, engine, host, &job, &error);

	if (status == HG_OK)
		status = read_matches(engine, job, &counted[0], &error);
	if (status == HG_OK)
		status = engine->join->count(job, HG_MATCH_ALL, &counted[1], &error);
	if (status == HG_OK)
		status = read_groups(engine, job, &counted[2], &error);
	if (status == HG_OK)
		status = engine->join->describe(job, HG_INNER, &graph, &error);
	*right = status == HG_OK ? counted[0] == c->data.pairs && counted[1] == c->data.pairs &&
								   counted[2] == c->data.pairs
							 : error.status == status;
	if (status != HG_OK && job != NULL)
		*right = *right && engine->join->build(job, &error) == HG_INVALID;
	if (job != NULL)
		engine->join->close(job);
	return status;
}

static TestCase
story_case(void)
{
	TestCase c = {.kind = TEST_KEYS_DUPLICATES,
				  .key_width = 4,
				  .rows = {STORY_ROWS, STORY_ROWS},
				  .spread = {.values = 20, .nulls = 10}};

	c.spec.shape.probe = HG_PROBE_INTERSECT; /* of which both sides can be described */
	test_case_create(&c, 2);
	return c;
}

/* Any call of any shard fails in turn: that is the job's failure, and nothing is left of it. */
static void
test_failures(uint32_t shards)
{
	static const HgStatus failures[] = {HG_DEVICE_FAILED, HG_DEVICE_OUT_OF_MEMORY,
										HG_CONNECTION_LOST};
	TestCase c = story_case();
	uint64_t moments = 0;
	bool good = true;

	for (size_t i = 0; i < LENGTH(failures); i++)
	{
		HgEngine *engine = sharded_of(shards);
		HgStatus status;

		failure = failures[i];
		do
		{
			TestHost host;
			bool right;

			test_host_init(&host, test_host_plain());
			calls = 0;
			failing_call++;
			status = run_story(engine, &host.host, &c, &right);
			good = good && right && host.held_bytes == 0 && hg_small_device_open_jobs() == 0 &&
				   status == (calls < failing_call ? HG_OK : failure);
		} while (calls >= failing_call);
		moments = failing_call - 1;
	}
	hg_tap_ok(good && moments > 30, "%s: any of %" PRIu64 " calls of members fails", name, moments);
	test_case_destroy(&c);
}

/* The same where the device is full: a job without columns is cut. */
static void
test_full(uint32_t shards)
{
	TestData data;
	HgEngine *engine = passes_of(shards);
	bool good = true;

	failure = HG_DEVICE_OUT_OF_MEMORY;
	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, STORY_ROWS, STORY_ROWS);
	do
	{
		TestHost host;
		TestRun run = {.engine = engine, .host = &host.host, .data = &data};
		uint64_t counted;
		HgError error;

		test_host_init(&host, test_host_plain());
		run.spec.key_width = 4;
		calls = 0;
		failing_call++;
		good = good && test_run_count(&run, HG_MATCH_ALL, &counted, NULL, &error) == HG_OK &&
			   counted == data.pairs && host.held_bytes == 0 && hg_small_device_open_jobs() == 0;
	} while (calls >= failing_call);
	hg_tap_ok(good, "%s: a job is cut where any of them is full at any moment", name);
	test_data_destroy(&data);
}

/* The host has no memory, or cancels, at any moment in turn. */
static void
test_host_fails(uint32_t shards)
{
	TestCase c = story_case();
	HgEngine *engine = sharded_of(shards);
	bool good = true;
	TestHost host;
	HgStatus status;
	uint64_t moment = 0;
	bool right;

	do
	{
		test_host_init(&host, test_host_plain());
		host.fail_allocation = ++moment;
		status = run_story(engine, &host.host, &c, &right);
		good = good && right && host.held_bytes == 0 && hg_small_device_open_jobs() == 0 &&
			   status == (host.allocations < moment ? HG_OK : HG_OUT_OF_MEMORY);
	} while (host.allocations >= moment);
	hg_tap_ok(good && moment > 4, "%s: any of %" PRIu64 " allocations fails", name, moment - 1);

	moment = 0;
	do
	{
		test_host_init(&host, test_host_plain());
		host.cancel_poll = ++moment;
		status = run_story(engine, &host.host, &c, &right);
		good = good && right && host.held_bytes == 0 && hg_small_device_open_jobs() == 0 &&
			   status == (host.polls < moment ? HG_OK : HG_CANCELLED);
	} while (host.polls >= moment);
	hg_tap_ok(good && moment > 10, "%s: any of %" PRIu64 " polls cancels it", name, moment - 1);
	test_case_destroy(&c);
}

/* Rows that make some more groups than room is made for at once, and groups that are fetched so. */
#define MANY_ROWS 11500
#define FETCHED_GROUPS 4096

/* Groups take twice their records while they are merged, as hg_sharded.h says, and once then. */
static void
test_groups_memory(uint32_t shards)
{
	HgReduceSpec spec = {.nkeys = 1};
	const uint64_t record = hg_reduce_words(&spec) * sizeof(uint64_t);
	TestCase c = {.kind = TEST_KEYS_UNIQUE, .key_width = 4, .rows = {MANY_ROWS, MANY_ROWS}};
	HgEngine *engine = sharded_of(shards);
	uint64_t groups = 0;
	uint64_t before;
	uint64_t peak;
	TestHost host;
	HgError error;
	HgJob *job;
	bool good;

	test_host_init(&host, test_host_plain());
	test_case_create(&c, 1);
	spec.max_groups = c.data.pairs;
	good = test_case_build(&c, engine, &host.host, &job, &error) == HG_OK;
	before = host.held_bytes;
	/* to have room for as many as there are then, of which the last are few */
	good = good && engine->columns->reduce(job, HG_MATCH_ALL, &spec, &groups, &error) == HG_OK;
	spec.max_groups = groups;
	host.peak_bytes = before;
	good = good && engine->columns->reduce(job, HG_MATCH_ALL, &spec, &groups, &error) == HG_OK;
	peak = host.peak_bytes - before;
	hg_tap_ok(good && groups == spec.max_groups && groups > 2 * FETCHED_GROUPS &&
				  peak <= (2 * (groups + 1) + FETCHED_GROUPS) * record &&
				  host.held_bytes - before <= (groups + 1) * record,
			  "%s: %" PRIu64 " groups take %" PRIu64 " bytes while they are merged, %" PRIu64
			  " then",
			  name, groups, peak, host.held_bytes - before);
	engine->join->close(job);
	test_case_destroy(&c);
}

static uint32_t begun;	 /* shards that have begun with groups ... */
static bool are_awaited; /* ... before any was waited for: not so */

static HgStatus
begun_start(HgJob *job, HgAhead ahead, HgMatchMode mode, const HgReduceSpec *spec, HgError *error)
{
	begun += ahead == HG_AHEAD_REDUCE;
	return failing_start(job, ahead, mode, spec, error);
}

static HgStatus
begun_reduce(HgJob *job, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
			 HgError *error)
{
	are_awaited |= begun != sharded.shards;
	return failing_reduce(job, mode, spec, groups, error);
}

/* Groups are begun with on all shards before any of these is waited for. */
static void
test_begun(uint32_t shards)
{
	TestCase c = story_case();
	HgEngine *engine = sharded_of(shards);
	uint64_t pairs = 0;
	HgError error;
	HgJob *job;
	bool good;

	device_ahead.start = begun_start;
	device_columns.reduce = begun_reduce;
	begun = 0;
	are_awaited = false;
	good = test_case_build(&c, engine, test_host_plain(), &job, &error) == HG_OK &&
		   read_groups(engine, job, &pairs, &error) == HG_OK;
	hg_tap_ok(good && pairs == c.data.pairs && begun == shards && !are_awaited,
			  "%s: groups are begun with on all of them", name);
	engine->join->close(job);
	test_case_destroy(&c);
}

/* One of the devices is gone. */
static void
test_gone(void)
{
	const HgJobSpec spec = {.key_width = 4, .device = -1};
	HgEngine *engine = sharded_of(4);
	HgError error;
	bool good = true;
	HgJob *job;

	for (uint32_t there = 0; there < 4; there++)
	{
		sharded.arg = &there;
		good = good &&
			   engine->open(engine, test_host_plain(), &spec, &job, &error) == HG_CONNECTION_LOST;
	}
	sharded.arg = NULL;
	hg_tap_ok(good && hg_small_device_open_jobs() == 0,
			  "wide: where a device is gone, none is left with a member");
}

/* ------------------------------------------------------------------------
 * All of it
 * ------------------------------------------------------------------------ */

static void
test_shards(uint32_t shards)
{
	in_short(shards == 3 ? HG_SUITE_SMALL : HG_SUITE_TINY, test_suite, sharded_of(shards));
	in_short(hg_tap_suite() > HG_SUITE_SMALL || shards == 3 ? HG_SUITE_SMALL : HG_SUITE_TINY,
			 test_reduce_suite, sharded_of(shards));
	for (uint32_t width = 4; width <= 8; width += 4)
	{
		test_joins(shards, TEST_KEYS_UNIQUE, width, 30000, 20000, 0);
		test_joins(shards, TEST_KEYS_UNIQUE, width, 30000, 20000, 400000);
		test_joins(shards, TEST_KEYS_DUPLICATES, width, 20000, 30000, 200000);
		test_joins(shards, TEST_KEYS_SKEWED, width, 10000, 100, 0);
		test_joins(shards, TEST_KEYS_SKEWED, width, 10000, 100, 100000);
		test_joins(shards, TEST_KEYS_ONE_LIST, width, 20000, 1000, 0);
		test_joins(shards, TEST_KEYS_HIGH, width, 20000, 1000, 100000);
		test_joins(shards, TEST_KEYS_EQUAL, width, 30000, 20, 0);
		test_joins(shards, TEST_KEYS_EQUAL, width, 30000, 20, 100000);
		test_joins(shards, TEST_KEYS_UNIQUE, width, 0, 3000, 0);
		test_joins(shards, TEST_KEYS_UNIQUE, width, 3000, 0, 0);
		test_joins(shards, TEST_KEYS_UNIQUE, width, 0, 0, 0);
	}
	test_host_memory(shards);
	if (shards > 1)
	{
		test_shares(shards);
		test_expected(shards);
		test_groups_memory(shards);
		if (by_itself)
			test_begun(shards);
		test_failures(shards);
		test_full(shards);
		test_host_fails(shards);
	}
}

int
main(void)
{
	static const uint32_t shards[] = {1, 2, 3, 8};

	test_refused();
	test_gone();
	test_room();
	are_unequal = true;
	test_shards(3);
	are_unequal = false;
	for (int way = 0; way < 2; way++)
	{
		by_itself = way == 1;
		for (size_t i = 0; i < LENGTH(shards); i++)
			/* in a small suite each number of shards in one of the ways */
			if (hg_tap_suite() >= HG_SUITE_WHOLE || i / 2 != (size_t) way)
				test_shards(shards[i]);
	}
	return hg_tap_done();
}
