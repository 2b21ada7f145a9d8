/*-------------------------------------------------------------------------
 *
 * test_server_pages.c
 *	  Sides that come as pages to a device process: what goes over the wire, memory, teams.
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

#define MEMBERS 3

/* Some number of a team. */
#define TEAM UINT64_C(0x7ea9a9e5)

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
	message.request.spec.ncolumns[HG_OUTER] = 1;
	message.request.spec.column_width[HG_OUTER][0] = 8;
	message.request.spec.expected_rows[HG_INNER] = 100;
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

		spec.pages[HG_OUTER] = &join.sides[HG_OUTER].pages.spec;
		spec.expected_rows[HG_OUTER] = known ? spreads[HG_OUTER].count : 100;
		spec.expected_rows[HG_INNER] = spreads[HG_INNER].count;
		good = good && engine->open(engine, test_host_plain(), &spec, &job, &error) == HG_OK;
		for (int side = HG_OUTER; side <= HG_INNER && good; side++)
			good =
				test_replica_give(engine, job, (HgSide) side, 0, &join.sides[side], &error) == HG_OK;
		good = good && engine->build(job, &error) == HG_OK &&
			   test_pages_join_ask(&join, engine, job, 1000, &error) == HG_OK;
		reserved[known] = test_status_of(&server).memory_reserved;
		if (job != NULL)
			engine->close(job);
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
	good = good && test_replica_open(engine, test_host_plain(), &join.sides[0], &join.sides[1], &job,
								  &error) == HG_OK;
	if (good)
		good = test_replica_give(engine, job, HG_OUTER, 0, &join.sides[HG_OUTER], &error) != HG_OK ||
			   engine->build(job, &error) != HG_OK;
	hg_tap_ok(good && error.status == HG_DEVICE_OUT_OF_MEMORY,
			  "pages of more rows than expected are refused where others have the memory");
	if (job != NULL)
		engine->close(job);
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
 * Teams
 * ------------------------------------------------------------------------ */

typedef struct Members
{
	HgWireClient *clients[MEMBERS];
	HgEngine *engines[MEMBERS];
	HgJob *jobs[MEMBERS];
} Members;

static void
connect_members(TestServer *server, Members *members)
{
	memset(members, 0, sizeof(*members));
	for (int i = 0; i < MEMBERS; i++)
	{
		members->clients[i] = test_start_client(server);
		members->engines[i] = hg_wire_client_engine(members->clients[i]);
	}
}

static void
close_members(Members *members)
{
	for (int i = 0; i < MEMBERS; i++)
	{
		if (members->jobs[i] != NULL)
			members->engines[i]->close(members->jobs[i]);
		members->jobs[i] = NULL;
	}
}

static void
disconnect_members(Members *members)
{
	for (int i = 0; i < MEMBERS; i++)
		hg_wire_client_destroy(members->clients[i]);
}

static HgJobSpec
spec_of_team(const TestPagesJoin *join)
{
	HgJobSpec spec = {.key_width = 8, .device = -1, .group = 99, .team = TEAM};

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec.pages[side] = &join->sides[side].pages.spec;
		spec.ncolumns[side] = join->sides[side].spread.ncolumns;
		memcpy(spec.column_width[side], test_replica_widths, sizeof(test_replica_widths));
		spec.expected_rows[side] = join->sides[side].spread.count / 2;
	}
	return spec;
}

static bool
open_members(Members *members, const HgJobSpec *spec)
{
	bool good = true;

	for (int i = 0; i < MEMBERS; i++)
		good = good && members->engines[i]->open(members->engines[i], test_host_plain(), spec,
												 &members->jobs[i], NULL) == HG_OK;
	return good;
}

/* Deal out pages to the members in turn, wait until they have arrived, and have it built. */
static bool
fill_members(Members *members, const TestPagesJoin *join)
{
	bool good = true;
	int turn = 0;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const TestReplicaPages *pages = &join->sides[side].pages;

		for (uint64_t page = 0; page < pages->count && good; page++)
		{
			const int i = turn++ % MEMBERS;

			good = members->engines[i]->append_pages(
					   members->jobs[i], (HgSide) side, pages->bytes + page * pages->spec.page_size,
					   1, test_pages_ordinal(pages, page), NULL) == HG_OK;
		}
	}
	for (int i = 0; i < MEMBERS; i++)
		good = good && hg_wire_client_end_append(members->jobs[i], NULL) == HG_OK;
	return good;
}

