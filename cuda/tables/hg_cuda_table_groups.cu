/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_groups.cu
 *	  Cuckoo tables on a device: multimaps, as rows in groups.
 *
 * The multi-value table of "Building an Efficient Hash Table on the GPU" (hg_cuda_cuckoo.cu):
 * distinct keys have dense numbers, the rows of key n are rows[offsets[n]] .. rows[offsets[n + 1]
 * - 1], and a basic table maps the key to its number.
 *
 * The paper builds it by a radix sort of all pairs.  Here pairs are put into bins, and a block has
 * all rows of a bin.  It finds the distinct keys, counts the rows of each, and writes them in
 * groups, which stay within the memory of the bin.  The distinct keys of all bins are moved
 * together, and the basic table is built from them, bin by bin.  The time hardly depends on the
 * rows a key, unless one key has most of them: all rows of a key are processed by one block.
 *
 * A change builds a new table beside the old one, from the old rows that are not erased, and the
 * batch's.  Erased pairs are entered into a hash table, in which each old row is looked up.
 *
 * MEMORY: the slots of keys, an offset and the key for each, and the rows.  During a build also
 * the rows in bins, and for a change all keys and rows in one array.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <cstring>

#include "../../src/engine/hg_hash.h"
#include "../kernels/hg_cuda_pieces.h"
#include "../kernels/hg_cuda_shape.h"
#include "../kernels/hg_cuda_tuning.h"
#include "../kernels/hg_cuda_word.h"
#include "hg_cuda_cuckoo.h"
#include "hg_cuda_table.h"
#include "hg_cuda_tables_impl.h"

/*
 * The kernels of rows in groups: hg_cuda_table_groups.cu says when each runs.
 *
 * The rows of key number n are rows[offsets[n]] .. rows[offsets[n + 1] - 1].
 */

/* An empty slot of a table of pairs: no key has this number. */
constexpr unsigned long long HG_GROUPS_NO_PAIR = UINT64_MAX;

/* A group longer than this is copied by a block, not by a warp. */
constexpr uint32_t HG_GROUPS_LONG = 4096;

/* Returns a pair to be erased; its row is HG_NO_ROW if it is erased by key. */
__device__ __forceinline__ unsigned long long
hg_groups_pair(uint32_t number, uint32_t row)
{
	return (unsigned long long) number << 32 | row;
}

/*
 * Enters pairs to be erased, with key numbers[i], into a hash table with open addressing:
 * pairs[mask + 1], at least twice as many slots as pairs.  Keys with HG_NO_ROW are left out.
 */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_groups_erased_kernel(const uint32_t *numbers, const uint32_t *rows, uint32_t first_row,
							bool by_key, uint64_t first, uint64_t end, unsigned long long *pairs,
							uint64_t mask)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	unsigned long long pair;

	if (i >= end || numbers[i] == HG_NO_ROW)
		return;
	pair = hg_groups_pair(numbers[i], by_key			? HG_NO_ROW
									  : rows != nullptr ? rows[i]
														: first_row + (uint32_t) i);
	for (uint64_t position = hg_mix64(pair) & mask;; position = (position + 1) & mask)
	{
		const unsigned long long there = atomicCAS(&pairs[position], HG_GROUPS_NO_PAIR, pair);

		if (there == HG_GROUPS_NO_PAIR || there == pair)
			return;
	}
}

/*
 * Copies the keys and rows of positions first .. end - 1 that pairs does not have.  *cursor is the
 * next position of the copies.  If pairs and cursor are NULL, all are copied to their positions.
 */
