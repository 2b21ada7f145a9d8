/*-------------------------------------------------------------------------
 *
 * test_server_pages.c
 *	  Sides that come as pages to a device process: what goes over the wire, memory, shared jobs.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this program.  With
 * the path of a device process as its argument it runs the tests that need neither a misbehaving
 * one nor a certain amount of memory, with that.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* setenv */

#include "hg_tap.h"
#include "test_engine_pages.h"
#include "test_named.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define PARTICIPANTS 3

/* An id of participants. */
#define PARTICIPANTS_ID UINT64_C(0x7ea9a9e5)

static const TestReplicaSpread plain_spread = {
	.way = TEST_REPLICA_PAGES, .width = 8, .count = 5000, .keys = 4000, .ncolumns = 2, .nulls = 10};

/* ------------------------------------------------------------------------
 * Joins
 * ------------------------------------------------------------------------ */

/* All that an engine must do, in staging of some size. */
static void
test_suite(const char *staging)
{
	const char *const options[] = {"--staging-bytes", staging, NULL};
	TestServer server;
	HgWireClient *client;
	TestNamed named;

	test_start_server(&server, options);
	client = test_start_client(&server);
	test_named_init(&named, client);
	hg_engine_pages_suite(&named.engine, test_host_plain(), 30000);
	hg_tap_ok(hg_wire_client_state(client, NULL) == HG_WIRE_READY && test_counts_jobs(&server, 0) &&
				  test_status_of(&server).memory_reserved == 0 &&
				  test_status_of(&server).staging_leased == 0,
			  "nothing is left of all these jobs in staging of %s bytes", staging);
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Pages of a size have room in a lease, whatever others have, or are refused. */
static void
test_lease(void)
{
	static const char *const options[] = {"--staging-bytes", "65536", NULL};
	static const uint32_t sizes[] = {8192, 16384, 32768};
	TestServer server;
	HgWireClient *client;
	HgEngine *engine;

	test_start_server(&server, options);
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	for (size_t i = 0; i < LENGTH(sizes); i++)
	{
		const TestReplicaSpread spreads[2] = {
			{.way = TEST_REPLICA_PAGES, .width = 4, .count = 900, .keys = 500},
			{.way = TEST_REPLICA_APPENDED, .width = 4, .count = 900, .keys = 500}};
		const TestPagesForm forms[2] = {{.page_size = sizes[i], .plain = true}, {0}};
		TestPagesJoin join;
		HgError error = {0};
		HgStatus status;

		test_pages_join_create(&join, spreads, forms, i);
		status = test_pages_join_run(&join, engine, test_host_plain(), 100, &error);
		hg_tap_ok(status == (sizes[i] < 32768 ? HG_OK : HG_INVALID) &&
					  hg_wire_client_state(client, NULL) == HG_WIRE_READY,
				  "pages of %u bytes %s small staging", sizes[i],
				  sizes[i] < 32768 ? "have room in" : "are refused in");
		test_pages_join_destroy(&join);
	}
	hg_wire_client_destroy(client);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_stop_server(&server),
			  "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Nonsense
 * ------------------------------------------------------------------------ */

/* What is wrong with a request; offsets are from the job's lease on. */
typedef struct Nonsense
{
	const char *what;
	HgWireType type;
	uint32_t side;
	uint32_t column;
	uint64_t offset;
	uint64_t count;
} Nonsense;

static const Nonsense nonsense[] = {
	{"pages for a side that has none", HG_WIRE_APPEND_PAGES, HG_INNER, 0, 0, 1},
	{"pages for no side", HG_WIRE_APPEND_PAGES, 2, 0, 0, 1},
	{"pages out of place", HG_WIRE_APPEND_PAGES, HG_OUTER, 0, 4, 1},
	{"pages beyond a lease", HG_WIRE_APPEND_PAGES, HG_OUTER, 0, 0, UINT64_C(1) << 20},
	{"more pages than numbers", HG_WIRE_APPEND_PAGES, HG_OUTER, 0, 0, UINT64_MAX / 8192 + 2},
	{"pages before a lease", HG_WIRE_APPEND_PAGES, HG_OUTER, 0, (uint64_t) -8, 1},
	{"keys for pages", HG_WIRE_APPEND, HG_OUTER, 0, 0, 1},
	{"numbered keys for pages", HG_WIRE_APPEND_ROWS, HG_OUTER, 0, 0, 1},
	{"a column for pages", HG_WIRE_APPEND_COLUMN, HG_OUTER, 0, 0, 1},
};

/* Open a job whose outer side comes as pages with a column. */
static bool
open_by_hand(TestSpeaker *speaker, uint32_t job, uint32_t page_size, HgStatus wanted)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.spec.key_width = 8;
	message.request.spec.sides[HG_OUTER].ncolumns = 1;
	message.request.spec.sides[HG_OUTER].column_width[0] = 8;
	message.request.spec.sides[HG_INNER].expected_rows = 100;
	message.opening.pages[HG_OUTER] = (HgPageSpec){.page_size = page_size,
												   .rows_per_page = 291,
												   .natts = 1,
												   .attributes = {{.length = 8, .align = 8}}};
	test_ask(speaker, HG_WIRE_OPEN, job, &message);
	return test_is_answered(speaker, wanted);
}

static void
test_nonsense(void)
{
	TestServer server;
	TestSpeaker speaker;
	HgWireMessage message;
	bool good = true;

	test_start_server(&server, NULL);
	for (size_t i = 0; i < LENGTH(nonsense); i++)
	{
		const Nonsense *said = &nonsense[i];

		test_start_speaker(&server, &speaker);
		good = open_by_hand(&speaker, 1, 8192, HG_OK);
		memset(&message, 0, sizeof(message));
		message.request.side = said->side;
		message.request.column = said->column;
		message.request.offset = speaker.answer.reply.lease_offset + said->offset;
		message.request.count = said->count;
		test_ask(&speaker, said->type, 1, &message);
		hg_tap_ok(good && test_is_cut_off(&speaker) && test_counts_become(&server, 0, 0, 0),
				  "who says %s is cut off, and leaves nothing", said->what);
		test_end_speaker(&speaker);
	}

	/* what can not be is refused, and no more than that */
	test_start_speaker(&server, &speaker);
	good = open_by_hand(&speaker, 1, 8191, HG_INVALID) && open_by_hand(&speaker, 2, 8192, HG_OK);
	memset(&message, 0, sizeof(message));
	message.request.offset = speaker.answer.reply.lease_offset;
	message.request.count = 1;
	message.request.first = UINT64_MAX / 291;
	test_ask(&speaker, HG_WIRE_APPEND_PAGES, 2, &message);
	hg_tap_ok(good && test_is_answered(&speaker, HG_TOO_MANY_ROWS),
			  "pages that can not be, and ordinals, are refused");
	test_end_speaker(&speaker);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_stop_server(&server),
			  "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------ */

/*
 * What is reserved for pages is what they may have beyond what is expected, once, however few rows
 * come of them.
 */
static void
test_reserved(void)
{
	const TestReplicaSpread spreads[2] = {
		{.way = TEST_REPLICA_PAGES, .width = 8, .count = 20000, .keys = 30000},
		{.way = TEST_REPLICA_APPENDED, .width = 8, .count = 100, .keys = 30000}};
	const TestPagesForm forms[2] = {{.noise = 10, .run = 1}, {0}};
	uint64_t reserved[2];
	TestServer server;
	HgWireClient *client;
	HgEngine *engine;
	TestPagesJoin join;
	HgError error = {0};
	bool good = true;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	test_pages_join_create(&join, spreads, forms, 5);
	for (int known = 0; known < 2; known++)
	{
		HgJobSpec spec = {.key_width = 8, .device = -1};
		HgJob *job = NULL;

		spec.sides[HG_OUTER].kind = HG_SOURCE_PAGES;
		spec.sides[HG_OUTER].pages = &join.sides[HG_OUTER].pages.spec;
		spec.sides[HG_OUTER].expected_rows = known ? spreads[HG_OUTER].count : 100;
		spec.sides[HG_INNER].expected_rows = spreads[HG_INNER].count;
		good = good && engine->open(engine, test_host_plain(), &spec, &job, &error) == HG_OK;
		for (int side = HG_OUTER; side <= HG_INNER && good; side++)
			good = test_replica_append(engine, job, (HgSide) side, 0, &join.sides[side], &error) ==
				   HG_OK;
		good = good && engine->join->build(job, &error) == HG_OK &&
			   test_pages_join_ask(&join, engine, job, 1000, &error) == HG_OK;
		reserved[known] = test_status_of(&server).memory_reserved;
		if (job != NULL)
			engine->join->close(job);
	}
	/* no more than a page has been reserved in vain, of 12 bytes and more a row */
	hg_tap_ok(good && reserved[0] >= reserved[1] - reserved[1] / 8 &&
				  reserved[0] <= reserved[1] + reserved[1] / 8,
			  "what is reserved for pages of unknown rows: %" PRIu64
			  " bytes, and of known %" PRIu64,
			  reserved[0], reserved[1]);
	test_pages_join_destroy(&join);
	hg_wire_client_destroy(client);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_status_of(&server).memory_reserved == 0,
			  "nothing of it stays reserved");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* What others have is not taken for pages that have more rows than expected. */
static void
test_refused(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	const TestReplicaSpread spreads[2] = {
		{.way = TEST_REPLICA_PAGES, .width = 8, .count = 20000, .keys = 30000},
		{.way = TEST_REPLICA_PAGES, .width = 8, .count = 100, .keys = 30000}};
	const TestPagesForm forms[2] = {{.plain = true, .run = 10}, {.plain = true}};
	TestServer server;
	TestSpeaker busy;
	HgWireClient *client;
	HgEngine *engine;
	TestPagesJoin join;
	HgError error = {0};
	HgJob *job = NULL;
	uint64_t reserved;
	bool good;

	test_start_server(&server, options);
	test_start_speaker(&server, &busy);
	test_ask_open(&busy, 1, FULL_ROWS - 12500, 0);
	good = test_is_answered(&busy, HG_OK);
	reserved = test_status_of(&server).memory_reserved;
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	test_pages_join_create(&join, spreads, forms, 6);
	join.sides[HG_OUTER].spread.count = 100; /* as far as is told */
	good = good && test_replica_open(engine, test_host_plain(), &join.sides[0], &join.sides[1],
									 &job, &error) == HG_OK;
	if (good)
		good =
			test_replica_append(engine, job, HG_OUTER, 0, &join.sides[HG_OUTER], &error) != HG_OK ||
			engine->join->build(job, &error) != HG_OK;
	hg_tap_ok(good && error.status == HG_DEVICE_OUT_OF_MEMORY,
			  "pages of more rows than expected are refused where others have the memory");
	if (job != NULL)
		engine->join->close(job);
	hg_tap_ok(test_counts_jobs(&server, 1) && test_status_of(&server).memory_reserved == reserved &&
				  hg_wire_client_state(client, NULL) == HG_WIRE_READY,
			  "and nothing more than that happens");
	test_pages_join_destroy(&join);
	hg_wire_client_destroy(client);
	test_end_speaker(&busy);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_stop_server(&server),
			  "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Shared jobs
 * ------------------------------------------------------------------------ */

typedef struct Participants
{
	HgWireClient *clients[PARTICIPANTS];
	HgEngine *engines[PARTICIPANTS];
	HgJob *jobs[PARTICIPANTS];
} Participants;

static void
connect_participants(TestServer *server, Participants *participants)
{
	memset(participants, 0, sizeof(*participants));
	for (int i = 0; i < PARTICIPANTS; i++)
	{
		participants->clients[i] = test_start_client(server);
		participants->engines[i] = hg_wire_client_engine(participants->clients[i]);
	}
}

static void
close_participants(Participants *participants)
{
	for (int i = 0; i < PARTICIPANTS; i++)
	{
		if (participants->jobs[i] != NULL)
			participants->engines[i]->join->close(participants->jobs[i]);
		participants->jobs[i] = NULL;
	}
}

static void
disconnect_participants(Participants *participants)
{
	for (int i = 0; i < PARTICIPANTS; i++)
		hg_wire_client_destroy(participants->clients[i]);
}

static HgJobSpec
shared_spec(const TestPagesJoin *join)
{
	HgJobSpec spec = {
		.key_width = 8, .device = -1, .group = 99, .participants_id = PARTICIPANTS_ID};

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec.sides[side].kind = HG_SOURCE_PAGES;
		spec.sides[side].pages = &join->sides[side].pages.spec;
		spec.sides[side].ncolumns = join->sides[side].spread.ncolumns;
		memcpy(spec.sides[side].column_width, test_replica_widths, sizeof(test_replica_widths));
		spec.sides[side].expected_rows = join->sides[side].spread.count / 2;
	}
	return spec;
}

static bool
open_participants(Participants *participants, const HgJobSpec *spec)
{
	bool good = true;

	for (int i = 0; i < PARTICIPANTS; i++)
		good = good && participants->engines[i]->open(participants->engines[i], test_host_plain(),
													  spec, &participants->jobs[i], NULL) == HG_OK;
	return good;
}

/* Deal out pages to the participants in turn, wait until they have arrived, and have it built. */
static bool
fill_participants(Participants *participants, const TestPagesJoin *join)
{
	bool good = true;
	int turn = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const TestReplicaPages *pages = &join->sides[side].pages;

		for (uint64_t page = 0; page < pages->count && good; page++)
		{
			const int i = turn++ % PARTICIPANTS;

			good = participants->engines[i]->pages->append_pages(
					   participants->jobs[i], (HgSide) side,
					   pages->bytes + page * pages->spec.page_size, 1,
					   test_pages_ordinal(pages, page), NULL) == HG_OK;
		}
	}
	for (int i = 0; i < PARTICIPANTS; i++)
		good = good && hg_wire_client_end_append(participants->jobs[i], NULL) == HG_OK;
	return good;
}

/* Fetch all matches, a chunk for each participant in turn. */
static bool
fetch_participants(Participants *participants, const TestPagesJoin *join)
{
	TestReplicaPairs pairs = {0};
	TestReplicaPairs wanted = join->wanted;
	bool good = true;
	bool more = true;

	for (int i = 0; i < PARTICIPANTS; i++)
		good = good && participants->engines[i]->join->match(participants->jobs[i], HG_MATCH_ALL,
															 NULL) == HG_OK;
	while (good && more)
	{
		const size_t before = pairs.count;

		for (int i = 0; i < PARTICIPANTS; i++)
			good = good && test_replica_read(participants->engines[i], participants->jobs[i], 300,
											 1, &pairs, NULL) == HG_OK;
		more = pairs.count > before;
	}
	/* an outer row may have its matches in several chunks */
	pairs.runs = test_replica_wanted(&wanted, HG_MATCH_FIRST);
	good = good && test_replica_right(&pairs, &wanted, HG_MATCH_ALL);
	free(pairs.pairs);
	return good;
}

static void
test_participants(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2, .noise = 10}, {.noise = 5}};
	TestServer server;
	Participants participants;
	TestPagesJoin join;
	HgJobSpec spec;
	HgJobStats stats;
	bool good;

	test_start_server(&server, NULL);
	connect_participants(&server, &participants);
	test_pages_join_create(&join, spreads, forms, 7);
	spec = shared_spec(&join);
	good = open_participants(&participants, &spec) && fill_participants(&participants, &join);
	/* whoever opened it may be the first to go */
	participants.engines[0]->join->build(participants.jobs[0], NULL);
	for (int i = 0; i < PARTICIPANTS && good; i++)
	{
		good = participants.engines[i]->join->build(participants.jobs[i], NULL) == HG_OK;
		participants.engines[i]->join->stats(participants.jobs[i], &stats);
		good = good && stats.rows[HG_OUTER] == spreads[HG_OUTER].count &&
			   stats.rows[HG_INNER] == spreads[HG_INNER].count;
	}
	hg_tap_ok(good, "the members of a team have the rows of all their pages");
	hg_tap_ok(good && fetch_participants(&participants, &join), "and get their matches");
	close_participants(&participants);
	hg_tap_ok(test_counts_jobs(&server, 0) && test_status_of(&server).memory_reserved == 0,
			  "nothing is left of it");
	test_pages_join_destroy(&join);
	disconnect_participants(&participants);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Participants agree on what pages are, and get the same answer where one makes no sense. */
