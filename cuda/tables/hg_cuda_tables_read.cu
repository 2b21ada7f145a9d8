/*-------------------------------------------------------------------------
 *
 * hg_cuda_tables_read.cu
 *	  Reads a device's tables from the host: find, count, match, describe, export.
 *
 * Keys are copied to the device piece by piece, and the answers of their kind come back.  The
 * answer to the two marker keys of a set is replaced.
 *
 * MATCHES.  The rows of the keys of a piece are counted, and the prefix sums of the counts say
 * where the rows of each key begin.  As many keys as fit the buffer are written at a time, at
 * least one: a buffer that is too small for the rows of one key is replaced by a larger one.  The
 * written pairs are copied out as the caller has room for them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <cstring>
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "../device/hg_cuda_launch.h"
#include "../kernels/hg_cuda_tuning.h"
#include "../kernels/hg_cuda_word.h"
#include "hg_cuda_table.h"
#include "hg_cuda_tables_impl.h"

/* Sets the answers to keys of a set whose words mark slots, whatever its kind has answered. */
template <typename Word>
__global__ void
hg_tables_marked_kernel(const Word *keys, uint32_t n, uint32_t of_empty, uint32_t of_deleted,
						uint32_t *answers)
{
	const uint32_t i = blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	if (i < n)
	{
		const Word word = hg_word_mix(keys[i]);

		if (word == HG_CUDA_EMPTY_WORD<Word>)
			answers[i] = of_empty;
		else if (word == HG_CUDA_DELETED_WORD<Word>)
			answers[i] = of_deleted;
	}
}

/* Adds counts[0 .. n - 1] to *sum. */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_tables_sum_kernel(const uint32_t *counts, uint32_t n, unsigned long long *sum)
{
	typedef cub::BlockReduce<unsigned long long, HG_STREAM_THREADS> Reduce;
	__shared__ typename Reduce::TempStorage storage;
	const uint32_t i = blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	const unsigned long long all = Reduce(storage).Sum(i < n ? counts[i] : 0);

	if (threadIdx.x == 0 && all > 0)
		atomicAdd(sum, all);
}

/* The next part of a stream's piece: its keys up to end - 1, which have this many pairs. */
struct HgTablesCut
{
	uint64_t pairs;
	uint64_t end; /* as wide as pairs: a hole would be read back undefined */
};

/*
 * Finds as many keys from first on, of n, as have at most capacity pairs together; or one that has
 * more.  One thread.
 */
static __global__ void
hg_tables_cut_kernel(const uint64_t *offsets, uint32_t first, uint32_t n, uint64_t capacity,
					 HgTablesCut *cut)
{
	uint32_t end = hg_search_owner(offsets, first, n, offsets[first] + capacity);

	if (end == first)
		end++;
	cut->pairs = offsets[end] - offsets[first];
	cut->end = end;
}