template <typename Word>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_groups_expand_kernel(const Word *keys, const uint32_t *offsets, const uint32_t *rows,
							uint32_t key_count, uint64_t first, uint64_t end,
							const unsigned long long *pairs, uint64_t mask, bool by_key,
							uint32_t *cursor, Word *keys_out, uint32_t *rows_out)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	uint32_t number = 0;
	uint32_t row = 0;
	bool kept = i < end;

	if (kept)
	{
		number = hg_search_owner(offsets, 0, key_count - 1, (uint32_t) i);
		row = rows[i];
	}
	if (kept && pairs != nullptr)
	{
		const unsigned long long pair = hg_groups_pair(number, by_key ? HG_NO_ROW : row);

		for (uint64_t position = hg_mix64(pair) & mask;; position = (position + 1) & mask)
		{
			if (pairs[position] == pair)
				kept = false;
			if (pairs[position] == pair || pairs[position] == HG_GROUPS_NO_PAIR)
				break;
		}
	}

	const uint32_t all = __ballot_sync(UINT32_MAX, kept);
	const uint32_t lane = threadIdx.x % 32;
	uint64_t position = i;

	if (cursor != nullptr)
	{
		uint32_t begin = 0;

		if (lane == 0 && all != 0)
			begin = atomicAdd(cursor, (uint32_t) __popc(all));
		position = __shfl_sync(UINT32_MAX, begin, 0) + __popc(all & ((1u << lane) - 1));
	}
	if (!kept)
		return;
	keys_out[position] = keys[number];
	if (rows_out != nullptr)
		rows_out[position] = row;
}

/* Replaces numbers of keys, or HG_NO_ROW, by a row of each, or, with COUNTS, the row count. */
template <bool COUNTS>
__global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_groups_answer_kernel(const uint32_t *offsets, const uint32_t *rows, uint64_t first,
							uint64_t end, uint32_t *numbers)
{
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	uint32_t number;

	if (i >= end)
		return;
	number = numbers[i];
	if (COUNTS)
		numbers[i] = number == HG_NO_ROW ? 0 : offsets[number + 1] - offsets[number];
	else if (number != HG_NO_ROW)
		numbers[i] = rows[offsets[number]];
}

/*
 * Copies the rows of keys, given by number, to rows_out[positions[i] - positions[0]].
 * A warp has a key
 * a lane and copies the rows of all of them as one sequence, 32 at a time, so that the sizes of
 * groups do not matter.  A long group is copied by all warps of the block.
 */
static __global__ void
__launch_bounds__(HG_STREAM_THREADS)
	hg_groups_match_kernel(const uint32_t *offsets, const uint32_t *rows, const uint32_t *numbers,
						   const uint64_t *positions, uint64_t first, uint64_t end,
						   uint32_t *rows_out)
{
	__shared__ uint3 longs[HG_STREAM_THREADS]; /* from, to, count */
	__shared__ uint32_t long_count;
	const uint64_t i = first + (uint64_t) blockIdx.x * HG_STREAM_THREADS + threadIdx.x;
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t number = i < end ? numbers[i] : HG_NO_ROW;
	uint32_t from = 0;
	uint32_t to = 0;
	uint32_t count = 0;
	uint32_t sum; /* rows of the lanes up to this one */

	if (threadIdx.x == 0)
		long_count = 0;
	__syncthreads();
	if (number != HG_NO_ROW)
	{
		from = offsets[number];
		to = (uint32_t) (positions[i] - positions[0]);
		count = offsets[number + 1] - from;
	}
	if (count > HG_GROUPS_LONG)
	{
		longs[atomicAdd(&long_count, 1u)] = make_uint3(from, to, count);
		count = 0;
	}
	sum = count;
#pragma unroll
	for (uint32_t distance = 1; distance < 32; distance *= 2)
	{
		const uint32_t before = __shfl_up_sync(UINT32_MAX, sum, distance);

		if (lane >= distance)
			sum += before;
	}
	from -= sum - count;
	to -= sum - count;

	const uint32_t all = __shfl_sync(UINT32_MAX, sum, 31);

	for (uint32_t begin = 0; begin < all; begin += 32)
	{
		const uint32_t row = begin + lane;
		uint32_t owner = 0; /* lanes whose rows all come before */

#pragma unroll
		for (uint32_t step = 16; step > 0; step /= 2)
			if (__shfl_sync(UINT32_MAX, sum, (int) (owner + step - 1)) <= row)
				owner += step;

		const uint32_t source = __shfl_sync(UINT32_MAX, from, (int) owner) + row;
		const uint32_t target = __shfl_sync(UINT32_MAX, to, (int) owner) + row;

		if (row < all)
			rows_out[target] = rows[source];
	}
	__syncthreads();
	for (uint32_t k = 0; k < long_count; k++)
		for (uint32_t row = threadIdx.x; row < longs[k].z; row += HG_STREAM_THREADS)
			rows_out[longs[k].y + row] = rows[longs[k].x + row];
}

