/*-------------------------------------------------------------------------
 *
 * test_wire.c
 *	  The wire between a session and a device process: both ends, and their ends.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this
 * program.  Where a session must break the rules, this program plays it by hand; a device process
 * that does is in test_one_lie.c and test_lies.c.
 *
 * With the path of a device process as its argument it runs the tests that need no
 * misbehaving one, with that: hashgraph_device itself, on a machine with a device.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* memfd_create, SOCK_SEQPACKET pairs */

#include "../../src/engine/wire/hg_wire.h"
#include "hg_tap.h"
#include "test_engine_pages.h"
#include "test_measure.h"
#include "test_session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STAGING "262144"

/* A stand-in that runs, and a client of it. */
typedef struct Session
{
	pid_t process;
	HgWireClient *client;
	HgEngine *engine;
	int fd; /* of a session without a client */
} Session;

/* ------------------------------------------------------------------------
 * Processes
 * ------------------------------------------------------------------------ */

/* Start a stand-in; its socket's other end is returned.  inherited stays open in it. */
static int
start_process(pid_t *process, const char *option, const char *value)
{
	int pair[2];
	char number[16];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		abort();
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	*process = fork();
	if (*process < 0)
		abort();
	if (*process == 0)
	{
		fcntl(pair[1], F_SETFD, 0);
		snprintf(number, sizeof(number), "%d", pair[1]);
		execl(test_device_path, test_device_path, "--socket-fd", number, "--staging-bytes", STAGING,
			  option, value, (char *) NULL);
		_exit(127);
	}
	close(pair[1]);
	return pair[0];
}

static void
start_session(Session *session, const char *option, const char *value)
{
	session->fd = start_process(&session->process, option, value);
	session->client = hg_wire_client_create(session->fd);
	if (session->client == NULL)
		abort();
	session->engine = hg_wire_client_engine(session->client);
}

/* A session whose process is ready. */
static void
start_ready_session(Session *session)
{
	HgError error;

	start_session(session, NULL, NULL);
	if (test_started_state(session->client, &error) != HG_WIRE_READY)
	{
		hg_tap_diag("the stand-in did not start: %s (%s)", error.message, error.detail);
		abort();
	}
}

/* Leave, and report whether the process then ends in time and as it should. */
static bool
end_session(Session *session)
{
	int status;

	hg_wire_client_destroy(session->client);
	return test_process_ends(session->process, &status) && WIFEXITED(status) &&
		   WEXITSTATUS(status) == 0;
}

/* ------------------------------------------------------------------------
 * Jobs
 * ------------------------------------------------------------------------ */

/* A session whose process takes its time to count. */
static void
start_slow_session(Session *session)
{
	setenv("HG_STANDIN_COUNT_MS", "30000", 1);
	start_ready_session(session);
	unsetenv("HG_STANDIN_COUNT_MS");
}

/* ------------------------------------------------------------------------
 * The device process as it should be
 * ------------------------------------------------------------------------ */

/* Many more pages than have room in a slot at once; test_server_pages.c has the suite. */
static bool
pages_are_joined(HgEngine *engine)
{
	const TestReplicaSpread spreads[2] = {
		{.way = TEST_REPLICA_PAGES, .width = 8, .count = 50000, .keys = 40000, .ncolumns = 2},
		{.way = TEST_REPLICA_PAGES, .width = 8, .count = 20000, .keys = 40000, .nulls = 5}};
	const TestPagesForm forms[2] = {{.nquals = 2, .run = 1 << 20}, {.noise = 20, .run = 1 << 20}};
	TestPagesJoin join;
	HgError error = {0};
	HgStatus status;

	test_pages_join_create(&join, spreads, forms, 77);
	status = test_pages_join_run(&join, engine, test_host_plain(), 5000, &error);
	if (status != HG_OK)
		hg_tap_diag("status %d: %s", (int) status, error.message);
	test_pages_join_destroy(&join);
	return status == HG_OK;
}

static void
test_suite(void)
{
	Session session;

#if defined(__SANITIZE_ADDRESS__)
	/* the engine's big jobs have met the sanitizers in test_engine_cpu */
	setenv("HG_SUITE", "small", 1);
#endif
	/* chunks of the suite are to fit a slot */
	start_session(&session, "--staging-bytes", "2097152");
	test_started_state(session.client, NULL);
	hg_engine_suite(session.engine, test_host_plain());
	/* big columns are for the device's own test */
	setenv("HG_SUITE", "small", 1);
	hg_engine_reduce_suite(session.engine, test_host_plain());
	test_measure_suite(session.engine, test_host_plain());
	hg_tap_ok(pages_are_joined(session.engine), "sides that come as pages");
	hg_tap_ok(hg_wire_client_state(session.client, NULL) == HG_WIRE_READY,
			  "the connection survives the suite");
	hg_tap_ok(end_session(&session), "the process ends when the session does");
}

