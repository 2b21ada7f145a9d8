/*-------------------------------------------------------------------------
 *
 * hg_cuda_reduce.h
 *	  Groups of the matches that are in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_REDUCE_H
#define HG_CUDA_REDUCE_H

#include "hg_cuda_columns.h"

struct HgCudaReduce
{
	HgReduceSpec spec;
	const HgCudaColumns *columns; /* [2] by HgSide */
	uint32_t words;				  /* of a record; 0 where nothing was reduced */
	bool too_many;				  /* of them, or no room: nothing is to be had */
	uint64_t groups;
	uint64_t delivered;

	uint64_t *records;	  /* [capacity * words] */
	uint64_t capacity;	  /* groups that there is room for */
	uint64_t *slots;	  /* [2^slots_log2] see hg_cuda_reduce_kernels.h; NULL without keys */
	uint32_t slots_log2;  /* 2^this slots are twice the capacity, or more */
	uint64_t *counters;	  /* [2] groups, and pairs left over by a launch */
	uint32_t *pending[2]; /* [pending_capacity] pairs left over, and those left over of these */
	uint64_t pending_capacity;
};

/* Get ready to make groups, of rows with these columns, which must stay as they are. */
HgStatus hg_cuda_reduce_open(HgCudaWork *work, const HgReduceSpec *spec,
							 const HgCudaColumns *columns, HgCudaReduce *reduce, HgError *error);

/*
 * Add count matches, pairs of positions in device memory.  It waits.  reduce->too_many ends
 * it, and is no failure.
 */
HgStatus hg_cuda_reduce_add(HgCudaWork *work, HgCudaReduce *reduce, const uint32_t *outer,
							const uint32_t *inner, uint64_t count, HgError *error);

/* Give back all but the records. */
void hg_cuda_reduce_end(HgCudaWork *work, HgCudaReduce *reduce);

/* Copy the next records out. */
HgStatus hg_cuda_reduce_next(HgCudaWork *work, HgCudaReduce *reduce, HgGroupRecords *records,
							 HgError *error);

/* Give back everything; what is all zero is closed already. */
void hg_cuda_reduce_close(HgCudaWork *work, HgCudaReduce *reduce);

#endif /* HG_CUDA_REDUCE_H */
