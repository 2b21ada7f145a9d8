/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dynamic.h
 *	  What the files of dynamic HashGraphs in device memory share.
 *
 *	hg_cuda_table_dynamic.cu		the calls of a kind: changes and reading
 *	hg_cuda_table_dynamic_build.cu	building the lists
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_DYNAMIC_H
#define HG_CUDA_TABLE_DYNAMIC_H

#include "../kernels/hg_cuda_shape.h"
#include "hg_cuda_table_dynamic_kernels.h"

struct HgCudaDynamic
{
	HgCudaTable base;
	HgDynamicLists lists;
	uint64_t slots;
	uint64_t deleted;	   /* as far as is known, as base.rows are */
	uint64_t erased;	   /* rows that may have been erased since */
	bool used;			   /* something was put in */
	HgDynamicState *state; /* the device's */
	HgDynamicState known;  /* as it was read last */
};

/* Call a function template of the slots that a table has. */
#define HG_DYNAMIC_BY_SLOTS(table, function, ...)                                                  \
	HG_BY_SLOTS(HgCudaSlots, (table)->spec, function, __VA_ARGS__)

/* Vertices are sized for the rows that are expected, where these are more. */
static inline uint32_t
hg_dynamic_vertices_log2(const HgTableSpec *spec, uint64_t rows)
{
	return hg_shape_vertices_log2(rows > spec->expected_rows ? rows : spec->expected_rows,
								  spec->load_factor);
}

/* Empty slots of each list that is built before a row is there. */
static inline uint32_t
hg_dynamic_empty_at_first(const HgTableSpec *spec)
{
	return spec->empty_slots + (spec->expected_rows > 0 ? (uint32_t) spec->load_factor + 1 : 0);
}

static inline uint64_t
hg_dynamic_lists_slots(const HgTableSpec *spec, uint64_t rows, uint32_t empty)
{
	return rows + ((uint64_t) empty << hg_dynamic_vertices_log2(spec, rows));
}

/* The shape of a graph of so many rows. */
HgShape hg_dynamic_choose_shape(const HgTableSpec *spec, uint64_t rows);

/*
 * Wait for the device, and know what it knows, which begins with nothing again: always, or unless
 * the rows are known.
 */
HgStatus hg_dynamic_read_state(HgCudaDynamic *dynamic, HgError *error);
HgStatus hg_dynamic_know_rows(HgCudaDynamic *dynamic, HgError *error);

/* Make the lists of an empty table, which has none. */
HgStatus hg_dynamic_open_lists(HgCudaDynamic *dynamic, HgError *error);
void hg_dynamic_free_lists(HgCudaDynamic *dynamic);

/* Copy all keys and rows of the table out; rows may be NULL. */
HgStatus hg_dynamic_export(HgCudaDynamic *dynamic, void *keys, uint32_t *rows, HgError *error);

/* Hash everything again: the rows of the table, and a batch. */
HgStatus hg_dynamic_rebuild(HgCudaDynamic *dynamic, const HgCudaTableBatch *in, HgError *error);

#endif /* HG_CUDA_TABLE_DYNAMIC_H */