static void
test_starting(void)
{
	Session session;
	HgError error = {0};
	HgJob *job;
	HgDeviceInfo info;
	int count = 0;

	setenv("HG_STANDIN_START_DELAY_MS", "300", 1);
	start_session(&session, NULL, NULL);
	unsetenv("HG_STANDIN_START_DELAY_MS");
	hg_tap_ok(hg_wire_client_state(session.client, &error) == HG_WIRE_STARTING,
			  "a process without a hello is starting");
	hg_tap_ok(session.engine->open(session.engine, test_host_plain(), &test_plain_spec, &job,
								   &error) == HG_UNAVAILABLE,
			  "no job starts before the hello");
	hg_tap_ok(test_started_state(session.client, &error) == HG_WIRE_READY, "then it is ready");
	hg_tap_ok(hg_wire_client_devices(session.client, test_host_plain(), &info, 1, &count, &error) ==
					  HG_OK &&
				  count == 1 && strcmp(info.name, "stand-in (CPU)") == 0,
			  "it lists its devices");
	hg_tap_ok(end_session(&session), "it ends with the session");
}

static void
test_unavailable(void)
{
	Session session;
	HgError error = {0};
	HgJob *job;
	int status;

	setenv("HG_STANDIN_UNAVAILABLE", "1", 1);
	start_session(&session, NULL, NULL);
	unsetenv("HG_STANDIN_UNAVAILABLE");
	hg_tap_ok(test_started_state(session.client, &error) == HG_WIRE_UNAVAILABLE &&
				  strcmp(error.message, "no device") == 0,
			  "a process without a device says why");
	hg_tap_ok(test_process_ends(session.process, &status), "and ends");
	hg_tap_ok(hg_wire_client_state(session.client, &error) == HG_WIRE_UNAVAILABLE,
			  "which does not change the reason");
	hg_tap_ok(session.engine->open(session.engine, test_host_plain(), &test_plain_spec, &job,
								   &error) == HG_UNAVAILABLE,
			  "jobs are refused for that reason");
	hg_wire_client_destroy(session.client);
}

static void
test_several_jobs(void)
{
	Session session;
	TestData data[3];
	HgJob *jobs[3];
	uint64_t found[3] = {0};
	uint32_t outer[7];
	uint32_t inner[7];
	HgError error = {0};
	bool good = true;
	bool more = true;

	start_ready_session(&session);
	test_data_create(&data[0], TEST_KEYS_UNIQUE, 4, 1000, 1000);
	test_data_create(&data[1], TEST_KEYS_DUPLICATES, 8, 2000, 500);
	test_data_create(&data[2], TEST_KEYS_SKEWED, 4, 300, 300);
	for (int i = 0; i < 3; i++)
		jobs[i] = test_build_job(session.engine, test_host_plain(), &data[i], &error);
	for (int i = 0; i < 3; i++)
		good = good && session.engine->join->match(jobs[i], HG_MATCH_ALL, &error) == HG_OK;
	while (good && more)
	{
		more = false;
		for (int i = 0; i < 3; i++)
		{
			HgMatches matches = {.outer = outer, .inner = inner, .capacity = 7};

			good = good && session.engine->join->next(jobs[i], &matches, &error) == HG_OK;
			for (size_t k = 0; good && k < matches.count; k++)
				good = test_data_key(&data[i], HG_OUTER, outer[k]) ==
					   test_data_key(&data[i], HG_INNER, inner[k]);
			found[i] += matches.count;
			more = more || matches.count > 0;
		}
	}
	for (int i = 0; i < 3; i++)
	{
		good = good && found[i] == data[i].pairs;
		session.engine->join->close(jobs[i]);
		test_data_destroy(&data[i]);
	}
	hg_tap_ok(good, "three jobs take turns on one connection");
	hg_tap_ok(end_session(&session), "the process ends after them");
}

