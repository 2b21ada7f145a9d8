/*-------------------------------------------------------------------------
 *
 * hg_device_server.c
 *	  This session's connections to the server's device processes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "storage/fd.h"

#include "backend/device/hg_device_connection.h"
#include "backend/device/hg_device_shared.h"
#include "backend/device/hg_device_spawn.h"

/* ---------------------------------------------------------------------
 * Sockets, start and end of a device process of the server, to which sessions connect
 * ---------------------------------------------------------------------
 */

/* Connections that may wait to be accepted. */
#define HG_DEVICE_BACKLOG 1024

/* Returns a socket that listens on a device's address; -1 with errno set on failure. */
static int
hg_device_listener_open(int device_no)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int failure;
	mode_t mask;

	if (fd < 0)
		return -1;
	hg_device_address(device_no, &address);
	/* left behind by a worker that could not clean up */
	unlink(address.sun_path);
	mask = umask(S_IXUSR | S_IRWXG | S_IRWXO);
	failure = bind(fd, (struct sockaddr *) &address, sizeof(address)) != 0 ? errno : 0;
	umask(mask);
	if (failure == 0 && listen(fd, HG_DEVICE_BACKLOG) != 0)
		failure = errno;
	if (failure == 0)
		return fd;
	close(fd);
	errno = failure;
	return -1;
}

int
hg_device_listener_start(int device_no, const HgDeviceLaunch *launch, HgWireClient **client,
						 pid_t *pid)
{
	int sockets[2];
	int listening;
	bool spawned;
	int rc;

	*client = NULL;
	*pid = 0;
	if (!AcquireExternalFD())
		return EMFILE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
	{
		rc = errno;
		ReleaseExternalFD();
		return rc;
	}
	listening = hg_device_listener_open(device_no);
	rc = listening < 0 ? errno : hg_device_spawn(launch, listening, sockets[1], pid);
	/* so that connections to a process that is gone are refused */
	if (listening >= 0)
		close(listening);
	close(sockets[1]);
	spawned = rc == 0;
	if (spawned)
	{
		if (fcntl(sockets[0], F_SETFL, O_NONBLOCK) == 0)
			*client = hg_wire_client_create(sockets[0]);
		if (*client != NULL)
			return 0;
		rc = ENOMEM;
	}
	close(sockets[0]);
	ReleaseExternalFD();
	if (spawned)
		hg_device_reap(*pid, HG_DEVICE_LISTENER_GRACE_MS);
	*pid = 0;
	return rc;
}

void
hg_device_listener_close(int device_no, HgWireClient *client)
{
	struct sockaddr_un address;

	hg_device_address(device_no, &address);
	unlink(address.sun_path);
	hg_wire_client_destroy(client);
	ReleaseExternalFD();
}

/* How long after its start a server may still be starting its worker. */
#define HG_DEVICE_WORKER_MS (10 * 1000)

bool
hg_device_server_read(int device_no, HgServerDevice *server)
{
	if (!hg_device_shared_read(device_no, server))
		return false;
	/* without a slot for a background worker, no worker ever comes up */
	return server->state != HG_SERVER_DEVICE_NONE ||
		   !TimestampDifferenceExceeds(server->since, GetCurrentTimestamp(), HG_DEVICE_WORKER_MS);
}

void
hg_device_server_set_late(int device_no, uint64 epoch)
{
	hg_device_connection_set_late(hg_device_connection(device_no), epoch);
	hg_device_shared_set_silent(device_no, epoch);
}

/*
 * Connects to a device's process. Returns READY; otherwise fills *error and returns STARTING if
 * the process cannot be reached now, or UNAVAILABLE if the cause is this session.
 */
