/*-------------------------------------------------------------------------
 *
 * hg_resident_memory.c
 *	  The area of main shared memory that has all cached columns and graphs.
 *
 * As in pgstat_shmem.c, the postmaster calls dsa_create_in_place(), pins the area, limits it to
 * its initial size, and detaches.  dsa.c makes no segment beyond that limit, so the area never
 * grows into dynamic shared memory.  Each process attaches in place, in TopMemoryContext, and
 * releases the area in an on_shmem_exit callback.  before_shmem_exit callbacks, ShutdownPostgres
 * among them, may still use the area.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "hg_guc.h"
#include "resident/hg_resident_memory.h"

#define HG_RESIDENT_TRANCHE "HashGraphResident"

typedef struct HgResidentControl
{
	uint64 epoch;
	Size size;			   /* of the area */
	pg_atomic_uint64 used; /* allocated bytes */
	pg_atomic_uint64 pinned;
	pg_atomic_uint64 serials; /* number of serials given out */
	int nprocesses;
	pg_atomic_uint64 pinned_by[FLEXIBLE_ARRAY_MEMBER]; /* [nprocesses], by PGPROC number */
} HgResidentControl;

static HgResidentControl *control = NULL; /* NULL: no memory was reserved */
static dsa_area *attached = NULL;
static dsa_area *made = NULL; /* by the postmaster, during startup */

static Size
hg_resident_configured_size(void)
{
	return mul_size((Size) hg_resident_memory, 1024);
}

static Size
hg_resident_control_size(void)
{
	return MAXALIGN(add_size(offsetof(HgResidentControl, pinned_by),
							 mul_size(MaxBackends, sizeof(pg_atomic_uint64))));
}

/* Returns the start of the area. */
static void *
hg_resident_area_start(void)
{
	return (char *) control + hg_resident_control_size();
}

void
hg_resident_memory_request(void)
{
	if (hg_resident_memory == 0)
		return;
	RequestAddinShmemSpace(add_size(hg_resident_control_size(), hg_resident_configured_size()));
	RequestNamedLWLockTranche(HG_RESIDENT_TRANCHE, HG_RESIDENT_LOCKS);
}

