/*-------------------------------------------------------------------------
 *
 * test_server_idle.c
 *	  A device process whose jobs do nothing while others wait for their memory, or that has
 *	  less memory than it had.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this program; another
 * one, with its path as the argument, has no switches for this.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* setenv, mkstemp */

#include "hg_tap.h"
#include "test_serving.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Other processes have so many bytes of the stand-in's memory. */
static void
set_neighbours(const char *name, unsigned bytes)
{
	FILE *file = fopen(name, "w");

	if (file == NULL || fprintf(file, "%u\n", bytes) < 0 || fclose(file) != 0)
		abort();
}

/* Memory that other processes have taken since the start, and given back. */
static void
test_neighbours(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	char name[] = "/tmp/hg_neighbours_XXXXXX";
	TestServer server;
	TestSpeaker first;
	TestSpeaker second;
	HgDeviceStatus status;

	close(mkstemp(name));
	set_neighbours(name, 0);
	setenv("HG_STANDIN_NEIGHBOURS", name, 1);
	test_start_server(&server, options);
	unsetenv("HG_STANDIN_NEIGHBOURS");
	test_start_speaker(&server, &first);
	test_start_speaker(&server, &second);

	set_neighbours(name, FULL_ROWS * 32 / 2);
	test_ask_open(&first, 1, FULL_ROWS / 2 + 1, 0);
	hg_tap_ok(test_is_answered(&first, HG_DEVICE_OUT_OF_MEMORY) &&
				  test_status_of(&server).memory_budget == FULL_ROWS * 32 / 2,
			  "what other processes have of the memory is not there to be reserved");
	set_neighbours(name, 0);
	test_ask_open(&first, 2, FULL_ROWS / 4 * 3, 0);
	hg_tap_ok(test_is_answered(&first, HG_OK), "it is when they have given it back");

	/* less than is reserved already */
	set_neighbours(name, FULL_ROWS * 32 / 2);
	test_ask_open(&second, 1, FULL_ROWS / 2, 0);
	hg_tap_ok(test_counts_become(&server, 2, 1, 1) && test_is_waiting(&second),
			  "a job waits where jobs have more than is left");
	test_send_note(&first, HG_WIRE_CLOSE, 2);
	hg_tap_ok(test_is_answered(&second, HG_OK), "until they end");
	test_ask_open(&first, 3, FULL_ROWS / 4, 0);
	hg_tap_ok(test_counts_become(&server, 2, 1, 1), "another one waits");
	set_neighbours(name, 0);
	hg_tap_ok(test_is_answered(&first, HG_OK), "until other processes give some back");
	test_send_note(&first, HG_WIRE_CLOSE, 3);
	test_ask_open(&first, 4, FULL_ROWS / 4 * 3, 0);
	hg_tap_ok(test_counts_become(&server, 2, 1, 1), "one more waits");
	set_neighbours(name, FULL_ROWS * 32 / 2);
	hg_tap_ok(test_is_answered(&first, HG_DEVICE_OUT_OF_MEMORY),
			  "and is refused when they have taken what it needs");
	test_end_speaker(&first);
	test_end_speaker(&second);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0), "nobody is left");
	status = test_status_of(&server);
	hg_tap_ok(status.memory_reserved == 0 && status.staging_leased == 0, "nor anything");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
	unlink(name);
}

/* How long a job is idle before it is evicted, and longer than the queue takes to look for such. */
#define IDLE_MS 300
#define LOOKED_MS 900

static void
set_idle_time(void)
{
	char idle_ms[16];

	snprintf(idle_ms, sizeof(idle_ms), "%d", IDLE_MS);
	setenv("HG_STANDIN_EVICT_MS", idle_ms, 1);
}

/* A server with a full device, where jobs are idle soon. */
static void
start_evicting(TestServer *server)
{
	static const char *const options[] = {FULL_BUDGET, NULL};

	set_idle_time();
	test_start_server(server, options);
	unsetenv("HG_STANDIN_EVICT_MS");
}

/* Ask for the next chunk of matches; is there one? */
static bool
takes_matches(HgEngine *engine, HgJob *job, HgError *error)
{
	uint32_t outer[100];
	uint32_t inner[100];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 100};

	error->status = HG_OK;
	return engine->join->next(job, &matches, error) == HG_OK && matches.count > 0;
}

/*
 * Ask for matches again and again, for as long as the queue takes to look for idle jobs.  Returns
 * whether there were some each time, and another job waited; longest_ms is the longest time that
 * none were asked for, from last, when some were before, on.
 */
