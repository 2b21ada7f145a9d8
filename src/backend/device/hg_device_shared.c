/*-------------------------------------------------------------------------
 *
 * hg_device_shared.c
 *	  What all processes of a server know of its device processes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "storage/condition_variable.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/timestamp.h"

#include "backend/device/hg_device_shared.h"
#include "hg_guc.h"

/* How often fallbacks to the CPU are logged at most. */
#define HG_FALLBACK_LOG_MS (60 * 1000)

/* Limits how often fallbacks are logged. */
typedef struct HgFallbackLog
{
	TimestampTz logged_at; /* 0: never */
	uint64 unlogged;	   /* fallbacks since then */
} HgFallbackLog;

/* The most replica names that can wait to be dropped. */
#define HG_FORGOTTEN 1024

typedef struct HgDeviceShared
{
	slock_t mutex; /* protects all but published */
	int ndevices;
	HgServerDevice devices[HG_GPU_DEVICES]; /* by device number */
	bool asked[HG_GPU_DEVICES];				/* a session needs a process */
	uint64 epoch;							/* last one assigned */
	Latch *worker;							/* NULL if none has come up */
	HgFallbackLog fallbacks;
	int nforgotten;
	HgReplicaName forgotten[HG_FORGOTTEN];
	ConditionVariable published; /* broadcast at each change by the worker */
} HgDeviceShared;

static HgDeviceShared *shared = NULL;

static shmem_request_hook_type previous_shmem_request = NULL;
static shmem_startup_hook_type previous_shmem_startup = NULL;

static uint32 hg_device_start_wait_event;

static void
hg_device_shmem_request(void)
{
	if (previous_shmem_request)
		previous_shmem_request();
	RequestAddinShmemSpace(MAXALIGN(sizeof(HgDeviceShared)));
}

static void
hg_device_shmem_startup(void)
{
	bool found;

	if (previous_shmem_startup)
		previous_shmem_startup();

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("hashgraph device", sizeof(HgDeviceShared), &found);
	if (!found)
	{
		memset(shared, 0, sizeof(HgDeviceShared));
		shared->ndevices = 1;
		for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		{
			shared->devices[device_no].since = GetCurrentTimestamp();
			shared->devices[device_no].ordinal = -1;
		}
		SpinLockInit(&shared->mutex);
		ConditionVariableInit(&shared->published);
	}
	LWLockRelease(AddinShmemInitLock);
}

void
hg_device_shared_init(void)
{
	previous_shmem_request = shmem_request_hook;
	shmem_request_hook = hg_device_shmem_request;
	previous_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = hg_device_shmem_startup;
}

void
hg_device_address(int device_no, struct sockaddr_un *address)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (device_no == 0)
		strlcpy(address->sun_path, HG_DEVICE_ADDRESS, sizeof(address->sun_path));
	else
		snprintf(address->sun_path, sizeof(address->sun_path), "%s.%d", HG_DEVICE_ADDRESS,
				 device_no);
}

int
hg_device_shared_count(void)
{
	int ndevices;

	if (shared == NULL)
		return 0;
	SpinLockAcquire(&shared->mutex);
	ndevices = shared->ndevices;
	SpinLockRelease(&shared->mutex);
	return ndevices;
}

bool
hg_device_shared_read(int device_no, HgServerDevice *device)
{
	if (shared == NULL)
		return false;
	SpinLockAcquire(&shared->mutex);
	*device = shared->devices[device_no];
	SpinLockRelease(&shared->mutex);
	return true;
}

int
hg_device_shared_survey(HgDeviceAvailability *states)
{
	int ndevices;

	if (shared == NULL)
		return 0;
	SpinLockAcquire(&shared->mutex);
	ndevices = shared->ndevices;
	for (int device_no = 0; device_no < ndevices; device_no++)
	{
		const HgServerDevice *device = &shared->devices[device_no];

		states[device_no] = (HgDeviceAvailability){.state = device->state,
												   .silent = device->silent,
												   .ordinal = device->ordinal,
												   .epoch = device->epoch,
												   .starting_since = device->starting_since};
	}
	SpinLockRelease(&shared->mutex);
	return ndevices;
}

/* Wakes the worker, whose latch was read under the lock. */
static void
hg_device_shared_wake(Latch *worker)
{
	if (worker != NULL)
		SetLatch(worker);
}

void
hg_device_shared_ask(int device_no)
{
	Latch *worker;

	SpinLockAcquire(&shared->mutex);
	shared->asked[device_no] = true;
	worker = shared->worker;
	SpinLockRelease(&shared->mutex);
	hg_device_shared_wake(worker);
}

