/*-------------------------------------------------------------------------
 *
 * hg_cuda_exchange.h
 *	  Rows of one side of a job that several devices have together change devices.
 *
 * Each device, a shard, has some of the rows, and is to have those of a range of bins, in a
 * partition of its own (src/engine/hg_exchange_ranges.h).  Shards do the same steps, each in a
 * thread of its own, and between them tell the others what they have found:
 *
 *	count	how many rows of each bin a shard has.  From all of these follow the ranges.
 *	sort	puts its rows into the bins.
 *	expect	makes room for what will come, once all have counted, and shows where that is.
 *	send	begins to copy to others what is of their ranges, in chunks of bins, in a stream of its
 *			own, once all have shown.
 *	merge	waits for a chunk to arrive, and puts it and the shard's own rows of these bins into
 *			the bins of its partition, once all have begun to send.  What is merged can be used,
 *			while other chunks are on their way.
 *
 * A shard's sorted rows have to stay until all others have merged their last chunk.
 *
 * The words of a partition are turned (HgTurn): those of a range agree in their first bits, which
 * choose the vertex.  So the engine sees words that are spread like any.
 *
 * Rows are sent, not fetched: on four H200 at a time copies brought 379 GB/s into each when the
 * sender began them, and 251 GB/s when the receiver did.
 *
 * MEMORY of a shard: its rows as they were; sorted; those that come; and the partition.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_EXCHANGE_H
#define HG_CUDA_EXCHANGE_H

#include "../../src/engine/hg_exchange_ranges.h"
#include "hg_cuda_partition.h"
#include "hg_cuda_partition_kernels.h"

/*
 * Chunks that a range comes in, at most; and how many where chunks are used as soon as they are
 * there, or where all are waited for, so that fewer are less work.  (Measured on two H200: 2^29
 * rows built in 6 chunks 7.6 ms, 3 chunks 7.9, 8 chunks 7.7; 2^28 x 2^28 rows joined in 3
 * chunks 6.55 ms, 6 chunks 6.8.)
 */
constexpr uint32_t HG_EXCHANGE_CHUNKS = 8;
constexpr uint32_t HG_EXCHANGE_USED_CHUNKS = 6;
constexpr uint32_t HG_EXCHANGE_AWAITED_CHUNKS = 3;

constexpr uint32_t HG_EXCHANGE_MAX_BINS = 1u << HG_EXCHANGE_MAX_LOG2;

/* What a shard shows the others of a side. */
struct HgCudaShown
{
	int ordinal; /* of the device that the arrays are on */
	void *words; /* what comes is written there by the others */
	uint32_t *rows;
	cudaEvent_t ready; /* when they may */

	/* by shard and chunk: when that is there, which this shard sends; once it has begun to */
	const cudaEvent_t (*sent)[HG_EXCHANGE_CHUNKS];
};

/* Bins first .. end - 1 of all, which come together. */
struct HgCudaExchangeChunk
{
	uint32_t first_bin;
	uint32_t end_bin;
	uint64_t before;   /* rows of bins of the range before these */
	uint64_t own;	   /* the shard's own rows of these bins */
	uint64_t arriving; /* those of others */
	uint64_t segments; /* where the starts of what comes begin, of [others][bins] + 1 */
};

/* What merges of a chunk work in, one after the other: room for the largest of them. */
struct HgCudaExchangeScratch
{
	uint32_t *places; /* see merge_tiles */
	HgPiece *tiles;
	uint32_t *tile_count;
	void *temporary;
	size_t temporary_bytes;
};

struct HgCudaExchange
{
	uint32_t key_width;
	uint32_t shards;
	uint32_t self;
	uint32_t bins_log2; /* of all shards together */
	cudaStream_t copies;
	cudaEvent_t sorted;
	cudaEvent_t ready; /* memory for what comes */
	cudaEvent_t sent[HG_EXCHANGE_SHARDS][HG_EXCHANGE_CHUNKS];

	uint32_t *device_starts; /* from count to sort */
	uint32_t starts[HG_EXCHANGE_MAX_BINS + 1];
	HgCudaPartition sorted_rows;

