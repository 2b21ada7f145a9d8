/*-------------------------------------------------------------------------
 *
 * hg_host_column.c
 *	  Values by ordinal, as column replicas have them, in host memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_column.h"

#include <string.h>

HgStatus
hg_host_column_open(HgHostColumn *column, const HgReplicaColumnShape *shape, const HgHost *host,
					HgError *error)
{
	const uint64_t bytes = hg_replica_ordinals(shape) * shape->width;
	void *memory = NULL;
	HgStatus status = hg_host_memory_alloc(host, bytes, &memory, error);

	memset(column, 0, sizeof(*column));
	column->shape = *shape;
	column->values = memory;
	if (status == HG_OK)
		memset(memory, 0, (size_t) bytes);
	return status;
}

/* Have bytes that tell NULL, of which none does yet. */
static HgStatus
reserve_nulls(HgHostColumn *column, const HgHost *host, HgError *error)
{
	const uint64_t ordinals = hg_replica_ordinals(&column->shape);
	void *memory = NULL;
	HgStatus status;

	if (column->nulls != NULL)
		return HG_OK;
	status = hg_host_memory_alloc(host, ordinals, &memory, error);
	if (status != HG_OK)
		return status;
	memset(memory, 0, (size_t) ordinals);
	column->nulls = memory;
	return HG_OK;
}

HgStatus
hg_host_column_put(HgHostColumn *column, const HgHost *host, const void *values,
				   const uint8_t *nulls, uint64_t count, uint64_t first_ordinal, HgError *error)
{
	const uint64_t ordinals = hg_replica_ordinals(&column->shape);
	const uint32_t width = column->shape.width;
	HgStatus status = HG_OK;

	if (first_ordinal > ordinals || count > ordinals - first_ordinal)
		return hg_error_set(error, HG_INVALID, NULL, "a value is of no place in the column");
	if (count == 0)
		return HG_OK;
	if (nulls != NULL)
		status = reserve_nulls(column, host, error);
	if (status != HG_OK)
		return status;
	memcpy(column->values + first_ordinal * width, values, (size_t) (count * width));
	if (nulls != NULL)
		memcpy(column->nulls + first_ordinal, nulls, (size_t) count);
	else if (column->nulls != NULL)
		memset(column->nulls + first_ordinal, 0, (size_t) count);
	return HG_OK;
}

bool
hg_host_column_get(const HgHostColumn *column, uint32_t row, uint64_t *bits)
{
	return hg_host_column_get_at(column, hg_replica_ordinal(column->shape.stride, row), bits);
}

bool
hg_host_column_get_at(const HgHostColumn *column, uint64_t ordinal, uint64_t *bits)
{
	const uint32_t width = column->shape.width;

	/* the bytes of a little-endian number are its low ones first */
	*bits = 0;
	memcpy(bits, column->values + ordinal * width, width);
	return column->nulls != NULL && column->nulls[ordinal] != 0;
}

uint64_t
hg_host_column_bytes(const HgReplicaColumnShape *shape)
{
	return hg_replica_ordinals(shape) * (shape->width + 1);
}

void
hg_host_column_free(HgHostColumn *column, const HgHost *host)
{
	const uint64_t ordinals = hg_replica_ordinals(&column->shape);

	hg_host_memory_free(host, column->values, ordinals * column->shape.width);
	hg_host_memory_free(host, column->nulls, ordinals);
	column->values = NULL;
	column->nulls = NULL;
}
