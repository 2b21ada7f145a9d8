/*-------------------------------------------------------------------------
 *
 * test_server_replica.c
 *	  Graph replicas of a device process:  their names, who joins them, and what is left.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this program.  With
 * the path of a device process as its argument it runs the tests that need neither a misbehaving
 * one nor a certain amount of memory, with that.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* usleep */

#include "hg_tap.h"
#include "test_named.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Rows of most graphs here. */
#define ROWS 100000

static const HgReplicaShape shape = {8, 1, ROWS};

/* ------------------------------------------------------------------------
 * Joins
 * ------------------------------------------------------------------------ */

/* Are all matches of two sides right, as one connection makes replicas and another joins them? */
static bool
join_is_right(HgEngine *holding, HgEngine *joining, TestReplicaSide *outer, TestReplicaSide *inner)
{
	TestReplicaSide *const sides[2] = {outer, inner};
	TestReplicaPairs wanted;
	HgError error = {0};
	HgJobStats stats = {0};
	uint64_t counted = 0;
	HgJob *job = NULL;
	bool good = true;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (sides[side]->spread.way == TEST_REPLICA_GRAPH && sides[side]->graph == NULL)
			good =
				good && test_replica_make(holding, test_host_plain(), sides[side], &error) == HG_OK;
	test_replica_naive(outer, inner, &wanted);
	good = good &&
		   test_replica_build(joining, test_host_plain(), outer, inner, &job, &error) == HG_OK &&
		   joining->join->count(job, HG_MATCH_ALL, &counted, &error) == HG_OK &&
		   counted == wanted.count;
	for (int mode = HG_MATCH_ALL; mode <= HG_MATCH_FIRST && good; mode++)
	{
		TestReplicaPairs pairs = {0};

		good = joining->join->match(job, (HgMatchMode) mode, &error) == HG_OK &&
			   test_replica_read(joining, job, 777, UINT64_MAX, &pairs, &error) == HG_OK &&
			   test_replica_right(&pairs, &wanted, (HgMatchMode) mode);
		free(pairs.pairs);
	}
	if (job != NULL)
	{
		joining->join->stats(job, &stats);
		joining->join->close(job);
	}
	free(wanted.pairs);
	if (!good)
		hg_tap_diag("%llu counted: %s", (unsigned long long) counted, error.message);
	return good && stats.build == HG_BUILD_RESIDENT &&
		   stats.rows[HG_OUTER] == outer->spread.count &&
		   stats.rows[HG_INNER] == inner->spread.count;
}

static void
test_joins(void)
{
	static const TestReplicaSpread spreads[] = {
		{.width = 4, .parts = 1, .count = 30000, .keys = 8000},
		{.width = 8, .parts = 3, .count = 20000, .keys = 8000, .mask = TEST_MASK_SOME, .hot = 20},
		{.width = 8, .parts = 2, .count = 20000, .keys = 8000, .mask = TEST_MASK_NEVER},
		{.width = 4, .parts = 2, .count = 9000, .keys = 8000, .mask = TEST_MASK_ZERO},
		{.width = 8, .parts = 1, .count = 0, .keys = 8000, .mask = TEST_MASK_FEW},
		{.way = TEST_REPLICA_APPENDED, .width = 4, .count = 30000, .keys = 8000},
		{.way = TEST_REPLICA_NUMBERED, .width = 8, .count = 20000, .keys = 8000},
	};
	static const char *const options[] = {"--staging-bytes", "262144", NULL};
	TestReplicaSide sides[LENGTH(spreads)];
	TestServer server;
	HgWireClient *clients[2];
	TestNamed holding;
	TestNamed joining;
	uint64_t state = 3;
	bool good = true;

	test_start_server(&server, options);
	for (int i = 0; i < 2; i++)
		clients[i] = test_start_client(&server);
	test_named_init(&holding, clients[0]);
	test_named_init(&joining, clients[1]);
	for (size_t i = 0; i < LENGTH(spreads); i++)
		test_replica_side_create(&sides[i], &spreads[i], &state);
	for (size_t outer = 0; outer < LENGTH(spreads); outer++)
		for (size_t inner = 0; inner < LENGTH(spreads); inner++)
			if ((spreads[outer].way == TEST_REPLICA_GRAPH ||
				 spreads[inner].way == TEST_REPLICA_GRAPH) &&
				!join_is_right(&holding.engine, &joining.engine, &sides[outer], &sides[inner]))
			{
				hg_tap_diag("of sides %d and %d", (int) outer, (int) inner);
				good = false;
			}
	hg_tap_ok(good, "graphs that one connection has made are joined by another");
	hg_tap_ok(test_named_graphs_become(&server, 5) && test_named_is_at_rest(&server, 5),
			  "and stay");
	hg_wire_client_destroy(clients[0]);
	hg_tap_ok(test_counts_become(&server, 1, 0, 0) &&
				  join_is_right(&holding.engine, &joining.engine, &sides[0], &sides[1]),
			  "when the one has gone, too");
	for (size_t i = 0; i < LENGTH(spreads); i++)
	{
		if (sides[i].graph != NULL)
			joining.engine.store->release(&joining.engine, sides[i].graph);
		test_replica_side_destroy(&sides[i]);
	}
	hg_tap_ok(test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0),
			  "until they are dropped");
	hg_wire_client_destroy(clients[1]);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Names that nobody has are told so, and nothing is ever answered from another's graph. */
