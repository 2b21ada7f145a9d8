/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_dynamic.cu
 *	  The HashGraph on a device that changes in place: lists with empty slots.
 *
 * From the thesis on the Template Numerical Library; ../../src/tables/hg_table_dynamic.c
 * describes the lists, walks over them, and the invariants.  Here each thread has a row.
 *
 * SLOTS.  A pair of 32-bit key and row is one slot of 64 bits, whatever layout the spec has, since
 * one compare-and-swap can then take it.  Keys of 64 bits have their rows apart.
 *
 * INSERT.  Equal keys of one batch, in a set or map, walk over the same slots.  Each first
 * searches for its key up to an empty slot, and remembers the first free slot, deleted or empty.
 * It takes that by compare-and-swap; if another thread was faster, it compares the key and walks
 * on to the next free slot.  Slots are only filled meanwhile.  So of two equal keys the one with
 * the later slot has seen other keys in all slots before it: it would have met the other one.
 *
 * With keys of 64 bits a slot is taken by its row, and the word follows: no thread can compare
 * meanwhile.  So a map first finds the keys that it does not have, one of equal ones (a table of
 * claims), and then inserts them without comparing, as it does for all rows of a multimap.
 *
 * ERASE marks the slot by compare-and-swap, so that one of several threads succeeds.
 *
 * WAITING.  A change that inserts waits for the device, for the number of rows that found no slot.
 * One that erases waits only if its caller wants the count: the known rows are then an upper
 * bound, and the rows that may be gone are counted.
 *
 * REBUILD, when rows find no slot, the batch is large, or lists are far too many: the keys of the
 * table and of the batch become a static HashGraph (../kernels/hg_cuda_graph.cu), whose edges are
 * then spread to their slots, with empty ones between lists.  In sets and maps equal keys are
 * neighbours there.  The first one stands for all, with the row of the table's if that has one.
 *
 * MEMORY: the lists; during a rebuild the keys and rows of both, and the graph.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>
#include <cstring>
#include <cub/device/device_scan.cuh>

#include "../kernels/hg_cuda_graph.h"
#include "../kernels/hg_cuda_partition.h"
#include "../kernels/hg_cuda_shape.h"
#include "hg_cuda_table_dynamic_kernels.h"

/* A dynamic HashGraph. */
struct HgCudaDynamic
{
	HgCudaTable base;
	HgDynamicLists lists;
	uint64_t slots;
	uint64_t deleted;	   /* deleted slots, as of the last read of state, as base.rows are */
	uint64_t erased;	   /* upper bound on rows erased since */
	bool used;			   /* something was inserted */
	HgDynamicState *state; /* in device memory */
	HgDynamicState known;  /* copy from the last read */
};

/* Calls a function template with the type of a table's slots. */
#define HG_DYNAMIC_BY_SLOTS(table, function, ...)                                                  \
	HG_BY_SLOTS(HgCudaSlots, (table)->spec, function, __VA_ARGS__)

/* Returns log2 of the vertices for this many rows, or for the expected rows if these are more. */
static inline uint32_t
hg_dynamic_vertices_log2(const HgTableSpec *spec, uint64_t rows)
{
	return hg_shape_vertices_log2(rows > spec->expected_rows ? rows : spec->expected_rows,
								  spec->load_factor);
}

/* Returns the empty slots of each list of a table that is opened. */
static inline uint32_t
hg_dynamic_empty_at_first(const HgTableSpec *spec)
{
	return spec->empty_slots + (spec->expected_rows > 0 ? (uint32_t) spec->load_factor + 1 : 0);
}

/* Returns the slots of all lists, with this many rows and empty slots for each list. */
static inline uint64_t
hg_dynamic_lists_slots(const HgTableSpec *spec, uint64_t rows, uint32_t empty)
{
	return rows + ((uint64_t) empty << hg_dynamic_vertices_log2(spec, rows));
}

/* Returns the shape of a graph of this many rows. */
HgShape hg_dynamic_choose_shape(const HgTableSpec *spec, uint64_t rows);

