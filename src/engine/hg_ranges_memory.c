/*-------------------------------------------------------------------------
 *
 * hg_ranges_memory.c
 *	  What a job that may be cut into ranges holds of its host: memory, and its attention.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_ranges_memory.h"

HgStatus
hg_ranges_poll(const HgHost *host, HgError *error)
{
	if (host->cancelled(host->arg))
		return hg_error_set(error, HG_CANCELLED, NULL, "cancelled");
	return HG_OK;
}

HgStatus
hg_ranges_alloc(const HgHost *host, uint64_t count, uint64_t width, void **ptr, HgError *error)
{
	*ptr = count <= SIZE_MAX / width ? host->alloc(host->arg, (size_t) (count * width)) : NULL;
	return *ptr != NULL ? HG_OK : hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
}

void
hg_ranges_free(const HgHost *host, void *ptr, uint64_t count, uint64_t width)
{
	if (ptr != NULL)
		host->free(host->arg, ptr, (size_t) (count * width));
}
