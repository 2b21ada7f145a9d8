/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dynamic.h
 *	  Definitions that the files of dynamic HashGraphs in device memory share.
 *
 *	hg_cuda_table_dynamic.cu		the calls of the kind: changes and reading
 *	hg_cuda_table_dynamic.cu	building the lists
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_DYNAMIC_H
#define HG_CUDA_TABLE_DYNAMIC_H

#include "../kernels/hg_cuda_shape.h"
#include "hg_cuda_table_dynamic_kernels.h"

/* A dynamic HashGraph. */
struct HgCudaDynamic
{
	HgCudaTable base;
	HgDynamicLists lists;
	uint64_t slots;
	uint64_t deleted;	   /* deleted slots, as of the last read of state, as base.rows are */
	uint64_t erased;	   /* upper bound on rows erased since */
	bool used;			   /* something was inserted */
	HgDynamicState *state; /* in device memory */
	HgDynamicState known;  /* copy from the last read */
};

/* Calls a function template with the type of a table's slots. */
#define HG_DYNAMIC_BY_SLOTS(table, function, ...)                                                  \
	HG_BY_SLOTS(HgCudaSlots, (table)->spec, function, __VA_ARGS__)

/* Returns log2 of the vertices for this many rows, or for the expected rows if these are more. */
static inline uint32_t
hg_dynamic_vertices_log2(const HgTableSpec *spec, uint64_t rows)
{
	return hg_shape_vertices_log2(rows > spec->expected_rows ? rows : spec->expected_rows,
								  spec->load_factor);
}

/* Returns the empty slots of each list of a table that is opened. */
static inline uint32_t
hg_dynamic_empty_at_first(const HgTableSpec *spec)
{
	return spec->empty_slots + (spec->expected_rows > 0 ? (uint32_t) spec->load_factor + 1 : 0);
}

/* Returns the slots of all lists, with this many rows and empty slots for each list. */
static inline uint64_t
hg_dynamic_lists_slots(const HgTableSpec *spec, uint64_t rows, uint32_t empty)
{
	return rows + ((uint64_t) empty << hg_dynamic_vertices_log2(spec, rows));
}

/* Returns the shape of a graph of this many rows. */
HgShape hg_dynamic_choose_shape(const HgTableSpec *spec, uint64_t rows);

/*
 * read waits, adds the device's state to what is known, and zeroes it on the device; know does so
 * only if rows may have been erased.
 */
HgStatus hg_dynamic_read_state(HgCudaDynamic *dynamic, HgError *error);
HgStatus hg_dynamic_know_rows(HgCudaDynamic *dynamic, HgError *error);

/* open makes the lists of an empty table, which has none; free frees the lists. */
HgStatus hg_dynamic_open_lists(HgCudaDynamic *dynamic, HgError *error);
void hg_dynamic_free_lists(HgCudaDynamic *dynamic);

/* Copies all keys and rows of the table; rows may be NULL. */
HgStatus hg_dynamic_export(HgCudaDynamic *dynamic, void *keys, uint32_t *rows, HgError *error);

/* Builds new lists of the rows of the table and of a batch. */
HgStatus hg_dynamic_rebuild(HgCudaDynamic *dynamic, const HgCudaTableBatch *in, HgError *error);

#endif /* HG_CUDA_TABLE_DYNAMIC_H */