/* Sets probes[i] to the number of the key of pair i of keys first .. end - 1; first has number. */
static __global__ void
hg_tables_probes_kernel(const uint64_t *offsets, uint32_t first, uint32_t end, uint64_t pairs,
						uint32_t number, uint32_t *probes)
{
	const uint64_t i = (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;

	/* of keys that begin at the same pair, the last one has it: the others have no rows */
	if (i < pairs)
		probes[i] = number + hg_search_owner(offsets, first, end - 1, offsets[first] + i) - first;
}

/* Adds counts as 64 bits. */
struct HgTablesSum
{
	__host__ __device__ __forceinline__ uint64_t
	operator()(uint64_t a, uint64_t b) const
	{
		return a + b;
	}
};

/* A stream of matches.  The keys of the current piece are on the device. */
struct CallersStream
{
	CallersTable *owner;
	const unsigned char *keys;
	uint64_t count;
	uint64_t from; /* the first key of the piece */
	bool failed;

	uint32_t piece_keys;
	uint32_t piece_at; /* the next key of it whose rows will be written */
	void *device_keys;
	uint32_t *counts;  /* [piece_keys + 1] rows of each key, and 0 */
	uint64_t *offsets; /* [piece_keys + 1] pairs before each key */

	uint64_t capacity; /* of the arrays of pairs */
	uint32_t *probes;
	uint32_t *rows;
	uint64_t written; /* pairs in the arrays */
	uint64_t taken;	  /* of these, pairs that were copied out */
};

static CallersStream *
stream_of(HgTableStream *handle)
{
	return reinterpret_cast<CallersStream *>(handle);
}

static uint64_t
piece_of(uint64_t left)
{
	return left < HG_TABLES_KEYS ? left : HG_TABLES_KEYS;
}

/* Copies bytes from the device to the host, and waits, even if the work is cancelled. */
static HgStatus
copy_out(HgCudaWork *work, void *to, const void *from, uint64_t bytes, HgError *error)
{
	const uint64_t most = HG_APPEND_KEYS * sizeof(uint64_t);

	for (uint64_t at = 0; at < bytes; at += most)
	{
		HG_TRY(hg_cuda_wait(work, error));
		HG_CUDA_TRY(cudaMemcpyAsync(static_cast<unsigned char *>(to) + at,
									static_cast<const unsigned char *>(from) + at,
									bytes - at < most ? bytes - at : most, cudaMemcpyDeviceToHost,
									work->stream),
					error);
		HG_TRY(hg_cuda_finish(work, error));
	}
	return HG_OK;
}

/* Sets the answers to marker keys of a set: there if they are in it, else absent. */
static HgStatus
answer_marked(CallersTable *owner, const void *keys, uint64_t count, uint32_t there,
			  uint32_t absent, uint32_t *answers, HgError *error)
{
	HgCudaTable *table = owner->table;
	const uint32_t of_empty = owner->marked[0] ? there : absent;
	const uint32_t of_deleted = owner->marked[1] ? there : absent;
	const unsigned blocks = hg_blocks_for(count, HG_STREAM_THREADS);

	if (!is_set(table) || count == 0)
		return HG_OK;
	if (table->spec.key_width == 4)
		return hg_cuda_launch<hg_tables_marked_kernel<uint32_t>>(
			table->work.stream, "hg_tables_marked_kernel", blocks, HG_STREAM_THREADS, error,
			static_cast<const uint32_t *>(keys), (uint32_t) count, of_empty, of_deleted, answers);
	return hg_cuda_launch<hg_tables_marked_kernel<uint64_t>>(
		table->work.stream, "hg_tables_marked_kernel", blocks, HG_STREAM_THREADS, error,
		static_cast<const uint64_t *>(keys), (uint32_t) count, of_empty, of_deleted, answers);
}

static HgStatus
find_piece(CallersTable *owner, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	HG_TRY(owner->table->calls->find(owner->table, keys, count, rows, error));
	return answer_marked(owner, keys, count, 0, HG_NO_ROW, rows, error);
}

static HgStatus
count_piece(CallersTable *owner, const void *keys, uint64_t count, uint32_t *counts, HgError *error)
{
	HG_TRY(owner->table->calls->count(owner->table, keys, count, counts, error));
	return answer_marked(owner, keys, count, 1, 0, counts, error);
}

/* ------------------------------------------------------------------------
 * One row, and how many
 * ------------------------------------------------------------------------ */

static HgStatus
run_find(CallersTable *owner, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	HgCudaWork *work = &owner->table->work;
	const uint32_t width = owner->table->spec.key_width;
	uint32_t *device_rows;
	void *device_keys;

	HG_TRY(hg_cuda_look(work, error));
	HG_TRY(hg_cuda_alloc(work, piece_of(count) * width, &device_keys, error));
	HG_TRY(hg_cuda_alloc_array(work, piece_of(count), &device_rows, error));
	for (uint64_t at = 0; at < count; at += HG_TABLES_KEYS)
	{
		const uint64_t piece = piece_of(count - at);

		HG_TRY(hg_tables_copy_in(work, device_keys,
								 static_cast<const unsigned char *>(keys) + at * width,
								 piece * width, error));
		HG_TRY(find_piece(owner, device_keys, piece, device_rows, error));
		HG_TRY(copy_out(work, rows + at, device_rows, piece * sizeof(uint32_t), error));
	}
	hg_cuda_free(work, device_keys);
	hg_cuda_free(work, device_rows);
	return HG_OK;
}

static HgStatus
tables_find(HgTable *handle, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	CallersTable *owner = owner_of(handle);
	HeldBlocks before;

	HG_TRY(hg_tables_check_usable(owner, error));
	hg_tables_note(&owner->table->work, &before);
	return hg_tables_rollback(&owner->table->work, &before,
							  run_find(owner, keys, count, rows, error));
}

static HgStatus
run_count(CallersTable *owner, const void *keys, uint64_t count, uint32_t *counts, uint64_t *all,
		  HgError *error)
{
	HgCudaWork *work = &owner->table->work;
	const uint32_t width = owner->table->spec.key_width;
	unsigned long long *sum;
	uint32_t *device_counts;
	void *device_keys;
	const void *read;

	HG_TRY(hg_cuda_look(work, error));
	HG_TRY(hg_cuda_alloc_array(work, 1, &sum, error));
	HG_TRY(hg_cuda_alloc(work, piece_of(count) * width, &device_keys, error));
	HG_TRY(hg_cuda_alloc_array(work, piece_of(count), &device_counts, error));
	HG_CUDA_TRY(cudaMemsetAsync(sum, 0, sizeof(*sum), work->stream), error);
	for (uint64_t at = 0; at < count; at += HG_TABLES_KEYS)
	{
		const uint64_t piece = piece_of(count - at);

		HG_TRY(hg_tables_copy_in(work, device_keys,
								 static_cast<const unsigned char *>(keys) + at * width,
								 piece * width, error));
		HG_TRY(count_piece(owner, device_keys, piece, device_counts, error));
		HG_TRY((hg_cuda_launch<hg_tables_sum_kernel>(
			work->stream, "hg_tables_sum_kernel", hg_blocks_for(piece, HG_STREAM_THREADS),
			HG_STREAM_THREADS, error, device_counts, (uint32_t) piece, sum)));
		if (counts != nullptr)
			HG_TRY(copy_out(work, counts + at, device_counts, piece * sizeof(uint32_t), error));
	}
	HG_TRY(hg_cuda_read_back(work, sum, sizeof(*sum), &read, error));
	if (all != nullptr)
		memcpy(all, read, sizeof(*all));
	hg_cuda_free(work, sum);
	hg_cuda_free(work, device_keys);
	hg_cuda_free(work, device_counts);
	return HG_OK;
}

static HgStatus
tables_count(HgTable *handle, const void *keys, uint64_t count, uint32_t *counts, uint64_t *all,
			 HgError *error)
{
	CallersTable *owner = owner_of(handle);
	HeldBlocks before;

	HG_TRY(hg_tables_check_usable(owner, error));
	hg_tables_note(&owner->table->work, &before);
	return hg_tables_rollback(&owner->table->work, &before,
							  run_count(owner, keys, count, counts, all, error));
}

/* ------------------------------------------------------------------------
 * Matches
 * ------------------------------------------------------------------------ */

static HgStatus
tables_match(HgTable *handle, const void *keys, uint64_t count, HgTableStream **handle_out,
			 HgError *error)
{
	CallersTable *owner = owner_of(handle);
	CallersStream *stream;

	HG_TRY(hg_tables_check_usable(owner, error));
	if (count >= HG_MAX_ROWS)
		return hg_error_set(error, HG_TOO_MANY_ROWS, nullptr, "too many keys to be looked up");
	HG_TRY(hg_cuda_make_struct(owner->host, sizeof(*stream), &stream, error));
	stream->owner = owner;
	stream->keys = static_cast<const unsigned char *>(keys);
	stream->count = count;
	owner->streams++;
	*handle_out = reinterpret_cast<HgTableStream *>(stream);
	return HG_OK;
}

/* Frees the device memory of a stream. */
static void
stream_release(CallersStream *stream)
{
	HgCudaWork *work = &stream->owner->table->work;

	hg_cuda_free(work, stream->device_keys);
	hg_cuda_free(work, stream->counts);
	hg_cuda_free(work, stream->offsets);
	hg_cuda_free(work, stream->probes);
	hg_cuda_free(work, stream->rows);
	stream->device_keys = nullptr;
	stream->counts = nullptr;
	stream->offsets = nullptr;
	stream->probes = nullptr;
	stream->rows = nullptr;
	stream->capacity = 0;
}

/* Replaces the arrays of pairs by larger ones. */
static HgStatus
stream_reserve(CallersStream *stream, uint64_t pairs, HgError *error)
{
	HgCudaWork *work = &stream->owner->table->work;

	hg_cuda_free(work, stream->probes);
	hg_cuda_free(work, stream->rows);
	stream->probes = nullptr;
	stream->rows = nullptr;
	HG_TRY(hg_cuda_alloc_array(work, pairs, &stream->probes, error));
	HG_TRY(hg_cuda_alloc_array(work, pairs, &stream->rows, error));
	stream->capacity = pairs;
	return HG_OK;
}

/* Sets offsets[n + 1] to the sums of the counts before each; counts has room for one more. */
static HgStatus
sum_up(HgCudaWork *work, uint32_t *counts, uint32_t n, uint64_t *offsets, HgError *error)
{
	const int entries = (int) n + 1;
	size_t bytes = 0;
	void *temporary;

	HG_CUDA_TRY(cudaMemsetAsync(counts + n, 0, sizeof(*counts), work->stream), error);
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveScan(nullptr, bytes, counts, offsets, HgTablesSum(),
											   UINT64_C(0), entries, work->stream),
				error);
	HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveScan(temporary, bytes, counts, offsets, HgTablesSum(),
											   UINT64_C(0), entries, work->stream),
				error);
	hg_cuda_free(work, temporary);
	return HG_OK;
}