static bool
stays_while_asked(TestServer *server, HgEngine *engine, HgJob *job, double last, double *longest_ms)
{
	const double started = test_now_ms();
	HgError error = {0};
	bool good = true;

	*longest_ms = 0;
	while (good && test_now_ms() - started < LOOKED_MS)
	{
		const double asked = test_now_ms();

		good = takes_matches(engine, job, &error) && test_status_of(server).jobs_queued == 1;
		if (test_now_ms() - last > *longest_ms)
			*longest_ms = test_now_ms() - last;
		last = asked;
		usleep(50000);
	}
	return good;
}

static void
test_idle_jobs(void)
{
	TestServer server;
	TestSpeaker reading;
	TestSpeaker waiting;
	TestSpeaker small;
	HgWireClient *client;
	HgEngine *engine;
	HgJobSpec half = test_plain_spec;
	TestData data;
	HgError error = {0};
	HgJob *job;
	HgJobStats stats;
	HgDeviceStatus status;
	bool good;
	bool stays;
	double started;
	double longest_ms = 0;

	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 10000, 10000);
	for (int tries = 1;; tries++)
	{
		half.sides[HG_OUTER].expected_rows = half.sides[HG_INNER].expected_rows = FULL_ROWS / 4;
		start_evicting(&server);
		test_start_speaker(&server, &reading);
		test_start_speaker(&server, &waiting);
		test_start_speaker(&server, &small);
		client = test_start_client(&server);
		engine = hg_wire_client_engine(client);

		/* one streams, another is still to get its keys */
		good = engine->open(engine, test_host_plain(), &half, &job, &error) == HG_OK;
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			good = good && engine->join->append(job, (HgSide) side, data.keys[side],
												data.rows[side], &error) == HG_OK;
		good = good && engine->join->build(job, &error) == HG_OK &&
			   engine->join->match(job, HG_MATCH_ALL, &error) == HG_OK;
		test_ask_open(&reading, 1, FULL_ROWS / 4, 0);
		started = test_now_ms();
		good = good && test_is_answered(&reading, HG_OK) && takes_matches(engine, job, &error);
		test_ask_open(&waiting, 1, FULL_ROWS / 2, 0);
		good = good && test_counts_become(&server, 4, 2, 1);
		stays = good && stays_while_asked(&server, engine, job, started, &longest_ms);
		if (!good || stays || longest_ms < IDLE_MS || tries == 10)
			break;
		/* it was idle: a machine that is busy has kept this program from asking in time */
		engine->join->close(job);
		hg_wire_client_destroy(client);
		test_end_speaker(&reading);
		test_end_speaker(&waiting);
		test_end_speaker(&small);
		test_stop_server(&server);
	}
	hg_tap_ok(stays, "a job that is asked for matches stays, whoever waits");

	started = test_now_ms();
	hg_tap_ok(test_is_answered(&waiting, HG_OK) && test_now_ms() - started < TEST_TIMEOUT_MS / 2,
			  "one that is asked for nothing makes room");
	status = test_status_of(&server);
	hg_tap_ok(status.jobs_evicted == 1 && status.jobs_open == 2 &&
				  status.memory_reserved == UINT64_C(32) * (FULL_ROWS / 4 + FULL_ROWS / 2),
			  "it alone, which the status tells");
	hg_tap_ok(!takes_matches(engine, job, &error) && error.status == HG_EVICTED &&
				  !takes_matches(engine, job, &error) && error.status == HG_EVICTED,
			  "it is told when it asks again");
	engine->join->stats(job, &stats);
	hg_tap_ok(stats.rows[HG_OUTER] == data.rows[HG_OUTER] && stats.matches > 0,
			  "what it had done is still known");
	engine->join->close(job);
	half.sides[HG_OUTER].expected_rows = half.sides[HG_INNER].expected_rows = 100;
	hg_tap_ok(engine->open(engine, test_host_plain(), &half, &job, &error) == HG_OK &&
				  engine->join->build(job, &error) == HG_OK,
			  "its connection is as good as new");

	/* in vain */
	test_ask_open(&small, 1, FULL_ROWS, 0);
	started = test_now_ms();
	while (test_now_ms() - started < LOOKED_MS)
		usleep(50000);
	hg_tap_ok(test_is_waiting(&small) && test_status_of(&server).jobs_evicted == 1,
			  "nobody makes room where that would not be enough");
	engine->join->close(job);
	hg_wire_client_destroy(client);
	test_end_speaker(&reading);
	test_end_speaker(&waiting);
	hg_tap_ok(test_is_answered(&small, HG_OK), "jobs that are not idle do when they end");
	test_end_speaker(&small);
	hg_tap_ok(
		test_counts_become(&server, 0, 0, 0) && test_status_of(&server).memory_reserved == 0 &&
			test_status_of(&server).staging_leased == 0 && test_status_of(&server).jobs_failed == 0,
		"nothing is left");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
	test_data_destroy(&data);
}

