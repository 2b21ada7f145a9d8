/*-------------------------------------------------------------------------
 *
 * hg_loader_worker.h
 *	  The background workers of the cache: their start, and functions that all of them use.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_WORKER_H
#define HG_LOADER_WORKER_H

#include "hg_compat.h"

#include "loader/hg_loader_shared.h"

/*
 * Installs the hooks, and registers the launcher if the server has memory for cached columns.
 * Does nothing unless called while shared_preload_libraries are loaded.
 */
extern void hg_loader_init(void);

/*
 * Makes the workers leave a database that a command needs for itself, and keeps them away.
 *
 * DROP DATABASE, ALTER DATABASE RENAME and SET TABLESPACE, and CREATE DATABASE of its template,
 * fail if anyone else is connected.  PostgreSQL waits five seconds for an extension's background
 * workers, and does not ask them to exit.  So this hook asks them first, and none is started until
 * the transaction has ended.  DROP DATABASE also removes the database's entries from the
 * directory.
 */

/* Installs this ProcessUtility hook, while shared_preload_libraries are loaded. */
extern void hg_holdoff_init(void);

/* hg_loader_worker.c: functions that all background workers of the cache use */

/* What a worker is started for, passed in bgw_extra. */
typedef struct HgLoaderTask
{
	Oid database;
	int post;
	HgPostSlot slot;
} HgLoaderTask;

/* Starts a witness or loader, by task->slot.  Returns false if there is no free worker slot. */
extern bool hg_loader_start_worker(const HgLoaderTask *task);

/*
 * Connects this worker to the database of its task, takes its place in the post and returns the
 * task.  Exits if the place cannot be taken.  Exit callbacks of the worker must be registered
 * later.
 */
extern HgLoaderTask hg_loader_worker_begin(void);

/*
 * Starts a transaction with a registered, active snapshot, whatever the database's settings are. It
 * is read committed, as under repeatable read all snapshots would be the first one; read only; and
 * never serializable, which would make others' transactions fail.
 */
extern void hg_loader_begin(void);
/* Commits the transaction. */
extern void hg_loader_end(void);

/*
 * In a PG_CATCH: reports the error, aborts the transaction, and switches to context.  Returns true
 * if a retry may succeed, as another process caused the error and not the table.
 */
extern bool hg_loader_recover(MemoryContext context);

/*
 * Returns the time from one round of a database's witnesses to the next, in ms.  Xmin is held back
 * by twice as much.  Not in the witnesses' own file, so that tests can replace it (test/fault).
 */
extern long hg_witness_period(void);

/* Sleeps until the latch is set, at most for this time.  Processes interrupts and reloads. */
extern void hg_loader_sleep(long milliseconds);

/*
 * Returns the relation with an AccessShareLock, or NULL if the lock is not available at once:
 * waiting would hold back xmin, and queue others.  *gone becomes true if the relation is gone.
 */
extern Relation hg_loader_open(Oid relation, bool *gone);
/* Closes the relation and releases the lock. */
extern void hg_loader_close(Relation rel);

#endif /* HG_LOADER_WORKER_H */