static void
test_shared_failures(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2}, {.noise = 5}};
	TestServer server;
	Participants participants;
	TestPagesJoin join;
	HgPageSpec other;
	HgJobSpec spec;
	HgJobSpec others;
	uint64_t count;
	bool good;

	test_start_server(&server, NULL);
	connect_participants(&server, &participants);
	test_pages_join_create(&join, spreads, forms, 8);
	spec = shared_spec(&join);
	others = spec;
	other = *spec.sides[HG_INNER].pages;
	other.rows_per_page++;
	others.sides[HG_INNER].kind = HG_SOURCE_PAGES;
	others.sides[HG_INNER].pages = &other;
	good = participants.engines[0]->open(participants.engines[0], test_host_plain(), &spec,
										 &participants.jobs[0], NULL) == HG_OK &&
		   participants.engines[1]->open(participants.engines[1], test_host_plain(), &others,
										 &participants.jobs[1], NULL) == HG_INVALID;
	others.sides[HG_INNER].kind = HG_SOURCE_ROWS;
	participants.jobs[1] = NULL;
	good =
		good && participants.engines[1]->open(participants.engines[1], test_host_plain(), &others,
											  &participants.jobs[1], NULL) == HG_INVALID;
	participants.jobs[1] = NULL;
	hg_tap_ok(good, "who would append other pages is no member");
	close_participants(&participants);

	join.sides[HG_INNER].pages.bytes[18] ^= 1;
	good = open_participants(&participants, &spec) && fill_participants(&participants, &join);
	for (int i = 0; i < PARTICIPANTS; i++)
		good =
			good && participants.engines[i]->join->build(participants.jobs[i], NULL) == HG_BAD_PAGE;
	hg_tap_ok(good, "all members are told of a page that makes no sense");
	good = good && participants.engines[2]->join->count(participants.jobs[2], HG_MATCH_ALL, &count,
														NULL) == HG_BAD_PAGE;
	close_participants(&participants);
	for (int i = 0; i < PARTICIPANTS; i++)
		good = good && hg_wire_client_state(participants.clients[i], NULL) == HG_WIRE_READY;
	hg_tap_ok(good && test_counts_jobs(&server, 0), "which ends no connection");

	/* one that asks for its own part when another has been told already */
	good = open_participants(&participants, &spec);
	good = good && participants.engines[0]->pages->append_pages(participants.jobs[0], HG_INNER,
																join.sides[HG_INNER].pages.bytes, 1,
																0, NULL) == HG_OK;
	good = good && participants.engines[0]->join->build(participants.jobs[0], NULL) == HG_BAD_PAGE;
	good = good && participants.engines[1]->pages->append_pages(participants.jobs[1], HG_INNER,
																join.sides[HG_INNER].pages.bytes, 1,
																1, NULL) == HG_OK;
	good = good && hg_wire_client_end_append(participants.jobs[1], NULL) == HG_BAD_PAGE;
	close_participants(&participants);
	for (int i = 0; i < PARTICIPANTS; i++)
		good = good && hg_wire_client_state(participants.clients[i], NULL) == HG_WIRE_READY;
	hg_tap_ok(good && test_counts_jobs(&server, 0), "nor does it where others still append");
	test_pages_join_destroy(&join);
	disconnect_participants(&participants);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* What was asked for before it is known that a page makes no sense fails with it, and no more. */
