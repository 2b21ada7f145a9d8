/*-------------------------------------------------------------------------
 *
 * hg_launcher.c
 *	  The worker that has residents' workers started, where they are needed.
 *
 * One for the server, connected to no database.  Once a second, or when it is woken, it looks at
 * the directory: a database with tables in it gets a post, a chain and two witnesses, and loaders
 * as long as something is wanted there; one without, or one that a command wants to have for
 * itself (hg_loader_holdoff.h), is left, and its post given to another when the last of them has
 * gone.  A worker that ends is started again after a pause, which doubles each time that it has
 * not lived for long.
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
#include "loader/hg_loader.h"
#include "loader/hg_loader_holdoff.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_resident_chain.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_list.h"

/* Between two looks at the directory, in ms. */
#define HG_LAUNCHER_PERIOD_MS 1000

/* The list is written at least as often, in ms, as what is used changes its order too. */
#define HG_LAUNCHER_LIST_MS (5 * 60 * 1000)

/* Before a worker is started again, in ms: at first, and at most. */
#define HG_LAUNCHER_FIRST_PAUSE_MS 200
#define HG_LAUNCHER_LONGEST_PAUSE_MS (60 * 1000)

/* A worker that has lived for so long has done what it was for. */
#define HG_LAUNCHER_HEALTHY_MS 3000

#define HG_LAUNCHER_RESTART_S 5

PGDLLEXPORT void hg_launcher_main(Datum arg);

/* What the launcher knows of a place. */
typedef struct HgLaunched
{
	TimestampTz started_at; /* 0: never */
	uint32 taken;			/* how often the place had been taken then */
	long pause_ms;
} HgLaunched;

typedef struct HgLaunchedPost
{
	Oid database;
	bool starved; /* a worker could not be started */
	HgLaunched places[HG_PLACES];
} HgLaunchedPost;

/* A database with residents. */
typedef struct HgLauncherDatabase
{
	Oid database;
	bool wanted; /* there is something to take in */
} HgLauncherDatabase;

static HgLaunchedPost *launched; /* [hg_post_count()] */

/* A worker that was started comes up within that, in ms, or not at all. */
#define HG_LAUNCHER_COMES_UP_MS 5000

/* Was a worker started that has not taken its place so far? */
static bool
hg_launcher_comes_up(int number, const HgPost *post, HgPlace place, TimestampTz now)
{
	const HgLaunched *worker = &launched[number].places[place];

	return worker->started_at != 0 && worker->taken == post->taken[place] &&
		   !TimestampDifferenceExceeds(worker->started_at, now, HG_LAUNCHER_COMES_UP_MS);
}

/* How many loaders there are, or are about to come up. */
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
		for (int place = HG_PLACE_LOADER; place < HG_PLACES; place++)
			n += post.pids[place] != 0 || hg_launcher_comes_up(number, &post, place, now);
	}
	return n;
}

/* The databases that the directory has tables of, in the current memory context. */
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

/* What the catalog says of a database. */
typedef enum HgDatabaseState
{
	HG_DATABASE_GONE,
	HG_DATABASE_CLOSED, /* nobody can connect to it */
	HG_DATABASE_OPEN
} HgDatabaseState;

/*
 * Is there still a database, and can workers connect to it?  Shared catalogs can be read without a
 * connection to any, as the launcher of logical replication does.
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
		/* a limit below -1, which is none, is that of a DROP DATABASE that was interrupted */
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

/*
 * Start a worker where the place is empty, and the pause is over.  False: there is no slot for it.
 */
static bool
hg_launcher_fill(int number, const HgPost *post, HgPlace place)
{
	HgLaunched *before = &launched[number].places[place];
	TimestampTz now = GetCurrentTimestamp();
	HgLoaderTask task = {.database = post->database, .post = number, .place = place};

	if (post->pids[place] != 0)
		return true;
	/* a loader that has come up has done its work, a witness that has lived for a while too */
	if (before->started_at == 0 ||
		(post->taken[place] != before->taken &&
		 (place >= HG_PLACE_LOADER ||
		  TimestampDifferenceExceeds(before->started_at, now, HG_LAUNCHER_HEALTHY_MS))))
		before->pause_ms = HG_LAUNCHER_FIRST_PAUSE_MS;
	if (before->started_at != 0 &&
		!TimestampDifferenceExceeds(before->started_at, now, before->pause_ms))
		return true;
	/* one that has not come up: a standby replays DROP DATABASE without a word to anybody */
	if (before->started_at != 0 && post->taken[place] == before->taken)
	{
		HgDatabaseState state = hg_launcher_look_for_database(post->database);

		if (state == HG_DATABASE_GONE)
			(void) hg_directory_forget_database(post->database);
		/* what is resident of a closed one waits until it is open again */
		if (state != HG_DATABASE_OPEN)
			return true;
	}
	if (!hg_loader_start_worker(&task))
		return false;
	before->pause_ms = Min(2 * before->pause_ms, HG_LAUNCHER_LONGEST_PAUSE_MS);
	before->started_at = now;
	before->taken = post->taken[place];
	return true;
}

/*
 * Start a loader where another one may be had, and none comes up: that may be enough.  False: there
 * is no slot for it.
 */
static bool
hg_launcher_fill_loader(int number, const HgPost *post)
{
	TimestampTz now = GetCurrentTimestamp();
	int free_place = HG_PLACES;

	for (int place = HG_PLACES - 1; place >= HG_PLACE_LOADER; place--)
	{
		if (post->pids[place] != 0)
			continue;
		if (hg_launcher_comes_up(number, post, place, now))
			return true;
		free_place = place;
	}
	return free_place == HG_PLACES || hg_launcher_count_loaders() >= hg_resident_workers ||
		   hg_launcher_fill(number, post, free_place);
}

/* Say of the tables of a database that there is no worker for them, or that there is one again. */
static void
hg_launcher_tell_starved(Oid database, bool starved)
{
	hg_directory_set_waiting(database, starved ? HG_REASON_NO_WORKER : HG_REASON_NONE);
}

/* Look after a database that has residents. */
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
		hg_launcher_tell_starved(database->database, true);
		return;
	}
	if (launched[number].database != database->database)
	{
		memset(&launched[number], 0, sizeof(HgLaunchedPost));
		launched[number].database = database->database;
	}
	hg_post_set_leave(number, false);
	(void) hg_post_read(number, &post);
	started = hg_launcher_fill(number, &post, HG_PLACE_WITNESS) &&
			  hg_launcher_fill(number, &post, HG_PLACE_OTHER_WITNESS) &&
			  (!database->wanted || hg_launcher_fill_loader(number, &post));
	if (!started || launched[number].starved)
		hg_launcher_tell_starved(database->database, !started);
	launched[number].starved = !started;
}

/* Leave the posts of databases that have none any more. */
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

/* How long nothing is to be done, in ms, unless the launcher is woken. */
static long
hg_launcher_idle(const HgLauncherDatabase *databases, int n)
{
	for (int i = 0; i < n; i++)
		if (databases[i].wanted)
			return HG_LAUNCHER_FIRST_PAUSE_MS;
	return HG_LAUNCHER_PERIOD_MS;
}

/* What was used last is told to the next start of the server, where this one ends in good order. */
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
	/* a connection, to no database, is what makes it show in pg_stat_activity */
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
		/* in turn: there may be fewer loaders than databases that want one */
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
