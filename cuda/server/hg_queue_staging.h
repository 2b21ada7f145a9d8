/*-------------------------------------------------------------------------
 *
 * hg_queue_staging.h
 *	  Who has which part of staging.
 *
 * Staging is two areas: leases for the keys of jobs that are not built yet, and room for
 * results.  A job may keep its lease for as long as its client takes to read its tables,
 * results go as soon as they are copied.  Were they in one area, leases could fill it, and
 * jobs that are to deliver what such a client reads would wait for it, as it does for them.
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

/* A contiguous piece of staging, and the parts of it that are taken. */
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

extern void hg_queue_staging_init(HgQueueStaging *staging, uint64_t bytes);

/*
 * The bytes that a job has a use for; but one that makes a graph replica, for which no query waits,
 * leaves most of staging to others.
 */
extern uint64_t hg_queue_staging_lease_bytes(const HgQueueStaging *staging, const HgJobSpec *spec);

/* ... and those that it can't do without. */
extern uint64_t hg_queue_staging_least_lease_bytes(const HgQueueStaging *staging,
												   const HgJobSpec *spec);

/* The bytes of room that results of so many bytes have a use for. */
extern uint64_t hg_queue_staging_room_bytes(uint64_t wanted);

/* Give a job a lease, or a request its room, if there is any. */
extern bool hg_queue_staging_take_lease(HgQueueStaging *staging, HgQueueEntry *job);
extern bool hg_queue_staging_take_room(HgQueueStaging *staging, HgQueueEntry *request);

/* Give them back; there may be none. */
extern void hg_queue_staging_give_lease(HgQueueStaging *staging, HgQueueEntry *job);
extern void hg_queue_staging_give_room(HgQueueStaging *staging, HgQueueEntry *request);

/* The bytes of both areas that are taken. */
static inline uint64_t
hg_queue_staging_taken(const HgQueueStaging *staging)
{
	return staging->leases.taken + staging->rooms.taken;
}

#endif /* HG_QUEUE_STAGING_H */