static void
test_asked_ahead(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2}, {.noise = 5}};
	TestServer server;
	Participants participants;
	TestPagesJoin join;
	HgJobSpec spec;
	HgDeviceStatus status;
	HgEngine *engine;
	HgJob *job = NULL;
	uint64_t count;
	bool good;

	test_start_server(&server, NULL);
	connect_participants(&server, &participants);
	test_pages_join_create(&join, spreads, forms, 8);
	join.sides[HG_INNER].pages.bytes[18] ^= 1;
	spec = shared_spec(&join);
	spec.participants_id = 0;
	engine = participants.engines[0];
	good = engine->open(engine, test_host_plain(), &spec, &job, NULL) == HG_OK;
	for (int side = HG_OUTER; side <= HG_INNER && good; side++)
		good = engine->pages->append_pages(job, (HgSide) side, join.sides[side].pages.bytes, 1, 0,
										   NULL) == HG_OK;
	good = good && engine->ahead->start(job, HG_AHEAD_COUNT, HG_MATCH_ALL, NULL, NULL) == HG_OK &&
		   engine->join->build(job, NULL) == HG_BAD_PAGE;
	/* the count has been answered when this is */
	good = good && hg_wire_client_status(participants.clients[0], test_host_plain(), &status,
										 NULL) == HG_OK;
	good = good && engine->join->count(job, HG_MATCH_ALL, &count, NULL) == HG_BAD_PAGE;
	if (job != NULL)
		engine->join->close(job);
	hg_tap_ok(good && hg_wire_client_state(participants.clients[0], NULL) == HG_WIRE_READY &&
				  test_counts_jobs(&server, 0),
			  "a count that was asked for ahead fails with the page, and no connection with it");
	test_pages_join_destroy(&join);
	disconnect_participants(&participants);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* A participant's pages that are all rows need what others', which are few, have left. */
