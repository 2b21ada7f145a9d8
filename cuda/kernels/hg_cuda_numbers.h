/*-------------------------------------------------------------------------
 *
 * hg_cuda_numbers.h
 *	  Row numbers, if they differ from the positions of the rows.
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
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_NUMBERS_H
#define HG_CUDA_NUMBERS_H

#include "../device/hg_cuda_work.h"

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

/*
 * Finds the row with a number, on a side with rows rows.  Sets *position, and returns how many
 * rows from there on follow each other by position and number; 0 if there is no such row.
 */
uint64_t hg_cuda_numbers_find(HgCudaNumbers *numbers, uint64_t rows, uint64_t number,
							  uint64_t *position);

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

#endif /* HG_CUDA_NUMBERS_H */
