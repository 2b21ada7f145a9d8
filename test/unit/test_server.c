/*-------------------------------------------------------------------------
 *
 * test_server.c
 *	  A device process that serves many sessions: its queue, its staging, its end.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this
 * program.  Where one must wait while another goes on, this program speaks for a session by
 * hand: it sends a request, and looks later whether it has been answered.
 *
 * With the path of a device process as its argument it runs the tests that need neither a
 * misbehaving one nor a certain amount of memory, with that.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* SOCK_SEQPACKET pairs */

#include "hg_tap.h"
#include "test_serving.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------------
 * Sessions side by side
 * ------------------------------------------------------------------------ */

/* A session is counted before its thread does anything. */
static void
test_counted(void)
{
	char held[] = "/tmp/hg_held_XXXXXX";
	const int file = mkstemp(held);
	TestServer server;
	TestSpeaker speaker;

	if (file < 0)
		abort();
	close(file);
	test_start_server_env(&server, "HG_STANDIN_HOLD_WHILE", held);
	test_start_speaker(&server, &speaker);
	test_ask_plainly(&speaker, HG_WIRE_STATUS, 0);
	hg_tap_ok(test_receive(speaker.fd, &speaker.answer) == HG_WIRE_DONE &&
				  speaker.answer.status.status.connections == 1,
			  "a session whose thread is just being started is counted");
	unlink(held);
	test_end_speaker(&speaker);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_stop_server(&server), "... and once");
}

static void
test_control(void)
{
	TestServer server;
	HgWireClient *client;
	HgEngine *engine;
	HgDeviceInfo info;
	HgDeviceStatus status;
	HgError error = {0};
	HgJob *job;
	int count = 0;

	test_start_server(&server, NULL);
	engine = hg_wire_client_engine(server.control);
	hg_tap_ok(hg_wire_client_devices(server.control, test_host_plain(), &info, 1, &count, &error) ==
					  HG_OK &&
				  count == 1,
			  "the control connection lists devices");
	hg_tap_ok(engine->open(engine, test_host_plain(), &test_plain_spec, &job, &error) == HG_INVALID,
			  "it is not for jobs");
	status = test_status_of(&server);
	hg_tap_ok(status.connections == 0 && status.jobs_open == 0 && status.jobs_done == 0 &&
				  status.staging_bytes > 0 && status.staging_leased == 0 &&
				  status.memory_budget > 0 && status.memory_held == 0,
			  "a status before anything has happened");

	client = test_start_client(&server);
	hg_tap_ok(test_counts_become(&server, 1, 0, 0), "a session is counted");
	hg_tap_ok(hg_wire_client_status(client, test_host_plain(), &status, &error) == HG_OK &&
				  status.connections == 1,
			  "and can ask for the status too");
	hg_wire_client_destroy(client);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0), "it is counted no more when it is gone");
	hg_tap_ok(test_stop_server(&server), "the process ends with its control connection");
}

