/*-------------------------------------------------------------------------
 *
 * test_session.c
 *	  What tests of device processes have in common: sessions, and their jobs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* usleep */

#include "test_session.h"

#include "hg_tap.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

char test_device_path[4096];

const HgJobSpec test_plain_spec = {.key_width = 4};

bool
test_choose_device(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');

	if (argc > 1)
		snprintf(test_device_path, sizeof(test_device_path), "%s", argv[1]);
	else
		snprintf(test_device_path, sizeof(test_device_path), "%.*shg_device_standin",
				 slash != NULL ? (int) (slash - argv[0] + 1) : 0, argv[0]);
	return argc <= 1;
}

double
test_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec * 1e3 + (double) now.tv_nsec * 1e-6;
}

bool
test_process_ends(pid_t process, int *status)
{
	double deadline = test_now_ms() + TEST_TIMEOUT_MS;

	while (test_now_ms() < deadline)
	{
		if (waitpid(process, status, WNOHANG) == process)
			return true;
		usleep(1000);
	}
	kill(process, SIGKILL);
	waitpid(process, status, 0);
	return false;
}

HgWireState
test_started_state(HgWireClient *client, HgError *error)
{
	HgWireState state;
	struct pollfd readable = {.fd = hg_wire_client_socket(client), .events = POLLIN};

	while ((state = hg_wire_client_state(client, error)) == HG_WIRE_STARTING)
		poll(&readable, 1, -1);
	return state;
}

HgWireResult
test_receive(int fd, HgWireMessage *message)
{
	struct pollfd readable = {.fd = fd, .events = POLLIN};
	HgWireResult result;
	int attached;

	poll(&readable, 1, TEST_TIMEOUT_MS);
	result = hg_wire_receive(fd, message, &attached);
	if (attached >= 0)
		close(attached);
	return result;
}

HgJob *
test_build_job(HgEngine *engine, const HgHost *host, const TestData *data, HgError *error)
{
	TestRun run = {.engine = engine, .host = host, .data = data, .spec = test_plain_spec};
	HgJob *job;

	run.spec.key_width = data->key_width;
	if (test_run_build(&run, &job, error) == HG_OK)
		return job;
	if (job != NULL)
		engine->join->close(job);
	return NULL;
}

bool
test_stream_works(HgEngine *engine, const TestData *data)
{
	uint32_t outer[1000];
	uint32_t inner[1000];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = 1000};
	uint64_t pairs = 0;
	uint64_t checksum = 0;
	HgError error = {0};
	HgJob *job = test_build_job(engine, test_host_plain(), data, &error);
	HgStatus status;

	if (job == NULL)
	{
		hg_tap_diag("no job: %s", error.message);
		return false;
	}
	status = engine->join->match(job, HG_MATCH_ALL, &error);
	while (status == HG_OK && (status = engine->join->next(job, &matches, &error)) == HG_OK &&
		   matches.count > 0)
	{
		for (size_t i = 0; i < matches.count; i++)
			checksum += test_pair_checksum(outer[i], inner[i]);
		pairs += matches.count;
	}
	engine->join->close(job);
	if (status != HG_OK)
		hg_tap_diag("no matches: %s", error.message);
	return status == HG_OK && pairs == data->pairs && checksum == data->checksum;
}

void
test_create_long_data(TestData *data)
{
	test_data_create(data, TEST_KEYS_UNIQUE, 4, 300000, 200000);
}

static bool
timeout_wait(void *arg, int fd)
{
	TestTimeoutHost *impatient = arg;
	struct pollfd readable = {.fd = fd, .events = POLLIN};
	double left = impatient->deadline - test_now_ms();

	if (poll(&readable, 1, left > 0 ? (int) left + 1 : 0) > 0)
		return true;
	if (impatient->victim == 0)
		return false;
	kill(impatient->victim, SIGKILL);
	poll(&readable, 1, TEST_TIMEOUT_MS);
	return true;
}

static bool
timeout_cancelled(void *arg)
{
	TestTimeoutHost *impatient = arg;

	return impatient->victim == 0 && test_now_ms() > impatient->deadline;
}

void
test_timeout_init(TestTimeoutHost *impatient, double wait_ms)
{
	impatient->host = *test_host_plain();
	impatient->host.wait_readable = timeout_wait;
	impatient->host.cancelled = timeout_cancelled;
	impatient->host.arg = impatient;
	impatient->deadline = test_now_ms() + wait_ms;
	impatient->victim = 0;
}