static void
test_cancel(void)
{
	Session session;
	TestData small;
	TestData large;
	bool good = true;

	start_slow_session(&session);
	test_data_create(&small, TEST_KEYS_DUPLICATES, 4, 5000, 5000);
	test_create_long_data(&large);
	for (int round = 0; round < 5; round++)
	{
		TestTimeoutHost impatient;
		HgError error = {0};
		uint64_t matches;
		HgStatus status;
		double started;
		HgJob *job;

		test_timeout_init(&impatient, 1e6);
		job = test_build_job(session.engine, &impatient.host, &large, &error);
		if (job == NULL)
		{
			good = false;
			break;
		}
		impatient.deadline = test_now_ms() + 5 * round;
		started = test_now_ms();
		status = session.engine->join->count(job, HG_MATCH_ALL, &matches, &error);
		good = good && status == HG_CANCELLED && test_now_ms() - started < TEST_TIMEOUT_MS;
		status = session.engine->join->count(job, HG_MATCH_ALL, &matches, &error);
		good = good && status == HG_CANCELLED;
		session.engine->join->close(job);

		/* at once, on the same connection */
		started = test_now_ms();
		good = good && test_stream_works(session.engine, &small) &&
			   test_now_ms() - started < TEST_TIMEOUT_MS;
	}
	hg_tap_ok(good, "a cancelled job answers in time and leaves the connection to the next");
	hg_tap_ok(hg_wire_client_state(session.client, NULL) == HG_WIRE_READY,
			  "cancelling loses no connection");

	/* cancelled in the middle of appending, when slots are under way */
	good = true;
	for (int round = 0; round < 20; round++)
	{
		TestTimeoutHost impatient;
		HgError error = {0};
		HgJob *job;

		test_timeout_init(&impatient, 0.2 * round);
		job = test_build_job(session.engine, &impatient.host, &large, &error);
		if (job != NULL)
			session.engine->join->close(job);
		else
			good = good && error.status == HG_CANCELLED;
		good = good && test_stream_works(session.engine, &small);
	}
	hg_tap_ok(good,
			  "a job that is cancelled while it appends leaves nothing in the next one's keys");
	hg_tap_ok(end_session(&session), "the process ends after cancellations");
	test_data_destroy(&small);
	test_data_destroy(&large);
}

/* A process that reads nothing: what a session sends finds no room in the socket in the end. */
static void
test_no_room(void)
{
	Session session;
	TestHost host;
	HgJob *jobs[1024];
	HgDeviceStatus device_status = {0};
	HgError error = {0};
	HgStatus status = HG_OK;
	uint64_t polls;
	int count = 0;

	start_ready_session(&session);
	kill(session.process, SIGSTOP);
	test_host_init(&host, test_host_plain());
	host.cancel_poll = 3;
	while (count < 1024 &&
		   (status = hg_wire_client_begin(session.client, &host.host, &test_plain_spec,
										  &jobs[count], &error)) == HG_OK)
		count++;
	hg_tap_ok(status == HG_CANCELLED && host.polls == 3,
			  "a request can be cancelled while it waits for room, the %dth", count + 1);
	hg_tap_ok(hg_wire_client_state(session.client, NULL) == HG_WIRE_READY,
			  "... which loses no connection");
	polls = host.polls;
	while (count > 0)
		session.engine->join->close(jobs[--count]);
	hg_tap_ok(hg_wire_client_state(session.client, NULL) == HG_WIRE_READY && host.polls == polls,
			  "jobs are closed without any wait");
	kill(session.process, SIGCONT);
	status = hg_wire_client_status(session.client, test_host_plain(), &device_status, &error);
	if (!hg_tap_ok(status == HG_OK && device_status.jobs_open == 0 &&
					   device_status.jobs_queued == 0,
				   "... and the process is told as soon as it reads"))
		hg_tap_diag("status %d: %s %s; %u jobs open, %u queued", (int) status, error.message,
					error.detail, device_status.jobs_open, device_status.jobs_queued);
	hg_tap_ok(end_session(&session), "the process ends after them");
}

static void
test_leaving(void)
{
	Session session;
	TestData large;
	TestTimeoutHost impatient;
	HgError error = {0};
	uint64_t matches;
	HgJob *job;

	/* the session vanishes while the process works, without a word */
	start_slow_session(&session);
	test_create_long_data(&large);
	test_timeout_init(&impatient, 1e6);
	job = test_build_job(session.engine, &impatient.host, &large, &error);
	impatient.deadline = test_now_ms() + 20;
	session.engine->join->count(job, HG_MATCH_ALL, &matches, &error);
	hg_tap_ok(end_session(&session), "the process ends in time in the middle of a count");
	test_data_destroy(&large);

	/* the job's own engine is gone, but not the calls that it was made of */
	start_ready_session(&session);
	hg_tap_ok(session.engine->join->count(job, HG_MATCH_ALL, &matches, &error) ==
				  HG_CONNECTION_LOST,
			  "calls on an orphan answer that the connection is lost");
	session.engine->join->close(job);
	hg_tap_ok(end_session(&session), "an orphan can be closed");
}

