/*-------------------------------------------------------------------------
 *
 * hg_device_placement.h
 *	  Which of the server's GPUs a job goes to.
 *
 * The caller passes the set of devices that may have the job, because it knows where the job's
 * replicas are. hashgraph.gpu_device restricts the set further. Of the allowed devices whose
 * processes are READY and answer, a job goes to
 *
 *	1. the one where its group (see below) has most jobs open,
 *	2. else the one whose jobs have the fewest bytes, or else the fewest jobs,
 *	3. else the one that this process chose last, or the first from its PID on, so that sessions
 *	   spread.
 *
 * The job stays there until it is closed, unless it is too large for one device
 * (hg_device_shards.h). A resting device is woken when the chosen device has jobs of other groups.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_PLACEMENT_H
#define HG_DEVICE_PLACEMENT_H

#include "hg_compat.h"

#include "hg_guc.h"

/*
 * The jobs that all sessions have at each of the server's device processes.
 *
 * Shared memory has a pair of counters for each device. They change when a job is opened, even if
 * it then waits for its turn, and when it is closed. A process that ends subtracts its open jobs.
 * The counters only decide where jobs go, so it does no harm to read them one by one.
 *
 * Each GROUP, which is a query with its parallel workers, has counters too, at its leader's
 * process. A device process never lets a job wait whose group has another job open there, because
 * it might wait for a job that waits for that one (engine/wire/hg_wire.h). It does not see the
 * group's jobs at other processes, so a group's jobs go to the device that has some already. The
 * exceptions are jobs whose replicas are only on other devices, which wait no longer than the CPU
 * would take (hg_match_replica.c); jobs that cannot use the group's device, because it does not
 * answer, is ending, or is excluded by a new hashgraph.gpu_device; jobs of a query whose
 * participants have begun jobs elsewhere; and sharded jobs, which only groups without other jobs
 * may have (hg_device_shards.h).
 *
 * Only a timeout ends a wait of two such groups for each other: under backend auto the timeout of
 * each join, under backend cuda hg_device_timeout_alone_ms.
 */

typedef struct HgDeviceLoad
{
	uint32 jobs;  /* open, or waiting for their turn */
	uint64 bytes; /* expected size of their keys and columns */
} HgDeviceLoad;

/* Requests shared memory; called while shared_preload_libraries are loaded. */
extern void hg_device_load_init(void);

/*
 * Adds jobs and bytes, which may be negative, to the counters of a device and of this process's
 * group. Does nothing if the server has no shared memory for them.
 */
extern void hg_device_load_note(int device_no, int jobs, int64 bytes);

/* Returns the load of a device by all sessions' jobs; zeros without shared memory. */
extern HgDeviceLoad hg_device_load_read(int device_no);

/* Returns the number of jobs that this process's group has on a device. */
extern uint32 hg_device_load_of_group(int device_no);

/* Returns true if this process's group has jobs on any other device. */
extern bool hg_device_load_is_elsewhere(int device_no);

/* A set of devices, one bit for each device number. */
typedef uint32 HgDeviceSet;

#define HG_DEVICE_BIT(device_no) ((HgDeviceSet) 1 << (device_no))
#define HG_ALL_DEVICES ((HgDeviceSet) ((1 << HG_GPU_DEVICES) - 1))

/*
 * Returns the device number for a job, out of the given set. If no device is READY, returns the
 * one to wait for. Returns -1 if none of the set may have this session's jobs. For HG_ALL_DEVICES,
 * and without shared memory, it returns 0 instead of -1.
 */
extern int hg_device_number(HgDeviceSet among);

/* Chooses among READY devices only. Returns -1 if none of the set is READY and allowed. */
extern int hg_device_number_ready(HgDeviceSet among);

/*
 * Returns all devices that are READY and may have this session's jobs. Asks resting ones to start,
 * so that a later call finds them.
 */
extern HgDeviceSet hg_devices_request(void);

/* Returns the GPU ordinal that a job requests (HgJobSpec.device); -1: any. */
extern int hg_device_requested_ordinal(void);

#endif /* HG_DEVICE_PLACEMENT_H */