/*
 * read waits, adds the device's state to what is known, and zeroes it on the device; know does so
 * only if rows may have been erased.
 */
HgStatus hg_dynamic_read_state(HgCudaDynamic *dynamic, HgError *error);
HgStatus hg_dynamic_know_rows(HgCudaDynamic *dynamic, HgError *error);

/* open makes the lists of an empty table, which has none; free frees the lists. */
HgStatus hg_dynamic_open_lists(HgCudaDynamic *dynamic, HgError *error);
void hg_dynamic_free_lists(HgCudaDynamic *dynamic);

/* Copies all keys and rows of the table; rows may be NULL. */
HgStatus hg_dynamic_export(HgCudaDynamic *dynamic, void *keys, uint32_t *rows, HgError *error);

/* Builds new lists of the rows of the table and of a batch. */
HgStatus hg_dynamic_rebuild(HgCudaDynamic *dynamic, const HgCudaTableBatch *in, HgError *error);

/* ---------------------------------------------------------------------
 * Builds the lists of a dynamic HashGraph in device memory
 * ---------------------------------------------------------------------
 */

HgShape
hg_dynamic_choose_shape(const HgTableSpec *spec, uint64_t rows)
{
	const uint32_t log2 = hg_dynamic_vertices_log2(spec, rows);
	HgShape shape;

	memset(&shape, 0, sizeof(shape));
	shape.vertices_log2 = log2;
	shape.build = HG_BUILD_V1;
	shape.probe = HG_PROBE_STANDARD;
	if (rows * (spec->key_width + 2 * sizeof(uint32_t)) < HG_BINNED_FROM_BYTES && log2 <= 30)
		return shape;
	shape.build = HG_BUILD_V2;
	while (shape.bins_log2 < HG_MAX_BINS_LOG2 && shape.bins_log2 < log2 &&
		   ((rows >> shape.bins_log2) > HG_BIN_MEAN_ROWS ||
			UINT64_C(1) << (log2 - shape.bins_log2) > HG_BIN_VERTICES))
		shape.bins_log2++;
	return shape;
}

HgStatus
hg_dynamic_read_state(HgCudaDynamic *dynamic, HgError *error)
{
	const void *host;

	HG_TRY(hg_cuda_read_back(&dynamic->base.work, dynamic->state, sizeof(HgDynamicState), &host,
							 error));
	memcpy(&dynamic->known, host, sizeof(HgDynamicState));
	dynamic->base.rows += dynamic->known.inserted;
	dynamic->base.rows -= dynamic->known.erased;
	dynamic->deleted += dynamic->known.erased;
	dynamic->deleted -= dynamic->known.reused;
	dynamic->erased = 0;
	HG_CUDA_TRY(
		cudaMemsetAsync(dynamic->state, 0, sizeof(HgDynamicState), dynamic->base.work.stream),
		error);
	return HG_OK;
}

HgStatus
hg_dynamic_know_rows(HgCudaDynamic *dynamic, HgError *error)
{
	return dynamic->erased > 0 ? hg_dynamic_read_state(dynamic, error) : HG_OK;
}

void
hg_dynamic_free_lists(HgCudaDynamic *dynamic)
{
	HgCudaWork *work = &dynamic->base.work;

	hg_cuda_free(work, dynamic->lists.offsets);
	hg_cuda_free(work, dynamic->lists.slots);
	hg_cuda_free(work, dynamic->lists.rows);
	dynamic->lists.offsets = nullptr;
	dynamic->lists.slots = nullptr;
	dynamic->lists.rows = nullptr;
}

/* The input of a build: the table's rows, then a batch's. */
template <typename Word> struct Feed
{
	Word *keys; /* [count], a block of the work */
	uint32_t *old;
	uint64_t old_rows;
	const uint32_t *rows; /* of the batch */
	uint32_t first_row;
	uint64_t count;
};

