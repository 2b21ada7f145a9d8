/*-------------------------------------------------------------------------
 *
 * hg_device_connection.h
 *	  This session's connections to device processes, both the server's and its own.
 *
 * A process GREETS by its first message, once its device is ready, or DECLINES by it, with the
 * reason (hello in engine/wire/hg_wire.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_CONNECTION_H
#define HG_DEVICE_CONNECTION_H

#include "hg_compat.h"

#include "utils/timestamp.h"

#include "backend/device/hg_device_shared.h"
#include "backend/device/hg_device_spawn.h"
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

/* Sets late_at to now, and late_process: this session has waited in vain for that process. */
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
 * Returns the state of this session's own process, for a server without device processes. Starts
 * it if there is none. With wait, waits up to HG_DEVICE_START_MS for its greeting. *error (may be
 * NULL) gets the reason unless READY.
 */
extern HgDeviceState hg_device_own_state(bool wait, HgError *error);

/*
 * Reads what the process has sent, without waiting, and returns the resulting state. Closes the
 * connection if the process was lost or has declined. error may be NULL.
 */
extern HgDeviceState hg_device_own_poll(HgError *error);

/*
 * This session's connections to the server's device processes.
 *
 * hg_device_shared.h describes the states of a process and what a session does in each. A
 * connection is closed when the session ends, when it fails, or when the epoch shows that a new
 * process has replaced its process.
 */

/*
 * How long the process may take to end after its socket was closed. It needs time to free its
 * device memory, and its exit status is worth waiting for.
 */
#define HG_DEVICE_LISTENER_GRACE_MS (5 * 1000)

/*
 * Starts the program with a socket that listens on a device's address, and stores a client
 * connected to it in *client. Returns 0 or an errno; after an error *client is NULL and *pid is 0.
 * The caller closes the client with hg_device_listener_close.
 */
extern int hg_device_listener_start(int device_no, const HgDeviceLaunch *launch,
									HgWireClient **client, pid_t *pid);

/*
 * Removes the device's address and closes the connection, so that the process exits. The caller
 * then calls hg_device_reap.
 */
extern void hg_device_listener_close(int device_no, HgWireClient *client);

/*
 * Reads the published state of a device into *server. Returns true if the server runs device
 * processes, or may still be starting its worker.
 */
extern bool hg_device_server_read(int device_no, HgServerDevice *server);

/*
 * Returns the state of a device for this session, by its published state *server, which
 * hg_device_server_read has returned:
 *
 *	READY		Connects unless connected. Returns READY if the process greets within timeout_ms,
 *				which may be negative: it must then have greeted already. Otherwise returns STARTING
 *				or, if the session itself is why it cannot connect, UNAVAILABLE.
 *	RESTING		Asks for a process, and returns STARTING.
 *	UNAVAILABLE	If the program was missing and is installed now, as with RESTING. Otherwise returns
 *				UNAVAILABLE, or ABSENT if the program is missing.
 *	others		Returns STARTING, as it does for a READY process that is silent.
 *
 * It waits for a greeting only. Unless it returns READY, it stores the reason in *error; error may
 * be NULL.
 */
extern HgDeviceState hg_device_server_state(int device_no, const HgServerDevice *server,
											long timeout_ms, HgError *error);

/* Records and publishes that this session has waited in vain for the process of this epoch. */
extern void hg_device_server_set_late(int device_no, uint64 epoch);

#endif /* HG_DEVICE_CONNECTION_H */