static void
test_idle(void)
{
	Session session;
	HgError error;
	double started = test_now_ms();
	bool ended;
	int status = -1;

	start_session(&session, "--idle-timeout", "1");
	test_started_state(session.client, &error);
	ended = test_process_ends(session.process, &status);
	hg_tap_ok(test_now_ms() - started >= 1000, "an idle process waits its time");
	hg_tap_ok(ended && WIFEXITED(status) && WEXITSTATUS(status) == 0, "and ends then");
	hg_tap_ok(hg_wire_client_state(session.client, &error) == HG_WIRE_LOST, "which is noticed");
	hg_wire_client_destroy(session.client);
}

static void
test_inherited(void)
{
	Session session;
	struct pollfd readable;
	int ends[2];

	/* no O_CLOEXEC: as careless as a process that starts another can be */
	if (pipe(ends) != 0)
		abort();
	start_ready_session(&session);
	close(ends[1]);
	readable = (struct pollfd){.fd = ends[0], .events = POLLIN};
	hg_tap_ok(poll(&readable, 1, TEST_TIMEOUT_MS) == 1 && (readable.revents & POLLHUP) != 0,
			  "the process keeps no descriptor that it inherited");
	close(ends[0]);

	kill(session.process, SIGINT);
	kill(session.process, SIGHUP);
	usleep(20 * 1000);
	hg_tap_ok(waitpid(session.process, NULL, WNOHANG) == 0, "it does not mind ^C or a hang-up");
	hg_tap_ok(end_session(&session), "it ends with its session all the same");
}

/* ------------------------------------------------------------------------
 * The device process in trouble
 * ------------------------------------------------------------------------ */

static void
test_death(void)
{
	Session session;
	TestData data;
	TestData large;
	TestTimeoutHost impatient;
	HgError error = {0};
	HgJob *job;
	HgJob *other;
	uint32_t outer[10];
	uint32_t inner[10];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 10};
	uint64_t count;
	HgStatus status = HG_OK;
	int chunks = 0;
	int exit_status;

	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 1000, 1000);
	setenv("HG_STANDIN_DIE_AFTER_CHUNKS", "3", 1);
	start_ready_session(&session);
	unsetenv("HG_STANDIN_DIE_AFTER_CHUNKS");
	other = test_build_job(session.engine, test_host_plain(), &data, &error);
	job = test_build_job(session.engine, test_host_plain(), &data, &error);
	session.engine->join->match(job, HG_MATCH_ALL, &error);
	while (status == HG_OK && chunks < 10)
	{
		status = session.engine->join->next(job, &matches, &error);
		chunks++;
	}
	hg_tap_ok(chunks == 4 && status == HG_CONNECTION_LOST && error.status == HG_CONNECTION_LOST,
			  "a process that dies while it streams is a lost connection");
	hg_tap_ok(session.engine->join->next(job, &matches, &error) == HG_CONNECTION_LOST &&
				  session.engine->join->count(other, HG_MATCH_ALL, &count, &error) ==
					  HG_CONNECTION_LOST,
			  "and stays one, for every job");
	hg_tap_ok(hg_wire_client_state(session.client, &error) == HG_WIRE_LOST, "its state says so");
	session.engine->join->close(job);
	hg_wire_client_destroy(session.client);
	hg_tap_ok(session.engine->join->count(other, HG_MATCH_ALL, &count, &error) ==
				  HG_CONNECTION_LOST,
			  "also for one that has outlived the connection");
	session.engine->join->close(other);
	test_process_ends(session.process, &exit_status);
	test_data_destroy(&data);

	test_create_long_data(&large);
	start_slow_session(&session);
	test_timeout_init(&impatient, 1e6);
	impatient.victim = session.process;
	job = test_build_job(session.engine, &impatient.host, &large, &error);
	impatient.deadline = test_now_ms() + 20;
	status = session.engine->join->count(job, HG_MATCH_ALL, &count, &error);
	hg_tap_ok(status == HG_CONNECTION_LOST, "so is one that is killed while it counts");
	session.engine->join->close(job);
	hg_wire_client_destroy(session.client);
	test_process_ends(session.process, &exit_status);
	test_data_destroy(&large);
}