/* Fetch all matches, a chunk for each member in turn. */
static bool
fetch_members(Members *members, const TestPagesJoin *join)
{
	TestReplicaPairs pairs = {0};
	TestReplicaPairs wanted = join->wanted;
	bool good = true;
	bool more = true;

	for (int i = 0; i < MEMBERS; i++)
		good = good && members->engines[i]->match(members->jobs[i], HG_MATCH_ALL, NULL) == HG_OK;
	while (good && more)
	{
		const size_t before = pairs.count;

		for (int i = 0; i < MEMBERS; i++)
			good = good && test_replica_read(members->engines[i], members->jobs[i], 300, 1, &pairs,
										  NULL) == HG_OK;
		more = pairs.count > before;
	}
	/* an outer row may have its matches in several chunks */
	pairs.runs = test_replica_wanted(&wanted, HG_MATCH_FIRST);
	good = good && test_replica_right(&pairs, &wanted, HG_MATCH_ALL);
	free(pairs.pairs);
	return good;
}

static void
test_team(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2, .noise = 10}, {.noise = 5}};
	TestServer server;
	Members members;
	TestPagesJoin join;
	HgJobSpec spec;
	HgJobStats stats;
	bool good;

	test_start_server(&server, NULL);
	connect_members(&server, &members);
	test_pages_join_create(&join, spreads, forms, 7);
	spec = spec_of_team(&join);
	good = open_members(&members, &spec) && fill_members(&members, &join);
	/* whoever opened it may be the first to go */
	members.engines[0]->build(members.jobs[0], NULL);
	for (int i = 0; i < MEMBERS && good; i++)
	{
		good = members.engines[i]->build(members.jobs[i], NULL) == HG_OK;
		members.engines[i]->stats(members.jobs[i], &stats);
		good = good && stats.rows[HG_OUTER] == spreads[HG_OUTER].count &&
			   stats.rows[HG_INNER] == spreads[HG_INNER].count;
	}
	hg_tap_ok(good, "the members of a team have the rows of all their pages");
	hg_tap_ok(good && fetch_members(&members, &join), "and get their matches");
	close_members(&members);
	hg_tap_ok(test_counts_jobs(&server, 0) && test_status_of(&server).memory_reserved == 0,
			  "nothing is left of it");
	test_pages_join_destroy(&join);
	disconnect_members(&members);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Members agree on what pages are, and get the same answer where one makes no sense. */
static void
test_team_failures(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2}, {.noise = 5}};
	TestServer server;
	Members members;
	TestPagesJoin join;
	HgPageSpec other;
	HgJobSpec spec;
	HgJobSpec others;
	uint64_t count;
	bool good;

	test_start_server(&server, NULL);
	connect_members(&server, &members);
	test_pages_join_create(&join, spreads, forms, 8);
	spec = spec_of_team(&join);
	others = spec;
	other = *spec.pages[HG_INNER];
	other.rows_per_page++;
	others.pages[HG_INNER] = &other;
	good = members.engines[0]->open(members.engines[0], test_host_plain(), &spec, &members.jobs[0],
									NULL) == HG_OK &&
		   members.engines[1]->open(members.engines[1], test_host_plain(), &others,
									&members.jobs[1], NULL) == HG_INVALID;
	others.pages[HG_INNER] = NULL;
	members.jobs[1] = NULL;
	good = good && members.engines[1]->open(members.engines[1], test_host_plain(), &others,
											&members.jobs[1], NULL) == HG_INVALID;
	members.jobs[1] = NULL;
	hg_tap_ok(good, "who would append other pages is no member");
	close_members(&members);

	join.sides[HG_INNER].pages.bytes[18] ^= 1;
	good = open_members(&members, &spec) && fill_members(&members, &join);
	for (int i = 0; i < MEMBERS; i++)
		good = good && members.engines[i]->build(members.jobs[i], NULL) == HG_BAD_PAGE;
	hg_tap_ok(good, "all members are told of a page that makes no sense");
	good = good &&
		   members.engines[2]->count(members.jobs[2], HG_MATCH_ALL, &count, NULL) == HG_BAD_PAGE;
	close_members(&members);
	for (int i = 0; i < MEMBERS; i++)
		good = good && hg_wire_client_state(members.clients[i], NULL) == HG_WIRE_READY;
	hg_tap_ok(good && test_counts_jobs(&server, 0), "which ends no connection");

	/* one that asks for its own part when another has been told already */
	good = open_members(&members, &spec);
	good = good &&
		   members.engines[0]->append_pages(members.jobs[0], HG_INNER,
											join.sides[HG_INNER].pages.bytes, 1, 0, NULL) == HG_OK;
	good = good && members.engines[0]->build(members.jobs[0], NULL) == HG_BAD_PAGE;
	good = good &&
		   members.engines[1]->append_pages(members.jobs[1], HG_INNER,
											join.sides[HG_INNER].pages.bytes, 1, 1, NULL) == HG_OK;
	good = good && hg_wire_client_end_append(members.jobs[1], NULL) == HG_BAD_PAGE;
	close_members(&members);
	for (int i = 0; i < MEMBERS; i++)
		good = good && hg_wire_client_state(members.clients[i], NULL) == HG_WIRE_READY;
	hg_tap_ok(good && test_counts_jobs(&server, 0), "nor does it where others still append");
	test_pages_join_destroy(&join);
	disconnect_members(&members);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* What was asked for before it is known that a page makes no sense fails with it, and no more. */