static void
test_names(void)
{
	static const struct
	{
		HgReplicaName name;
		HgReplicaShape shape;
		const char *what;
	} others[] = {
		{{TEST_EPOCH, 2, 0, 0}, {8, 1, ROWS}, "of another serial"},
		{{TEST_EPOCH + 1, 1, 0, 0}, {8, 1, ROWS}, "of another epoch"},
		{{TEST_EPOCH, 1, 0, 0}, {4, 1, ROWS}, "with narrower keys"},
		{{TEST_EPOCH, 1, 0, 0}, {8, 2, ROWS}, "of more parts"},
		{{TEST_EPOCH, 1, 0, 0}, {8, 1, ROWS - 1}, "of fewer rows"},
	};
	const HgReplicaName none = {TEST_EPOCH, 0, 0, 0};
	TestServer server;
	HgWireClient *client;
	HgDeviceStatus status;
	HgError error = {0};
	HgJob *job = NULL;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	hg_tap_ok(test_named_ask(client, 1, ROWS) == HG_NO_REPLICA, "a graph is not there");
	status = test_status_of(&server);
	hg_tap_ok(status.replica_graphs == 0 && status.replica_bytes == 0 &&
				  status.replicas_evicted == 0 && status.replica_limit == status.memory_budget / 2,
			  "graphs may have half of the memory, where nothing else was said");
	hg_tap_ok(test_named_make(client, test_host_plain(), 1, ROWS, &error) == HG_OK &&
				  test_named_ask(client, 1, ROWS) == HG_OK && test_named_is_at_rest(&server, 1),
			  "it is when it was made, and holds what the process holds");
	for (size_t i = 0; i < LENGTH(others); i++)
		hg_tap_ok(test_named_join(client, test_host_plain(), &others[i].name, &others[i].shape,
								  &job, &error) == HG_NO_REPLICA &&
					  hg_wire_client_state(client, NULL) == HG_WIRE_READY &&
					  test_named_is_at_rest(&server, 1),
				  "one %s is not", others[i].what);
	hg_tap_ok(
		test_named_join(client, test_host_plain(), &none, &shape, &job, &error) == HG_INVALID &&
			test_named_open(client, test_host_plain(), &none, &shape, &job, &error) == HG_INVALID,
		"no graph has the serial 0");
	hg_tap_ok(test_named_make(client, test_host_plain(), 1, ROWS, &error) == HG_OK &&
				  test_named_is_at_rest(&server, 1),
			  "a second one of its name is not kept");
	test_named_drop(client, 7);
	test_named_drop(client, 0);
	hg_tap_ok(test_named_ask(client, 1, ROWS) == HG_OK, "others can be dropped");
	test_named_drop(server.control, 1);
	hg_tap_ok(test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0) &&
				  test_status_of(&server).replicas_evicted == 0 &&
				  test_named_ask(client, 1, ROWS) == HG_NO_REPLICA,
			  "it is gone when it was dropped");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Make a replica of a partition of graph 1, of so many rows. */
static HgStatus
make_partition(HgWireClient *client, uint32_t partition, uint64_t rows)
{
	const HgReplicaName name = {TEST_EPOCH, 1, 0, partition};
	const HgReplicaShape of = {8, 1, rows};
	HgEngine *engine = hg_wire_client_engine(client);
	HgError error = {0};
	HgJob *job = NULL;
	HgStatus status = test_named_open(client, test_host_plain(), &name, &of, &job, &error);

	if (status == HG_OK)
		status = test_named_put(client, job, 8, 0, rows, &error);
	if (status == HG_OK)
		status = engine->join->build(job, &error);
	if (job != NULL)
		engine->join->close(job);
	return status;
}

