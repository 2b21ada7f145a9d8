/*-------------------------------------------------------------------------
 *
 * hg_standin_memory.c
 *	  The device memory of a device process without a device: a number of bytes, and who has them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_standin_memory.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static HgMemoryUse memory;

void
hg_standin_memory_allow(uint64_t budget)
{
	pthread_mutex_lock(&lock);
	memory.budget = budget;
	pthread_mutex_unlock(&lock);
}

bool
hg_standin_memory_hold(uint64_t bytes)
{
	bool fits;

	pthread_mutex_lock(&lock);
	fits = memory.held <= memory.budget && bytes <= memory.budget - memory.held;
	if (fits)
		memory.held += bytes;
	if (memory.held > memory.peak)
		memory.peak = memory.held;
	pthread_mutex_unlock(&lock);
	return fits;
}

void
hg_standin_memory_let_go(uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	memory.held -= bytes;
	pthread_mutex_unlock(&lock);
}

void *
hg_standin_memory_alloc(const HgHost *host, size_t bytes)
{
	const bool fits = hg_standin_memory_hold(bytes);
	void *ptr = fits ? host->alloc(host->arg, bytes) : NULL;

	if (fits && ptr == NULL)
		hg_standin_memory_let_go(bytes);
	return ptr;
}

void
hg_standin_memory_free(const HgHost *host, void *ptr, size_t bytes)
{
	host->free(host->arg, ptr, bytes);
	hg_standin_memory_let_go(bytes);
}

void
hg_standin_memory_use(HgMemoryUse *use)
{
	pthread_mutex_lock(&lock);
	*use = memory;
	pthread_mutex_unlock(&lock);
}