/* Counts the edges that are left out, and numbers the others: *positions is NULL if all stay. */
template <typename Slots>
static HgStatus
leave_out(HgCudaDynamic *dynamic, const HgCudaGraph *graph, uint64_t old_rows, uint32_t **positions,
		  HgError *error)
{
	typedef typename Slots::Word Word;
	HgCudaWork *work = &dynamic->base.work;
	const Word *words = static_cast<const Word *>(graph->edge_words);
	uint32_t *kept;
	void *temporary;
	size_t bytes = 0;

	*positions = nullptr;
	HG_TRY((hg_cuda_launch_pieces<hg_dynamic_doubles_kernel<Slots>, HG_DYNAMIC_THREADS>(
		work, "hg_dynamic_doubles_kernel", graph->rows, HG_PIECE_ROWS, error, graph->offsets,
		graph->vertices_log2, words, graph->edge_rows, HG_PIECE_FIRST, HG_PIECE_END,
		(uint32_t) old_rows, dynamic->state)));
	HG_TRY(hg_dynamic_read_state(dynamic, error));
	if (dynamic->known.doubles == 0)
		return HG_OK;

	HG_TRY(hg_cuda_alloc_array(work, graph->rows + 1, &kept, error));
	HG_TRY(hg_cuda_alloc_array(work, graph->rows + 1, positions, error));
	HG_TRY((hg_cuda_launch_pieces<hg_dynamic_kept_kernel<Slots>, HG_DYNAMIC_THREADS>(
		work, "hg_dynamic_kept_kernel", graph->rows + 1, HG_PIECE_ROWS, error, words,
		HG_PIECE_FIRST, graph->rows, kept)));
	HG_TRY(hg_cuda_pace(work, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(nullptr, bytes, kept, *positions, graph->rows + 1,
											  work->stream),
				error);
	HG_TRY(hg_cuda_alloc(work, bytes, &temporary, error));
	HG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(temporary, bytes, kept, *positions, graph->rows + 1,
											  work->stream),
				error);
	hg_cuda_free(work, temporary);
	hg_cuda_free(work, kept);
	return HG_OK;
}

/* Makes the lists of a table, which has none, from a feed, and frees the feed's keys. */
template <typename Slots>
static HgStatus
build_lists(HgCudaDynamic *dynamic, Feed<typename Slots::Word> *feed, uint32_t empty_slots,
			HgError *error)
{
	typedef typename Slots::Word Word;
	HgCudaTable *table = &dynamic->base;
	HgCudaWork *work = &table->work;
	const HgShape shape = hg_dynamic_choose_shape(&table->spec, feed->count);
	const uint64_t vertices = UINT64_C(1) << shape.vertices_log2;
	/* the edges of a first batch carry the rows, not their indexes */
	const uint32_t *numbers = feed->old_rows == 0 ? feed->rows : nullptr;
	HgDynamicRows rows = {feed->old, (uint32_t) feed->old_rows,
						  numbers == nullptr ? feed->rows : nullptr,
						  numbers == nullptr ? feed->first_row : 0};
	HgDynamicLists *lists = &dynamic->lists;
	uint32_t *positions = nullptr;
	HgCudaGraph graph;

	HG_TRY(hg_cuda_graph_build(work, &shape, sizeof(Word), feed->keys, numbers, feed->count, false,
							   lists->unique, &graph, error));
	dynamic->known.doubles = 0;
	if (lists->unique && feed->count > 0)
		HG_TRY(leave_out<Slots>(dynamic, &graph, feed->old_rows, &positions, error));
	table->rows = feed->count - dynamic->known.doubles;
	dynamic->slots = table->rows + vertices * empty_slots;
	dynamic->deleted = 0;

	lists->offsets = graph.offsets;
	lists->vertices_log2 = shape.vertices_log2;
	HG_TRY(hg_cuda_alloc(work, (dynamic->slots + 1) * sizeof(typename Slots::Slot), &lists->slots,
						 error));
	HG_CUDA_TRY(cudaMemsetAsync(lists->slots, 0xff,
								(dynamic->slots + 1) * sizeof(typename Slots::Slot), work->stream),
				error);
	if (Slots::APART)
	{
		HG_TRY(hg_cuda_alloc_array(work, dynamic->slots + 1, &lists->rows, error));
		HG_CUDA_TRY(cudaMemsetAsync(lists->rows, 0xff, (dynamic->slots + 1) * sizeof(uint32_t),
									work->stream),
					error);
	}
	HG_TRY(hg_cuda_pace(work, error));
	HG_TRY((hg_cuda_launch_pieces<hg_dynamic_spread_kernel<Slots>, HG_DYNAMIC_THREADS>(
		work, "hg_dynamic_spread_kernel", feed->count, HG_PIECE_ROWS, error, *lists, empty_slots,
		static_cast<const Word *>(graph.edge_words), graph.edge_rows, rows, positions,
		HG_PIECE_FIRST, HG_PIECE_END)));
	HG_TRY(hg_cuda_pace(work, error));
	HG_TRY((hg_cuda_launch_pieces<hg_dynamic_offsets_kernel, HG_DYNAMIC_THREADS>(
		work, "hg_dynamic_offsets_kernel", vertices + 1, HG_PIECE_ROWS, error, lists->offsets,
		positions, HG_PIECE_FIRST, vertices + 1, empty_slots)));
	HG_TRY(hg_cuda_pace(work, error));
	hg_cuda_free(work, positions);
	hg_cuda_free(work, graph.edge_words);
	hg_cuda_free(work, graph.edge_rows);
	return HG_OK;
}

