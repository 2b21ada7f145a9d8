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
#include "test_session.h"

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

/* How long something that must not happen is waited for. */
#define QUIET_MS 50

/* What fills the stand-in's memory when it is started with FULL_BUDGET: it takes 32 bytes a row. */
#define FULL_ROWS 1000000
#define FULL_BUDGET "--memory-budget", "32000000"

/* A stand-in that listens. */
typedef struct Server
{
	pid_t process;
	HgWireClient *control;
	struct sockaddr_un address;
	socklen_t address_length;
} Server;

/* A session that speaks by hand. */
typedef struct Speaker
{
	int fd;
	uint64_t sequence;
	HgWireMessage answer; /* the last one received */
} Speaker;

/* ------------------------------------------------------------------------
 * Processes
 * ------------------------------------------------------------------------ */

/* Start a stand-in that listens, with more options, four strings at most. */
static void
start_server(Server *server, const char *const *options)
{
	const char *argv[16] = {test_device_path};
	int argc = 1;
	int pair[2];
	char control[16];
	char listening[16];
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	/* an address without a name: the kernel finds one that is free */
	memset(server, 0, sizeof(*server));
	server->address.sun_family = AF_UNIX;
	server->address_length = sizeof(server->address);
	if (listener < 0 ||
		bind(listener, (struct sockaddr *) &server->address, sizeof(sa_family_t)) != 0 ||
		getsockname(listener, (struct sockaddr *) &server->address, &server->address_length) != 0 ||
		listen(listener, 64) != 0 ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		abort();
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	fflush(stdout);
	server->process = fork();
	if (server->process < 0)
		abort();
	if (server->process == 0)
	{
		fcntl(pair[1], F_SETFD, 0);
		fcntl(listener, F_SETFD, 0);
		snprintf(control, sizeof(control), "%d", pair[1]);
		snprintf(listening, sizeof(listening), "%d", listener);
		argv[argc++] = "--socket-fd";
		argv[argc++] = control;
		argv[argc++] = "--listen-fd";
		argv[argc++] = listening;
		while (options != NULL && *options != NULL)
			argv[argc++] = *options++;
		execv(test_device_path, (char *const *) argv);
		_exit(127);
	}
	close(pair[1]);
	close(listener);
	server->control = hg_wire_client_create(pair[0]);
	if (test_settled_state(server->control, NULL) != HG_WIRE_READY)
		abort();
}

/* Leave it alone, and report whether it then ends in time and as it should. */
static bool
stop_server(Server *server)
{
	int status;

	hg_wire_client_destroy(server->control);
	return test_process_ends(server->process, &status) && WIFEXITED(status) &&
		   WEXITSTATUS(status) == 0;
}

/* Does it end in time, with this status? */
static bool
server_ends(Server *server, int exit_status)
{
	int status;
	bool ended = test_process_ends(server->process, &status);

	hg_wire_client_destroy(server->control);
	return ended && WIFEXITED(status) && WEXITSTATUS(status) == exit_status;
}

static HgDeviceStatus
status_of(Server *server)
{
	HgDeviceStatus status;

	memset(&status, 0, sizeof(status));
	hg_wire_client_status(server->control, test_host_plain(), &status, NULL);
	return status;
}

/* Wait until the process has so many jobs open and queued, and so many connections. */
static bool
settles(Server *server, uint32_t connections, uint32_t open, uint32_t queued)
{
	double deadline = test_now_ms() + TEST_PATIENCE_MS;
	HgDeviceStatus status;

	do
	{
		status = status_of(server);
		if (status.connections == connections && status.jobs_open == open &&
			status.jobs_queued == queued)
			return true;
		usleep(1000);
	} while (test_now_ms() < deadline);
	hg_tap_diag("%u connections, %u jobs open, %u queued", status.connections, status.jobs_open,
				status.jobs_queued);
	return false;
}

static int
connect_to(Server *server)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *) &server->address, server->address_length) != 0)
		abort();
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* A session that is ready. */
static HgWireClient *
start_client(Server *server)
{
	HgWireClient *client = hg_wire_client_create(connect_to(server));

	if (client == NULL || test_settled_state(client, NULL) != HG_WIRE_READY)
		abort();
	return client;
}

/* ------------------------------------------------------------------------
 * Speaking by hand
 * ------------------------------------------------------------------------ */