/* Jobs of several sessions, a step of each in turn. */
static void
test_turns(void)
{
	enum
	{
		SESSIONS = 4
	};
	TestServer server;
	TestData data;
	HgWireClient *clients[SESSIONS];
	HgEngine *engines[SESSIONS];
	HgJob *jobs[SESSIONS];
	uint64_t pairs[SESSIONS] = {0};
	uint64_t sums[SESSIONS] = {0};
	uint32_t outer[500];
	uint32_t inner[500];
	HgError error;
	bool good = true;
	bool more = true;
	HgDeviceStatus status;

	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 3000, 2000);
	test_start_server(&server, NULL);
	for (int i = 0; i < SESSIONS; i++)
	{
		clients[i] = test_start_client(&server);
		engines[i] = hg_wire_client_engine(clients[i]);
	}
	for (int i = 0; i < SESSIONS; i++)
	{
		jobs[i] = test_build_job(engines[i], test_host_plain(), &data, &error);
		good = good && jobs[i] != NULL &&
			   engines[i]->join->match(jobs[i], HG_MATCH_ALL, &error) == HG_OK;
	}
	status = test_status_of(&server);
	good = good && status.jobs_open == SESSIONS && status.memory_held > 0;
	while (good && more)
	{
		more = false;
		for (int i = 0; i < SESSIONS; i++)
		{
			HgMatches matches = {.outer = outer, .inner = inner, .capacity = 500};

			good = good && engines[i]->join->next(jobs[i], &matches, &error) == HG_OK;
			for (size_t k = 0; k < matches.count; k++)
				sums[i] += test_pair_checksum(outer[k], inner[k]);
			pairs[i] += matches.count;
			more = more || matches.count > 0;
		}
	}
	for (int i = 0; good && i < SESSIONS; i++)
	{
		good = pairs[i] == data.pairs && sums[i] == data.checksum;
		engines[i]->join->close(jobs[i]);
	}
	hg_tap_ok(good, "jobs of four sessions take turns");
	good = good && test_counts_become(&server, SESSIONS, 0, 0);
	status = test_status_of(&server);
	hg_tap_ok(good && status.jobs_done == SESSIONS && status.jobs_failed == 0 &&
				  status.staging_leased == 0 && status.memory_reserved == 0 &&
				  status.memory_held == 0 && status.memory_peak > 0,
			  "they leave nothing behind but their number");
	for (int i = 0; i < SESSIONS; i++)
		hg_wire_client_destroy(clients[i]);
	hg_tap_ok(test_stop_server(&server), "the process ends after them");
	test_data_destroy(&data);
}

/* What one of many sessions does; returns its exit status. */
static int
crowd_member(TestServer *server, int number)
{
	static const TestKeys kinds[] = {TEST_KEYS_UNIQUE, TEST_KEYS_DUPLICATES, TEST_KEYS_SKEWED};
	HgWireClient *client = test_start_client(server);
	HgEngine *engine = hg_wire_client_engine(client);
	bool good = true;

	for (int round = 0; good && round < 6; round++)
	{
		TestData data;
		TestTimeoutHost impatient;
		HgError error;
		HgJob *job;

		test_data_create(&data, kinds[(number + round) % 3], round % 2 == 0 ? 4 : 8,
						 2000 + 1000 * number, 3000);
		good = test_stream_works(engine, &data);

		/* now and then one thinks better of it */
		test_timeout_init(&impatient, number + round);
		job = test_build_job(engine, &impatient.host, &data, &error);
		good = good && (job != NULL || error.status == HG_CANCELLED);
		if (job != NULL)
			engine->join->close(job);
		test_data_destroy(&data);
	}
	/* the last ones leave in a hurry */
	if (number < 4)
		hg_wire_client_destroy(client);
	return good ? 0 : 1;
}

static void
test_crowd(void)
{
	static const char *const options[] = {"--staging-bytes", "131072", NULL};
	enum
	{
		MEMBERS = 6
	};
	TestServer server;
	pid_t members[MEMBERS];
	HgDeviceStatus status;
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
		int exit_status;

		good = waitpid(members[i], &exit_status, 0) == members[i] && exit_status == 0 && good;
	}
	hg_tap_ok(good, "six sessions at a time get the right matches, with little staging");
	good = test_counts_become(&server, 0, 0, 0);
	status = test_status_of(&server);
	hg_tap_ok(good && status.staging_leased == 0 && status.memory_reserved == 0 &&
				  status.memory_held == 0 && status.jobs_failed == 0 &&
				  status.jobs_done + status.jobs_cancelled >= 36,
			  "and leave nothing behind");
	hg_tap_ok(test_stop_server(&server), "the process ends after them");
}

/* ------------------------------------------------------------------------
 * The queue
 * ------------------------------------------------------------------------ */

