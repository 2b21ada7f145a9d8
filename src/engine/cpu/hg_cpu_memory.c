/*-------------------------------------------------------------------------
 *
 * hg_cpu_memory.c
 *	  What a job of the CPU engine holds of its host: memory, and its attention.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_memory.h"

#include <inttypes.h>
#include <stdio.h>

HgStatus
hg_cpu_check_limit(HgJob *job, uint64_t bytes, HgError *error)
{
	uint64_t limit = job->spec.memory_limit;
	char detail[160];

	if (limit == 0 || (bytes <= limit && job->held_bytes <= limit - bytes))
		return HG_OK;
	snprintf(detail, sizeof(detail),
			 "%" PRIu64 " bytes were wanted in addition to %" PRIu64 " bytes held.", bytes,
			 job->held_bytes);
	return hg_error_set(error, HG_OUT_OF_MEMORY, detail,
						"memory limit of %" PRIu64 " bytes reached", limit);
}

void
hg_cpu_hold(HgJob *job, uint64_t bytes)
{
	job->held_bytes += bytes;
	if (job->held_bytes > job->stats.peak_bytes)
		job->stats.peak_bytes = job->held_bytes;
}

HgStatus
hg_cpu_alloc(HgJob *job, uint64_t bytes, void **ptr, HgError *error)
{
	HgStatus status = hg_cpu_check_limit(job, bytes, error);
	char detail[160];

	*ptr = NULL;
	if (status != HG_OK)
		return status;
	if (bytes <= SIZE_MAX)
		*ptr = job->host->alloc(job->host->arg, (size_t) bytes);
	if (*ptr == NULL)
	{
		snprintf(detail, sizeof(detail), "An allocation of %" PRIu64 " bytes failed.", bytes);
		return hg_error_set(error, HG_OUT_OF_MEMORY, detail, "out of memory");
	}
	hg_cpu_hold(job, bytes);
	return HG_OK;
}

void
hg_cpu_free(HgJob *job, void *ptr, uint64_t bytes)
{
	if (ptr == NULL)
		return;
	job->host->free(job->host->arg, ptr, (size_t) bytes);
	job->held_bytes -= bytes;
}

HgStatus
hg_cpu_poll(HgJob *job, HgError *error)
{
	if (HG_CPU_UNLIKELY(job->host->cancelled(job->host->arg)))
		return hg_error_set(error, HG_CANCELLED, NULL, "cancelled");
	return HG_OK;
}
