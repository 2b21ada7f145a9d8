/*-------------------------------------------------------------------------
 *
 * hg_device_placement.h
 *	  Which of the server's GPUs a job goes to.
 *
 * A job goes, of the devices that may have it, whose process is READY and answers, to
 *
 *	1. that where its group has jobs open (hg_device_load.h says why),
 *	2. else the one whose jobs have the fewest bytes, or are the fewest,
 *	3. where several have: the one that this process chose last, or else the first from its own
 *	   number on, so that sessions spread.
 *
 * It stays there until it is closed, unless it is too large for one (hg_device_shards.h).  Which
 * devices may have it is for the caller to say, who knows where the graphs are that it names, and
 * for hashgraph.gpu_device as the session has it.  A device that rests is woken where all others
 * have something to do for other groups.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_PLACEMENT_H
#define HG_DEVICE_PLACEMENT_H

#include "hg_compat.h"

#include "hg_guc.h"

/* A set of devices, a bit for each. */
typedef uint32 HgDeviceSet;

#define HG_DEVICE_BIT(device_no) ((HgDeviceSet) 1 << (device_no))
#define HG_ALL_DEVICES ((HgDeviceSet) ((1 << HG_GPU_DEVICES) - 1))

/*
 * The device, of these, for a job; where none is READY, the one that is to be waited for; -1: none
 * of these may have this session's jobs.  Of all devices it is 0 then, and where the session has a
 * process of its own.
 */
extern int hg_device_number(HgDeviceSet among);

/* The same, but only where one is READY; else -1. */
extern int hg_device_number_ready(HgDeviceSet among);

/*
 * All devices that are READY and may have this session's jobs.  Those that rest are told to come
 * up, for whoever asks next.
 */
extern HgDeviceSet hg_devices_wanted(void);

/* What a job says of the GPU that it is to run on (HgJobSpec.device); -1: any. */
extern int hg_device_wanted_ordinal(void);

#endif /* HG_DEVICE_PLACEMENT_H */
