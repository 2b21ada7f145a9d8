/*-------------------------------------------------------------------------
 *
 * hg_cuda_partition.h
 *	  Putting rows into bins, in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PARTITION_H
#define HG_CUDA_PARTITION_H

#include "../device/hg_cuda_work.h"

/*
 * Rows in bins, by the first bits of their mixed words; within a bin they are in any order.
 * The arrays are in device memory and belong to the work that they were made with.
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

/* What stays of what a partition is made of.  All else is blocks of work, and is given back. */
typedef enum HgPartitionKeeps
{
	HG_KEEP_NOTHING = 0, /* rows may be NULL */
	HG_KEEP_ROWS,
	HG_KEEP_KEYS /* and rows */
} HgPartitionKeeps;

/*
 * Partition count rows by the first bins_log2 bits of their mixed words.  keys are not mixed;
 * keys[i] is that of the row which is numbered rows[i], or i if rows is NULL.  It returns when the
 * last of it is launched.
 */
HgStatus hg_cuda_partition_make(HgCudaWork *work, uint32_t key_width, void *keys,
								const uint32_t *rows, uint64_t count, HgPartitionKeeps keeps,
								uint32_t bins_log2, HgCudaPartition *partition, HgError *error);

/*
 * The same in two steps, in one pass, keeping the keys: where the bins begin, *starts, [2^bins_log2
 * + 1] in device memory, and the partition from that.  bins_log2 is at most HG_PARTITION_WIDE_LOG2,
 * and no more than a pass can take.  rows NULL: keys[i] is that of the row numbered first_row + i.
 * Both return when the last of it is launched; the starts stay the caller's.
 */
HgStatus hg_cuda_partition_count(HgCudaWork *work, uint32_t key_width, const void *keys,
								 uint64_t count, uint32_t bins_log2, uint32_t **starts,
								 HgError *error);
HgStatus hg_cuda_partition_place(HgCudaWork *work, uint32_t key_width, const void *keys,
								 const uint32_t *rows, uint32_t first_row, uint64_t count,
								 const uint32_t *starts, uint32_t bins_log2,
								 HgCudaPartition *partition, HgError *error);

/* Some of the bins of a partition. */
struct HgBinList
{
	const uint32_t *bins; /* [count] their numbers, in device memory */
	uint32_t count;
	uint64_t rows; /* that they have together, at most */
};

/*
 * Put the rows of some bins in the order of the digits_log2 bits that follow those of the bin, at
 * most HG_PARTITION_NARROW_LOG2: words_out and rows_out get them, in the places that the bins have
 * in the partition.  offsets[bin << digits_log2 | digit] becomes the first row of each digit of
 * these bins.  All else stays as it is.  It returns when the last of it is launched.
 */
HgStatus hg_cuda_partition_split(HgCudaWork *work, const HgCudaPartition *partition,
								 const HgBinList *list, uint32_t digits_log2, void *words_out,
								 uint32_t *rows_out, uint32_t *offsets, HgError *error);

/* Bytes of device memory that are held at most while it is made, the keys among them. */
uint64_t hg_cuda_partition_bytes(uint32_t key_width, uint64_t count, uint32_t bins_log2);

/* Give the arrays back. */
void hg_cuda_partition_free(HgCudaWork *work, HgCudaPartition *partition);

#endif /* HG_CUDA_PARTITION_H */
