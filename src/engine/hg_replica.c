/*-------------------------------------------------------------------------
 *
 * hg_replica.c
 *	  Checks of shapes of graph and column replicas, common to all engines.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_replica.h"

HgStatus
hg_replica_check(const HgReplicaShape *shape, HgError *error)
{
	if (shape->key_width != 4 && shape->key_width != 8)
		return hg_error_set(error, HG_INVALID, NULL,
							"keys of a graph replica can not be %u bytes wide", shape->key_width);
	if (shape->parts < 1 || shape->parts > HG_FLAT_PARTS)
		return hg_error_set(error, HG_INVALID, NULL, "a graph replica can not have %u parts",
							shape->parts);
	if (shape->rows >= HG_MAX_ROWS || shape->rows > (uint64_t) shape->parts << HG_FLAT_ROW_BITS)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in a graph replica");
	return HG_OK;
}

uint64_t
hg_replica_least_bytes(const HgJobSpec *spec)
{
	if (spec->new_column != NULL)
		return hg_replica_ordinals(&spec->new_column->shape) * spec->new_column->shape.width;
	return spec->new_replica->shape.rows * (spec->new_replica->shape.key_width + sizeof(uint32_t));
}

HgStatus
hg_replica_column_check(const HgReplicaColumnShape *shape, HgError *error)
{
	if (shape->width != 1 && shape->width != 2 && shape->width != 4 && shape->width != 8)
		return hg_error_set(error, HG_INVALID, NULL, "columns can not be %u bytes wide",
							shape->width);
	if (shape->parts < 1 || shape->parts > HG_FLAT_PARTS || shape->stride < 1 ||
		shape->stride > UINT32_C(1) << HG_FLAT_ROW_BITS)
		return hg_error_set(error, HG_INVALID, NULL,
							"a column replica can not be of %u times %u rows", shape->parts,
							shape->stride);
	if (hg_replica_ordinals(shape) >= HG_MAX_ROWS)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in a column replica");
	return HG_OK;
}
