/*-------------------------------------------------------------------------
 *
 * hg_host.h
 *	  Callbacks of the engine into PostgreSQL: memory, interrupts, waits.
 *
 * Nothing may unwind through the engine.  An error that an interrupt raises while the engine polls
 * is caught and stored, and rethrown when the engine has returned.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_H
#define HG_HOST_H

#include "backend/hg_progress.h"
#include "engine/hg_engine.h"
#include "hg_compat.h"

typedef struct HgPgHost
{
	HgHost host;		   /* the engine's view */
	MemoryContext context; /* of memory that the engine allocates, and of caught */
	ErrorData *caught;	   /* error of an interrupt, or NULL */
	HgProgress *progress;  /* of the join that the engine works for; or NULL */
	bool limited;		   /* timeout_ms is a limit */
	double timeout_ms;	   /* ms that waits may still take; at 0 the engine is cancelled */
} HgPgHost;

/* Initializes a host without a timeout, whose memory comes from context. */
extern void hg_host_init(HgPgHost *host, MemoryContext context);

/*
 * Limits the time that the engine's waits for other processes may take in total, from now on.
 * Then the engine is cancelled.  A negative timeout means no limit.
 */
extern void hg_host_set_timeout(HgPgHost *host, double timeout_ms);

/* Adds to the timeout, if there is one. */
extern void hg_host_extend_timeout(HgPgHost *host, double more_ms);

/* Raises the timeout to at least this, if there is one. */
extern void hg_host_set_min_timeout(HgPgHost *host, double least_ms);

/* Returns true if the engine was cancelled because the timeout had passed. */
extern bool hg_host_timed_out(const HgPgHost *host);

/* In a PG_CATCH: stores the error, so that nothing unwinds through the engine. */
extern void hg_host_catch(HgPgHost *host);

/* Rethrows the stored error; returns if there is none. */
extern void hg_host_rethrow(HgPgHost *host);

/*
 * Raises the error of an engine call that returned status: the stored error if there is one, or
 * else error, with an SQLSTATE and a hint for the status.
 */
pg_noreturn extern void hg_host_throw(HgPgHost *host, HgStatus status, const HgError *error);

#endif /* HG_HOST_H */