/* The arrays of a table, which a change builds anew. */
struct Groups
{
	HgCudaCuckoo numbers; /* maps keys to numbers, which are its rows */
	void *keys;			  /* [key_count] by number */
	uint32_t *offsets;	  /* [key_count + 1] */
	uint32_t *rows;		  /* [count] */
	uint64_t key_count;
	uint64_t count;
	uint64_t longest; /* most rows of one key */
};

struct GroupsTable
{
	HgCudaTable table;
	Groups groups; /* zeroed without rows */
};

/* The input of a build: the old rows, then the batch's. */
struct Feed
{
	void *keys;
	uint32_t *rows;
	uint64_t kept; /* old rows that were not erased */
};

static Groups *
groups_of(HgCudaTable *table)
{
	return &reinterpret_cast<GroupsTable *>(table)->groups;
}

static void
groups_free(HgCudaTable *table, Groups *groups)
{
	if (groups->count > 0)
		hg_cuda_cuckoo_close(table, &groups->numbers);
	hg_cuda_free(&table->work, groups->keys);
	hg_cuda_free(&table->work, groups->offsets);
	hg_cuda_free(&table->work, groups->rows);
	memset(groups, 0, sizeof(*groups));
}

static void
groups_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
{
	const uint64_t width = spec->key_width;
	const uint64_t held = hg_cuda_cuckoo_bytes(spec, rows) +
						  (rows + 1) * (width + 2 * sizeof(uint32_t)) + 8 * sizeof(uint64_t) * 256;
	const uint64_t build =
		hg_cuda_cuckoo_insert_bytes(spec, rows) + rows * (2 * width + 3 * sizeof(uint32_t));

	memory->held += held;
	memory->build += held + build;
	/* the old table, the feed, and a hash table of erased pairs, up to four times their number */
	memory->change +=
		2 * held + build + rows * (width + 2 * sizeof(uint32_t)) + 4 * rows * sizeof(uint64_t);
}

static HgStatus
groups_open(HgCudaTable *table, HgError *error)
{
	/* no memory is needed before the first row */
	static_cast<void>(table);
	static_cast<void>(error);
	return HG_OK;
}

static void
groups_close(HgCudaTable *table)
{
	groups_free(table, groups_of(table));
}

