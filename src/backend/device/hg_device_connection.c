/*-------------------------------------------------------------------------
 *
 * hg_device_connection.c
 *	  This session's connections to device processes, both the server's and its own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/timestamp.h"

#include "backend/device/hg_device_connection.h"
#include "backend/device/hg_device_placement.h"
#include "backend/device/hg_device_spawn.h"
#include "hg_guc.h"

static HgDeviceConnection connections[HG_GPU_DEVICES]; /* by device number */

static uint32 hg_device_hello_wait_event;

HgDeviceConnection *
hg_device_connection(int device_no)
{
	return &connections[device_no];
}

void
hg_device_connection_close(HgDeviceConnection *connection)
{
	if (connection->client != NULL)
	{
		pid_t pid = connection->pid;

		hg_wire_client_destroy(connection->client);
		ReleaseExternalFD();
		connection->client = NULL;
		connection->was_ready = false;
		connection->name[0] = '\0';
		connection->pid = 0;
		if (pid != 0)
			hg_device_reap(pid, HG_DEVICE_GRACE_MS);
	}
}

void
hg_device_discard_lost(int device_no)
{
	HgDeviceConnection *connection = &connections[device_no];

	if (connection->client != NULL &&
		hg_wire_client_state(connection->client, NULL) == HG_WIRE_LOST)
		hg_device_connection_close(connection);
}

static void
hg_device_at_exit(int code pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		hg_device_connection_close(&connections[device_no]);
}

/* Counts jobs that were opened, or closed if negative, at the other end. */
static void
hg_device_note_jobs(void *arg, int jobs, int64_t bytes)
{
	hg_device_load_note((int) ((HgDeviceConnection *) arg - connections), jobs, bytes);
}

bool
hg_device_connection_adopt(HgDeviceConnection *connection, int fd)
{
	static bool exit_callback_registered = false;

	connection->client = hg_wire_client_create(fd);
	if (connection->client == NULL)
		return false;
	hg_wire_client_watch(connection->client, hg_device_note_jobs, connection);
	if (!exit_callback_registered)
	{
		on_proc_exit(hg_device_at_exit, 0);
		exit_callback_registered = true;
	}
	return true;
}

void
hg_device_connection_set_late(HgDeviceConnection *connection, uint64 process)
{
	connection->late_at = GetCurrentTimestamp();
	connection->late_process = process;
}