static void
start_speaker(Server *server, Speaker *speaker)
{
	memset(speaker, 0, sizeof(*speaker));
	speaker->fd = connect_to(server);
	if (test_receive(speaker->fd, &speaker->answer) != HG_WIRE_DONE ||
		speaker->answer.header.type != HG_WIRE_HELLO)
		abort();
}

/* Send a request. */
static void
ask(Speaker *speaker, HgWireType type, uint32_t job, HgWireMessage *message)
{
	hg_wire_header(&message->header, type, job, ++speaker->sequence);
	hg_wire_send(speaker->fd, message, -1);
}

static void
ask_plainly(Speaker *speaker, HgWireType type, uint32_t job)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	message.request.count = 1;
	ask(speaker, type, job, &message);
}

static void
send_note(Speaker *speaker, HgWireType type, uint32_t job)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	hg_wire_header(&message.header, type, job, speaker->sequence);
	hg_wire_send(speaker->fd, &message, -1);
}

/* Ask for a job that expects so many rows. */
static void
ask_open(Speaker *speaker, uint32_t job, uint64_t rows, uint64_t group)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.spec.expected_rows[HG_OUTER] = rows / 2;
	message.request.spec.expected_rows[HG_INNER] = rows - rows / 2;
	message.request.spec.group = group;
	ask(speaker, HG_WIRE_OPEN, job, &message);
}

/* Has the last request been answered like this, or is it in time? */
static bool
is_answered(Speaker *speaker, HgStatus status)
{
	return test_receive(speaker->fd, &speaker->answer) == HG_WIRE_DONE &&
		   speaker->answer.header.type == HG_WIRE_REPLY &&
		   speaker->answer.header.sequence == speaker->sequence &&
		   speaker->answer.reply.error.status == status;
}

/* Does nothing come for a while? */
static bool
is_waiting(Speaker *speaker)
{
	struct pollfd readable = {.fd = speaker->fd, .events = POLLIN};

	return poll(&readable, 1, QUIET_MS) == 0;
}

/* Is the connection at its end? */
static bool
is_cut_off(Speaker *speaker)
{
	return test_receive(speaker->fd, &speaker->answer) == HG_WIRE_EOF;
}

static void
end_speaker(Speaker *speaker)
{
	close(speaker->fd);
}

/* ------------------------------------------------------------------------
 * Sessions side by side
 * ------------------------------------------------------------------------ */

static void
test_control(void)
{
	Server server;
	HgWireClient *client;
	HgEngine *engine;
	HgDeviceInfo info;
	HgDeviceStatus status;
	HgError error = {0};
	HgJob *job;
	int count = 0;

	start_server(&server, NULL);
	engine = hg_wire_client_engine(server.control);
	hg_tap_ok(hg_wire_client_devices(server.control, test_host_plain(), &info, 1, &count, &error) ==
					  HG_OK &&
				  count == 1,
			  "the control connection lists devices");
	hg_tap_ok(engine->open(engine, test_host_plain(), &test_plain_spec, &job, &error) == HG_INVALID,
			  "it is not for jobs");
	status = status_of(&server);
	hg_tap_ok(status.connections == 0 && status.jobs_open == 0 && status.jobs_done == 0 &&
				  status.staging_bytes > 0 && status.staging_leased == 0 &&
				  status.memory_budget > 0 && status.memory_held == 0,
			  "a status before anything has happened");

	client = start_client(&server);
	hg_tap_ok(settles(&server, 1, 0, 0), "a session is counted");
	hg_tap_ok(hg_wire_client_status(client, test_host_plain(), &status, &error) == HG_OK &&
				  status.connections == 1,
			  "and can ask for the status too");
	hg_wire_client_destroy(client);
	hg_tap_ok(settles(&server, 0, 0, 0), "it is counted no more when it is gone");
	hg_tap_ok(stop_server(&server), "the process ends with its control connection");
}

