/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat.h
 *	  A flat HashGraph as the CPU sees it: the arrays of a bin, hashes, rows that count.
 *
 *	hg_cpu_flat.c		shapes and sizes; makes a bin of its rows; vectorised helpers of making
 *	hg_cpu_flat_make.c	makes graphs of rows and of older graphs
 *	hg_cpu_flat_join.c	joins graphs (hg_cpu_flat_stream.h says more)
 *
 * INVARIANTS of a bin, beside those of hg_flat.h: a list longer than HG_CPU_FLAT_SORTED is sorted
 * by key, as signed integers. So rows with equal keys are neighbours there, and no list makes
 * joining quadratic. HG_CPU_FLAT_PADDING bytes may be read after the last row.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_FLAT_H
#define HG_CPU_FLAT_H

#include <string.h>

#include "../hg_flat.h"
#include "../hg_hash.h"

#define HG_CPU_FLAT_SORTED 32
#define HG_CPU_FLAT_PADDING 64

#if defined(__GNUC__)
#define HG_CPU_FLAT_INLINE inline __attribute__((always_inline))
#else
#define HG_CPU_FLAT_INLINE inline
#endif

/* The most rows of a bin with offsets of 2 bytes. */
#define HG_CPU_FLAT_NARROW_ROWS 65535

/* Rows that are processed between two polls of cancelled(). */
#define HG_CPU_FLAT_POLL_ROWS 4096

/* The arrays of a bin; rows is 0 if the bin is empty or missing. */
typedef struct HgCpuFlatBin
{
	uint32_t rows;
	uint32_t offset_width;
	const void *offsets;
	const void *keys;
	const uint32_t *numbers; /* row numbers */
} HgCpuFlatBin;

/* Byte offsets of a bin's arrays, and its size. */
typedef struct HgCpuFlatLayout
{
	uint64_t offsets;
	uint64_t keys;
	uint64_t numbers;
	uint64_t end;
} HgCpuFlatLayout;

/* Returns the bytes of an offset in a bin with `rows` rows. */
static inline uint32_t
hg_cpu_flat_offset_width(uint64_t rows)
{
	return rows > HG_CPU_FLAT_NARROW_ROWS ? 4 : 2;
}

/* Returns where the arrays of a bin with `rows` rows are. */
static inline HgCpuFlatLayout
hg_cpu_flat_layout(const HgFlatShape *shape, uint64_t rows)
{
	uint64_t vertices = UINT64_C(1) << shape->vertices_log2;
	uint64_t offsets_bytes = (vertices + 1) * hg_cpu_flat_offset_width(rows);
	HgCpuFlatLayout layout;

	layout.offsets = sizeof(HgFlatBin);
	layout.keys = layout.offsets + (offsets_bytes + 7) / 8 * 8;
	layout.numbers = layout.keys + (rows * shape->key_width + 7) / 8 * 8;
	layout.end = layout.numbers + (rows * sizeof(uint32_t) + 7) / 8 * 8 + HG_CPU_FLAT_PADDING;
	return layout;
}

/* Returns the arrays of a graph's bin. */
static inline HgCpuFlatBin
hg_cpu_flat_bin(const HgFlatGraph *graph, uint64_t number)
{
	const HgFlatBin *bin = graph->bins[number];
	HgCpuFlatBin arrays = {0};
	HgCpuFlatLayout layout;

	if (bin == NULL || bin->rows == 0)
		return arrays;
	layout = hg_cpu_flat_layout(&graph->shape, bin->rows);
	arrays.rows = bin->rows;
	arrays.offset_width = bin->offset_width;
	arrays.offsets = (const char *) bin + layout.offsets;
	arrays.keys = (const char *) bin + layout.keys;
	arrays.numbers = (const uint32_t *) ((const char *) bin + layout.numbers);
	return arrays;
}

/* Returns the first edge of a vertex, or of the one after the last; the bin must have rows. */
static inline uint32_t
hg_cpu_flat_offset(const HgCpuFlatBin *bin, uint64_t vertex)
{
	return bin->offset_width == 2 ? ((const uint16_t *) bin->offsets)[vertex]
								  : ((const uint32_t *) bin->offsets)[vertex];
}

/* Returns a key of an array, widened. */
static inline int64_t
hg_cpu_flat_key(const void *keys, uint32_t width, uint64_t i)
{
	return width == 4 ? ((const int32_t *) keys)[i] : ((const int64_t *) keys)[i];
}

/* Returns the 32-bit hash of a key. */
static inline uint32_t
hg_cpu_flat_hash(int64_t key)
{
	return hg_hash_of_mixed64(hg_mix64((uint64_t) key));
}

/*
 * Returns the first index in the sorted keys[low .. high) whose key is not below key or, if
 * `above`, is above it; high if there is none.
 */
static inline uint32_t
hg_cpu_flat_find_key(const void *keys, uint32_t width, uint32_t low, uint32_t high, int64_t key,
					 bool above)
{
	while (low < high)
	{
		uint32_t middle = low + (high - low) / 2;
		int64_t found = hg_cpu_flat_key(keys, width, middle);

		if (found < key || (above && found == key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns true if a row counts by the mask; NULL lets all rows count. */
static inline bool
hg_cpu_flat_counts(const HgFlatMask *mask, uint32_t row)
{
	uint32_t part = HG_FLAT_PART(row);
	uint32_t number = HG_FLAT_NUMBER(row);

	if (mask == NULL)
		return true;
	if (part >= mask->nparts || mask->states[part] == HG_FLAT_NONE)
		return false;
	return mask->states[part] == HG_FLAT_ALL ||
		   (mask->bits[part][number / 64] >> (number % 64) & 1);
}

/* Returns HG_INVALID if a shape is out of range, else HG_OK. */
extern HgStatus hg_cpu_flat_check(const HgFlatShape *shape, HgError *error);

/*
 * Makes a bin of its rows, at least one, with rows->rows set, in *bin, which has
 * hg_flat_bin_bytes(shape, rows->count) bytes. offsets[vertices + 1] is the caller's scratch
 * memory.
 */
extern HgStatus hg_cpu_flat_bin_make(const HgHost *host, const HgFlatShape *shape,
									 const HgFlatRows *rows, uint32_t *offsets, HgFlatBin *bin,
									 HgError *error);

#endif /* HG_CPU_FLAT_H */
