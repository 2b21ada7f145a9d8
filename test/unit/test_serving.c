/*-------------------------------------------------------------------------
 *
 * test_serving.c
 *	  A device process that serves many sessions, for tests: started, connected to, spoken to.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* SOCK_SEQPACKET pairs */

#include "test_serving.h"
#include "hg_tap.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------------
 * Processes
 * ------------------------------------------------------------------------ */

void
test_launch_server(TestServer *server, const char *const *options)
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
}

void
test_start_server(TestServer *server, const char *const *options)
{
	test_launch_server(server, options);
	if (test_started_state(server->control, NULL) != HG_WIRE_READY)
		abort();
}

void
test_start_server_env(TestServer *server, const char *name, const char *value)
{
	setenv(name, value, 1);
	test_start_server(server, NULL);
	unsetenv(name);
}

const char *
test_new_file(void)
{
	const char *folder = getenv("TMPDIR");
	static char name[1024];
	int file;

	snprintf(name, sizeof(name), "%s/hashgraph-test-XXXXXX", folder != NULL ? folder : "/tmp");
	file = mkstemp(name);
	if (file < 0)
		abort();
	close(file);
	return name;
}

bool
test_stop_server(TestServer *server)
{
	int status;

	hg_wire_client_destroy(server->control);
	return test_process_ends(server->process, &status) && WIFEXITED(status) &&
		   WEXITSTATUS(status) == 0;
}

bool
test_server_ends(TestServer *server, int exit_status)
{
	int status;
	bool ended = test_process_ends(server->process, &status);

	hg_wire_client_destroy(server->control);
	return ended && WIFEXITED(status) && WEXITSTATUS(status) == exit_status;
}

HgDeviceStatus
test_status_of(TestServer *server)
{
	HgDeviceStatus status;

	memset(&status, 0, sizeof(status));
	hg_wire_client_status(server->control, test_host_plain(), &status, NULL);
	return status;
}

bool
test_counts_become(TestServer *server, uint32_t connections, uint32_t open, uint32_t queued)
{
	double deadline = test_now_ms() + TEST_TIMEOUT_MS;
	HgDeviceStatus status;

	do
	{
		status = test_status_of(server);
		if (status.connections == connections && status.jobs_open == open &&
			status.jobs_queued == queued)
			return true;
		usleep(1000);
	} while (test_now_ms() < deadline);
	hg_tap_diag("%u connections, %u jobs open, %u queued", status.connections, status.jobs_open,
				status.jobs_queued);
	return false;
}

bool
test_counts_jobs(TestServer *server, uint32_t jobs)
{
	double deadline = test_now_ms() + TEST_TIMEOUT_MS;
	HgDeviceStatus status;

	do
	{
		status = test_status_of(server);
		if (status.jobs_open + status.jobs_queued == jobs)
			return true;
		usleep(1000);
	} while (test_now_ms() < deadline);
	hg_tap_diag("%u jobs open, %u queued", status.jobs_open, status.jobs_queued);
	return false;
}

int
test_connect_to(TestServer *server)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *) &server->address, server->address_length) != 0)
		abort();
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

HgWireClient *
test_start_client(TestServer *server)
{
	HgWireClient *client = hg_wire_client_create(test_connect_to(server));

	if (client == NULL || test_started_state(client, NULL) != HG_WIRE_READY)
		abort();
	return client;
}

/* ------------------------------------------------------------------------
 * Speaking by hand
 * ------------------------------------------------------------------------ */

void
test_start_speaker(TestServer *server, TestSpeaker *speaker)
{
	memset(speaker, 0, sizeof(*speaker));
	speaker->fd = test_connect_to(server);
	if (test_receive(speaker->fd, &speaker->answer) != HG_WIRE_DONE ||
		speaker->answer.header.type != HG_WIRE_HELLO)
		abort();
}

void
test_set_kinds(HgWireMessage *message)
{
	HgWireRequest *request = &message->request;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		request->spec.sides[side].kind =
			request->replica[side].shape.key_width > 0	 ? HG_SOURCE_REPLICA
			: message->opening.pages[side].page_size > 0 ? HG_SOURCE_PAGES
														 : HG_SOURCE_ROWS;
	if (request->new_replica.shape.key_width > 0)
		request->spec.product.kind = HG_PRODUCT_GRAPH;
	else if (request->new_column.shape.width > 0)
		request->spec.product.kind = HG_PRODUCT_COLUMN;
}

void
test_ask(TestSpeaker *speaker, HgWireType type, uint32_t job, HgWireMessage *message)
{
	if (type == HG_WIRE_OPEN)
		test_set_kinds(message);
	hg_wire_header(&message->header, type, job, ++speaker->sequence);
	hg_wire_send(speaker->fd, message, -1);
}

void
test_ask_plainly(TestSpeaker *speaker, HgWireType type, uint32_t job)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	message.request.count = 1;
	test_ask(speaker, type, job, &message);
}

void
test_send_note(TestSpeaker *speaker, HgWireType type, uint32_t job)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	hg_wire_header(&message.header, type, job, speaker->sequence);
	hg_wire_send(speaker->fd, &message, -1);
}

void
test_ask_open(TestSpeaker *speaker, uint32_t job, uint64_t rows, uint64_t group)
{
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	message.request.spec = test_plain_spec;
	message.request.spec.sides[HG_OUTER].expected_rows = rows / 2;
	message.request.spec.sides[HG_INNER].expected_rows = rows - rows / 2;
	message.request.spec.group = group;
	test_ask(speaker, HG_WIRE_OPEN, job, &message);
}

bool
test_is_answered(TestSpeaker *speaker, HgStatus status)
{
	return test_receive(speaker->fd, &speaker->answer) == HG_WIRE_DONE &&
		   speaker->answer.header.type == HG_WIRE_REPLY &&
		   speaker->answer.header.sequence == speaker->sequence &&
		   speaker->answer.reply.error.status == status;
}

bool
test_is_waiting(TestSpeaker *speaker)
{
	struct pollfd readable = {.fd = speaker->fd, .events = POLLIN};
	double deadline = test_now_ms() + TEST_TIMEOUT_MS;
	int unread;

	/* a machine that is busy may not have come to the request yet */
	while (ioctl(speaker->fd, SIOCOUTQ, &unread) == 0 && unread > 0 && test_now_ms() < deadline)
		usleep(1000);
	return poll(&readable, 1, TEST_QUIET_MS) == 0;
}

bool
test_is_cut_off(TestSpeaker *speaker)
{
	return test_receive(speaker->fd, &speaker->answer) == HG_WIRE_EOF;
}

void
test_end_speaker(TestSpeaker *speaker)
{
	close(speaker->fd);
}