/* Copies all keys and rows of the table. */
template <typename Slots>
static HgStatus
export_slots(HgCudaDynamic *dynamic, void *keys, uint32_t *rows, HgError *error)
{
	HgCudaWork *work = &dynamic->base.work;

	HG_CUDA_TRY(cudaMemsetAsync(&dynamic->state->exported, 0, sizeof(dynamic->state->exported),
								work->stream),
				error);
	HG_TRY((hg_cuda_launch_pieces<hg_dynamic_export_kernel<Slots>, HG_DYNAMIC_THREADS>(
		work, "hg_dynamic_export_kernel", dynamic->slots, HG_PIECE_ROWS, error, dynamic->lists,
		HG_PIECE_FIRST, HG_PIECE_END, static_cast<typename Slots::Word *>(keys), rows,
		dynamic->state)));
	return hg_cuda_pace(work, error);
}

/* Builds new lists of the rows of the table and of a batch. */
template <typename Slots>
static HgStatus
rebuild(HgCudaDynamic *dynamic, const HgCudaTableBatch *in, HgError *error)
{
	typedef typename Slots::Word Word;
	HgCudaTable *table = &dynamic->base;
	HgCudaWork *work = &table->work;
	Feed<Word> feed;

	HG_TRY(hg_dynamic_know_rows(dynamic, error));
	feed = {nullptr, nullptr, table->rows, in->rows, in->first_row, table->rows + in->count};
	if (feed.count > 0)
		HG_TRY(hg_cuda_alloc_array(work, feed.count, &feed.keys, error));
	if (feed.old_rows > 0)
	{
		if (Slots::HAS_ROWS)
			HG_TRY(hg_cuda_alloc_array(work, feed.old_rows, &feed.old, error));
		HG_TRY(export_slots<Slots>(dynamic, feed.keys, feed.old, error));
	}
	if (in->count > 0)
		HG_CUDA_TRY(cudaMemcpyAsync(feed.keys + feed.old_rows, in->keys, in->count * sizeof(Word),
									cudaMemcpyDeviceToDevice, work->stream),
					error);
	if (dynamic->used)
		table->totals.rebuilds++;
	hg_dynamic_free_lists(dynamic);
	HG_TRY(build_lists<Slots>(dynamic, &feed, table->spec.empty_slots, error));
	hg_cuda_free(work, feed.old);
	return HG_OK;
}

template <typename Slots>
static HgStatus
open_lists(HgCudaDynamic *dynamic, HgError *error)
{
	Feed<typename Slots::Word> nothing = {};

	return build_lists<Slots>(dynamic, &nothing, hg_dynamic_empty_at_first(&dynamic->base.spec),
							  error);
}

