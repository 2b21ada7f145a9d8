/*-------------------------------------------------------------------------
 *
 * test_server_replica_columns_memory.c
 *	  The memory of column replicas in a device process, beside graphs, and for whom they are
 *	  evicted.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this program.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* setenv */

#include "hg_tap.h"
#include "test_named.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Rows of graphs, and places of columns. */
#define ROWS 20000
#define STRIDE 20001

static const HgReplicaColumnShape column_shape = {4, 1, STRIDE, 0};

static bool
make_all(HgWireClient *client, uint64_t serial, uint32_t ncolumns)
{
	return test_named_make_all(client, serial, ROWS, ncolumns, STRIDE) == HG_OK;
}

static HgStatus
ask(HgWireClient *client, uint64_t serial, uint32_t ncolumns)
{
	return test_named_ask_columns(client, serial, ROWS, ncolumns, STRIDE);
}

/* What a graph of ROWS holds, and a column. */
static void
measure_both(uint64_t *graph, uint64_t *column)
{
	TestServer server;
	HgWireClient *client;
	HgError error = {0};

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	if (test_named_make(client, test_host_plain(), 1, ROWS, &error) != HG_OK)
		abort();
	*graph = test_status_of(&server).replica_bytes;
	if (test_named_make_column(client, test_host_plain(), 1, 1, STRIDE, &error) != HG_OK)
		abort();
	*column = test_status_of(&server).replica_bytes - *graph;
	hg_wire_client_destroy(client);
	test_stop_server(&server);
}

/* Graphs and columns go in the order in which they were used, and none that is in use. */
static void
test_limit(uint64_t graph_bytes, uint64_t column_bytes)
{
	const HgReplicaName huge = {TEST_EPOCH, 9, 1, 0};
	const HgReplicaName fourth = {TEST_EPOCH, 1, 4, 0};
	char limit[32];
	const char *const options[] = {"--kept-bytes", limit, NULL};
	TestServer server;
	HgWireClient *client;
	HgWireClient *user;
	HgReplicaColumnShape large = column_shape;
	HgError error = {0};
	HgJob *job = NULL;
	bool good;

	/* a graph and three columns */
	snprintf(limit, sizeof(limit), "%llu",
			 (unsigned long long) (graph_bytes + column_bytes * 7 / 2));
	test_start_server(&server, options);
	client = test_start_client(&server);
	user = test_start_client(&server);
	good = make_all(client, 1, 3) && test_status_of(&server).replicas_evicted == 0;
	hg_tap_ok(good && ask(client, 1, 3) == HG_OK && test_named_is_at_rest(&server, 4),
			  "a graph and three columns have room");
	hg_tap_ok(test_named_open_column(client, test_host_plain(), &fourth, &column_shape, &job,
									 &error) == HG_DEVICE_OUT_OF_MEMORY &&
				  test_status_of(&server).replicas_evicted == 0 && ask(client, 1, 3) == HG_OK &&
				  test_named_is_at_rest(&server, 4),
			  "neither a graph nor its columns go for another column of it, which is told before "
			  "it is sent");
	/* with two of them the third one is the one that was used least lately */
	hg_tap_ok(
		ask(client, 1, 2) == HG_OK &&
			test_named_make_column(client, test_host_plain(), 3, 1, STRIDE, &error) == HG_OK &&
			test_status_of(&server).replicas_evicted == 1 && ask(client, 1, 3) == HG_NO_REPLICA &&
			ask(client, 1, 2) == HG_OK && test_named_is_at_rest(&server, 4),
		"the column that was used least lately goes for one of another graph");
	large.stride = (uint32_t) ((graph_bytes + column_bytes * 4) / 4);
	hg_tap_ok(test_named_open_column(client, test_host_plain(), &huge, &large, &job, &error) ==
					  HG_DEVICE_OUT_OF_MEMORY &&
				  test_named_is_at_rest(&server, 4) &&
				  test_status_of(&server).replicas_evicted == 1,
			  "one that is larger than all that there is for them is refused, and none goes");

	/* the graph and the two that are used stay; the other one goes, and then there is none to go */
	good = test_named_read(user, test_host_plain(), 1, ROWS, 2, STRIDE, &job, &error) == HG_OK;
	hg_tap_ok(
		good && test_named_make_column(client, test_host_plain(), 2, 1, STRIDE, &error) == HG_OK &&
			test_status_of(&server).replicas_evicted == 2 && ask(client, 1, 2) == HG_OK,
		"what is in use does not go");
	hg_tap_ok(test_named_make(client, test_host_plain(), 2, ROWS, &error) ==
					  HG_DEVICE_OUT_OF_MEMORY &&
				  ask(client, 1, 2) == HG_OK,
			  "a graph is refused where columns and another one are in use");
	if (job != NULL)
		hg_wire_client_engine(user)->join->close(job);
	hg_tap_ok(test_counts_jobs(&server, 0) &&
				  test_named_make(client, test_host_plain(), 2, ROWS, &error) == HG_OK &&
				  ask(client, 2, 0) == HG_OK && ask(client, 1, 0) == HG_NO_REPLICA,
			  "and has room where they are not");
	hg_wire_client_destroy(user);
	hg_wire_client_destroy(client);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) &&
				  test_named_is_at_rest(&server, test_status_of(&server).replica_graphs),
			  "nothing else is left");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/*
 * Who names a column that is not there, or not in this shape, is told so at once, also where he
 * would wait for memory: the process tells it, and not its engine alone.
 */
