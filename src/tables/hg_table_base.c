/*-------------------------------------------------------------------------
 *
 * hg_table_base.c
 *	  Memory and polls of the CPU's hash tables, from their host.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_base.h"

#include "../engine/hg_host_memory.h"

HgStatus
hg_table_alloc(HgTable *table, uint64_t bytes, void **ptr, HgError *error)
{
	HgStatus status =
		hg_host_memory_check(table->spec.memory_limit, table->held_bytes, bytes, error);

	*ptr = NULL;
	if (status == HG_OK)
		status = hg_host_memory_alloc(table->host, bytes, ptr, error);
	if (status != HG_OK)
		return status;
	table->held_bytes += bytes;
	if (table->held_bytes > table->peak_bytes)
		table->peak_bytes = table->held_bytes;
	return HG_OK;
}

void
hg_table_free(HgTable *table, void *ptr, uint64_t bytes)
{
	hg_host_memory_free(table->host, ptr, bytes);
	if (ptr != NULL)
		table->held_bytes -= bytes;
}

HgStatus
hg_table_poll(HgTable *table, HgError *error)
{
	return hg_host_check_cancel(table->host, error);
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
