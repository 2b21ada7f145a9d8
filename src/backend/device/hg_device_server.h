/*-------------------------------------------------------------------------
 *
 * hg_device_server.h
 *	  This session's connections to the server's device processes.
 *
 * hg_device_shared.h says in which state it is and what a session does then.
 * A connection is kept until the session ends, or another process has taken the place of the
 * one that it leads to: epochs tell.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_SERVER_H
#define HG_DEVICE_SERVER_H

#include "backend/device/hg_device_connection.h"
#include "backend/device/hg_device_shared.h"

/* Returns true if the server runs device processes.  If so, how that of a device stands. */
extern bool hg_device_server_read(int device_no, HgServerDevice *server);

/* hg_device_state where the server runs a process, which is in this state. */
extern HgDeviceState hg_device_server_state(int device_no, const HgServerDevice *server,
											long timeout_ms, HgError *error);

/* Remember that the process of this epoch has kept the session waiting in vain, and tell others. */
extern void hg_device_server_set_late(int device_no, uint64 epoch);

#endif /* HG_DEVICE_SERVER_H */
