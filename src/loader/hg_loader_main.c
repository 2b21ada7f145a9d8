/*-------------------------------------------------------------------------
 *
 * hg_loader_main.c
 *	  A loader of a database: loads what is requested there, and exits.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/memutils.h"

#include "engine/hg_engine.h"
#include "loader/hg_loader_table.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_resident_chain.h"

/* How long a loader waits for the database's chain, and between two checks, in ms. */
#define HG_LOADER_CHAIN_MS 5000
#define HG_LOADER_LOOK_MS 20

/* Freed bytes that the C library reuses; enough for the arrays of most segments. */
#define HG_LOADER_POOL_BYTES (32 * 1024 * 1024)

PGDLLEXPORT void hg_loader_main(Datum arg);

static HgLoaderTask task;

static bool
hg_loader_is_left(void)
{
	return hg_post_is_left(task.post);
}

/* Waits for a chain, without which nothing can be published.  Returns false if there is none. */
static bool
hg_loader_wait_for_chain(void)
{
	const HgChain *chain = hg_chain_find(task.database);
	double start = hg_clock_ms();

	while (chain != NULL && hg_clock_ms() - start < HG_LOADER_CHAIN_MS && !hg_loader_is_left())
	{
		if (hg_chain_generation(chain) != 0)
			return true;
		hg_loader_sleep(HG_LOADER_LOOK_MS);
	}
	return false;
}

/* A table with something to load. */
typedef struct HgLoadCandidate
{
	HgResidentRelation key;
	TimestampTz used_at;
} HgLoadCandidate;

/* Fills in a table.  Returns false if there is nothing to load. */
static bool
hg_loader_find_candidate(HgResidentRelation key, HgLoadCandidate *wanted)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, false);
	bool is_wanted;

	if (entry == NULL)
		return false;
	is_wanted = entry->wanted;
	*wanted = (HgLoadCandidate){.key = key, .used_at = hg_directory_used_at(entry)};
	hg_directory_unlock(entry);
	return is_wanted;
}

/* Most recently used first. */
static int
hg_loader_compare_candidates(const void *left, const void *right)
{
	TimestampTz a = ((const HgLoadCandidate *) left)->used_at;
	TimestampTz b = ((const HgLoadCandidate *) right)->used_at;

	return a > b ? -1 : a < b;
}

/* Goes over the database's tables once.  Returns the number of tables that were loaded. */
static int
hg_loader_pass(MemoryContext context)
{
	HgResidentRelation *keys;
	int nkeys = hg_directory_list(task.database, &keys);
	HgLoadCandidate *wanted = palloc(Max(nkeys, 1) * sizeof(HgLoadCandidate));
	int n = 0;
	int done = 0;

	for (int i = 0; i < nkeys; i++)
		n += hg_loader_find_candidate(keys[i], &wanted[n]);
	qsort(wanted, n, sizeof(HgLoadCandidate), hg_loader_compare_candidates);
	for (int i = 0; i < n && !hg_loader_is_left(); i++)
	{
		done += hg_loader_take_in(wanted[i].key, hg_loader_is_left, context);
		CHECK_FOR_INTERRUPTS();
	}
	return done;
}

/*
 * Keeps the C library from returning the arrays to the kernel between two segments: each page
 * would then be touched for the first time again.  A loader exits when there is nothing to load.
 */
static void
hg_loader_pool_memory(void)
{
#ifdef __GLIBC__
	(void) mallopt(M_MMAP_THRESHOLD, HG_LOADER_POOL_BYTES);
	(void) mallopt(M_TRIM_THRESHOLD, HG_LOADER_POOL_BYTES);
#endif
}

void
hg_loader_main(Datum arg pg_attribute_unused())
{
	MemoryContext context;
	int done;

	task = hg_loader_worker_begin();
	hg_loader_pool_memory();
	context = AllocSetContextCreate(TopMemoryContext, "hashgraph loader", ALLOCSET_DEFAULT_SIZES);
	if (hg_loader_wait_for_chain())
		do
		{
			MemoryContextReset(context);
			MemoryContextSwitchTo(context);
			done = hg_loader_pass(context);
		} while (done > 0);
	/* the launcher starts another one while something is requested */
	proc_exit(0);
}
