/*-------------------------------------------------------------------------
 *
 * hg_cuda_exchange.cu
 *	  The exchange of one side's rows between the devices of a sharded job.
 *
 * The bins of the exchange are those of the first pass of a partition, and a merge is its second
 * pass (hg_cuda_partition.cu), whose rows come from several devices.  So the exchange itself moves
 * rows only over the link between devices, by copies that run beside the kernels.
 *
 * Arriving rows stand in one array, by chunk, shard and bin.  A bin of the range occurs once for
 * each other shard: these are its segments.  A pass takes any number of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_pass.h"

#include "hg_cuda_exchange.h"

#include <algorithm>
#include <cstring>

/* Rows of the smallest tiles. */
static constexpr int LEAST_TILE_ROWS = HG_PARTITION_THREADS * HG_PARTITION_ITEMS / 2;

/* Most segments, with the end of those of each chunk, and the rows before each chunk. */
static constexpr size_t HOST_SEGMENTS =
	(HG_EXCHANGE_SHARDS - 1) * HG_EXCHANGE_MAX_BINS + 2 * HG_EXCHANGE_CHUNKS;

/* ------------------------------------------------------------------------
 * Before rows move
 * ------------------------------------------------------------------------ */

HgStatus
hg_cuda_exchange_open(HgCudaExchange *exchange, uint32_t key_width, uint32_t shards, uint32_t self,
					  cudaStream_t copies, HgError *error)
{
	memset(exchange, 0, sizeof(*exchange));
	exchange->key_width = key_width;
	exchange->shards = shards;
	exchange->self = self;
	exchange->bins_log2 = hg_exchange_ranges_log2(shards);
	exchange->copies = copies;
	HG_CUDA_TRY(cudaEventCreateWithFlags(&exchange->sorted, cudaEventDisableTiming), error);
	HG_CUDA_TRY(cudaEventCreateWithFlags(&exchange->ready, cudaEventDisableTiming), error);
	HG_CUDA_TRY(cudaMallocHost(&exchange->host_segments, HOST_SEGMENTS * sizeof(uint32_t)), error);
	for (uint32_t m = 0; m < shards; m++)
		for (cudaEvent_t &event : exchange->sent[m])
			HG_CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), error);
	return HG_OK;
}

HgStatus
hg_cuda_exchange_count(HgCudaWork *work, HgCudaExchange *exchange, const void *keys, uint64_t count,
					   HgError *error)
{
	return hg_cuda_partition_count(work, exchange->key_width, keys, count, exchange->bins_log2,
								   &exchange->device_starts, error);
}

HgStatus
hg_cuda_exchange_counted(HgCudaWork *work, HgCudaExchange *exchange, HgError *error)
{
	const size_t bytes = ((UINT64_C(1) << exchange->bins_log2) + 1) * sizeof(uint32_t);
	const void *host;

	static_assert((HG_EXCHANGE_MAX_BINS + 1) * sizeof(uint32_t) <= HG_READBACK_BYTES,
				  "starts are read back at once");
	HG_TRY(hg_cuda_read_back(work, exchange->device_starts, bytes, &host, error));
	memcpy(exchange->starts, host, bytes);
	return HG_OK;
}

