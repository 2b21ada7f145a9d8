/*-------------------------------------------------------------------------
 *
 * hg_cuda_columns.h
 *	  The columns of the rows of a side, beside their keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_COLUMNS_H
#define HG_CUDA_COLUMNS_H

#include "hg_cuda_numbers.h"

/*
 * The columns of a side, in one block of device memory: for each column an array of values by
 * position, then for each column an array of bytes, which are not 0 where the value is NULL.
 *
 * If the side is a graph replica, its column replicas are used instead: arrays of both kinds by
 * ordinal, which is the position of a row (hg_cuda_numbers.h).  Then there is no block, and each
 * row has its value.
 */
struct HgCudaColumns
{
	uint32_t count;
	uint32_t width[HG_MAX_COLUMNS];
	bool external; /* column replicas; those that are still missing come before they are read */
	unsigned char *block;			/* NULL before the first value */
	uint64_t capacity;				/* rows that fit the block */
	uint64_t given[HG_MAX_COLUMNS]; /* values that have come */
	bool has_nulls[HG_MAX_COLUMNS];
	const void *replica_values[HG_MAX_COLUMNS]; /* NULL: no replica yet */
	const uint8_t *replica_nulls[HG_MAX_COLUMNS];
};

/* Initializes columns as the spec describes them for a side, without any row. */
void hg_cuda_columns_init(HgCudaColumns *columns, const HgJobSpec *spec, HgSide side);

/*
 * Makes a column use the arrays of a column replica.  They belong to the replica and must stay
 * while anything of the job runs.  nulls is NULL if no row has NULL.
 */
void hg_cuda_columns_set_external(HgCudaColumns *columns, uint32_t column, const void *values,
								  const uint8_t *nulls);

/*
 * Appends values of a column for count rows, which are numbered from first_row on.  The side has
 * rows rows, and is expected to get expected ones in all (a hint for the allocation).  nulls is
 * NULL if no value is NULL.  Waits until the caller's arrays have been copied.  Returns HG_INVALID
 * if there is no such column or row, or if the columns are replicas.
 */
HgStatus hg_cuda_columns_append(HgCudaWork *work, HgCudaColumns *columns, HgCudaNumbers *numbers,
								uint64_t rows, uint64_t expected, uint32_t column,
								const void *values, const uint8_t *nulls, uint64_t count,
								uint64_t first_row, HgError *error);

/* Makes room for rows rows, and keeps the values that have come.  expected is a hint. */
HgStatus hg_cuda_columns_reserve(HgCudaWork *work, HgCudaColumns *columns, uint64_t rows,
								 uint64_t expected, HgError *error);

/*
 * Returns the arrays to which the values and NULL bytes of a column are written, by position.
 * hg_cuda_columns_reserve must have made room.
 */
void hg_cuda_columns_arrays(const HgCudaColumns *columns, uint32_t column, void **values,
							uint8_t **nulls);

/* Notes that rows rows got values of all columns; bit i of nulls: column i has a NULL. */
void hg_cuda_columns_give(HgCudaColumns *columns, uint64_t rows, uint32_t nulls);

/* Returns HG_INVALID unless each of rows rows has all values.  Replicas always have. */
HgStatus hg_cuda_columns_check(const HgCudaColumns *columns, uint64_t rows, HgError *error);

/* Return the arrays of a column that has rows.  The nulls are NULL if no row has NULL. */
const void *hg_cuda_columns_values(const HgCudaColumns *columns, uint32_t column);
const uint8_t *hg_cuda_columns_nulls(const HgCudaColumns *columns, uint32_t column);

#endif /* HG_CUDA_COLUMNS_H */