/* What was opened ahead of a job is idle with it, and its lease stays its client's. */
static void
test_idle_ahead(void)
{
	TestServer server;
	TestSpeaker cursor;
	TestSpeaker waiting;
	HgWireMessage message;
	uint64_t lease;

	start_evicting(&server);
	test_start_speaker(&server, &cursor);
	test_start_speaker(&server, &waiting);
	test_ask_open(&cursor, 1, FULL_ROWS / 4, 0);
	test_is_answered(&cursor, HG_OK);
	test_ask_plainly(&cursor, HG_WIRE_BUILD, 1);
	test_is_answered(&cursor, HG_OK);
	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.spec.ahead = 1;
	message.request.spec.sides[HG_OUTER].expected_rows = FULL_ROWS / 2;
	test_ask(&cursor, HG_WIRE_OPEN, 2, &message);
	hg_tap_ok(test_is_answered(&cursor, HG_OK), "a job is opened ahead of another");
	lease = cursor.answer.reply.lease_bytes;

	test_ask_open(&waiting, 1, FULL_ROWS, 0);
	hg_tap_ok(test_is_answered(&waiting, HG_OK), "both make room when they are idle");
	hg_tap_ok(test_status_of(&server).jobs_evicted == 2 &&
				  test_status_of(&server).staging_leased ==
					  lease + waiting.answer.reply.lease_bytes &&
				  test_status_of(&server).jobs_open == 2,
			  "but for what the second has of staging");
	memset(&message, 0, sizeof(message));
	message.request.offset = cursor.answer.reply.lease_offset;
	message.request.count = 10;
	test_ask(&cursor, HG_WIRE_APPEND, 2, &message);
	hg_tap_ok(test_is_answered(&cursor, HG_EVICTED),
			  "where it may still put keys, which is in vain");
	test_send_note(&cursor, HG_WIRE_CLOSE, 1);
	test_send_note(&cursor, HG_WIRE_CLOSE, 2);
	hg_tap_ok(test_counts_become(&server, 2, 1, 0) &&
				  test_status_of(&server).staging_leased == waiting.answer.reply.lease_bytes,
			  "until it is closed");
	test_end_speaker(&cursor);
	test_end_speaker(&waiting);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_status_of(&server).memory_reserved == 0,
			  "nothing is left");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Jobs that could not queue up again are not evicted. */