static void
test_queue(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	TestServer server;
	TestSpeaker first;
	TestSpeaker second;
	TestSpeaker third;
	TestSpeaker fourth;
	HgWireMessage message;
	HgDeviceStatus status;

	test_start_server(&server, options);
	test_start_speaker(&server, &first);
	test_start_speaker(&server, &second);
	test_start_speaker(&server, &third);
	test_start_speaker(&server, &fourth);

	test_ask_open(&first, 1, FULL_ROWS + 1, 0);
	hg_tap_ok(test_is_answered(&first, HG_DEVICE_OUT_OF_MEMORY),
			  "a job that could never fit is refused at once");
	test_ask_open(&first, 2, FULL_ROWS / 2 + 1, 0);
	hg_tap_ok(test_is_answered(&first, HG_OK) && first.answer.reply.lease_bytes > 0,
			  "one that fits is admitted, with a lease");
	status = test_status_of(&server);
	hg_tap_ok(status.memory_reserved == (FULL_ROWS / 2 + 1) * 32 &&
				  status.staging_leased == first.answer.reply.lease_bytes,
			  "which the status tells");

	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.spec.sides[HG_OUTER].expected_rows = 1000;
	message.request.spec.sides[HG_OUTER].ncolumns = 2;
	message.request.spec.sides[HG_OUTER].column_width[0] = 8;
	message.request.spec.sides[HG_OUTER].column_width[1] = 2;
	test_ask(&first, HG_WIRE_OPEN, 5, &message);
	hg_tap_ok(test_is_answered(&first, HG_OK) &&
				  test_status_of(&server).memory_reserved ==
					  status.memory_reserved + 1000 * (32 + 8 + 2 + 2),
			  "columns are reckoned with");
	test_send_note(&first, HG_WIRE_CLOSE, 5);

	test_ask_open(&second, 1, FULL_ROWS, 0);
	hg_tap_ok(test_counts_become(&server, 4, 1, 1), "one that does not fit now is queued");
	test_ask_open(&third, 1, 1000, 0);
	hg_tap_ok(test_counts_become(&server, 4, 1, 2) && test_is_waiting(&third) &&
				  test_is_waiting(&second),
			  "and a small one that comes later waits behind it");
	test_ask_open(&first, 3, FULL_ROWS / 2, 0);
	hg_tap_ok(test_is_answered(&first, HG_DEVICE_OUT_OF_MEMORY),
			  "a second job of a connection is refused rather than queued");
	test_ask_open(&first, 4, 1000, 0);
	hg_tap_ok(test_is_answered(&first, HG_OK), "but admitted, past the queue, where it fits");

	test_send_note(&first, HG_WIRE_CLOSE, 4);
	test_send_note(&first, HG_WIRE_CLOSE, 2);
	hg_tap_ok(test_is_answered(&second, HG_OK) && test_is_waiting(&third),
			  "the first in the queue is admitted when there is room, and no other");
	test_ask_open(&fourth, 1, FULL_ROWS, 0);
	hg_tap_ok(test_counts_become(&server, 4, 1, 2), "another comes");
	test_send_note(&third, HG_WIRE_CANCEL, 1);
	hg_tap_ok(test_is_answered(&third, HG_CANCELLED), "a job is cancelled while it is queued");
	hg_tap_ok(test_is_waiting(&fourth), "which lets in nobody for whom there is no room");
	test_ask_open(&third, 2, FULL_ROWS, 0);
	hg_tap_ok(test_counts_become(&server, 4, 1, 2), "one queues again");
	test_end_speaker(&fourth);
	hg_tap_ok(test_counts_become(&server, 3, 1, 1), "a session goes away while it is queued");
	test_end_speaker(&second);
	hg_tap_ok(test_is_answered(&third, HG_OK),
			  "a job goes with its session, and the next is admitted");
	status = test_status_of(&server);
	hg_tap_ok(status.jobs_cancelled == 3 && status.jobs_done == 3 && status.jobs_failed == 0,
			  "all of them are counted");
	test_end_speaker(&first);
	test_end_speaker(&third);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) &&
				  test_status_of(&server).memory_reserved == 0 &&
				  test_status_of(&server).staging_leased == 0,
			  "nothing is left");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

