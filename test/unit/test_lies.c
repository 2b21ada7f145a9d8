/*-------------------------------------------------------------------------
 *
 * test_lies.c
 *	  Ends of the wire that lie: a device process to its client, and a client to it.
 *
 * First this program plays a device process that tells one lie, for every kind that a client must
 * see through.  Then the stand-in (hg_device_standin.c), which lies beside this program, lies at
 * random (hg_lies.h), and this program does, to an honest stand-in, for HG_FUZZ_SECONDS each:
 * nobody may crash, hang or, where it can be seen, be deceived.  HG_FUZZ_SEED begins elsewhere.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* memfd_create, SOCK_SEQPACKET pairs */

#include "../../src/engine/hg_ranges.h"
#include "../../src/engine/hg_reduce.h"
#include "../../src/engine/wire/hg_wire_internal.h"
#include "hg_lies.h"
#include "hg_tap.h"
#include "test_columns.h"
#include "test_measure.h"
#include "test_named.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------------
 * One lie
 * ------------------------------------------------------------------------ */

#define STAGING_BYTES 262144
#define RESULTS 131072

/* Rows of either side of the job, which match one by one, and what their column holds. */
#define ROWS 4
#define VALUE 7

/* More matches than they can have. */
#define IMPOSSIBLE (ROWS * ROWS + 1)

/* What a device process can get wrong. */
typedef enum Lie
{
	LIE_NONE,
	LIE_MAGIC,
	LIE_NO_DESCRIPTOR,
	LIE_SMALL_STAGING,
	LIE_UNSEALED,
	LIE_TOO_MANY_DEVICES,
	LIE_COSTS,
	LIE_UNASKED_REPLY,
	LIE_SEQUENCE,
	LIE_KIND_OF_ANSWER,
	LIE_JOB,
	LIE_STATUS,
	LIE_CANCELLED,
	LIE_LOST,
	LIE_FIGURES,
	LIE_ALGORITHM,
	LIE_NO_LEASE,
	LIE_LEASE_BEYOND,
	LIE_LEASE_UNALIGNED,
	LIE_MORE_ROWS,
	LIE_FEWER_ROWS,
	LIE_COUNT_OF_NONE,
	LIE_IMPOSSIBLE_COUNT,
	LIE_IMPOSSIBLE_FIRST,
	LIE_TOO_MANY_PAIRS,
	LIE_SMALL_RESULTS,
	LIE_UNCOUNTED_PAIRS,
	LIE_LOST_PAIRS,
	LIE_OUTER_ROW,
	LIE_INNER_ROW,
	LIE_LAST_ROW,
	LIE_GRAPH,
	LIE_EXPORT,
	LIE_TOO_MANY_GROUPS,
	LIE_GROUPS_OF_NOTHING,
	LIE_NO_MORE_GROUPS,
	LIE_GROUP_PAIRS,
	LIE_IMPOSSIBLE_PAIRS,
	LIE_GROUP_KEY,
	LIE_GROUP_NULLS,
	LIE_GROUP_COUNT,
	LIE_GROUP_SUM,
	LIE_GROUP_EXTREME,
	LIE_TABLE_TIME,
	LIE_TABLE_NO_TIME,
	LIE_TABLE_MORE_ROWS,
	LIE_TABLE_FEWER_ROWS,
	LIE_TABLE_SLOTS,
	LIE_TABLE_FILLED,
	LIE_TABLE_LIST,
	LIE_TABLE_BYTES,
	LIE_TABLE_SAMPLE,
	LIE_TABLE_LOST,
	LIE_RESIDENT,
	LIE_NOT_KEPT,
	LIE_NOT_KEPT_GRAPH,
	LIE_NOT_KEPT_LATE,
	LIE_KEPT_MORE_ROWS,
	LIE_KEPT_FEWER_ROWS,
	LIE_KEPT_COUNT,
	LIE_KEPT_ROW,
	LIE_KEPT_LAST_ROW,
	LIE_EDGES,
	LIE_COUNT
} Lie;

