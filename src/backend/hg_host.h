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

#include "engine/hg_engine.h"
#include "hg_compat.h"

typedef struct HgPgHost
{
	HgHost host;		   /* what the engine sees */
	MemoryContext context; /* of the memory it asks for, and of caught */
	ErrorData *caught;	   /* an interrupt's error, or NULL */
} HgPgHost;

/* Set up a host whose memory comes from context. */
extern void hg_host_init(HgPgHost *host, MemoryContext context);

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
