/*-------------------------------------------------------------------------
 *
 * hg_ranges_memory.c
 *	  What a job that may be cut into ranges holds of its host: memory, and its attention.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_ranges_internal.h"

HgStatus
hg_ranges_poll(HgRangesJob *job, HgError *error)
{
	if (job->host->cancelled(job->host->arg))
		return hg_error_set(error, HG_CANCELLED, NULL, "cancelled");
	return HG_OK;
}

HgStatus
hg_ranges_alloc(HgRangesJob *job, uint64_t count, uint64_t width, void **ptr, HgError *error)
{
	*ptr = count <= SIZE_MAX / width ? job->host->alloc(job->host->arg, (size_t) (count * width))
									 : NULL;
	return *ptr != NULL ? HG_OK : hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
}

void
hg_ranges_free(HgRangesJob *job, void *ptr, uint64_t count, uint64_t width)
{
	if (ptr != NULL)
		job->host->free(job->host->arg, ptr, (size_t) (count * width));
}
