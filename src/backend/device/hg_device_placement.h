/*-------------------------------------------------------------------------
 *
 * hg_device_placement.h
 *	  Which of the server's GPUs a job goes to.
 *
 * The caller passes the set of devices that may have the job, because it knows where the job's
 * replicas are. hashgraph.gpu_device restricts the set further. Of the allowed devices whose
 * processes are READY and answer, a job goes to
 *
 *	1. the one where its group has most jobs open (hg_device_load.h says why),
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

/* hg_device_number restricted to READY devices; -1 if there is none. */
extern int hg_device_number_ready(HgDeviceSet among);

/*
 * Returns all devices that are READY and may have this session's jobs. Asks resting ones to start,
 * so that a later call finds them.
 */
extern HgDeviceSet hg_devices_request(void);

/* Returns the GPU ordinal that a job requests (HgJobSpec.device); -1: any. */
extern int hg_device_requested_ordinal(void);

#endif /* HG_DEVICE_PLACEMENT_H */
