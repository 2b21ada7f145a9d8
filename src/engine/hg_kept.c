/*-------------------------------------------------------------------------
 *
 * hg_kept.c
 *	  Kept graphs: what all engines check of one, and of a column.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_kept.h"

HgStatus
hg_kept_check(const HgKeptShape *shape, HgError *error)
{
	if (shape->key_width != 4 && shape->key_width != 8)
		return hg_error_set(error, HG_INVALID, NULL,
							"keys of a kept graph can not be %u bytes wide", shape->key_width);
	if (shape->parts < 1 || shape->parts > HG_FLAT_PARTS)
		return hg_error_set(error, HG_INVALID, NULL, "a kept graph can not have %u parts",
							shape->parts);
	if (shape->rows >= HG_MAX_ROWS || shape->rows > (uint64_t) shape->parts << HG_FLAT_ROW_BITS)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in a kept graph");
	return HG_OK;
}

uint64_t
hg_kept_least_bytes(const HgJobSpec *spec)
{
	if (spec->keep_column != NULL)
		return hg_kept_places(&spec->keep_column->shape) * spec->keep_column->shape.width;
	return spec->keep->shape.rows * (spec->keep->shape.key_width + sizeof(uint32_t));
}

HgStatus
hg_kept_column_check(const HgKeptColumnShape *shape, HgError *error)
{
	if (shape->width != 1 && shape->width != 2 && shape->width != 4 && shape->width != 8)
		return hg_error_set(error, HG_INVALID, NULL, "columns can not be %u bytes wide",
							shape->width);
	if (shape->parts < 1 || shape->parts > HG_FLAT_PARTS || shape->stride < 1 ||
		shape->stride > UINT32_C(1) << HG_FLAT_ROW_BITS)
		return hg_error_set(error, HG_INVALID, NULL, "a kept column can not be of %u times %u rows",
							shape->parts, shape->stride);
	if (hg_kept_places(shape) >= HG_MAX_ROWS)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in a kept column");
	return HG_OK;
}