static const char *const lie_names[LIE_COUNT] = {
	"no lie",
	"a wrong magic number",
	"no staging area",
	"a staging area smaller than it says",
	"a staging area that can shrink",
	"more devices than a message holds",
	"costs that are no number",
	"an answer to no question",
	"an answer with a wrong sequence number",
	"a list of devices for an answer",
	"an answer for another job",
	"a status that does not exist",
	"a cancellation that nobody asked for",
	"a connection that it has lost itself",
	"a time that is no number",
	"an unknown algorithm",
	"no lease for a job",
	"a lease beyond staging",
	"a lease that is not aligned",
	"more rows than it was sent",
	"fewer rows in the job than it was sent",
	"a number of matches that it has not counted",
	"more matches than there are pairs of rows",
	"more first matches than there are outer rows",
	"more pairs than were asked for",
	"more pairs than its results have room for",
	"pairs that it does not count",
	"fewer pairs than it counts",
	"an outer row that does not exist",
	"an inner row that does not exist",
	"the row behind the last one",
	"a graph of other rows",
	"a part of a graph without an element",
	"more groups than may be",
	"groups of no match",
	"no more groups, before all have come",
	"a group with more pairs than there are",
	"a group of more matches than there are pairs of rows",
	"a group whose key does not fit its column",
	"a group with a NULL of no key",
	"a group with more arguments than pairs",
	"a group with a sum that its values can't have",
	"a group with an extreme that its column can't hold",
	"a time of a table that is no number",
	"a time of a table that is below zero",
	"a table of more rows than there are keys",
	"a table of all keys that has not all of them",
	"a table of fewer slots than rows",
	"a table that is more than full",
	"a list of more rows than a table has slots",
	"a table that holds more than it ever held",
	"more changes of a table than were asked for",
	"rows that a table has not got back",
	"a kept graph in a job without",
	"a kept graph that is not there, which was not named",
	"the same of a graph that is to be made",
	"a kept graph that is not there when its job was opened",
	"a kept graph of more rows than it has",
	"a kept graph of fewer rows than it has",
	"more matches of a kept graph than there are pairs of rows",
	"a row of no part of a kept graph",
	"the row behind the last one of its parts",
	"edges that are rows of a join",
};

/* A device process played by the host's own waiting. */
typedef struct Liar
{
	HgHost host;
	int fd;
	Lie lie;
	unsigned char *staging;
	HgJobStats stats; /* of the job ... */
	bool has_kept;	  /* ... of which one side is a kept graph */
} Liar;

/* The matches, or one of them that is none. */
static void
tell_matches(const Liar *liar, const HgWireRequest *request, HgWireReply *reply)
{
	uint32_t *outer = (uint32_t *) (liar->staging + RESULTS);
	uint32_t *inner = outer + HG_WIRE_PAGE / (2 * sizeof(uint32_t));

	for (uint32_t i = 0; i < ROWS; i++)
		outer[i] = inner[i] = i;
	if (liar->lie == LIE_OUTER_ROW)
		outer[1] = UINT32_C(0xFFFFFFF0);
	if (liar->lie == LIE_INNER_ROW)
		inner[ROWS - 1] = UINT32_C(0xFFFFFFF0);
	if (liar->lie == LIE_LAST_ROW)
		inner[0] = ROWS;
	if (liar->lie == LIE_KEPT_ROW && liar->has_kept)
		outer[1] = UINT32_C(0xFFFFFFF0);
	if (liar->lie == LIE_KEPT_LAST_ROW && liar->has_kept)
		outer[ROWS - 1] = 1 << HG_FLAT_ROW_BITS;
	reply->count = liar->lie == LIE_TOO_MANY_PAIRS ? request->count + 1 : ROWS;
	reply->lease_offset = RESULTS;
	reply->lease_bytes = liar->lie == LIE_SMALL_RESULTS ? 0 : HG_WIRE_PAGE;
}

/* One group of all matches: its key, its NULLs, its pairs, a sum of two words and a minimum. */
static void
tell_groups(const Liar *liar, HgWireReply *reply)
{
	uint64_t *record = (uint64_t *) (liar->staging + RESULTS);

	record[0] = liar->lie == LIE_GROUP_KEY ? 1 << 20 : VALUE;
	record[1] = liar->lie == LIE_GROUP_NULLS ? 2 : 0;
	record[2] = liar->lie == LIE_GROUP_PAIRS ? ROWS + 1 : ROWS;
	if (liar->lie == LIE_IMPOSSIBLE_PAIRS)
		record[2] = IMPOSSIBLE;
	record[3] = liar->lie == LIE_GROUP_COUNT ? ROWS + 1 : ROWS;
	record[4] = ROWS * VALUE;
	record[5] = liar->lie == LIE_GROUP_SUM ? 1 : 0;
	record[6] = ROWS;
	record[7] = liar->lie == LIE_GROUP_EXTREME ? UINT64_C(1) << 40 : VALUE;
	reply->count = liar->lie != LIE_NO_MORE_GROUPS;
	reply->lease_offset = RESULTS;
	reply->lease_bytes = HG_WIRE_PAGE;
}

