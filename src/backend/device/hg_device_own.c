/*-------------------------------------------------------------------------
 *
 * hg_device_own.c
 *	  A device process of this session's own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "storage/fd.h"
#include "utils/timestamp.h"

#include "backend/device/hg_device_own.h"
#include "backend/device/hg_device_spawn.h"

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
