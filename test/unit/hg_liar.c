/*-------------------------------------------------------------------------
 *
 * hg_liar.c
 *	  A device process, played by its client's own waiting, that tells one lie.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_liar.h"

#include "test_session.h"

#include <math.h>
#include <string.h>

/* Where results lie in staging. */
#define RESULTS 131072

/* More matches than the rows can have. */
#define IMPOSSIBLE (LIAR_ROWS * LIAR_ROWS + 1)

const char *const lie_names[LIE_COUNT] = {
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
	"a graph replica in a job without",
	"a graph replica that is not there, which was not named",
	"the same of a graph that is to be made",
	"a graph replica that is not there when its job was opened",
	"what is missing that the job does not name",
	"a graph replica of more rows than it has",
	"a graph replica of fewer rows than it has",
	"more matches of a graph replica than there are pairs of rows",
	"a row of no part of a graph replica",
	"the row behind the last one of its parts",
	"edges that are rows of a join",
	"a column that is not there, which is to be made",
	"values that are rows of a join",
	"a column that is made as a graph replica is joined",
	"a graph that is made of less than its edges",
	"a graph that is made of more than any memory",
	"a column that is made of less than its values",
	"groups of more matches than a graph replica has pairs of rows",
	"a group whose key does not fit its column replica",
	"a group with a sum that the values of a column replica can't have",
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
	"a row for another member that is not of its parts",
	"more rows for another member than were tallied",
	"fewer rows for another member than were tallied",
	"more rows when all have come than were to come",
	"fewer of them",
	"more rows than were to come, once all have",
	"a match of a row that the join has not",
	"rows that it has sent to others without being asked",
};

/* The matches, or one of them that is none. */
static void
tell_matches(const Liar *liar, const HgWireRequest *request, HgWireReply *reply)
{
	uint32_t *outer = (uint32_t *) (liar->staging + RESULTS);
	uint32_t *inner = outer + HG_WIRE_PAGE / (2 * sizeof(uint32_t));

	for (uint32_t i = 0; i < LIAR_ROWS; i++)
		outer[i] = inner[i] = i;
	if (liar->lie == LIE_OUTER_ROW)
		outer[1] = UINT32_C(0xFFFFFFF0);
	if (liar->lie == LIE_INNER_ROW)
		inner[LIAR_ROWS - 1] = UINT32_C(0xFFFFFFF0);
	if (liar->lie == LIE_LAST_ROW)
		inner[0] = LIAR_ROWS;
	if (liar->lie == LIE_REPLICA_ROW && liar->has_replicas)
		outer[1] = UINT32_C(0xFFFFFFF0);
	if (liar->lie == LIE_REPLICA_LAST_ROW && liar->has_replicas)
		outer[LIAR_ROWS - 1] = 1 << HG_FLAT_ROW_BITS;
	if (liar->lie == LIE_PAGE_ROW && liar->has_pages)
		outer[LIAR_ROWS - 1] = LIAR_ROWS;
	if (liar->lie == LIE_SHARD_ROW && liar->is_shard)
		outer[1] = 2 * LIAR_ROWS;
	reply->count = liar->lie == LIE_TOO_MANY_PAIRS ? request->count + 1 : LIAR_ROWS;
	reply->lease_offset = RESULTS;
	reply->lease_bytes = liar->lie == LIE_SMALL_RESULTS ? 0 : HG_WIRE_PAGE;
}

/* One group of all matches: its key, its NULLs, its pairs, a sum of two words and a minimum. */
static void
tell_groups(const Liar *liar, HgWireReply *reply)
{
	uint64_t *record = (uint64_t *) (liar->staging + RESULTS);

	record[0] = liar->lie == LIE_GROUP_KEY ? 1 << 20 : LIAR_VALUE;
	if (liar->lie == LIE_COLUMN_KEY && liar->has_replicas)
		record[0] = 1 << 20;
	record[1] = liar->lie == LIE_GROUP_NULLS ? 2 : 0;
	record[2] = liar->lie == LIE_GROUP_PAIRS ? LIAR_ROWS + 1 : LIAR_ROWS;
	if (liar->lie == LIE_IMPOSSIBLE_PAIRS)
		record[2] = IMPOSSIBLE;
	record[3] = liar->lie == LIE_GROUP_COUNT ? LIAR_ROWS + 1 : LIAR_ROWS;
	record[4] = LIAR_ROWS * LIAR_VALUE;
	record[5] = liar->lie == LIE_GROUP_SUM || (liar->lie == LIE_COLUMN_SUM && liar->has_replicas);
	record[6] = LIAR_ROWS;
	record[7] = liar->lie == LIE_GROUP_EXTREME ? UINT64_C(1) << 40 : LIAR_VALUE;
	reply->count = liar->lie != LIE_NO_MORE_GROUPS;
	reply->lease_offset = RESULTS;
	reply->lease_bytes = HG_WIRE_PAGE;
}