/* What was measured of a table of all keys. */
static void
tell_table(const Liar *liar, HgTableMeasure *measure)
{
	*measure = (HgTableMeasure){.stats = {.rows = ROWS,
										  .slots = 8,
										  .filled = 0.5,
										  .bytes = 100,
										  .peak_bytes = 200,
										  .lists = 4,
										  .longest_list = 1},
								.build_ns = 10,
								.find_ns = 10,
								.erase_ns = 10,
								.insert_ns = 10,
								.sampled = 2,
								.erased = 2,
								.inserted = 2};
	if (liar->lie == LIE_TABLE_TIME)
		measure->find_ns = NAN;
	if (liar->lie == LIE_TABLE_NO_TIME)
		measure->insert_ns = -1;
	if (liar->lie == LIE_TABLE_SLOTS)
		measure->stats.slots = ROWS - 1;
	if (liar->lie == LIE_TABLE_FILLED)
		measure->stats.filled = 1.5;
	if (liar->lie == LIE_TABLE_LIST)
		measure->stats.longest_list = 9;
	if (liar->lie == LIE_TABLE_BYTES)
		measure->stats.peak_bytes = 99;
	if (liar->lie == LIE_TABLE_SAMPLE)
		measure->sampled = measure->erased = measure->inserted = ROWS;
	measure->stats.rows += liar->lie == LIE_TABLE_MORE_ROWS;
	measure->stats.rows -= liar->lie == LIE_TABLE_FEWER_ROWS;
	measure->inserted -= liar->lie == LIE_TABLE_LOST;
}

/* A job is opened: what has it from the start? */
static void
tell_open(Liar *liar, const HgWireRequest *request, HgWireReply *reply)
{
	const bool makes = request->keep.shape.key_width > 0;

	liar->stats = (HgJobStats){0};
	liar->has_kept = request->kept[HG_OUTER].shape.key_width > 0;
	if (liar->has_kept)
		liar->stats.rows[HG_OUTER] = ROWS + (liar->lie == LIE_KEPT_MORE_ROWS);
	if ((liar->lie == LIE_NOT_KEPT && !liar->has_kept) ||
		(liar->lie == LIE_NOT_KEPT_GRAPH && makes))
		reply->error.status = HG_NOT_KEPT;
}

/* What the process says to a request of the job. */
static void
tell(Liar *liar, const HgWireRequest *request, HgWireReply *reply)
{
	switch (request->header.type)
	{
		case HG_WIRE_OPEN:
			tell_open(liar, request, reply);
			reply->lease_bytes = liar->lie == LIE_NO_LEASE ? 0 : 65536;
			if (liar->lie == LIE_LEASE_BEYOND)
				reply->lease_offset = STAGING_BYTES - HG_WIRE_PAGE;
			if (liar->lie == LIE_LEASE_UNALIGNED)
				reply->lease_offset = HG_WIRE_PAGE / 2;
			break;
		case HG_WIRE_APPEND:
			liar->stats.rows[request->side] += request->count + (liar->lie == LIE_MORE_ROWS);
			break;
		case HG_WIRE_BUILD:
			liar->stats.rows[HG_INNER] -= liar->lie == LIE_FEWER_ROWS;
			liar->stats.vertices = 4;
			liar->stats.build = liar->lie == LIE_ALGORITHM ? 77 : HG_BUILD_V1;
			if (liar->has_kept || liar->lie == LIE_RESIDENT)
				liar->stats.build = HG_BUILD_RESIDENT;
			if (liar->has_kept && liar->lie == LIE_NOT_KEPT_LATE)
				reply->error.status = HG_NOT_KEPT;
			liar->stats.rows[HG_OUTER] -= liar->has_kept && liar->lie == LIE_KEPT_FEWER_ROWS;
			if (liar->lie == LIE_FIGURES)
				liar->stats.phase_ms[HG_PHASE_BUILD] = NAN;
			break;
		case HG_WIRE_COUNT:
			reply->count = ROWS;
			if (liar->lie == LIE_IMPOSSIBLE_COUNT ||
				(liar->lie == LIE_KEPT_COUNT && liar->has_kept))
				reply->count = IMPOSSIBLE;
			if (liar->lie == LIE_IMPOSSIBLE_FIRST && request->mode == HG_MATCH_FIRST)
				reply->count = ROWS + 1;
			liar->stats.matches += liar->lie == LIE_COUNT_OF_NONE ? 0 : reply->count;
			break;
		case HG_WIRE_NEXT:
			tell_matches(liar, request, reply);
			liar->stats.matches += liar->lie == LIE_UNCOUNTED_PAIRS ? 0 : reply->count;
			reply->count -= liar->lie == LIE_LOST_PAIRS;
			break;
		case HG_WIRE_DESCRIBE:
			reply->graph = (HgGraphStats){.vertices = 4, .edges = ROWS, .longest_list = 1};
			reply->graph.edges += liar->lie == LIE_GRAPH;
			break;
		case HG_WIRE_EXPORT:
			reply->count = liar->lie == LIE_EXPORT ? 0 : request->count;
			reply->lease_offset = RESULTS;
			reply->lease_bytes = HG_WIRE_PAGE;
			break;
		case HG_WIRE_REDUCE:
			reply->count = liar->lie == LIE_TOO_MANY_GROUPS ? request->reduce.max_groups + 1 : 1;
			if (liar->lie == LIE_IMPOSSIBLE_PAIRS)
				liar->stats.matches += IMPOSSIBLE;
			else
				liar->stats.matches += liar->lie == LIE_GROUPS_OF_NOTHING ? 0 : ROWS;
			break;
		case HG_WIRE_NEXT_GROUPS:
			tell_groups(liar, reply);
			break;
		case HG_WIRE_MEASURE:
			tell_table(liar, &reply->table);
			break;
		case HG_WIRE_PUT_EDGES:
			liar->stats.rows[HG_INNER] += liar->lie == LIE_EDGES ? request->count : 0;
			break;
	}
	reply->stats = liar->stats;
}

