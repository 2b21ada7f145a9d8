/*-------------------------------------------------------------------------
 *
 * hg_device_placement.c
 *	  Which of the server's GPUs a job goes to.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"

#include "backend/device/hg_device_placement.h"
#include "backend/device/hg_device_shared.h"
#include "hg_guc.h"

/* ---------------------------------------------------------------------
 * The jobs that all sessions have at each of the server's device processes
 * ---------------------------------------------------------------------
 */

typedef struct HgDeviceCounters
{
	pg_atomic_uint32 jobs;
	pg_atomic_uint64 bytes;
} HgDeviceCounters;

typedef struct HgGroupLoad
{
	pg_atomic_uint32 jobs[HG_GPU_DEVICES]; /* by device number */
} HgGroupLoad;

typedef struct HgLoads
{
	HgDeviceCounters counters[HG_GPU_DEVICES];
	HgGroupLoad groups[FLEXIBLE_ARRAY_MEMBER]; /* by the leader's index in allProcs */
} HgLoads;

static HgLoads *loads = NULL;

/* What this process has added, which it subtracts when it exits. */
static struct
{
	bool registered;
	bool ended;
	HgDeviceLoad counters[HG_GPU_DEVICES];
} own;

static shmem_request_hook_type previous_shmem_request = NULL;
static shmem_startup_hook_type previous_shmem_startup = NULL;

/* Returns the number of processes that can have jobs. */
static int
hg_device_load_groups(void)
{
	return MaxBackends + NUM_AUXILIARY_PROCS;
}

static Size
hg_device_load_bytes(void)
{
	return add_size(offsetof(HgLoads, groups),
					mul_size(hg_device_load_groups(), sizeof(HgGroupLoad)));
}

static void
hg_device_load_shmem_request(void)
{
	if (previous_shmem_request)
		previous_shmem_request();
	RequestAddinShmemSpace(hg_device_load_bytes());
}

static void
hg_device_load_shmem_startup(void)
{
	bool found;

	if (previous_shmem_startup)
		previous_shmem_startup();

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	loads = ShmemInitStruct("hashgraph device load", hg_device_load_bytes(), &found);
	if (!found)
	{
		for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		{
			pg_atomic_init_u32(&loads->counters[device_no].jobs, 0);
			pg_atomic_init_u64(&loads->counters[device_no].bytes, 0);
			for (int group = 0; group < hg_device_load_groups(); group++)
				pg_atomic_init_u32(&loads->groups[group].jobs[device_no], 0);
		}
	}
	LWLockRelease(AddinShmemInitLock);
}

void
hg_device_load_init(void)
{
	previous_shmem_request = shmem_request_hook;
	shmem_request_hook = hg_device_load_shmem_request;
	previous_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = hg_device_load_shmem_startup;
}

/* Returns the counters of this process's group. */
static HgGroupLoad *
hg_device_load_group(void)
{
	const PGPROC *leader = MyProc->lockGroupLeader != NULL ? MyProc->lockGroupLeader : MyProc;

	return &loads->groups[leader - ProcGlobal->allProcs];
}

/* Adds to the counters of a device; negative values rely on unsigned wraparound. */
static void
hg_device_load_add(int device_no, int jobs, int64 bytes)
{
	pg_atomic_fetch_add_u32(&loads->counters[device_no].jobs, jobs);
	pg_atomic_fetch_add_u64(&loads->counters[device_no].bytes, bytes);
	pg_atomic_fetch_add_u32(&hg_device_load_group()->jobs[device_no], jobs);
}

/* Subtracts this process's jobs. Connections closed later no longer count. */
static void
hg_device_load_at_exit(int code pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	own.ended = true;
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		hg_device_load_add(device_no, -(int) own.counters[device_no].jobs,
						   -(int64) own.counters[device_no].bytes);
}

void
hg_device_load_note(int device_no, int jobs, int64 bytes)
{
	if (loads == NULL || own.ended)
		return;
	if (!own.registered)
	{
		before_shmem_exit(hg_device_load_at_exit, 0);
		own.registered = true;
	}
	own.counters[device_no].jobs += jobs;
	own.counters[device_no].bytes += bytes;
	hg_device_load_add(device_no, jobs, bytes);
}

HgDeviceLoad
hg_device_load_read(int device_no)
{
	if (loads == NULL)
		return (HgDeviceLoad){0};
	return (HgDeviceLoad){.jobs = pg_atomic_read_u32(&loads->counters[device_no].jobs),
						  .bytes = pg_atomic_read_u64(&loads->counters[device_no].bytes)};
}

uint32
hg_device_load_of_group(int device_no)
{
	return loads != NULL ? pg_atomic_read_u32(&hg_device_load_group()->jobs[device_no]) : 0;
}

bool
hg_device_load_is_elsewhere(int device_no)
{
	uint32 jobs = 0;

	for (int other = 0; other < HG_GPU_DEVICES; other++)
		jobs += other != device_no ? hg_device_load_of_group(other) : 0;
	return jobs > 0;
}

/* The device that this process chose last; -1: none yet. */
static int last_device_no = -1;

/* Returns true if this session's jobs may run on a device; ordinal -1 may become any GPU. */
static bool
hg_placement_is_allowed(const HgDeviceAvailability *state)
{
	return hg_gpu_devices.count == 0 || state->ordinal < 0 ||
		   hg_gpu_devices_find(&hg_gpu_devices, state->ordinal) >= 0;
}

static bool
hg_placement_is_ready(const HgDeviceAvailability *state)
{
	return state->state == HG_SERVER_DEVICE_READY && !state->silent;
}