/* A staging area that can't be pinned makes copies slower, and is told in the server's log. */
static void
test_unpinned(void)
{
	FILE *log = tmpfile();
	const int own = dup(STDERR_FILENO);
	char line[400] = "";
	Session session;
	TestData data;
	HgError error = {0};
	HgJob *job;

	if (log == NULL || own < 0)
		abort();
	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 100, 100);
	setenv("HG_STANDIN_NO_PIN", "1", 1);
	dup2(fileno(log), STDERR_FILENO);
	start_session(&session, NULL, NULL);
	unsetenv("HG_STANDIN_NO_PIN");
	hg_tap_ok(test_started_state(session.client, NULL) == HG_WIRE_READY,
			  "a device whose staging area can't be pinned is there all the same");
	dup2(own, STDERR_FILENO);
	job = test_build_job(session.engine, test_host_plain(), &data, &error);
	hg_tap_ok(job != NULL, "... and joins");
	if (job != NULL)
		session.engine->join->close(job);
	hg_tap_ok(end_session(&session), "... and ends as it should");
	rewind(log);
	hg_tap_ok(fgets(line, sizeof(line), log) != NULL &&
				  strstr(line, "could not be pinned: the device failed") != NULL,
			  "... which the log tells");
	fclose(log);
	close(own);
	test_data_destroy(&data);
}

static void
test_refusals(void)
{
	Session session;
	TestData data;
	HgError error = {0};
	HgJob *job;
	HgJob *opened;
	int status;

	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 100, 100);
	setenv("HG_STANDIN_OUT_OF_MEMORY", "1", 1);
	start_ready_session(&session);
	unsetenv("HG_STANDIN_OUT_OF_MEMORY");
	job = test_build_job(session.engine, test_host_plain(), &data, &error);
	hg_tap_ok(job == NULL && error.status == HG_DEVICE_OUT_OF_MEMORY &&
				  strcmp(error.message, "out of device memory") == 0,
			  "a full device is an error of the job");
	hg_tap_ok(session.engine->open(session.engine, test_host_plain(), &test_plain_spec, &opened,
								   &error) == HG_OK,
			  "and not of the connection");
	hg_tap_ok(end_session(&session), "the process ends with a job open");

	setenv("HG_STANDIN_FAIL", "1", 1);
	setenv("HG_STANDIN_HANG", "1", 1);
	start_ready_session(&session);
	unsetenv("HG_STANDIN_FAIL");
	unsetenv("HG_STANDIN_HANG");
	job = test_build_job(session.engine, test_host_plain(), &data, &error);
	hg_tap_ok(job == NULL && error.status == HG_DEVICE_FAILED, "a failing device is told");
	hg_tap_ok(hg_wire_client_state(session.client, &error) == HG_WIRE_LOST,
			  "which is the last answer: the connection is lost");
	hg_tap_ok(test_process_ends(session.process, &status),
			  "and the process ends, though its driver hangs");
	session.engine->join->close(opened); /* an orphan of the first session */
	hg_wire_client_destroy(session.client);
	test_data_destroy(&data);
}

/* Tables on a device without the memory or the time for them. */
static void
test_tables_refused(void)
{
	const HgTableTrial trial = {
		.spec = {.kind = HG_TABLE_CUCKOO, .content = HG_TABLE_MAP, .key_width = 4}, .batches = 10};
	HgTableTrial csr = trial;
	TestTimeoutHost impatient;
	HgTableMeasure measure;
	HgError error = {0};
	Session session;
	double started;
	TestData large;
	TestData data;

	csr.spec.kind = HG_TABLE_CSR;
	csr.batches = HG_TABLE_MAX_BATCHES;
	test_data_create(&data, TEST_KEYS_UNIQUE, 4, 1, 1000);
	test_create_long_data(&large);
	start_session(&session, "--memory-budget", "1000000");
	test_started_state(session.client, NULL);
	hg_tap_ok(test_measure(session.engine, test_host_plain(), &large, &trial, &measure, &error) ==
				  HG_DEVICE_OUT_OF_MEMORY,
			  "a table that is too large for the device is refused");
	hg_tap_ok(test_measure(session.engine, test_host_plain(), &data, &trial, &measure, &error) ==
				  HG_OK,
			  "... and a small one is not");
	hg_tap_ok(end_session(&session), "the process ends after them");

	setenv("HG_STANDIN_OUT_OF_MEMORY", "1", 1);
	start_ready_session(&session);
	unsetenv("HG_STANDIN_OUT_OF_MEMORY");
	hg_tap_ok(test_measure(session.engine, test_host_plain(), &data, &trial, &measure, &error) ==
					  HG_DEVICE_OUT_OF_MEMORY &&
				  hg_wire_client_state(session.client, NULL) == HG_WIRE_READY,
			  "memory that a table has not got after all is an error of its job alone");
	end_session(&session);

	start_ready_session(&session);
	test_timeout_init(&impatient, 50);
	started = test_now_ms();
	hg_tap_ok(test_measure(session.engine, &impatient.host, &large, &csr, &measure, &error) ==
					  HG_CANCELLED &&
				  test_now_ms() - started < TEST_TIMEOUT_MS &&
				  test_stream_works(session.engine, &data),
			  "a measurement is cancelled in time, and the connection goes on");
	hg_tap_ok(end_session(&session), "... and ends");
	test_data_destroy(&data);
	test_data_destroy(&large);
}

