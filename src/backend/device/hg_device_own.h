/*-------------------------------------------------------------------------
 *
 * hg_device_own.h
 *	  A device process of this session's own.
 *
 * The session holds one end of a socket pair, and the process ends
 * when that closes, whichever way the session goes.  That the device is of no use (no program, no
 * driver, no device) is remembered for a while, so that not every join pays for finding out
 * again.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_OWN_H
#define HG_DEVICE_OWN_H

#include "backend/device/hg_device_connection.h"

/* hg_device_state where the server runs no device process. */
extern HgDeviceState hg_device_own_state(bool wait, HgError *error);

/* Take in what the process at the other end says; returns what is known then. */
extern HgDeviceState hg_device_own_poll(HgError *error);

#endif /* HG_DEVICE_OWN_H */