	uint32_t first_bin; /* of the range */
	uint32_t end_bin;
	void *words; /* what comes */
	uint32_t *rows;
	uint32_t *segments;		 /* starts of what comes, and behind them what is before each chunk */
	uint32_t *host_segments; /* the same, in pinned memory */
	uint32_t befores;		 /* where the latter begin */
	HgCudaExchangeScratch scratch;
	uint32_t chunk_count;
	HgCudaExchangeChunk chunks[HG_EXCHANGE_CHUNKS];
};

/*
 * Begin: shard self of so many.  Rows are sent in the stream copies, which stays the caller's: what
 * is sent in one stream goes in order.  What open makes can be used again after
 * hg_cuda_exchange_clear.
 */
HgStatus hg_cuda_exchange_open(HgCudaExchange *exchange, uint32_t key_width, uint32_t shards,
							   uint32_t self, cudaStream_t copies, HgError *error);

/* Count count keys, and, once that is launched for all sides, wait for it: exchange->starts. */
HgStatus hg_cuda_exchange_count(HgCudaWork *work, HgCudaExchange *exchange, const void *keys,
								uint64_t count, HgError *error);
HgStatus hg_cuda_exchange_counted(HgCudaWork *work, HgCudaExchange *exchange, HgError *error);

/*
 * Sort them.  The keys stay; the row of keys[i] is numbered rows[i], or first_row + i where rows
 * is NULL.  It returns when the last of it is launched.
 */
HgStatus hg_cuda_exchange_sort(HgCudaWork *work, HgCudaExchange *exchange, const void *keys,
							   const uint32_t *rows, uint32_t first_row, uint64_t count,
							   HgError *error);

/* The rows that the shard will have, and the bins of its range, as the next power of two. */
uint64_t hg_cuda_exchange_rows(const uint32_t *const starts[], uint32_t shards,
							   const uint32_t *ends, uint32_t self);
uint32_t hg_cuda_exchange_range_log2(const uint32_t *ends, uint32_t self);

/*
 * Make room for what comes, as all shards have counted, [shards], themselves included, to be shown;
 * and for a partition of 2^bins_log2 bins, at least as many as those of the range.  Ranges come in
 * so many chunks, at most HG_EXCHANGE_CHUNKS, the same for all shards.
 */
HgStatus hg_cuda_exchange_expect(HgCudaWork *work, HgCudaExchange *exchange,
								 const uint32_t *const starts[], const uint32_t *ends,
								 uint32_t bins_log2, uint32_t chunks, HgCudaShown *shown,
								 HgCudaPartition *partition, HgError *error);

/* Begin to send what has been sorted to all shards, as they have counted and shown, [shards]. */
HgStatus hg_cuda_exchange_send(HgCudaWork *work, HgCudaExchange *exchange,
							   const uint32_t *const starts[], const uint32_t *ends,
							   uint32_t chunks, const HgCudaShown *shown, HgError *error);

/*
 * Put a chunk where it belongs: the bins *first .. *end - 1 of the partition are then there.  It
 * returns when the last of it is launched.
 */
HgStatus hg_cuda_exchange_merge(HgCudaWork *work, HgCudaExchange *exchange,
								const HgCudaShown *shown, uint32_t chunk,
								HgCudaPartition *partition, uint32_t *first, uint32_t *end,
								HgError *error);

/* The word that a word of the partition was before it was turned. */
template <typename Word>
static inline HgTurn<Word>
hg_cuda_exchange_turn(const HgCudaExchange *exchange)
{
	HgTurn<Word> turn;
	const uint32_t ends[2] = {exchange->first_bin, exchange->end_bin};

	turn.base = (Word) exchange->first_bin << (8 * sizeof(Word) - exchange->bins_log2);
	turn.bits = exchange->bins_log2 - hg_cuda_exchange_range_log2(ends, 1);
	return turn;
}

/* Give back what the others have had; the partition stays. */
void hg_cuda_exchange_clear(HgCudaWork *work, HgCudaExchange *exchange);

/* End, after that. */
void hg_cuda_exchange_close(HgCudaExchange *exchange);

#endif /* HG_CUDA_EXCHANGE_H */
