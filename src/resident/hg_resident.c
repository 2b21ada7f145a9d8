/*-------------------------------------------------------------------------
 *
 * hg_resident.c
 *	  Installs the hooks that reserve and initialize this room's shared memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"

#include "resident/hg_resident_auto.h"
#include "resident/hg_resident_chain.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_list.h"
#include "resident/hg_resident_memory.h"
#include "resident/hg_resident_statistics.h"

static shmem_request_hook_type previous_shmem_request = NULL;
static shmem_startup_hook_type previous_shmem_startup = NULL;

static void
hg_resident_shmem_request(void)
{
	if (previous_shmem_request)
		previous_shmem_request();
	hg_resident_memory_request();
	hg_resident_statistics_request();
	hg_list_request();
	hg_auto_request();
	hg_directory_request();
	hg_chain_request();
}

static void
hg_resident_shmem_startup(void)
{
	if (previous_shmem_startup)
		previous_shmem_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	hg_resident_memory_startup();
	hg_resident_statistics_startup();
	hg_list_startup();
	hg_auto_startup();
	hg_directory_startup();
	hg_chain_startup();
	hg_resident_memory_startup_end();
	LWLockRelease(AddinShmemInitLock);
}

void
hg_resident_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_shmem_request = shmem_request_hook;
	shmem_request_hook = hg_resident_shmem_request;
	previous_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = hg_resident_shmem_startup;
}