static void
test_timeouts(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	TestServer server;
	TestSpeaker first;
	HgWireClient *client;
	HgEngine *engine;
	HgJobSpec large = test_plain_spec;
	TestTimeoutHost impatient;
	TestData data;
	HgError error = {0};
	HgJob *job;
	double started = test_now_ms();

	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 1000, 1000);
	test_start_server(&server, options);
	test_start_speaker(&server, &first);
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	test_ask_open(&first, 1, FULL_ROWS, 0);
	test_is_answered(&first, HG_OK);
	large.sides[HG_OUTER].expected_rows = large.sides[HG_INNER].expected_rows = FULL_ROWS / 2;
	for (int round = 0; round < 20; round++)
	{
		test_timeout_init(&impatient, round % 3);
		if (engine->open(engine, &impatient.host, &large, &job, &error) != HG_CANCELLED)
			break;
	}
	hg_tap_ok(error.status == HG_CANCELLED && test_now_ms() - started < TEST_TIMEOUT_MS,
			  "a client gives up waiting in the queue, again and again");
	hg_tap_ok(test_counts_become(&server, 2, 1, 0), "the queue has forgotten it");
	test_send_note(&first, HG_WIRE_CLOSE, 1);
	/* another thread takes that note: a job that finds the device full is refused more rows */
	test_counts_become(&server, 2, 0, 0);
	hg_tap_ok(test_stream_works(engine, &data), "its connection is as good as new");
	hg_wire_client_destroy(client);
	test_end_speaker(&first);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
	test_data_destroy(&data);
}

static void
test_groups(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	TestServer server;
	TestSpeaker first;
	TestSpeaker second;
	TestSpeaker third;

	test_start_server(&server, options);
	test_start_speaker(&server, &first);
	test_start_speaker(&server, &second);
	test_start_speaker(&server, &third);

	test_ask_open(&first, 1, FULL_ROWS / 4 * 3, 7);
	test_is_answered(&first, HG_OK);
	test_ask_open(&second, 1, FULL_ROWS / 2, 7);
	hg_tap_ok(test_is_answered(&second, HG_DEVICE_OUT_OF_MEMORY),
			  "a job does not wait while another of its group is open");
	test_ask_open(&third, 1, FULL_ROWS, 8);
	hg_tap_ok(test_counts_become(&server, 3, 1, 1), "one of another group does");
	test_ask_open(&second, 2, FULL_ROWS / 4, 7);
	hg_tap_ok(test_is_answered(&second, HG_OK),
			  "past which one of the open group gets what is free");
	test_send_note(&second, HG_WIRE_CLOSE, 2);

	/* two of a group wait, and the first of them gets in */
	test_ask_open(&second, 3, FULL_ROWS / 2, 8);
	hg_tap_ok(test_counts_become(&server, 3, 1, 2), "two of a group wait while none of it is open");
	test_send_note(&first, HG_WIRE_CLOSE, 1);
	hg_tap_ok(test_is_answered(&third, HG_OK), "the first of them is admitted");
	hg_tap_ok(test_is_answered(&second, HG_DEVICE_OUT_OF_MEMORY),
			  "the other, which now may not wait, is refused");

	test_end_speaker(&first);
	test_end_speaker(&second);
	test_end_speaker(&third);
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* ------------------------------------------------------------------------
 * Staging
 * ------------------------------------------------------------------------ */

static void
test_leases(void)
{
	static const char *const options[] = {"--staging-bytes", "65536", NULL};
	enum
	{
		MOST = 32,
		ROOM = 49152
	};
	TestServer server;
	TestSpeaker speakers[MOST];
	uint64_t ends[MOST] = {0};
	uint64_t leased = 0;
	bool apart = true;
	int count = 0;

	test_start_server(&server, options);
	for (;;)
	{
		test_start_speaker(&server, &speakers[count]);
		test_ask_open(&speakers[count], 1, 1000000, 0);
		if (leased >= ROOM || count == MOST - 1 || !test_is_answered(&speakers[count], HG_OK))
			break;
		for (int i = 0; i < count; i++)
			apart = apart && (speakers[count].answer.reply.lease_offset >= ends[i] ||
							  speakers[count].answer.reply.lease_offset +
									  speakers[count].answer.reply.lease_bytes <=
								  speakers[i].answer.reply.lease_offset);
		ends[count] =
			speakers[count].answer.reply.lease_offset + speakers[count].answer.reply.lease_bytes;
		leased += speakers[count].answer.reply.lease_bytes;
		count++;
	}
	hg_tap_ok(count >= 8 && apart &&
				  test_counts_become(&server, (uint32_t) count + 1, (uint32_t) count, 1),
			  "leases lie apart, until staging is full");
	hg_tap_ok(leased == ROOM && test_status_of(&server).staging_leased == leased,
			  "which is three quarters of it");

	test_ask_plainly(&speakers[0], HG_WIRE_BUILD, 1);
	hg_tap_ok(test_is_answered(&speakers[0], HG_OK) && test_is_answered(&speakers[count], HG_OK),
			  "who has built gives his lease to the next");
	test_ask_plainly(&speakers[0], HG_WIRE_MATCH, 1);
	hg_tap_ok(test_is_answered(&speakers[0], HG_OK), "and goes on without");
	test_ask_plainly(&speakers[0], HG_WIRE_APPEND, 1);
	hg_tap_ok(test_is_cut_off(&speakers[0]), "who appends without a lease is cut off");
	test_ask_plainly(&speakers[1], HG_WIRE_BUILD, 1);
	hg_tap_ok(test_is_answered(&speakers[1], HG_OK), "others are not");
	for (int i = 0; i <= count; i++)
		test_end_speaker(&speakers[i]);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_status_of(&server).staging_leased == 0,
			  "nothing stays leased");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

/* Append count keys, all the same, to both sides, build and match: count * count matches. */
static bool
prepare_matches(TestSpeaker *speaker, unsigned char *staging, uint64_t count)
{
	HgWireMessage message;
	bool good;

	test_ask_open(speaker, 1, 2 * count, 0);
	good = test_is_answered(speaker, HG_OK);
	memset(&message, 0, sizeof(message));
	message.request.offset = speaker->answer.reply.lease_offset;
	message.request.count = count;
	memset(staging + message.request.offset, 0, count * 4);
	for (uint32_t side = HG_OUTER; good && side <= HG_INNER; side++)
	{
		message.request.side = side;
		test_ask(speaker, HG_WIRE_APPEND, 1, &message);
		good = test_is_answered(speaker, HG_OK);
	}
	test_ask_plainly(speaker, HG_WIRE_BUILD, 1);
	good = good && test_is_answered(speaker, HG_OK);
	test_ask_plainly(speaker, HG_WIRE_MATCH, 1);
	return good && test_is_answered(speaker, HG_OK);
}

/* Ask for more matches than fit. */
static void
ask_next(TestSpeaker *speaker)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	message.request.count = UINT64_C(1) << 40;
	test_ask(speaker, HG_WIRE_NEXT, 1, &message);
}

