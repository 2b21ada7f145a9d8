/*-------------------------------------------------------------------------
 *
 * hg_host.h
 *	  Callbacks of the engine into PostgreSQL: memory, interrupts, waits.
 *
 * Nothing may unwind through the engine.  An error that an interrupt raises while the engine polls
 * is caught and stored.  The caller of the engine initializes a host, passes &host->host to the
 * engine's open, and calls hg_host_throw if an engine call has failed.
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
	HgHost host;		   /* the callbacks that the engine gets */
	MemoryContext context; /* of memory that the engine allocates, and of caught */
	ErrorData *caught;	   /* error of an interrupt, or NULL */
	HgProgress *progress;  /* of the join that the engine works for; or NULL */
	bool limited;		   /* timeout_ms is a limit */
	double timeout_ms;	   /* ms that waits may still take; at 0 the engine is cancelled */
} HgPgHost;

/* Initializes a host without a timeout, whose memory comes from context. */
extern void hg_host_init(HgPgHost *host, MemoryContext context);

/*
 * Limits the time that the engine's waits for other processes may take in total from now on, in
 * ms.  When it has passed, the engine's calls return HG_CANCELLED.  Negative: no limit.
 */
extern void hg_host_set_timeout(HgPgHost *host, double timeout_ms);

/* Adds more_ms to the remaining time, if it is limited. */
extern void hg_host_extend_timeout(HgPgHost *host, double more_ms);

/* Raises the remaining time to least_ms if it is less and limited. */
extern void hg_host_set_min_timeout(HgPgHost *host, double least_ms);

/* Returns true if the remaining time is used up, and no interrupt's error is stored. */
extern bool hg_host_timed_out(const HgPgHost *host);

/* In a PG_CATCH of a callback: stores the error in host->caught, and ends its handling. */
extern void hg_host_catch(HgPgHost *host);

/* Rethrows the stored error; returns if there is none. */
extern void hg_host_rethrow(HgPgHost *host);

/*
 * Raises the error of an engine call that returned status: the stored error if there is one, or
 * else error, with an SQLSTATE and a hint for the status.
 */
pg_noreturn extern void hg_host_throw(HgPgHost *host, HgStatus status, const HgError *error);

#endif /* HG_HOST_H */