/* ------------------------------------------------------------------------
 * Openings
 * ------------------------------------------------------------------------ */

/* Send an opening in which so many blocks are not 0; the bytes that takes. */
static size_t
send_opening(const int ends[2], HgWireMessage *message, uint64_t *random, int blocks)
{
	unsigned char *bytes = (unsigned char *) &message->opening;
	unsigned char raw[sizeof(HgWirePacked)];
	const size_t left = sizeof(HgWireOpening) - sizeof(HgWireHeader);

	memset(message, 0, sizeof(*message));
	for (int i = 0; i < blocks; i++)
	{
		*random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
		bytes[sizeof(HgWireHeader) + (*random >> 33) % left] = (unsigned char) (1 + i % 255);
	}
	if (blocks == 0)
		message->request.spec = test_plain_spec;
	hg_wire_header(&message->header, HG_WIRE_OPEN, 1, 1);
	if (hg_wire_send(ends[0], message, -1) != HG_WIRE_DONE)
		return 0;
	return (size_t) recv(ends[1], raw, sizeof(raw), MSG_PEEK | MSG_TRUNC);
}

/* Is what has been sent received as it was? */
static bool
is_received(const int ends[2], const HgWireMessage *sent)
{
	static HgWireMessage received;
	int attached;

	memset(&received, 0xff, sizeof(received));
	return hg_wire_receive(ends[1], &received, &attached) == HG_WIRE_DONE &&
		   memcmp(&received, sent, sizeof(HgWireOpening)) == 0;
}

/* Is a packed opening nonsense? */
static bool
is_nonsense(const int ends[2], HgWirePacked *packed, size_t length)
{
	HgWireMessage received;
	int attached;

	packed->header.length = (uint32_t) length;
	return send(ends[0], packed, length, 0) == (ssize_t) length &&
		   hg_wire_receive(ends[1], &received, &attached) == HG_WIRE_NONSENSE && attached == -1;
}

static void
test_openings(void)
{
	static const int blocks[] = {1, 3, 40, 400, 3000, 200000};
	const size_t least = offsetof(HgWirePacked, blocks);
	static HgWireMessage message;
	static HgWirePacked packed;
	uint64_t random = 1;
	bool good = true;
	size_t length;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		abort();
	length = send_opening(ends, &message, &random, 0);
	hg_tap_ok(length > 0 && length <= 512, "a plain opening takes %zu bytes", length);
	hg_tap_ok(is_received(ends, &message), "... and is received as it was");
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		for (int round = 0; round < 20; round++)
			good = good && send_opening(ends, &message, &random, blocks[i]) > 0 &&
				   is_received(ends, &message);
	hg_tap_ok(good, "so are others, of more and less");

	send_opening(ends, &message, &random, 3);
	length = (size_t) recv(ends[1], &packed, sizeof(packed), 0);
	for (size_t shorter = sizeof(HgWireHeader); shorter < length; shorter++)
		good = good && is_nonsense(ends, &packed, shorter);
	hg_tap_ok(good && is_nonsense(ends, &packed, length + 1),
			  "an opening of another length than its blocks' is nonsense");
	good = is_nonsense(ends, &packed, sizeof(packed)) &&
		   is_nonsense(ends, &packed, sizeof(HgWireOpening));
	hg_tap_ok(good, "... and one that is as long as it can be, or was");
	memset(packed.present, 0, sizeof(packed.present));
	for (size_t block = HG_WIRE_OPENING_BLOCKS;
		 block < 64 * sizeof(packed.present) / sizeof(uint64_t); block++)
	{
		packed.present[block / 64] = UINT64_C(1) << block % 64;
		good = good && is_nonsense(ends, &packed, least) &&
			   is_nonsense(ends, &packed, least + HG_WIRE_BLOCK);
	}
	hg_tap_ok(good, "... and one of a block that there is not");
	close(ends[0]);
	close(ends[1]);
}