/* The client waits: answer its request, with the lie. */
static bool
liar_wait(void *arg, int fd)
{
	Liar *liar = arg;
	HgWireMessage request;
	HgWireMessage answer;

	(void) fd;
	do
		if (test_receive(liar->fd, &request) != HG_WIRE_DONE)
			return false;
	while (request.header.type == HG_WIRE_RELEASE || request.header.type == HG_WIRE_CLOSE);
	memset(&answer, 0, sizeof(answer));
	hg_wire_header(&answer.header,
				   liar->lie == LIE_KIND_OF_ANSWER ? HG_WIRE_DEVICES : HG_WIRE_REPLY,
				   request.header.job, request.header.sequence);
	answer.header.sequence += liar->lie == LIE_SEQUENCE;
	answer.header.job += liar->lie == LIE_JOB;
	if (liar->lie != LIE_KIND_OF_ANSWER)
		tell(liar, &request.request, &answer.reply);
	if (liar->lie == LIE_STATUS)
		answer.reply.error.status = (HgStatus) 77;
	if (liar->lie == LIE_CANCELLED)
		answer.reply.error.status = HG_CANCELLED;
	if (liar->lie == LIE_LOST)
		answer.reply.error.status = HG_CONNECTION_LOST;
	hg_wire_send(liar->fd, &answer, -1);
	return true;
}

static bool
are_matches(const HgMatches *matches)
{
	for (size_t i = 0; i < matches->count; i++)
		if (matches->outer[i] != i || matches->inner[i] != i)
			return false;
	return matches->count == ROWS;
}

static const uint32_t liar_keys[ROWS] = {1, 2, 3, 4};

/* Have a table measured; false where something was answered that is not so. */
static bool
ask_table(HgEngine *engine, const HgHost *host)
{
	const TestData data = {.key_width = 4,
						   .rows = {0, ROWS},
						   .keys = {NULL, (void *) liar_keys},
						   .distinct = {0, ROWS}};
	const HgTableTrial trial = {
		.spec = {.kind = HG_TABLE_CSR, .content = HG_TABLE_MULTIMAP, .key_width = 4}, .batches = 2};
	HgTableMeasure measure;

	return test_measure(engine, host, &data, &trial, &measure, NULL) != HG_OK ||
		   (measure.stats.rows == ROWS && measure.erased == 2 && measure.inserted == 2);
}

/* Make a graph, and join one with rows; false where something was answered that is not so. */
static bool
ask_kept(HgEngine *engine, const HgHost *host)
{
	static const uint32_t rows[ROWS] = {0, 1, 2, 3};
	const HgKeptSpec keep = {.name = {1, 1}, .shape = {4, 1, ROWS}};
	const HgKeptUse use = {.name = {1, 1}, .shape = {4, 1, ROWS}, .masked = 1};
	const HgJobSpec making = {.key_width = 4, .device = -1, .keep = &keep};
	const HgJobSpec joining = {.key_width = 4, .device = -1, .kept = {&use, NULL}};
	uint32_t outer[2 * ROWS];
	uint32_t inner[2 * ROWS];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 2 * ROWS};
	uint64_t count = 0;
	bool right = true;
	HgJob *job;

	if (engine->open(engine, host, &making, &job, NULL) == HG_OK)
	{
		if (engine->put_edges(job, liar_keys, rows, ROWS, NULL) == HG_OK)
			engine->build(job, NULL);
		engine->close(job);
	}
	if (engine->open(engine, host, &joining, &job, NULL) != HG_OK)
		return true;
	if (engine->append(job, HG_INNER, liar_keys, ROWS, NULL) == HG_OK &&
		engine->mask(job, HG_OUTER, 1, 10, NULL, NULL) == HG_OK &&
		engine->build(job, NULL) == HG_OK)
	{
		if (engine->count(job, HG_MATCH_ALL, &count, NULL) == HG_OK)
			right = count == ROWS;
		if (engine->match(job, HG_MATCH_ALL, NULL) == HG_OK &&
			engine->next(job, &matches, NULL) == HG_OK)
			right = right && are_matches(&matches);
	}
	engine->close(job);
	return right;
}

