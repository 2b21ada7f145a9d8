/*-------------------------------------------------------------------------
 *
 * hg_device_own.h
 *	  A device process of this session's own.
 *
 * The session holds one end of a socket pair. The process ends when that end closes, however the
 * session ends. If the device turns out to be unusable (no program, no driver, no GPU), the
 * session remembers that for a minute, so that not every join tries again.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_OWN_H
#define HG_DEVICE_OWN_H

#include "backend/device/hg_device_connection.h"

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

#endif /* HG_DEVICE_OWN_H */