static void
test_asked_ahead(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2}, {.noise = 5}};
	TestServer server;
	Members members;
	TestPagesJoin join;
	HgJobSpec spec;
	HgDeviceStatus status;
	HgEngine *engine;
	HgJob *job = NULL;
	uint64_t count;
	bool good;

	test_start_server(&server, NULL);
	connect_members(&server, &members);
	test_pages_join_create(&join, spreads, forms, 8);
	join.sides[HG_INNER].pages.bytes[18] ^= 1;
	spec = spec_of_team(&join);
	spec.team = 0;
	engine = members.engines[0];
	good = engine->open(engine, test_host_plain(), &spec, &job, NULL) == HG_OK;
	for (int side = HG_OUTER; side <= HG_INNER && good; side++)
		good = engine->append_pages(job, (HgSide) side, join.sides[side].pages.bytes, 1, 0, NULL) ==
			   HG_OK;
	good = good && engine->start(job, HG_AHEAD_COUNT, HG_MATCH_ALL, NULL, NULL) == HG_OK &&
		   engine->build(job, NULL) == HG_BAD_PAGE;
	/* the count has been answered when this is */
	good = good &&
		   hg_wire_client_status(members.clients[0], test_host_plain(), &status, NULL) == HG_OK;
	good = good && engine->count(job, HG_MATCH_ALL, &count, NULL) == HG_BAD_PAGE;
	if (job != NULL)
		engine->close(job);
	hg_tap_ok(good && hg_wire_client_state(members.clients[0], NULL) == HG_WIRE_READY &&
				  test_counts_jobs(&server, 0),
			  "a count that was asked for ahead fails with the page, and no connection with it");
	test_pages_join_destroy(&join);
	disconnect_members(&members);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* A member's pages that are all rows need what others', which are few, have left. */
static void
test_team_reserved(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2, .noise = 80}, {.noise = 50}};
	TestServer server;
	Members members;
	TestPagesJoin join;
	HgJobSpec spec;
	uint64_t before;
	uint64_t after;
	bool good;

	test_start_server(&server, NULL);
	connect_members(&server, &members);
	test_pages_join_create(&join, spreads, forms, 9);
	spec = spec_of_team(&join);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec.expected_rows[side] = spreads[side].count;
	good = open_members(&members, &spec);
	before = test_status_of(&server).memory_reserved;
	good = good && fill_members(&members, &join);
	after = test_status_of(&server).memory_reserved;
	/* but of a page of each member, which is about to come */
	hg_tap_ok(good && after <= before + before / 4,
			  "nothing is reserved for pages that have as many rows as expected: %" PRIu64
			  " bytes, then %" PRIu64,
			  before, after);
	close_members(&members);
	test_pages_join_destroy(&join);
	disconnect_members(&members);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_status_of(&server).memory_reserved == 0,
			  "nothing stays reserved");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Members that send at a time
 * ------------------------------------------------------------------------ */

/* Messages of each member. */
#define MESSAGES 5

/* A member that sends pages of one side, a page at a time, in a thread of its own. */
typedef struct Sender
{
	pthread_t thread;
	Members *members;
	const TestPagesJoin *join;
	int place;
	HgStatus status;
} Sender;

static void *
send_pages(void *arg)
{
	Sender *sender = arg;
	HgEngine *engine = sender->members->engines[sender->place];
	HgJob *job = sender->members->jobs[sender->place];
	const TestReplicaPages *pages = &sender->join->sides[HG_INNER].pages;

	sender->status = HG_OK;
	for (int i = 0; i < MESSAGES && sender->status == HG_OK; i++)
	{
		const uint64_t page = (uint64_t) (i * MEMBERS + sender->place);

		sender->status =
			engine->append_pages(job, HG_INNER, pages->bytes + page * pages->spec.page_size, 1,
								 test_pages_ordinal(pages, page), NULL);
	}
	if (sender->status == HG_OK)
		sender->status = hg_wire_client_end_append(job, NULL);
	return NULL;
}

static void
start_senders(Sender senders[MEMBERS], Members *members, const TestPagesJoin *join)
{
	for (int i = 0; i < MEMBERS; i++)
	{
		senders[i] = (Sender){.members = members, .join = join, .place = i};
		if (pthread_create(&senders[i].thread, NULL, send_pages, &senders[i]) != 0)
			abort();
	}
}

