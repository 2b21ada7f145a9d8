/*-------------------------------------------------------------------------
 *
 * hg_device_connection.h
 *	  This session's connections to device processes, both the server's and its own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_CONNECTION_H
#define HG_DEVICE_CONNECTION_H

#include "hg_compat.h"

#include "utils/timestamp.h"

#include "engine/wire/hg_wire_client.h"

typedef enum HgDeviceState
{
	HG_DEVICE_STARTING,
	HG_DEVICE_READY,
	HG_DEVICE_UNAVAILABLE, /* no driver, no device, no answer */
	HG_DEVICE_ABSENT	   /* no program */
} HgDeviceState;

typedef struct HgDeviceConnection
{
	HgWireClient *client; /* NULL without a connection */
	pid_t pid;			  /* of the session's own process, else 0 */
	uint64 epoch;		  /* of the server's process; 0 until it has greeted */
	bool was_ready;		  /* the session's own process has come up */
	TimestampTz late_at;  /* when this session last waited in vain; 0: never */
	uint64 late_process;  /* the process waited for: epoch of the server's, PID of its own */
	char name[sizeof(((HgDeviceInfo *) 0)->name)]; /* of the GPU that jobs run on */
} HgDeviceConnection;

/*
 * Returns the connection to a device's process. Device 0 is also a process of this session's own.
 * The struct is static and never NULL.
 */
extern HgDeviceConnection *hg_device_connection(int device_no);

/* Closes a connection. If the process at its other end is this session's own, ends it too. */
extern void hg_device_connection_close(HgDeviceConnection *connection);

/*
 * Closes the connection to a process that was lost, so that the next start makes a new one. A
 * connection to a running process stays: that process may have replaced the one that a job lost.
 */
extern void hg_device_discard_lost(int device_no);

/*
 * Makes the connection use a connected socket. Returns true if the connection now owns the socket;
 * on false (out of memory) the caller still owns it.
 */
extern bool hg_device_connection_adopt(HgDeviceConnection *connection, int fd);

/* Records that this session has waited in vain for a process (HgDeviceConnection.late_process). */
extern void hg_device_connection_set_late(HgDeviceConnection *connection, uint64 process);

/*
 * Waits, interruptibly, until the process has greeted or declined or the deadline has passed.
 * Returns HG_WIRE_STARTING after the deadline, and fills *error if the process is unavailable or
 * lost.
 */
extern HgWireState hg_device_connection_wait(HgDeviceConnection *connection, TimestampTz deadline,
											 HgError *error);

/* Grace period of a session's own process after its socket was closed (hg_device_reap). */
#define HG_DEVICE_GRACE_MS 500

/* How long a start may take. */
#define HG_DEVICE_START_MS (60 * 1000)

/*
 * A device process of this session's own.
 *
 * The session holds one end of a socket pair. The process ends when that end closes, however the
 * session ends. If the device turns out to be unusable (no program, no driver, no GPU), the
 * session remembers that for a minute, so that not every join tries again.
 */

/*
 * hg_device_state for a server without device processes. Starts the process if there is none. With
 * wait, waits for its greeting for at most HG_DEVICE_START_MS.
 */
extern HgDeviceState hg_device_own_state(bool wait, HgError *error);

/*
 * Reads what the process has sent and returns the resulting state. Closes the connection if the
 * process was lost or has declined. error may be NULL.
 */
extern HgDeviceState hg_device_own_poll(HgError *error);

#endif /* HG_DEVICE_CONNECTION_H */
