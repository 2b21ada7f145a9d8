/*-------------------------------------------------------------------------
 *
 * hg_device_listener.h
 *	  A device process of the server, to which sessions connect: its sockets, start and end.
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
 * How long it may take to go after its socket was closed: freeing what it has on a device takes
 * its time, and how it ended is worth knowing.
 */
#define HG_DEVICE_LISTENER_GRACE_MS (5 * 1000)

/*
 * Start the program, with a socket on a device's address that it listens on, and *client connected
 * to it.  Returns an errno, with *client NULL and *pid 0 where that is not 0.
 */
extern int hg_device_listener_start(int device_no, const HgDeviceLaunch *launch,
									HgWireClient **client, pid_t *pid);

/* Close the connection, which ends the process: it is to be seen off (hg_device_reap). */
extern void hg_device_listener_close(int device_no, HgWireClient *client);

#endif /* HG_DEVICE_LISTENER_H */
