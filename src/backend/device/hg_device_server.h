/*-------------------------------------------------------------------------
 *
 * hg_device_server.h
 *	  This session's connections to the server's device processes.
 *
 * hg_device_shared.h describes the states of a process and what a session does in each. A
 * connection is closed when the session ends, when it fails, or when the epoch shows that a new
 * process has replaced its process.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_SERVER_H
#define HG_DEVICE_SERVER_H

#include "backend/device/hg_device_connection.h"
#include "backend/device/hg_device_shared.h"
#include "backend/device/hg_device_spawn.h"
#include "engine/wire/hg_wire_client.h"

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

#endif /* HG_DEVICE_SERVER_H */
