/*-------------------------------------------------------------------------
 *
 * hg_device_connection.c
 *	  This session's connection to a device process, whoever's that is.
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
#include "backend/device/hg_device_spawn.h"

HgDeviceConnection hg_device_connection;

static uint32 hg_device_hello_wait_event;

void
hg_device_connection_close(void)
{
	if (hg_device_connection.client != NULL)
	{
		pid_t pid = hg_device_connection.pid;

		hg_wire_client_destroy(hg_device_connection.client);
		ReleaseExternalFD();
		hg_device_connection.client = NULL;
		hg_device_connection.was_ready = false;
		hg_device_connection.name[0] = '\0';
		hg_device_connection.pid = 0;
		if (pid != 0)
			hg_device_reap(pid, HG_DEVICE_GRACE_MS);
	}
}

void
hg_device_discard_lost(void)
{
	if (hg_device_connection.client != NULL &&
		hg_wire_client_state(hg_device_connection.client, NULL) == HG_WIRE_LOST)
		hg_device_connection_close();
}

static void
hg_device_at_exit(int code pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	hg_device_connection_close();
}

bool
hg_device_connection_adopt(int fd)
{
	static bool exit_callback_registered = false;

	hg_device_connection.client = hg_wire_client_create(fd);
	if (hg_device_connection.client == NULL)
		return false;
	if (!exit_callback_registered)
	{
		on_proc_exit(hg_device_at_exit, 0);
		exit_callback_registered = true;
	}
	return true;
}

HgWireState
hg_device_connection_wait(TimestampTz deadline, HgError *error)
{
	HgWireState state;

	while ((state = hg_wire_client_state(hg_device_connection.client, error)) == HG_WIRE_STARTING)
	{
		long left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
		int events;

		if (left <= 0)
			break;
		events = WaitLatchOrSocket(
			MyLatch, WL_LATCH_SET | WL_SOCKET_READABLE | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
			hg_wire_client_socket(hg_device_connection.client), left,
			HG_WAIT_EVENT(hg_device_hello_wait_event, "HashGraphDeviceStart"));
		if (events & WL_LATCH_SET)
			ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return state;
}