static void
test_shared_reserved(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2, .noise = 80}, {.noise = 50}};
	TestServer server;
	Participants participants;
	TestPagesJoin join;
	HgJobSpec spec;
	uint64_t before;
	uint64_t after;
	bool good;

	test_start_server(&server, NULL);
	connect_participants(&server, &participants);
	test_pages_join_create(&join, spreads, forms, 9);
	spec = shared_spec(&join);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec.sides[side].expected_rows = spreads[side].count;
	good = open_participants(&participants, &spec);
	before = test_status_of(&server).memory_reserved;
	good = good && fill_participants(&participants, &join);
	after = test_status_of(&server).memory_reserved;
	/* but of a page of each participant, which is about to come */
	hg_tap_ok(good && after <= before + before / 4,
			  "nothing is reserved for pages that have as many rows as expected: %" PRIu64
			  " bytes, then %" PRIu64,
			  before, after);
	close_participants(&participants);
	test_pages_join_destroy(&join);
	disconnect_participants(&participants);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_status_of(&server).memory_reserved == 0,
			  "nothing stays reserved");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Participants that send at a time
 * ------------------------------------------------------------------------ */

/* Messages of each participant. */
#define MESSAGES 5

/* A participant that sends pages of one side, a page at a time, in a thread of its own. */
typedef struct Sender
{
	pthread_t thread;
	Participants *participants;
	const TestPagesJoin *join;
	int number;
	HgStatus status;
} Sender;