/* Jobs of several sessions, a step of each in turn. */
static void
test_turns(void)
{
	enum
	{
		SESSIONS = 4
	};
	Server server;
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
	start_server(&server, NULL);
	for (int i = 0; i < SESSIONS; i++)
	{
		clients[i] = start_client(&server);
		engines[i] = hg_wire_client_engine(clients[i]);
	}
	for (int i = 0; i < SESSIONS; i++)
	{
		jobs[i] = test_build_job(engines[i], test_host_plain(), &data, &error);
		good = good && jobs[i] != NULL && engines[i]->match(jobs[i], HG_MATCH_ALL, &error) == HG_OK;
	}
	status = status_of(&server);
	good = good && status.jobs_open == SESSIONS && status.memory_held > 0;
	while (good && more)
	{
		more = false;
		for (int i = 0; i < SESSIONS; i++)
		{
			HgMatches matches = {.outer = outer, .inner = inner, .capacity = 500};

			good = good && engines[i]->next(jobs[i], &matches, &error) == HG_OK;
			for (size_t k = 0; k < matches.count; k++)
				sums[i] += test_pair_checksum(outer[k], inner[k]);
			pairs[i] += matches.count;
			more = more || matches.count > 0;
		}
	}
	for (int i = 0; good && i < SESSIONS; i++)
	{
		good = pairs[i] == data.pairs && sums[i] == data.checksum;
		engines[i]->close(jobs[i]);
	}
	hg_tap_ok(good, "jobs of four sessions take turns");
	good = good && settles(&server, SESSIONS, 0, 0);
	status = status_of(&server);
	hg_tap_ok(good && status.jobs_done == SESSIONS && status.jobs_failed == 0 &&
				  status.staging_leased == 0 && status.memory_reserved == 0 &&
				  status.memory_held == 0 && status.memory_peak > 0,
			  "they leave nothing behind but their number");
	for (int i = 0; i < SESSIONS; i++)
		hg_wire_client_destroy(clients[i]);
	hg_tap_ok(stop_server(&server), "the process ends after them");
	test_data_destroy(&data);
}

