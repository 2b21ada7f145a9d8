/*-------------------------------------------------------------------------
 *
 * hg_device.h
 *	  This session's device process.
 *
 * CUDA lives in the program hashgraph_device alone.  A session starts it with
 * posix_spawn when it first wants a device, talks to it over one socket (see
 * engine/wire) and keeps it until the session ends or the process does.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_H
#define HG_DEVICE_H

#include "engine/wire/hg_wire_client.h"

typedef enum HgDeviceState
{
	HG_DEVICE_STARTING,
	HG_DEVICE_READY,
	HG_DEVICE_UNAVAILABLE /* no program, no driver, no device; remembered */
} HgDeviceState;

/*
 * How things stand; starts the process unless it runs or is known to be of no use.  With wait,
 * STARTING is not returned: the call waits (interruptibly, a minute at most) for the
 * process to make up its mind.  *error says why, where UNAVAILABLE.
 */
extern HgDeviceState hg_device_state(bool wait, HgError *error);

/*
 * The engine of a READY device process; NULL otherwise.  A job that does not fit the device
 * runs as several there, one after the other (engine/hg_ranges.h).
 */
extern HgEngine *hg_device_engine(void);

/*
 * The name of the device that jobs run on; "" where there is none.  Asks the process
 * the first time.
 */
extern const char *hg_device_name(void);

/*
 * Fill at most capacity of infos, returning their number; 0 with *error filled where
 * there is no device.  Waits for a process that is starting.
 */
extern int hg_device_list(HgDeviceInfo *infos, int capacity, HgError *error);

/*
 * Give up a process that was lost, so that the next start makes a new one.  One that runs
 * stays: it may have come after the one that a job lost.
 */
extern void hg_device_discard_lost(void);

#endif /* HG_DEVICE_H */