/* All that can be asked of a job; false where something was answered that is not so. */
static bool
ask_all(HgEngine *engine, HgJob *job)
{
	const uint8_t values[ROWS] = {VALUE, VALUE, VALUE, VALUE};
	const HgReduceSpec spec = {
		.nkeys = 1,
		.nitems = 2,
		.keys = {{.side = HG_OUTER, .is_signed = 1}},
		.items = {{.kind = HG_REDUCE_SUM, .argument = {.side = HG_OUTER, .is_signed = 1}},
				  {.kind = HG_REDUCE_MIN, .argument = {.side = HG_OUTER, .is_signed = 1}}},
		.max_groups = 2};
	uint32_t outer[2 * ROWS];
	uint32_t inner[2 * ROWS];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 2 * ROWS};
	uint64_t words[HG_MAX_REDUCE_WORDS];
	HgGroupRecords records = {words, 1, 0};
	uint32_t graph[16];
	HgGraphStats described;
	uint64_t count = 0;
	bool right = true;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (engine->append(job, (HgSide) side, liar_keys, ROWS, NULL) != HG_OK)
			return true;
	if (engine->append_column(job, HG_OUTER, 0, values, NULL, ROWS, 0, NULL) != HG_OK ||
		engine->build(job, NULL) != HG_OK)
		return true;
	for (int mode = HG_MATCH_ALL; mode <= HG_MATCH_FIRST; mode++)
		if (engine->count(job, (HgMatchMode) mode, &count, NULL) == HG_OK)
			right = right && count == ROWS;
	if (engine->match(job, HG_MATCH_ALL, NULL) == HG_OK &&
		engine->next(job, &matches, NULL) == HG_OK)
		right = right && are_matches(&matches);
	if (engine->describe(job, HG_INNER, &described, NULL) == HG_OK)
		right = right && described.edges == ROWS;
	engine->export_graph(job, HG_INNER, graph, graph + 5, graph + 9, NULL);
	if (engine->reduce(job, HG_MATCH_ALL, &spec, &count, NULL) == HG_OK &&
		engine->next_groups(job, &records, NULL) == HG_OK)
		right = right && records.count == 1 && words[0] == VALUE && words[2] == ROWS;
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
		ftruncate(staging, lie == LIE_SMALL_STAGING ? STAGING_BYTES / 4 : STAGING_BYTES) != 0)
		abort();
	if (lie != LIE_UNSEALED)
		fcntl(staging, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	liar.staging = mmap(NULL, STAGING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, staging, 0);

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
	hello.devices.staging_bytes = STAGING_BYTES;
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

	spec.ncolumns[HG_OUTER] = 1;
	spec.column_width[HG_OUTER][0] = 1;
	*right = true;
	if (engine->open(engine, &liar.host, &spec, &job, &error) == HG_OK)
	{
		*right = ask_all(engine, job);
		engine->close(job);
		*right = ask_table(engine, &liar.host) && *right;
		*right = ask_kept(engine, &liar.host) && *right;
	}
	state = hg_wire_client_state(client, &error);
	hg_wire_client_destroy(client);
	munmap(liar.staging, STAGING_BYTES);
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
	HgRemoteJob job = {.numbered = true, .spec = {.team = 1}};
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

/* Rows of a kept graph are below what its parts can have, or those that it was made of. */
static void
test_kept_numbers(void)
{
	const uint32_t rows[2] = {5, 3};
	const HgRowNumbers numbers = {.block_log2 = HG_FLAT_ROW_BITS, .blocks = 2, .rows = rows};
	HgRemoteJob job = {.kept = {{.shape = {8, 2, 8}}}, .rows = {8, 4}};
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

	job.spec.kept[HG_OUTER] = &job.kept[HG_OUTER];
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
			  "of a kept graph those rows exist that its parts have");
}

/* A session asks for rows whose numbers no row can have: its job fails, and no more than that. */
static void
test_session_numbers(void)
{
	static const HgWireType types[] = {HG_WIRE_APPEND_ROWS, HG_WIRE_APPEND_COLUMN};
	TestServer server;
	TestSpeaker speaker;
	HgWireMessage message;

	test_start_server(&server, NULL);
	test_start_speaker(&server, &speaker);
	test_ask_open(&speaker, 1, UINT64_MAX - 1, 0);
	hg_tap_ok(test_is_answered(&speaker, HG_TOO_MANY_ROWS),
			  "a job that expects more rows than there can be is refused");
	for (uint32_t i = 0; i < 2; i++)
	{
		memset(&message, 0, sizeof(message));
		message.request.spec = test_plain_spec;
		message.request.spec.ncolumns[HG_OUTER] = 1;
		message.request.spec.column_width[HG_OUTER][0] = 4;
		test_ask(&speaker, HG_WIRE_OPEN, 2 + i, &message);
		test_is_answered(&speaker, HG_OK);
		message.request.offset = speaker.answer.reply.lease_offset;
		message.request.count = 16;
		message.request.first = UINT64_MAX - 7;
		test_ask(&speaker, types[i], 2 + i, &message);
		hg_tap_ok(test_is_answered(&speaker, HG_TOO_MANY_ROWS), "so are %s behind the last number",
				  i == 0 ? "rows" : "values");
	}
	test_end_speaker(&speaker);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_stop_server(&server),
			  "and nothing is left of it");
}