static void
test_refused_at_once(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	static const HgReplicaUse graph = {.name = {TEST_EPOCH, 1, 0, 0}, .shape = {8, 1, ROWS}};
	static const HgReplicaColumnUse column = {.name = {TEST_EPOCH, 1, 1, 0},
											  .shape = {4, 1, STRIDE, 0}};
	HgReplicaColumnUse others[3] = {column, column, column};
	TestServer server;
	TestSpeaker busy;
	TestSpeaker speaker;
	HgWireClient *client;
	HgWireMessage message;
	bool good;

	others[0].shape.stride++;
	others[1].shape.width = 8;
	others[2].name.column++;
	test_start_server(&server, options);
	client = test_start_client(&server);
	test_start_speaker(&server, &busy);
	test_start_speaker(&server, &speaker);
	good = make_all(client, 1, 1) && test_counts_jobs(&server, 0);
	test_ask_open(&busy, 1, FULL_ROWS / 2, 0);
	good = good && test_is_answered(&busy, HG_OK) && test_status_of(&server).replica_graphs == 2;
	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.spec.key_width = 8;
	message.request.spec.sides[HG_OUTER].ncolumns = 1;
	message.request.spec.sides[HG_INNER].expected_rows = FULL_ROWS / 2;
	message.request.replica[HG_OUTER] = graph;
	for (uint32_t i = 0; i < LENGTH(others); i++)
	{
		message.request.replica_columns[HG_OUTER][0] = others[i];
		message.request.spec.sides[HG_OUTER].column_width[0] = (uint8_t) others[i].shape.width;
		test_ask(&speaker, HG_WIRE_OPEN, 1 + i, &message);
		good = good && test_is_answered(&speaker, HG_NO_REPLICA);
	}
	hg_tap_ok(good, "who names another column is told so before it is his turn");
	message.request.replica_columns[HG_OUTER][0] = column;
	message.request.spec.sides[HG_OUTER].column_width[0] = (uint8_t) column.shape.width;
	test_ask(&speaker, HG_WIRE_OPEN, 8, &message);
	hg_tap_ok(good && test_counts_become(&server, 3, 1, 1) && test_is_waiting(&speaker),
			  "and who names that one waits");
	test_named_drop_column(client, 1, 1);
	/* what two connections say comes in any order */
	good = good && test_named_graphs_become(&server, 1);
	test_send_note(&busy, HG_WIRE_CLOSE, 1);
	hg_tap_ok(good && test_is_answered(&speaker, HG_NO_REPLICA) &&
				  test_named_is_at_rest(&server, 1),
			  "until his turn has come, and the column has gone");
	test_end_speaker(&busy);
	test_end_speaker(&speaker);
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Columns go for jobs, but for those that name them. */
static void
test_room_for_jobs(uint64_t graph_bytes, uint64_t column_bytes)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	const uint64_t replica = graph_bytes + 2 * column_bytes;
	TestServer server;
	TestSpeaker speaker;
	HgWireClient *client;
	HgError error = {0};
	HgJob *job = NULL;
	bool good;

	setenv("HG_STANDIN_EVICT_MS", "100", 1);
	test_start_server(&server, options);
	unsetenv("HG_STANDIN_EVICT_MS");
	client = test_start_client(&server);
	test_start_speaker(&server, &speaker);
	good =
		make_all(client, 1, 2) && ask(client, 1, 2) == HG_OK && test_named_is_at_rest(&server, 3);
	/* all but one column's memory and a half */
	test_ask_open(&speaker, 1, FULL_ROWS - (replica - column_bytes / 2) / 32, 0);
	hg_tap_ok(good && test_is_answered(&speaker, HG_OK) &&
				  test_status_of(&server).replica_graphs == 2 &&
				  test_status_of(&server).memory_reserved + test_status_of(&server).replica_bytes <=
					  test_status_of(&server).memory_budget,
			  "as many go for a job as it takes, and nothing is promised twice");
	test_send_note(&speaker, HG_WIRE_CLOSE, 1);
	test_counts_jobs(&server, 0);

	/* what an idle job has goes with it, the columns too */
	good = make_all(client, 1, 2) &&
		   test_named_read(client, test_host_plain(), 1, ROWS, 2, STRIDE, &job, &error) == HG_OK &&
		   hg_wire_client_engine(client)->join->build(job, &error) == HG_OK;
	test_ask_open(&speaker, 2, FULL_ROWS, 0);
	hg_tap_ok(good && test_is_answered(&speaker, HG_OK) &&
				  test_status_of(&server).jobs_evicted == 1 &&
				  test_status_of(&server).replica_graphs == 0,
			  "a graph and columns go that an idle job had");
	hg_tap_ok(job != NULL && test_named_reduce(client, job, ROWS, 2, &error) == HG_EVICTED,
			  "which is told so");
	if (job != NULL)
		hg_wire_client_engine(client)->join->close(job);
	test_end_speaker(&speaker);
	hg_wire_client_destroy(client);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_named_is_at_rest(&server, 0),
			  "nothing is left");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

int
main(int argc, char **argv)
{
	uint64_t graph_bytes;
	uint64_t column_bytes;

	if (!test_choose_device(argc, argv))
	{
		hg_tap_skip("the stand-in alone has a certain amount of it", "memory of column replicas");
		return hg_tap_done();
	}
	measure_both(&graph_bytes, &column_bytes);
	hg_tap_diag("a graph holds %llu bytes, a column %llu", (unsigned long long) graph_bytes,
				(unsigned long long) column_bytes);
	test_limit(graph_bytes, column_bytes);
	test_refused_at_once();
	test_room_for_jobs(graph_bytes, column_bytes);
	return hg_tap_done();
}