/* What was measured of a table of all keys. */
static void
tell_table(const Liar *liar, HgTableMeasure *measure)
{
	*measure = (HgTableMeasure){.stats = {.rows = LIAR_ROWS,
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
		measure->stats.slots = LIAR_ROWS - 1;
	if (liar->lie == LIE_TABLE_FILLED)
		measure->stats.filled = 1.5;
	if (liar->lie == LIE_TABLE_LIST)
		measure->stats.longest_list = 9;
	if (liar->lie == LIE_TABLE_BYTES)
		measure->stats.peak_bytes = 99;
	if (liar->lie == LIE_TABLE_SAMPLE)
		measure->sampled = measure->erased = measure->inserted = LIAR_ROWS;
	measure->stats.rows += liar->lie == LIE_TABLE_MORE_ROWS;
	measure->stats.rows -= liar->lie == LIE_TABLE_FEWER_ROWS;
	measure->inserted -= liar->lie == LIE_TABLE_LOST;
}

bool
liar_key_is_own(uint32_t key)
{
	return hg_exchange_part32(hg_mix32(key)) == 0;
}

/* The first key that is, or is not. */
static uint32_t
first_key(bool own)
{
	uint32_t key = 0;

	while (liar_key_is_own(key) != own)
		key++;
	return key;
}

/* The rows of a shard: all but one are of the first part. */
static void
tell_tally(const Liar *liar, HgWireReply *reply)
{
	uint64_t *counts = (uint64_t *) (liar->staging + RESULTS);

	memset(counts, 0, HG_EXCHANGE_PARTS * sizeof(*counts));
	counts[0] = LIAR_ROWS - 1;
	counts[5] = 1;
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

/* One row for another shard, once. */
static void
tell_rows(Liar *liar, const HgWireRequest *request, HgWireReply *reply)
{
	const HgJobSpec spec = {.key_width = 4};
	HgExchangeRows rows;

	if (liar->lie == LIE_TAKEN_NONE || (liar->has_given && liar->lie != LIE_TAKEN_TWICE))
		return;
	liar->has_given = true;
	hg_wire_lay_out_rows(&spec, HG_OUTER, HG_WIRE_PAGE / 8, liar->staging + RESULTS, &rows);
	*(uint32_t *) rows.keys = first_key(liar->lie == LIE_TAKEN_PART);
	rows.numbers[0] = liar->lie == LIE_TAKEN_ROW ? 2 * LIAR_ROWS : 2 * LIAR_ROWS - 1;
	reply->count = liar->lie == LIE_TAKEN_MORE ? request->count + 1 : 1;
	reply->lease_offset = RESULTS;
	reply->lease_bytes = liar->lie == LIE_TAKEN_ROOM ? 0 : HG_WIRE_PAGE;
}

/* A job is opened: what has it from the start? */
static void
tell_open(Liar *liar, const HgWireOpening *opening, HgWireReply *reply)
{
	const HgWireRequest *request = &opening->request;
	const bool makes = request->new_replica.shape.key_width > 0;
	const bool makes_column = request->new_column.shape.width > 0;

	liar->stats = (HgJobStats){0};
	liar->made = makes ? LIAR_ROWS * 8 : makes_column ? LIAR_ROWS : 0;
	if (makes && liar->lie == LIE_REPLICA_MANY_BYTES)
		liar->made = UINT64_MAX;
	if ((makes && liar->lie == LIE_REPLICA_FEW_BYTES) ||
		(makes_column && liar->lie == LIE_COLUMN_BYTES))
		liar->made--;
	liar->has_replicas = request->replica[HG_OUTER].shape.key_width > 0;
	liar->has_lookups = request->spec.sides[HG_OUTER].replica.nlookups > 0;
	liar->has_pages = opening->pages[HG_OUTER].page_size > 0;
	liar->is_shard = request->spec.product.kind == HG_PRODUCT_SHARD;
	if (liar->has_lookups && liar->lie == LIE_NOT_UNIQUE_EARLY)
		reply->error.status = HG_NOT_UNIQUE;
	liar->has_computed = request->spec.sides[HG_OUTER].replica.nprograms > 0;
	if (liar->has_computed && liar->lie == LIE_OVERFLOW_EARLY)
		reply->error.status = HG_OVERFLOW;
	if (liar->has_replicas)
		liar->stats.rows[HG_OUTER] = LIAR_ROWS + (liar->lie == LIE_REPLICA_MORE_ROWS);
	if ((liar->lie == LIE_NO_REPLICA && !liar->has_replicas) ||
		(liar->lie == LIE_NO_REPLICA_GRAPH && makes) ||
		(liar->lie == LIE_NO_REPLICA_COLUMN && makes_column))
		reply->error.status = HG_NO_REPLICA;
	if (liar->lie == LIE_MISSING && liar->has_replicas)
	{
		reply->error.status = HG_NO_REPLICA;
		reply->missing.names[0] = request->replica[HG_OUTER].name;
		reply->missing.names[1] = (HgReplicaName){.epoch = 1, .serial = IMPOSSIBLE};
	}
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
				reply->lease_offset = LIAR_STAGING_BYTES - HG_WIRE_PAGE;
			if (liar->lie == LIE_LEASE_UNALIGNED)
				reply->lease_offset = HG_WIRE_PAGE / 2;
			break;
		case HG_WIRE_APPEND:
		case HG_WIRE_APPEND_ROWS:
			liar->stats.rows[request->side] += request->count + (liar->lie == LIE_MORE_ROWS);
			break;
		case HG_WIRE_APPEND_PAGES:
			liar->stats.rows[request->side] = LIAR_ROWS + (liar->lie == LIE_PAGE_ROWS);
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
			if (liar->has_replicas || liar->lie == LIE_RESIDENT)
				liar->stats.build = HG_BUILD_RESIDENT;
			if (liar->has_replicas && liar->lie == LIE_NO_REPLICA_LATE)
				reply->error.status = HG_NO_REPLICA;
			if (liar->has_replicas && !liar->has_lookups && liar->lie == LIE_NOT_UNIQUE)
				reply->error.status = HG_NOT_UNIQUE;
			if (liar->has_replicas && !liar->has_computed && liar->lie == LIE_OVERFLOW)
				reply->error.status = HG_OVERFLOW;
			liar->stats.rows[HG_OUTER] -= liar->has_replicas && liar->lie == LIE_REPLICA_FEWER_ROWS;
			if (liar->lie == LIE_FIGURES)
				liar->stats.phase_ms[HG_PHASE_BUILD] = NAN;
			liar->stats.rows[HG_INNER] += liar->is_shard && liar->lie == LIE_ARRIVED_LATE;
			break;
		case HG_WIRE_TALLY:
			tell_tally(liar, reply);
			break;
		case HG_WIRE_TAKE_ROWS:
			tell_rows(liar, request, reply);
			break;
		case HG_WIRE_ARRIVED:
			liar->has_given = false;
			liar->stats.rows[request->side] = LIAR_ROWS - 1;
			liar->stats.rows[request->side] += liar->lie == LIE_ARRIVED_MORE;
			liar->stats.rows[request->side] -= liar->lie == LIE_ARRIVED_FEWER;
			liar->stats.sent += liar->lie == LIE_EXCHANGED;
			break;
		case HG_WIRE_PEER_WINDOW:
		case HG_WIRE_SEND_ROWS:
			reply->error.status = liar->lie == LIE_NONE ? HG_OK : HG_INVALID;
			break;
		case HG_WIRE_COUNT:
			reply->count = LIAR_ROWS;
			if (liar->lie == LIE_IMPOSSIBLE_COUNT ||
				(liar->lie == LIE_REPLICA_COUNT && liar->has_replicas) ||
				(liar->lie == LIE_LOOKUP_COUNT && liar->has_lookups) ||
				(liar->lie == LIE_PAGE_COUNT && liar->has_pages))
				reply->count = IMPOSSIBLE;
			/* more than there were when it was built */
			liar->stats.rows[HG_OUTER] += liar->lie == LIE_PAGE_MORE_ROWS && liar->has_pages;
			if (liar->lie == LIE_IMPOSSIBLE_FIRST && request->mode == HG_MATCH_FIRST)
				reply->count = LIAR_ROWS + 1;
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
			reply->graph = (HgGraphStats){.vertices = 4, .edges = LIAR_ROWS, .longest_list = 1};
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
				(liar->lie == LIE_COLUMN_GROUPS && liar->has_replicas))
				liar->stats.matches += IMPOSSIBLE;
			else
				liar->stats.matches += liar->lie == LIE_GROUPS_OF_NOTHING ? 0 : LIAR_ROWS;
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

bool
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
