/*-------------------------------------------------------------------------
 *
 * hg_device.c
 *	  This session's connection to a device process.
 *
 * No PostgreSQL process ever loads CUDA: a crash of the driver must not be a crash
 * of a backend, which would restart the whole cluster.
 *
 * THE SERVER'S PROCESS.  hg_device_shared.h says in which state it is and what a session does then.
 * The connection is kept until the session ends, or another process has taken the place of the
 * one that it leads to: epochs tell.
 *
 * A PROCESS OF THE SESSION'S OWN.  The session holds one end of a socket pair, and the process ends
 * when that closes, whichever way the session goes.  That the device is of no use (no program, no
 * driver, no device) is remembered for a while, so that not every join pays for finding out
 * again.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/timestamp.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_shared.h"
#include "backend/device/hg_device_spawn.h"
#include "backend/hg_host.h"
#include "engine/hg_ranges.h"

/* How long an unusable device is left alone, and how long a start may take. */
#define HG_DEVICE_RETRY_MS (60 * 1000)
#define HG_DEVICE_START_MS (60 * 1000)

/* How long a process of its own may take to go after its socket was closed. */
#define HG_DEVICE_GRACE_MS 500

/* How long after its start a server may still be about to bring up its worker. */
#define HG_DEVICE_WORKER_MS (10 * 1000)

/* How often a session that waits looks itself, and how often it lets one process turn it away. */
#define HG_DEVICE_LOOK_MS 100
#define HG_DEVICE_REFUSALS 50

/*
 * What the way to the device process and back adds to what its engine takes there: the messages
 * of a job, 12 us there and back each, and a copy of each key, value and row number in staging.
 */
#define HG_DEVICE_JOB_MS 0.1
#define HG_DEVICE_MESSAGE_MS 0.012
#define HG_DEVICE_BYTE_NS 0.1

/* How long a session of its own process waits to be told of its devices. */
#define HG_DEVICE_NAME_MS 1000

static struct
{
	HgWireClient *client; /* NULL where there is no connection */
	pid_t pid;			  /* of a process of this session's own, else 0 */
	uint64 epoch;		  /* of the server's process; 0 until it has greeted */
	char name[sizeof(((HgDeviceInfo *) 0)->name)]; /* of the device that jobs run on */

	/* of a process of this session's own */
	bool was_ready;				/* it has come up */
	TimestampTz unusable_since; /* 0, or when it turned out to be of no use */
	HgError reason;				/* why; valid while unusable_since is set */
	HgDeviceLaunch launch;		/* what was tried */
} hg_device;

static uint32 hg_device_hello_wait_event;

/* ------------------------------------------------------------------------
 * The connection
 * ------------------------------------------------------------------------ */

/* Give the connection up, and the process at its other end if it is this session's own. */
static void
hg_device_discard(void)
{
	if (hg_device.client != NULL)
	{
		pid_t pid = hg_device.pid;

		hg_wire_client_destroy(hg_device.client);
		ReleaseExternalFD();
		hg_device.client = NULL;
		hg_device.was_ready = false;
		hg_device.name[0] = '\0';
		hg_device.pid = 0;
		if (pid != 0)
			hg_device_reap(pid, HG_DEVICE_GRACE_MS);
	}
}

void
hg_device_discard_lost(void)
{
	if (hg_device.client != NULL && hg_wire_client_state(hg_device.client, NULL) == HG_WIRE_LOST)
		hg_device_discard();
}

HgStatus
hg_device_distrust(HgError *error)
{
	if (hg_device.client == NULL)
		return hg_error_set(error, HG_CONNECTION_LOST, NULL, "the device process is gone");
	return hg_wire_client_distrust(hg_device.client, error);
}

static void
hg_device_at_exit(int code pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	hg_device_discard();
}

/* Take a connected socket over; on failure it stays the caller's. */
static bool
hg_device_adopt(int fd)
{
	static bool exit_callback_registered = false;

	hg_device.client = hg_wire_client_create(fd);
	if (hg_device.client == NULL)
		return false;
	if (!exit_callback_registered)
	{
		on_proc_exit(hg_device_at_exit, 0);
		exit_callback_registered = true;
	}
	return true;
}

