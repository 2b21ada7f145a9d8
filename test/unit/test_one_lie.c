/*-------------------------------------------------------------------------
 *
 * test_one_lie.c
 *	  A device process that tells one lie, for every kind that a client must see through.
 *
 * The process is played by hg_liar.c.  Lies at random are test_lies.c's.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* memfd_create, SOCK_SEQPACKET pairs */

#include "../../src/engine/hg_reduce.h"
#include "../../src/engine/wire/hg_wire_internal.h"
#include "hg_liar.h"
#include "hg_tap.h"
#include "test_measure.h"
#include "test_session.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static bool
are_matches(const HgMatches *matches)
{
	for (size_t i = 0; i < matches->count; i++)
		if (matches->outer[i] != i || matches->inner[i] != i)
			return false;
	return matches->count == LIAR_ROWS;
}

static const uint32_t liar_keys[LIAR_ROWS] = {1, 2, 3, 4};

/* Groups by the one column of the outer side. */
static const HgReduceSpec by_value = {
	.nkeys = 1,
	.nitems = 2,
	.keys = {{.side = HG_OUTER, .is_signed = 1}},
	.items = {{.kind = HG_REDUCE_SUM, .argument = {.side = HG_OUTER, .is_signed = 1}},
			  {.kind = HG_REDUCE_MIN, .argument = {.side = HG_OUTER, .is_signed = 1}}},
	.max_groups = 2};

/* Have a table measured; false where something was answered that is not so. */
static bool
ask_table(HgEngine *engine, const HgHost *host)
{
	const TestData data = {.key_width = 4,
						   .rows = {0, LIAR_ROWS},
						   .keys = {NULL, (void *) liar_keys},
						   .distinct = {0, LIAR_ROWS}};
	const HgTableTrial trial = {
		.spec = {.kind = HG_TABLE_CSR, .content = HG_TABLE_MULTIMAP, .key_width = 4}, .batches = 2};
	HgTableMeasure measure;

	return test_measure(engine, host, &data, &trial, &measure, NULL) != HG_OK ||
		   (measure.stats.rows == LIAR_ROWS && measure.erased == 2 && measure.inserted == 2);
}

/* Make a graph, and join one with rows; false where something was answered that is not so. */
static bool
ask_replica(HgEngine *engine, const HgHost *host)
{
	static const uint32_t rows[LIAR_ROWS] = {0, 1, 2, 3};
	const HgReplicaSpec new_replica = {.name = {1, 1}, .shape = {4, 1, LIAR_ROWS}};
	const HgReplicaUse use = {.name = {1, 1}, .shape = {4, 1, LIAR_ROWS}, .masked = 1};
	const HgJobSpec making = {
		.key_width = 4, .device = -1, .product = {HG_PRODUCT_GRAPH, .graph = &new_replica}};
	const HgJobSpec joining = {
		.key_width = 4,
		.device = -1,
		.sides[HG_OUTER] = {.kind = HG_SOURCE_REPLICA, .replica = {.use = &use}}};
	uint32_t outer[2 * LIAR_ROWS];
	uint32_t inner[2 * LIAR_ROWS];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 2 * LIAR_ROWS};
	uint64_t count = 0;
	bool right = true;
	HgJob *job;

	if (engine->open(engine, host, &making, &job, NULL) == HG_OK)
	{
		if (engine->store->put_edges(job, liar_keys, rows, LIAR_ROWS, NULL) == HG_OK)
			engine->join->build(job, NULL);
		engine->join->close(job);
	}
	if (engine->open(engine, host, &joining, &job, NULL) != HG_OK)
		return true;
	if (engine->join->append(job, HG_INNER, liar_keys, LIAR_ROWS, NULL) == HG_OK &&
		engine->masks->mask(job, HG_OUTER, 0, 1, 10, NULL, NULL) == HG_OK &&
		engine->join->build(job, NULL) == HG_OK)
	{
		if (engine->join->count(job, HG_MATCH_ALL, &count, NULL) == HG_OK)
			right = count == LIAR_ROWS;
		if (engine->join->match(job, HG_MATCH_ALL, NULL) == HG_OK &&
			engine->join->next(job, &matches, NULL) == HG_OK)
			right = right && are_matches(&matches);
	}
	engine->join->close(job);
	return right;
}