/* Copies the next piece of keys to the device, and computes the offsets of their pairs. */
static HgStatus
stream_advance(CallersStream *stream, HgError *error)
{
	HgCudaWork *work = &stream->owner->table->work;
	const uint32_t width = stream->owner->table->spec.key_width;
	uint64_t piece;

	stream->from += stream->piece_keys;
	stream->piece_at = 0;
	stream->piece_keys = 0;
	piece = piece_of(stream->count - stream->from);
	if (stream->device_keys == nullptr)
	{
		/* the first piece is the longest */
		HG_TRY(hg_cuda_alloc(work, piece * width, &stream->device_keys, error));
		HG_TRY(hg_cuda_alloc_array(work, piece + 1, &stream->counts, error));
		HG_TRY(hg_cuda_alloc_array(work, piece + 1, &stream->offsets, error));
		HG_TRY(stream_reserve(stream, piece < HG_TABLES_PAIRS ? piece : HG_TABLES_PAIRS, error));
	}
	HG_TRY(hg_tables_copy_in(work, stream->device_keys, stream->keys + stream->from * width,
							 piece * width, error));
	HG_TRY(count_piece(stream->owner, stream->device_keys, piece, stream->counts, error));
	HG_TRY(sum_up(work, stream->counts, (uint32_t) piece, stream->offsets, error));
	stream->piece_keys = (uint32_t) piece;
	return HG_OK;
}

