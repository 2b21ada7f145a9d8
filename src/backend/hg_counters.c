/*-------------------------------------------------------------------------
 *
 * hg_counters.c
 *	  Counters of each database's joins, shared by all sessions.
 *
 * The counters have two stores, and hg_counters_init chooses one.  Code that counts does not know
 * which.
 *
 * CUMULATIVE STATISTICS are the store since PostgreSQL 18.  The counters are a kind of
 * PostgreSQL's own statistics, with an entry for each database.  PostgreSQL writes the entries to
 * its statistics file when the server stops, and reads them when it starts.  Crash recovery
 * discards them.  DROP DATABASE drops an entry, and pg_stat_reset() resets it.  A join is counted
 * in the entry at once, under the entry's lock, and not in pending data: joins are few, and what a
 * view shows is exact.
 *
 * The statistics file says neither how long an entry is nor what it contains.  If the length
 * changed, PostgreSQL would take the file for corrupted and discard all statistics, its own too.
 * So an entry has HG_KIND_BYTES in every version of this extension.  It begins with the number of
 * its layout.  A process that locks an entry of another layout resets its counters.  A new entry
 * is all zeros, which is no layout, and is reset in the same way.  A counter that is added at the
 * end of HgStatCounters needs no new layout, because unused bytes are zero.  Any other change
 * does.
 *
 * SHARED MEMORY is the store up to PostgreSQL 17, and later if another extension has the kind's
 * ID.  There is room for HG_STAT_DATABASES databases.  One more takes the entry that was used
 * least recently, and starts from zero.  The counters end with the server.  A lightweight lock
 * protects the hash table: shared to find an entry, exclusive to add one.  An entry's own spinlock
 * protects its counters.
 *
 * test/t/server_counters.pl tests restarts, resets and layouts.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/timestamp.h"

#include "backend/hg_stats.h"
#include "hg_guc.h"

#if HG_HAVE_STAT_KINDS
#include "utils/pgstat_internal.h"
#endif

/* A store of counters.  At most one database's counters are locked at a time. */
typedef struct HgCounterStore
{
	HgStatCounters *(*lock)(void);
	void (*unlock)(void);
} HgCounterStore;

static const HgCounterStore *store = NULL;

void
hg_counters_clear(HgStatCounters *counters, TimestampTz reset_at)
{
	memset(counters, 0, sizeof(HgStatCounters));
	counters->reset_at = reset_at;
}

HgStatCounters *
hg_counters_lock(void)
{
	return store == NULL ? NULL : store->lock();
}

void
hg_counters_unlock(void)
{
	store->unlock();
}

/* ---------------------------------------------------------------- shared memory */

/* Maximum number of databases with counters. */
#define HG_STAT_DATABASES 1024

/* The counters of one database. */
typedef struct HgStatEntry
{
	Oid database; /* hash key; must be first */
	slock_t mutex;
	TimestampTz used_at;
	HgStatCounters counters;
} HgStatEntry;

typedef struct HgStatShared
{
	LWLock *lock;	   /* protects the hash table and since */
	TimestampTz since; /* no dropped counter is younger than this */
} HgStatShared;

static HgStatShared *shared = NULL;
static HTAB *entries = NULL;
static HgStatEntry *locked_entry = NULL;

static shmem_request_hook_type previous_shmem_request = NULL;
static shmem_startup_hook_type previous_shmem_startup = NULL;

static void
hg_counters_shmem_request(void)
{
	if (previous_shmem_request)
		previous_shmem_request();

	RequestAddinShmemSpace(add_size(MAXALIGN(sizeof(HgStatShared)),
									hash_estimate_size(HG_STAT_DATABASES, sizeof(HgStatEntry))));
	RequestNamedLWLockTranche("hashgraph", 1);
}

static void
hg_counters_shmem_startup(void)
{
	HASHCTL control = {.keysize = sizeof(Oid), .entrysize = sizeof(HgStatEntry)};
	bool found;

	if (previous_shmem_startup)
		previous_shmem_startup();

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("hashgraph statistics", sizeof(HgStatShared), &found);
	if (!found)
	{
		shared->lock = &(GetNamedLWLockTranche("hashgraph"))->lock;
		shared->since = GetCurrentTimestamp();
	}
	entries = hg_shmem_init_hash("hashgraph counters", HG_STAT_DATABASES, &control,
								 HASH_ELEM | HASH_BLOBS);
	LWLockRelease(AddinShmemInitLock);
}

/* Drops the entry that was used least recently.  The lock is held exclusively. */
static void
hg_counters_drop_oldest(void)
{
	HASH_SEQ_STATUS scan;
	HgStatEntry *entry;
	Oid oldest = InvalidOid;
	TimestampTz oldest_used_at = DT_NOEND;

	hash_seq_init(&scan, entries);
	while ((entry = hash_seq_search(&scan)) != NULL)
	{
		if (entry->used_at < oldest_used_at)
		{
			oldest_used_at = entry->used_at;
			oldest = entry->database;
		}
	}
	if (OidIsValid(oldest))
		hash_search(entries, &oldest, HASH_REMOVE, NULL);
	shared->since = GetCurrentTimestamp();
}