/* Join rows of a graph that look up others; false where something was answered that is not so. */
static bool
ask_lookups(HgEngine *engine, const HgHost *host)
{
	const HgReplicaUse use = {.name = {1, 1}, .shape = {4, 1, LIAR_ROWS}};
	const HgReplicaLookup lookup = {
		.stride = LIAR_ROWS,
		.found_stride = LIAR_ROWS,
		.own = {.name = {1, 2}, .shape = {4, 1, LIAR_ROWS}},
		.found = {.name = {1, 3}, .shape = {8, 1, LIAR_ROWS}, .masked = 1}};
	const HgJobSpec spec = {
		.key_width = 4,
		.device = -1,
		.sides[HG_OUTER] = {.kind = HG_SOURCE_REPLICA,
							.replica = {.use = &use, .nlookups = 1, .lookups = &lookup}}};
	uint64_t count = LIAR_ROWS;
	HgJob *job;

	if (engine->open(engine, host, &spec, &job, NULL) != HG_OK)
		return true;
	if (engine->join->append(job, HG_INNER, liar_keys, LIAR_ROWS, NULL) == HG_OK &&
		engine->masks->mask(job, HG_OUTER, 1, 1, 10, NULL, NULL) == HG_OK &&
		engine->join->build(job, NULL) == HG_OK)
		engine->join->count(job, HG_MATCH_ALL, &count, NULL);
	engine->join->close(job);
	return count == LIAR_ROWS;
}

/*
 * Be one of two shards, each of which gets a row less than it was given; false where something was
 * answered that is not so.
 */
static bool
ask_shard(HgEngine *engine, const HgHost *host)
{
	const HgJobSpec spec = {
		.key_width = 4, .device = -1, .product = {HG_PRODUCT_SHARD, .shards = 2}};
	const HgExchange exchange = {.shards = 2,
								 .numbers = 2 * LIAR_ROWS,
								 .ends = {1, HG_EXCHANGE_PARTS},
								 .rows = {LIAR_ROWS - 1, 0}};
	uint64_t counts[HG_EXCHANGE_PARTS];
	uint32_t rows[2][2 * LIAR_ROWS];
	HgExchangeRows taken = {.keys = rows[0], .numbers = rows[1], .capacity = 2};
	HgMatches matches = {.outer = rows[0], .inner = rows[1], .capacity = 2 * LIAR_ROWS};
	HgPeerWindow window;
	HgStatus status;
	bool right = true;
	HgJob *job;

	status = engine->open(engine, host, &spec, &job, NULL);
	if (status != HG_OK)
		return true;
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		status = engine->join->append_rows(job, (HgSide) side, liar_keys, LIAR_ROWS, 0, NULL);
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
	{
		status = engine->exchange->tally(job, (HgSide) side, counts, NULL);
		right = right && (status != HG_OK || counts[0] == LIAR_ROWS - 1);
		if (status == HG_OK)
			status = engine->exchange->expect(job, (HgSide) side, &exchange, NULL);
		/* an offer without a descriptor is none, and no lie */
		right = right && (status != HG_OK ||
						  (engine->windows->window(job, (HgSide) side, &window, NULL) != HG_OK &&
						   engine->windows->sent(job, (HgSide) side, NULL) != HG_OK));
		if (status == HG_OK)
			status = engine->exchange->take_rows(job, (HgSide) side, 1, &taken, NULL);
		right = right && (status != HG_OK || (taken.count == 1 && !liar_key_is_own(rows[0][0]) &&
											  taken.numbers[0] == 2 * LIAR_ROWS - 1));
		if (status == HG_OK)
			status = engine->exchange->take_rows(job, (HgSide) side, 1, &taken, NULL);
		right = right && (status != HG_OK || taken.count == 0);
		if (status == HG_OK)
			status = engine->exchange->arrived(job, (HgSide) side, NULL);
	}
	if (status == HG_OK)
		status = engine->join->build(job, NULL);
	if (status == HG_OK)
		status = engine->join->match(job, HG_MATCH_ALL, NULL);
	if (status == HG_OK && engine->join->next(job, &matches, NULL) == HG_OK)
		right = right && are_matches(&matches);
	engine->join->close(job);
	return right;
}

