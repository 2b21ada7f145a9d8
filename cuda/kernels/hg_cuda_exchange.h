/*-------------------------------------------------------------------------
 *
 * hg_cuda_exchange.h
 *	  The exchange of one side's rows between the devices of a sharded job.
 *
 * Each device, a shard, has some of the rows, and gets the rows of a range of bins as a partition
 * of its own (src/engine/hg_exchange.h).  All shards take the same steps, each in its own
 * thread, and publish their results to the others between the steps:
 *
 *	count	counts the shard's rows of each bin.  The counts of all shards determine the ranges.
 *	sort	puts the shard's rows into the bins.
 *	expect	needs the counts of all shards.  Allocates memory for the rows that come, and publishes
 *			its address.
 *	send	needs the addresses of all shards.  Starts to copy rows to the shards of their ranges,
 *			in chunks of bins, in a stream of its own.
 *	merge	needs all shards to have started to send.  Waits for a chunk, and puts it and the
 *			shard's own rows of the same bins into the bins of its partition.  These can be used
 *			while other chunks are on their way.
 *
 * A shard's sorted rows must stay until all others have merged their last chunk.
 *
 * The words of a partition are rotated (HgTurn): the words of a range agree in their first bits,
 * which choose the vertex.  So the engine sees words that are spread evenly.
 *
 * Rows are pushed, not pulled: on four H200 at a time, copies brought 379 GB/s into each if the
 * source device started them, and 251 GB/s if the target device did.
 *
 * MEMORY of a shard: its rows, unsorted and sorted; the rows that come; and the partition.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_EXCHANGE_H
#define HG_CUDA_EXCHANGE_H

#include "../../src/engine/hg_exchange.h"
#include "hg_cuda_partition.h"
#include "hg_cuda_partition_kernels.h"

/*
 * Chunks of a range: the most there can be; the number if chunks are used as soon as they are
 * merged; and the number if all are awaited, where fewer are less work.  (Measured on two H200:
 * 2^29 rows built in 6 chunks 7.6 ms, 3 chunks 7.9, 8 chunks 7.7; 2^28 x 2^28 rows joined in 3
 * chunks 6.55 ms, 6 chunks 6.8.)
 */
constexpr uint32_t HG_EXCHANGE_CHUNKS = 8;
constexpr uint32_t HG_EXCHANGE_USED_CHUNKS = 6;
constexpr uint32_t HG_EXCHANGE_AWAITED_CHUNKS = 3;

/* Most bins of an exchange, of all shards together. */
constexpr uint32_t HG_EXCHANGE_MAX_BINS = 1u << HG_EXCHANGE_MAX_LOG2;

/* What a shard publishes to the others, of one side. */
struct HgCudaShown
{
	int ordinal; /* the shard's CUDA device number */
	void *words; /* arrays that the other shards write to */
	uint32_t *rows;
	cudaEvent_t ready; /* recorded once the arrays may be written to */

	/* [shard][chunk]: recorded once this shard's rows of the chunk have reached that shard */
	const cudaEvent_t (*sent)[HG_EXCHANGE_CHUNKS];
};

/* Bins first_bin .. end_bin - 1 of all, which arrive together. */
struct HgCudaExchangeChunk
{
	uint32_t first_bin;
	uint32_t end_bin;
	uint64_t before;   /* rows of the range's bins before first_bin */
	uint64_t own;	   /* rows of these bins from the shard itself */
	uint64_t arriving; /* rows of these bins from other shards */
	uint64_t segments; /* index of their starts in segments: [others * bins + 1] */
};

/* Memory for merges, as much as the largest chunk needs. */
struct HgCudaExchangeScratch
{
	uint32_t *cursors; /* positions: see merge_tiles */
	HgPiece *tiles;
	uint32_t *tile_count;
	void *temporary;
	size_t temporary_bytes;
};

/* The exchange of one side, as one shard sees it. */
struct HgCudaExchange
{
	uint32_t key_width;
	uint32_t shards;
	uint32_t self;
	uint32_t bins_log2; /* of all shards together */
	cudaStream_t copies;
	cudaEvent_t sorted;
	cudaEvent_t ready; /* words and rows may be written to */
	cudaEvent_t sent[HG_EXCHANGE_SHARDS][HG_EXCHANGE_CHUNKS];

