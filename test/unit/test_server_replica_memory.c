/*-------------------------------------------------------------------------
 *
 * test_server_replica_memory.c
 *	  The memory of replicas in a device process, and for whom they are evicted.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this program.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* setenv */

#include "hg_host_replica.h"
#include "hg_tap.h"
#include "test_named.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Rows of most graphs here. */
#define ROWS 100000

static const HgReplicaShape shape = {8, 1, ROWS};

/* What a graph of ROWS holds, and the memory that a job which makes one is admitted with. */
static void
measure_graph(uint64_t *graph, uint64_t *job)
{
	TestServer server;
	HgWireClient *client;
	HgJob *making = NULL;
	const HgReplicaName name = {TEST_EPOCH, 1, 0, 0};

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	if (test_named_make(client, test_host_plain(), 1, ROWS, NULL) != HG_OK ||
		test_named_open(client, test_host_plain(), &name, &shape, &making, NULL) != HG_OK)
		abort();
	*graph = test_status_of(&server).replica_bytes;
	*job = test_status_of(&server).memory_reserved;
	hg_wire_client_engine(client)->join->close(making);
	hg_wire_client_destroy(client);
	test_stop_server(&server);
}

/* Graphs go where others want the memory that is for them. */
static void
test_limit(uint64_t graph_bytes)
{
	const HgReplicaName name = {TEST_EPOCH, 2, 0, 0};
	const HgReplicaName huge = {TEST_EPOCH, 9, 0, 0};
	const HgReplicaShape large = {8, 1, 3 * ROWS};
	char limit[32];
	const char *const options[] = {"--kept-bytes", limit, NULL};
	TestServer server;
	HgWireClient *client;
	HgWireClient *user;
	HgError error = {0};
	HgJob *jobs[2] = {NULL, NULL};
	bool good = true;

	snprintf(limit, sizeof(limit), "%llu", (unsigned long long) (graph_bytes * 5 / 2));
	test_start_server(&server, options);
	client = test_start_client(&server);
	user = test_start_client(&server);
	for (uint64_t serial = 1; serial <= 2; serial++)
		good = good && test_named_make(client, test_host_plain(), serial, ROWS, &error) == HG_OK;
	hg_tap_ok(good && test_status_of(&server).replica_limit == graph_bytes * 5 / 2 &&
				  test_status_of(&server).replica_bytes == 2 * graph_bytes,
			  "two graphs have room");
	hg_tap_ok(
		test_named_ask(client, 1, ROWS) == HG_OK &&
			test_named_make(client, test_host_plain(), 3, ROWS, &error) == HG_OK &&
			test_named_ask(client, 2, ROWS) == HG_NO_REPLICA &&
			test_named_ask(client, 1, ROWS) == HG_OK && test_named_ask(client, 3, ROWS) == HG_OK &&
			test_status_of(&server).replicas_evicted == 1 && test_named_is_at_rest(&server, 2),
		"the one goes for a third that was used least lately");
	hg_tap_ok(test_named_open(client, test_host_plain(), &huge, &large, &jobs[0], &error) ==
					  HG_DEVICE_OUT_OF_MEMORY &&
				  test_named_is_at_rest(&server, 2),
			  "one that is larger than all that there is for them is refused, and none goes");

	/* both are in use */
	for (int i = 0; i < 2; i++)
	{
		const HgReplicaName used = {TEST_EPOCH, i == 0 ? 1 : 3, 0, 0};

		good = good &&
			   test_named_join(user, test_host_plain(), &used, &shape, &jobs[i], &error) == HG_OK;
	}
	hg_tap_ok(good && test_named_make(client, test_host_plain(), 2, ROWS, &error) ==
						  HG_DEVICE_OUT_OF_MEMORY,
			  "one is refused where all others are in use");
	hg_wire_client_engine(user)->join->close(jobs[0]);
	hg_tap_ok(test_counts_jobs(&server, 1) &&
				  test_named_make(client, test_host_plain(), 2, ROWS, &error) == HG_OK &&
				  test_named_ask(client, 1, ROWS) == HG_NO_REPLICA &&
				  test_named_ask(client, 2, ROWS) == HG_OK,
			  "and takes the place of one that is not");
	hg_wire_client_engine(user)->join->close(jobs[1]);
	hg_tap_ok(test_named_is_at_rest(&server, 2), "nothing else is left");
	jobs[0] = NULL;
	hg_tap_ok(test_named_join(user, test_host_plain(), &name, &shape, &jobs[0], &error) == HG_OK,
			  "one is in use when its user's connection ends");
	hg_wire_client_destroy(user);
	hg_wire_client_engine(client)->join->close(jobs[0]);
	hg_tap_ok(test_counts_jobs(&server, 0) &&
				  test_named_make(client, test_host_plain(), 4, ROWS, &error) == HG_OK &&
				  test_named_make(client, test_host_plain(), 5, ROWS, &error) == HG_OK &&
				  test_named_ask(client, 2, ROWS) == HG_NO_REPLICA &&
				  test_named_is_at_rest(&server, 2),
			  "after which it can go");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* One that is given again, and is there, is the one that was used last. */
static void
test_sent_again(uint64_t graph_bytes)
{
	char limit[32];
	const char *const options[] = {"--kept-bytes", limit, NULL};
	TestServer server;
	HgWireClient *client;
	HgError error = {0};
	bool good = true;

	snprintf(limit, sizeof(limit), "%llu", (unsigned long long) (graph_bytes * 5 / 2));
	test_start_server(&server, options);
	client = test_start_client(&server);
	for (int i = 0; i < 4; i++)
		good = good && test_named_make(client, test_host_plain(), (uint64_t[]){1, 2, 1, 3}[i], ROWS,
									   &error) == HG_OK;
	hg_tap_ok(good && test_named_ask(client, 2, ROWS) == HG_NO_REPLICA &&
				  test_named_ask(client, 1, ROWS) == HG_OK &&
				  test_named_ask(client, 3, ROWS) == HG_OK && test_named_is_at_rest(&server, 2),
			  "one that is given again does not go before another");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* There may be none at all, whoever still sends them. */
static void
test_no_limit_left(void)
{
	static const char *const options[] = {"--kept-bytes", "-1", NULL};
	TestServer server;
	HgWireClient *client;
	HgError error = {0};

	test_start_server(&server, options);
	client = test_start_client(&server);
	hg_tap_ok(test_named_make(client, test_host_plain(), 1, ROWS, &error) ==
					  HG_DEVICE_OUT_OF_MEMORY &&
				  test_named_ask(client, 1, ROWS) == HG_NO_REPLICA &&
				  test_status_of(&server).replica_limit == 0 && test_named_is_at_rest(&server, 0),
			  "none is kept where none is to be");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Jobs come first. */
static void
test_room_for_jobs(uint64_t graph_bytes)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	const HgReplicaName names[] = {
		{TEST_EPOCH, 1, 0, 0}, {TEST_EPOCH, 2, 0, 0}, {TEST_EPOCH, 3, 0, 0}};
	const uint64_t graph_rows = graph_bytes / 32;
	TestServer server;
	TestSpeaker first;
	TestSpeaker second;
	TestSpeaker third;
	HgWireClient *client;
	HgWireMessage message;
	HgError error = {0};
	HgJob *job = NULL;
	bool good = true;

	setenv("HG_STANDIN_RELEASE_MS", "100", 1);
	test_start_server(&server, options);
	unsetenv("HG_STANDIN_RELEASE_MS");
	client = test_start_client(&server);
	test_start_speaker(&server, &first);
	test_start_speaker(&server, &second);
	for (uint64_t serial = 1; serial <= 3; serial++)
		good = good && test_named_make(client, test_host_plain(), serial, ROWS, &error) == HG_OK;
	hg_tap_ok(good && test_named_is_at_rest(&server, 3), "three graphs are kept");

	test_ask_open(&first, 1, FULL_ROWS - 5 * graph_rows / 2, 0);
	hg_tap_ok(test_is_answered(&first, HG_OK) && test_status_of(&server).replica_graphs == 2 &&
				  test_status_of(&server).replicas_evicted == 1 &&
				  test_named_ask(client, 1, ROWS) == HG_NO_REPLICA,
			  "as many go for a job as it takes, the one first that was used least lately");
	hg_tap_ok(test_status_of(&server).memory_reserved + 2 * graph_bytes <=
				  test_status_of(&server).memory_budget,
			  "nothing is promised twice");

	test_send_note(&first, HG_WIRE_CLOSE, 1);
	test_counts_jobs(&server, 0);

	/* one that is in use is waited for, and none goes in vain */
	good = test_named_join(client, test_host_plain(), &names[1], &shape, &job, &error) == HG_OK;
	test_ask_open(&first, 2, FULL_ROWS - graph_rows / 2, 0);
	hg_tap_ok(good && test_counts_become(&server, 3, 1, 1) && test_is_waiting(&first) &&
				  test_status_of(&server).replica_graphs == 2,
			  "a job waits for a graph that is in use, and none goes in vain");
	hg_wire_client_engine(client)->join->close(job);
	hg_tap_ok(test_is_answered(&first, HG_OK) && test_status_of(&server).replica_graphs == 0,
			  "it has all of their memory when that has ended");
	hg_tap_ok(test_named_ask(client, 2, ROWS) == HG_NO_REPLICA, "who asks then is told so");
	test_send_note(&first, HG_WIRE_CLOSE, 2);
	test_counts_jobs(&server, 0);

	/* two of one group, which may not wait for each other; and the graph is all that is there */
	good = test_named_make(client, test_host_plain(), 1, ROWS, &error) == HG_OK &&
		   test_counts_jobs(&server, 0);
	test_ask_open(&first, 3, FULL_ROWS / 4, 7);
	good = good && test_is_answered(&first, HG_OK);
	test_ask_open(&second, 1, FULL_ROWS / 4 * 3 - graph_rows / 2, 7);
	hg_tap_ok(good && test_is_answered(&second, HG_OK) &&
				  test_status_of(&server).replica_graphs == 0,
			  "a job that may not wait has room made at once");
	test_send_note(&first, HG_WIRE_CLOSE, 3);
	test_send_note(&second, HG_WIRE_CLOSE, 1);
	test_counts_jobs(&server, 0);

	/* the same where the first of them has had to wait itself */
	good = test_named_make(client, test_host_plain(), 1, ROWS, &error) == HG_OK;
	test_start_speaker(&server, &third);
	test_ask_open(&third, 1, FULL_ROWS / 4 * 3, 0);
	good = good && test_is_answered(&third, HG_OK);
	test_ask_open(&first, 5, FULL_ROWS / 2, 8);
	good = good && test_counts_become(&server, 4, 1, 1);
	test_ask_open(&second, 3, FULL_ROWS / 2 - graph_rows / 2, 8);
	good = good && test_counts_become(&server, 4, 1, 2);
	test_send_note(&third, HG_WIRE_CLOSE, 1);
	hg_tap_ok(good && test_is_answered(&first, HG_OK) && test_is_answered(&second, HG_OK) &&
				  test_status_of(&server).replica_graphs == 0,
			  "or when its turn has come before it");
	test_send_note(&first, HG_WIRE_CLOSE, 5);
	test_send_note(&second, HG_WIRE_CLOSE, 3);
	test_counts_jobs(&server, 0);

	/* who waits for its turn learns there that its graph has gone */
	good = test_named_make(client, test_host_plain(), 1, ROWS, &error) == HG_OK;
	test_ask_open(&first, 4, FULL_ROWS / 2, 0);
	good = good && test_is_answered(&first, HG_OK);
	test_ask_open(&second, 2, FULL_ROWS - graph_rows / 2, 0);
	good = good && test_counts_become(&server, 4, 1, 1);
	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.spec.sides[HG_INNER].expected_rows = 100;
	message.request.replica[HG_OUTER] = (HgReplicaUse){.name = names[0], .shape = shape};
	test_ask(&third, HG_WIRE_OPEN, 2, &message);
	good = good && test_counts_become(&server, 4, 1, 2) && test_is_waiting(&third);
	test_send_note(&first, HG_WIRE_CLOSE, 4);
	good = good && test_is_answered(&second, HG_OK);
	test_send_note(&second, HG_WIRE_CLOSE, 2);
	hg_tap_ok(good && test_is_answered(&third, HG_NO_REPLICA),
			  "a graph may go while a job waits that names it");
	test_end_speaker(&third);
	test_end_speaker(&first);
	test_end_speaker(&second);
	hg_wire_client_destroy(client);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_named_is_at_rest(&server, 0),
			  "nothing is left");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* What a job has by name does not make room for it, and what grows has some made. */
static void
test_own_graphs(uint64_t graph_bytes)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	const uint64_t graph_rows = graph_bytes / 32;
	const uint64_t budget = FULL_ROWS * UINT64_C(32);
	TestServer server;
	TestSpeaker speaker;
	HgWireClient *client;
	HgWireMessage message;
	HgReplicaUse use = {.name = {TEST_EPOCH, 1, 0, 0}, .shape = shape};
	HgJobSpec spec = test_plain_spec;
	HgError error = {0};
	bool good;

	test_start_server(&server, options);
	client = test_start_client(&server);
	test_start_speaker(&server, &speaker);
	good = test_named_make(client, test_host_plain(), 1, ROWS, &error) == HG_OK;
	/* it would fit without the graph */
	spec.sides[HG_OUTER].kind = HG_SOURCE_REPLICA;
	spec.sides[HG_OUTER].replica.use = &use;
	while (hg_host_replica_bytes(&spec) <= budget - graph_bytes)
		spec.sides[HG_INNER].expected_rows += 1000;
	good = good && hg_host_replica_bytes(&spec) <= budget;
	memset(&message, 0, sizeof(message));
	message.request.spec = spec;
	message.request.replica[HG_OUTER] = use;
	test_ask(&speaker, HG_WIRE_OPEN, 1, &message);
	hg_tap_ok(good && test_is_answered(&speaker, HG_DEVICE_OUT_OF_MEMORY) &&
				  test_named_is_at_rest(&server, 1),
			  "a job that has no room beside its own graph is refused");

	/* it was admitted with what the graph has left, and now there are more rows */
	test_ask_open(&speaker, 2, FULL_ROWS - graph_rows - 1000, 0);
	good = test_is_answered(&speaker, HG_OK) && test_status_of(&server).replica_graphs == 1;
	memset(&message, 0, sizeof(message));
	message.request.offset = speaker.answer.reply.lease_offset;
	message.request.count = 5000;
	for (uint64_t rows = 0; good && rows < FULL_ROWS / 2; rows += message.request.count)
	{
		test_ask(&speaker, HG_WIRE_APPEND, 2, &message);
		good = test_is_answered(&speaker, HG_OK);
	}
	hg_tap_ok(good && test_status_of(&server).replica_graphs == 0 &&
				  test_status_of(&server).replicas_evicted == 1,
			  "a job that has more rows than were expected has room made, too");
	test_end_speaker(&speaker);
	hg_wire_client_destroy(client);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_named_is_at_rest(&server, 0),
			  "nothing is left");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* What a job has made is not reserved for it any more, though it is still open. */
static void
test_not_twice(uint64_t graph_bytes, uint64_t job_bytes)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	const HgReplicaName name = {TEST_EPOCH, 1, 0, 0};
	TestServer server;
	TestSpeaker speaker;
	HgWireClient *client;
	HgDeviceStatus status;
	HgError error = {0};
	HgJob *job = NULL;
	bool good;

	test_start_server(&server, options);
	client = test_start_client(&server);
	test_start_speaker(&server, &speaker);
	good = test_named_open(client, test_host_plain(), &name, &shape, &job, &error) == HG_OK &&
		   test_named_put(client, job, 8, 0, ROWS, &error) == HG_OK &&
		   test_status_of(&server).memory_reserved == job_bytes &&
		   test_status_of(&server).replica_bytes == 0 &&
		   hg_wire_client_engine(client)->join->build(job, &error) == HG_OK;
	status = test_status_of(&server);
	hg_tap_ok(good && status.memory_reserved == job_bytes - graph_bytes &&
				  status.replica_bytes == graph_bytes && status.staging_leased == 0,
			  "a graph that is kept is not reserved for its job any more");
	test_ask_open(&speaker, 1, (FULL_ROWS * UINT64_C(32) - job_bytes) / 32, 0);
	hg_tap_ok(test_is_answered(&speaker, HG_OK) && test_status_of(&server).replica_graphs == 1,
			  "and others have the rest");
	hg_wire_client_engine(client)->join->close(job);
	test_end_speaker(&speaker);
	hg_tap_ok(test_counts_become(&server, 1, 0, 0) && test_named_is_at_rest(&server, 1),
			  "it stays when the job is closed");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* A job is evicted that is idle, and the graph with it that it alone has. */
static void
test_idle_user(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	const HgReplicaName name = {TEST_EPOCH, 1, 0, 0};
	TestServer server;
	TestSpeaker waiting;
	HgWireClient *client;
	HgEngine *engine;
	HgError error = {0};
	HgJob *job = NULL;
	uint64_t count;
	bool good;

	setenv("HG_STANDIN_EVICT_MS", "100", 1);
	test_start_server(&server, options);
	unsetenv("HG_STANDIN_EVICT_MS");
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	test_start_speaker(&server, &waiting);
	good = test_named_make(client, test_host_plain(), 1, ROWS, &error) == HG_OK &&
		   test_named_join(client, test_host_plain(), &name, &shape, &job, &error) == HG_OK &&
		   engine->join->build(job, &error) == HG_OK;
	test_ask_open(&waiting, 1, FULL_ROWS, 0);
	hg_tap_ok(good && test_is_answered(&waiting, HG_OK) &&
				  test_status_of(&server).jobs_evicted == 1 &&
				  test_status_of(&server).replica_graphs == 0,
			  "a graph goes that an idle job had");
	hg_tap_ok(engine->join->count(job, HG_MATCH_ALL, &count, &error) == HG_EVICTED,
			  "which is told so");
	engine->join->close(job);
	test_end_speaker(&waiting);
	hg_tap_ok(test_named_ask(client, 1, ROWS) == HG_NO_REPLICA && test_named_is_at_rest(&server, 0),
			  "nothing is left");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Crowds
 * ------------------------------------------------------------------------ */

/* Names that a crowd makes and drops, and rows of each of their graphs. */
#define CROWD_NAMES 5
#define CROWD_ROWS(serial) (UINT64_C(20000) + 5000 * (serial))

/* Columns of each, and their places. */
#define CROWD_COLUMNS 2
#define CROWD_STRIDE(serial) ((uint32_t) CROWD_ROWS(serial) + 7)

/* What comes of a graph that others may have dropped, or of memory that they have. */
static bool
is_usual(HgStatus status)
{
	return status == HG_OK || status == HG_NO_REPLICA || status == HG_DEVICE_OUT_OF_MEMORY ||
		   status == HG_CANCELLED;
}

/* What one of many sessions does; returns its exit status. */
static int
crowd_member(TestServer *server, int number)
{
	HgWireClient *client = test_start_client(server);
	uint64_t state = 1000 + (uint64_t) number;
	TestData data;
	bool good = true;

	test_data_create(&data, TEST_KEYS_UNIQUE, 8, 20000, 20000);
	for (int round = 0; good && round < 40; round++)
	{
		const uint64_t serial = 1 + test_replica_random(&state, CROWD_NAMES);
		const uint32_t column = 1 + (uint32_t) test_replica_random(&state, CROWD_COLUMNS);
		TestTimeoutHost impatient;
		HgError error = {0};
		HgStatus status = HG_OK;
		HgJob *job;

		switch (test_replica_random(&state, 10))
		{
			case 0:
				status =
					test_named_make(client, test_host_plain(), serial, CROWD_ROWS(serial), &error);
				break;
			case 1:
				test_timeout_init(&impatient, 1 + (double) test_replica_random(&state, 5));
				status =
					test_named_make(client, &impatient.host, serial, CROWD_ROWS(serial), &error);
				break;
			case 2:
				test_named_drop(client, serial);
				break;
			case 3:
				job =
					test_build_job(hg_wire_client_engine(client), test_host_plain(), &data, &error);
				status = job != NULL ? HG_OK : error.status;
				if (job != NULL)
					hg_wire_client_engine(client)->join->close(job);
				break;
			case 4:
				status = test_named_make_column(client, test_host_plain(), serial, column,
												CROWD_STRIDE(serial), &error);
				break;
			case 5:
				test_timeout_init(&impatient, 1 + (double) test_replica_random(&state, 5));
				status = test_named_make_column(client, &impatient.host, serial, column,
												CROWD_STRIDE(serial), &error);
				break;
			case 6:
				test_named_drop_column(client, serial, column);
				break;
			case 7:
				status = test_named_ask_columns(client, serial, CROWD_ROWS(serial), column,
												CROWD_STRIDE(serial));
				break;
			default:
				status = test_named_ask(client, serial, CROWD_ROWS(serial));
		}
		good = is_usual(status);
		if (!good)
			hg_tap_diag("status %d: %s", (int) status, error.message);
	}
	/* some leave in a hurry */
	if (number % 2 == 0)
		hg_wire_client_destroy(client);
	return good ? 0 : 1;
}

static void
test_crowd(void)
{
	/* two graphs or so, or a join and none */
	static const char *const options[] = {"--memory-budget", "2500000", "--staging-bytes", "262144",
										  NULL};
	enum
	{
		MEMBERS = 6
	};
	TestServer server;
	pid_t members[MEMBERS];
	HgWireClient *client;
	bool good = true;

	test_start_server(&server, options);
	for (int i = 0; i < MEMBERS; i++)
	{
		members[i] = fork();
		if (members[i] < 0)
			abort();
		if (members[i] == 0)
			_exit(crowd_member(&server, i));
	}
	for (int i = 0; i < MEMBERS; i++)
	{
		int status;

		good = waitpid(members[i], &status, 0) == members[i] && WIFEXITED(status) &&
			   WEXITSTATUS(status) == 0 && good;
	}
	hg_tap_ok(good, "sessions make, join and drop the same graphs and columns");
	hg_tap_diag("%llu of them went for others, or for jobs",
				(unsigned long long) test_status_of(&server).replicas_evicted);
	client = test_start_client(&server);
	hg_tap_ok(test_counts_become(&server, 1, 0, 0) &&
				  test_named_is_at_rest(&server, test_status_of(&server).replica_graphs),
			  "nothing is left but some of these");
	for (uint64_t serial = 1; serial <= CROWD_NAMES; serial++)
		for (uint32_t column = 0; column <= CROWD_COLUMNS; column++)
			test_named_drop_column(client, serial, column);
	hg_tap_ok(test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0),
			  "and none of them when they were dropped");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

int
main(int argc, char **argv)
{
	uint64_t graph_bytes;
	uint64_t job_bytes;

	if (!test_choose_device(argc, argv))
	{
		hg_tap_skip("the stand-in alone has a certain amount of it", "memory of graph replicas");
		return hg_tap_done();
	}
	measure_graph(&graph_bytes, &job_bytes);
	hg_tap_diag("a graph holds %llu bytes, and takes %llu to be made",
				(unsigned long long) graph_bytes, (unsigned long long) job_bytes);
	test_limit(graph_bytes);
	test_sent_again(graph_bytes);
	test_no_limit_left();
	test_not_twice(graph_bytes, job_bytes);
	test_room_for_jobs(graph_bytes);
	test_own_graphs(graph_bytes);
	test_idle_user();
	test_crowd();
	return hg_tap_done();
}
