/*-------------------------------------------------------------------------
 *
 * test_server_devices.c
 *	  A device process of several on one machine: which device it uses, what it tells of the
 *	  others, and what a session counts that places jobs among them.
 *
 * The device process is the stand-in (hg_device_standin.c), which lies beside this program; another
 * one, with its path as the argument, has no switch for this.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* setenv */

#include "hg_tap.h"
#include "test_engine_suite.h"
#include "test_serving.h"

#include <stdlib.h>
#include <string.h>

#define DEVICES 3

/* What a session has open, as the client tells. */
typedef struct Noted
{
	int jobs;
	int64_t bytes;
	int calls;
} Noted;

static void
note(void *arg, int jobs, int64_t bytes)
{
	Noted *noted = arg;

	noted->jobs += jobs;
	noted->bytes += bytes;
	noted->calls++;
}

/* Start a stand-in that sees several devices, with one of them. */
static void
start_with(TestServer *server, const char *device)
{
	const char *const options[] = {"--device", device, NULL};

	setenv("HG_STANDIN_DEVICES", "3", 1);
	test_launch_server(server, options);
	unsetenv("HG_STANDIN_DEVICES");
}

static bool
is_used(const HgDeviceInfo *info)
{
	return strcmp(info->state, "ready") == 0 && info->memory_free > 0;
}

static bool
is_unused(const HgDeviceInfo *info)
{
	return strcmp(info->state, HG_DEVICE_UNUSED) == 0 && info->memory_free == 0 &&
		   info->memory_total > 0 && info->name[0] != '\0';
}

/* Each device is told of, and that which the process uses apart. */
static void
test_device_list(const char *device, int used)
{
	HgDeviceInfo infos[HG_WIRE_MAX_DEVICES];
	TestServer server;
	HgError error;
	bool good;
	int count = 0;

	start_with(&server, device);
	good = test_started_state(server.control, &error) == HG_WIRE_READY &&
		   hg_wire_client_devices(server.control, test_host_plain(), infos, HG_WIRE_MAX_DEVICES,
								  &count, &error) == HG_OK;
	good &= count == DEVICES;
	for (int i = 0; i < count; i++)
		good &= infos[i].ordinal == i && (i == used ? is_used(&infos[i]) : is_unused(&infos[i]));
	hg_tap_ok(good, "--device %s: it uses device %d of %d, and tells which", device, used, count);
	hg_tap_ok(test_stop_server(&server), "... and ends");
}

/* One that is not there is declined, before anything is served. */
static void
test_missing(void)
{
	TestServer server;
	HgError error;

	start_with(&server, "3");
	hg_tap_ok(test_started_state(server.control, &error) == HG_WIRE_UNAVAILABLE &&
				  strcmp(error.message, "there is no device 3") == 0,
			  "a device that is not there is declined");
	test_server_ends(&server, 1);
}

/* A job says which device it is for. */
static void
test_asked(void)
{
	static const struct
	{
		int device;
		HgStatus status;
		const char *message;
	} cases[] = {{-1, HG_OK, ""},
				 {1, HG_OK, ""},
				 {0, HG_UNAVAILABLE, "this process uses device 1, not 0"},
				 {2, HG_UNAVAILABLE, "this process uses device 1, not 2"},
				 {3, HG_UNAVAILABLE, "there is no device 3"}};
	TestServer server;
	HgWireClient *client;
	HgEngine *engine;
	HgError error;

	start_with(&server, "1");
	test_started_state(server.control, &error);
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		HgJobSpec spec = test_plain_spec;
		HgJob *job = NULL;
		HgStatus status;

		spec.device = cases[i].device;
		error.message[0] = '\0';
		status = engine->open(engine, test_host_plain(), &spec, &job, &error);
		hg_tap_ok(status == cases[i].status &&
					  (status == HG_OK || strcmp(error.message, cases[i].message) == 0),
				  "device 1 is asked for a job on device %d: %s", cases[i].device,
				  status == HG_OK ? "done" : error.message);
		if (status == HG_OK)
			engine->join->close(job);
	}
	hg_wire_client_destroy(client);
	test_stop_server(&server);
}

/* What decides where jobs go: those that a session has open, with the bytes that they expect. */
static void
test_noted(void)
{
	TestServer server;
	HgWireClient *client;
	HgEngine *engine;
	HgJobSpec spec = test_plain_spec;
	Noted noted = {0};
	HgJob *jobs[2] = {NULL, NULL};
	HgEngine calls;
	HgError error;

	start_with(&server, "0");
	test_started_state(server.control, &error);
	client = test_start_client(&server);
	engine = hg_wire_client_engine(client);
	calls = *engine;
	hg_wire_client_watch(client, note, &noted);
	spec.key_width = 8;
	spec.sides[HG_OUTER].expected_rows = 1000;
	spec.sides[HG_INNER].expected_rows = 200;
	for (int i = 0; i < 2; i++)
		if (engine->open(engine, test_host_plain(), &spec, &jobs[i], &error) != HG_OK)
			abort();
	hg_tap_ok(noted.jobs == 2 && noted.bytes == 2 * 1200 * 8,
			  "a session's open jobs are told of, with what they expect: %d jobs, %lld bytes",
			  noted.jobs, (long long) noted.bytes);
	engine->join->close(jobs[0]);
	hg_tap_ok(noted.jobs == 1 && noted.bytes == 1200 * 8, "... and that one is closed");

	spec.device = 2;
	noted.calls = 0;
	hg_tap_ok(engine->open(engine, test_host_plain(), &spec, &jobs[0], &error) != HG_OK &&
				  noted.calls == 2 && noted.jobs == 1 && noted.bytes == 1200 * 8,
			  "... or was refused, for which it has waited");

	hg_wire_client_destroy(client);
	hg_tap_ok(noted.jobs == 0 && noted.bytes == 0,
			  "what a closed connection has left open is gone");
	calls.join->close(jobs[1]);
	hg_tap_ok(noted.jobs == 0 && noted.bytes == 0, "... and not once more when it is closed");
	test_stop_server(&server);
}

int
main(int argc, char **argv)
{
	if (test_choose_device(argc, argv))
	{
		test_device_list("-1", 0);
		test_device_list("0", 0);
		test_device_list("2", 2);
		test_missing();
		test_asked();
		test_noted();
	}
	else
		hg_tap_skip("the stand-in alone has as many as it is told to", "several devices");
	return hg_tap_done();
}
