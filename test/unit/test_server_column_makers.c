/*-------------------------------------------------------------------------
 *
 * test_server_column_makers.c
 *	  Who makes column replicas of a device process: two of one at once, one that asks for what
 *	  can't be or has made it already, one that dies, and what goes for theirs.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this program.  With
 * the path of a device process as its argument it runs the tests that need neither a slow one nor
 * a certain amount of memory, with that.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* kill */

#include "hg_tap.h"
#include "test_named.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Rows of graphs, and places of columns. */
#define ROWS 20000
#define STRIDE 20001

static const HgReplicaName column_name = {TEST_EPOCH, 1, 1, 0};
static const HgReplicaColumnShape column_shape = {4, 1, STRIDE, 0};

static bool
make_all(HgWireClient *client, uint64_t serial, uint32_t ncolumns)
{
	return test_named_make_all(client, serial, ROWS, ncolumns, STRIDE) == HG_OK;
}

static bool
make_column(HgWireClient *client, uint64_t serial, uint32_t column)
{
	return test_named_make_column(client, test_host_plain(), serial, column, STRIDE, NULL) == HG_OK;
}

static HgStatus
ask(HgWireClient *client, uint64_t serial, uint32_t ncolumns)
{
	return test_named_ask_columns(client, serial, ROWS, ncolumns, STRIDE);
}

/* ------------------------------------------------------------------------
 * What can be asked for
 * ------------------------------------------------------------------------ */