/* Join rows of pages; false where something was answered that is not so. */
static bool
ask_pages(HgEngine *engine, const HgHost *host)
{
	static const unsigned char page[1024];
	const HgPageSpec spec = {.page_size = sizeof(page),
							 .rows_per_page = LIAR_ROWS,
							 .natts = 1,
							 .attributes = {{.length = 4, .align = 4}}};
	const HgJobSpec joining = {
		.key_width = 4, .device = -1, .sides[HG_OUTER] = {.kind = HG_SOURCE_PAGES, .pages = &spec}};
	uint32_t outer[2 * LIAR_ROWS];
	uint32_t inner[2 * LIAR_ROWS];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 2 * LIAR_ROWS};
	uint64_t count = 0;
	bool right = true;
	HgJob *job;

	if (engine->open(engine, host, &joining, &job, NULL) != HG_OK)
		return true;
	if (engine->join->append(job, HG_INNER, liar_keys, LIAR_ROWS, NULL) == HG_OK &&
		engine->pages->append_pages(job, HG_OUTER, page, 1, 0, NULL) == HG_OK &&
		engine->join->build(job, NULL) == HG_OK)
	{
		if (engine->join->count(job, HG_MATCH_ALL, &count, NULL) == HG_OK)
			right = count == LIAR_ROWS;
		if (engine->join->match(job, HG_MATCH_ALL, NULL) == HG_OK &&
			engine->join->next(job, &matches, NULL) == HG_OK)
			right = right && are_matches(&matches);
	}
	engine->join->close(job);
	return right;
}

/* Make a column, and reduce a join by it; false where something was answered that is not so. */
static bool
ask_column(HgEngine *engine, const HgHost *host)
{
	static const uint8_t values[LIAR_ROWS] = {LIAR_VALUE, LIAR_VALUE, LIAR_VALUE, LIAR_VALUE};
	const HgReplicaColumnSpec new_replica = {.name = {1, 1, 1, 0}, .shape = {1, 1, LIAR_ROWS, 0}};
	const HgReplicaUse use = {.name = {1, 1, 0, 0}, .shape = {4, 1, LIAR_ROWS}};
	const HgReplicaColumnUse column = {.name = new_replica.name, .shape = new_replica.shape};
	const HgJobSpec making = {
		.key_width = 4, .device = -1, .product = {HG_PRODUCT_COLUMN, .column = &new_replica}};
	const HgJobSpec joining = {.key_width = 4,
							   .device = -1,
							   .sides[HG_OUTER] = {.kind = HG_SOURCE_REPLICA,
												   .ncolumns = 1,
												   .column_width = {1},
												   .replica = {.use = &use, .columns = &column}}};
	uint64_t words[HG_MAX_REDUCE_WORDS];
	HgGroupRecords records = {words, 1, 0};
	uint64_t groups = 0;
	bool right = true;
	HgJob *job;

	if (engine->open(engine, host, &making, &job, NULL) == HG_OK)
	{
		if (engine->store->put_values(job, values, NULL, LIAR_ROWS, 0, NULL) == HG_OK)
			engine->join->build(job, NULL);
		engine->join->close(job);
	}
	if (engine->open(engine, host, &joining, &job, NULL) != HG_OK)
		return true;
	if (engine->join->append(job, HG_INNER, liar_keys, LIAR_ROWS, NULL) == HG_OK &&
		engine->join->build(job, NULL) == HG_OK &&
		engine->columns->reduce(job, HG_MATCH_ALL, &by_value, &groups, NULL) == HG_OK &&
		engine->columns->next_groups(job, &records, NULL) == HG_OK)
		right = records.count == 1 && words[0] == LIAR_VALUE && words[2] == LIAR_ROWS;
	engine->join->close(job);
	return right;
}

/* Join rows of a graph that have a column computed; nothing is believed that is not so. */
static void
ask_computed(HgEngine *engine, const HgHost *host)
{
	static const HgProgram program = {.nsteps = 1,
									  .steps = {{.kind = HG_STEP_CONSTANT, .bits = 64}}};
	const HgReplicaUse use = {.name = {1, 1, 0, 0}, .shape = {4, 1, LIAR_ROWS}};
	const HgReplicaColumnUse column = {.shape = {8, 1, LIAR_ROWS, 0}, .program = 1};
	const HgJobSpec spec = {
		.key_width = 4,
		.device = -1,
		.sides[HG_OUTER] = {
			.kind = HG_SOURCE_REPLICA,
			.ncolumns = 1,
			.column_width = {8},
			.replica = {.use = &use, .columns = &column, .nprograms = 1, .programs = &program}}};
	HgJob *job;

	if (engine->open(engine, host, &spec, &job, NULL) != HG_OK)
		return;
	if (engine->join->append(job, HG_INNER, liar_keys, LIAR_ROWS, NULL) == HG_OK)
		engine->join->build(job, NULL);
	engine->join->close(job);
}

