/*-------------------------------------------------------------------------
 *
 * hg_cuda_reduce.h
 *	  Groups the matches that are in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_REDUCE_H
#define HG_CUDA_REDUCE_H

#include "hg_cuda_columns.h"

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
	uint64_t *slots;	  /* [2^slots_log2] see hg_cuda_reduce_table.h; NULL without keys */
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

#endif /* HG_CUDA_REDUCE_H */