/* Returns true if a device has less to do than another one. */
static bool
hg_placement_is_idler(const HgDeviceLoad *load, const HgDeviceLoad *than)
{
	return load->bytes != than->bytes ? load->bytes < than->bytes : load->jobs < than->jobs;
}

/* Returns the READY device for the next job, with its load in *least; -1: none. */
static int
hg_placement_choose(const HgDeviceAvailability *states, int ndevices, HgDeviceSet among,
					HgDeviceLoad *least)
{
	int chosen = -1;
	uint32 most_of_group = 0;

	for (int i = 0; i < ndevices; i++)
	{
		const int device_no = ((last_device_no >= 0 ? last_device_no : MyProcPid) + i) % ndevices;
		const HgDeviceLoad load = hg_device_load_read(device_no);
		const uint32 of_group = hg_device_load_of_group(device_no);

		if ((among & HG_DEVICE_BIT(device_no)) == 0 || !hg_placement_is_ready(&states[device_no]) ||
			!hg_placement_is_allowed(&states[device_no]))
			continue;
		if (chosen >= 0 && (of_group < most_of_group ||
							(of_group == most_of_group && !hg_placement_is_idler(&load, least))))
			continue;
		chosen = device_no;
		most_of_group = of_group;
		*least = load;
	}
	return chosen;
}

/* How long a process may take to start before a resting one is assumed to be faster, in ms. */
#define HG_PLACEMENT_START_MS (5 * 1000)

/* Ranks how soon a device that is not READY may be; less is sooner. */
static int
hg_placement_rank(const HgDeviceAvailability *state)
{
	switch (state->state)
	{
		case HG_SERVER_DEVICE_NONE:
			return 0;
		case HG_SERVER_DEVICE_STARTING:
			return TimestampDifferenceExceeds(state->starting_since, GetCurrentTimestamp(),
											  HG_PLACEMENT_START_MS)
					   ? 2
					   : 0;
		case HG_SERVER_DEVICE_RESTING:
			return 1;
		case HG_SERVER_DEVICE_READY:
			return 2; /* silent */
		case HG_SERVER_DEVICE_UNAVAILABLE:
			break;
	}
	return 3;
}

/*
 * Returns the device to wait for if none is READY: one that is starting, unless it seems to hang
 * and another one rests. Returns -1 if none of them may have this session's jobs.
 */
static int
hg_placement_await(const HgDeviceAvailability *states, int ndevices, HgDeviceSet among)
{
	int chosen = -1;

	for (int device_no = 0; device_no < ndevices; device_no++)
	{
		if ((among & HG_DEVICE_BIT(device_no)) == 0 || !hg_placement_is_allowed(&states[device_no]))
			continue;
		if (chosen < 0 ||
			hg_placement_rank(&states[device_no]) < hg_placement_rank(&states[chosen]))
			chosen = device_no;
	}
	return chosen;
}

/* Asks one resting device to start, because the others are busy. */
static void
hg_placement_wake(const HgDeviceAvailability *states, int ndevices)
{
	for (int device_no = 0; device_no < ndevices; device_no++)
		if (states[device_no].state == HG_SERVER_DEVICE_RESTING &&
			hg_placement_is_allowed(&states[device_no]))
		{
			hg_device_shared_ask(device_no);
			break;
		}
}

int
hg_device_number_ready(HgDeviceSet among)
{
	HgDeviceAvailability states[HG_GPU_DEVICES];
	HgDeviceLoad least = {0};
	int ndevices = hg_device_shared_survey(states);
	int chosen = hg_placement_choose(states, ndevices, among, &least);

	if (chosen < 0)
		return -1;
	/* the group's own jobs do not count, because more of them go there anyway */
	if (least.jobs > hg_device_load_of_group(chosen))
		hg_placement_wake(states, ndevices);
	last_device_no = chosen;
	return chosen;
}

int
hg_device_number(HgDeviceSet among)
{
	HgDeviceAvailability states[HG_GPU_DEVICES];
	int ndevices;
	int chosen = hg_device_number_ready(among);

	if (chosen >= 0)
		return chosen;
	ndevices = hg_device_shared_survey(states);
	chosen = hg_placement_await(states, ndevices, among);
	/* if none may have jobs, the process that is asked reports that */
	return chosen < 0 && (ndevices == 0 || among == HG_ALL_DEVICES) ? 0 : chosen;
}

HgDeviceSet
hg_devices_request(void)
{
	HgDeviceAvailability states[HG_GPU_DEVICES];
	const int ndevices = hg_device_shared_survey(states);
	HgDeviceSet ready = 0;

	for (int device_no = 0; device_no < ndevices; device_no++)
	{
		if (!hg_placement_is_allowed(&states[device_no]))
			continue;
		if (hg_placement_is_ready(&states[device_no]))
			ready |= HG_DEVICE_BIT(device_no);
		else if (states[device_no].state == HG_SERVER_DEVICE_RESTING)
			hg_device_shared_ask(device_no);
	}
	return ready;
}

int
hg_device_requested_ordinal(void)
{
	HgDeviceAvailability states[HG_GPU_DEVICES];
	int ndevices;

	if (hg_gpu_devices.count == 0)
		return -1;
	if (hg_gpu_devices.count == 1)
		return hg_gpu_devices.ordinals[0];
	/* if none of several exists, the process that is asked reports that */
	ndevices = hg_device_shared_survey(states);
	for (int device_no = 0; device_no < ndevices; device_no++)
		if (hg_placement_is_allowed(&states[device_no]))
			return -1;
	return hg_gpu_devices.ordinals[0];
}