/* ------------------------------------------------------------------------
 * Lies at random
 * ------------------------------------------------------------------------ */

/* What a session's job may take, and a whole session before it counts as hanging. */
#define JOB_MS 2000
#define HANG_SECONDS 60

static double fuzz_ms = 1000;
static uint64_t fuzz_seed = 1;

/* One that has been lost is of no use: a hg_ranges target. */
static HgEngine *
engine_of(void *client)
{
	return hg_wire_client_engine(client);
}

/* Do values come from the rows of their matches? */
static bool
are_values(const TestCase *c, const HgMatches *matches)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < c->spec.ncolumns[side]; column++)
			for (size_t i = 0; matches->values[side][column] != NULL && i < matches->count; i++)
			{
				const uint32_t row = side == HG_OUTER ? matches->outer[i] : matches->inner[i];
				const size_t width = c->spec.column_width[side][column];

				if (memcmp((char *) matches->values[side][column] + i * width,
						   c->values[side][column] + row * width, width) != 0)
					return false;
			}
	return true;
}

/* Stream the matches: right or not, if that is how they end. */
static HgStatus
play_stream(HgEngine *engine, HgJob *job, const TestCase *c, HgMatchMode mode, bool *right)
{
	uint32_t outer[500];
	uint32_t inner[500];
	uint64_t values[2][HG_MAX_COLUMNS][500];
	uint8_t nulls[2][HG_MAX_COLUMNS][500];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 1 + hg_lies_random() % 500};
	const TestData *data = &c->data;
	uint64_t pairs = 0;
	uint64_t checksum = 0;
	HgStatus status = engine->match(job, mode, NULL);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < c->spec.ncolumns[side]; column++)
		{
			matches.values[side][column] = values[side][column];
			matches.nulls[side][column] = nulls[side][column];
		}
	while (status == HG_OK && (status = engine->next(job, &matches, NULL)) == HG_OK &&
		   matches.count > 0)
	{
		for (size_t i = 0; i < matches.count; i++)
		{
			/* what is no row must not come this far, whatever is believed */
			if (outer[i] >= data->rows[HG_OUTER] || inner[i] >= data->rows[HG_INNER])
				abort();
			checksum += test_pair_checksum(outer[i], inner[i]);
			*right = *right && test_data_key(data, HG_OUTER, outer[i]) ==
								   test_data_key(data, HG_INNER, inner[i]);
		}
		*right = *right && are_values(c, &matches);
		pairs += matches.count;
		/* a stream of lies may have no end */
		if (pairs > 4 * data->pairs)
			return HG_CANCELLED;
	}
	if (status == HG_OK)
		*right =
			*right && (mode == HG_MATCH_FIRST ? pairs == data->first
											  : pairs == data->pairs && checksum == data->checksum);
	return status;
}

static HgStatus
play_groups(HgEngine *engine, HgJob *job, const TestCase *c, bool *right)
{
	const HgReduceSpec spec = {
		.nkeys = hg_lies_random() % 2,
		.nitems = 2,
		.keys = {{.side = HG_INNER, .column = 0, .is_signed = 1}},
		.items = {{.kind = HG_REDUCE_SUM, .argument = {.side = HG_OUTER, .is_signed = 1}},
				  {.kind = HG_REDUCE_MAX, .argument = {.side = HG_INNER, .is_signed = 1}}},
		.max_groups = 1 + hg_lies_random() % 1000};
	const uint32_t words = hg_reduce_words(&spec);
	uint64_t record[HG_MAX_REDUCE_WORDS * 8];
	HgGroupRecords records = {record, 8, 0};
	uint64_t groups;
	uint64_t taken = 0;
	uint64_t pairs = 0;
	HgStatus status = engine->reduce(job, HG_MATCH_ALL, &spec, &groups, NULL);

	if (status != HG_OK || groups == HG_TOO_MANY_GROUPS)
		return status;
	while (taken < groups && (status = engine->next_groups(job, &records, NULL)) == HG_OK)
	{
		/* the promise that nobody checks again */
		if (records.count == 0 || records.count > groups - taken)
			abort();
		for (size_t i = 0; i < records.count; i++)
			pairs += record[i * words + spec.nkeys + 1];
		taken += records.count;
	}
	if (status == HG_OK)
		*right = *right && pairs == c->data.pairs;
	return status;
}

