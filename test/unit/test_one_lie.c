/*-------------------------------------------------------------------------
 *
 * test_one_lie.c
 *	  A device process that tells one lie, for every kind that a client must see through.
 *
 * This program plays the process itself.  Lies at random are test_lies.c's.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* memfd_create, SOCK_SEQPACKET pairs */

#include "../../src/engine/hg_reduce.h"
#include "../../src/engine/wire/hg_wire_internal.h"
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
	LIE_NOT_KEPT_COLUMN,
	LIE_VALUES,
	LIE_COLUMN_BUILD,
	LIE_KEPT_FEW_BYTES,
	LIE_KEPT_MANY_BYTES,
	LIE_COLUMN_BYTES,
	LIE_COLUMN_GROUPS,
	LIE_COLUMN_KEY,
	LIE_COLUMN_SUM,
	LIE_NOT_UNIQUE,
	LIE_NOT_UNIQUE_EARLY,
	LIE_NOT_UNIQUE_LATE,
	LIE_OVERFLOW,
	LIE_OVERFLOW_EARLY,
	LIE_LOOKUP_COUNT,
	LIE_BAD_PAGE,
	LIE_BAD_PAGE_EARLY,
	LIE_BAD_PAGE_LATE,
	LIE_PAGE_ROWS,
	LIE_PAGE_MORE_ROWS,
	LIE_PAGE_COUNT,
	LIE_PAGE_ROW,
	LIE_TALLY_MORE,
	LIE_TALLY_FEWER,
	LIE_TALLY_WRAPPED,
	LIE_TALLY_PARTS,
	LIE_TALLY_ROOM,
	LIE_TAKEN_MORE,
	LIE_TAKEN_ROOM,
	LIE_TAKEN_ROW,
	LIE_ARRIVED_MORE,
	LIE_ARRIVED_FEWER,
	LIE_ARRIVED_LATE,
	LIE_MEMBER_ROW,
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
	"a column that is not there, which is to be made",
	"values that are rows of a join",
	"a column that is made as a kept graph is joined",
	"a graph that is made of less than its edges",
	"a graph that is made of more than any memory",
	"a column that is made of less than its values",
	"groups of more matches than a kept graph has pairs of rows",
	"a group whose key does not fit its kept column",
	"a group with a sum that the values of a kept column can't have",
	"a row that finds two where none looks up any",
	"the same when its job was opened",
	"the same when all have been looked up",
	"a number that overflows where none is computed",
	"the same when the job that computes one was opened",
	"more matches of what rows have found than there are pairs of rows",
	"a page that makes no sense where there is none",
	"the same before they are all there",
	"the same when they have been taken apart",
	"more rows of pages than they have room for",
	"more of them once they are counted",
	"more matches of pages than there are pairs of rows",
	"the row behind the last one of a page",
	"more rows in a tally than a member was sent",
	"fewer of them",
	"parts whose rows are too many to be counted",
	"a tally without one of the parts",
	"a tally that its results have no room for",
	"more rows for another member than were asked for",
	"more rows for another member than its results have room for",
	"a row for another member that the join has not",
	"more rows when all have come than were to come",
	"fewer of them",
	"more rows than were to come, once all have",
	"a match of a row that the join has not",
};