HgWireState
hg_device_connection_wait(HgDeviceConnection *connection, TimestampTz deadline, HgError *error)
{
	HgWireState state;

	while ((state = hg_wire_client_state(connection->client, error)) == HG_WIRE_STARTING)
	{
		long left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
		int events;

		if (left <= 0)
			break;
		events = WaitLatchOrSocket(
			MyLatch, WL_LATCH_SET | WL_SOCKET_READABLE | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
			hg_wire_client_socket(connection->client), left,
			HG_WAIT_EVENT(hg_device_hello_wait_event, "HashGraphDeviceStart"));
		if (events & WL_LATCH_SET)
			ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return state;
}

/* ---------------------------------------------------------------------
 * A device process of this session's own
 * ---------------------------------------------------------------------
 */

/* How long an unusable device is not tried again. */
#define HG_DEVICE_RETRY_MS (60 * 1000)

static struct
{
	TimestampTz unusable_since; /* 0, or when the device turned out to be unusable */
	HgError reason;				/* why; valid while unusable_since is set */
	HgDeviceLaunch launch;		/* what was tried */
} own;

static HgDeviceConnection *
hg_device_own_connection(void)
{
	return hg_device_connection(0);
}

static void
hg_device_own_set_unusable(HgStatus status, const char *message, const char *detail)
{
	hg_error_set(&own.reason, status, detail, "%s", message);
	own.unusable_since = GetCurrentTimestamp();
}

/* Starts the process unless it runs or is known to be unusable. */
static void
hg_device_own_start(void)
{
	HgDeviceConnection *connection = hg_device_own_connection();
	HgDeviceLaunch launch;
	int sockets[2];
	pid_t pid;
	int rc;

	if (connection->client != NULL)
		return;
	hg_device_launch_init(&launch);
	if (own.unusable_since != 0 && strcmp(launch.program, own.launch.program) == 0 &&
		!TimestampDifferenceExceeds(own.unusable_since, GetCurrentTimestamp(), HG_DEVICE_RETRY_MS))
		return;
	own.unusable_since = 0;
	own.launch = launch;

	if (!hg_device_is_installed(&launch))
	{
		hg_device_set_missing(&own.reason);
		own.unusable_since = GetCurrentTimestamp();
		return;
	}
	if (!AcquireExternalFD())
	{
		hg_device_own_set_unusable(HG_UNAVAILABLE, "too many files are open in this session", "");
		return;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
	{
		hg_device_own_set_unusable(
			HG_UNAVAILABLE, "could not create a socket for the device process", strerror(errno));
		ReleaseExternalFD();
		return;
	}
	rc = hg_device_spawn(&launch, -1, sockets[1], &pid);
	close(sockets[1]);
	if (rc != 0)
	{
		close(sockets[0]);
		ReleaseExternalFD();
		hg_device_own_set_unusable(HG_UNAVAILABLE, "could not start the device process",
								   strerror(rc));
		return;
	}
	if (fcntl(sockets[0], F_SETFL, O_NONBLOCK) != 0 ||
		!hg_device_connection_adopt(connection, sockets[0]))
	{
		close(sockets[0]);
		ReleaseExternalFD();
		hg_device_own_set_unusable(HG_OUT_OF_MEMORY, "out of memory", "");
		hg_device_reap(pid, HG_DEVICE_GRACE_MS);
		return;
	}
	connection->pid = pid;
}

HgDeviceState
hg_device_own_poll(HgError *error)
{
	HgDeviceConnection *connection = hg_device_own_connection();
	bool came_up;
	HgError why;

	if (connection->client == NULL)
	{
		if (error != NULL)
			*error = own.reason;
		return hg_device_is_installed(&own.launch) ? HG_DEVICE_UNAVAILABLE : HG_DEVICE_ABSENT;
	}
	switch (hg_wire_client_state(connection->client, &why))
	{
		case HG_WIRE_STARTING:
			hg_error_set(error, HG_UNAVAILABLE, "", "the device process is still starting");
			return HG_DEVICE_STARTING;
		case HG_WIRE_READY:
			connection->was_ready = true;
			return HG_DEVICE_READY;
		case HG_WIRE_UNAVAILABLE:
		case HG_WIRE_LOST:
			break;
	}
	came_up = connection->was_ready;
	hg_device_connection_close(connection);
	/* one that was lost before it came up is not retried for a while, like one that declined */
	if (!came_up)
	{
		why.status = HG_UNAVAILABLE;
		own.unusable_since = GetCurrentTimestamp();
	}
	own.reason = why;
	if (error != NULL)
		*error = why;
	return HG_DEVICE_UNAVAILABLE;
}

HgDeviceState
hg_device_own_state(bool wait, HgError *error)
{
	HgDeviceConnection *connection = hg_device_own_connection();

	/* replaces a process that has ended since its last use (idle, killed) */
	if (connection->was_ready)
		hg_device_discard_lost(0);
	hg_device_own_start();
	if (wait && connection->client != NULL)
	{
		TimestampTz deadline =
			TimestampTzPlusMilliseconds(GetCurrentTimestamp(), HG_DEVICE_START_MS);

		if (hg_device_connection_wait(connection, deadline, NULL) == HG_WIRE_STARTING)
		{
			hg_device_connection_close(connection);
			hg_device_own_set_unusable(HG_UNAVAILABLE, "the device process did not start in time",
									   "");
		}
	}
	return hg_device_own_poll(error);
}