/* Ask for it. */
static HgStatus
ask_partition(HgWireClient *client, uint32_t partition, uint64_t rows)
{
	const HgReplicaName name = {TEST_EPOCH, 1, 0, partition};
	const HgReplicaShape of = {8, 1, rows};
	HgError error = {0};
	HgJob *job = NULL;
	HgStatus status = test_named_join(client, test_host_plain(), &name, &of, &job, &error);

	if (job != NULL)
		hg_wire_client_engine(client)->join->close(job);
	return status;
}

/* Partitions of a graph are its own, and none is another one. */
static void
test_replica_partitions(void)
{
	const HgReplicaName second = {TEST_EPOCH, 1, 0, 2};
	TestServer server;
	HgWireClient *client;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	hg_tap_ok(make_partition(client, 1, ROWS) == HG_OK &&
				  make_partition(client, 2, ROWS) == HG_OK &&
				  test_named_graphs_become(&server, 2) && ask_partition(client, 1, ROWS) == HG_OK &&
				  ask_partition(client, 2, ROWS) == HG_OK &&
				  ask_partition(client, 3, ROWS) == HG_NO_REPLICA &&
				  ask_partition(client, 0, ROWS) == HG_NO_REPLICA,
			  "slices of a graph are kept, and it is not");
	hg_wire_client_drop(client, &second);
	hg_tap_ok(test_named_graphs_become(&server, 1) && ask_partition(client, 1, ROWS) == HG_OK &&
				  ask_partition(client, 2, ROWS) == HG_NO_REPLICA,
			  "one is dropped by its name, and the other stays");
	hg_tap_ok(test_named_make(client, test_host_plain(), 1, ROWS, NULL) == HG_OK &&
				  test_named_graphs_become(&server, 2),
			  "the whole graph is there beside it");
	test_named_drop(client, 1);
	hg_tap_ok(test_named_graphs_become(&server, 0) &&
				  ask_partition(client, 1, ROWS) == HG_NO_REPLICA,
			  "slices go with the graph");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* A graph that is in use is dropped. */
static void
test_drop_in_use(void)
{
	const HgReplicaName name = {TEST_EPOCH, 1, 0, 0};
	TestServer server;
	HgWireClient *user;
	HgWireClient *other;
	HgEngine *engine;
	HgError error = {0};
	HgJob *job = NULL;
	uint64_t count = 0;
	uint64_t key = 7;

	test_start_server(&server, NULL);
	user = test_start_client(&server);
	other = test_start_client(&server);
	engine = hg_wire_client_engine(user);
	hg_tap_ok(test_named_make(other, test_host_plain(), 1, ROWS, &error) == HG_OK &&
				  test_named_join(user, test_host_plain(), &name, &shape, &job, &error) == HG_OK,
			  "a graph is in use");
	test_named_drop(other, 1);
	hg_tap_ok(test_named_ask(other, 1, ROWS) == HG_NO_REPLICA,
			  "nobody finds it when it was dropped");
	test_named_drop(other, 1);
	hg_tap_ok(engine->join->append(job, HG_INNER, &key, 1, &error) == HG_OK &&
				  engine->join->build(job, &error) == HG_OK &&
				  engine->join->count(job, HG_MATCH_ALL, &count, &error) == HG_OK && count == 1,
			  "who has it, has it still");
	hg_tap_ok(test_named_make(other, test_host_plain(), 1, ROWS, &error) == HG_OK &&
				  test_named_ask(other, 1, ROWS) == HG_OK &&
				  test_status_of(&server).replica_graphs == 2,
			  "another one can take its name");
	engine->join->close(job);
	hg_tap_ok(test_named_graphs_become(&server, 1) && test_named_is_at_rest(&server, 1) &&
				  test_named_ask(other, 1, ROWS) == HG_OK,
			  "it goes with its last user, alone");
	hg_wire_client_destroy(user);
	hg_wire_client_destroy(other);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Two connections make the same graph at once. */
static void
test_both_make(void)
{
	const HgReplicaName name = {TEST_EPOCH, 1, 0, 0};
	TestServer server;
	HgWireClient *clients[2];
	HgJob *jobs[2] = {NULL, NULL};
	HgError error = {0};
	bool good = true;

	test_start_server_env(&server, "HG_STANDIN_BUILD_MS", "50");
	for (int i = 0; i < 2; i++)
	{
		clients[i] = test_start_client(&server);
		good = good && test_named_open(clients[i], test_host_plain(), &name, &shape, &jobs[i],
									   &error) == HG_OK;
	}
	for (int i = 0; i < 2 && good; i++)
		good = test_named_put(clients[i], jobs[i], 8, 0, ROWS, &error) == HG_OK &&
			   hg_wire_client_engine(clients[i])
					   ->ahead->start(jobs[i], HG_AHEAD_BUILD, HG_MATCH_ALL, NULL, &error) == HG_OK;
	for (int i = 0; i < 2 && good; i++)
	{
		good = hg_wire_client_engine(clients[i])->join->build(jobs[i], &error) == HG_OK;
		hg_wire_client_engine(clients[i])->join->close(jobs[i]);
	}
	hg_tap_ok(good && test_named_is_at_rest(&server, 1) &&
				  test_named_ask(clients[0], 1, ROWS) == HG_OK &&
				  test_named_ask(clients[1], 1, ROWS) == HG_OK,
			  "of two that are made at once one is kept");
	for (int i = 0; i < 2; i++)
		hg_wire_client_destroy(clients[i]);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* A job that makes a graph leaves staging to others. */
static void
test_lease(void)
{
	static const char *const options[] = {"--staging-bytes", "1048576", NULL};
	TestServer server;
	TestSpeaker speaker;
	HgWireMessage message;

	test_start_server(&server, options);
	test_start_speaker(&server, &speaker);
	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.new_replica = (HgReplicaSpec){.name = {TEST_EPOCH, 1, 0, 0}, .shape = shape};
	test_ask(&speaker, HG_WIRE_OPEN, 1, &message);
	hg_tap_ok(test_is_answered(&speaker, HG_OK) && speaker.answer.reply.lease_bytes > 0 &&
				  speaker.answer.reply.lease_bytes <= 1048576 / 4 * 3 / 8,
			  "a job that makes a graph has an eighth of the leases at most");
	test_end_speaker(&speaker);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_named_is_at_rest(&server, 0),
			  "nothing is left");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Nonsense
 * ------------------------------------------------------------------------ */

/* The jobs of a connection that says something which makes no sense, by number. */
enum
{
	JOB_PLAIN = 1,
	JOB_MAKES,
	JOB_JOINS, /* masked on the outer side, and the inner side is appended */
	JOB_BARE,  /* the same without a mask */
	JOB_NEW
};

/* What is wrong with a request, beside its job and type; offsets are from the job's lease on. */
typedef struct Nonsense
{
	const char *what;
	uint32_t job;
	HgWireType type;
	uint32_t side;
	uint32_t zero;
	uint64_t offset;
	uint64_t count;
	uint64_t first;
	HgReplicaSpec new_replica;
	HgReplicaUse replica[2];
} Nonsense;

static const Nonsense nonsense[] = {
	{.what = "a graph of no name",
	 .job = JOB_NEW,
	 .type = HG_WIRE_OPEN,
	 .new_replica = {{1, 0}, {8, 1, 9}}},
	{.what = "a side of no name",
	 .job = JOB_NEW,
	 .type = HG_WIRE_OPEN,
	 .replica = {{{0, 0}, {0, 0, 0}, 0, 0, NULL}, {{1, 0}, {8, 1, ROWS}, 0, 0, NULL}}},
	{.what = "keys for a kept side", .job = JOB_JOINS, .type = HG_WIRE_APPEND, .count = 1},
	{.what = "numbered keys for a kept side",
	 .job = JOB_BARE,
	 .type = HG_WIRE_APPEND_ROWS,
	 .count = 1},
	{.what = "keys for a graph", .job = JOB_MAKES, .type = HG_WIRE_APPEND, .count = 1},
	{.what = "edges for a join", .job = JOB_PLAIN, .type = HG_WIRE_PUT_EDGES, .count = 1},
	{.what = "edges for a kept side", .job = JOB_JOINS, .type = HG_WIRE_PUT_EDGES, .count = 1},
	{.what = "edges out of place",
	 .job = JOB_MAKES,
	 .type = HG_WIRE_PUT_EDGES,
	 .offset = 4,
	 .count = 1},
	{.what = "edges beyond a lease",
	 .job = JOB_MAKES,
	 .type = HG_WIRE_PUT_EDGES,
	 .count = HG_WIRE_PAGE * 1024},
	{.what = "more edges than numbers",
	 .job = JOB_MAKES,
	 .type = HG_WIRE_PUT_EDGES,
	 .count = UINT64_MAX / 12 + 2},
	{.what = "edges before a lease",
	 .job = JOB_MAKES,
	 .type = HG_WIRE_PUT_EDGES,
	 .offset = (uint64_t) -8,
	 .count = 1},
	{.what = "a mask of no graph", .job = JOB_PLAIN, .type = HG_WIRE_MASK, .zero = 1, .count = 1},
	{.what = "a mask of a graph that is made",
	 .job = JOB_MAKES,
	 .type = HG_WIRE_MASK,
	 .zero = 1,
	 .count = 1},
	{.what = "a mask of the other side",
	 .job = JOB_JOINS,
	 .type = HG_WIRE_MASK,
	 .side = HG_INNER,
	 .zero = 1,
	 .count = 1},
	{.what = "a mask of no side",
	 .job = JOB_JOINS,
	 .type = HG_WIRE_MASK,
	 .side = 2,
	 .zero = 1,
	 .count = 1},
	{.what = "a mask that was not announced",
	 .job = JOB_BARE,
	 .type = HG_WIRE_MASK,
	 .zero = 1,
	 .count = 1},
	{.what = "a mask beyond its rows",
	 .job = JOB_JOINS,
	 .type = HG_WIRE_MASK,
	 .zero = 1,
	 .first = 8192,
	 .count = 1},
	{.what = "a mask that wraps",
	 .job = JOB_JOINS,
	 .type = HG_WIRE_MASK,
	 .zero = 1,
	 .first = 2,
	 .count = UINT64_MAX},
	{.what = "a mask of another kind", .job = JOB_JOINS, .type = HG_WIRE_MASK, .zero = 2},
	{.what = "a mask out of place",
	 .job = JOB_JOINS,
	 .type = HG_WIRE_MASK,
	 .offset = 4,
	 .count = 1},
	{.what = "a mask beyond a lease",
	 .job = JOB_JOINS,
	 .type = HG_WIRE_MASK,
	 .offset = UINT64_C(1) << 40,
	 .count = 1},
	{.what = "matches of a graph", .job = JOB_MAKES, .type = HG_WIRE_MATCH},
	{.what = "pairs of a graph", .job = JOB_MAKES, .type = HG_WIRE_NEXT, .count = 1},
	{.what = "a count of a graph", .job = JOB_MAKES, .type = HG_WIRE_COUNT},
	{.what = "groups of a graph", .job = JOB_MAKES, .type = HG_WIRE_REDUCE},
	{.what = "more groups of a graph", .job = JOB_MAKES, .type = HG_WIRE_NEXT_GROUPS, .count = 1},
	{.what = "the shape of a graph", .job = JOB_MAKES, .type = HG_WIRE_DESCRIBE},
	{.what = "the arrays of a graph", .job = JOB_MAKES, .type = HG_WIRE_EXPORT, .count = 1},
	{.what = "a table of a graph", .job = JOB_MAKES, .type = HG_WIRE_MEASURE},
	{.what = "an end of a graph of a job",
	 .job = JOB_JOINS,
	 .type = HG_WIRE_DROP,
	 .new_replica = {{1, 1}}},
	{.what = "an end of no graph", .job = 0, .type = HG_WIRE_DROP},
};

/* Open a job of a kind; its lease is where the answer says. */
static bool
open_by_hand(TestSpeaker *speaker, uint32_t job)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.spec.sides[HG_INNER].expected_rows = 100;
	if (job == JOB_MAKES)
		message.request.new_replica =
			(HgReplicaSpec){.name = {TEST_EPOCH, 2, 0, 0}, .shape = shape};
	if (job == JOB_JOINS || job == JOB_BARE)
		message.request.replica[HG_OUTER] = (HgReplicaUse){
			.name = {TEST_EPOCH, 1, 0, 0}, .shape = shape, .masked = job == JOB_JOINS};
	test_ask(speaker, HG_WIRE_OPEN, job, &message);
	return test_is_answered(speaker, HG_OK);
}

static void
test_nonsense(void)
{
	TestServer server;
	HgWireClient *client;
	HgError error = {0};
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	good = test_named_make(client, test_host_plain(), 1, ROWS, &error) == HG_OK;
	for (size_t i = 0; i < LENGTH(nonsense); i++)
	{
		const Nonsense *said = &nonsense[i];
		TestSpeaker speaker;
		HgWireMessage message;

		test_start_speaker(&server, &speaker);
		memset(&message, 0, sizeof(message));
		if (said->job == JOB_NEW)
			message.request.spec = test_plain_spec;
		else if (said->job != 0)
			good = good && open_by_hand(&speaker, said->job);
		message.request.side = said->side;
		message.request.zero = said->zero;
		message.request.offset = speaker.answer.reply.lease_offset + said->offset;
		message.request.count = said->count;
		message.request.first = said->first;
		message.request.new_replica = said->new_replica;
		memcpy(message.request.replica, said->replica, sizeof(said->replica));
		if (said->type == HG_WIRE_DROP)
		{
			hg_wire_header(&message.header, said->type, said->job, speaker.sequence);
			hg_wire_send(speaker.fd, &message, -1);
		}
		else
			test_ask(&speaker, said->type, said->job, &message);
		hg_tap_ok(good && test_is_cut_off(&speaker) && test_counts_become(&server, 1, 0, 0) &&
					  test_named_is_at_rest(&server, 1),
				  "who says %s is cut off, and leaves nothing", said->what);
		test_end_speaker(&speaker);
	}
	hg_tap_ok(test_named_ask(client, 1, ROWS) == HG_OK, "which is nothing to others");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* A client asks for none of it. */
static void
test_client_refuses(void)
{
	const HgReplicaName names[] = {{TEST_EPOCH, 1, 0, 0}, {TEST_EPOCH, 2, 0, 0}};
	TestServer server;
	HgWireClient *client;
	HgEngine *engine;
	HgError error = {0};
	HgJob *job = NULL;
	HgGraphStats described;
	uint32_t rows[2] = {0};
	uint64_t words[2] = {0};
	HgMatches matches = {.outer = rows, .inner = rows + 1, .capacity = 1};
	uint64_t number;
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	good = test_named_make(client, test_host_plain(), 1, ROWS, &error) == HG_OK &&
		   test_named_open(client, test_host_plain(), &names[1], &shape, &job, &error) == HG_OK;
	hg_tap_ok(good && engine->join->append(job, HG_OUTER, words, 1, &error) == HG_INVALID &&
				  engine->masks->mask(job, HG_OUTER, 0, 0, 1, words, &error) == HG_INVALID &&
				  engine->store->put_edges(job, words, rows, UINT64_MAX, &error) == HG_INVALID &&
				  test_named_put(client, job, 8, 0, ROWS, &error) == HG_OK &&
				  engine->store->put_edges(job, words, rows, 1, &error) == HG_INVALID &&
				  engine->ahead->start(job, HG_AHEAD_COUNT, HG_MATCH_ALL, NULL, &error) ==
					  HG_INVALID &&
				  engine->join->build(job, &error) == HG_OK &&
				  engine->store->put_edges(job, words, rows, 0, &error) == HG_INVALID &&
				  engine->join->match(job, HG_MATCH_ALL, &error) == HG_INVALID &&
				  engine->join->next(job, &matches, &error) == HG_INVALID &&
				  engine->join->count(job, HG_MATCH_ALL, &number, &error) == HG_INVALID &&
				  engine->join->describe(job, HG_INNER, &described, &error) == HG_INVALID &&
				  engine->join->export_graph(job, HG_INNER, rows, rows, rows, &error) == HG_INVALID,
			  "a job that makes a graph is asked for nothing else");
	if (job != NULL)
		engine->join->close(job);
	job = NULL;
	good = test_named_join(client, test_host_plain(), &names[0], &shape, &job, &error) == HG_OK;
	hg_tap_ok(good && engine->join->append(job, HG_OUTER, words, 1, &error) == HG_INVALID &&
				  engine->store->put_edges(job, words, rows, 1, &error) == HG_INVALID &&
				  engine->masks->mask(job, HG_INNER, 0, 0, 1, words, &error) == HG_INVALID &&
				  engine->masks->mask(job, HG_OUTER, 0, 8191, 2, words, &error) == HG_INVALID &&
				  engine->masks->mask(job, HG_OUTER, 0, 2, UINT64_MAX, NULL, &error) ==
					  HG_INVALID &&
				  engine->join->append(job, HG_INNER, words, 1, &error) == HG_OK &&
				  engine->join->append_rows(job, HG_INNER, words, 1, 5, &error) == HG_INVALID &&
				  engine->join->build(job, &error) == HG_OK &&
				  engine->masks->mask(job, HG_OUTER, 0, 0, 1, NULL, &error) == HG_INVALID &&
				  engine->join->count(job, HG_MATCH_ALL, &number, &error) == HG_OK && number == 1,
			  "and one that has a graph for what it can be asked for");
	if (job != NULL)
		engine->join->close(job);
	/* more requests than a socket holds */
	job = NULL;
	good = test_named_join(client, test_host_plain(), &names[0], &shape, &job, &error) == HG_OK;
	for (uint64_t word = 0; word < 8192 && good; word++)
		good = engine->masks->mask(job, HG_OUTER, 0, word, 1, NULL, &error) == HG_OK;
	good = good && engine->join->append(job, HG_INNER, words, 1, &error) == HG_OK &&
		   engine->join->build(job, &error) == HG_OK &&
		   engine->join->count(job, HG_MATCH_ALL, &number, &error) == HG_OK && number == 0;
	hg_tap_ok(good, "a mask is given word by word");
	if (job != NULL)
		engine->join->close(job);
	hg_tap_ok(hg_wire_client_state(client, NULL) == HG_WIRE_READY &&
				  test_named_is_at_rest(&server, 2),
			  "nothing else is left");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Ends
 * ------------------------------------------------------------------------ */

/* How far a job comes, and what becomes of it then. */
typedef enum Stage
{
	STAGE_OPEN,
	STAGE_GIVEN,
	STAGE_BUILT,
	STAGE_MATCHING,
	STAGES
} Stage;

typedef enum End
{
	END_CLOSE,
	END_LOST, /* with its connection */
	ENDS
} End;

static const char *const stage_names[STAGES] = {"open", "given something", "built", "matching"};
static const char *const end_names[ENDS] = {"is closed", "loses its connection"};

/* Bring a job that makes a graph to a stage. */
static bool
make_until(HgWireClient *client, Stage stage, HgJob **job)
{
	const HgReplicaName name = {TEST_EPOCH, 1, 0, 0};
	HgError error = {0};

	return test_named_open(client, test_host_plain(), &name, &shape, job, &error) == HG_OK &&
		   (stage < STAGE_GIVEN || test_named_put(client, *job, 8, 0, ROWS / 2, &error) == HG_OK) &&
		   (stage < STAGE_BUILT ||
			(test_named_put(client, *job, 8, ROWS / 2, ROWS / 2, &error) == HG_OK &&
			 hg_wire_client_engine(client)->join->build(*job, &error) == HG_OK));
}

/* The same with one that joins it. */
static bool
join_until(HgWireClient *client, Stage stage, HgJob **job)
{
	static const uint64_t words[100] = {3};
	const HgReplicaName name = {TEST_EPOCH, 1, 0, 0};
	HgEngine *engine = hg_wire_client_engine(client);
	uint64_t keys[100];
	uint32_t rows[2][10];
	HgMatches matches = {.outer = rows[0], .inner = rows[1], .capacity = 10};
	HgError error = {0};

	for (int i = 0; i < 100; i++)
		keys[i] = i;
	if (test_named_join(client, test_host_plain(), &name, &shape, job, &error) != HG_OK)
		return false;
	if (stage >= STAGE_GIVEN &&
		(engine->join->append(*job, HG_INNER, keys, 100, &error) != HG_OK ||
		 engine->masks->mask(*job, HG_OUTER, 0, 100, 100, words, &error) != HG_OK ||
		 engine->masks->mask(*job, HG_OUTER, 0, 300, 100, NULL, &error) != HG_OK))
		return false;
	if (stage >= STAGE_BUILT && engine->join->build(*job, &error) != HG_OK)
		return false;
	return stage < STAGE_MATCHING ||
		   (engine->join->match(*job, HG_MATCH_ALL, &error) == HG_OK &&
			engine->join->next(*job, &matches, &error) == HG_OK && matches.count == 10);
}

static void
test_ends(void)
{
	TestServer server;
	HgWireClient *holder;
	bool good = true;

	test_start_server(&server, NULL);
	holder = test_start_client(&server);
	for (int stage = STAGE_OPEN; stage < STAGES; stage++)
		for (int end = 0; end < ENDS; end++)
			for (int joins = 0; joins < 2; joins++)
			{
				HgWireClient *client = test_start_client(&server);
				HgJob *job = NULL;

				if (!joins && stage > STAGE_BUILT)
				{
					hg_wire_client_destroy(client);
					continue;
				}
				if (joins)
					good = test_named_make(holder, test_host_plain(), 1, ROWS, NULL) == HG_OK &&
						   join_until(client, (Stage) stage, &job);
				else
					good = make_until(client, (Stage) stage, &job);
				if (end == END_CLOSE && job != NULL)
					hg_wire_client_engine(client)->join->close(job);
				hg_wire_client_destroy(client);
				if (end == END_LOST && job != NULL)
					hg_wire_client_engine(holder)->join->close(job);
				good = good && test_counts_become(&server, 1, 0, 0) &&
					   test_named_is_at_rest(&server, joins || stage == STAGE_BUILT);
				test_named_drop(holder, 1);
				good = good && test_named_graphs_become(&server, 0) &&
					   test_named_is_at_rest(&server, 0);
				hg_tap_ok(good, "nothing is left of a job that %s a graph, is %s, and %s",
						  joins ? "has" : "makes", stage_names[stage], end_names[end]);
			}
	hg_wire_client_destroy(holder);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* A client that is cancelled: while it puts edges, and while they are built. */
static void
test_cancels(void)
{
	const HgReplicaName name = {TEST_EPOCH, 1, 0, 0};
	TestServer server;
	HgWireClient *client;
	HgEngine *engine;
	bool good = true;

	test_start_server_env(&server, "HG_STANDIN_BUILD_MS", "5000");
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	for (int building = 0; building < 2; building++)
	{
		TestTimeoutHost impatient;
		HgError error = {0};
		HgJob *job = NULL;
		HgStatus status;

		test_timeout_init(&impatient, 1000);
		status = test_named_open(client, &impatient.host, &name, &shape, &job, &error);
		/* from now on */
		impatient.deadline = building ? test_now_ms() + 1000 : 0;
		if (status == HG_OK)
			status = test_named_put(client, job, 8, 0, ROWS, &error);
		if (status == HG_OK && building)
			impatient.deadline = test_now_ms() + 20;
		if (status == HG_OK)
			status = engine->join->build(job, &error);
		if (job != NULL)
			engine->join->close(job);
		good = good && status == HG_CANCELLED && test_named_is_at_rest(&server, 0) &&
			   test_named_ask(client, 1, ROWS) == HG_NO_REPLICA;
		hg_tap_ok(good, "nothing is kept of what was cancelled while %s",
				  building ? "it was built" : "its edges were put");
	}
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* A client that dies: in the middle of a graph, and while it waits with one that it has by name. */
static void
test_deaths(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	TestServer server;
	TestSpeaker busy;
	HgWireClient *holder;
	HgError error = {0};
	bool good;

	test_start_server(&server, options);
	holder = test_start_client(&server);
	good = test_named_make(holder, test_host_plain(), 1, ROWS, &error) == HG_OK;
	test_start_speaker(&server, &busy);
	test_ask_open(&busy, 1, FULL_ROWS / 2, 0);
	good = good && test_is_answered(&busy, HG_OK);
	for (int waits = 0; waits < 2; waits++)
	{
		pid_t victim = fork();

		if (victim < 0)
			abort();
		if (victim == 0)
		{
			HgWireClient *client = test_start_client(&server);
			const HgReplicaUse use = {.name = {TEST_EPOCH, 1, 0, 0}, .shape = shape};
			const HgJobSpec spec = {.key_width = 8,
									.device = -1,
									.sides = {{.kind = HG_SOURCE_REPLICA, .replica = {.use = &use}},
											  {.expected_rows = FULL_ROWS / 2}}};
			HgJob *job;

			if (waits)
				hg_wire_client_engine(client)->open(hg_wire_client_engine(client),
													test_host_plain(), &spec, &job, NULL);
			else if (make_until(client, STAGE_GIVEN, &job))
				pause();
			_exit(1);
		}
		good = good && test_counts_become(&server, 3, waits ? 1 : 2, waits ? 1 : 0);
		kill(victim, SIGKILL);
		waitpid(victim, NULL, 0);
		good = good && test_counts_become(&server, 2, 1, 0);
		hg_tap_ok(good && test_status_of(&server).replica_graphs == 1,
				  "a client dies while it %s, and leaves nothing",
				  waits ? "waits" : "makes a graph");
	}
	test_end_speaker(&busy);
	test_named_drop(holder, 1);
	hg_tap_ok(test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0),
			  "nothing is left");
	hg_wire_client_destroy(holder);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* The process says that it has no graph any more, or ends with those that it has. */
static void
test_forgets(void)
{
	static const char *const options[] = {"--idle-timeout", "1", NULL};
	TestServer server;
	HgWireClient *client;
	TestData data;
	HgError error = {0};

	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 1000, 1000);
	test_start_server_env(&server, "HG_STANDIN_FORGETS", "1");
	client = test_start_client(&server);
	hg_tap_ok(test_named_make(client, test_host_plain(), 1, ROWS, &error) == HG_OK &&
				  test_named_ask(client, 1, ROWS) == HG_NO_REPLICA &&
				  test_named_is_at_rest(&server, 1),
			  "an engine has forgotten a graph");
	hg_tap_ok(test_stream_works(hg_wire_client_engine(client), &data), "which ends no connection");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");

	test_start_server(&server, options);
	client = test_start_client(&server);
	hg_tap_ok(test_named_make(client, test_host_plain(), 1, ROWS, &error) == HG_OK &&
				  test_server_ends(&server, 0),
			  "a process without jobs ends in time, whatever it keeps");
	hg_wire_client_destroy(client);
	test_data_destroy(&data);
}

int
main(int argc, char **argv)
{
	const bool standin = test_choose_device(argc, argv);

	test_joins();
	test_names();
	test_replica_partitions();
	test_drop_in_use();
	test_both_make();
	test_lease();
	test_nonsense();
	test_client_refuses();
	test_ends();
	if (!standin)
	{
		hg_tap_skip("the stand-in alone has switches for them", "failures");
		return hg_tap_done();
	}
	test_cancels();
	test_deaths();
	test_forgets();
	return hg_tap_done();
}
