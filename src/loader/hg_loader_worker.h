/*-------------------------------------------------------------------------
 *
 * hg_loader_worker.h
 *	  Functions that all background workers of the cache use.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_WORKER_H
#define HG_LOADER_WORKER_H

#include "hg_compat.h"

#include "loader/hg_loader_shared.h"

/* What a worker is started for, passed in bgw_extra. */
typedef struct HgLoaderTask
{
	Oid database;
	int post;
	HgPostSlot slot;
} HgLoaderTask;

/* Starts a worker.  Returns false if there is no background worker slot. */
extern bool hg_loader_start_worker(const HgLoaderTask *task);

/*
 * Connects this worker to its database and takes its place.  Exits if the place cannot be taken.
 * Exit callbacks of the worker must be registered later.
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

/* Sleeps until this process is woken, or for the time.  Processes interrupts and reloads. */
extern void hg_loader_sleep(long milliseconds);

/*
 * Returns the relation with an AccessShareLock, or NULL if the lock is not available at once:
 * waiting would hold back xmin, and queue others.  *gone becomes true if the relation is gone.
 */
extern Relation hg_loader_open(Oid relation, bool *gone);
/* Closes the relation and releases the lock. */
extern void hg_loader_close(Relation rel);

#endif /* HG_LOADER_WORKER_H */
