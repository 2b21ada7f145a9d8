/*-------------------------------------------------------------------------
 *
 * hg_progress.c
 *	  Progress of running joins: each process reports its own, and all sessions can see it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/backend_status.h"
#include "utils/timestamp.h"

#include "backend/hg_progress.h"

/* [MaxBackends * HG_PROGRESS_JOINS], by PGPROC number; NULL without shared memory */
static HgProgressSlot *slots = NULL;

/* The slots of this process; NULL before its first join. */
static volatile HgProgressSlot *own_slots = NULL;

/* [HG_PROGRESS_JOINS] joins that use own_slots; NULL: free */
static HgProgress *owners[HG_PROGRESS_JOINS];

static shmem_request_hook_type previous_shmem_request = NULL;
static shmem_startup_hook_type previous_shmem_startup = NULL;

static Size
hg_progress_shmem_size(void)
{
	return mul_size(mul_size(MaxBackends, HG_PROGRESS_JOINS), sizeof(HgProgressSlot));
}

static void
hg_progress_shmem_request(void)
{
	if (previous_shmem_request)
		previous_shmem_request();
	RequestAddinShmemSpace(hg_progress_shmem_size());
}

static void
hg_progress_shmem_startup(void)
{
	bool found;

	if (previous_shmem_startup)
		previous_shmem_startup();

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	slots = ShmemInitStruct("hashgraph progress", hg_progress_shmem_size(), &found);
	if (!found)
		memset(slots, 0, hg_progress_shmem_size());
	LWLockRelease(AddinShmemInitLock);
}

void
hg_progress_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_shmem_request = shmem_request_hook;
	shmem_request_hook = hg_progress_shmem_request;
	previous_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = hg_progress_shmem_startup;
}

bool
hg_progress_exists(void)
{
	return slots != NULL;
}

bool
hg_progress_is_enabled(void)
{
	return slots != NULL && pgstat_track_activities;
}

/* ---------------------------------------------------------------------
 * Slots
 * ---------------------------------------------------------------------
 */

/* Frees a slot. */
static void
hg_progress_clear(volatile HgProgressSlot *slot)
{
	PGSTAT_BEGIN_WRITE_ACTIVITY(slot);
	slot->row.pid = 0;
	PGSTAT_END_WRITE_ACTIVITY(slot);
}

/* Finds this process's slots, and clears those that its predecessor may have left. */
static void
hg_progress_attach(void)
{
	ptrdiff_t process = MyProc - ProcGlobal->allProcs;

	if (own_slots != NULL || process >= MaxBackends)
		return;
	own_slots = &slots[process * HG_PROGRESS_JOINS];
	for (int i = 0; i < HG_PROGRESS_JOINS; i++)
		if (own_slots[i].row.pid != 0)
			hg_progress_clear(&own_slots[i]);
}

/* Returns the index of a free slot of this process, or of a finished join's; or -1. */
static int
hg_progress_find_slot(void)
{
	int found = -1;

	hg_progress_attach();
	if (own_slots == NULL)
		return -1;
	for (int i = 0; i < HG_PROGRESS_JOINS; i++)
	{
		if (owners[i] == NULL)
			return i;
		if (owners[i]->done && found < 0)
			found = i;
	}
	return found;
}

void
hg_progress_end(HgProgress *progress)
{
	if (progress->slot == NULL)
		return;
	owners[progress->slot - own_slots] = NULL;
	hg_progress_clear(progress->slot);
	progress->slot = NULL;
}

static void
hg_progress_release(void *arg)
{
	hg_progress_end(arg);
}

/* ---------------------------------------------------------------------
 * Reporting
 * ---------------------------------------------------------------------
 */