static void *
send_pages(void *arg)
{
	Sender *sender = arg;
	HgEngine *engine = sender->participants->engines[sender->number];
	HgJob *job = sender->participants->jobs[sender->number];
	const TestReplicaPages *pages = &sender->join->sides[HG_INNER].pages;

	sender->status = HG_OK;
	for (int i = 0; i < MESSAGES && sender->status == HG_OK; i++)
	{
		const uint64_t page = (uint64_t) (i * PARTICIPANTS + sender->number);

		sender->status =
			engine->pages->append_pages(job, HG_INNER, pages->bytes + page * pages->spec.page_size,
										1, test_pages_ordinal(pages, page), NULL);
	}
	if (sender->status == HG_OK)
		sender->status = hg_wire_client_end_append(job, NULL);
	return NULL;
}

static void
start_senders(Sender senders[PARTICIPANTS], Participants *participants, const TestPagesJoin *join)
{
	for (int i = 0; i < PARTICIPANTS; i++)
	{
		senders[i] = (Sender){.participants = participants, .join = join, .number = i};
		if (pthread_create(&senders[i].thread, NULL, send_pages, &senders[i]) != 0)
			abort();
	}
}

static void
join_senders(Sender senders[PARTICIPANTS])
{
	for (int i = 0; i < PARTICIPANTS; i++)
		pthread_join(senders[i].thread, NULL);
}