/* Wait, interruptibly, until the process has said something or the deadline has passed. */
static HgWireState
hg_device_wait_for_hello(TimestampTz deadline, HgError *error)
{
	HgWireState state;

	while ((state = hg_wire_client_state(hg_device.client, error)) == HG_WIRE_STARTING)
	{
		long left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
		int events;

		if (left <= 0)
			break;
		events = WaitLatchOrSocket(
			MyLatch, WL_LATCH_SET | WL_SOCKET_READABLE | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
			hg_wire_client_socket(hg_device.client), left,
			HG_WAIT_EVENT(hg_device_hello_wait_event, "HashGraphDeviceStart"));
		if (events & WL_LATCH_SET)
			ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return state;
}

/* ------------------------------------------------------------------------
 * The server's process
 * ------------------------------------------------------------------------ */

/* Does the server keep a device process?  If so, how it stands. */
static bool
hg_device_read_server(HgServerDevice *server)
{
	if (!hg_device_shared_read(server))
		return false;
	/* without a slot for a background worker there is none, and never will be */
	return server->state != HG_SERVER_DEVICE_NONE ||
		   !TimestampDifferenceExceeds(server->since, GetCurrentTimestamp(), HG_DEVICE_WORKER_MS);
}

bool
hg_device_is_shared(void)
{
	HgServerDevice server;

	return hg_device_read_server(&server);
}

HgStatus
hg_device_complain(HgError *error)
{
	if (hg_device.client != NULL && hg_device.pid == 0)
		hg_device_shared_set_silent(hg_device.epoch);
	return hg_error_set(error, HG_UNAVAILABLE, "It is busy with other joins, or hangs.",
						"the device did not answer in time");
}

/*
 * Connect to the server's process: READY, or with *error filled STARTING where it can't be had
 * now, and UNAVAILABLE where this session is the one that can't.
 */
static HgDeviceState
hg_device_connect(HgError *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = HG_DEVICE_ADDRESS};
	int failure;
	int fd;

	if (!AcquireExternalFD())
	{
		hg_error_set(error, HG_UNAVAILABLE, "", "too many files are open in this session");
		return HG_DEVICE_UNAVAILABLE;
	}
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *) &address, sizeof(address)) == 0)
	{
		if (hg_device_adopt(fd))
		{
			hg_device.epoch = 0;
			return HG_DEVICE_READY;
		}
		errno = ENOMEM;
	}
	failure = errno;
	if (fd >= 0)
		close(fd);
	ReleaseExternalFD();
	hg_error_set(error, HG_UNAVAILABLE, strerror(failure),
				 "could not connect to the device process");
	/* it may have gone this moment, or have more connections than it can take at once */
	return failure == ENOENT || failure == ECONNREFUSED || failure == EAGAIN
			   ? HG_DEVICE_STARTING
			   : HG_DEVICE_UNAVAILABLE;
}

/* Does the connection lead to another process than the READY one, or nowhere? */
static bool
hg_device_is_outdated(const HgServerDevice *server)
{
	return hg_device.pid != 0 || (hg_device.epoch != 0 && hg_device.epoch != server->epoch) ||
		   hg_wire_client_state(hg_device.client, NULL) == HG_WIRE_LOST;
}

/*
 * Connect to the READY process unless that is done, and wait for its greeting; at a glance, only
 * look whether it is there.
 *
 * What greets may be the next process already, which the worker has not yet told of.  But
 * while it starts nothing is READY: if something is READY after the greeting, it is what greeted.
 */
static HgDeviceState
hg_device_greet(const HgServerDevice *server, bool glance, TimestampTz deadline, HgError *error)
{
	HgServerDevice now;
	HgDeviceState state;
	HgError why;

	if (hg_device.client != NULL && hg_device_is_outdated(server))
		hg_device_discard();
	if (hg_device.client == NULL)
	{
		state = hg_device_connect(error);
		if (state != HG_DEVICE_READY)
			return state;
	}
	switch (hg_device_wait_for_hello(deadline, &why))
	{
		case HG_WIRE_READY:
			if (hg_device.epoch != 0)
				return HG_DEVICE_READY;
			if (hg_device_read_server(&now) && now.state == HG_SERVER_DEVICE_READY)
			{
				hg_device.epoch = now.epoch;
				strlcpy(hg_device.name, now.name, sizeof(hg_device.name));
				return HG_DEVICE_READY;
			}
			break;
		case HG_WIRE_STARTING:
			if (glance)
				return HG_DEVICE_STARTING;
			hg_device_shared_set_silent(server->epoch);
			hg_error_set(error, HG_UNAVAILABLE, "", "the device did not answer in time");
			break;
		case HG_WIRE_UNAVAILABLE:
		case HG_WIRE_LOST:
			if (error != NULL)
				*error = why;
			break;
	}
	hg_device_discard();
	return HG_DEVICE_STARTING;
}

