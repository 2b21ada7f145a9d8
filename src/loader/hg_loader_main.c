/*-------------------------------------------------------------------------
 *
 * hg_loader_main.c
 *	  A loader of a database: takes in what is wanted there, and ends.
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

#include "backend/hg_elapsed.h"
#include "loader/hg_loader_table.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_resident_chain.h"

/*
 * How long a loader waits for the database's witnesses to have come up, in ms, and between two
 * looks.
 */
#define HG_LOADER_CHAIN_MS 5000
#define HG_LOADER_LOOK_MS 20

/* Freed memory that it holds for reuse, which the arrays of most segments fit. */
#define HG_LOADER_POOL_BYTES (32 * 1024 * 1024)

PGDLLEXPORT void hg_loader_main(Datum arg);

static HgLoaderTask task;

static bool
hg_loader_is_left(void)
{
	return hg_post_is_left(task.post);
}

/* Nothing can be published without a chain. */
static bool
hg_loader_wait_for_chain(void)
{
	const HgChain *chain = hg_chain_find(task.database);
	instr_time start;

	INSTR_TIME_SET_CURRENT(start);
	while (chain != NULL && hg_elapsed_ms(start) < HG_LOADER_CHAIN_MS && !hg_loader_is_left())
	{
		if (hg_chain_generation(chain) != 0)
			return true;
		hg_loader_sleep(HG_LOADER_LOOK_MS);
	}
	return false;
}

/* A table that is wanted. */
typedef struct HgWanted
{
	HgResidentRelation key;
	TimestampTz used_at;
} HgWanted;

/* Fill in a table, if it is wanted. */
static bool
hg_loader_is_wanted(HgResidentRelation key, HgWanted *wanted)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, false);
	bool is_wanted;

	if (entry == NULL)
		return false;
	is_wanted = entry->wanted;
	*wanted = (HgWanted){.key = key, .used_at = hg_directory_used_at(entry)};
	hg_directory_unlock(entry);
	return is_wanted;
}

/* What was used last comes first. */
static int
hg_loader_compare_wanted(const void *left, const void *right)
{
	TimestampTz a = ((const HgWanted *) left)->used_at;
	TimestampTz b = ((const HgWanted *) right)->used_at;

	return a > b ? -1 : a < b;
}

/* Go once over the tables of the database.  How many have been taken in. */
static int
hg_loader_pass(MemoryContext context)
{
	HgResidentRelation *keys;
	int nkeys = hg_directory_list(task.database, &keys);
	HgWanted *wanted = palloc(Max(nkeys, 1) * sizeof(HgWanted));
	int n = 0;
	int done = 0;

	for (int i = 0; i < nkeys; i++)
		n += hg_loader_is_wanted(keys[i], &wanted[n]);
	qsort(wanted, n, sizeof(HgWanted), hg_loader_compare_wanted);
	for (int i = 0; i < n && !hg_loader_is_left(); i++)
	{
		done += hg_loader_take_in(wanted[i].key, hg_loader_is_left, context);
		CHECK_FOR_INTERRUPTS();
	}
	return done;
}

/*
 * The arrays of a segment are allocated and freed for each of them: keep the C library from giving
 * them back to the kernel in between, which would have each page of them be touched for the first
 * time again.  A loader ends when there is nothing more to load.
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
	/* the launcher starts another one as long as something is wanted */
	proc_exit(0);
}