/* ------------------------------------------------------------------------
 * A session that breaks the rules
 * ------------------------------------------------------------------------ */

/* What a session can get wrong. */
typedef enum Mistake
{
	MISTAKE_NONE,
	MISTAKE_MAGIC,
	MISTAKE_VERSION,
	MISTAKE_TYPE,
	MISTAKE_LENGTH,
	MISTAKE_SHORT,
	MISTAKE_SEQUENCE,
	MISTAKE_REPLY,
	MISTAKE_NO_JOB,
	MISTAKE_JOB_TWICE,
	MISTAKE_SIDE,
	MISTAKE_BEYOND,
	MISTAKE_OUTSIDE,
	MISTAKE_OVERFLOW,
	MISTAKE_UNALIGNED,
	MISTAKE_NO_ROOM,
	MISTAKE_GATHERED,
	MISTAKE_MODE,
	MISTAKE_COLUMN,
	MISTAKE_NULLS,
	MISTAKE_COLUMN_OUTSIDE,
	MISTAKE_REDUCE_MODE,
	MISTAKE_NO_RECORD,
	MISTAKE_NO_TABLE,
	MISTAKE_TABLE_BUILT,
	MISTAKE_DESCRIPTOR,
	MISTAKE_BLOCKS,
	MISTAKE_COUNT
} Mistake;

static const char *const mistake_names[MISTAKE_COUNT] = {
	"no mistake",
	"a wrong magic number",
	"another version",
	"an unknown type",
	"a wrong length",
	"a truncated message",
	"a wrong sequence number",
	"an answer instead of a request",
	"an unknown job",
	"a job's number used twice",
	"an unknown side",
	"keys beyond staging",
	"keys outside the job's lease",
	"an offset that overflows",
	"an offset that is not aligned",
	"a chunk without room",
	"values of a column that the job has not",
	"an unknown mode",
	"a column that the job has not",
	"a wrong way to tell NULL",
	"values whose nulls are outside the job's lease",
	"groups of an unknown mode",
	"records without room",
	"a table of a job that has none, but an address of it",
	"a build of a job that has a table",
	"a descriptor nobody asked for",
	"an opening without its blocks",
};

