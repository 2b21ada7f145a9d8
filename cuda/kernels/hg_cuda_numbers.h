/*-------------------------------------------------------------------------
 *
 * hg_cuda_numbers.h
 *	  Row numbers, where they are not the positions of the rows.
 *
 * Everything on the device knows a row by its position in its side's column, which is the
 * order of the appends.  Where the caller has numbers of his own, what follows one another in
 * both is a run, and pairs are translated, run by run, on their way out.
 *
 * Where each row has come with a number of its own, out of a page, all numbers are in device
 * memory, by position, and there is no run.
 *
 * Of a graph replica the rows' numbers are all that there is, and matches come with these.  Where
 * columns are to be read they become positions when they are written, which are the ordinals in
 * column replicas (hg_replica.h), and numbers again on their way out: both by the stride, and no
 * run.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_NUMBERS_H
#define HG_CUDA_NUMBERS_H

#include "../device/hg_cuda_work.h"

/* Rows that follow one another by position and by number. */
struct HgCudaRun
{
	uint32_t position; /* of the first one */
	uint32_t number;
};

/*
 * Run i goes on to where run i + 1 begins.  All zero: there are none yet, and as long as there are
 * none numbers are positions.
 */
struct HgCudaNumbers
{
	uint32_t stride; /* not 0: positions are ordinals of this stride, and there is no run */
	HgCudaRun *runs; /* [capacity] by position; in memory of the job's host */
	uint64_t count;
	uint64_t capacity;
	uint64_t found;			/* the run of the last one that was looked for */
	HgCudaRun *device_runs; /* [count] the same in device memory, once they are needed */
	uint32_t *given;		/* NULL, or [given_capacity] a number for each position */
	uint64_t given_capacity;
};

/* Note that the count rows from position on are numbered from first_row on. */
HgStatus hg_cuda_numbers_add(HgCudaNumbers *numbers, const HgHost *host, uint64_t position,
							 uint64_t count, uint64_t first_row, HgError *error);

/*
 * Of a side with rows rows: the position of the one with a number, and how many from there on
 * follow one another in both, it among them; 0 where there is none.
 */
uint64_t hg_cuda_numbers_find(HgCudaNumbers *numbers, uint64_t rows, uint64_t number,
							  uint64_t *position);

/* Are numbers anything but positions? */
static inline bool
hg_cuda_numbers_differ(const HgCudaNumbers *numbers)
{
	return numbers->count > 0 || numbers->stride > 0 || numbers->given != nullptr;
}

/*
 * rows[0 .. count - 1], in device memory, become positions where they were numbers, if there is a
 * stride, which their numbers in their parts are below; else they are positions, and stay.  It
 * returns when that is launched.
 */
HgStatus hg_cuda_numbers_to_ordinals(HgCudaWork *work, const HgCudaNumbers *numbers, uint32_t *rows,
									 uint64_t count, HgError *error);

/*
 * rows[0 .. count - 1], in device memory, become numbers where they were positions.  It returns
 * when that is launched.
 */
HgStatus hg_cuda_numbers_translate(HgCudaWork *work, HgCudaNumbers *numbers, uint32_t *rows,
								   uint64_t count, HgError *error);

/* Free the host's memory; that of the device belongs to the job's work. */
void hg_cuda_numbers_close(HgCudaNumbers *numbers, const HgHost *host);

#endif /* HG_CUDA_NUMBERS_H */
