/*-------------------------------------------------------------------------
 *
 * hg_queue_staging.h
 *	  Divides staging into leases and room for results.
 *
 * Staging has two areas: leases for the keys of jobs that are not built yet, and room for results.
 * A job may keep its lease for as long as its client takes to read its tables, while results go as
 * soon as they are copied. If both shared one area, leases could fill it. Then a job whose results
 * such a client must read first would wait for staging, and the client for the job.
 *
 * The caller holds the queue's lock.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_QUEUE_STAGING_H
#define HG_QUEUE_STAGING_H

#include "../../src/engine/hg_engine.h"
#include "hg_queue_entry.h"

/* A contiguous piece of staging, and its taken parts, in the order of offsets. */
typedef struct HgQueueArea
{
	uint64_t offset;
	uint64_t bytes;
	uint64_t taken;
	HgQueuePart *parts;
} HgQueueArea;

typedef struct HgQueueStaging
{
	HgQueueArea leases;
	HgQueueArea rooms;
} HgQueueStaging;

/* Divides staging of so many bytes: three quarters are for leases. */
extern void hg_queue_staging_init(HgQueueStaging *staging, uint64_t bytes);

/*
 * Returns the bytes of staging that a job can use. A job that makes a replica, for which no query
 * waits, leaves most of staging to others.
 */
extern uint64_t hg_queue_staging_lease_bytes(const HgQueueStaging *staging, const HgJobSpec *spec);

/* Returns the least bytes that a job needs. */
extern uint64_t hg_queue_staging_least_lease_bytes(const HgQueueStaging *staging,
												   const HgJobSpec *spec);

/* Returns the bytes of room that results of so many bytes can use. */
extern uint64_t hg_queue_staging_room_bytes(uint64_t wanted);

/* Takes a lease for a job; returns false if there is none. */
extern bool hg_queue_staging_take_lease(HgQueueStaging *staging, HgQueueEntry *job);

/* Takes room for a request; returns false if there is none. */
extern bool hg_queue_staging_take_room(HgQueueStaging *staging, HgQueueEntry *request);

/* Gives a lease back, if there is any. */
extern void hg_queue_staging_release_lease(HgQueueStaging *staging, HgQueueEntry *job);

/* Gives room back, if there is any. */
extern void hg_queue_staging_release_room(HgQueueStaging *staging, HgQueueEntry *request);

/* Returns the taken bytes of both areas. */
static inline uint64_t
hg_queue_staging_taken(const HgQueueStaging *staging)
{
	return staging->leases.taken + staging->rooms.taken;
}

#endif /* HG_QUEUE_STAGING_H */