/* Say hello, open job 1, then make a mistake.  Does the process end, and for it? */
static bool
process_rejects(Mistake mistake)
{
	HgWireMessage message;
	HgWireMessage answer = {0};
	pid_t process;
	int status = -1;
	int attached = -1;
	int fd = start_process(&process, NULL, NULL);
	size_t length;
	bool started;

	started = test_receive(fd, &answer) == HG_WIRE_DONE;
	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.spec.sides[HG_OUTER].ncolumns = 1;
	message.request.spec.sides[HG_OUTER].column_width[0] = 2;
	if (mistake == MISTAKE_NO_TABLE)
		message.request.spec.product.trial = (const HgTableTrial *) 8;
	if (mistake == MISTAKE_TABLE_BUILT)
	{
		message.request.spec.sides[HG_OUTER].ncolumns = 0;
		message.request.spec.product.kind = HG_PRODUCT_TABLE;
		message.request.trial.spec.key_width = message.request.spec.key_width;
	}
	hg_wire_header(&message.header, HG_WIRE_OPEN, 1, 1);
	hg_wire_send(fd, &message, -1);
	started =
		started && test_receive(fd, &answer) == HG_WIRE_DONE && answer.reply.error.status == HG_OK;

	hg_wire_header(&message.header, HG_WIRE_APPEND, 1, 2);
	message.request.offset = answer.reply.lease_offset;
	message.request.count = 16;
	length = message.header.length;
	switch (mistake)
	{
		case MISTAKE_MAGIC:
			message.header.magic++;
			break;
		case MISTAKE_VERSION:
			message.header.version++;
			break;
		case MISTAKE_TYPE:
			message.header.type = 999;
			break;
		case MISTAKE_LENGTH:
			message.header.length++;
			break;
		case MISTAKE_SHORT:
			length /= 2;
			break;
		case MISTAKE_SEQUENCE:
			message.header.sequence = 3;
			break;
		case MISTAKE_REPLY:
			hg_wire_header(&message.header, HG_WIRE_REPLY, 1, 2);
			length = message.header.length;
			break;
		case MISTAKE_NO_JOB:
			message.header.job = 2;
			break;
		case MISTAKE_JOB_TWICE:
			hg_wire_header(&message.header, HG_WIRE_OPEN, 1, 2);
			break;
		case MISTAKE_SIDE:
			message.request.side = 2;
			break;
		case MISTAKE_BEYOND:
			message.request.offset = 262144 - 32;
			break;
		case MISTAKE_OUTSIDE:
			message.request.offset += answer.reply.lease_bytes - 32;
			break;
		case MISTAKE_OVERFLOW:
			message.request.offset += 64;
			message.request.count = UINT64_C(1) << 62;
			break;
		case MISTAKE_UNALIGNED:
			message.request.offset += 4;
			break;
		case MISTAKE_NO_ROOM:
			hg_wire_header(&message.header, HG_WIRE_NEXT, 1, 2);
			message.request.count = 0;
			break;
		case MISTAKE_GATHERED:
			hg_wire_header(&message.header, HG_WIRE_NEXT, 1, 2);
			message.request.columns = HG_WIRE_COLUMN(HG_OUTER, 0) | HG_WIRE_COLUMN(HG_OUTER, 1);
			break;
		case MISTAKE_MODE:
			hg_wire_header(&message.header, HG_WIRE_MATCH, 1, 2);
			message.request.mode = 2;
			break;
		case MISTAKE_COLUMN:
			hg_wire_header(&message.header, HG_WIRE_APPEND_COLUMN, 1, 2);
			message.request.column = 1;
			break;
		case MISTAKE_NULLS:
			hg_wire_header(&message.header, HG_WIRE_APPEND_COLUMN, 1, 2);
			message.request.nulls = 2;
			break;
		case MISTAKE_COLUMN_OUTSIDE:
			/* there is room for the values, but not for what tells which of them are NULL */
			hg_wire_header(&message.header, HG_WIRE_APPEND_COLUMN, 1, 2);
			message.request.count = answer.reply.lease_bytes / 2;
			message.request.nulls = 1;
			break;
		case MISTAKE_REDUCE_MODE:
			hg_wire_header(&message.header, HG_WIRE_REDUCE, 1, 2);
			message.request.mode = 2;
			break;
		case MISTAKE_NO_RECORD:
			hg_wire_header(&message.header, HG_WIRE_NEXT_GROUPS, 1, 2);
			message.request.count = 0;
			break;
		case MISTAKE_NO_TABLE:
			hg_wire_header(&message.header, HG_WIRE_MEASURE, 1, 2);
			break;
		case MISTAKE_TABLE_BUILT:
			hg_wire_header(&message.header, HG_WIRE_BUILD, 1, 2);
			break;
		case MISTAKE_DESCRIPTOR:
			attached = STDERR_FILENO;
			break;
		case MISTAKE_BLOCKS:
			hg_wire_header(&message.header, HG_WIRE_OPEN, 2, 2);
			length = offsetof(HgWirePacked, blocks);
			message.header.length = (uint32_t) length;
			memset(message.packed.present, 0xff, sizeof(message.packed.present));
			break;
		case MISTAKE_NONE:
		case MISTAKE_COUNT:
			break;
	}
	if (attached >= 0)
		hg_wire_send(fd, &message, attached);
	else
		started = started && send(fd, &message, length, MSG_NOSIGNAL) == (ssize_t) length;

	if (mistake == MISTAKE_NONE)
	{
		started = started && test_receive(fd, &answer) == HG_WIRE_DONE &&
				  answer.header.sequence == 2 && answer.reply.error.status == HG_OK;
		close(fd);
		return test_process_ends(process, &status) && started && WIFEXITED(status) &&
			   WEXITSTATUS(status) == 0;
	}
	started = test_process_ends(process, &status) && started && WIFEXITED(status) &&
			  WEXITSTATUS(status) == 1;
	close(fd);
	return started;
}

static void
test_bad_session(void)
{
	hg_tap_ok(process_rejects(MISTAKE_NONE), "the process serves a session without a mistake");
	for (int mistake = MISTAKE_NONE + 1; mistake < MISTAKE_COUNT; mistake++)
		hg_tap_ok(process_rejects((Mistake) mistake), "the process ends over %s",
				  mistake_names[mistake]);
}

int
main(int argc, char **argv)
{
	if (test_choose_device(argc, argv))
	{
		test_starting();
		test_unavailable();
		test_cancel();
		test_no_room();
		test_leaving();
		test_death();
		test_refusals();
		test_tables_refused();
		test_unpinned();
	}
	test_several_jobs();
	test_openings();
	test_idle();
	test_inherited();
	test_bad_session();
	test_suite();
	return hg_tap_done();
}
