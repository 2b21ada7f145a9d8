/*-------------------------------------------------------------------------
 *
 * hg_device_shared.c
 *	  What all processes of a server know of its device process.
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

/* Falls back to the CPU are logged this often at most. */
#define HG_FALLBACK_LOG_MS (60 * 1000)

/* What keeps the log from being filled. */
typedef struct HgFallbackLog
{
	TimestampTz logged_at; /* the last time, 0 if never */
	uint64 unlogged;	   /* since then */
} HgFallbackLog;

/* Names of kept graphs that wait to be dropped, at most. */
#define HG_FORGOTTEN 1024

typedef struct HgDeviceShared
{
	slock_t mutex; /* protects all but published */
	HgServerDevice device;
	bool asked;	   /* a session wants a process */
	Latch *worker; /* NULL where none has come up */
	HgFallbackLog fallbacks;
	int nforgotten;
	HgKeptName forgotten[HG_FORGOTTEN];
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
		shared->device.since = GetCurrentTimestamp();
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

bool
hg_device_shared_read(HgServerDevice *device)
{
	if (shared == NULL)
		return false;
	SpinLockAcquire(&shared->mutex);
	*device = shared->device;
	SpinLockRelease(&shared->mutex);
	return true;
}

uint64
hg_device_shared_ready(void)
{
	uint64 epoch = 0;

	if (shared == NULL)
		return 0;
	SpinLockAcquire(&shared->mutex);
	if (shared->device.state == HG_SERVER_DEVICE_READY && !shared->device.silent)
		epoch = shared->device.epoch;
	SpinLockRelease(&shared->mutex);
	return epoch;
}

/* Wake the worker, whose latch was read under the lock. */
static void
hg_device_shared_wake(Latch *worker)
{
	if (worker != NULL)
		SetLatch(worker);
}

void
hg_device_shared_ask(void)
{
	Latch *worker;

	SpinLockAcquire(&shared->mutex);
	shared->asked = true;
	worker = shared->worker;
	SpinLockRelease(&shared->mutex);
	hg_device_shared_wake(worker);
}

void
hg_device_shared_set_silent(uint64 epoch)
{
	Latch *worker = NULL;

	if (shared == NULL)
		return;
	SpinLockAcquire(&shared->mutex);
	if (shared->device.epoch == epoch)
	{
		shared->device.silent = true;
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
hg_device_shared_publish(const HgServerDevice *device)
{
	bool silent;

	SpinLockAcquire(&shared->mutex);
	/* a new process has given no cause for complaint */
	silent = shared->device.silent && shared->device.epoch == device->epoch;
	shared->device = *device;
	shared->device.silent = silent;
	SpinLockRelease(&shared->mutex);
	ConditionVariableBroadcast(&shared->published);
}

void
hg_device_shared_clear_silent(void)
{
	SpinLockAcquire(&shared->mutex);
	shared->device.silent = false;
	SpinLockRelease(&shared->mutex);
}

bool
hg_device_shared_was_asked(void)
{
	bool asked;

	SpinLockAcquire(&shared->mutex);
	asked = shared->asked;
	shared->asked = false;
	SpinLockRelease(&shared->mutex);
	return asked;
}

void
hg_device_shared_forget(const HgKeptName *name)
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
hg_device_shared_next_forgotten(HgKeptName *name)
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