/* What hg_device_state says without waiting for a start. */
static HgDeviceState
hg_device_look_at_server(const HgServerDevice *server, bool glance, TimestampTz deadline,
						 HgError *error)
{
	HgDeviceLaunch launch;

	hg_error_set(error, HG_UNAVAILABLE, "", "the device process is still starting");
	switch (server->state)
	{
		case HG_SERVER_DEVICE_READY:
			return hg_device_greet(server, glance, deadline, error);
		case HG_SERVER_DEVICE_RESTING:
			hg_device_shared_ask();
			return HG_DEVICE_STARTING;
		case HG_SERVER_DEVICE_NONE:
		case HG_SERVER_DEVICE_STARTING:
			return HG_DEVICE_STARTING;
		case HG_SERVER_DEVICE_UNAVAILABLE:
			break;
	}
	if (!server->installed)
	{
		hg_device_launch_init(&launch);
		if (hg_device_is_installed(&launch))
		{
			hg_device_shared_ask();
			return HG_DEVICE_STARTING;
		}
	}
	if (error != NULL)
		*error = server->reason;
	return server->installed ? HG_DEVICE_UNAVAILABLE : HG_DEVICE_ABSENT;
}

/*
 * hg_device_state where the server keeps a process, at a glance where patience_ms is negative;
 * *kept is false, and there is nothing to tell,
 * where it turns out that it never will.
 */
static HgDeviceState
hg_device_server_state(HgServerDevice *server, bool wait, long patience_ms, bool *kept,
					   HgError *error)
{
	TimestampTz deadline =
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(), wait ? HG_DEVICE_START_MS : patience_ms);
	HgDeviceState state;
	uint64 refused_by = 0;
	int refusals = 0;

	*kept = true;
	if (!wait)
	{
		if (server->state != HG_SERVER_DEVICE_READY || !server->silent)
			return hg_device_look_at_server(server, patience_ms < 0, deadline, error);
		hg_error_set(error, HG_UNAVAILABLE, "", "the device does not answer");
		return HG_DEVICE_UNAVAILABLE;
	}
	while ((state = hg_device_look_at_server(server, false, deadline, error)) == HG_DEVICE_STARTING)
	{
		long left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);

		/* a process that is READY, and yet was not to be had */
		if (server->state == HG_SERVER_DEVICE_READY)
		{
			refusals = server->epoch == refused_by ? refusals + 1 : 1;
			refused_by = server->epoch;
			if (refusals > HG_DEVICE_REFUSALS)
			{
				state = HG_DEVICE_UNAVAILABLE;
				break;
			}
		}
		if (left <= 0)
		{
			state = HG_DEVICE_UNAVAILABLE;
			hg_error_set(error, HG_UNAVAILABLE, "", "the device process did not start in time");
			break;
		}
		hg_device_shared_wait(Min(left, HG_DEVICE_LOOK_MS));
		*kept = hg_device_read_server(server);
		if (!*kept)
			break;
	}
	hg_device_shared_wait_end();
	return state;
}

/* ------------------------------------------------------------------------
 * A process of this session's own
 * ------------------------------------------------------------------------ */

static void
hg_device_set_unusable(HgStatus status, const char *message, const char *detail)
{
	hg_error_set(&hg_device.reason, status, detail, "%s", message);
	hg_device.unusable_since = GetCurrentTimestamp();
}