HgStatus
hg_dynamic_open_lists(HgCudaDynamic *dynamic, HgError *error)
{
	return HG_DYNAMIC_BY_SLOTS(&dynamic->base, open_lists, dynamic, error);
}

HgStatus
hg_dynamic_export(HgCudaDynamic *dynamic, void *keys, uint32_t *rows, HgError *error)
{
	return HG_DYNAMIC_BY_SLOTS(&dynamic->base, export_slots, dynamic, keys, rows, error);
}

HgStatus
hg_dynamic_rebuild(HgCudaDynamic *dynamic, const HgCudaTableBatch *in, HgError *error)
{
	return HG_DYNAMIC_BY_SLOTS(&dynamic->base, rebuild, dynamic, in, error);
}

/* Work between two checks for cancellation. */
static constexpr uint64_t HG_DYNAMIC_PIECE_PAIRS = UINT64_C(1) << 22;
static constexpr uint64_t HG_DYNAMIC_PIECE_KEYS = UINT64_C(1) << 22;

/* Least claims. */
static constexpr uint64_t LEAST_CLAIMS = 64;

/* Upper bound on rounding, and on CUB's memory that does not grow with the rows. */
static constexpr uint64_t ROUNDING = UINT64_C(1) << 20;

static uint64_t
slot_bytes(const HgTableSpec *spec)
{
	return spec->key_width + (spec->content == HG_TABLE_SET ? 0 : sizeof(uint32_t));
}

static void
dynamic_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
{
	const uint64_t offsets = (UINT64_C(4) << hg_dynamic_vertices_log2(spec, rows));
	const uint32_t at_first = hg_dynamic_empty_at_first(spec);
	const uint64_t first = hg_dynamic_lists_slots(spec, 0, at_first) * slot_bytes(spec) +
						   (UINT64_C(4) << hg_dynamic_vertices_log2(spec, 0));
	const uint64_t lists =
		hg_dynamic_lists_slots(spec, rows, spec->empty_slots) * slot_bytes(spec) + offsets;
	const uint64_t held = (first > lists ? first : lists) + ROUNDING;

	/* keys and rows, the input and memory of a graph's build, positions of edges, claims */
	const uint64_t scratch =
		rows * (4 * spec->key_width + 12 * sizeof(uint32_t)) + 3 * offsets +
		hg_cuda_partition_bytes(spec->key_width, rows,
								hg_dynamic_choose_shape(spec, rows).bins_log2) +
		2 * ROUNDING;

	memory->held += held;
	memory->build += held + lists + scratch;
	memory->change += held + lists + scratch;
}

/* Returns HG_TOO_MANY_ROWS if the lists of this many rows would have too many slots. */
static HgStatus
check_slots(const HgTableSpec *spec, uint64_t rows, uint32_t empty, HgError *error)
{
	if (hg_dynamic_lists_slots(spec, rows, empty) > UINT32_MAX)
		return hg_error_set(error, HG_TOO_MANY_ROWS, nullptr, "too many slots in a table");
	return HG_OK;
}

static HgStatus
dynamic_open(HgCudaTable *table, HgError *error)
{
	HgCudaDynamic *dynamic = reinterpret_cast<HgCudaDynamic *>(table);

	HG_TRY(check_slots(&table->spec, 0, hg_dynamic_empty_at_first(&table->spec), error));
	dynamic->lists.unique = table->spec.content != HG_TABLE_MULTIMAP;
	HG_TRY(hg_cuda_alloc_array(&table->work, 1, &dynamic->state, error));
	HG_CUDA_TRY(cudaMemsetAsync(dynamic->state, 0, sizeof(HgDynamicState), table->work.stream),
				error);
	return hg_dynamic_open_lists(dynamic, error);
}

static void
dynamic_close(HgCudaTable *table)
{
	HgCudaDynamic *dynamic = reinterpret_cast<HgCudaDynamic *>(table);

	hg_dynamic_free_lists(dynamic);
	hg_cuda_free(&table->work, dynamic->state);
	dynamic->state = nullptr;
}