	uint32_t *device_starts; /* exists from count to sort */
	uint32_t starts[HG_EXCHANGE_MAX_BINS + 1];
	HgCudaPartition sorted_rows;

	uint32_t first_bin; /* the shard's range */
	uint32_t end_bin;
	void *words; /* rows that come from other shards */
	uint32_t *rows;
	uint32_t *segments;		 /* their starts, then the rows before each chunk */
	uint32_t *host_segments; /* the same, in pinned memory */
	uint32_t befores;		 /* index of the rows before each chunk */
	HgCudaExchangeScratch scratch;
	uint32_t chunk_count;
	HgCudaExchangeChunk chunks[HG_EXCHANGE_CHUNKS];
};

/*
 * Initializes the exchange of shard self of shards.  Rows are sent in the stream copies, which
 * stays the caller's and may be shared: copies of one stream run in order.  After
 * hg_cuda_exchange_clear, the exchange can be used again.
 */
HgStatus hg_cuda_exchange_open(HgCudaExchange *exchange, uint32_t key_width, uint32_t shards,
							   uint32_t self, cudaStream_t copies, HgError *error);

/*
 * Count count keys of the shard into exchange->starts.  The first returns once the work is
 * launched; the second waits for it, so that all sides can be launched before.
 */
HgStatus hg_cuda_exchange_count(HgCudaWork *work, HgCudaExchange *exchange, const void *keys,
								uint64_t count, HgError *error);
HgStatus hg_cuda_exchange_counted(HgCudaWork *work, HgCudaExchange *exchange, HgError *error);

/*
 * Sorts the rows into exchange->sorted_rows.  The keys stay.  keys[i] is that of the row numbered
 * rows[i], or first_row + i if rows is NULL.  Returns once the last kernel is launched.
 */
HgStatus hg_cuda_exchange_sort(HgCudaWork *work, HgCudaExchange *exchange, const void *keys,
							   const uint32_t *rows, uint32_t first_row, uint64_t count,
							   HgError *error);

/*
 * Return the rows that shard self will have, and log2 of the bins of its range, rounded up.
 * starts[m] are the starts of shard m, ends[m] the end of its range.
 */
uint64_t hg_cuda_exchange_rows(const uint32_t *const starts[], uint32_t shards,
							   const uint32_t *ends, uint32_t self);
uint32_t hg_cuda_exchange_range_log2(const uint32_t *ends, uint32_t self);

/*
 * Allocates memory for the rows that come, and for a partition of 2^bins_log2 bins, at least as
 * many as the range has.  starts and ends, [shards], are those of all shards.  chunks is the
 * number of chunks of each range, at most HG_EXCHANGE_CHUNKS.  *shown is what the other shards
 * need for hg_cuda_exchange_send.
 */
HgStatus hg_cuda_exchange_expect(HgCudaWork *work, HgCudaExchange *exchange,
								 const uint32_t *const starts[], const uint32_t *ends,
								 uint32_t bins_log2, uint32_t chunks, HgCudaShown *shown,
								 HgCudaPartition *partition, HgError *error);

/* Starts to send the sorted rows.  starts, ends and shown, [shards], are those of all shards. */
HgStatus hg_cuda_exchange_send(HgCudaWork *work, HgCudaExchange *exchange,
							   const uint32_t *const starts[], const uint32_t *ends,
							   uint32_t chunks, const HgCudaShown *shown, HgError *error);

/*
 * Merges a chunk into the partition, whose bins *first .. *end - 1 are then complete.  Returns
 * once the last kernel is launched.
 */
HgStatus hg_cuda_exchange_merge(HgCudaWork *work, HgCudaExchange *exchange,
								const HgCudaShown *shown, uint32_t chunk,
								HgCudaPartition *partition, uint32_t *first, uint32_t *end,
								HgError *error);

/* Returns how the words of the shard's partition are rotated. */
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

/* Frees all but the partition.  The other shards must have merged what this one sent. */
void hg_cuda_exchange_clear(HgCudaWork *work, HgCudaExchange *exchange);

/* Destroys the events and host memory, after hg_cuda_exchange_clear. */
void hg_cuda_exchange_close(HgCudaExchange *exchange);

#endif /* HG_CUDA_EXCHANGE_H */
