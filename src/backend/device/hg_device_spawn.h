/*-------------------------------------------------------------------------
 *
 * hg_device_spawn.h
 *	  Starts the program hashgraph_device and reaps it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_SPAWN_H
#define HG_DEVICE_SPAWN_H

#include "hg_compat.h"

#include "engine/hg_engine.h"

/* The settings that a device process is started with. */
typedef struct HgDeviceLaunch
{
	char program[MAXPGPATH];
	uint64 staging_bytes;
	uint64 memory_budget; /* bytes; 0 = 80 % of the device */
	int64 replica_bytes;  /* part of the budget for replicas; 0 = half, -1 = none */
	int device;			  /* GPU ordinal; -1 = any */
	int idle_timeout;	  /* seconds; 0 = never */
} HgDeviceLaunch;

/* Sets *launch from the current settings. */
extern void hg_device_launch_init(HgDeviceLaunch *launch);

/* Returns true if all members of both are equal. */
extern bool hg_device_launch_equal(const HgDeviceLaunch *a, const HgDeviceLaunch *b);

/* Returns true if the program exists and is executable. */
extern bool hg_device_is_installed(const HgDeviceLaunch *launch);

/*
 * Sets *error for a missing program. Its path is left out, because any user may see the error,
 * but only those who may read all settings see hashgraph.device_program.
 */
extern void hg_device_set_missing(HgError *error);

/*
 * Starts the program and stores its PID. connected is the program's end of a connected socket; it
 * ends when the other end closes. listening is a socket on which it accepts sessions, or -1 for a
 * process of this session alone. The caller keeps both and closes them. Returns 0 or an errno. A
 * program that cannot be executed declines over the connection, like one that finds no device;
 * this call does not wait for that.
 */
extern int hg_device_spawn(const HgDeviceLaunch *launch, int listening, int connected, pid_t *pid);

/*
 * Waits for a process to end whose socket has been closed. It gets half of grace_ms to end by
 * itself and is killed then. Returns its status as waitpid gives it, or -1 if that is not
 * available.
 *
 * A cancel waits meanwhile. Barriers are processed, because DROP DATABASE waits until every
 * process has passed one. Their errors are thrown, so the caller must have released the process
 * before.
 */
extern int hg_device_reap(pid_t pid, int grace_ms);

#endif /* HG_DEVICE_SPAWN_H */