/* Start the process unless it runs or is known to be of no use. */
static void
hg_device_start(void)
{
	HgDeviceLaunch launch;
	int sockets[2];
	pid_t pid;
	int rc;

	if (hg_device.client != NULL)
		return;
	hg_device_launch_init(&launch);
	if (hg_device.unusable_since != 0 && strcmp(launch.program, hg_device.launch.program) == 0 &&
		!TimestampDifferenceExceeds(hg_device.unusable_since, GetCurrentTimestamp(),
									HG_DEVICE_RETRY_MS))
		return;
	hg_device.unusable_since = 0;
	hg_device.launch = launch;

	if (!hg_device_is_installed(&launch))
	{
		hg_device_set_missing(&hg_device.reason);
		hg_device.unusable_since = GetCurrentTimestamp();
		return;
	}
	if (!AcquireExternalFD())
	{
		hg_device_set_unusable(HG_UNAVAILABLE, "too many files are open in this session", "");
		return;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
	{
		hg_device_set_unusable(HG_UNAVAILABLE, "could not create a socket for the device process",
							   strerror(errno));
		ReleaseExternalFD();
		return;
	}
	rc = hg_device_spawn(&launch, -1, sockets[1], &pid);
	close(sockets[1]);
	if (rc != 0)
	{
		close(sockets[0]);
		ReleaseExternalFD();
		hg_device_set_unusable(HG_UNAVAILABLE, "could not start the device process", strerror(rc));
		return;
	}
	if (fcntl(sockets[0], F_SETFL, O_NONBLOCK) != 0 || !hg_device_adopt(sockets[0]))
	{
		close(sockets[0]);
		ReleaseExternalFD();
		hg_device_set_unusable(HG_OUT_OF_MEMORY, "out of memory", "");
		hg_device_reap(pid, HG_DEVICE_GRACE_MS);
		return;
	}
	hg_device.pid = pid;
}

/* Take in what the process says; returns what is known then. */
static HgDeviceState
hg_device_poll(HgError *error)
{
	bool came_up;
	HgError why;

	if (hg_device.client == NULL)
	{
		if (error != NULL)
			*error = hg_device.reason;
		return hg_device_is_installed(&hg_device.launch) ? HG_DEVICE_UNAVAILABLE : HG_DEVICE_ABSENT;
	}
	switch (hg_wire_client_state(hg_device.client, &why))
	{
		case HG_WIRE_STARTING:
			hg_error_set(error, HG_UNAVAILABLE, "", "the device process is still starting");
			return HG_DEVICE_STARTING;
		case HG_WIRE_READY:
			hg_device.was_ready = true;
			return HG_DEVICE_READY;
		case HG_WIRE_UNAVAILABLE:
		case HG_WIRE_LOST:
			break;
	}
	came_up = hg_device.was_ready;
	hg_device_discard();
	/* one that was lost before it came up is left alone for a while, as one that declined */
	if (!came_up)
	{
		why.status = HG_UNAVAILABLE;
		hg_device.unusable_since = GetCurrentTimestamp();
	}
	hg_device.reason = why;
	if (error != NULL)
		*error = why;
	return HG_DEVICE_UNAVAILABLE;
}

static HgDeviceState
hg_device_own_state(bool wait, HgError *error)
{
	/* a process that ended since it was last used (idle, killed) is replaced */
	if (hg_device.was_ready)
		hg_device_discard_lost();
	hg_device_start();
	if (wait && hg_device.client != NULL)
	{
		TimestampTz deadline =
			TimestampTzPlusMilliseconds(GetCurrentTimestamp(), HG_DEVICE_START_MS);

		if (hg_device_wait_for_hello(deadline, NULL) == HG_WIRE_STARTING)
		{
			hg_device_discard();
			hg_device_set_unusable(HG_UNAVAILABLE, "the device process did not start in time", "");
		}
	}
	return hg_device_poll(error);
}

/* ------------------------------------------------------------------------
 * Either
 * ------------------------------------------------------------------------ */

HgDeviceState
hg_device_state(bool wait, long patience_ms, HgError *error)
{
	HgServerDevice server;
	HgDeviceState state;
	bool kept = hg_device_read_server(&server);

	if (kept)
		state = hg_device_server_state(&server, wait, patience_ms, &kept, error);
	return kept ? state : hg_device_own_state(wait, error);
}

HgDeviceState
hg_device_glance(HgError *error)
{
	return hg_device_state(false, -1, error);
}

HgWireClient *
hg_device_client(void)
{
	if (hg_device.client == NULL || hg_device_poll(NULL) != HG_DEVICE_READY)
		return NULL;
	return hg_device.client;
}

/* The engine in the process that runs now, for hg_ranges.h. */
static HgEngine *
hg_device_remote(void *arg pg_attribute_unused())
{
	HgWireClient *client = hg_device_client();

	return client != NULL ? hg_wire_client_engine(client) : NULL;
}

HgEngine *
hg_device_engine(bool whole)
{
	static HgRanges ranges;
	HgEngine *remote = hg_device_remote(NULL);

	if (remote == NULL || whole)
		return remote;
	if (ranges.target == NULL)
		hg_ranges_init(&ranges, "cuda", hg_device_remote, NULL);
	return &ranges.engine;
}

bool
hg_device_costs(HgEngineCosts *costs)
{
	HgServerDevice server;

	if (hg_device_read_server(&server))
	{
		*costs = server.costs;
		return server.state == HG_SERVER_DEVICE_READY && !server.silent;
	}
	if (hg_device.client == NULL || hg_wire_client_state(hg_device.client, NULL) != HG_WIRE_READY)
		return false;
	*costs = *hg_wire_client_costs(hg_device.client);
	return true;
}

void
hg_device_estimate(const HgEngineCosts *costs, uint32_t key_width, uint64_t outer_rows,
				   uint64_t inner_rows, double pairs, double *device_ms, double *cpu_ms)
{
	const int place = hg_costs_place(key_width);
	const double bytes =
		(double) (outer_rows + inner_rows) * key_width + pairs * 2 * sizeof(uint32_t);

	*device_ms = hg_costs_estimate(&costs->device[place], outer_rows, inner_rows, pairs) +
				 HG_DEVICE_JOB_MS + bytes * HG_DEVICE_BYTE_NS / 1e6;
	*cpu_ms = hg_costs_estimate(&costs->cpu[place], outer_rows, inner_rows, pairs);
}

double
hg_device_estimate_reduced(const HgEngineCosts *costs, uint32_t key_width, uint64_t outer_rows,
						   uint64_t inner_rows, double column_bytes, double pairs)
{
	const double bytes = (double) (outer_rows + inner_rows) * key_width + column_bytes;

	return hg_costs_estimate_reduced(&costs->device[hg_costs_place(key_width)], outer_rows,
									 inner_rows, column_bytes, pairs) +
		   HG_DEVICE_JOB_MS + bytes * HG_DEVICE_BYTE_NS / 1e6;
}

double
hg_device_estimate_values(const HgEngineCosts *costs, uint32_t key_width, uint32_t ncolumns,
						  double row_bytes, uint64_t rows, double pairs, int processes)
{
	const double column_bytes = (double) rows * row_bytes;
	const double value_bytes = pairs * row_bytes;

	return hg_costs_estimate_values(&costs->device[hg_costs_place(key_width)], column_bytes,
									value_bytes) +
		   ncolumns * HG_DEVICE_MESSAGE_MS +
		   (column_bytes + value_bytes) * HG_DEVICE_BYTE_NS / 1e6 / processes;
}

uint64_t
hg_device_group(void)
{
	return MyProc->lockGroupLeader != NULL ? MyProc->lockGroupLeader->pid : MyProcPid;
}

int
hg_device_list(HgDeviceInfo *infos, int capacity, HgDeviceReport *report, HgError *error)
{
	HgServerDevice server;
	HgPgHost host;
	HgStatus status;
	int count = 0;

	if (hg_device_state(true, 0, error) != HG_DEVICE_READY)
		return 0;
	hg_host_init(&host, CurrentMemoryContext);
	status = hg_wire_client_devices(hg_device.client, &host.host, infos, capacity, &count, error);
	if (status == HG_OK)
		status = hg_wire_client_status(hg_device.client, &host.host, &report->status, error);
	hg_host_rethrow(&host);
	report->of_server = hg_device_read_server(&server);
	report->restarts = report->of_server ? server.restarts : 0;
	return status == HG_OK ? count : 0;
}

const char *
hg_device_name(void)
{
	HgDeviceInfo infos[16];
	HgPgHost host;
	int count = 0;

	if (hg_device.client == NULL || hg_device.name[0] != '\0')
		return hg_device.name;
	hg_host_init(&host, CurrentMemoryContext);
	hg_host_set_patience(&host, HG_DEVICE_NAME_MS);
	hg_wire_client_devices(hg_device.client, &host.host, infos, lengthof(infos), &count, NULL);
	hg_host_rethrow(&host);
	for (int i = 0; i < count; i++)
		if (strcmp(infos[i].state, "ready") == 0)
		{
			strlcpy(hg_device.name, infos[i].name, sizeof(hg_device.name));
			break;
		}
	return hg_device.name;
}
