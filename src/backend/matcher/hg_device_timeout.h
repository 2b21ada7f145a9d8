/*-------------------------------------------------------------------------
 *
 * hg_device_timeout.h
 *	  The device timeout: how long a join may wait for a device.
 *
 * Under backend auto a join waits for a device as long as it is likely to gain by that.  Its host
 * holds what is left of the time (hg_host.h).  Time in which nobody waits, because rows are being
 * returned, does not count.  The rule has two parts:
 *
 *	TURN	Until the device has answered the request to open the job, others have the device, and
 *			the session cannot know for how long.  It waits as long as the CPU would take for the
 *			whole join.  Were the device's other jobs joined by the CPU as well, they would share
 *			its processors with this join; so the time is as many times longer as there are jobs
 *			for each processor.  A device that is busy, or hangs, at most doubles the time that the
 *			join takes, unless the join is a very short one.
 *
 *	WORK	Once the job is open, or where no other session has a job there, the device works on
 *			this job.  Who gives up now waits for the CPU from the beginning, and the device's work
 *			is lost.  What it takes beyond its estimate is taken once (kernels are loaded, memory is
 *			got, tables are made of what is looked up) and has nothing to do with the size of the
 *			join.  So what is left of the time is a second at least.
 *
 * A process that hangs is told by the worker that looks after it, which asks it once a second
 * (hg_device_supervisor.c), and not by these times: they only bound what one join loses by it.  A
 * time that has run out is counted as a fallback, and costs itself and then what the CPU takes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_TIMEOUT_H
#define HG_DEVICE_TIMEOUT_H

#include "backend/device/hg_device_placement.h"
#include "backend/hg_host.h"
#include "backend/matcher/hg_matcher_spec.h"

/*
 * Milliseconds that a join may wait for the devices of this set.  cpu_ms is what the CPU is
 * expected to take for it, or 0: then the sides' rows tell.
 */
extern double hg_device_timeout_ms(HgDeviceSet device_set, const HgKeySet sides[2], double cpu_ms);

/*
 * The same under backend cuda: negative, for ever, but where the group has jobs on another device
 * (backend/device/hg_device_load.h says why).
 */
extern double hg_device_timeout_alone_ms(int device_no, double timeout_ms);

/* The same of a job on several devices. */
extern double hg_device_timeout_apart_ms(double timeout_ms);

/* The host's job is open: the device works on it from now on. */
extern void hg_device_timeout_begin_work(HgPgHost *host);

/* Extends the timeout by the time that the CPU would have taken for so many matches. */
extern void hg_device_timeout_extend(HgPgHost *host, uint64 pairs);

#endif /* HG_DEVICE_TIMEOUT_H */
