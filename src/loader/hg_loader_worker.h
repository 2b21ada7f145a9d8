/*-------------------------------------------------------------------------
 *
 * hg_loader_worker.h
 *	  What the background workers of residents have in common.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_WORKER_H
#define HG_LOADER_WORKER_H

#include "hg_compat.h"

#include "loader/hg_loader_shared.h"

/* What a worker is started for, which it finds in bgw_extra. */
typedef struct HgLoaderTask
{
	Oid database;
	int post;
	HgPlace place;
} HgLoaderTask;

/* Start one.  False: there is no slot for it. */
extern bool hg_loader_start_worker(const HgLoaderTask *task);

/*
 * Come up as a worker, connect to the database and take the place.  Exits where that is not to be;
 * what the worker wants to be done when it ends it registers after this.
 */
extern HgLoaderTask hg_loader_worker_begin(void);

/*
 * Begin a transaction as all of these workers want it, whatever the database's settings are: read
 * committed, for under repeatable read its snapshots would all be the first one; read only; and
 * never a serializable one, which would make others' transactions fail.  With a snapshot,
 * registered and active.
 */
extern void hg_loader_begin(void);
extern void hg_loader_end(void);

/*
 * In a PG_CATCH: report the error, and end what it has left, with this memory context current.
 * True: it may be gone the next time, as it came from somebody else, and not from the table.
 */
extern bool hg_loader_recover(MemoryContext context);

/* Sleep until somebody wakes this process, or so long; interrupts and reloads are looked at. */
extern void hg_loader_sleep(long milliseconds);

/*
 * A relation, with AccessShareLock, if that can be had at once: waiting for it would hold back
 * xmin, and have others queue behind.  *gone tells that there is no such relation.
 */
extern Relation hg_loader_open(Oid relation, bool *gone);
/* The lock goes too. */
extern void hg_loader_close(Relation rel);

#endif /* HG_LOADER_WORKER_H */