/* ------------------------------------------------------------------------
 * Changes
 * ------------------------------------------------------------------------ */

template <typename Slots>
static HgStatus
erase(HgCudaDynamic *dynamic, const HgCudaTableBatch *out, HgError *error)
{
	HgCudaTable *table = &dynamic->base;
	const bool by_key = out->by_key || !Slots::HAS_ROWS;

	HG_TRY(hg_slot_batch_in_pieces(table, out, HG_DYNAMIC_PIECE_PAIRS, error,
								   [&](const HgSlotBatch &piece)
								   {
									   return hg_cuda_launch<hg_dynamic_erase_kernel<Slots>>(
										   table->work.stream, "hg_dynamic_erase_kernel",
										   hg_blocks_for(piece.count, HG_DYNAMIC_THREADS),
										   HG_DYNAMIC_THREADS, error, dynamic->lists, piece, by_key,
										   dynamic->state);
								   }));
	dynamic->erased += by_key && !dynamic->lists.unique ? table->rows : out->count;
	return HG_OK;
}

/* Finds the keys of a piece that the table does not have, one of equal ones. */
template <typename Slots>
static HgStatus
claim(HgCudaDynamic *dynamic, const HgSlotBatch *piece, uint8_t *wanted, HgError *error)
{
	HgCudaWork *work = &dynamic->base.work;
	const uint64_t claim_count =
		UINT64_C(1) << hg_ceil_log2(std::max(LEAST_CLAIMS, (uint64_t) piece->count * 2));
	uint32_t *claims;

	HG_TRY(hg_cuda_alloc_array(work, claim_count, &claims, error));
	HG_CUDA_TRY(cudaMemsetAsync(claims, 0xff, claim_count * sizeof(uint32_t), work->stream), error);
	HG_TRY((hg_cuda_launch<hg_dynamic_claim_kernel<Slots>>(
		work->stream, "hg_dynamic_claim_kernel", hg_blocks_for(piece->count, HG_DYNAMIC_THREADS),
		HG_DYNAMIC_THREADS, error, dynamic->lists, *piece, claims, (uint32_t) (claim_count - 1),
		wanted)));
	hg_cuda_free(work, claims);
	return HG_OK;
}

/* Inserts a piece; the rows that found no slot are copied to left_keys and left_rows. */
template <typename Slots>
static HgStatus
insert_piece(HgCudaDynamic *dynamic, const HgSlotBatch *piece, typename Slots::Word *left_keys,
			 uint32_t *left_rows, HgError *error)
{
	HgCudaTable *table = &dynamic->base;
	HgCudaWork *work = &table->work;
	const unsigned blocks = hg_blocks_for(piece->count, HG_DYNAMIC_THREADS);
	const bool unique = dynamic->lists.unique;
	uint8_t *wanted = nullptr;

	if (unique && Slots::APART)
	{
		HG_TRY(hg_cuda_alloc_array(work, piece->count, &wanted, error));
		HG_TRY(claim<Slots>(dynamic, piece, wanted, error));
	}
	if (unique && !Slots::APART)
		HG_TRY((hg_cuda_launch<hg_dynamic_insert_kernel<Slots, true>>(
			work->stream, "hg_dynamic_insert_kernel", blocks, HG_DYNAMIC_THREADS, error,
			dynamic->lists, *piece, wanted, left_keys, left_rows, dynamic->state)));
	else
		HG_TRY((hg_cuda_launch<hg_dynamic_insert_kernel<Slots, false>>(
			work->stream, "hg_dynamic_insert_kernel", blocks, HG_DYNAMIC_THREADS, error,
			dynamic->lists, *piece, wanted, left_keys, left_rows, dynamic->state)));
	hg_cuda_free(work, wanted);
	return hg_dynamic_read_state(dynamic, error);
}

