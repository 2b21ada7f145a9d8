/*-------------------------------------------------------------------------
 *
 * hg_cuda_columns.h
 *	  The columns that the rows of a side have beside their keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_COLUMNS_H
#define HG_CUDA_COLUMNS_H

#include "hg_cuda_numbers.h"

/*
 * The columns of a side, in one block of device memory: an array of values by position for each
 * column, then an array of bytes for each, not 0 where the value is NULL. Or, of a side that is a
 * graph replica, borrowed arrays of both kinds, by ordinal, which is the position of its rows
 * (hg_cuda_numbers.h): there is no block then, and no row is without its value.
 */
struct HgCudaColumns
{
	uint32_t count;
	uint32_t width[HG_MAX_COLUMNS];
	bool borrowed; /* of a graph replica: a column not borrowed yet will be, before it is read */
	unsigned char *block; /* NULL before the first value */
	uint64_t capacity;	  /* rows that it has room for */
	uint64_t given[HG_MAX_COLUMNS];
	bool has_nulls[HG_MAX_COLUMNS];
	const void *replica_values[HG_MAX_COLUMNS]; /* NULL where it is not borrowed */
	const uint8_t *replica_nulls[HG_MAX_COLUMNS];
};

/* Columns as the spec has them for a side, without any row. */
void hg_cuda_columns_init(HgCudaColumns *columns, const HgJobSpec *spec, HgSide side);

/*
 * Have a column whose values are somebody else's, who keeps them as long as anything of the job
 * runs; nulls are NULL where no row has NULL.
 */
void hg_cuda_columns_borrow(HgCudaColumns *columns, uint32_t column, const void *values,
							const uint8_t *nulls);

/*
 * Take values of a column, for count rows numbered from first_row on: of the side's rows rows,
 * of which there may be expected ones in the end.  It waits until they are copied.
 */
HgStatus hg_cuda_columns_append(HgCudaWork *work, HgCudaColumns *columns, HgCudaNumbers *numbers,
								uint64_t rows, uint64_t expected, uint32_t column,
								const void *values, const uint8_t *nulls, uint64_t count,
								uint64_t first_row, HgError *error);

/* Have room for rows rows, keeping what there is. */
HgStatus hg_cuda_columns_reserve(HgCudaWork *work, HgCudaColumns *columns, uint64_t rows,
								 uint64_t expected, HgError *error);

/* Where values of a column that has room for some are written by position, with what tells NULL. */
void hg_cuda_columns_arrays(const HgCudaColumns *columns, uint32_t column, void **values,
							uint8_t **nulls);

/* So many rows have been given their values of all columns: nulls has the bits of those with NULL.
 */
void hg_cuda_columns_give(HgCudaColumns *columns, uint64_t rows, uint32_t nulls);

/* HG_INVALID unless each of the side's rows has a value for each column, or they are borrowed. */
HgStatus hg_cuda_columns_check(const HgCudaColumns *columns, uint64_t rows, HgError *error);

/* The arrays of a column that has rows; nulls are NULL where no row has NULL. */
const void *hg_cuda_columns_values(const HgCudaColumns *columns, uint32_t column);
const uint8_t *hg_cuda_columns_nulls(const HgCudaColumns *columns, uint32_t column);

#endif /* HG_CUDA_COLUMNS_H */