/*
 * No participant waits until others' pages have come to the device: the stand-in has no message's
 * pages brought before one of each participant is.
 */
static void
test_shared_at_a_time(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2, .noise = 10}, {.noise = 5}};
	Sender senders[PARTICIPANTS];
	TestServer server;
	Participants participants;
	TestPagesJoin join;
	HgJobSpec spec;
	const char *file = test_new_file();
	char meeting[2048];
	bool good;

	snprintf(meeting, sizeof(meeting), "%d %s", PARTICIPANTS, file);
	test_start_server_env(&server, "HG_STANDIN_MEET", meeting);
	connect_participants(&server, &participants);
	test_pages_join_create(&join, spreads, forms, 10);
	spec = shared_spec(&join);
	good = open_participants(&participants, &spec);
	if (good)
		start_senders(senders, &participants, &join);
	if (good)
		join_senders(senders);
	for (int i = 0; i < PARTICIPANTS; i++)
		good = good && senders[i].status == HG_OK;
	hg_tap_ok(good, "members' pages come at a time: %d x %d messages", PARTICIPANTS, MESSAGES);
	unlink(file);
	close_participants(&participants);
	test_pages_join_destroy(&join);
	disconnect_participants(&participants);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* What participants are told when one of them goes while his pages are on their way. */