/* Returns true if a rebuild pays before a batch of count rows, if the table has rows rows. */
static bool
is_worth_rebuild(const HgCudaDynamic *dynamic, uint64_t rows, uint64_t count)
{
	/* the errors of both known numbers cancel each other */
	const uint64_t empty = dynamic->slots - dynamic->base.rows - dynamic->deleted;

	/* rows were erased: there are four times the lists that the rows need */
	if (hg_dynamic_vertices_log2(&dynamic->base.spec, rows + count) + 2 <=
		dynamic->lists.vertices_log2)
		return true;
	/* a table opened with room is filled by parts of the rows, and built for all at once */
	if (count > empty / 4 * 3)
		return true;
	if (rows == 0)
		return count >= dynamic->base.spec.expected_rows && count >= dynamic->slots / 8;
	return count >= rows && count >= dynamic->slots / 4;
}

template <typename Slots>
static HgStatus
insert(HgCudaDynamic *dynamic, const HgCudaTableBatch *in, HgError *error)
{
	typedef typename Slots::Word Word;
	HgCudaTable *table = &dynamic->base;
	HgCudaWork *work = &table->work;
	const uint64_t most = in->count < HG_DYNAMIC_PIECE_PAIRS ? in->count : HG_DYNAMIC_PIECE_PAIRS;
	uint32_t *left_rows = nullptr;
	Word *left_keys;

	if (dynamic->erased > 0 &&
		is_worth_rebuild(dynamic, table->rows, in->count) !=
			is_worth_rebuild(dynamic, table->rows - std::min(dynamic->erased, table->rows),
							 in->count))
		HG_TRY(hg_dynamic_know_rows(dynamic, error));
	if (is_worth_rebuild(dynamic, table->rows, in->count))
		return hg_dynamic_rebuild(dynamic, in, error);
	HG_TRY(hg_cuda_alloc_array(work, most, &left_keys, error));
	if (Slots::HAS_ROWS)
		HG_TRY(hg_cuda_alloc_array(work, most, &left_rows, error));
	HG_TRY(hg_slot_batch_in_pieces(
		table, in, HG_DYNAMIC_PIECE_PAIRS, error,
		[&](const HgSlotBatch &piece)
		{
			HG_TRY(insert_piece<Slots>(dynamic, &piece, left_keys, left_rows, error));
			if (dynamic->known.left == 0)
				return HG_OK;

			const HgCudaTableBatch left = {left_keys, left_rows, dynamic->known.left, 0, false};

			dynamic->used = true;
			return hg_dynamic_rebuild(dynamic, &left, error);
		}));
	hg_cuda_free(work, left_keys);
	hg_cuda_free(work, left_rows);
	return HG_OK;
}