/* Builds groups of a batch.  After a failure its blocks remain in the work. */
static HgStatus
groups_build(HgCudaTable *table, const HgCudaTableBatch *batch, Groups *groups, HgError *error)
{
	HgCuckooDistinct distinct;

	memset(groups, 0, sizeof(*groups));
	if (batch->count == 0)
		return HG_OK;
	HG_TRY(hg_cuda_cuckoo_open(table, &groups->numbers, 0, error));
	HG_TRY(hg_cuda_cuckoo_distinct(table, &groups->numbers, batch, true, &distinct, error));
	HG_TRY(hg_cuda_cuckoo_insert_distinct(table, &groups->numbers, &distinct, error));
	hg_cuda_free(&table->work, distinct.starts);
	groups->keys = distinct.words;
	groups->offsets = distinct.offsets;
	groups->rows = distinct.rows;
	groups->key_count = distinct.count;
	groups->count = batch->count;
	groups->longest = distinct.longest;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Changes
 * ------------------------------------------------------------------------ */

template <typename Word>
static HgStatus
expand_words(HgCudaTable *table, const Groups *groups, const unsigned long long *pairs,
			 uint64_t mask, bool by_key, uint32_t *cursor, void *keys, uint32_t *rows,
			 HgError *error)
{
	return hg_cuda_launch_pieces<hg_groups_expand_kernel<Word>, HG_STREAM_THREADS>(
		&table->work, "hg_groups_expand_kernel", groups->count, HG_PIECE_ROWS, error,
		static_cast<const Word *>(groups->keys), groups->offsets, groups->rows,
		(uint32_t) groups->key_count, HG_PIECE_FIRST, HG_PIECE_END, pairs, mask, by_key, cursor,
		static_cast<Word *>(keys), rows);
}

/* Copies keys and rows to their positions, or those that pairs does not have to a cursor's. */
static HgStatus
expand(HgCudaTable *table, const Groups *groups, const unsigned long long *pairs, uint64_t mask,
	   bool by_key, uint32_t *cursor, void *keys, uint32_t *rows, HgError *error)
{
	return table->spec.key_width == 4 ? expand_words<uint32_t>(table, groups, pairs, mask, by_key,
															   cursor, keys, rows, error)
									  : expand_words<uint64_t>(table, groups, pairs, mask, by_key,
															   cursor, keys, rows, error);
}

/* Makes the hash table of the pairs that a batch erases, count > 0: *pairs[*mask + 1]. */
static HgStatus
list_erased(HgCudaTable *table, const Groups *groups, const HgCudaTableBatch *out,
			unsigned long long **pairs, uint64_t *mask, HgError *error)
{
	HgCudaWork *work = &table->work;
	const uint64_t slots = UINT64_C(1) << hg_ceil_log2(2 * out->count);
	uint32_t *numbers;

	*mask = slots - 1;
	HG_TRY(hg_cuda_alloc_array(work, slots, pairs, error));
	HG_TRY(hg_cuda_alloc_array(work, out->count, &numbers, error));
	HG_CUDA_TRY(cudaMemsetAsync(*pairs, 0xff, slots * sizeof(**pairs), work->stream), error);
	HG_TRY(hg_cuda_cuckoo_find(table, &groups->numbers, out->keys, out->count, false, nullptr,
							   numbers, error));
	HG_TRY((hg_cuda_launch_pieces<hg_groups_erased_kernel, HG_STREAM_THREADS>(
		work, "hg_groups_erased_kernel", out->count, HG_PIECE_ROWS, error, numbers, out->rows,
		out->first_row, out->by_key, HG_PIECE_FIRST, HG_PIECE_END, *pairs, *mask)));
	hg_cuda_free(work, numbers);
	return HG_OK;
}

/* Puts the old rows that are not erased, and then the batch's, into a feed. */
static HgStatus
make_feed(HgCudaTable *table, const Groups *groups, const HgCudaTableBatch *out,
		  const HgCudaTableBatch *in, Feed *feed, HgError *error)
{
	HgCudaWork *work = &table->work;
	const uint64_t more = in != nullptr ? in->count : 0;
	unsigned long long *pairs = nullptr;
	uint64_t mask = 0;
	const void *host;
	uint32_t *cursor;

	feed->kept = groups->count;
	HG_TRY(hg_cuda_alloc(work, (groups->count + more) * table->spec.key_width, &feed->keys, error));
	HG_TRY(hg_cuda_alloc_array(work, groups->count + more, &feed->rows, error));
	if (groups->count > 0 && out != nullptr && out->count > 0)
	{
		HG_TRY(list_erased(table, groups, out, &pairs, &mask, error));
		HG_TRY(hg_cuda_alloc_array(work, 1, &cursor, error));
		HG_CUDA_TRY(cudaMemsetAsync(cursor, 0, sizeof(*cursor), work->stream), error);
		HG_TRY(
			expand(table, groups, pairs, mask, out->by_key, cursor, feed->keys, feed->rows, error));
		HG_TRY(hg_cuda_read_back(work, cursor, sizeof(*cursor), &host, error));
		feed->kept = *static_cast<const uint32_t *>(host);
		hg_cuda_free(work, pairs);
		hg_cuda_free(work, cursor);
	}
	else
		HG_TRY(expand(table, groups, nullptr, 0, false, nullptr, feed->keys, feed->rows, error));
	if (more == 0)
		return HG_OK;
	return hg_cuda_batch_append(table, in, feed->kept, feed->keys, feed->rows, error);
}

/* Builds the groups that result from a change.  *kept becomes the old rows that stay. */
static HgStatus
groups_rebuild(HgCudaTable *table, const Groups *groups, const HgCudaTableBatch *out,
			   const HgCudaTableBatch *in, Groups *built, uint64_t *kept, HgError *error)
{
	HgCudaTableBatch all = {nullptr, nullptr, 0, 0, false};
	Feed feed;

	*kept = 0;
	if (groups->count == 0)
		return groups_build(table, in != nullptr ? in : &all, built, error);
	HG_TRY(make_feed(table, groups, out, in, &feed, error));
	*kept = feed.kept;
	all.keys = feed.keys;
	all.rows = feed.rows;
	all.count = feed.kept + (in != nullptr ? in->count : 0);
	HG_TRY(groups_build(table, &all, built, error));
	hg_cuda_free(&table->work, feed.keys);
	hg_cuda_free(&table->work, feed.rows);
	return HG_OK;
}

static HgStatus
groups_change(HgCudaTable *table, const HgCudaTableBatch *out, const HgCudaTableBatch *in,
			  HgTableChange *change, HgError *error)
{
	Groups *groups = groups_of(table);
	const HgTableStats totals = table->totals;
	Groups built;
	uint64_t kept;
	HgStatus status;

	if (in != nullptr)
		HG_TRY(hg_cuda_cuckoo_check(&table->spec, table->rows + in->count, error));
	status = groups_rebuild(table, groups, out, in, &built, &kept, error);
	if (status != HG_OK)
	{
		table->totals = totals;
		return status;
	}
	if (change != nullptr)
	{
		change->erased = groups->count - kept;
		change->inserted = built.count - kept;
	}
	if (groups->count > 0)
		table->totals.rebuilds++;
	groups_free(table, groups);
	*groups = built;
	table->rows = built.count;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------ */

/* Sets answers to one of the rows of each key, or to its row count. */
template <bool COUNTS>
static HgStatus
answer(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *answers, HgError *error)
{
	const Groups *groups = groups_of(table);

	if (groups->count == 0)
	{
		HG_CUDA_TRY(cudaMemsetAsync(answers, COUNTS ? 0 : 0xff, count * sizeof(*answers),
									table->work.stream),
					error);
		return HG_OK;
	}
	HG_TRY(
		hg_cuda_cuckoo_find(table, &groups->numbers, keys, count, false, nullptr, answers, error));
	return hg_cuda_launch_pieces<hg_groups_answer_kernel<COUNTS>, HG_STREAM_THREADS>(
		&table->work, "hg_groups_answer_kernel", count, HG_PIECE_ROWS, error, groups->offsets,
		groups->rows, HG_PIECE_FIRST, HG_PIECE_END, answers);
}

static HgStatus
groups_find(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	return answer<false>(table, keys, count, rows, error);
}

static HgStatus
groups_count(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *counts, HgError *error)
{
	return answer<true>(table, keys, count, counts, error);
}

static HgStatus
groups_match(HgCudaTable *table, const void *keys, uint64_t count, const uint64_t *offsets,
			 uint32_t *rows, HgError *error)
{
	const Groups *groups = groups_of(table);
	HgCudaWork *work = &table->work;
	uint32_t *numbers;

	if (groups->count == 0)
		return HG_OK;
	HG_TRY(hg_cuda_alloc_array(work, count, &numbers, error));
	HG_TRY(
		hg_cuda_cuckoo_find(table, &groups->numbers, keys, count, false, nullptr, numbers, error));
	HG_TRY((hg_cuda_launch_pieces<hg_groups_match_kernel, HG_STREAM_THREADS>(
		work, "hg_groups_match_kernel", count, HG_PIECE_ROWS, error, groups->offsets, groups->rows,
		numbers, offsets, HG_PIECE_FIRST, HG_PIECE_END, rows)));
	hg_cuda_free(work, numbers);
	return HG_OK;
}

static HgStatus
groups_export(HgCudaTable *table, void *keys, uint32_t *rows, HgError *error)
{
	return expand(table, groups_of(table), nullptr, 0, false, nullptr, keys, rows, error);
}

static HgStatus
groups_describe(HgCudaTable *table, HgTableStats *stats, HgError *error)
{
	const Groups *groups = groups_of(table);

	static_cast<void>(error);
	stats->slots = groups->count;
	stats->lists = groups->key_count;
	stats->longest_list = groups->longest;
	return HG_OK;
}

const HgCudaTableCalls hg_cuda_table_groups = {
	sizeof(GroupsTable), groups_memory, groups_open,   groups_change,	groups_find,
	groups_count,		 groups_match,	groups_export, groups_describe, groups_close,
};