/* Ask for what comes to mind of a job that is built. */
static void
play_job(HgEngine *engine, HgJob *job, const TestCase *c, bool may_export, bool *right)
{
	const bool has_columns = c->spec.ncolumns[HG_OUTER] > 0;
	HgStatus status = HG_OK;

	for (int asked = 0; asked < 4 && status == HG_OK; asked++)
	{
		const HgMatchMode mode = hg_lies_random() % 2 ? HG_MATCH_ALL : HG_MATCH_FIRST;
		uint64_t count = 0;
		HgGraphStats graph;
		HgJobStats stats;
		uint32_t *arrays;

		switch (hg_lies_random() % (may_export ? 5 : 4))
		{
			case 0:
				status = engine->count(job, mode, &count, NULL);
				if (status == HG_OK)
					*right =
						*right && count == (mode == HG_MATCH_ALL ? c->data.pairs : c->data.first);
				break;
			case 1:
				if (has_columns)
				{
					status = play_groups(engine, job, c, right);
					break;
				}
				status = engine->describe(job, HG_INNER, &graph, NULL);
				break;
			case 4:
				engine->stats(job, &stats);
				arrays =
					test_malloc((stats.vertices + 1 + 3 * stats.rows[HG_INNER]) * sizeof(uint32_t));
				engine->export_graph(job, HG_INNER, arrays, arrays + stats.vertices + 1,
									 arrays + stats.vertices + 1 + 2 * stats.rows[HG_INNER], NULL);
				free(arrays);
				break;
			default:
				status = play_stream(engine, job, c, mode, right);
		}
	}
}

/* Have a table measured that has all keys. */
static void
play_table(HgEngine *engine, const HgHost *host, const TestData *data, bool *right)
{
	static const HgTableKind kinds[] = {HG_TABLE_CSR, HG_TABLE_DYNAMIC, HG_TABLE_CUCKOO};
	const HgTableTrial trial = {.spec = {.kind = kinds[hg_lies_random() % 3],
										 .content = HG_TABLE_MULTIMAP,
										 .key_width = data->key_width},
								.batches = hg_lies_random() % 4};
	HgTableMeasure measure;

	if (test_measure(engine, host, data, &trial, &measure, NULL) == HG_OK)
		*right = *right && measure.stats.rows == data->rows[HG_INNER];
}

/* Names of graphs that sessions make, and which others may have altered. */
#define KEPT_NAMES 4
#define KEPT_ROWS(serial) (1000 + 500 * (serial))

/* Make a graph, and join what there may be of that name with itself. */
static void
play_kept(HgWireClient *client, const HgHost *host, bool *right)
{
	const uint64_t serial = 1 + hg_lies_random() % KEPT_NAMES;
	const HgKeptUse use = {.name = {TEST_EPOCH, serial},
						   .shape = {8, 1, KEPT_ROWS(serial)},
						   .masked = hg_lies_random() % 2};
	const HgJobSpec spec = {.key_width = 8, .device = -1, .kept = {&use, &use}};
	HgEngine *engine = hg_wire_client_engine(client);
	uint32_t outer[500];
	uint32_t inner[500];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 500};
	uint64_t pairs = 0;
	uint64_t count = 0;
	HgStatus status = HG_OK;
	HgJob *job;

	if (hg_lies_random() % 2)
		test_named_make(client, host, serial, KEPT_ROWS(serial), NULL);
	if (hg_lies_random() % 4 == 0)
		test_named_drop(client, 1 + hg_lies_random() % KEPT_NAMES);
	if (engine->open(engine, host, &spec, &job, NULL) != HG_OK)
		return;
	/* all but the first 64 rows */
	if (use.masked)
		status = engine->mask(job, HG_OUTER, 0, 1, NULL, NULL);
	if (status == HG_OK && engine->build(job, NULL) == HG_OK &&
		engine->count(job, HG_MATCH_ALL, &count, NULL) == HG_OK)
	{
		*right = *right && count == use.shape.rows - (use.masked ? 64 : 0);
		status = engine->match(job, HG_MATCH_ALL, NULL);
		while (status == HG_OK && (status = engine->next(job, &matches, NULL)) == HG_OK &&
			   matches.count > 0 && pairs <= 4 * use.shape.rows)
		{
			/* what is no row must not come this far, whatever is believed */
			for (size_t i = 0; i < matches.count; i++)
				if (outer[i] >= hg_kept_rows_end(&use.shape) ||
					inner[i] >= hg_kept_rows_end(&use.shape))
					abort();
			pairs += matches.count;
		}
		if (status == HG_OK)
			*right = *right && pairs == count;
	}
	engine->close(job);
}

