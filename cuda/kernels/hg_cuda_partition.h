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

#include "../../src/engine/hg_exchange.h"
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

/*
 * Which shard each row belongs to, when several jobs are one join (src/engine/hg_exchange.h).
 *
 * Arrays are in device memory unless a comment says "host".  A function that does not wait returns
 * once the last kernel is launched.
 */

/* Counts the keys of each part into counts[HG_EXCHANGE_PARTS], on the host.  Waits. */
HgStatus hg_cuda_parts_tally(HgCudaWork *work, uint32_t key_width, const void *keys, uint64_t count,
							 uint64_t *counts, HgError *error);

/*
 * Sorts the positions of count keys by the shards that have their parts,
 * owners[HG_EXCHANGE_PARTS], into order[count].  Those of shard m begin at starts[m], on the host,
 * as the tallies imply.
 */
HgStatus hg_cuda_parts_order(HgCudaWork *work, uint32_t key_width, const void *keys, uint64_t count,
							 const uint8_t *owners, uint32_t shards, const uint64_t *starts,
							 uint32_t *order, HgError *error);

/* to[i] = from[order[i]], for elements of 1, 2, 4 or 8 bytes. */
HgStatus hg_cuda_parts_gather(HgCudaWork *work, uint32_t width, const void *from,
							  const uint32_t *order, uint64_t count, void *to, HgError *error);

/*
 * Sets *right to whether all of the keys are of parts of shard self, and all of the numbers are
 * less than limit.  Waits.
 */
HgStatus hg_cuda_parts_check(HgCudaWork *work, uint32_t key_width, const void *keys,
							 const uint32_t *numbers, uint64_t count, const uint8_t *owners,
							 uint32_t self, uint64_t limit, bool *right, HgError *error);

#endif /* HG_CUDA_PARTITION_H */
