/*-------------------------------------------------------------------------
 *
 * hg_device_timeout.c
 *	  The device timeout: how long a join waits for a device.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <unistd.h>

#include "backend/device/hg_device_placement.h"
#include "backend/matcher/hg_device_timeout.h"
#include "engine/hg_cost_table.h"
#include "hg_guc.h"

/*
 * The shortest wait for a turn. Waits are upper bounds, not estimates: with many sessions a join is
 * slower on the CPU too, and giving up a device too soon wastes the wait. So a row has a match.
 */
#define HG_LEAST_TURN_MS 50.0

/*
 * What a device may take beyond the time for its rows, because something happens for the first
 * time. It equals the time after which the worker publishes a process as silent.
 */
#define HG_LEAST_WORK_MS 1000.0

/* How long a join of backend cuda may wait for another group, which may wait for it. */
#define HG_GROUP_WAIT_MS (60.0 * 1000)

/* Returns the most jobs of other groups on one of the devices. */
static uint32
hg_device_timeout_other_jobs(HgDeviceSet device_set)
{
	uint32 most = 0;

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
	{
		const uint32 all = hg_device_load_read(device_no).jobs;
		const uint32 own = hg_device_load_of_group(device_no);

		/* the counters are not read together, so all may be less than own */
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0 && all > own)
			most = Max(most, all - own);
	}
	return most;
}

double
hg_device_timeout_ms(HgDeviceSet device_set, const HgKeySet sides[2], double cpu_ms)
{
	const double rows = (double) (sides[HG_OUTER].rows + sides[HG_INNER].rows);
	const uint32 others = hg_device_timeout_other_jobs(device_set);
	const double crowd = (others + 1.0) / Max(sysconf(_SC_NPROCESSORS_ONLN), 1);

	if (hg_gpu_wait_limit > 0)
		return hg_gpu_wait_limit;
	return Max(others > 0 ? HG_LEAST_TURN_MS : HG_LEAST_WORK_MS,
			   Max(cpu_ms, rows * (HG_JOIN_ROW_NS + HG_MATCH_NS) / 1e6)) *
		   Max(crowd, 1);
}

void
hg_device_timeout_begin_work(HgPgHost *host)
{
	if (hg_gpu_wait_limit == 0)
		hg_host_set_min_timeout(host, HG_LEAST_WORK_MS);
}

double
hg_device_timeout_alone_ms(int device_no, double timeout_ms)
{
	return hg_device_load_is_elsewhere(device_no) ? hg_device_timeout_apart_ms(timeout_ms) : -1;
}

double
hg_device_timeout_apart_ms(double timeout_ms)
{
	return hg_gpu_wait_limit > 0 ? timeout_ms : HG_GROUP_WAIT_MS + timeout_ms;
}

void
hg_device_timeout_extend(HgPgHost *host, uint64 pairs)
{
	hg_host_extend_timeout(host, (double) pairs * HG_MATCH_NS / 1e6);
}