static void
test_results(void)
{
	static const char *const options[] = {"--staging-bytes", "65536", NULL};
	enum
	{
		MOST = 16,
		ROOM = 16384
	};
	TestServer server;
	TestSpeaker speakers[MOST];
	HgWireMessage hello;
	unsigned char *staging;
	uint64_t held = 0;
	bool good = true;
	int count = 0;
	int fd;
	int memory;

	test_start_server(&server, options);
	fd = test_connect_to(&server);
	poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, TEST_TIMEOUT_MS);
	if (hg_wire_receive(fd, &hello, &memory) != HG_WIRE_DONE)
		abort();
	staging = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (staging == MAP_FAILED)
		abort();
	close(memory);
	close(fd);

	for (; good && count < MOST; count++)
	{
		test_start_speaker(&server, &speakers[count]);
		good = prepare_matches(&speakers[count], staging, 200);
		ask_next(&speakers[count]);
		if (held >= ROOM)
			break;
		good = good && test_is_answered(&speakers[count], HG_OK) &&
			   speakers[count].answer.reply.count > 0 &&
			   speakers[count].answer.reply.count * 8 <= speakers[count].answer.reply.lease_bytes;
		held += speakers[count].answer.reply.lease_bytes;
	}
	hg_tap_ok(good && count >= 3 && count < MOST - 1 && held == ROOM &&
				  test_is_waiting(&speakers[count]) &&
				  test_status_of(&server).staging_leased == held,
			  "results that nobody has fetched fill a quarter of staging");
	test_send_note(&speakers[1], HG_WIRE_RELEASE, 1);
	hg_tap_ok(test_is_answered(&speakers[count], HG_OK), "who releases them lets the next one in");
	ask_next(&speakers[1]);
	hg_tap_ok(test_is_waiting(&speakers[1]), "and queues up behind for more");
	test_send_note(&speakers[1], HG_WIRE_CANCEL, 1);
	hg_tap_ok(test_is_answered(&speakers[1], HG_CANCELLED), "which can be cancelled");
	ask_next(&speakers[2]);
	hg_tap_ok(test_is_answered(&speakers[2], HG_OK),
			  "a request for more releases the results before");
	test_start_speaker(&server, &speakers[count + 1]);
	good = prepare_matches(&speakers[count + 1], staging, 200);
	ask_next(&speakers[count + 1]);
	good = good && test_is_waiting(&speakers[count + 1]);
	test_end_speaker(&speakers[0]);
	hg_tap_ok(good && test_is_answered(&speakers[count + 1], HG_OK), "and so does going away");
	for (int i = 1; i <= count + 1; i++)
		test_end_speaker(&speakers[i]);
	hg_tap_ok(test_counts_become(&server, 0, 0, 0) && test_status_of(&server).staging_leased == 0,
			  "nothing stays leased");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
	munmap(staging, 65536);
}