static HgStatus
dynamic_change(HgCudaTable *table, const HgCudaTableBatch *out, const HgCudaTableBatch *in,
			   HgTableChange *change, HgError *error)
{
	HgCudaDynamic *dynamic = reinterpret_cast<HgCudaDynamic *>(table);
	uint64_t before;

	if (change != nullptr)
	{
		memset(change, 0, sizeof(*change));
		HG_TRY(hg_dynamic_know_rows(dynamic, error));
	}
	before = table->rows;

	/* check that everything fits before anything is changed */
	if (in != nullptr)
		HG_TRY(check_slots(&table->spec, table->rows + in->count, table->spec.empty_slots, error));
	if (out != nullptr && out->count > 0)
	{
		HG_TRY(HG_DYNAMIC_BY_SLOTS(table, erase, dynamic, out, error));
		if (change != nullptr)
		{
			HG_TRY(hg_dynamic_know_rows(dynamic, error));
			change->erased = before - table->rows;
			before = table->rows;
		}
	}
	if (in != nullptr && in->count > 0)
	{
		HG_TRY(HG_DYNAMIC_BY_SLOTS(table, insert, dynamic, in, error));
		if (change != nullptr)
			change->inserted = table->rows - before;
		dynamic->used = true;
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------ */

template <typename Slots>
static HgStatus
find(HgCudaDynamic *dynamic, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	return hg_cuda_launch_pieces<hg_dynamic_find_kernel<Slots>, HG_DYNAMIC_THREADS>(
		&dynamic->base.work, "hg_dynamic_find_kernel", count, HG_DYNAMIC_PIECE_KEYS, error,
		dynamic->lists, static_cast<const typename Slots::Word *>(keys), HG_PIECE_FIRST,
		HG_PIECE_END, rows);
}

static HgStatus
dynamic_find(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	HgCudaDynamic *dynamic = reinterpret_cast<HgCudaDynamic *>(table);

	return HG_DYNAMIC_BY_SLOTS(table, find, dynamic, keys, count, rows, error);
}

/* Counts rows, or, with offsets, copies them. */
template <typename Slots>
static HgStatus
match(HgCudaDynamic *dynamic, const void *keys, uint64_t count, const uint64_t *offsets,
	  uint32_t *counts, uint32_t *rows, HgError *error)
{
	return hg_cuda_launch_pieces<hg_dynamic_match_kernel<Slots>, HG_DYNAMIC_THREADS>(
		&dynamic->base.work, "hg_dynamic_match_kernel", count, HG_DYNAMIC_PIECE_KEYS, error,
		dynamic->lists, static_cast<const typename Slots::Word *>(keys), HG_PIECE_FIRST,
		HG_PIECE_END, offsets, counts, rows);
}

static HgStatus
dynamic_count(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *counts,
			  HgError *error)
{
	HgCudaDynamic *dynamic = reinterpret_cast<HgCudaDynamic *>(table);

	return HG_DYNAMIC_BY_SLOTS(table, match, dynamic, keys, count, nullptr, counts, nullptr, error);
}

static HgStatus
dynamic_match(HgCudaTable *table, const void *keys, uint64_t count, const uint64_t *offsets,
			  uint32_t *rows, HgError *error)
{
	HgCudaDynamic *dynamic = reinterpret_cast<HgCudaDynamic *>(table);

	return HG_DYNAMIC_BY_SLOTS(table, match, dynamic, keys, count, offsets, nullptr, rows, error);
}

static HgStatus
dynamic_export(HgCudaTable *table, void *keys, uint32_t *rows, HgError *error)
{
	HgCudaDynamic *dynamic = reinterpret_cast<HgCudaDynamic *>(table);

	return hg_dynamic_export(dynamic, keys, rows, error);
}

template <typename Slots>
static HgStatus
describe_lists(HgCudaDynamic *dynamic, HgError *error)
{
	HG_TRY(hg_dynamic_know_rows(dynamic, error));
	HG_TRY((hg_cuda_launch_pieces<hg_dynamic_describe_kernel<Slots>, HG_DYNAMIC_THREADS>(
		&dynamic->base.work, "hg_dynamic_describe_kernel",
		UINT64_C(1) << dynamic->lists.vertices_log2, HG_DYNAMIC_PIECE_KEYS, error, dynamic->lists,
		HG_PIECE_FIRST, dynamic->state)));
	return hg_dynamic_read_state(dynamic, error);
}

static HgStatus
dynamic_describe(HgCudaTable *table, HgTableStats *stats, HgError *error)
{
	HgCudaDynamic *dynamic = reinterpret_cast<HgCudaDynamic *>(table);

	HG_TRY(HG_DYNAMIC_BY_SLOTS(table, describe_lists, dynamic, error));
	stats->slots = dynamic->slots;
	stats->deleted = dynamic->deleted;
	stats->lists = UINT64_C(1) << dynamic->lists.vertices_log2;
	stats->empty_lists = dynamic->known.empty_lists;
	stats->longest_list = dynamic->known.longest_list;
	stats->longest_walk = dynamic->known.longest_walk;
	return HG_OK;
}

const HgCudaTableCalls hg_cuda_table_dynamic = {
	sizeof(HgCudaDynamic), dynamic_memory, dynamic_open,   dynamic_change,	 dynamic_find,
	dynamic_count,		   dynamic_match,  dynamic_export, dynamic_describe, dynamic_close,
};