/* Writes the pairs of keys piece_at .. end - 1. */
static HgStatus
stream_write(CallersStream *stream, uint32_t end, uint64_t pairs, HgError *error)
{
	HgCudaTable *table = stream->owner->table;
	HgCudaWork *work = &table->work;
	const uint32_t first = stream->piece_at;
	const unsigned char *keys = static_cast<const unsigned char *>(stream->device_keys);

	if (pairs == 0)
		return HG_OK;
	if (pairs > stream->capacity)
		HG_TRY(stream_reserve(stream, pairs, error));
	HG_TRY((hg_cuda_launch<hg_tables_probes_kernel>(
		work->stream, "hg_tables_probes_kernel", hg_blocks_for(pairs, HG_STREAM_THREADS),
		HG_STREAM_THREADS, error, stream->offsets, first, end, pairs,
		(uint32_t) stream->from + first, stream->probes)));
	if (is_set(table))
	{
		HG_CUDA_TRY(cudaMemsetAsync(stream->rows, 0, pairs * sizeof(uint32_t), work->stream),
					error);
		return HG_OK;
	}
	return table->calls->match(table, keys + (uint64_t) first * table->spec.key_width, end - first,
							   stream->offsets + first, stream->rows, error);
}

/* Writes the next pairs, if any are left. */
static HgStatus
stream_fill(CallersStream *stream, HgError *error)
{
	HgCudaWork *work = &stream->owner->table->work;
	HgTablesCut *device_cut;
	HgTablesCut cut;
	const void *read;

	stream->written = stream->taken = 0;
	while (stream->written == 0)
	{
		if (stream->piece_at == stream->piece_keys)
		{
			if (stream->from + stream->piece_keys == stream->count)
				return HG_OK;
			HG_TRY(stream_advance(stream, error));
		}
		HG_TRY(hg_cuda_alloc_array(work, 1, &device_cut, error));
		HG_TRY((hg_cuda_launch<hg_tables_cut_kernel>(
			work->stream, "hg_tables_cut_kernel", 1, 1, error, stream->offsets, stream->piece_at,
			stream->piece_keys, stream->capacity, device_cut)));
		HG_TRY(hg_cuda_read_back(work, device_cut, sizeof(cut), &read, error));
		memcpy(&cut, read, sizeof(cut));
		hg_cuda_free(work, device_cut);
		HG_TRY(stream_write(stream, (uint32_t) cut.end, cut.pairs, error));
		stream->written = cut.pairs;
		stream->piece_at = (uint32_t) cut.end;
	}
	return HG_OK;
}

static HgStatus
run_next(CallersStream *stream, HgTableMatches *matches, HgError *error)
{
	HgCudaWork *work = &stream->owner->table->work;

	HG_TRY(hg_cuda_look(work, error));
	while (matches->count < matches->capacity)
	{
		uint64_t n;

		if (stream->taken == stream->written)
			HG_TRY(stream_fill(stream, error));
		n = stream->written - stream->taken;
		if (n == 0)
			break;
		if (n > matches->capacity - matches->count)
			n = matches->capacity - matches->count;
		HG_TRY(copy_out(work, matches->probe + matches->count, stream->probes + stream->taken,
						n * sizeof(uint32_t), error));
		if (matches->row != nullptr)
			HG_TRY(copy_out(work, matches->row + matches->count, stream->rows + stream->taken,
							n * sizeof(uint32_t), error));
		matches->count += n;
		stream->taken += n;
	}
	return HG_OK;
}