/* ------------------------------------------------------------------------
 * Trouble
 * ------------------------------------------------------------------------ */

static void
test_trouble(void)
{
	TestServer server;
	TestSpeaker broken;
	TestSpeaker leaving;
	HgWireClient *client;
	HgEngine *engine;
	TestData data;
	HgDeviceStatus status;
	double started;

	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 5000, 5000);
	test_start_server_env(&server, "HG_STANDIN_COUNT_MS", "30000");
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);

	test_start_speaker(&server, &broken);
	send(broken.fd, "nonsense", 8, MSG_NOSIGNAL);
	hg_tap_ok(test_is_cut_off(&broken), "a connection that speaks nonsense is cut off");
	hg_tap_ok(test_stream_works(engine, &data), "another does not notice");
	test_end_speaker(&broken);

	test_start_speaker(&server, &leaving);
	test_ask_open(&leaving, 1, 1000, 0);
	test_is_answered(&leaving, HG_OK);
	test_ask_plainly(&leaving, HG_WIRE_BUILD, 1);
	test_is_answered(&leaving, HG_OK);
	test_ask_plainly(&leaving, HG_WIRE_COUNT, 1);
	/* the thread of the other connection closes that one's job */
	hg_tap_ok(test_is_waiting(&leaving) && test_counts_jobs(&server, 1), "a job takes its time");
	started = test_now_ms();
	status = test_status_of(&server);
	hg_tap_ok(status.jobs_open == 1 && test_now_ms() - started < TEST_TIMEOUT_MS / 2,
			  "the status is told meanwhile");
	hg_tap_ok(test_stream_works(engine, &data), "and others work");
	test_end_speaker(&leaving);
	hg_tap_ok(test_counts_become(&server, 1, 0, 0),
			  "its session goes away in the midst, and it with it");
	status = test_status_of(&server);
	hg_tap_ok(status.jobs_done == 2 && status.jobs_cancelled == 1 && status.memory_held == 0 &&
				  status.memory_reserved == 0 && status.staging_leased == 0,
			  "it is counted as cancelled, and holds nothing");

	test_start_speaker(&server, &leaving);
	test_ask_open(&leaving, 1, 1000, 0);
	test_is_answered(&leaving, HG_OK);
	test_ask_plainly(&leaving, HG_WIRE_BUILD, 1);
	test_is_answered(&leaving, HG_OK);
	test_ask_plainly(&leaving, HG_WIRE_COUNT, 1);
	test_is_waiting(&leaving);
	started = test_now_ms();
	hg_tap_ok(test_stop_server(&server) && test_now_ms() - started < TEST_TIMEOUT_MS / 2,
			  "the end of the control connection ends the process in the midst of a job");
	hg_tap_ok(test_is_cut_off(&leaving) && hg_wire_client_state(client, NULL) == HG_WIRE_LOST,
			  "which its sessions notice");
	test_end_speaker(&leaving);
	hg_wire_client_destroy(client);
	test_data_destroy(&data);
}