void
hg_progress_begin(HgProgress *progress, const HgProgressJoin *join,
				  const HgProgressCallbacks *callbacks, const void *arg, MemoryContext context)
{
	int index;
	HgProgressRow row = {
		.pid = MyProcPid,
		.database = MyDatabaseId,
		.started = GetCurrentTimestamp(),
		.join = *join,
	};

	Assert(progress->slot == NULL);
	/* the statement is over, or there is no free slot */
	if (!hg_progress_is_enabled() ||
		(progress->cleanup.release != NULL && !progress->cleanup.pending) ||
		(index = hg_progress_find_slot()) < 0)
		return;
	if (progress->cleanup.release == NULL)
		hg_cleanup_register(&progress->cleanup, context, hg_progress_release, progress);
	if (owners[index] != NULL)
		hg_progress_end(owners[index]);

	/* the leader's PGPROC stays as long as this process */
	if (IsParallelWorker() && MyProc->lockGroupLeader != NULL)
		row.leader = MyProc->lockGroupLeader->pid;
	progress->callbacks = callbacks;
	progress->arg = arg;
	progress->phase = callbacks->phase(arg);
	progress->backend = callbacks->backend(arg);
	progress->unreported = 0;
	progress->done = false;
	row.phase = *progress->phase;
	strlcpy(row.backend, progress->backend, sizeof(row.backend));
	callbacks->count(arg, &row.counts);

	owners[index] = progress;
	progress->slot = &own_slots[index];
	PGSTAT_BEGIN_WRITE_ACTIVITY(progress->slot);
	progress->slot->row = row;
	PGSTAT_END_WRITE_ACTIVITY(progress->slot);
}

void
hg_progress_report(HgProgress *progress)
{
	volatile HgProgressSlot *slot = progress->slot;
	const HgProgressPhase *phase;
	const char *backend;
	HgProgressCounts counts;

	if (slot == NULL)
		return;
	phase = progress->callbacks->phase(progress->arg);
	backend = progress->callbacks->backend(progress->arg);
	progress->callbacks->count(progress->arg, &counts);
	progress->unreported = 0;
	progress->done = false;

	PGSTAT_BEGIN_WRITE_ACTIVITY(slot);
	slot->row.counts = counts;
	if (phase != progress->phase)
		slot->row.phase = *phase;
	if (backend != progress->backend)
		strlcpy((char *) slot->row.backend, backend, sizeof(slot->row.backend));
	PGSTAT_END_WRITE_ACTIVITY(slot);
	progress->phase = phase;
	progress->backend = backend;
}

void
hg_progress_report_done(HgProgress *progress)
{
	hg_progress_report(progress);
	progress->done = true;
}

void
hg_progress_report_phase(HgProgress *progress)
{
	volatile HgProgressSlot *slot = progress->slot;
	const HgProgressPhase *phase;

	if (slot == NULL)
		return;
	phase = progress->callbacks->phase(progress->arg);
	if (phase == progress->phase)
		return;
	PGSTAT_BEGIN_WRITE_ACTIVITY(slot);
	slot->row.phase = *phase;
	PGSTAT_END_WRITE_ACTIVITY(slot);
	progress->phase = phase;
}

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

/* Copies a slot as it was at one moment. */
static void
hg_progress_read(const volatile HgProgressSlot *slot, HgProgressRow *row)
{
	for (;;)
	{
		int before;
		int after;

		pgstat_begin_read_activity(slot, before);
		row->pid = slot->row.pid;
		if (row->pid != 0)
			*row = slot->row;
		pgstat_end_read_activity(slot, after);
		if (pgstat_read_activity_complete(before, after))
			return;
		CHECK_FOR_INTERRUPTS();
	}
}

bool
hg_progress_next(int *index, HgProgressRow *row)
{
	while (slots != NULL && *index < MaxBackends * HG_PROGRESS_JOINS)
	{
		int process = *index / HG_PROGRESS_JOINS;

		hg_progress_read(&slots[(*index)++], row);
		/* a process that ended may have left it */
		if (row->pid != 0 && row->pid == ProcGlobal->allProcs[process].pid)
			return true;
	}
	return false;
}