/* Columns that can't be, of names that can: they are refused, and the connection goes on. */
static void
test_impossible(void)
{
	static const struct
	{
		const char *what;
		HgReplicaColumnShape shape;
		HgReplicaUse replica; /* of a side */
		uint64_t participants_id;
	} columns[] = {
		{.what = "of three bytes", .shape = {3, 1, STRIDE, 0}},
		{.what = "of no parts", .shape = {4, 0, STRIDE, 0}},
		{.what = "of more parts than there are", .shape = {4, UINT32_MAX, STRIDE, 0}},
		{.what = "of no places", .shape = {4, 1, 0, 0}},
		{.what = "of a stride beyond a part", .shape = {4, 1, UINT32_MAX, 0}},
		{.what = "of a team", .shape = {4, 1, STRIDE, 0}, .participants_id = 7},
		{.what = "with a graph that is joined",
		 .shape = {4, 1, STRIDE, 0},
		 .replica = {.name = {TEST_EPOCH, 2, 0, 0}, .shape = {8, 1, ROWS}}},
	};
	TestServer server;
	TestSpeaker speaker;
	HgWireClient *client;
	HgWireMessage message;
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	test_start_speaker(&server, &speaker);
	good = make_all(client, 2, 0);
	for (uint32_t i = 0; i < LENGTH(columns); i++)
	{
		memset(&message, 0, sizeof(message));
		message.request.spec = test_plain_spec;
		message.request.spec.participants_id = columns[i].participants_id;
		message.request.replica[HG_OUTER] = columns[i].replica;
		message.request.new_column =
			(HgReplicaColumnSpec){.name = column_name, .shape = columns[i].shape};
		test_ask(&speaker, HG_WIRE_OPEN, 1 + i, &message);
		hg_tap_ok(good && test_is_answered(&speaker, HG_INVALID) &&
					  test_named_is_at_rest(&server, 1),
				  "a column %s is refused", columns[i].what);
	}
	message.request.replica[HG_OUTER] = (HgReplicaUse){0};
	message.request.new_column.shape = column_shape;
	test_ask(&speaker, HG_WIRE_OPEN, 100, &message);
	hg_tap_ok(test_is_answered(&speaker, HG_OK), "who was refused can ask for one that can be");
	test_end_speaker(&speaker);
	hg_tap_ok(test_counts_become(&server, 1, 0, 0) && test_named_is_at_rest(&server, 1),
			  "nothing is left");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* A column that is built takes no more values, and nobody's staging is read for them. */
static void
test_built(void)
{
	TestServer server;
	TestSpeaker speaker;
	HgWireMessage message;
	uint64_t offset;

	test_start_server(&server, NULL);
	test_start_speaker(&server, &speaker);
	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.new_column = (HgReplicaColumnSpec){.name = column_name, .shape = column_shape};
	test_ask(&speaker, HG_WIRE_OPEN, 1, &message);
	hg_tap_ok(test_is_answered(&speaker, HG_OK), "a column is begun");
	offset = speaker.answer.reply.lease_offset;
	memset(&message, 0, sizeof(message));
	message.request.offset = offset;
	message.request.count = 100;
	test_ask(&speaker, HG_WIRE_PUT_VALUES, 1, &message);
	hg_tap_ok(test_is_answered(&speaker, HG_OK), "and given values");
	test_ask_plainly(&speaker, HG_WIRE_BUILD, 1);
	hg_tap_ok(test_is_answered(&speaker, HG_OK) &&
				  speaker.answer.reply.count == test_status_of(&server).replica_bytes &&
				  test_status_of(&server).staging_leased == 0,
			  "it is kept, and its lease is not");
	test_ask(&speaker, HG_WIRE_PUT_VALUES, 1, &message);
	hg_tap_ok(test_is_cut_off(&speaker) && test_counts_become(&server, 0, 0, 0) &&
				  test_named_is_at_rest(&server, 1),
			  "who gives it more then is cut off, and the column stays");
	test_end_speaker(&speaker);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Makers and others
 * ------------------------------------------------------------------------ */

/* Two connections make the same column, piece by piece in turns, and have it built at once. */
static void
test_both_make(void)
{
	TestServer server;
	HgWireClient *clients[2];
	HgJob *jobs[2] = {NULL, NULL};
	HgError error = {0};
	bool good = true;

	test_start_server_env(&server, "HG_STANDIN_BUILD_MS", "50");
	for (int i = 0; i < 2; i++)
	{
		clients[i] = test_start_client(&server);
		good = good && test_named_open_column(clients[i], test_host_plain(), &column_name,
											  &column_shape, &jobs[i], &error) == HG_OK;
	}
	for (uint64_t first = 0; first < STRIDE; first += STRIDE / 3)
		for (int i = 0; i < 2 && good; i++)
			good =
				test_named_put_values(clients[i], jobs[i], 1, first, STRIDE / 3, &error) == HG_OK;
	for (int i = 0; i < 2 && good; i++)
		good = hg_wire_client_engine(clients[i])
				   ->ahead->start(jobs[i], HG_AHEAD_BUILD, HG_MATCH_ALL, NULL, &error) == HG_OK;
	for (int i = 0; i < 2; i++)
	{
		good = good && hg_wire_client_engine(clients[i])->join->build(jobs[i], &error) == HG_OK;
		if (jobs[i] != NULL)
			hg_wire_client_engine(clients[i])->join->close(jobs[i]);
	}
	hg_tap_ok(good && test_named_is_at_rest(&server, 1),
			  "of two that are made at once one is kept");
	hg_tap_ok(make_all(clients[0], 1, 0) && ask(clients[0], 1, 1) == HG_OK &&
				  ask(clients[1], 1, 1) == HG_OK && test_named_is_at_rest(&server, 2),
			  "which both read");
	for (int i = 0; i < 2; i++)
		hg_wire_client_destroy(clients[i]);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* What a client does until it is killed: makes half a column, or waits for memory with one. */
static void
live(TestServer *server, bool waits)
{
	static const HgReplicaUse graph = {.name = {TEST_EPOCH, 1, 0, 0}, .shape = {8, 1, ROWS}};
	static const HgReplicaColumnUse column = {.name = {TEST_EPOCH, 1, 2, 0},
											  .shape = {4, 1, STRIDE, 0}};
	const HgJobSpec spec = {.key_width = 8,
							.device = -1,
							.sides = {{.kind = HG_SOURCE_REPLICA,
									   .ncolumns = 1,
									   .column_width = {4},
									   .replica = {.use = &graph, .columns = &column}},
									  {.expected_rows = FULL_ROWS / 2}}};
	HgWireClient *client = test_start_client(server);
	HgEngine *engine = hg_wire_client_engine(client);
	HgJob *job;

	if (waits)
		engine->open(engine, test_host_plain(), &spec, &job, NULL);
	else if (test_named_open_column(client, test_host_plain(), &column_name, &column_shape, &job,
									NULL) == HG_OK &&
			 test_named_put_values(client, job, 1, 0, STRIDE / 2, NULL) == HG_OK)
		pause();
}

static void
test_deaths(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	TestServer server;
	TestSpeaker busy;
	HgWireClient *holder;
	bool good;

	test_start_server(&server, options);
	holder = test_start_client(&server);
	good = make_all(holder, 1, 0) && make_column(holder, 1, 2) && test_counts_jobs(&server, 0);
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
			live(&server, waits);
			_exit(1);
		}
		good = good && test_counts_become(&server, 3, waits ? 1 : 2, waits ? 1 : 0);
		kill(victim, SIGKILL);
		waitpid(victim, NULL, 0);
		hg_tap_ok(good && test_counts_become(&server, 2, 1, 0) &&
					  test_status_of(&server).replica_graphs == 2 &&
					  ask(holder, 1, 1) == HG_NO_REPLICA,
				  "a client dies while it %s, and leaves nothing",
				  waits ? "waits with a column" : "makes one");
		/* closing is a note, which nobody waits for */
		good = test_counts_become(&server, 2, 1, 0);
	}
	test_end_speaker(&busy);
	test_named_drop(holder, 1);
	hg_tap_ok(test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0),
			  "nothing is left");
	hg_wire_client_destroy(holder);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* A graph goes for another one's column, as that was used last, and has its own when it is back. */
static void
test_limit(void)
{
	char limit[32];
	const char *const options[] = {"--kept-bytes", limit, NULL};
	TestServer server;
	HgWireClient *client;
	HgDeviceStatus status;
	uint64_t column_bytes;
	bool good;

	test_start_server(&server, NULL);
	client = test_start_client(&server);
	if (!make_column(client, 1, 1))
		abort();
	column_bytes = test_status_of(&server).replica_bytes;
	if (!make_all(client, 1, 0))
		abort();
	/* a graph and two columns */
	snprintf(limit, sizeof(limit), "%llu",
			 (unsigned long long) (test_status_of(&server).replica_bytes + column_bytes * 3 / 2));
	hg_wire_client_destroy(client);
	test_stop_server(&server);

	test_start_server(&server, options);
	client = test_start_client(&server);
	good = make_all(client, 1, 2) && make_column(client, 2, 1);
	status = test_status_of(&server);
	hg_tap_ok(good && status.replicas_evicted == 1 && status.replica_graphs == 3 &&
				  status.replica_bytes == 3 * column_bytes && test_named_is_at_rest(&server, 3) &&
				  ask(client, 1, 0) == HG_NO_REPLICA,
			  "a graph goes for a column, as it was used least lately, and its columns stay");
	good = test_named_make(client, test_host_plain(), 1, ROWS, NULL) == HG_OK;
	hg_tap_ok(good && test_status_of(&server).replicas_evicted == 2 && ask(client, 1, 2) == HG_OK &&
				  test_named_is_at_rest(&server, 3),
			  "and has them when it is made again: another one's column goes for it");
	test_named_drop(client, 1);
	hg_tap_ok(test_named_graphs_become(&server, 0) && test_named_is_at_rest(&server, 0),
			  "nothing is left");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

int
main(int argc, char **argv)
{
	const bool standin = test_choose_device(argc, argv);

	test_impossible();
	test_built();
	if (!standin)
	{
		hg_tap_skip("the stand-in alone has switches and a certain amount of memory", "makers");
		return hg_tap_done();
	}
	test_both_make();
	test_deaths();
	test_limit();
	return hg_tap_done();
}