/* All that can be asked of a job; false where something was answered that is not so. */
static bool
ask_all(HgEngine *engine, HgJob *job)
{
	const uint8_t values[LIAR_ROWS] = {LIAR_VALUE, LIAR_VALUE, LIAR_VALUE, LIAR_VALUE};
	uint32_t outer[2 * LIAR_ROWS];
	uint32_t inner[2 * LIAR_ROWS];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 2 * LIAR_ROWS};
	uint64_t words[HG_MAX_REDUCE_WORDS];
	HgGroupRecords records = {words, 1, 0};
	uint32_t graph[16];
	HgGraphStats described;
	uint64_t count = 0;
	bool right = true;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (engine->join->append(job, (HgSide) side, liar_keys, LIAR_ROWS, NULL) != HG_OK)
			return true;
	if (engine->columns->append_column(job, HG_OUTER, 0, values, NULL, LIAR_ROWS, 0, NULL) !=
			HG_OK ||
		engine->join->build(job, NULL) != HG_OK)
		return true;
	for (int mode = HG_MATCH_ALL; mode <= HG_MATCH_FIRST; mode++)
		if (engine->join->count(job, (HgMatchMode) mode, &count, NULL) == HG_OK)
			right = right && count == LIAR_ROWS;
	if (engine->join->match(job, HG_MATCH_ALL, NULL) == HG_OK &&
		engine->join->next(job, &matches, NULL) == HG_OK)
		right = right && are_matches(&matches);
	if (engine->join->describe(job, HG_INNER, &described, NULL) == HG_OK)
		right = right && described.edges == LIAR_ROWS;
	engine->join->export_graph(job, HG_INNER, graph, graph + 5, graph + 9, NULL);
	if (engine->columns->reduce(job, HG_MATCH_ALL, &by_value, &count, NULL) == HG_OK &&
		engine->columns->next_groups(job, &records, NULL) == HG_OK)
		right = right && records.count == 1 && words[0] == LIAR_VALUE && words[2] == LIAR_ROWS;
	return right;
}