/* What one of many sessions does; returns its exit status. */
static int
crowd_member(Server *server, int number)
{
	static const TestKeys kinds[] = {TEST_KEYS_UNIQUE, TEST_KEYS_DUPLICATES, TEST_KEYS_SKEWED};
	HgWireClient *client = start_client(server);
	HgEngine *engine = hg_wire_client_engine(client);
	bool good = true;

	for (int round = 0; good && round < 6; round++)
	{
		TestData data;
		TestImpatient impatient;
		HgError error;
		HgJob *job;

		test_data_create(&data, kinds[(number + round) % 3], round % 2 == 0 ? 4 : 8,
						 2000 + 1000 * number, 3000);
		good = test_stream_works(engine, &data);

		/* now and then one thinks better of it */
		test_impatient_init(&impatient, number + round);
		job = test_build_job(engine, &impatient.host, &data, &error);
		good = good && (job != NULL || error.status == HG_CANCELLED);
		if (job != NULL)
			engine->close(job);
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
	Server server;
	pid_t members[MEMBERS];
	HgDeviceStatus status;
	bool good = true;

	start_server(&server, options);
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
	good = settles(&server, 0, 0, 0);
	status = status_of(&server);
	hg_tap_ok(good && status.staging_leased == 0 && status.memory_reserved == 0 &&
				  status.memory_held == 0 && status.jobs_failed == 0 &&
				  status.jobs_done + status.jobs_cancelled >= 36,
			  "and leave nothing behind");
	hg_tap_ok(stop_server(&server), "the process ends after them");
}

/* ------------------------------------------------------------------------
 * The queue
 * ------------------------------------------------------------------------ */

static void
test_queue(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	Server server;
	Speaker first;
	Speaker second;
	Speaker third;
	Speaker fourth;
	HgDeviceStatus status;

	start_server(&server, options);
	start_speaker(&server, &first);
	start_speaker(&server, &second);
	start_speaker(&server, &third);
	start_speaker(&server, &fourth);

	ask_open(&first, 1, FULL_ROWS + 1, 0);
	hg_tap_ok(is_answered(&first, HG_DEVICE_OUT_OF_MEMORY),
			  "a job that could never fit is refused at once");
	ask_open(&first, 2, FULL_ROWS / 2 + 1, 0);
	hg_tap_ok(is_answered(&first, HG_OK) && first.answer.reply.lease_bytes > 0,
			  "one that fits is admitted, with a lease");
	status = status_of(&server);
	hg_tap_ok(status.memory_reserved == (FULL_ROWS / 2 + 1) * 32 &&
				  status.staging_leased == first.answer.reply.lease_bytes,
			  "which the status tells");

	ask_open(&second, 1, FULL_ROWS, 0);
	hg_tap_ok(settles(&server, 4, 1, 1), "one that does not fit now is queued");
	ask_open(&third, 1, 1000, 0);
	hg_tap_ok(settles(&server, 4, 1, 2) && is_waiting(&third) && is_waiting(&second),
			  "and a small one that comes later waits behind it");
	ask_open(&first, 3, FULL_ROWS / 2, 0);
	hg_tap_ok(is_answered(&first, HG_DEVICE_OUT_OF_MEMORY),
			  "a second job of a connection is refused rather than queued");
	ask_open(&first, 4, 1000, 0);
	hg_tap_ok(is_answered(&first, HG_OK), "but admitted, past the queue, where it fits");

	send_note(&first, HG_WIRE_CLOSE, 4);
	send_note(&first, HG_WIRE_CLOSE, 2);
	hg_tap_ok(is_answered(&second, HG_OK) && is_waiting(&third),
			  "the first in the queue is admitted when there is room, and no other");
	ask_open(&fourth, 1, FULL_ROWS, 0);
	hg_tap_ok(settles(&server, 4, 1, 2), "another comes");
	send_note(&third, HG_WIRE_CANCEL, 1);
	hg_tap_ok(is_answered(&third, HG_CANCELLED), "a job is cancelled while it is queued");
	hg_tap_ok(is_waiting(&fourth), "which lets in nobody for whom there is no room");
	ask_open(&third, 2, FULL_ROWS, 0);
	hg_tap_ok(settles(&server, 4, 1, 2), "one queues again");
	end_speaker(&fourth);
	hg_tap_ok(settles(&server, 3, 1, 1), "a session goes away while it is queued");
	end_speaker(&second);
	hg_tap_ok(is_answered(&third, HG_OK), "a job goes with its session, and the next is admitted");
	status = status_of(&server);
	hg_tap_ok(status.jobs_cancelled == 3 && status.jobs_done == 2 && status.jobs_failed == 0,
			  "all of them are counted");
	end_speaker(&first);
	end_speaker(&third);
	hg_tap_ok(settles(&server, 0, 0, 0) && status_of(&server).memory_reserved == 0 &&
				  status_of(&server).staging_leased == 0,
			  "nothing is left");
	hg_tap_ok(stop_server(&server), "the process ends after that");
}

static void
test_impatience(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	Server server;
	Speaker first;
	HgWireClient *client;
	HgEngine *engine;
	HgJobSpec large = test_plain_spec;
	TestImpatient impatient;
	TestData data;
	HgError error = {0};
	HgJob *job;
	double started = test_now_ms();

	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 1000, 1000);
	start_server(&server, options);
	start_speaker(&server, &first);
	client = start_client(&server);
	engine = hg_wire_client_engine(client);
	ask_open(&first, 1, FULL_ROWS, 0);
	is_answered(&first, HG_OK);
	large.expected_rows[HG_OUTER] = large.expected_rows[HG_INNER] = FULL_ROWS / 2;
	for (int round = 0; round < 20; round++)
	{
		test_impatient_init(&impatient, round % 3);
		if (engine->open(engine, &impatient.host, &large, &job, &error) != HG_CANCELLED)
			break;
	}
	hg_tap_ok(error.status == HG_CANCELLED && test_now_ms() - started < TEST_PATIENCE_MS,
			  "a client gives up waiting in the queue, again and again");
	hg_tap_ok(settles(&server, 2, 1, 0), "the queue has forgotten it");
	send_note(&first, HG_WIRE_CLOSE, 1);
	hg_tap_ok(test_stream_works(engine, &data), "its connection is as good as new");
	hg_wire_client_destroy(client);
	end_speaker(&first);
	hg_tap_ok(stop_server(&server), "the process ends after that");
	test_data_destroy(&data);
}