HgStatus
hg_cuda_exchange_sort(HgCudaWork *work, HgCudaExchange *exchange, const void *keys,
					  const uint32_t *rows, uint32_t first_row, uint64_t count, HgError *error)
{
	HG_TRY(hg_cuda_partition_scatter(work, exchange->key_width, keys, rows, first_row, count,
									 exchange->device_starts, exchange->bins_log2,
									 &exchange->sorted_rows, error));
	hg_cuda_free(work, exchange->device_starts);
	exchange->device_starts = nullptr;
	HG_CUDA_TRY(cudaEventRecord(exchange->sorted, work->stream), error);
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Ranges
 * ------------------------------------------------------------------------ */

static uint32_t
first_bin_of(const uint32_t *ends, uint32_t shard)
{
	return shard == 0 ? 0 : ends[shard - 1];
}

uint64_t
hg_cuda_exchange_rows(const uint32_t *const starts[], uint32_t shards, const uint32_t *ends,
					  uint32_t self)
{
	uint64_t rows = 0;

	for (uint32_t m = 0; m < shards; m++)
		rows += starts[m][ends[self]] - starts[m][first_bin_of(ends, self)];
	return rows;
}

uint32_t
hg_cuda_exchange_range_log2(const uint32_t *ends, uint32_t self)
{
	const uint32_t bins = ends[self] - first_bin_of(ends, self);
	uint32_t log2 = 0;

	while (UINT32_C(1) << log2 < bins)
		log2++;
	return log2;
}

/* Returns the first bin of a chunk of a range's chunks: each has more bins than the last. */
static uint32_t
chunk_bin(uint32_t bins, uint32_t chunk, uint32_t chunks)
{
	return (uint32_t) ((uint64_t) bins * chunk * (chunk + 1) / (chunks * (chunks + 1)));
}

/* Returns the chunks of a shard's range: fewer if a chunk would have no bin. */
static uint32_t
chunks_of(const uint32_t *ends, uint32_t shard, uint32_t chunks)
{
	const uint32_t bins = ends[shard] - first_bin_of(ends, shard);

	while (chunks > 0 && chunk_bin(bins, 1, chunks) == 0)
		chunks--;
	return chunks;
}

/*
 * Notes where the segments of a chunk that come from other shards begin: segment numbers from
 * *count on, rows from *position on.
 */
static void
note_segments(HgCudaExchange *exchange, HgCudaExchangeChunk *chunk, const uint32_t *const starts[],
			  uint32_t *count, uint32_t *position)
{
	chunk->segments = *count;
	for (uint32_t m = 0; m < exchange->shards; m++)
		for (uint32_t bin = chunk->first_bin; m != exchange->self && bin < chunk->end_bin; bin++)
		{
			exchange->host_segments[(*count)++] = *position;
			*position += starts[m][bin + 1] - starts[m][bin];
		}
	exchange->host_segments[(*count)++] = *position;
}

/* Divides the range into chunks: *count segments, *arriving rows from others, *rows in all. */
static void
cut_range(HgCudaExchange *exchange, const uint32_t *const starts[], uint32_t *count,
		  uint64_t *arriving, uint64_t *rows)
{
	const uint32_t bins = exchange->end_bin - exchange->first_bin;
	uint32_t position = 0;

	*count = 0;
	*rows = 0;
	for (uint32_t c = 0; c < exchange->chunk_count; c++)
	{
		HgCudaExchangeChunk *chunk = &exchange->chunks[c];
		const uint32_t *own = starts[exchange->self];
		const uint32_t before = position;

		chunk->first_bin = exchange->first_bin + chunk_bin(bins, c, exchange->chunk_count);
		chunk->end_bin = exchange->first_bin + chunk_bin(bins, c + 1, exchange->chunk_count);
		note_segments(exchange, chunk, starts, count, &position);
		chunk->before = *rows;
		chunk->own = own[chunk->end_bin] - own[chunk->first_bin];
		chunk->arriving = position - before;
		*rows += chunk->own + chunk->arriving;
	}
	*arriving = position;
	for (uint32_t c = 0; c < exchange->chunk_count; c++)
		exchange->host_segments[*count + c] = (uint32_t) exchange->chunks[c].before;
}

/* ------------------------------------------------------------------------
 * Copies
 * ------------------------------------------------------------------------ */

/* Copies bytes to a shard's device. */
static HgStatus
copy(HgCudaWork *work, const HgCudaExchange *exchange, const HgCudaShown *to, const void *source,
	 uint64_t bytes, void *target, HgError *error)
{
	HG_CUDA_TRY(cudaMemcpyPeerAsync(target, to->ordinal, source, work->device->ordinal, bytes,
									exchange->copies),
				error);
	return HG_OK;
}

/* Sends count sorted rows, from number at on, to position position of a shard. */
static HgStatus
send_rows(HgCudaWork *work, const HgCudaExchange *exchange, const HgCudaShown *to, uint64_t at,
		  uint64_t count, uint64_t position, HgError *error)
{
	const size_t width = exchange->key_width;

	if (count == 0)
		return HG_OK;
	HG_TRY(copy(work, exchange, to,
				static_cast<const char *>(exchange->sorted_rows.words) + at * width, count * width,
				static_cast<char *>(to->words) + position * width, error));
	return copy(work, exchange, to, exchange->sorted_rows.rows + at, count * sizeof(uint32_t),
				to->rows + position, error);
}

/*
 * Sends this shard's rows of a chunk of another shard's range.  *position is the position of the
 * chunk there, and becomes that of the next one; a chunk has the rows of each shard but its own in
 * turn.
 */
static HgStatus
send_chunk(HgCudaWork *work, const HgCudaExchange *exchange, const uint32_t *const starts[],
		   uint32_t first, uint32_t end, uint32_t shard, const HgCudaShown *to, uint64_t *position,
		   HgError *error)
{
	for (uint32_t m = 0; m < exchange->shards; m++)
	{
		const uint64_t count = starts[m][end] - starts[m][first];

		if (m == shard)
			continue;
		if (m == exchange->self)
			HG_TRY(send_rows(work, exchange, to, starts[m][first], count, *position, error));
		*position += count;
	}
	return HG_OK;
}

HgStatus
hg_cuda_exchange_send(HgCudaWork *work, HgCudaExchange *exchange, const uint32_t *const starts[],
					  const uint32_t *ends, uint32_t chunks, const HgCudaShown *shown,
					  HgError *error)
{
	uint64_t cursors[HG_EXCHANGE_SHARDS] = {};

	HG_CUDA_TRY(cudaStreamWaitEvent(exchange->copies, exchange->sorted, 0), error);
	for (uint32_t m = 0; m < exchange->shards; m++)
		if (m != exchange->self)
			HG_CUDA_TRY(cudaStreamWaitEvent(exchange->copies, shown[m].ready, 0), error);
	for (uint32_t c = 0; c < chunks; c++)
	{
		/* each shard starts with another target, so that not all write to the same one */
		for (uint32_t i = 1; i < exchange->shards; i++)
		{
			const uint32_t m = (exchange->self + i) % exchange->shards;
			const uint32_t first = first_bin_of(ends, m);
			const uint32_t theirs = chunks_of(ends, m, chunks);

			if (c >= theirs)
				continue;
			HG_TRY(send_chunk(work, exchange, starts, first + chunk_bin(ends[m] - first, c, theirs),
							  first + chunk_bin(ends[m] - first, c + 1, theirs), m, &shown[m],
							  &cursors[m], error));
			HG_CUDA_TRY(cudaEventRecord(exchange->sent[m][c], exchange->copies), error);
		}
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------ */

/* Allocates the partition.  Bins beyond the range are empty, and begin where all rows end. */
static HgStatus
make_room(HgCudaWork *work, const HgCudaExchange *exchange, uint32_t digits_log2, uint64_t rows,
		  HgCudaPartition *partition, HgError *error)
{
	const uint64_t entries = (UINT64_C(1) << partition->bins_log2) + 1;
	const uint64_t there = (uint64_t) (exchange->end_bin - exchange->first_bin) << digits_log2;

	partition->key_width = exchange->key_width;
	partition->count = rows;
	HG_TRY(hg_cuda_alloc(work, rows * exchange->key_width, &partition->words, error));
	HG_TRY(hg_cuda_alloc_array(work, rows, &partition->rows, error));
	HG_TRY(hg_cuda_alloc_array(work, entries, &partition->starts, error));
	return hg_cuda_launch<hg_set_kernel>(
		work->stream, "hg_set_kernel", hg_blocks_for(entries - there, HG_STREAM_THREADS),
		HG_STREAM_THREADS, error, partition->starts + there, entries - there, (uint32_t) rows);
}

/* Allocates the memory for merges. */
static HgStatus
make_scratch(HgCudaWork *work, HgCudaExchange *exchange, uint32_t digits_log2, HgError *error)
{
	HgCudaExchangeScratch *scratch = &exchange->scratch;
	const uint32_t *none = nullptr;
	uint64_t entries = 0;
	uint64_t tiles = 0;

	for (uint32_t c = 0; c < exchange->chunk_count; c++)
	{
		const HgCudaExchangeChunk *chunk = &exchange->chunks[c];
		const uint64_t bins = chunk->end_bin - chunk->first_bin;

		entries = std::max(entries, (bins << digits_log2) + 1);
		tiles = std::max(tiles, (chunk->own + chunk->arriving) / LEAST_TILE_ROWS +
									exchange->shards * bins);
	}
	scratch->temporary_bytes = 0;
	HG_CUDA_TRY(cub::DeviceScan::InclusiveSum(nullptr, scratch->temporary_bytes, none,
											  scratch->cursors, (int) entries, work->stream),
				error);
	HG_TRY(hg_cuda_alloc_array(work, entries, &scratch->cursors, error));
	HG_TRY(hg_cuda_alloc_array(work, tiles, &scratch->tiles, error));
	HG_TRY(hg_cuda_alloc_array(work, 1, &scratch->tile_count, error));
	return hg_cuda_alloc(work, scratch->temporary_bytes, &scratch->temporary, error);
}

HgStatus
hg_cuda_exchange_expect(HgCudaWork *work, HgCudaExchange *exchange, const uint32_t *const starts[],
						const uint32_t *ends, uint32_t bins_log2, uint32_t chunks,
						HgCudaShown *shown, HgCudaPartition *partition, HgError *error)
{
	const uint32_t digits_log2 = bins_log2 - hg_cuda_exchange_range_log2(ends, exchange->self);
	uint32_t segments;
	uint64_t arriving;
	uint64_t rows;

	exchange->first_bin = first_bin_of(ends, exchange->self);
	exchange->end_bin = ends[exchange->self];
	exchange->chunk_count = chunks_of(ends, exchange->self, chunks);
	cut_range(exchange, starts, &segments, &arriving, &rows);
	HG_TRY(hg_cuda_alloc(work, arriving * exchange->key_width, &exchange->words, error));
	HG_TRY(hg_cuda_alloc_array(work, arriving, &exchange->rows, error));
	HG_CUDA_TRY(cudaEventRecord(exchange->ready, work->stream), error);
	shown->ordinal = work->device->ordinal;
	shown->words = exchange->words;
	shown->rows = exchange->rows;
	shown->ready = exchange->ready;
	shown->sent = exchange->sent;

	memset(partition, 0, sizeof(*partition));
	partition->bins_log2 = bins_log2;
	HG_TRY(make_room(work, exchange, digits_log2, rows, partition, error));
	HG_TRY(make_scratch(work, exchange, digits_log2, error));
	HG_TRY(hg_cuda_alloc_array(work, segments + exchange->chunk_count, &exchange->segments, error));
	HG_CUDA_TRY(cudaMemcpyAsync(exchange->segments, exchange->host_segments,
								(segments + exchange->chunk_count) * sizeof(uint32_t),
								cudaMemcpyHostToDevice, work->stream),
				error);
	exchange->befores = segments;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Merging
 * ------------------------------------------------------------------------ */

/* Appends the tiles of segments to the list; bins is the cycle of hg_pieces_kernel. */
static HgStatus
list_segments(HgCudaWork *work, const HgCudaExchangeScratch *scratch, const uint32_t *starts,
			  uint32_t segments, uint32_t bins, uint32_t tile_rows, uint32_t flags, HgError *error)
{
	const HgBinFilter all = {starts, 0, UINT32_MAX, nullptr, 0};

	if (segments == 0)
		return HG_OK;
	return hg_cuda_launch<hg_pieces_kernel>(work->stream, "hg_pieces_kernel",
											hg_blocks_for(segments, 32), HG_STREAM_THREADS, error,
											starts, all, nullptr, segments, tile_rows, bins, flags,
											scratch->tiles, scratch->tile_count);
}

/* Lists the tiles of a chunk: of the shard's own rows, and of arrived ones. */
static HgStatus
list_chunk(HgCudaWork *work, const HgCudaExchange *exchange, const HgCudaExchangeChunk *chunk,
		   uint32_t tile_rows, HgTiles *tiles, HgError *error)
{
	const HgCudaExchangeScratch *scratch = &exchange->scratch;
	const uint32_t bins = chunk->end_bin - chunk->first_bin;
	const uint32_t segments = (exchange->shards - 1) * bins;

	tiles->pieces = scratch->tiles;
	tiles->count = scratch->tile_count;
	tiles->most = (uint32_t) ((chunk->own + chunk->arriving) / tile_rows + bins + segments);
	HG_CUDA_TRY(cudaMemsetAsync(tiles->count, 0, sizeof(*tiles->count), work->stream), error);
	HG_TRY(list_segments(work, scratch, exchange->sorted_rows.starts + chunk->first_bin, bins, bins,
						 tile_rows, 0, error));
	return list_segments(work, scratch, exchange->segments + chunk->segments, segments, bins,
						 tile_rows, HG_PIECE_OTHER, error);
}

/*
 * Merges a chunk, as a pass with tiles of THREADS * ITEMS rows.  cursors become the rows before the
 * chunk, then the rows of each new bin; their sums are where the bins begin, and then the next
 * free position of each.
 */
template <typename Word, int THREADS, int ITEMS>
static HgStatus
merge_tiles(HgCudaWork *work, const HgCudaExchange *exchange, const HgCudaExchangeChunk *chunk,
			const HgPass<Word> *pass, HgError *error)
{
	const uint64_t entries = (uint64_t) (chunk->end_bin - chunk->first_bin) << pass->digits_log2;
	HgCudaExchangeScratch scratch = exchange->scratch;
	uint32_t *cursors = scratch.cursors;
	HgTiles tiles;

	static_assert(THREADS * ITEMS >= LEAST_TILE_ROWS, "there is room for all tiles of a block");
	HG_TRY(list_chunk(work, exchange, chunk, THREADS * ITEMS, &tiles, error));
	HG_CUDA_TRY(cudaMemsetAsync(cursors + 1, 0, entries * sizeof(*cursors), work->stream), error);
	HG_CUDA_TRY(cudaMemcpyAsync(cursors,
								exchange->segments + exchange->befores + (chunk - exchange->chunks),
								sizeof(*cursors), cudaMemcpyDeviceToDevice, work->stream),
				error);
	HG_TRY((hg_pass_count<Word, THREADS, ITEMS, HG_PASS_EXCHANGED>(work, pass, &tiles, cursors + 1,
																   error)));
	HG_CUDA_TRY(cub::DeviceScan::InclusiveSum(scratch.temporary, scratch.temporary_bytes, cursors,
											  pass->starts_out, (int) (entries + 1), work->stream),
				error);
	HG_CUDA_TRY(cudaMemcpyAsync(cursors, pass->starts_out, entries * sizeof(*cursors),
								cudaMemcpyDeviceToDevice, work->stream),
				error);
	return hg_pass_scatter<Word, THREADS, ITEMS, HG_PASS_EXCHANGED>(work, pass, &tiles, cursors,
																	error);
}

template <typename Word>
static HgStatus
merge(HgCudaWork *work, const HgCudaExchange *exchange, const HgCudaExchangeChunk *chunk,
	  uint32_t digits_log2, HgCudaPartition *partition, HgError *error)
{
	const uint64_t first = (uint64_t) (chunk->first_bin - exchange->first_bin) << digits_log2;
	const size_t limit = work->device->shared_limit;
	HgPass<Word> pass;

	memset(&pass, 0, sizeof(pass));
	pass.from.words[0] = static_cast<const Word *>(exchange->sorted_rows.words);
	pass.from.words[1] = static_cast<const Word *>(exchange->words);
	pass.from.rows[0] = exchange->sorted_rows.rows;
	pass.from.rows[1] = exchange->rows;
	pass.bins_log2 = exchange->bins_log2;
	pass.digits_log2 = digits_log2;
	pass.turn = hg_cuda_exchange_turn<Word>(exchange);
	pass.words_out = static_cast<Word *>(partition->words);
	pass.rows_out = partition->rows;
	pass.starts_out = partition->starts + first;
	if (digits_log2 > HG_PARTITION_FEW_LOG2 &&
		hg_pass_fits(limit, sizeof(Word), HG_PARTITION_WIDE_THREADS, HG_PARTITION_ITEMS,
					 digits_log2))
		return merge_tiles<Word, HG_PARTITION_WIDE_THREADS, HG_PARTITION_ITEMS>(
			work, exchange, chunk, &pass, error);
	if (hg_pass_fits(limit, sizeof(Word), HG_PARTITION_THREADS, HG_PARTITION_ITEMS, digits_log2))
		return merge_tiles<Word, HG_PARTITION_THREADS, HG_PARTITION_ITEMS>(work, exchange, chunk,
																		   &pass, error);
	return merge_tiles<Word, HG_PARTITION_THREADS, HG_PARTITION_ITEMS / 2>(work, exchange, chunk,
																		   &pass, error);
}

HgStatus
hg_cuda_exchange_merge(HgCudaWork *work, HgCudaExchange *exchange, const HgCudaShown *shown,
					   uint32_t number, HgCudaPartition *partition, uint32_t *first, uint32_t *end,
					   HgError *error)
{
	const HgCudaExchangeChunk *chunk = &exchange->chunks[number];
	const uint32_t ends[2] = {exchange->first_bin, exchange->end_bin};
	const uint32_t digits_log2 = partition->bins_log2 - hg_cuda_exchange_range_log2(ends, 1);

	for (uint32_t m = 0; m < exchange->shards; m++)
		if (m != exchange->self)
			HG_CUDA_TRY(cudaStreamWaitEvent(work->stream, shown[m].sent[exchange->self][number], 0),
						error);
	*first = (chunk->first_bin - exchange->first_bin) << digits_log2;
	*end = (chunk->end_bin - exchange->first_bin) << digits_log2;
	return exchange->key_width == 4
			   ? merge<uint32_t>(work, exchange, chunk, digits_log2, partition, error)
			   : merge<uint64_t>(work, exchange, chunk, digits_log2, partition, error);
}

void
hg_cuda_exchange_clear(HgCudaWork *work, HgCudaExchange *exchange)
{
	hg_cuda_partition_free(work, &exchange->sorted_rows);
	hg_cuda_free(work, exchange->device_starts);
	hg_cuda_free(work, exchange->words);
	hg_cuda_free(work, exchange->rows);
	hg_cuda_free(work, exchange->segments);
	hg_cuda_free(work, exchange->scratch.cursors);
	hg_cuda_free(work, exchange->scratch.tiles);
	hg_cuda_free(work, exchange->scratch.tile_count);
	hg_cuda_free(work, exchange->scratch.temporary);
	exchange->device_starts = exchange->rows = exchange->segments = nullptr;
	exchange->words = nullptr;
	memset(&exchange->scratch, 0, sizeof(exchange->scratch));
	exchange->chunk_count = 0;
}

void
hg_cuda_exchange_close(HgCudaExchange *exchange)
{
	for (const cudaEvent_t *events : exchange->sent)
		for (uint32_t c = 0; c < HG_EXCHANGE_CHUNKS; c++)
			if (events[c] != nullptr)
				cudaEventDestroy(events[c]);
	if (exchange->host_segments != nullptr)
		cudaFreeHost(exchange->host_segments);
	if (exchange->ready != nullptr)
		cudaEventDestroy(exchange->ready);
	if (exchange->sorted != nullptr)
		cudaEventDestroy(exchange->sorted);
	memset(exchange, 0, sizeof(*exchange));
}
