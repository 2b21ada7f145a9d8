/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat.c
 *	  The shape of a flat HashGraph, and its sizes.
 *
 * Lists have some 4 to 8 rows, more than those of a job's graphs. Comparing two short lists all
 * with all, in a register each, takes no longer than finding out how long they are. Offsets then
 * take a quarter to half a byte a row.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_flat.h"

/* Most rows of a list, and of a bin, on average. */
#define LIST_ROWS 8
#define BIN_ROWS 8192

HgStatus
hg_cpu_flat_check(const HgFlatShape *shape, HgError *error)
{
	if (shape->key_width != 4 && shape->key_width != 8)
		return hg_error_set(error, HG_INVALID, NULL, "keys of %u bytes",
							(unsigned) shape->key_width);
	if (shape->bins_log2 > HG_MAX_BINS_LOG2 || shape->vertices_log2 > HG_MAX_BINS_LOG2 ||
		shape->bins_log2 + shape->vertices_log2 > HG_MAX_VERTICES_LOG2)
		return hg_error_set(error, HG_INVALID, NULL, "2^%u bins of 2^%u vertices",
							(unsigned) shape->bins_log2, (unsigned) shape->vertices_log2);
	return HG_OK;
}

HgFlatShape
hg_flat_shape(uint32_t key_width, uint64_t rows)
{
	HgFlatShape shape = {.key_width = key_width};
	uint32_t list_log2 = 0;

	while (rows >> shape.bins_log2 > BIN_ROWS && shape.bins_log2 < HG_MAX_BINS_LOG2)
		shape.bins_log2++;
	while (rows >> (shape.bins_log2 + list_log2) > LIST_ROWS &&
		   shape.bins_log2 + list_log2 < HG_MAX_VERTICES_LOG2)
		list_log2++;
	shape.vertices_log2 = list_log2;
	return shape;
}

uint64_t
hg_flat_bin_bytes(const HgFlatShape *shape, uint64_t rows)
{
	return rows == 0 ? 0 : hg_cpu_flat_layout(shape, rows).end;
}

uint64_t
hg_flat_vertices_bytes(const HgFlatShape *shape)
{
	return ((UINT64_C(1) << (shape->bins_log2 + shape->vertices_log2)) + 63) / 64 *
		   sizeof(uint64_t);
}

void
hg_flat_mark_vertices(const HgFlatShape *shape, const int64_t *keys, uint32_t count,
					  uint64_t *vertices)
{
	uint32_t log2 = shape->bins_log2 + shape->vertices_log2;

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t vertex = hg_vertex_of_hash(hg_cpu_flat_hash(keys[i]), log2);

		vertices[vertex / 64] |= UINT64_C(1) << vertex % 64;
	}
}

uint64_t
hg_flat_scan(const HgFlatGraph *graph, uint32_t bin, const void **keys, const uint32_t **rows)
{
	HgCpuFlatBin arrays = hg_cpu_flat_bin(graph, bin);

	*keys = arrays.keys;
	*rows = arrays.numbers;
	return arrays.rows;
}
