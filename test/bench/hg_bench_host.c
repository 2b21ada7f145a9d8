/*-------------------------------------------------------------------------
 *
 * hg_bench_host.c
 *	  The host of the benchmarks: memory as a session hands it out.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _DEFAULT_SOURCE /* madvise */

#include "hg_bench_host.h"

#include <stdlib.h>
#include <sys/mman.h>

#define MAX_POOLED 1024
#define HUGE_PAGE (UINT64_C(2) << 20)

/* Blocks that were freed, to be handed out again. */
typedef struct PoolBlock
{
	void *ptr;
	size_t bytes;
} PoolBlock;

static PoolBlock pool[MAX_POOLED];
static int pool_count;

bool hg_bench_pooled;
bool hg_bench_small_pages;

static void *
host_alloc(void *arg, size_t bytes)
{
	bool big = !hg_bench_small_pages && bytes >= 2 * HUGE_PAGE;
	void *ptr;

	(void) arg;
	for (int i = 0; i < pool_count; i++)
		if (pool[i].bytes == bytes)
		{
			ptr = pool[i].ptr;
			pool[i] = pool[--pool_count];
			return ptr;
		}
	if (posix_memalign(&ptr, big ? HUGE_PAGE : 64, bytes) != 0)
		return NULL;
#ifdef MADV_HUGEPAGE
	if (big)
		madvise(ptr, bytes & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
	return ptr;
}

static void
host_free(void *arg, void *ptr, size_t bytes)
{
	(void) arg;
	if (hg_bench_pooled && pool_count < MAX_POOLED)
		pool[pool_count++] = (PoolBlock){ptr, bytes};
	else
		free(ptr);
}

static bool
host_cancelled(void *arg)
{
	(void) arg;
	return false;
}

const HgHost hg_bench_host = {.alloc = host_alloc, .free = host_free, .cancelled = host_cancelled};

void
hg_bench_release(void)
{
	while (pool_count > 0)
		free(pool[--pool_count].ptr);
}
