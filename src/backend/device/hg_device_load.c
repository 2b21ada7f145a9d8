/*-------------------------------------------------------------------------
 *
 * hg_device_load.c
 *	  The jobs that all sessions have at each of the server's device processes.
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

#include "backend/device/hg_device_load.h"
#include "hg_guc.h"

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