static void
test_shared_deserted(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2, .noise = 10}, {.noise = 5}};
	TestServer server;
	Participants participants;
	TestPagesJoin join;
	HgJobSpec spec;
	bool good;

	test_start_server_env(&server, "HG_STANDIN_BRING_MS", "300");
	connect_participants(&server, &participants);
	test_pages_join_create(&join, spreads, forms, 11);
	spec = shared_spec(&join);
	for (int gone = 0; gone <= 1; gone++)
	{
		good = open_participants(&participants, &spec);
		for (int i = 0; i < 2 && good; i++)
			good = participants.engines[i]->pages->append_pages(participants.jobs[i], HG_INNER,
																join.sides[HG_INNER].pages.bytes, 1,
																(uint64_t) i, NULL) == HG_OK;
		/* both are on their way: nobody has waited for the answer */
		participants.engines[0]->join->close(participants.jobs[0]);
		participants.jobs[0] = NULL;
		if (gone == 1)
			hg_wire_client_destroy(participants.clients[0]);
		good = good && hg_wire_client_end_append(participants.jobs[1], NULL) == HG_UNAVAILABLE;
		good = good &&
			   participants.engines[2]->join->build(participants.jobs[2], NULL) == HG_UNAVAILABLE;
		hg_tap_ok(good, "the others are told of a member that %s while his pages are on their way",
				  gone == 1 ? "goes" : "gives up");
		close_participants(&participants);
		hg_tap_ok(test_counts_jobs(&server, 0) && test_status_of(&server).memory_reserved == 0 &&
					  test_status_of(&server).memory_held == 0,
				  "and nothing of theirs is left");
	}
	test_pages_join_destroy(&join);
	for (int i = 1; i < PARTICIPANTS; i++)
		hg_wire_client_destroy(participants.clients[i]);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Where there is no room for that participants' pages come in their turns. */
static void
test_shared_in_turns(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2, .noise = 10}, {.noise = 5}};
	TestServer server;
	Participants participants;
	TestPagesJoin join;
	HgJobSpec spec;
	bool good;

	test_start_server_env(&server, "HG_STANDIN_NO_PIECES", "1");
	connect_participants(&server, &participants);
	test_pages_join_create(&join, spreads, forms, 12);
	spec = shared_spec(&join);
	good = open_participants(&participants, &spec) && fill_participants(&participants, &join);
	for (int i = 0; i < PARTICIPANTS && good; i++)
		good = participants.engines[i]->join->build(participants.jobs[i], NULL) == HG_OK;
	hg_tap_ok(good && fetch_participants(&participants, &join),
			  "members whose pages can't be on their way at a time get their matches");
	close_participants(&participants);
	test_pages_join_destroy(&join);
	disconnect_participants(&participants);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

int
main(int argc, char **argv)
{
	const bool standin = test_choose_device(argc, argv);

	test_suite("4194304");
	test_suite("300000");
	test_lease();
	test_nonsense();
	test_participants();
	test_shared_failures();
	test_asked_ahead();
	if (!standin)
	{
		hg_tap_skip("the stand-in alone has a certain amount of it", "memory");
		return hg_tap_done();
	}
	test_reserved();
	test_refused();
	test_shared_reserved();
	test_shared_at_a_time();
	test_shared_deserted();
	test_shared_in_turns();
	return hg_tap_done();
}