/* Play a device process that lies.  How does the client end up? */
static HgWireState
state_after_lie(Lie lie, bool *right)
{
	Liar liar = {.lie = lie};
	HgJobSpec spec = test_plain_spec;
	HgWireMessage hello;
	HgWireClient *client;
	HgEngine *engine;
	HgWireState state;
	HgError error;
	HgJob *job = NULL;
	int pair[2];
	int staging = memfd_create("staging", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (staging < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 ||
		ftruncate(staging,
				  lie == LIE_SMALL_STAGING ? LIAR_STAGING_BYTES / 4 : LIAR_STAGING_BYTES) != 0)
		abort();
	if (lie != LIE_UNSEALED)
		fcntl(staging, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	liar.staging = mmap(NULL, LIAR_STAGING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, staging, 0);

	client = hg_wire_client_create(pair[0]);
	engine = hg_wire_client_engine(client);
	liar.host = *test_host_plain();
	liar.host.wait_readable = liar_wait;
	liar.host.arg = &liar;
	liar.fd = pair[1];

	memset(&hello, 0, sizeof(hello));
	hg_wire_header(&hello.header, HG_WIRE_HELLO, 0, 0);
	if (lie == LIE_MAGIC)
		hello.header.magic++;
	hello.devices.staging_bytes = LIAR_STAGING_BYTES;
	hello.devices.count = lie == LIE_TOO_MANY_DEVICES ? HG_WIRE_MAX_DEVICES + 1 : 1;
	hello.devices.costs.cpu[1].pair_ns = lie == LIE_COSTS ? NAN : 1;
	hg_wire_send(pair[1], &hello, lie == LIE_NO_DESCRIPTOR ? -1 : staging);
	if (lie == LIE_UNASKED_REPLY)
	{
		HgWireMessage reply;

		memset(&reply, 0, sizeof(reply));
		hg_wire_header(&reply.header, HG_WIRE_REPLY, 0, 1);
		hg_wire_send(pair[1], &reply, -1);
	}

	spec.sides[HG_OUTER].ncolumns = 1;
	spec.sides[HG_OUTER].column_width[0] = 1;
	*right = true;
	if (engine->open(engine, &liar.host, &spec, &job, &error) == HG_OK)
	{
		*right = ask_all(engine, job);
		engine->join->close(job);
		*right = ask_table(engine, &liar.host) && *right;
		*right = ask_replica(engine, &liar.host) && *right;
		*right = ask_column(engine, &liar.host) && *right;
		*right = ask_lookups(engine, &liar.host) && *right;
		*right = ask_pages(engine, &liar.host) && *right;
		*right = ask_shard(engine, &liar.host) && *right;
		ask_computed(engine, &liar.host);
	}
	state = hg_wire_client_state(client, &error);
	hg_wire_client_destroy(client);
	munmap(liar.staging, LIAR_STAGING_BYTES);
	close(pair[1]);
	close(staging);
	return state;
}

static void
test_one_lie(void)
{
	bool right;

	hg_tap_ok(state_after_lie(LIE_NONE, &right) == HG_WIRE_READY && right,
			  "the client trusts a process without a lie");
	for (int lie = LIE_NONE + 1; lie < LIE_COUNT; lie++)
	{
		HgWireState state = state_after_lie((Lie) lie, &right);

		hg_tap_ok(state == HG_WIRE_LOST && right, "the client drops a process over %s",
				  lie_names[lie]);
	}
}

/* Rows whose numbers are not dense: only those that the job was told of are rows. */
static void
test_numbers(void)
{
	const uint32_t rows[3] = {4, 0, 2};
	const HgRowNumbers numbers = {.block_log2 = 2, .blocks = 3, .rows = rows};
	HgRemoteJob job = {.numbered = true, .spec = {.participants_id = 1}};
	uint32_t outer[1];
	uint32_t inner[1];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 1, .count = 1};
	bool right = true;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_wire_client_number((HgJob *) &job, (HgSide) side, &numbers);
	for (uint32_t row = 0; row < 20; row++)
	{
		outer[0] = row;
		inner[0] = 9;
		right = right &&
				hg_wire_answer_has_matches(&job, &matches) == (row < 4 || row == 8 || row == 9);
	}
	outer[0] = 0;
	inner[0] = UINT32_C(0xFFFFFFF0);
	hg_tap_ok(right && !hg_wire_answer_has_matches(&job, &matches),
			  "of rows that are numbered, those in the gaps do not exist");
}

/* Rows of a graph replica are below what its parts can have, or those that it was made of. */
static void
test_replica_numbers(void)
{
	const uint32_t rows[2] = {5, 3};
	const HgRowNumbers numbers = {.block_log2 = HG_FLAT_ROW_BITS, .blocks = 2, .rows = rows};
	HgRemoteJob job = {.replica = {{.shape = {8, 2, 8}}}, .rows = {8, 4}};
	uint32_t outer[1] = {0};
	uint32_t inner[1] = {3};
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 1, .count = 1};
	const struct
	{
		uint32_t row;
		bool below;
		bool exists;
	} tried[] = {
		{4, true, true},
		{5, true, false},
		{HG_FLAT_ROW(1, 2), true, true},
		{HG_FLAT_ROW(1, 3), true, false},
		{HG_FLAT_ROW(2, 0) - 1, true, false},
		{HG_FLAT_ROW(2, 0), false, false},
		{UINT32_MAX, false, false},
	};
	bool right = true;

	job.spec.sides[HG_OUTER].kind = HG_SOURCE_REPLICA;
	job.spec.sides[HG_OUTER].replica.use = &job.replica[HG_OUTER];
	for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++)
	{
		outer[0] = tried[i].row;
		job.numbers[HG_OUTER] = NULL;
		right = right && hg_wire_answer_has_matches(&job, &matches) == tried[i].below;
		hg_wire_client_number((HgJob *) &job, HG_OUTER, &numbers);
		right = right && hg_wire_answer_has_matches(&job, &matches) == tried[i].exists;
	}
	outer[0] = 0;
	inner[0] = 4;
	hg_tap_ok(right && !hg_wire_answer_has_matches(&job, &matches),
			  "of a graph replica those rows exist that its parts have");
}

int
main(void)
{
	test_one_lie();
	test_numbers();
	test_replica_numbers();
	return hg_tap_done();
}