static void
test_groups(void)
{
	static const char *const options[] = {FULL_BUDGET, NULL};
	Server server;
	Speaker first;
	Speaker second;
	Speaker third;

	start_server(&server, options);
	start_speaker(&server, &first);
	start_speaker(&server, &second);
	start_speaker(&server, &third);

	ask_open(&first, 1, FULL_ROWS / 4 * 3, 7);
	is_answered(&first, HG_OK);
	ask_open(&second, 1, FULL_ROWS / 2, 7);
	hg_tap_ok(is_answered(&second, HG_DEVICE_OUT_OF_MEMORY),
			  "a job does not wait while another of its group is open");
	ask_open(&third, 1, FULL_ROWS, 8);
	hg_tap_ok(settles(&server, 3, 1, 1), "one of another group does");
	ask_open(&second, 2, FULL_ROWS / 4, 7);
	hg_tap_ok(is_answered(&second, HG_OK), "past which one of the open group gets what is free");
	send_note(&second, HG_WIRE_CLOSE, 2);

	/* two of a group wait, and the first of them gets in */
	ask_open(&second, 3, FULL_ROWS / 2, 8);
	hg_tap_ok(settles(&server, 3, 1, 2), "two of a group wait while none of it is open");
	send_note(&first, HG_WIRE_CLOSE, 1);
	hg_tap_ok(is_answered(&third, HG_OK), "the first of them is admitted");
	hg_tap_ok(is_answered(&second, HG_DEVICE_OUT_OF_MEMORY),
			  "the other, which now may not wait, is refused");

	end_speaker(&first);
	end_speaker(&second);
	end_speaker(&third);
	hg_tap_ok(stop_server(&server), "the process ends after that");
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
		MOST = 32
	};
	Server server;
	Speaker speakers[MOST];
	uint64_t ends[MOST] = {0};
	uint64_t leased = 0;
	bool apart = true;
	int count = 0;

	start_server(&server, options);
	for (;;)
	{
		start_speaker(&server, &speakers[count]);
		ask_open(&speakers[count], 1, 1000000, 0);
		if (is_waiting(&speakers[count]) || count == MOST - 1)
			break;
		is_answered(&speakers[count], HG_OK);
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
	hg_tap_ok(count >= 8 && count < MOST && apart, "leases lie apart, until staging is full");
	hg_tap_ok(leased == 49152 && status_of(&server).staging_leased == leased,
			  "which is three quarters of it");

	ask_plainly(&speakers[0], HG_WIRE_BUILD, 1);
	hg_tap_ok(is_answered(&speakers[0], HG_OK) && is_answered(&speakers[count], HG_OK),
			  "who has built gives his lease to the next");
	ask_plainly(&speakers[0], HG_WIRE_MATCH, 1);
	hg_tap_ok(is_answered(&speakers[0], HG_OK), "and goes on without");
	ask_plainly(&speakers[0], HG_WIRE_APPEND, 1);
	hg_tap_ok(is_cut_off(&speakers[0]), "who appends without a lease is cut off");
	ask_plainly(&speakers[1], HG_WIRE_BUILD, 1);
	hg_tap_ok(is_answered(&speakers[1], HG_OK), "others are not");
	for (int i = 0; i <= count; i++)
		end_speaker(&speakers[i]);
	hg_tap_ok(settles(&server, 0, 0, 0) && status_of(&server).staging_leased == 0,
			  "nothing stays leased");
	hg_tap_ok(stop_server(&server), "the process ends after that");
}

/* Append count keys, all the same, to both sides, build and match: count * count matches. */
static bool
prepare_matches(Speaker *speaker, unsigned char *staging, uint64_t count)
{
	HgWireMessage message;
	bool good;

	ask_open(speaker, 1, 2 * count, 0);
	good = is_answered(speaker, HG_OK);
	memset(&message, 0, sizeof(message));
	message.request.offset = speaker->answer.reply.lease_offset;
	message.request.count = count;
	memset(staging + message.request.offset, 0, count * 4);
	for (uint32_t side = HG_OUTER; good && side <= HG_INNER; side++)
	{
		message.request.side = side;
		ask(speaker, HG_WIRE_APPEND, 1, &message);
		good = is_answered(speaker, HG_OK);
	}
	ask_plainly(speaker, HG_WIRE_BUILD, 1);
	good = good && is_answered(speaker, HG_OK);
	ask_plainly(speaker, HG_WIRE_MATCH, 1);
	return good && is_answered(speaker, HG_OK);
}

/* Ask for more matches than fit. */
static void
ask_next(Speaker *speaker)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	message.request.count = UINT64_C(1) << 40;
	ask(speaker, HG_WIRE_NEXT, 1, &message);
}

