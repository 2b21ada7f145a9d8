/*-------------------------------------------------------------------------
 *
 * hg_launcher.c
 *	  The launcher: a background worker that starts the witnesses and loaders of each database.
 *
 * There is one for the server, connected to no database.  Once a second, or when it is woken, it
 * reads the directory.  A database with entries gets a post, a chain and two witnesses, and
 * loaders while something is to be loaded.  The workers of a database without entries, or of one
 * that a command needs for itself (hg_loader_worker.h), are asked to exit.  When all have gone,
 * the post is free for another database.  A worker that ends is started again after a pause, which
 * doubles each time the worker has not lived for long.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "hg_guc.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_resident_chain.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_list.h"

/* Time between two reads of the directory, in ms. */
#define HG_LAUNCHER_PERIOD_MS 1000

/* The list file is written at least this often, in ms, as uses change it too. */
#define HG_LAUNCHER_LIST_MS (5 * 60 * 1000)

/* First and longest pause before a worker is started again, in ms. */
#define HG_LAUNCHER_FIRST_PAUSE_MS 200
#define HG_LAUNCHER_LONGEST_PAUSE_MS (60 * 1000)

/* A witness that has lived this long, in ms, has worked. */
#define HG_LAUNCHER_HEALTHY_MS 3000

#define HG_LAUNCHER_RESTART_S 5

PGDLLEXPORT void hg_launcher_main(Datum arg);

/* A place, as the launcher knows it. */
typedef struct HgLaunched
{
	TimestampTz started_at; /* when a worker was started last; 0: never */
	uint32 taken;			/* HgPost.taken at that time */
	long pause_ms;
} HgLaunched;

typedef struct HgLaunchedPost
{
	Oid database;
	bool starved; /* a worker could not be started */
	HgLaunched slots[HG_POST_SLOTS];
} HgLaunchedPost;

/* A database with entries in the directory. */
typedef struct HgLauncherDatabase
{
	Oid database;
	bool wanted; /* there is something to load */
} HgLauncherDatabase;

static HgLaunchedPost *launched; /* [hg_post_count()] */

/* A worker that was started takes its place within this time, in ms, or never. */
#define HG_LAUNCHER_COMES_UP_MS 5000

/* Returns true if a worker was started that has not taken its place yet. */
static bool
hg_launcher_comes_up(int number, const HgPost *post, HgPostSlot slot, TimestampTz now)
{
	const HgLaunched *worker = &launched[number].slots[slot];

	return worker->started_at != 0 && worker->taken == post->taken[slot] &&
		   !TimestampDifferenceExceeds(worker->started_at, now, HG_LAUNCHER_COMES_UP_MS);
}

/* Returns the number of loaders that run or are about to. */
static int
hg_launcher_count_loaders(void)
{
	TimestampTz now = GetCurrentTimestamp();
	int n = 0;

	for (int number = 0; number < hg_post_count(); number++)
	{
		HgPost post;

		if (!hg_post_read(number, &post) || post.database != launched[number].database)
			continue;
		for (int slot = HG_POST_LOADER; slot < HG_POST_SLOTS; slot++)
			n += post.pids[slot] != 0 || hg_launcher_comes_up(number, &post, slot, now);
	}
	return n;
}

/* Returns the number of databases with entries, and an array of them in CurrentMemoryContext. */
static int
hg_launcher_list(HgLauncherDatabase **databases)
{
	HgResidentRelation *keys;
	int nkeys = hg_directory_list(InvalidOid, &keys);
	int n = 0;

	*databases = palloc0(Max(nkeys, 1) * sizeof(HgLauncherDatabase));
	for (int i = 0; i < nkeys; i++)
	{
		HgDirectoryEntry *entry = hg_directory_lock(keys[i], false);
		int at = 0;

		if (entry == NULL)
			continue;
		while (at < n && (*databases)[at].database != keys[i].database)
			at++;
		if (at == n)
			(*databases)[n++].database = keys[i].database;
		(*databases)[at].wanted |= entry->wanted;
		hg_directory_unlock(entry);
	}
	return n;
}

/* State of a database in the catalog. */
typedef enum HgDatabaseState
{
	HG_DATABASE_GONE,
	HG_DATABASE_CLOSED, /* accepts no connections */
	HG_DATABASE_OPEN
} HgDatabaseState;