/* Returns this database's entry, made if needed, with the lock held in either mode. */
static HgStatEntry *
hg_counters_find_entry(void)
{
	HgStatEntry *entry;
	bool found;

	LWLockAcquire(shared->lock, LW_SHARED);
	entry = hash_search(entries, &MyDatabaseId, HASH_FIND, NULL);
	if (entry != NULL)
		return entry;
	LWLockRelease(shared->lock);

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	if (hash_get_num_entries(entries) >= HG_STAT_DATABASES &&
		hash_search(entries, &MyDatabaseId, HASH_FIND, NULL) == NULL)
		hg_counters_drop_oldest();
	entry = hash_search(entries, &MyDatabaseId, HASH_ENTER, &found);
	if (!found)
	{
		SpinLockInit(&entry->mutex);
		entry->used_at = GetCurrentTimestamp();
		hg_counters_clear(&entry->counters, shared->since);
	}
	return entry;
}

static HgStatCounters *
hg_counters_lock_entry(void)
{
	TimestampTz now = GetCurrentTimestamp();

	locked_entry = hg_counters_find_entry();
	SpinLockAcquire(&locked_entry->mutex);
	locked_entry->used_at = now;
	return &locked_entry->counters;
}

static void
hg_counters_unlock_entry(void)
{
	SpinLockRelease(&locked_entry->mutex);
	LWLockRelease(shared->lock);
}

static const HgCounterStore shared_memory = {.lock = hg_counters_lock_entry,
											 .unlock = hg_counters_unlock_entry};

static void
hg_counters_init_shared_memory(void)
{
	previous_shmem_request = shmem_request_hook;
	shmem_request_hook = hg_counters_shmem_request;
	previous_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = hg_counters_shmem_startup;
	store = &shared_memory;
}

/* ---------------------------------------------------------------- cumulative statistics */

#if HG_HAVE_STAT_KINDS

/*
 * The kind's ID.  IDs from 24 to 32 are for extensions;
 * https://wiki.postgresql.org/wiki/CustomCumulativeStats lists them.  It must be the same in every
 * version of this extension, because the statistics file contains it.
 */
#ifndef HG_STAT_KIND
#define HG_STAT_KIND 31
#endif

/* Bytes of an entry in the statistics file.  This must never change. */
#define HG_KIND_BYTES 512

/* Layout of HgStatCounters in these bytes; 0: none. */
#define HG_KIND_LAYOUT 1

/* The statistics file's data of one database. */
typedef union HgKindData
{
	struct
	{
		uint64 layout;
		HgStatCounters counters;
	};
	char bytes[HG_KIND_BYTES];
} HgKindData;

StaticAssertDecl(sizeof(HgKindData) == HG_KIND_BYTES, "counters exceed an entry of the kind");

typedef struct HgKindEntry
{
	PgStatShared_Common header;
	HgKindData data;
} HgKindEntry;

static PgStat_EntryRef *locked_reference = NULL;

/* Resets the counters of a locked entry; pg_stat_reset() calls this too. */
static void
hg_counters_start_kind_entry(PgStatShared_Common *header, TimestampTz reset_at)
{
	HgKindData *data = &((HgKindEntry *) header)->data;

	memset(data, 0, sizeof(HgKindData));
	data->layout = HG_KIND_LAYOUT;
	hg_counters_clear(&data->counters, reset_at);
}

static HgStatCounters *
hg_counters_lock_kind_entry(void)
{
	HgKindEntry *entry;

	locked_reference = pgstat_get_entry_ref_locked(HG_STAT_KIND, MyDatabaseId, 0, false);
	entry = (HgKindEntry *) locked_reference->shared_stats;
	if (entry->data.layout != HG_KIND_LAYOUT)
		hg_counters_start_kind_entry(&entry->header, GetCurrentTimestamp());
	return &entry->data.counters;
}

static void
hg_counters_unlock_kind_entry(void)
{
	pgstat_unlock_entry(locked_reference);
}

static const HgCounterStore cumulative_statistics = {.lock = hg_counters_lock_kind_entry,
													 .unlock = hg_counters_unlock_kind_entry};

/* PostgreSQL keeps a pointer to this. */
static PgStat_KindInfo kind_info = {
	.name = "hashgraph",
	.fixed_amount = false,
	.shared_size = sizeof(HgKindEntry),
	.shared_data_off = offsetof(HgKindEntry, data),
	.shared_data_len = sizeof(HgKindData),
	.reset_timestamp_cb = hg_counters_start_kind_entry,
};

/* Sets whether the checkpointer writes the counters; each process has this setting. */
static void
hg_counters_set_saved(bool saved)
{
	kind_info.write_to_file = saved;
}

/* Returns false if another extension has the kind's ID. */
static bool
hg_counters_init_kind(void)
{
	const PgStat_KindInfo *other = pgstat_get_kind_info(HG_STAT_KIND);

	if (other != NULL)
	{
		ereport(WARNING,
				(errmsg("counters of hashgraph will be lost when the server stops"),
				 errdetail("Custom cumulative statistics \"%s\" are registered with ID %u.",
						   other->name, HG_STAT_KIND)));
		return false;
	}
	hg_counters_set_saved(hg_save_counters);
	hg_save_counters_assigned = hg_counters_set_saved;
	pgstat_register_kind(HG_STAT_KIND, &kind_info);
	store = &cumulative_statistics;
	return true;
}

#endif /* HG_HAVE_STAT_KINDS */

void
hg_counters_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
#if HG_HAVE_STAT_KINDS
	if (hg_counters_init_kind())
		return;
#endif
	hg_counters_init_shared_memory();
}