static void
test_results(void)
{
	static const char *const options[] = {"--staging-bytes", "65536", NULL};
	enum
	{
		MOST = 16
	};
	Server server;
	Speaker speakers[MOST];
	HgWireMessage hello;
	unsigned char *staging;
	uint64_t held = 0;
	bool good = true;
	int count = 0;
	int fd;
	int memory;

	start_server(&server, options);
	fd = connect_to(&server);
	poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, TEST_PATIENCE_MS);
	if (hg_wire_receive(fd, &hello, &memory) != HG_WIRE_DONE)
		abort();
	staging = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (staging == MAP_FAILED)
		abort();
	close(memory);
	close(fd);

	for (; good && count < MOST; count++)
	{
		start_speaker(&server, &speakers[count]);
		good = prepare_matches(&speakers[count], staging, 200);
		ask_next(&speakers[count]);
		if (is_waiting(&speakers[count]))
			break;
		good = good && is_answered(&speakers[count], HG_OK) &&
			   speakers[count].answer.reply.count > 0 &&
			   speakers[count].answer.reply.count * 8 <= speakers[count].answer.reply.lease_bytes;
		held += speakers[count].answer.reply.lease_bytes;
	}
	hg_tap_ok(good && count >= 3 && count < MOST - 1 && held == 16384 &&
				  status_of(&server).staging_leased == held,
			  "results that nobody has fetched fill a quarter of staging");
	send_note(&speakers[1], HG_WIRE_RELEASE, 1);
	hg_tap_ok(is_answered(&speakers[count], HG_OK), "who releases them lets the next one in");
	ask_next(&speakers[1]);
	hg_tap_ok(is_waiting(&speakers[1]), "and queues up behind for more");
	send_note(&speakers[1], HG_WIRE_CANCEL, 1);
	hg_tap_ok(is_answered(&speakers[1], HG_CANCELLED), "which can be cancelled");
	ask_next(&speakers[2]);
	hg_tap_ok(is_answered(&speakers[2], HG_OK), "a request for more releases the results before");
	start_speaker(&server, &speakers[count + 1]);
	good = prepare_matches(&speakers[count + 1], staging, 200);
	ask_next(&speakers[count + 1]);
	good = good && is_waiting(&speakers[count + 1]);
	end_speaker(&speakers[0]);
	hg_tap_ok(good && is_answered(&speakers[count + 1], HG_OK), "and so does going away");
	for (int i = 1; i <= count + 1; i++)
		end_speaker(&speakers[i]);
	hg_tap_ok(settles(&server, 0, 0, 0) && status_of(&server).staging_leased == 0,
			  "nothing stays leased");
	hg_tap_ok(stop_server(&server), "the process ends after that");
	munmap(staging, 65536);
}

/* ------------------------------------------------------------------------
 * Trouble
 * ------------------------------------------------------------------------ */

static void
test_trouble(void)
{
	Server server;
	Speaker broken;
	Speaker leaving;
	HgWireClient *client;
	HgEngine *engine;
	TestData data;
	HgDeviceStatus status;
	double started;

	test_data_create(&data, TEST_KEYS_DUPLICATES, 4, 5000, 5000);
	setenv("HG_STANDIN_COUNT_MS", "30000", 1);
	start_server(&server, NULL);
	unsetenv("HG_STANDIN_COUNT_MS");
	client = start_client(&server);
	engine = hg_wire_client_engine(client);

	start_speaker(&server, &broken);
	send(broken.fd, "nonsense", 8, MSG_NOSIGNAL);
	hg_tap_ok(is_cut_off(&broken), "a connection that speaks nonsense is cut off");
	hg_tap_ok(test_stream_works(engine, &data), "another does not notice");
	end_speaker(&broken);

	start_speaker(&server, &leaving);
	ask_open(&leaving, 1, 1000, 0);
	is_answered(&leaving, HG_OK);
	ask_plainly(&leaving, HG_WIRE_BUILD, 1);
	is_answered(&leaving, HG_OK);
	ask_plainly(&leaving, HG_WIRE_COUNT, 1);
	hg_tap_ok(is_waiting(&leaving), "a job takes its time");
	started = test_now_ms();
	status = status_of(&server);
	hg_tap_ok(status.jobs_open == 1 && test_now_ms() - started < TEST_PATIENCE_MS / 2,
			  "the status is told meanwhile");
	hg_tap_ok(test_stream_works(engine, &data), "and others work");
	end_speaker(&leaving);
	hg_tap_ok(settles(&server, 1, 0, 0), "its session goes away in the midst, and it with it");
	status = status_of(&server);
	hg_tap_ok(status.jobs_done == 2 && status.jobs_cancelled == 1 && status.memory_held == 0 &&
				  status.memory_reserved == 0 && status.staging_leased == 0,
			  "it is counted as cancelled, and holds nothing");

	start_speaker(&server, &leaving);
	ask_open(&leaving, 1, 1000, 0);
	is_answered(&leaving, HG_OK);
	ask_plainly(&leaving, HG_WIRE_BUILD, 1);
	is_answered(&leaving, HG_OK);
	ask_plainly(&leaving, HG_WIRE_COUNT, 1);
	is_waiting(&leaving);
	started = test_now_ms();
	hg_tap_ok(stop_server(&server) && test_now_ms() - started < TEST_PATIENCE_MS / 2,
			  "the end of the control connection ends the process in the midst of a job");
	hg_tap_ok(is_cut_off(&leaving) && hg_wire_client_state(client, NULL) == HG_WIRE_LOST,
			  "which its sessions notice");
	end_speaker(&leaving);
	hg_wire_client_destroy(client);
	test_data_destroy(&data);
}