/*
 * Returns whether a database exists, and accepts connections.  Shared catalogs can be read without
 * a connection to a database, as the launcher of logical replication does.
 */
static HgDatabaseState
hg_launcher_look_for_database(Oid database)
{
	HgDatabaseState state = HG_DATABASE_GONE;
	Relation rel;
	TableScanDesc scan;
	TupleTableSlot *slot;

	StartTransactionCommand();
	(void) GetTransactionSnapshot();
	rel = table_open(DatabaseRelationId, AccessShareLock);
	slot = table_slot_create(rel, NULL);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while (state == HG_DATABASE_GONE && table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool isnull;

		if (DatumGetObjectId(slot_getattr(slot, Anum_pg_database_oid, &isnull)) != database)
			continue;
		/* a limit below -1, which is no limit, is that of an interrupted DROP DATABASE */
		state =
			DatumGetBool(slot_getattr(slot, Anum_pg_database_datallowconn, &isnull)) &&
					DatumGetInt32(slot_getattr(slot, Anum_pg_database_datconnlimit, &isnull)) >= -1
				? HG_DATABASE_OPEN
				: HG_DATABASE_CLOSED;
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	table_close(rel, AccessShareLock);
	CommitTransactionCommand();
	return state;
}

/* Starts a worker if the place is empty and the pause is over; false if no worker slot is free. */
static bool
hg_launcher_fill(int number, const HgPost *post, HgPostSlot slot)
{
	HgLaunched *before = &launched[number].slots[slot];
	TimestampTz now = GetCurrentTimestamp();
	HgLoaderTask task = {.database = post->database, .post = number, .slot = slot};

	if (post->pids[slot] != 0)
		return true;
	/* a loader that took its place has worked, and so has a witness that lived for a while */
	if (before->started_at == 0 ||
		(post->taken[slot] != before->taken &&
		 (slot >= HG_POST_LOADER ||
		  TimestampDifferenceExceeds(before->started_at, now, HG_LAUNCHER_HEALTHY_MS))))
		before->pause_ms = HG_LAUNCHER_FIRST_PAUSE_MS;
	if (before->started_at != 0 &&
		!TimestampDifferenceExceeds(before->started_at, now, before->pause_ms))
		return true;
	/* the last worker did not start: a standby replays DROP DATABASE without notice */
	if (before->started_at != 0 && post->taken[slot] == before->taken)
	{
		HgDatabaseState state = hg_launcher_look_for_database(post->database);

		if (state == HG_DATABASE_GONE)
			(void) hg_directory_forget_database(post->database);
		/* the entries of a closed database wait until it is open again */
		if (state != HG_DATABASE_OPEN)
			return true;
	}
	if (!hg_loader_start_worker(&task))
		return false;
	before->pause_ms = Min(2 * before->pause_ms, HG_LAUNCHER_LONGEST_PAUSE_MS);
	before->started_at = now;
	before->taken = post->taken[slot];
	return true;
}

/*
 * Starts a loader if the limits allow another one, and none is about to start: that one may be
 * enough.  Returns false if there is no background worker slot.
 */
static bool
hg_launcher_fill_loader(int number, const HgPost *post)
{
	TimestampTz now = GetCurrentTimestamp();
	int free_slot = HG_POST_SLOTS;

	for (int slot = HG_POST_SLOTS - 1; slot >= HG_POST_LOADER; slot--)
	{
		if (post->pids[slot] != 0)
			continue;
		if (hg_launcher_comes_up(number, post, slot, now))
			return true;
		free_slot = slot;
	}
	return free_slot == HG_POST_SLOTS || hg_launcher_count_loaders() >= hg_resident_workers ||
		   hg_launcher_fill(number, post, free_slot);
}

/* Sets or clears the reason that there is no worker, for the tables of a database. */
static void
hg_launcher_set_starved(Oid database, bool starved)
{
	hg_directory_set_waiting(database, starved ? HG_REASON_NO_WORKER : HG_REASON_NONE);
}

/* Assigns a post to a database with entries, and starts its workers. */
static void
hg_launcher_serve(const HgLauncherDatabase *database)
{
	int number;
	HgPost post;
	bool started;

	if (hg_post_is_held_off(database->database))
		return;
	number = hg_post_assign(database->database);
	if (number < 0 || hg_chain_assign(database->database) == NULL)
	{
		hg_launcher_set_starved(database->database, true);
		return;
	}
	if (launched[number].database != database->database)
	{
		memset(&launched[number], 0, sizeof(HgLaunchedPost));
		launched[number].database = database->database;
	}
	hg_post_set_leave(number, false);
	(void) hg_post_read(number, &post);
	started = hg_launcher_fill(number, &post, HG_POST_WITNESS) &&
			  hg_launcher_fill(number, &post, HG_POST_OTHER_WITNESS) &&
			  (!database->wanted || hg_launcher_fill_loader(number, &post));
	if (!started || launched[number].starved)
		hg_launcher_set_starved(database->database, !started);
	launched[number].starved = !started;
}

/* Asks the workers of databases that need none any more to exit, and frees their posts. */
static void
hg_launcher_leave(const HgLauncherDatabase *databases, int n)
{
	for (int number = 0; number < hg_post_count(); number++)
	{
		HgPost post;
		HgChain *chain;
		bool needed = false;

		if (!hg_post_read(number, &post))
			continue;
		for (int i = 0; i < n; i++)
			needed |= databases[i].database == post.database && !hg_post_is_held_off(post.database);
		if (needed)
			continue;
		hg_post_set_leave(number, true);
		chain = hg_chain_find(post.database);
		if (hg_post_unassign(number) && chain != NULL)
			hg_chain_unassign(chain);
		launched[number].database = InvalidOid;
	}
}

/* Returns how long the launcher may sleep, in ms, unless it is woken. */
static long
hg_launcher_idle(const HgLauncherDatabase *databases, int n)
{
	for (int i = 0; i < n; i++)
		if (databases[i].wanted)
			return HG_LAUNCHER_FIRST_PAUSE_MS;
	return HG_LAUNCHER_PERIOD_MS;
}

/* Writes the times of last use to the list file when the server stops in good order. */
static void
hg_launcher_at_exit(int code pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	hg_list_write(true);
}

void
hg_launcher_main(Datum arg pg_attribute_unused())
{
	MemoryContext context;
	TimestampTz written_at = GetCurrentTimestamp();
	uint32 turn = 0;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	/* without this connection, to no database, it would not be in pg_stat_activity */
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	launched = MemoryContextAllocZero(TopMemoryContext, hg_post_count() * sizeof(HgLaunchedPost));
	context = AllocSetContextCreate(TopMemoryContext, "hashgraph launcher", ALLOCSET_DEFAULT_SIZES);
	hg_loader_shared_attach();
	before_shmem_exit(hg_launcher_at_exit, 0);

	for (;;)
	{
		HgLauncherDatabase *databases;
		TimestampTz now = GetCurrentTimestamp();
		bool late = TimestampDifferenceExceeds(written_at, now, HG_LAUNCHER_LIST_MS);
		int n;

		MemoryContextReset(context);
		MemoryContextSwitchTo(context);
		hg_list_write(late);
		if (late)
			written_at = now;
		n = hg_launcher_list(&databases);
		/* in turn: there may be fewer loaders than databases that need one */
		for (int i = 0; i < n; i++)
			hg_launcher_serve(&databases[(turn + i) % n]);
		turn++;
		hg_launcher_leave(databases, n);
		hg_loader_sleep(hg_launcher_idle(databases, n));
	}
}

void
hg_loader_init(void)
{
	BackgroundWorker launcher = {0};

	if (!process_shared_preload_libraries_in_progress)
		return;
	hg_loader_shared_init();
	if (hg_resident_memory == 0 || IsBinaryUpgrade)
		return;
	hg_holdoff_init();
	launcher.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	launcher.bgw_start_time = BgWorkerStart_ConsistentState;
	launcher.bgw_restart_time = HG_LAUNCHER_RESTART_S;
	strlcpy(launcher.bgw_library_name, "hashgraph", sizeof(launcher.bgw_library_name));
	strlcpy(launcher.bgw_function_name, "hg_launcher_main", sizeof(launcher.bgw_function_name));
	strlcpy(launcher.bgw_name, "hashgraph launcher", sizeof(launcher.bgw_name));
	strlcpy(launcher.bgw_type, "hashgraph launcher", sizeof(launcher.bgw_type));
	RegisterBackgroundWorker(&launcher);
}