void
hg_resident_memory_startup(void)
{
	Size size = hg_resident_configured_size();
	bool found;

	if (hg_resident_memory == 0)
		return;
	control = ShmemInitStruct("hashgraph resident memory",
							  add_size(hg_resident_control_size(), size), &found);
	if (found)
		return;
	if (!pg_strong_random(&control->epoch, sizeof(control->epoch)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random bytes")));
	control->size = size;
	pg_atomic_init_u64(&control->used, 0);
	pg_atomic_init_u64(&control->pinned, 0);
	pg_atomic_init_u64(&control->serials, 0);
	control->nprocesses = MaxBackends;
	for (int i = 0; i < control->nprocesses; i++)
		pg_atomic_init_u64(&control->pinned_by[i], 0);

	made = dsa_create_in_place(hg_resident_area_start(), size, hg_resident_tranche(), NULL);
	dsa_pin(made);
	dsa_set_size_limit(made, size);
}

void
hg_resident_shared_request(Size bytes)
{
	if (hg_resident_memory > 0)
		RequestAddinShmemSpace(MAXALIGN(bytes));
}

void *
hg_resident_shared_startup(const char *name, Size bytes, bool *is_new)
{
	void *shared;
	bool found;

	*is_new = false;
	if (hg_resident_memory == 0)
		return NULL;
	shared = ShmemInitStruct(name, bytes, &found);
	if (!found)
		memset(shared, 0, bytes);
	*is_new = !found;
	return shared;
}

dsa_area *
hg_resident_startup_area(void)
{
	return made;
}

void
hg_resident_memory_startup_end(void)
{
	if (made != NULL)
		dsa_detach(made);
	made = NULL;
}

bool
hg_resident_memory_exists(void)
{
	return control != NULL;
}

uint64
hg_resident_epoch(void)
{
	return control->epoch;
}

uint64
hg_resident_serial(void)
{
	return pg_atomic_add_fetch_u64(&control->serials, 1);
}

Size
hg_resident_memory_size(void)
{
	return control->size;
}

Size
hg_resident_memory_used(void)
{
	return pg_atomic_read_u64(&control->used);
}

Size
hg_resident_memory_pinned(void)
{
	return pg_atomic_read_u64(&control->pinned);
}

void
hg_resident_memory_pin(Size bytes, bool only)
{
	if (only)
		pg_atomic_fetch_add_u64(&control->pinned, bytes);
	pg_atomic_fetch_add_u64(&control->pinned_by[MyProc - ProcGlobal->allProcs], bytes);
}

void
hg_resident_memory_unpin(Size bytes, bool only)
{
	if (only)
		pg_atomic_fetch_sub_u64(&control->pinned, bytes);
	pg_atomic_fetch_sub_u64(&control->pinned_by[MyProc - ProcGlobal->allProcs], bytes);
}

bool
hg_resident_memory_is_idle(void)
{
	Size half = control->size / 2;
	Size idle = 0;

	/* the common case reads no other process's state */
	if (hg_resident_memory_pinned() <= half)
		return false;
	for (int i = 0; i < control->nprocesses; i++)
	{
		Size bytes = pg_atomic_read_u64(&control->pinned_by[i]);

		if (bytes > 0 && ProcGlobal->allProcs[i].wait_event_info == WAIT_EVENT_CLIENT_READ)
			idle += bytes;
	}
	return idle > half;
}

LWLock *
hg_resident_lock(HgResidentLock lock)
{
	return &GetNamedLWLockTranche(HG_RESIDENT_TRANCHE)[lock].lock;
}

int
hg_resident_tranche(void)
{
	return hg_resident_lock(0)->tranche;
}

static void
hg_resident_detach(int code pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	dsa_release_in_place(hg_resident_area_start());
}

dsa_area *
hg_resident_area(void)
{
	if (attached == NULL)
	{
		MemoryContext before = MemoryContextSwitchTo(TopMemoryContext);

		attached = dsa_attach_in_place(hg_resident_area_start(), NULL);
		dsa_pin_mapping(attached);
		MemoryContextSwitchTo(before);
		on_shmem_exit(hg_resident_detach, 0);
	}
	return attached;
}

void *
hg_resident_address(dsa_pointer chunk)
{
	return dsa_get_address(hg_resident_area(), chunk);
}

static void
hg_resident_claim_cleanup(void *arg)
{
	hg_resident_claim_release(arg);
}

void
hg_resident_claim_open(HgResidentClaim *claim, MemoryContext context)
{
	hg_resident_area();
	memset(claim, 0, sizeof(HgResidentClaim));
	claim->context = context;
	claim->capacity = 16;
	claim->chunks = MemoryContextAlloc(context, claim->capacity * sizeof(struct HgResidentChunk));
	hg_cleanup_register(&claim->cleanup, context, hg_resident_claim_cleanup, claim);
}

dsa_pointer
hg_resident_allocate(HgResidentClaim *claim, Size bytes)
{
	dsa_pointer chunk;

	/* first what can fail */
	if (claim != NULL && claim->count == claim->capacity)
	{
		claim->chunks =
			repalloc(claim->chunks, 2 * claim->capacity * sizeof(struct HgResidentChunk));
		claim->capacity *= 2;
	}
	chunk = dsa_allocate_extended(hg_resident_area(), bytes, DSA_ALLOC_NO_OOM | DSA_ALLOC_HUGE);
	if (!DsaPointerIsValid(chunk))
		return InvalidDsaPointer;
	pg_atomic_fetch_add_u64(&control->used, bytes);
	if (claim != NULL)
	{
		claim->chunks[claim->count].chunk = chunk;
		claim->chunks[claim->count].bytes = bytes;
		claim->count++;
	}
	return chunk;
}

bool
hg_resident_has_room(Size bytes)
{
	dsa_pointer chunk = hg_resident_allocate(NULL, bytes);

	if (!DsaPointerIsValid(chunk))
		return false;
	hg_resident_free(chunk, bytes);
	return true;
}

void
hg_resident_claim_keep(HgResidentClaim *claim)
{
	claim->count = 0;
}

void
hg_resident_claim_release(HgResidentClaim *claim)
{
	while (claim->count > 0)
	{
		struct HgResidentChunk *chunk = &claim->chunks[--claim->count];

		hg_resident_free(chunk->chunk, chunk->bytes);
	}
}

void
hg_resident_free(dsa_pointer chunk, Size bytes)
{
	dsa_free(hg_resident_area(), chunk);
	pg_atomic_fetch_sub_u64(&control->used, bytes);
}
