/*-------------------------------------------------------------------------
 *
 * hg_cuda_columns.h
 *	  The columns of the rows of a side, beside their keys, and groups of the matches.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_COLUMNS_H
#define HG_CUDA_COLUMNS_H

#include "../device/hg_cuda_work.h"
#include "hg_cuda_tuning.h"

/*
 * Row numbers, if they differ from the positions of the rows.
 *
 * On the device a row is known by its position in its side's columns, which is the order of the
 * appends.  If the caller assigned other numbers, pairs are translated on their way out, in one of
 * three ways:
 *
 *	runs		rows that follow each other both by position and by number.
 *	given		each row came with its own number, out of a page.  All numbers are in device
 *				memory, by position.
 *	stride		the side is a graph replica, whose edges have row numbers.  If columns are read,
 *				the numbers become positions when pairs are written, namely ordinals of the column
 *				replicas (hg_replica.h), and numbers again on their way out.
 */

/* Rows that follow each other both by position and by number. */
struct HgCudaRun
{
	uint32_t position; /* of the first row */
	uint32_t number;
};

/* Row numbers of a side.  Run i ends where run i + 1 begins.  Zeroed: numbers are positions. */
struct HgCudaNumbers
{
	uint32_t stride; /* not 0: positions are ordinals of this stride, and there is no run */
	HgCudaRun *runs; /* [capacity] by position; memory of the job's host */
	uint64_t count;
	uint64_t capacity;
	uint64_t found;			/* the run in which the last search ended */
	HgCudaRun *device_runs; /* [count] copy in device memory; NULL before it is needed */
	uint32_t *given; /* [given_capacity] the number of each position, in device memory, or NULL */
	uint64_t given_capacity;
};

/* Notes that the count rows from position on are numbered from first_row on. */
HgStatus hg_cuda_numbers_add(HgCudaNumbers *numbers, const HgHost *host, uint64_t position,
							 uint64_t count, uint64_t first_row, HgError *error);

/* Returns true if numbers differ from positions. */
static inline bool
hg_cuda_numbers_differ(const HgCudaNumbers *numbers)
{
	return numbers->count > 0 || numbers->stride > 0 || numbers->given != nullptr;
}

/*
 * Translates rows[0 .. count - 1], in device memory, from numbers to positions if there is a
 * stride; otherwise they are positions already.  A number within its part must be less than the
 * stride.  Returns once the work is launched.
 */
HgStatus hg_cuda_numbers_to_ordinals(HgCudaWork *work, const HgCudaNumbers *numbers, uint32_t *rows,
									 uint64_t count, HgError *error);

/*
 * Translates rows[0 .. count - 1], in device memory, from positions to numbers.  Returns once the
 * work is launched.
 */
HgStatus hg_cuda_numbers_translate(HgCudaWork *work, HgCudaNumbers *numbers, uint32_t *rows,
								   uint64_t count, HgError *error);

/* Frees the host's memory, and zeroes numbers.  Device memory belongs to the job's work. */
void hg_cuda_numbers_close(HgCudaNumbers *numbers, const HgHost *host);

/*
 * The columns of a side, in one block of device memory: for each column an array of values by
 * position, then for each column an array of bytes, which are not 0 where the value is NULL.
 *
 * If the side is a graph replica, its column replicas are used instead: arrays of both kinds by
 * ordinal, which is the position of a row.  Then there is no block, and each
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

/* Device memory through which matches and values pass.  NULL before it is opened. */
struct HgCudaGather
{
	unsigned char *block; /* [HG_GATHER_BYTES] */
};

/* Bytes of the block: values or row numbers of HG_GATHER_PAIRS rows, and a NULL byte for each. */
constexpr uint64_t HG_GATHER_BYTES = HG_GATHER_PAIRS * (sizeof(uint64_t) + 1);

/* Allocates the block, which belongs to work. */
HgStatus hg_cuda_gather_open(HgCudaWork *work, HgCudaGather *gather, HgError *error);

/*
 * Copies count matches, at most HG_GATHER_PAIRS, to the caller's arrays, with the values of
 * columns whose matches->values is not NULL.  rows are positions in device memory, [count] by
 * HgSide, as are columns and numbers by HgSide.  Waits until all copies are done, even on failure.
 */
HgStatus hg_cuda_gather_matches(HgCudaWork *work, const HgCudaGather *gather,
								const HgCudaColumns columns[2], HgCudaNumbers numbers[2],
								const uint32_t *const rows[2], uint64_t count, HgMatches *matches,
								HgError *error);

/* hg_cuda_reduce.cu: groups the matches that are in device memory */

/* The groups of a job, all arrays in device memory. */
struct HgCudaReduce
{
	HgReduceSpec spec;
	const HgCudaColumns *columns; /* [2] by HgSide */
	uint32_t words;				  /* of a record; 0 if nothing was reduced */
	bool too_many;				  /* more groups than max_groups or than fit memory: no result */
	uint64_t groups;
	uint64_t emitted; /* groups whose records have been copied out */

	uint64_t *records;	  /* [capacity * words] */
	uint64_t capacity;	  /* groups that fit records */
	uint64_t *slots;	  /* [2^slots_log2] see hg_cuda_reduce_kernels.h; NULL without keys */
	uint32_t slots_log2;  /* 2^this is at least twice the capacity */
	uint64_t *counters;	  /* [2] groups, and pairs that a launch left over */
	uint32_t *pending[2]; /* [pending_capacity] pairs left over, used in turn */
	uint64_t pending_capacity;
};

/*
 * Prepares to make groups.  columns, [2] by HgSide, must stay as they are.  reduce->too_many is
 * set if memory is short.
 */
HgStatus hg_cuda_reduce_open(HgCudaWork *work, const HgReduceSpec *spec,
							 const HgCudaColumns *columns, HgCudaReduce *reduce, HgError *error);

/*
 * Adds count matches, pairs of positions in device memory.  Waits.  It stops when reduce->too_many
 * is set, which is no failure.
 */
HgStatus hg_cuda_reduce_add(HgCudaWork *work, HgCudaReduce *reduce, const uint32_t *outer,
							const uint32_t *inner, uint64_t count, HgError *error);

/* Frees all but the records; these too if reduce->too_many is set. */
void hg_cuda_reduce_end(HgCudaWork *work, HgCudaReduce *reduce);

/*
 * Copies the next records to the caller: at most records->capacity and HG_REDUCE_RECORDS.
 * records->count is their number, 0 at the end.  Waits.  Returns HG_INVALID if no groups were made
 * or records has no capacity.
 */
HgStatus hg_cuda_reduce_next(HgCudaWork *work, HgCudaReduce *reduce, HgGroupRecords *records,
							 HgError *error);

/* Frees everything and zeroes reduce.  A zeroed one is closed already. */
void hg_cuda_reduce_close(HgCudaWork *work, HgCudaReduce *reduce);

#endif /* HG_CUDA_COLUMNS_H */