/* Is a process under this user id cut off without a hello? */
static bool
stranger_is_cut_off(TestServer *server, uid_t stranger)
{
	pid_t process = fork();
	int status;

	if (process < 0)
		abort();
	if (process == 0)
	{
		TestSpeaker speaker = {0};

		if (setuid(stranger) != 0)
			_exit(2);
		speaker.fd = test_connect_to(server);
		_exit(test_is_cut_off(&speaker) ? 0 : 1);
	}
	return waitpid(process, &status, 0) == process && status == 0;
}

static void
test_strangers(void)
{
	TestServer server;

	test_start_server(&server, NULL);
	if (geteuid() == 0)
		hg_tap_ok(stranger_is_cut_off(&server, 65534), "another user's process is cut off");
	else
		hg_tap_skip("only root can be another user", "another user's process is cut off");
	hg_tap_ok(test_stop_server(&server), "the process ends after that");
}

static void
test_failing_device(void)
{
	TestServer server;
	TestSpeaker victim;
	HgWireClient *client;

	setenv("HG_STANDIN_HANG", "1", 1);
	test_start_server_env(&server, "HG_STANDIN_FAIL", "1");
	unsetenv("HG_STANDIN_HANG");
	client = test_start_client(&server);
	test_start_speaker(&server, &victim);
	test_ask_open(&victim, 1, 1000, 0);
	test_is_answered(&victim, HG_OK);
	test_ask_plainly(&victim, HG_WIRE_BUILD, 1);
	hg_tap_ok(test_is_answered(&victim, HG_DEVICE_FAILED),
			  "who finds that the device fails is told");
	hg_tap_ok(test_server_ends(&server, 3),
			  "the process ends, though its driver hangs, and says so");
	hg_tap_ok(hg_wire_client_state(client, NULL) == HG_WIRE_LOST, "which other sessions notice");
	hg_wire_client_destroy(client);
	test_end_speaker(&victim);
}

static void
test_bad_control(void)
{
	TestServer server;
	HgWireMessage message;

	test_start_server(&server, NULL);
	send(hg_wire_client_socket(server.control), "nonsense", 8, MSG_NOSIGNAL);
	hg_tap_ok(test_server_ends(&server, 1), "nonsense on the control connection ends the process");

	test_start_server(&server, NULL);
	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	hg_wire_header(&message.header, HG_WIRE_OPEN, 1, 1);
	hg_wire_send(hg_wire_client_socket(server.control), &message, -1);
	hg_tap_ok(test_server_ends(&server, 1), "and so does a job there");
}

static void
test_idle(void)
{
	static const char *const options[] = {"--idle-timeout", "1", NULL};
	TestServer server;
	TestSpeaker speaker;
	double started;
	double closed;
	bool ended;
	int status;

	test_start_server(&server, options);
	started = test_now_ms();
	test_start_speaker(&server, &speaker);
	test_ask_open(&speaker, 1, 1000, 0);
	test_is_answered(&speaker, HG_OK);
	while (test_now_ms() - started < 1300)
		usleep(10000);
	hg_tap_ok(test_status_of(&server).jobs_open == 1, "a process with a job is not idle");
	closed = test_now_ms();
	test_send_note(&speaker, HG_WIRE_CLOSE, 1);
	while (test_now_ms() - closed < 800)
	{
		test_status_of(&server);
		usleep(10000);
	}
	ended = test_process_ends(server.process, &status);
	hg_tap_ok(test_now_ms() - closed >= 1000, "without one it waits its time");
	hg_tap_ok(ended && WIFEXITED(status) && WEXITSTATUS(status) == 0,
			  "then it ends, whoever is connected and asks for its status");
	hg_wire_client_destroy(server.control);
	hg_tap_ok(test_is_cut_off(&speaker), "which its sessions notice");
	test_end_speaker(&speaker);
}

int
main(int argc, char **argv)
{
	if (test_choose_device(argc, argv))
	{
		test_counted();
		test_queue();
		test_timeouts();
		test_groups();
		test_trouble();
		test_failing_device();
	}
	test_control();
	test_turns();
	test_crowd();
	test_leases();
	test_results();
	test_strangers();
	test_bad_control();
	test_idle();
	return hg_tap_done();
}