/* One session with some jobs, until the connection is lost; false where it was deceived. */
static bool
play_session(HgWireClient *client)
{
	HgRanges ranges;
	bool right = true;

	alarm(HANG_SECONDS);
	for (int jobs = 0; jobs < 5 && hg_wire_client_state(client, NULL) == HG_WIRE_READY; jobs++)
	{
		TestCase c = {.kind = hg_lies_random() % 2 ? TEST_KEYS_UNIQUE : TEST_KEYS_DUPLICATES,
					  .key_width = hg_lies_random() % 2 ? 4 : 8,
					  .rows = {1 + hg_lies_random() % 3000, 1 + hg_lies_random() % 3000},
					  .spread = {5, 0, 0}};
		const bool whole = hg_lies_random() % 2;
		HgEngine *engine = hg_wire_client_engine(client);
		TestImpatient impatient;
		HgJob *job = NULL;

		if (!whole)
		{
			hg_ranges_init(&ranges, "cuda", engine_of, client);
			engine = &ranges.engine;
			c.spec.memory_limit = hg_lies_random() % 2 ? 0 : 1 << 16;
		}
		test_case_create(&c, hg_lies_random() % 3);
		test_impatient_init(&impatient, JOB_MS);
		if (hg_lies_random() % 4 == 0)
			play_table(hg_wire_client_engine(client), &impatient.host, &c.data, &right);
		if (hg_lies_random() % 3 == 0)
			play_kept(client, &impatient.host, &right);
		if (test_case_build(&c, engine, &impatient.host, &job, NULL) == HG_OK)
			play_job(engine, job, &c, whole, &right);
		if (job != NULL)
			engine->close(job);
		test_case_destroy(&c);
	}
	alarm(0);
	return right;
}

/* Have the stand-in tell lies of a kind. */
static void
test_lying_process(const char *kind, bool seen)
{
	const double end = test_now_ms() + fuzz_ms;
	uint64_t sessions = 0;
	bool right = true;

	while (right && (sessions == 0 || test_now_ms() < end))
	{
		TestServer server;
		char lies[64];
		int status;

		/* sometimes one answer in three makes no sense, sometimes few do */
		snprintf(lies, sizeof(lies), "%s %d %llu", kind, hg_lies_random() % 2 ? 3 : 50,
				 (unsigned long long) hg_lies_random() % 1000000);
		setenv("HG_STANDIN_LIES", lies, 1);
		test_launch_server(&server, NULL);
		unsetenv("HG_STANDIN_LIES");
		for (int i = 0; right && i < 50 && test_now_ms() < end; i++)
		{
			HgWireClient *client = hg_wire_client_create(test_connect_to(&server));

			if (test_started_state(client, NULL) == HG_WIRE_READY)
				right = play_session(client) || !seen;
			hg_wire_client_destroy(client);
			sessions++;
		}
		hg_wire_client_destroy(server.control);
		right = test_process_ends(server.process, &status) && right && WIFEXITED(status);
		if (!right)
			hg_tap_diag("lies: %s, status %d", lies, status);
	}
	hg_tap_ok(right, "a process that tells lies of kind \"%s\" %s", kind,
			  seen ? "deceives nobody" : "does no harm");
	hg_tap_diag("%llu sessions", (unsigned long long) sessions);
}

/* Lie to an honest stand-in. */
static void
test_lying_client(const char *kind)
{
	const double end = test_now_ms() + fuzz_ms;
	uint64_t sessions = 0;
	uint64_t told = 0;
	TestServer server;
	TestData data;
	bool good = true;

	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 1000, 1000);
	test_start_server(&server, NULL);
	while (good && (sessions == 0 || test_now_ms() < end))
	{
		HgWireClient *client = test_start_client(&server);
		char lies[64];

		snprintf(lies, sizeof(lies), "%s %d %llu", kind, sessions % 2 ? 5 : 30,
				 (unsigned long long) (fuzz_seed + sessions));
		hg_lies_begin(lies, client->staging, client->staging_bytes);
		play_session(client);
		told += hg_lies_told();
		hg_lies_end();
		hg_wire_client_destroy(client);

		/* it has an ear for others */
		client = test_start_client(&server);
		good = test_stream_works(hg_wire_client_engine(client), &data);
		hg_wire_client_destroy(client);
		sessions++;
	}
	good = test_counts_become(&server, 0, 0, 0) && good;
	good = test_stop_server(&server) && good;
	hg_tap_ok(good, "a client that tells lies of kind \"%s\" does the process no harm", kind);
	hg_tap_diag("%llu sessions, %llu lies", (unsigned long long) sessions,
				(unsigned long long) told);
	test_data_destroy(&data);
}

int
main(int argc, char **argv)
{
	if (getenv("HG_FUZZ_SECONDS") != NULL)
		fuzz_ms = 1000 * strtod(getenv("HG_FUZZ_SECONDS"), NULL);
	if (getenv("HG_FUZZ_SEED") != NULL)
		fuzz_seed = strtoull(getenv("HG_FUZZ_SEED"), NULL, 10);
	/* the process may have been lied to in the middle of a message to it */
	signal(SIGPIPE, SIG_IGN);
	test_choose_device(argc, argv);
	hg_lies_seed(fuzz_seed);
	test_one_lie();
	test_numbers();
	test_kept_numbers();
	test_session_numbers();
	test_lying_process("seen", true);
	test_lying_process("any", false);
	test_lying_process("memory", false);
	test_lying_client("any");
	test_lying_client("memory");
	return hg_tap_done();
}
