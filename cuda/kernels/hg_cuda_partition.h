/*-------------------------------------------------------------------------
 *
 * hg_cuda_partition.h
 *	  Puts rows into bins, in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PARTITION_H
#define HG_CUDA_PARTITION_H

#include "../device/hg_cuda_work.h"

/*
 * Rows in bins, by the first bits of their mixed words; within a bin they are in any order.  The
 * arrays are in device memory and belong to the work that made them.
 */
struct HgCudaPartition
{
	uint32_t key_width;
	uint32_t bins_log2;
	uint64_t count;
	void *words;	  /* [count] mixed words, key_width bytes each */
	uint32_t *rows;	  /* [count] row numbers */
	uint32_t *starts; /* [2^bins_log2 + 1]: bin b has rows starts[b] .. starts[b + 1] - 1 */
};

/* Which inputs of a partition stay.  The others are blocks of work, and are freed. */
typedef enum HgPartitionKeeps
{
	HG_KEEP_NOTHING = 0, /* rows may be NULL */
	HG_KEEP_ROWS,
	HG_KEEP_KEYS /* and rows */
} HgPartitionKeeps;

/*
 * Partitions count rows by the first bins_log2 bits of their mixed words.  keys are not mixed;
 * keys[i] is that of the row numbered rows[i], or i if rows is NULL.  Returns once the last kernel
 * is launched.
 */
HgStatus hg_cuda_partition_make(HgCudaWork *work, uint32_t key_width, void *keys,
								const uint32_t *rows, uint64_t count, HgPartitionKeeps keeps,
								uint32_t bins_log2, HgCudaPartition *partition, HgError *error);

/*
 * Partition in two steps and one pass, keeping the keys.  The first step finds where the bins
 * begin: *starts, a new array [2^bins_log2 + 1] in device memory, which the caller frees.  The
 * second step makes the partition from them.
 *
 * bins_log2 is at most HG_PARTITION_WIDE_LOG2, and at most what a pass can take.  keys[i] is that
 * of the row numbered rows[i], or first_row + i if rows is NULL.  Both return once the last kernel
 * is launched.
 */
HgStatus hg_cuda_partition_count(HgCudaWork *work, uint32_t key_width, const void *keys,
								 uint64_t count, uint32_t bins_log2, uint32_t **starts,
								 HgError *error);
HgStatus hg_cuda_partition_scatter(HgCudaWork *work, uint32_t key_width, const void *keys,
								   const uint32_t *rows, uint32_t first_row, uint64_t count,
								   const uint32_t *starts, uint32_t bins_log2,
								   HgCudaPartition *partition, HgError *error);

/* Some of the bins of a partition. */
struct HgBinList
{
	const uint32_t *bins; /* [count] their numbers, in device memory */
	uint32_t count;
	uint64_t rows; /* upper bound on their rows together */
};

/*
 * Sorts the rows of the listed bins by the digits_log2 bits that follow those of the bin, at most
 * HG_PARTITION_NARROW_LOG2, into words_out and rows_out, at the positions of the bin in the
 * partition.  offsets[bin << digits_log2 | digit] becomes the position of the first row of each
 * digit of a listed bin.  Nothing else is written.  Returns once the last kernel is launched.
 */
HgStatus hg_cuda_partition_split(HgCudaWork *work, const HgCudaPartition *partition,
								 const HgBinList *list, uint32_t digits_log2, void *words_out,
								 uint32_t *rows_out, uint32_t *offsets, HgError *error);

/* Returns the most device memory while a partition is made, keys included. */
uint64_t hg_cuda_partition_bytes(uint32_t key_width, uint64_t count, uint32_t bins_log2);

/* Frees the arrays and zeroes the partition. */
void hg_cuda_partition_free(HgCudaWork *work, HgCudaPartition *partition);

#endif /* HG_CUDA_PARTITION_H */
