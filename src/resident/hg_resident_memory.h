/*-------------------------------------------------------------------------
 *
 * hg_resident_memory.h
 *	  The one area of main shared memory that everything resident lies in.
 *
 * hashgraph.resident_memory says how large the area is; it is asked for when the server starts,
 * and never grows: an allocation that finds no room returns nothing.  What is in it is named by
 * dsa_pointers, which every process takes for addresses of its own by hg_resident_address(); the
 * first use attaches a process, for its life.
 *
 * CLAIMS.  A chunk has no owner that PostgreSQL knows of: what a process has allocated and told
 * nobody about would be lost with it until the server starts again.  So memory is allocated under
 * a claim, which gives back all of it when the transaction fails or the memory context of the
 * claim is reset, unless it was kept: then it belongs to whatever was published.  A process that
 * ends (FATAL) aborts its transaction on the way (ShutdownPostgres, which is called before shared
 * memory is left), and so comes by the same way; one that is killed takes the shared memory of the
 * server with it.
 *
 * THE EPOCH is a random number that is drawn when the area is made.  Positions in the WAL repeat
 * after a crash that lost some of it, so that nothing which speaks of them may outlive the memory
 * that they were kept in: whatever leaves this memory carries the epoch with it.
 *
 * This file alone calls dsa.c's functions (make lint).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_MEMORY_H
#define HG_RESIDENT_MEMORY_H

#include "hg_compat.h"

#include "storage/lwlock.h"
#include "utils/dsa.h"

#include "backend/hg_cleanup.h"

/* What is allocated and not published so far. */
typedef struct HgResidentClaim
{
	HgCleanup cleanup;
	MemoryContext context;
	int count;
	int capacity;
	struct HgResidentChunk
	{
		dsa_pointer chunk;
		Size bytes;
	} * chunks; /* [capacity], count of them used */
} HgResidentClaim;

/* Locks of this room, by number. */
typedef enum HgResidentLock
{
	HG_RESIDENT_LOCK_CHAINS = 0,
	HG_RESIDENT_LOCK_LOADERS,
	HG_RESIDENT_LOCK_LIST,
	HG_RESIDENT_LOCK_NOTES,
	HG_RESIDENT_LOCKS /* their number */
} HgResidentLock;

/* While shared memory is requested, and made: with AddinShmemInitLock held, startup_end last. */
extern void hg_resident_memory_request(void);
extern void hg_resident_memory_startup(void);

/*
 * Shared memory of a part of this room or above, beside the area: ask for it, and have it when it
 * is made.  Then it is zeroed, and is_new, but where another process has made it.  Without memory
 * for residents nothing is asked for, and NULL is what there is.
 */
extern void hg_resident_shared_request(Size bytes);
extern void *hg_resident_shared_startup(const char *name, Size bytes, bool *is_new);

/* The area while shared memory is made by the postmaster, which is not attached; NULL otherwise. */
extern dsa_area *hg_resident_startup_area(void);
extern void hg_resident_memory_startup_end(void);

/* Has the server memory for residents? */
extern bool hg_resident_memory_exists(void);

extern uint64 hg_resident_epoch(void);
/* A number that nobody else is given as long as the area is there; never 0. */
extern uint64 hg_resident_serial(void);
extern Size hg_resident_memory_size(void);
/* Bytes that are allocated, without what the area needs for itself. */
extern Size hg_resident_memory_used(void);
/* Of these, what processes have pinned, each version once (hg_resident_version.h). */
extern Size hg_resident_memory_pinned(void);

/*
 * This process has pinned a version of so many bytes, which nobody else has (only), or not any
 * more.
 */
extern void hg_resident_memory_pin(Size bytes, bool only);
extern void hg_resident_memory_unpin(Size bytes, bool only);

/*
 * Do processes that wait for their client, as those with an idle cursor do, pin more than half of
 * the area?  Nobody knows when they will let go of it.
 */
extern bool hg_resident_memory_is_idle(void);

extern LWLock *hg_resident_lock(HgResidentLock lock);
extern int hg_resident_tranche(void);

/* The area, to which this process is attached from now on. */
extern dsa_area *hg_resident_area(void);
extern void *hg_resident_address(dsa_pointer chunk);

/* Open a claim, which lies in context and belongs to CurrentResourceOwner too. */
extern void hg_resident_claim_open(HgResidentClaim *claim, MemoryContext context);

/*
 * Bytes of shared memory, not zeroed; InvalidDsaPointer where there is no room.  Without a claim
 * (NULL) the caller links them to something published before anything can fail.
 */
extern dsa_pointer hg_resident_allocate(HgResidentClaim *claim, Size bytes);

/* What the claim holds belongs to something that is published: it is forgotten here. */
extern void hg_resident_claim_keep(HgResidentClaim *claim);

/* Is there room for so many bytes, as it looks now? */
extern bool hg_resident_has_room(Size bytes);

/* Give back what the claim holds now. */
extern void hg_resident_claim_release(HgResidentClaim *claim);

/* Give back a chunk that was allocated with so many bytes.  Does not fail. */
extern void hg_resident_free(dsa_pointer chunk, Size bytes);

#endif /* HG_RESIDENT_MEMORY_H */