/* A device process played by the host's own waiting. */
typedef struct Liar
{
	HgHost host;
	int fd;
	Lie lie;
	unsigned char *staging;
	HgJobStats stats;  /* of the job ... */
	uint64_t made;	   /* bytes that what it makes holds */
	bool has_kept;	   /* ... of which one side is a kept graph */
	bool has_lookups;  /* ... whose rows look up others ... */
	bool has_computed; /* ... or that has columns computed */
	bool has_pages;	   /* ... or comes as pages */
	bool is_member;	   /* it is one of several */
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
	if (liar->lie == LIE_PAGE_ROW && liar->has_pages)
		outer[ROWS - 1] = ROWS;
	if (liar->lie == LIE_MEMBER_ROW && liar->is_member)
		outer[1] = 2 * ROWS;
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
	if (liar->lie == LIE_COLUMN_KEY && liar->has_kept)
		record[0] = 1 << 20;
	record[1] = liar->lie == LIE_GROUP_NULLS ? 2 : 0;
	record[2] = liar->lie == LIE_GROUP_PAIRS ? ROWS + 1 : ROWS;
	if (liar->lie == LIE_IMPOSSIBLE_PAIRS)
		record[2] = IMPOSSIBLE;
	record[3] = liar->lie == LIE_GROUP_COUNT ? ROWS + 1 : ROWS;
	record[4] = ROWS * VALUE;
	record[5] = liar->lie == LIE_GROUP_SUM || (liar->lie == LIE_COLUMN_SUM && liar->has_kept);
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

/* The rows of a member: all are of the first part. */
static void
tell_tally(const Liar *liar, HgWireReply *reply)
{
	uint64_t *counts = (uint64_t *) (liar->staging + RESULTS);

	memset(counts, 0, HG_EXCHANGE_PARTS * sizeof(*counts));
	counts[0] = ROWS;
	counts[9] = liar->lie == LIE_TALLY_MORE;
	counts[0] -= liar->lie == LIE_TALLY_FEWER;
	if (liar->lie == LIE_TALLY_WRAPPED)
	{
		counts[7] = UINT64_MAX;
		counts[8] = 1;
	}
	reply->count = HG_EXCHANGE_PARTS - (liar->lie == LIE_TALLY_PARTS);
	reply->lease_offset = RESULTS;
	reply->lease_bytes = liar->lie == LIE_TALLY_ROOM ? 0 : HG_WIRE_PAGE;
}

/* One row for another member. */
static void
tell_rows(const Liar *liar, const HgWireRequest *request, HgWireReply *reply)
{
	const HgJobSpec spec = {.key_width = 4};
	HgExchangeRows rows;

	hg_wire_place_rows(&spec, HG_OUTER, HG_WIRE_PAGE / 8, liar->staging + RESULTS, &rows);
	rows.numbers[0] = liar->lie == LIE_TAKEN_ROW ? 2 * ROWS : 2 * ROWS - 1;
	reply->count = liar->lie == LIE_TAKEN_MORE ? request->count + 1 : 1;
	reply->lease_offset = RESULTS;
	reply->lease_bytes = liar->lie == LIE_TAKEN_ROOM ? 0 : HG_WIRE_PAGE;
}

/* A job is opened: what has it from the start? */
static void
tell_open(Liar *liar, const HgWireOpening *opening, HgWireReply *reply)
{
	const HgWireRequest *request = &opening->request;
	const bool makes = request->keep.shape.key_width > 0;
	const bool makes_column = request->keep_column.shape.width > 0;

	liar->stats = (HgJobStats){0};
	liar->made = makes ? ROWS * 8 : makes_column ? ROWS : 0;
	if (makes && liar->lie == LIE_KEPT_MANY_BYTES)
		liar->made = UINT64_MAX;
	if ((makes && liar->lie == LIE_KEPT_FEW_BYTES) ||
		(makes_column && liar->lie == LIE_COLUMN_BYTES))
		liar->made--;
	liar->has_kept = request->kept[HG_OUTER].shape.key_width > 0;
	liar->has_lookups = request->spec.nlookups[HG_OUTER] > 0;
	liar->has_pages = opening->pages[HG_OUTER].page_size > 0;
	liar->is_member = request->spec.members != 0;
	if (liar->has_lookups && liar->lie == LIE_NOT_UNIQUE_EARLY)
		reply->error.status = HG_NOT_UNIQUE;
	liar->has_computed = request->spec.nprograms[HG_OUTER] > 0;
	if (liar->has_computed && liar->lie == LIE_OVERFLOW_EARLY)
		reply->error.status = HG_OVERFLOW;
	if (liar->has_kept)
		liar->stats.rows[HG_OUTER] = ROWS + (liar->lie == LIE_KEPT_MORE_ROWS);
	if ((liar->lie == LIE_NOT_KEPT && !liar->has_kept) ||
		(liar->lie == LIE_NOT_KEPT_GRAPH && makes) ||
		(liar->lie == LIE_NOT_KEPT_COLUMN && makes_column))
		reply->error.status = HG_NOT_KEPT;
}

/* What the process says to a request of the job. */
static void
tell(Liar *liar, const HgWireMessage *message, HgWireReply *reply)
{
	const HgWireRequest *request = &message->request;

	switch (request->header.type)
	{
		case HG_WIRE_OPEN:
			tell_open(liar, &message->opening, reply);
			reply->lease_bytes = liar->lie == LIE_NO_LEASE ? 0 : 65536;
			if (liar->lie == LIE_LEASE_BEYOND)
				reply->lease_offset = STAGING_BYTES - HG_WIRE_PAGE;
			if (liar->lie == LIE_LEASE_UNALIGNED)
				reply->lease_offset = HG_WIRE_PAGE / 2;
			break;
		case HG_WIRE_APPEND:
		case HG_WIRE_APPEND_ROWS:
			liar->stats.rows[request->side] += request->count + (liar->lie == LIE_MORE_ROWS);
			break;
		case HG_WIRE_APPEND_PAGES:
			liar->stats.rows[request->side] = ROWS + (liar->lie == LIE_PAGE_ROWS);
			if (liar->lie == LIE_BAD_PAGE_EARLY)
				reply->error.status = HG_BAD_PAGE;
			break;
		case HG_WIRE_BUILD:
			if (liar->lie == LIE_BAD_PAGE && !liar->has_pages)
				reply->error.status = HG_BAD_PAGE;
			liar->stats.rows[HG_INNER] -= liar->lie == LIE_FEWER_ROWS;
			liar->stats.vertices = 4;
			reply->count = liar->made;
			liar->stats.build = liar->lie == LIE_ALGORITHM ? 77 : HG_BUILD_V1;
			if (liar->has_kept || liar->lie == LIE_RESIDENT)
				liar->stats.build = HG_BUILD_RESIDENT;
			if (liar->has_kept && liar->lie == LIE_NOT_KEPT_LATE)
				reply->error.status = HG_NOT_KEPT;
			if (liar->has_kept && !liar->has_lookups && liar->lie == LIE_NOT_UNIQUE)
				reply->error.status = HG_NOT_UNIQUE;
			if (liar->has_kept && !liar->has_computed && liar->lie == LIE_OVERFLOW)
				reply->error.status = HG_OVERFLOW;
			liar->stats.rows[HG_OUTER] -= liar->has_kept && liar->lie == LIE_KEPT_FEWER_ROWS;
			if (liar->lie == LIE_FIGURES)
				liar->stats.phase_ms[HG_PHASE_BUILD] = NAN;
			liar->stats.rows[HG_INNER] += liar->is_member && liar->lie == LIE_ARRIVED_LATE;
			break;
		case HG_WIRE_TALLY:
			tell_tally(liar, reply);
			break;
		case HG_WIRE_TAKE_ROWS:
			tell_rows(liar, request, reply);
			break;
		case HG_WIRE_ARRIVED:
			liar->stats.rows[request->side] = ROWS - 1;
			liar->stats.rows[request->side] += liar->lie == LIE_ARRIVED_MORE;
			liar->stats.rows[request->side] -= liar->lie == LIE_ARRIVED_FEWER;
			break;
		case HG_WIRE_COUNT:
			reply->count = ROWS;
			if (liar->lie == LIE_IMPOSSIBLE_COUNT ||
				(liar->lie == LIE_KEPT_COUNT && liar->has_kept) ||
				(liar->lie == LIE_LOOKUP_COUNT && liar->has_lookups) ||
				(liar->lie == LIE_PAGE_COUNT && liar->has_pages))
				reply->count = IMPOSSIBLE;
			/* more than there were when it was built */
			liar->stats.rows[HG_OUTER] += liar->lie == LIE_PAGE_MORE_ROWS && liar->has_pages;
			if (liar->lie == LIE_IMPOSSIBLE_FIRST && request->mode == HG_MATCH_FIRST)
				reply->count = ROWS + 1;
			liar->stats.matches += liar->lie == LIE_COUNT_OF_NONE ? 0 : reply->count;
			if (liar->has_pages && liar->lie == LIE_BAD_PAGE_LATE)
				reply->error.status = HG_BAD_PAGE;
			if (liar->has_lookups && liar->lie == LIE_NOT_UNIQUE_LATE)
				reply->error.status = HG_NOT_UNIQUE;
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
			if (liar->lie == LIE_IMPOSSIBLE_PAIRS ||
				(liar->lie == LIE_COLUMN_GROUPS && liar->has_kept))
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
		case HG_WIRE_PUT_VALUES:
			liar->stats.rows[HG_OUTER] += liar->lie == LIE_VALUES ? request->count : 0;
			if (liar->lie == LIE_COLUMN_BUILD)
				liar->stats.build = HG_BUILD_RESIDENT;
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
		tell(liar, &request, &answer.reply);
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
		engine->mask(job, HG_OUTER, 0, 1, 10, NULL, NULL) == HG_OK &&
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

/* Join rows of a graph that look up others; false where something was answered that is not so. */
static bool
ask_lookups(HgEngine *engine, const HgHost *host)
{
	const HgKeptUse use = {.name = {1, 1}, .shape = {4, 1, ROWS}};
	const HgKeptLookup lookup = {.stride = ROWS,
								 .found_stride = ROWS,
								 .own = {.name = {1, 2}, .shape = {4, 1, ROWS}},
								 .found = {.name = {1, 3}, .shape = {8, 1, ROWS}, .masked = 1}};
	const HgJobSpec spec = {.key_width = 4,
							.device = -1,
							.kept = {&use, NULL},
							.nlookups = {1, 0},
							.lookups = {&lookup, NULL}};
	uint64_t count = ROWS;
	HgJob *job;

	if (engine->open(engine, host, &spec, &job, NULL) != HG_OK)
		return true;
	if (engine->append(job, HG_INNER, liar_keys, ROWS, NULL) == HG_OK &&
		engine->mask(job, HG_OUTER, 1, 1, 10, NULL, NULL) == HG_OK &&
		engine->build(job, NULL) == HG_OK)
		engine->count(job, HG_MATCH_ALL, &count, NULL);
	engine->close(job);
	return count == ROWS;
}

/*
 * Be one of two members, each of which gets a row less than it was given; false where something was
 * answered that is not so.
 */
static bool
ask_member(HgEngine *engine, const HgHost *host)
{
	const HgJobSpec spec = {.key_width = 4, .device = -1, .members = 2};
	const HgExchange exchange = {
		.members = 2, .numbers = 2 * ROWS, .ends = {1, HG_EXCHANGE_PARTS}, .rows = {ROWS - 1, 0}};
	uint64_t counts[HG_EXCHANGE_PARTS];
	uint32_t rows[2][2 * ROWS];
	HgExchangeRows taken = {.keys = rows[0], .numbers = rows[1], .capacity = 2};
	HgMatches matches = {.outer = rows[0], .inner = rows[1], .capacity = 2 * ROWS};
	HgStatus status;
	bool right = true;
	HgJob *job;

	status = engine->open(engine, host, &spec, &job, NULL);
	if (status != HG_OK)
		return true;
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
		status = engine->append_rows(job, (HgSide) side, liar_keys, ROWS, 0, NULL);
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
	{
		status = engine->tally(job, (HgSide) side, counts, NULL);
		right = right && (status != HG_OK || counts[0] == ROWS);
		if (status == HG_OK)
			status = engine->expect(job, (HgSide) side, &exchange, NULL);
		if (status == HG_OK)
			status = engine->take_rows(job, (HgSide) side, 1, &taken, NULL);
		right =
			right && (status != HG_OK || (taken.count == 1 && taken.numbers[0] == 2 * ROWS - 1));
		if (status == HG_OK)
			status = engine->arrived(job, (HgSide) side, NULL);
	}
	if (status == HG_OK)
		status = engine->build(job, NULL);
	if (status == HG_OK)
		status = engine->match(job, HG_MATCH_ALL, NULL);
	if (status == HG_OK && engine->next(job, &matches, NULL) == HG_OK)
		right = right && are_matches(&matches);
	engine->close(job);
	return right;
}

/* Join rows of pages; false where something was answered that is not so. */
static bool
ask_pages(HgEngine *engine, const HgHost *host)
{
	static const unsigned char page[1024];
	const HgPageSpec spec = {.page_size = sizeof(page),
							 .rows_per_page = ROWS,
							 .natts = 1,
							 .attributes = {{.length = 4, .align = 4}}};
	const HgJobSpec joining = {.key_width = 4, .device = -1, .pages = {&spec, NULL}};
	uint32_t outer[2 * ROWS];
	uint32_t inner[2 * ROWS];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 2 * ROWS};
	uint64_t count = 0;
	bool right = true;
	HgJob *job;

	if (engine->open(engine, host, &joining, &job, NULL) != HG_OK)
		return true;
	if (engine->append(job, HG_INNER, liar_keys, ROWS, NULL) == HG_OK &&
		engine->append_pages(job, HG_OUTER, page, 1, 0, NULL) == HG_OK &&
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

/* Make a column, and reduce a join by it; false where something was answered that is not so. */
static bool
ask_column(HgEngine *engine, const HgHost *host)
{
	static const uint8_t values[ROWS] = {VALUE, VALUE, VALUE, VALUE};
	const HgKeptColumnSpec keep = {.name = {1, 1, 1, 0}, .shape = {1, 1, ROWS, 0}};
	const HgKeptUse use = {.name = {1, 1, 0, 0}, .shape = {4, 1, ROWS}};
	const HgKeptColumnUse column = {.name = keep.name, .shape = keep.shape};
	const HgJobSpec making = {.key_width = 4, .device = -1, .keep_column = &keep};
	const HgJobSpec joining = {.key_width = 4,
							   .device = -1,
							   .ncolumns = {1, 0},
							   .column_width = {{1}},
							   .kept = {&use, NULL},
							   .kept_columns = {&column, NULL}};
	uint64_t words[HG_MAX_REDUCE_WORDS];
	HgGroupRecords records = {words, 1, 0};
	uint64_t groups = 0;
	bool right = true;
	HgJob *job;

	if (engine->open(engine, host, &making, &job, NULL) == HG_OK)
	{
		if (engine->put_values(job, values, NULL, ROWS, 0, NULL) == HG_OK)
			engine->build(job, NULL);
		engine->close(job);
	}
	if (engine->open(engine, host, &joining, &job, NULL) != HG_OK)
		return true;
	if (engine->append(job, HG_INNER, liar_keys, ROWS, NULL) == HG_OK &&
		engine->build(job, NULL) == HG_OK &&
		engine->reduce(job, HG_MATCH_ALL, &by_value, &groups, NULL) == HG_OK &&
		engine->next_groups(job, &records, NULL) == HG_OK)
		right = records.count == 1 && words[0] == VALUE && words[2] == ROWS;
	engine->close(job);
	return right;
}

/* Join rows of a graph that have a column computed; nothing is believed that is not so. */
static void
ask_computed(HgEngine *engine, const HgHost *host)
{
	static const HgProgram program = {.nsteps = 1,
									  .steps = {{.kind = HG_STEP_CONSTANT, .bits = 64}}};
	const HgKeptUse use = {.name = {1, 1, 0, 0}, .shape = {4, 1, ROWS}};
	const HgKeptColumnUse column = {.shape = {8, 1, ROWS, 0}, .program = 1};
	const HgJobSpec spec = {.key_width = 4,
							.device = -1,
							.ncolumns = {1, 0},
							.column_width = {{8}},
							.kept = {&use, NULL},
							.kept_columns = {&column, NULL},
							.nprograms = {1, 0},
							.programs = {&program, NULL}};
	HgJob *job;

	if (engine->open(engine, host, &spec, &job, NULL) != HG_OK)
		return;
	if (engine->append(job, HG_INNER, liar_keys, ROWS, NULL) == HG_OK)
		engine->build(job, NULL);
	engine->close(job);
}

/* All that can be asked of a job; false where something was answered that is not so. */
static bool
ask_all(HgEngine *engine, HgJob *job)
{
	const uint8_t values[ROWS] = {VALUE, VALUE, VALUE, VALUE};
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
	if (engine->reduce(job, HG_MATCH_ALL, &by_value, &count, NULL) == HG_OK &&
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
		*right = ask_column(engine, &liar.host) && *right;
		*right = ask_lookups(engine, &liar.host) && *right;
		*right = ask_pages(engine, &liar.host) && *right;
		*right = ask_member(engine, &liar.host) && *right;
		ask_computed(engine, &liar.host);
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

int
main(void)
{
	test_one_lie();
	test_numbers();
	test_kept_numbers();
	return hg_tap_done();
}