static HgStatus
tables_next(HgTableStream *handle, HgTableMatches *matches, HgError *error)
{
	CallersStream *stream = stream_of(handle);
	HgCudaWork *work = &stream->owner->table->work;
	HeldBlocks before;
	HgStatus status;

	matches->count = 0;
	if (stream->failed)
		return hg_error_set(error, HG_INVALID, nullptr, "the stream of matches has failed before");
	if (matches->capacity == 0)
		return hg_error_set(error, HG_INVALID, nullptr, "there is no room for a match");
	HG_TRY(hg_tables_check_usable(stream->owner, error));
	hg_tables_note(work, &before);
	status = run_next(stream, matches, error);
	if (status != HG_OK)
	{
		stream->failed = true;
		stream_release(stream);
	}
	return hg_tables_rollback(work, &before, status);
}

static void
tables_end(HgTableStream *handle)
{
	CallersStream *stream = stream_of(handle);
	CallersTable *owner = stream->owner;

	cudaSetDevice(owner->table->work.device->ordinal);
	stream_release(stream);
	owner->streams--;
	owner->host->free(owner->host->arg, stream, sizeof(*stream));
}

/* ------------------------------------------------------------------------
 * The whole table
 * ------------------------------------------------------------------------ */

static HgStatus
run_describe(CallersTable *owner, HgTableStats *stats, HgError *error)
{
	const uint64_t marked = all_rows(owner) - owner->table->rows;

	HG_TRY(hg_cuda_look(&owner->table->work, error));
	return hg_cuda_table_describe(owner->table, marked, stats, error);
}

static HgStatus
tables_describe(HgTable *handle, HgTableStats *stats, HgError *error)
{
	CallersTable *owner = owner_of(handle);
	HeldBlocks before;

	HG_TRY(hg_tables_check_usable(owner, error));
	hg_tables_note(&owner->table->work, &before);
	return hg_tables_rollback(&owner->table->work, &before, run_describe(owner, stats, error));
}

static HgStatus
run_export(CallersTable *owner, void *keys, uint32_t *rows, HgError *error)
{
	HgCudaTable *table = owner->table;
	HgCudaWork *work = &table->work;
	const uint32_t width = table->spec.key_width;
	const bool with_rows = rows != nullptr && !is_set(table);
	uint64_t count = table->rows;
	uint32_t *device_rows = nullptr;
	void *device_keys;

	HG_TRY(hg_cuda_look(work, error));
	if (count > 0)
	{
		HG_TRY(hg_cuda_alloc(work, count * width, &device_keys, error));
		if (with_rows)
			HG_TRY(hg_cuda_alloc_array(work, count, &device_rows, error));
		HG_TRY(table->calls->export_entries(table, device_keys, device_rows, error));
		HG_TRY(copy_out(work, keys, device_keys, count * width, error));
		if (with_rows)
			HG_TRY(copy_out(work, rows, device_rows, count * sizeof(uint32_t), error));
		hg_cuda_free(work, device_keys);
		hg_cuda_free(work, device_rows);
	}
	for (int which = 0; which < 2; which++)
		if (owner->marked[which])
		{
			const uint64_t key = hg_tables_marker_key(&table->spec, which);

			if (width == 4)
				static_cast<uint32_t *>(keys)[count++] = (uint32_t) key;
			else
				static_cast<uint64_t *>(keys)[count++] = key;
		}
	if (rows != nullptr && is_set(table))
		memset(rows, 0, count * sizeof(*rows));
	return HG_OK;
}

static HgStatus
tables_export_entries(HgTable *handle, void *keys, uint32_t *rows, HgError *error)
{
	CallersTable *owner = owner_of(handle);
	HeldBlocks before;

	HG_TRY(hg_tables_check_usable(owner, error));
	hg_tables_note(&owner->table->work, &before);
	return hg_tables_rollback(&owner->table->work, &before, run_export(owner, keys, rows, error));
}

void
hg_tables_set_reading(HgTables *tables)
{
	tables->find = tables_find;
	tables->count = tables_count;
	tables->match = tables_match;
	tables->next = tables_next;
	tables->end = tables_end;
	tables->describe = tables_describe;
	tables->export_entries = tables_export_entries;
}
