/*-------------------------------------------------------------------------
 *
 * hg_device_spawn.h
 *	  Start the program hashgraph_device, and see it off.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_SPAWN_H
#define HG_DEVICE_SPAWN_H

#include "hg_compat.h"

#include "engine/hg_engine.h"

/* What a device process is started with: all that the settings say of it. */
typedef struct HgDeviceLaunch
{
	char program[MAXPGPATH];
	uint64 staging_bytes;
	uint64 memory_budget; /* bytes; 0 = 80 % of the device */
	int64 replica_bytes;  /* ... of it for replicas; 0 = half of it, -1 = none */
	int device;			  /* -1 = any */
	int idle_timeout;	  /* s; 0 = never */
} HgDeviceLaunch;

/* Fill in what the settings say now. */
extern void hg_device_launch_init(HgDeviceLaunch *launch);

/* Would a process of one be as good as one of the other? */
extern bool hg_device_launch_equal(const HgDeviceLaunch *a, const HgDeviceLaunch *b);

/* Is the program there? */
extern bool hg_device_is_installed(const HgDeviceLaunch *launch);

/*
 * Say that it is not: to whoever joins, so without its path, which hashgraph.device_program shows
 * to those alone who may read all settings.
 */
extern void hg_device_set_missing(HgError *error);

/*
 * Start the program.  connected is its end of a connected socket, whose other end's closing ends
 * it; listening is a socket on which it accepts sessions, or -1 for a process of this session
 * alone.  Both stay the caller's.  Returns an errno.  A program that can't be run declines over
 * the connection, as one does that finds no device; the caller does not wait for that.
 */
extern int hg_device_spawn(const HgDeviceLaunch *launch, int listening, int connected, pid_t *pid);

/*
 * See a process off whose socket has been closed: it gets half of the time to go by itself, and
 * is killed then.  Returns its status as waitpid gives it, or -1 where that could not be had.
 * Meanwhile a cancel has to wait, but barriers (DROP DATABASE waits until every process has passed
 * one) are processed, and their errors thrown: the caller has let go of the process before.
 */
extern int hg_device_reap(pid_t pid, int grace_ms);

#endif /* HG_DEVICE_SPAWN_H */