void
hg_device_shared_set_silent(int device_no, uint64 epoch)
{
	Latch *worker = NULL;

	if (shared == NULL)
		return;
	SpinLockAcquire(&shared->mutex);
	if (shared->devices[device_no].epoch == epoch)
	{
		shared->devices[device_no].silent = true;
		worker = shared->worker;
	}
	SpinLockRelease(&shared->mutex);
	hg_device_shared_wake(worker);
}

void
hg_device_shared_wait(long timeout_ms)
{
	ConditionVariableTimedSleep(&shared->published, timeout_ms,
								HG_WAIT_EVENT(hg_device_start_wait_event, "HashGraphDeviceStart"));
}

void
hg_device_shared_wait_end(void)
{
	ConditionVariableCancelSleep();
}

void
hg_device_shared_attach(void)
{
	SpinLockAcquire(&shared->mutex);
	shared->worker = MyLatch;
	SpinLockRelease(&shared->mutex);
}

void
hg_device_shared_set_count(int ndevices)
{
	SpinLockAcquire(&shared->mutex);
	shared->ndevices = ndevices;
	SpinLockRelease(&shared->mutex);
	ConditionVariableBroadcast(&shared->published);
}

void
hg_device_shared_publish(int device_no, const HgServerDevice *device)
{
	HgServerDevice *published = &shared->devices[device_no];
	bool silent;

	SpinLockAcquire(&shared->mutex);
	/* a new process has not failed to answer */
	silent = published->silent && published->epoch == device->epoch;
	*published = *device;
	published->silent = silent;
	SpinLockRelease(&shared->mutex);
	ConditionVariableBroadcast(&shared->published);
}

uint64
hg_device_shared_next_epoch(void)
{
	uint64 epoch;

	SpinLockAcquire(&shared->mutex);
	epoch = ++shared->epoch;
	SpinLockRelease(&shared->mutex);
	return epoch;
}

void
hg_device_shared_clear_silent(int device_no)
{
	SpinLockAcquire(&shared->mutex);
	shared->devices[device_no].silent = false;
	SpinLockRelease(&shared->mutex);
}

bool
hg_device_shared_was_asked(int device_no)
{
	bool asked;

	SpinLockAcquire(&shared->mutex);
	asked = shared->asked[device_no];
	shared->asked[device_no] = false;
	SpinLockRelease(&shared->mutex);
	return asked;
}

void
hg_device_shared_forget(const HgReplicaName *name)
{
	Latch *worker = NULL;

	if (shared == NULL)
		return;
	SpinLockAcquire(&shared->mutex);
	if (shared->nforgotten < HG_FORGOTTEN)
	{
		shared->forgotten[shared->nforgotten++] = *name;
		worker = shared->worker;
	}
	SpinLockRelease(&shared->mutex);
	hg_device_shared_wake(worker);
}

bool
hg_device_shared_next_forgotten(HgReplicaName *name)
{
	bool any;

	SpinLockAcquire(&shared->mutex);
	any = shared->nforgotten > 0;
	if (any)
		*name = shared->forgotten[--shared->nforgotten];
	SpinLockRelease(&shared->mutex);
	return any;
}

void
hg_device_log_fallback(const HgError *why)
{
	static HgFallbackLog own; /* where there is no shared memory */
	HgFallbackLog *log = shared != NULL ? &shared->fallbacks : &own;
	TimestampTz now = GetCurrentTimestamp();
	uint64 unlogged;
	bool due;

	if (shared != NULL)
		SpinLockAcquire(&shared->mutex);
	due =
		log->logged_at == 0 || TimestampDifferenceExceeds(log->logged_at, now, HG_FALLBACK_LOG_MS);
	unlogged = log->unlogged;
	if (due)
		log->logged_at = now;
	log->unlogged = due ? 0 : unlogged + 1;
	if (shared != NULL)
		SpinLockRelease(&shared->mutex);

	if (due && unlogged > 0)
		ereport(LOG, (errmsg("HashGraph join and " UINT64_FORMAT
							 " others before it fell back to the CPU: %s",
							 unlogged, why->message),
					  why->detail[0] != '\0' ? errdetail("%s", why->detail) : 0));
	else
		ereport(due ? LOG : DEBUG1,
				(errmsg("HashGraph join fell back to the CPU: %s", why->message),
				 why->detail[0] != '\0' ? errdetail("%s", why->detail) : 0));
}