static void
test_idle_group(void)
{
	TestServer server;
	TestSpeaker cursor;
	TestSpeaker other;
	TestSpeaker waiting;
	HgWireMessage message;
	double started;

	start_evicting(&server);
	test_start_speaker(&server, &cursor);
	test_start_speaker(&server, &other);
	test_start_speaker(&server, &waiting);

	/* the first one's job was opened ahead of another, and has taken its place */
	test_ask_open(&cursor, 1, FULL_ROWS / 4, 7);
	test_is_answered(&cursor, HG_OK);
	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.spec.ahead = 1;
	message.request.spec.group = 7;
	message.request.spec.sides[HG_OUTER].expected_rows = FULL_ROWS / 4;
	test_ask(&cursor, HG_WIRE_OPEN, 2, &message);
	test_is_answered(&cursor, HG_OK);
	test_send_note(&cursor, HG_WIRE_CLOSE, 1);
	test_ask_plainly(&cursor, HG_WIRE_BUILD, 2);
	test_is_answered(&cursor, HG_OK);
	test_ask_open(&other, 1, FULL_ROWS / 2, 7);
	test_is_answered(&other, HG_OK);
	test_ask_plainly(&other, HG_WIRE_BUILD, 1);
	hg_tap_ok(test_is_answered(&other, HG_OK), "two jobs of a group are open");

	test_ask_open(&waiting, 1, FULL_ROWS, 0);
	started = test_now_ms();
	while (test_now_ms() - started < LOOKED_MS)
		usleep(50000);
	hg_tap_ok(test_is_waiting(&waiting) && test_status_of(&server).jobs_evicted == 0,
			  "neither makes room, as it could not wait for another turn");
	test_send_note(&other, HG_WIRE_CLOSE, 1);
	hg_tap_ok(test_is_answered(&waiting, HG_OK) && test_status_of(&server).jobs_evicted == 1,
			  "the last of them does");
	test_ask_plainly(&cursor, HG_WIRE_MATCH, 2);
	hg_tap_ok(test_is_answered(&cursor, HG_EVICTED), "it is told so");
	test_send_note(&cursor, HG_WIRE_CLOSE, 2);
	test_ask_open(&cursor, 3, FULL_ROWS / 4, 7);
	hg_tap_ok(test_counts_become(&server, 3, 1, 1) && test_is_waiting(&cursor), "and waits");
	test_send_note(&waiting, HG_WIRE_CLOSE, 1);
	hg_tap_ok(test_is_answered(&cursor, HG_OK), "for another turn");
	test_end_speaker(&cursor);
	test_end_speaker(&other);
	test_end_speaker(&waiting);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* A job that was evicted keeps the process until it is closed. */
static void
test_idle_process(void)
{
	static const char *const options[] = {FULL_BUDGET, "--idle-timeout", "1", NULL};
	TestServer server;
	TestSpeaker cursor;
	TestSpeaker waiting;
	double closed;
	int status;

	set_idle_time();
	test_start_server(&server, options);
	unsetenv("HG_STANDIN_EVICT_MS");
	test_start_speaker(&server, &cursor);
	test_start_speaker(&server, &waiting);
	test_ask_open(&cursor, 1, FULL_ROWS, 0);
	test_is_answered(&cursor, HG_OK);
	test_ask_plainly(&cursor, HG_WIRE_BUILD, 1);
	test_is_answered(&cursor, HG_OK);
	test_ask_open(&waiting, 1, FULL_ROWS, 0);
	hg_tap_ok(test_is_answered(&waiting, HG_OK) && test_status_of(&server).jobs_evicted == 1,
			  "a process has evicted a job");
	closed = test_now_ms();
	test_send_note(&waiting, HG_WIRE_CLOSE, 1);
	while (test_now_ms() - closed < 1300)
		usleep(10000);
	test_ask_plainly(&cursor, HG_WIRE_MATCH, 1);
	hg_tap_ok(test_is_answered(&cursor, HG_EVICTED), "it is not idle before that knows");
	closed = test_now_ms();
	test_send_note(&cursor, HG_WIRE_CLOSE, 1);
	hg_tap_ok(test_process_ends(server.process, &status) && test_now_ms() - closed >= 1000 &&
				  WIFEXITED(status) && WEXITSTATUS(status) == 0,
			  "it waits its time when that is closed, and ends");
	hg_wire_client_destroy(server.control);
	test_end_speaker(&cursor);
	test_end_speaker(&waiting);
}

/* Other processes have taken what idle jobs could make room with. */
static void
test_idle_neighbours(void)
{
	char name[] = "/tmp/hg_neighbours_XXXXXX";
	TestServer server;
	TestSpeaker reading;
	TestSpeaker cursor;
	TestSpeaker waiting;
	double started;

	close(mkstemp(name));
	set_neighbours(name, 0);
	setenv("HG_STANDIN_NEIGHBOURS", name, 1);
	start_evicting(&server);
	unsetenv("HG_STANDIN_NEIGHBOURS");
	test_start_speaker(&server, &reading);
	test_start_speaker(&server, &cursor);
	test_start_speaker(&server, &waiting);
	test_ask_open(&reading, 1, FULL_ROWS / 8 * 5, 0);
	test_is_answered(&reading, HG_OK);
	test_ask_open(&cursor, 1, FULL_ROWS / 4, 0);
	test_is_answered(&cursor, HG_OK);
	test_ask_plainly(&cursor, HG_WIRE_BUILD, 1);
	test_is_answered(&cursor, HG_OK);

	/* what reads alone has more than is left */
	set_neighbours(name, FULL_ROWS * 32 / 2);
	test_ask_open(&waiting, 1, FULL_ROWS / 4, 0);
	started = test_now_ms();
	while (test_now_ms() - started < LOOKED_MS)
		usleep(50000);
	hg_tap_ok(test_is_waiting(&waiting) && test_status_of(&server).jobs_evicted == 0,
			  "nobody makes room where other processes have it");
	set_neighbours(name, FULL_ROWS * 32 / 8);
	hg_tap_ok(test_is_answered(&waiting, HG_OK) && test_status_of(&server).jobs_evicted == 1,
			  "but when they have given enough of it back");
	test_end_speaker(&reading);
	test_end_speaker(&cursor);
	test_end_speaker(&waiting);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
	unlink(name);
}

int
main(int argc, char **argv)
{
	if (!test_choose_device(argc, argv))
	{
		hg_tap_skip("the stand-in alone has switches for them", "idle jobs");
		return hg_tap_done();
	}
	test_neighbours();
	test_idle_jobs();
	test_idle_ahead();
	test_idle_group();
	test_idle_process();
	test_idle_neighbours();
	return hg_tap_done();
}
