/*-------------------------------------------------------------------------
 *
 * hg_host.h
 *	  What PostgreSQL lends to the engine: memory, interrupts, waits.
 *
 * Nothing may unwind through the engine, so an interrupt that turns into an error
 * while the engine polls is caught and kept, and thrown again once the engine has
 * returned.
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
	HgHost host;		   /* what the engine sees */
	MemoryContext context; /* of the memory it asks for, and of caught */
	ErrorData *caught;	   /* an interrupt's error, or NULL */
	HgProgress *progress;  /* of what the engine works for; or NULL */
	bool limited;		   /* what follows holds */
	double timeout_ms; /* that may still be waited in all; when none is left, all is cancelled */
} HgPgHost;

/* Set up a host whose memory comes from context. */
extern void hg_host_init(HgPgHost *host, MemoryContext context);

/*
 * From now on the engine's waits for another process take so long in all, and then it
 * is as if they were cancelled; negative: there is no limit.
 */
extern void hg_host_set_timeout(HgPgHost *host, double timeout_ms);

/* Where there is a limit, allow so much more. */
extern void hg_host_extend_timeout(HgPgHost *host, double more_ms);

/* Where there is a limit, allow so much at least from now on. */
extern void hg_host_set_min_timeout(HgPgHost *host, double least_ms);

/* Returns true if the engine was told to stop because the timeout had passed. */
extern bool hg_host_timed_out(const HgPgHost *host);

/* In a PG_CATCH: keep the error, so that nothing unwinds through the engine. */
extern void hg_host_catch(HgPgHost *host);

/* Throw what was caught; returns when nothing was. */
extern void hg_host_rethrow(HgPgHost *host);

/*
 * Throw the error of an engine call that answered status: first what was caught,
 * else error, with an SQLSTATE and a hint that fit the status.
 */
pg_noreturn extern void hg_host_throw(HgPgHost *host, HgStatus status, const HgError *error);

#endif /* HG_HOST_H */