/* Is a process under this user id cut off without a hello? */
static bool
stranger_is_cut_off(Server *server, uid_t stranger)
{
	pid_t process = fork();
	int status;

	if (process < 0)
		abort();
	if (process == 0)
	{
		Speaker speaker = {0};

		if (setuid(stranger) != 0)
			_exit(2);
		speaker.fd = connect_to(server);
		_exit(is_cut_off(&speaker) ? 0 : 1);
	}
	return waitpid(process, &status, 0) == process && status == 0;
}

static void
test_strangers(void)
{
	Server server;

	start_server(&server, NULL);
	if (geteuid() == 0)
		hg_tap_ok(stranger_is_cut_off(&server, 65534), "another user's process is cut off");
	else
		hg_tap_skip("only root can be another user", "another user's process is cut off");
	hg_tap_ok(stop_server(&server), "the process ends after that");
}

static void
test_failing_device(void)
{
	Server server;
	Speaker victim;
	HgWireClient *client;

	setenv("HG_STANDIN_FAIL", "1", 1);
	start_server(&server, NULL);
	unsetenv("HG_STANDIN_FAIL");
	client = start_client(&server);
	start_speaker(&server, &victim);
	ask_open(&victim, 1, 1000, 0);
	is_answered(&victim, HG_OK);
	ask_plainly(&victim, HG_WIRE_BUILD, 1);
	hg_tap_ok(is_answered(&victim, HG_DEVICE_FAILED), "who finds that the device fails is told");
	hg_tap_ok(server_ends(&server, 3), "the process ends, and says so");
	hg_tap_ok(hg_wire_client_state(client, NULL) == HG_WIRE_LOST, "which other sessions notice");
	hg_wire_client_destroy(client);
	end_speaker(&victim);
}

static void
test_bad_control(void)
{
	Server server;
	HgWireMessage message;

	start_server(&server, NULL);
	send(hg_wire_client_socket(server.control), "nonsense", 8, MSG_NOSIGNAL);
	hg_tap_ok(server_ends(&server, 1), "nonsense on the control connection ends the process");

	start_server(&server, NULL);
	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	hg_wire_header(&message.header, HG_WIRE_OPEN, 1, 1);
	hg_wire_send(hg_wire_client_socket(server.control), &message, -1);
	hg_tap_ok(server_ends(&server, 1), "and so does a job there");
}

static void
test_idle(void)
{
	static const char *const options[] = {"--idle-timeout", "1", NULL};
	Server server;
	Speaker speaker;
	double started;
	double closed;

	start_server(&server, options);
	started = test_now_ms();
	start_speaker(&server, &speaker);
	ask_open(&speaker, 1, 1000, 0);
	is_answered(&speaker, HG_OK);
	while (test_now_ms() - started < 1300)
		usleep(10000);
	hg_tap_ok(status_of(&server).jobs_open == 1, "a process with a job is not idle");
	send_note(&speaker, HG_WIRE_CLOSE, 1);
	closed = test_now_ms();
	while (test_now_ms() - closed < 800)
	{
		status_of(&server);
		usleep(10000);
	}
	hg_tap_ok(waitpid(server.process, NULL, WNOHANG) == 0, "without one it waits its time");
	hg_tap_ok(server_ends(&server, 0),
			  "then it ends, whoever is connected and asks for its status");
	hg_tap_ok(is_cut_off(&speaker), "which its sessions notice");
	end_speaker(&speaker);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		snprintf(test_device_path, sizeof(test_device_path), "%s", argv[1]);
	else
	{
		test_find_standin(argv[0]);
		test_queue();
		test_impatience();
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