static void
join_senders(Sender senders[MEMBERS])
{
	for (int i = 0; i < MEMBERS; i++)
		pthread_join(senders[i].thread, NULL);
}

/*
 * No member waits until others' pages have come to the device: the stand-in has no message's pages
 * brought before one of each member is.
 */
static void
test_team_at_a_time(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2, .noise = 10}, {.noise = 5}};
	Sender senders[MEMBERS];
	TestServer server;
	Members members;
	TestPagesJoin join;
	HgJobSpec spec;
	const char *file = test_new_file();
	char meeting[2048];
	bool good;

	snprintf(meeting, sizeof(meeting), "%d %s", MEMBERS, file);
	test_start_server_told(&server, "HG_STANDIN_MEET", meeting);
	connect_members(&server, &members);
	test_pages_join_create(&join, spreads, forms, 10);
	spec = spec_of_team(&join);
	good = open_members(&members, &spec);
	if (good)
		start_senders(senders, &members, &join);
	if (good)
		join_senders(senders);
	for (int i = 0; i < MEMBERS; i++)
		good = good && senders[i].status == HG_OK;
	hg_tap_ok(good, "members' pages come at a time: %d x %d messages", MEMBERS, MESSAGES);
	unlink(file);
	close_members(&members);
	test_pages_join_destroy(&join);
	disconnect_members(&members);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* What members are told when one of them goes while his pages are on their way. */
static void
test_team_deserted(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2, .noise = 10}, {.noise = 5}};
	TestServer server;
	Members members;
	TestPagesJoin join;
	HgJobSpec spec;
	bool good;

	test_start_server_told(&server, "HG_STANDIN_BRING_MS", "300");
	connect_members(&server, &members);
	test_pages_join_create(&join, spreads, forms, 11);
	spec = spec_of_team(&join);
	for (int gone = 0; gone <= 1; gone++)
	{
		good = open_members(&members, &spec);
		for (int i = 0; i < 2 && good; i++)
			good = members.engines[i]->append_pages(members.jobs[i], HG_INNER,
													join.sides[HG_INNER].pages.bytes, 1,
													(uint64_t) i, NULL) == HG_OK;
		/* both are on their way: nobody has waited for the answer */
		members.engines[0]->close(members.jobs[0]);
		members.jobs[0] = NULL;
		if (gone == 1)
			hg_wire_client_destroy(members.clients[0]);
		good = good && hg_wire_client_end_append(members.jobs[1], NULL) == HG_UNAVAILABLE;
		good = good && members.engines[2]->build(members.jobs[2], NULL) == HG_UNAVAILABLE;
		hg_tap_ok(good, "the others are told of a member that %s while his pages are on their way",
				  gone == 1 ? "goes" : "gives up");
		close_members(&members);
		hg_tap_ok(test_counts_jobs(&server, 0) && test_status_of(&server).memory_reserved == 0 &&
					  test_status_of(&server).memory_held == 0,
				  "and nothing of theirs is left");
	}
	test_pages_join_destroy(&join);
	for (int i = 1; i < MEMBERS; i++)
		hg_wire_client_destroy(members.clients[i]);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Where there is no room for that members' pages come in their turns. */
static void
test_team_in_turns(void)
{
	const TestReplicaSpread spreads[2] = {plain_spread, plain_spread};
	const TestPagesForm forms[2] = {{.nquals = 2, .noise = 10}, {.noise = 5}};
	TestServer server;
	Members members;
	TestPagesJoin join;
	HgJobSpec spec;
	bool good;

	test_start_server_told(&server, "HG_STANDIN_NO_PIECES", "1");
	connect_members(&server, &members);
	test_pages_join_create(&join, spreads, forms, 12);
	spec = spec_of_team(&join);
	good = open_members(&members, &spec) && fill_members(&members, &join);
	for (int i = 0; i < MEMBERS && good; i++)
		good = members.engines[i]->build(members.jobs[i], NULL) == HG_OK;
	hg_tap_ok(good && fetch_members(&members, &join),
			  "members whose pages can't be on their way at a time get their matches");
	close_members(&members);
	test_pages_join_destroy(&join);
	disconnect_members(&members);
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
	test_team();
	test_team_failures();
	test_asked_ahead();
	if (!standin)
	{
		hg_tap_skip("the stand-in alone has a certain amount of it", "memory");
		return hg_tap_done();
	}
	test_reserved();
	test_refused();
	test_team_reserved();
	test_team_at_a_time();
	test_team_deserted();
	test_team_in_turns();
	return hg_tap_done();
}
