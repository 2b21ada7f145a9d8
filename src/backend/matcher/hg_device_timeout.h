/*-------------------------------------------------------------------------
 *
 * hg_device_timeout.h
 *	  The device timeout: how long a join waits for a device.
 *
 * Under backend auto, a join waits for a device only as long as it is likely to gain from it. Its
 * host keeps the remaining time (hg_host.h). Time in which the join returns rows does not count.
 * The rule has two parts:
 *
 *	TURN	Until the device has accepted the job, other jobs use the device, and the session cannot
 *			know how long. It waits as long as the CPU would take for the whole join. If the
 *			device's other jobs ran on the CPU, they would share its processors with this join.
 *			The time is therefore multiplied by the jobs for each processor. A busy or hung
 *			device at most doubles the time of the join, unless the join is very short.
 *	WORK	Once the job is open, or if no other session has a job there, the device works on this
 *			job. Giving up now loses that work, and the CPU starts from the beginning. Unexpected
 *			delays are one-time costs (loading kernels, allocating memory, building lookup tables)
 *			and do not depend on the size of the join. The remaining time is therefore at least a
 *			second.
 *
 * A hung process is detected by the worker, which pings it once a second (hg_device_supervisor.c),
 * and not by these times: they only bound what one join loses. An expired timeout counts as a
 * fallback, and costs its own time plus the CPU's.
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
 * Returns the milliseconds that a join may wait for the devices of a set. This is the largest of
 * cpu_ms (the CPU's estimated time, or 0), the CPU's time for the sides' rows, and a least time: 50
 * ms if other groups have jobs there, else a second. It is multiplied by the jobs for each
 * processor if they are more than 1. hashgraph.gpu_wait_limit, if positive, replaces all of this.
 */
extern double hg_device_timeout_ms(HgDeviceSet device_set, const HgKeySet sides[2], double cpu_ms);

/*
 * Returns the timeout in ms under backend cuda: -1, no limit, unless this query's group has jobs
 * on another device (backend/device/hg_device_placement.h says why). Then it is
 * hg_device_timeout_apart_ms(timeout_ms).
 */
extern double hg_device_timeout_alone_ms(int device_no, double timeout_ms);

/* Returns timeout_ms plus a minute; timeout_ms alone if hashgraph.gpu_wait_limit is set. */
extern double hg_device_timeout_apart_ms(double timeout_ms);

/*
 * Called when the host's job is open: raises the remaining time to a second if it is less. Does
 * nothing if hashgraph.gpu_wait_limit is set.
 */
extern void hg_device_timeout_begin_work(HgPgHost *host);

/* Adds the CPU's time for this number of matches to the host's remaining time. */
extern void hg_device_timeout_extend(HgPgHost *host, uint64 pairs);

#endif /* HG_DEVICE_TIMEOUT_H */
