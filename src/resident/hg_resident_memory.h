/*-------------------------------------------------------------------------
 *
 * hg_resident_memory.h
 *	  The area of main shared memory that has all cached columns and graphs.
 *
 * hashgraph.resident_memory is the size of the area.  It is allocated when the server starts and
 * never grows; an allocation that finds no room returns InvalidDsaPointer.  Chunks are identified
 * by dsa_pointers, and hg_resident_address() converts one to an address of this process.  The
 * first use attaches the process for its life.
 *
 * CLAIMS.  PostgreSQL knows no owner of a chunk: a chunk that a process allocated and did not
 * publish would leak until the server restarts.  So memory is allocated under a claim, which owns
 * the chunks.  A claim frees them when the transaction fails or the claim's memory context is
 * reset.  hg_resident_claim_keep() takes them out of the claim, once they are published.  A process
 * that ends by FATAL aborts its transaction (ShutdownPostgres, before it leaves shared memory) and
 * so frees its claims too.  A killed process takes the server's shared memory with it.
 *
 * THE EPOCH is a random number, drawn when the area is made.  LSNs repeat after a crash that lost
 * WAL, so nothing that names LSNs may outlive this memory.  Whatever leaves the memory carries the
 * epoch.
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

/* hg_resident.c: installs the hooks that reserve and initialize this room's shared memory */

/* Installs the hooks, only while shared_preload_libraries are loaded. */
extern void hg_resident_init(void);

/* hg_resident_memory.c: the area of main shared memory that has all cached columns and graphs */

/* Chunks that are allocated and not published yet. */
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
	} * chunks; /* [capacity]; count of them are used */
} HgResidentClaim;

/* The LWLocks of this room. */
typedef enum HgResidentLock
{
	HG_RESIDENT_LOCK_CHAINS = 0,
	HG_RESIDENT_LOCK_LOADERS,
	HG_RESIDENT_LOCK_LIST,
	HG_RESIDENT_LOCK_NOTES,
	HG_RESIDENT_LOCKS /* number of locks */
} HgResidentLock;

/* Reserves shared memory for the area, while the server starts. */
extern void hg_resident_memory_request(void);
/* Creates the area in the reserved memory.  The caller holds AddinShmemInitLock. */
extern void hg_resident_memory_startup(void);

/* Reserves shared memory beside the area, for this room or one above it. */
extern void hg_resident_shared_request(Size bytes);
/*
 * Called by a shmem_startup_hook that holds AddinShmemInitLock: returns the memory of this name
 * (ShmemInitStruct) that hg_resident_shared_request() reserved, zeroed with *is_new true, or as
 * another process has initialized it. Returns NULL, with *is_new false, if the server has no memory
 * for cached columns.
 */
extern void *hg_resident_shared_startup(const char *name, Size bytes, bool *is_new);

/* Returns the area between its creation and hg_resident_memory_startup_end(); else NULL. */
extern dsa_area *hg_resident_startup_area(void);
/* Detaches the postmaster from the area, after all rooms have initialized their memory. */
extern void hg_resident_memory_startup_end(void);

/* Returns true if the server has memory for cached columns.  The functions below require it. */
extern bool hg_resident_memory_exists(void);

/* Returns the area's epoch. */
extern uint64 hg_resident_epoch(void);
/* Returns a number that no other call returns while the area exists; never 0. */
extern uint64 hg_resident_serial(void);
/* Returns the size of the area in bytes. */
extern Size hg_resident_memory_size(void);
/* Returns the number of allocated bytes, without dsa's own. */
extern Size hg_resident_memory_used(void);
/* Returns the bytes of all pinned versions, each counted once (hg_resident_version.h). */
extern Size hg_resident_memory_pinned(void);

/* Accounts for a pin of a version by this process.  only: no other process has it pinned. */
extern void hg_resident_memory_pin(Size bytes, bool only);
/* Accounts for the end of such a pin.  only: no process has the version pinned any more. */
extern void hg_resident_memory_unpin(Size bytes, bool only);

/*
 * Returns true if processes that wait for their client, such as those with an idle cursor, pin
 * more than half of the area.  Nobody knows when they will unpin it.
 */
extern bool hg_resident_memory_is_idle(void);

/* Returns one of the LWLocks of this room, which the caller acquires. */
extern LWLock *hg_resident_lock(HgResidentLock lock);
/* Returns the LWLock tranche of these locks, which dshash tables in the area also use. */
extern int hg_resident_tranche(void);

/* Returns the area, and attaches this process to it if needed. */
extern dsa_area *hg_resident_area(void);
/* Returns the address of a chunk in this process; NULL for InvalidDsaPointer. */
extern void *hg_resident_address(dsa_pointer chunk);

/*
 * Initializes an empty claim. The caller has allocated *claim in context. The context's reset or
 * the end of CurrentResourceOwner frees the chunks that the claim owns then.
 */
extern void hg_resident_claim_open(HgResidentClaim *claim, MemoryContext context);

/*
 * Allocates a chunk of the area, not zeroed, which claim owns; InvalidDsaPointer if there is no
 * room. If claim is NULL, the caller links the chunk to something published before anything can
 * fail.
 */
extern dsa_pointer hg_resident_allocate(HgResidentClaim *claim, Size bytes);

/* Removes all chunks from the claim, without freeing them: something published owns them now. */
extern void hg_resident_claim_keep(HgResidentClaim *claim);

/* Returns true if a chunk of this size could be allocated now. */
extern bool hg_resident_has_room(Size bytes);

/* Frees the claim's chunks.  The claim can be used again. */
extern void hg_resident_claim_release(HgResidentClaim *claim);

/*
 * Frees a chunk, and subtracts bytes from hg_resident_memory_used(): the chunk's size, or 0 if the
 * call for another chunk subtracts this one's size too.  Does not fail.
 */
extern void hg_resident_free(dsa_pointer chunk, Size bytes);

#endif /* HG_RESIDENT_MEMORY_H */
