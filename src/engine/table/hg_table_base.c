/*-------------------------------------------------------------------------
 *
 * hg_table_base.c
 *	  What a table of the CPU holds of its host: memory, and its attention.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_base.h"

#include <inttypes.h>
#include <stdio.h>

HgStatus
hg_table_alloc(HgTable *table, uint64_t bytes, void **ptr, HgError *error)
{
	uint64_t limit = table->spec.memory_limit;
	char detail[160];

	*ptr = NULL;
	if (limit > 0 && (bytes > limit || table->held_bytes > limit - bytes))
	{
		snprintf(detail, sizeof(detail),
				 "%" PRIu64 " bytes were wanted in addition to %" PRIu64 " bytes held.", bytes,
				 table->held_bytes);
		return hg_error_set(error, HG_OUT_OF_MEMORY, detail,
							"memory limit of %" PRIu64 " bytes reached", limit);
	}
	if (bytes <= SIZE_MAX)
		*ptr = table->host->alloc(table->host->arg, (size_t) bytes);
	if (*ptr == NULL)
	{
		snprintf(detail, sizeof(detail), "An allocation of %" PRIu64 " bytes failed.", bytes);
		return hg_error_set(error, HG_OUT_OF_MEMORY, detail, "out of memory");
	}
	table->held_bytes += bytes;
	if (table->held_bytes > table->peak_bytes)
		table->peak_bytes = table->held_bytes;
	return HG_OK;
}

void
hg_table_free(HgTable *table, void *ptr, uint64_t bytes)
{
	if (ptr == NULL)
		return;
	table->host->free(table->host->arg, ptr, (size_t) bytes);
	table->held_bytes -= bytes;
}

HgStatus
hg_table_poll(HgTable *table, HgError *error)
{
	if (HG_TABLE_UNLIKELY(table->host->cancelled(table->host->arg)))
		return hg_error_set(error, HG_CANCELLED, NULL, "cancelled");
	return HG_OK;
}

HgStatus
hg_table_fill(HgTable *table, void *ptr, int byte, uint64_t bytes, HgError *error)
{
	uint64_t step;

	for (uint64_t i = 0; i < bytes; i += step)
	{
		HgStatus status = hg_table_poll(table, error);

		if (status != HG_OK)
			return status;
		step = bytes - i < HG_TABLE_CHUNK_BYTES ? bytes - i : HG_TABLE_CHUNK_BYTES;
		memset((char *) ptr + i, byte, step);
	}
	return HG_OK;
}
