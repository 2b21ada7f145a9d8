/*-------------------------------------------------------------------------
 *
 * hg_host_memory.c
 *	  An engine's use of its host: memory, checks of a memory limit, and cancellation.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_memory.h"

#include <inttypes.h>
#include <stdio.h>

HgStatus
hg_host_memory_alloc(const HgHost *host, uint64_t bytes, void **ptr, HgError *error)
{
	char detail[160];

	*ptr = bytes <= SIZE_MAX ? host->alloc(host->arg, (size_t) bytes) : NULL;
	if (*ptr != NULL)
		return HG_OK;
	snprintf(detail, sizeof(detail), "An allocation of %" PRIu64 " bytes failed.", bytes);
	return hg_error_set(error, HG_OUT_OF_MEMORY, detail, "out of memory");
}

void
hg_host_memory_free(const HgHost *host, void *ptr, uint64_t bytes)
{
	if (ptr != NULL)
		host->free(host->arg, ptr, (size_t) bytes);
}

HgStatus
hg_host_memory_check(uint64_t limit, uint64_t held, uint64_t bytes, HgError *error)
{
	char detail[160];

	if (limit == 0 || (bytes <= limit && held <= limit - bytes))
		return HG_OK;
	snprintf(detail, sizeof(detail),
			 "%" PRIu64 " bytes were wanted in addition to %" PRIu64 " bytes held.", bytes, held);
	return hg_error_set(error, HG_OUT_OF_MEMORY, detail,
						"memory limit of %" PRIu64 " bytes reached", limit);
}

HgStatus
hg_host_check_cancel(const HgHost *host, HgError *error)
{
	if (host->cancelled(host->arg))
		return hg_error_set(error, HG_CANCELLED, NULL, "cancelled");
	return HG_OK;
}
