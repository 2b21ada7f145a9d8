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

#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"

#include "backend/device/hg_device_connection.h"
#include "backend/device/hg_device_load.h"
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