static HgDeviceState
hg_device_connect(int device_no, HgError *error)
{
	HgDeviceConnection *connection = hg_device_connection(device_no);
	struct sockaddr_un address;
	int failure;
	int fd;

	hg_device_address(device_no, &address);
	if (!AcquireExternalFD())
	{
		hg_error_set(error, HG_UNAVAILABLE, "", "too many files are open in this session");
		return HG_DEVICE_UNAVAILABLE;
	}
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *) &address, sizeof(address)) == 0)
	{
		if (hg_device_connection_adopt(connection, fd))
		{
			connection->epoch = 0;
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
	/* it may have just ended, or have a full backlog */
	return failure == ENOENT || failure == ECONNREFUSED || failure == EAGAIN
			   ? HG_DEVICE_STARTING
			   : HG_DEVICE_UNAVAILABLE;
}

/* Returns true if the connection is lost or leads to another process than the READY one. */
static bool
hg_device_is_outdated(const HgDeviceConnection *connection, const HgServerDevice *server)
{
	return connection->pid != 0 || (connection->epoch != 0 && connection->epoch != server->epoch) ||
		   hg_wire_client_state(connection->client, NULL) == HG_WIRE_LOST;
}

/*
 * Connects to the READY process unless connected, and waits for its greeting until the deadline.
 * With glance, only checks whether the greeting has arrived.
 *
 * The process that greets may be the next one already, which the worker has not published yet. But
 * while that one starts, nothing is READY. If the device is READY after the greeting, the READY
 * process is the one that greeted.
 */
static HgDeviceState
hg_device_greet(int device_no, const HgServerDevice *server, bool glance, TimestampTz deadline,
				HgError *error)
{
	HgDeviceConnection *connection = hg_device_connection(device_no);
	HgServerDevice now;
	HgDeviceState state;
	HgError why;

	if (connection->client != NULL && hg_device_is_outdated(connection, server))
		hg_device_connection_close(connection);
	if (connection->client == NULL)
	{
		state = hg_device_connect(device_no, error);
		if (state != HG_DEVICE_READY)
			return state;
	}
	switch (hg_device_connection_wait(connection, deadline, &why))
	{
		case HG_WIRE_READY:
			if (connection->epoch != 0)
				return HG_DEVICE_READY;
			if (hg_device_server_read(device_no, &now) && now.state == HG_SERVER_DEVICE_READY)
			{
				connection->epoch = now.epoch;
				strlcpy(connection->name, now.name, sizeof(connection->name));
				return HG_DEVICE_READY;
			}
			break;
		case HG_WIRE_STARTING:
			if (glance)
				return HG_DEVICE_STARTING;
			hg_device_server_set_late(device_no, server->epoch);
			hg_error_set(error, HG_UNAVAILABLE, "", "the device did not answer in time");
			break;
		case HG_WIRE_UNAVAILABLE:
		case HG_WIRE_LOST:
			if (error != NULL)
				*error = why;
			break;
	}
	hg_device_connection_close(connection);
	return HG_DEVICE_STARTING;
}

HgDeviceState
hg_device_server_state(int device_no, const HgServerDevice *server, long timeout_ms, HgError *error)
{
	HgDeviceLaunch launch;

	hg_error_set(error, HG_UNAVAILABLE, "", "the device process is still starting");
	switch (server->state)
	{
		case HG_SERVER_DEVICE_READY:
			if (!server->silent)
				return hg_device_greet(
					device_no, server, timeout_ms < 0,
					TimestampTzPlusMilliseconds(GetCurrentTimestamp(), timeout_ms), error);
			/* it will answer, or will be replaced */
			hg_error_set(error, HG_UNAVAILABLE, "", "the device does not answer");
			return HG_DEVICE_STARTING;
		case HG_SERVER_DEVICE_RESTING:
			hg_device_shared_ask(device_no);
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
			hg_device_shared_ask(device_no);
			return HG_DEVICE_STARTING;
		}
	}
	if (error != NULL)
		*error = server->reason;
	return server->installed ? HG_DEVICE_UNAVAILABLE : HG_DEVICE_ABSENT;
}
