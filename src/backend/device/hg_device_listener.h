/*-------------------------------------------------------------------------
 *
 * hg_device_listener.h
 *	  Sockets, start and end of a device process of the server, to which sessions connect.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_LISTENER_H
#define HG_DEVICE_LISTENER_H

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

/* Removes the address and closes the connection, which ends the process; reap it afterwards. */
extern void hg_device_listener_close(int device_no, HgWireClient *client);

#endif /* HG_DEVICE_LISTENER_H */
