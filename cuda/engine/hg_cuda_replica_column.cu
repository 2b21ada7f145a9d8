/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_column.cu
 *	  The values of the rows of graph replicas, by ordinal, in device memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include <cstring>

#include "../../src/engine/hg_replica.h"
#include "../kernels/hg_cuda_compute.h"
#include "../kernels/hg_cuda_graph.h"
#include "../kernels/hg_cuda_tuning.h"
#include "hg_cuda_replica_column.h"

/* ---------------------------------------------------------------------
 * Masks: which rows of a graph replica count in a job, in device memory
 * ---------------------------------------------------------------------
 */

void
hg_cuda_replica_mask_init(HgCudaReplicaMask *mask, const HgReplicaUse *use)
{
	memset(mask, 0, sizeof(*mask));
	mask->shape = use->shape;
	mask->masked = use->masked != 0;
}

/* Allocates the words, with all bits set, unless they exist. */
static HgStatus
replica_mask_begin(HgCudaWork *work, HgCudaReplicaMask *mask, HgError *error)
{
	const uint64_t words = hg_replica_mask_words(&mask->shape);

	if (mask->words != nullptr)
		return HG_OK;
	HG_TRY(hg_cuda_alloc_array(work, words, &mask->words, error));
	HG_CUDA_TRY(cudaMemsetAsync(mask->words, 0xff, words * sizeof(*mask->words), work->stream),
				error);
	return HG_OK;
}

HgStatus
hg_cuda_replica_mask_put(HgCudaWork *work, HgCudaReplicaMask *mask, uint64_t first_word,
						 uint64_t count, const uint64_t *words, HgError *error)
{
	uint64_t all;

	if (!mask->masked)
		return hg_error_set(error, HG_INVALID, nullptr, "this side of the join has no mask");
	all = hg_replica_mask_words(&mask->shape);
	if (first_word > all || count > all - first_word)
		return hg_error_set(error, HG_INVALID, nullptr, "a mask goes beyond the rows of its graph");
	if (count == 0)
		return HG_OK;
	HG_TRY(replica_mask_begin(work, mask, error));
	while (count > 0)
	{
		const uint64_t piece = count < HG_APPEND_KEYS ? count : HG_APPEND_KEYS;
		uint64_t *to = mask->words + first_word;

		if (words != nullptr)
			HG_CUDA_TRY(cudaMemcpyAsync(to, words, piece * sizeof(*words), cudaMemcpyHostToDevice,
										work->stream),
						error);
		else
			HG_CUDA_TRY(cudaMemsetAsync(to, 0, piece * sizeof(*to), work->stream), error);
		HG_TRY(hg_cuda_wait(work, error));
		words = words != nullptr ? words + piece : nullptr;
		first_word += piece;
		count -= piece;
	}
	return HG_OK;
}

HgStatus
hg_cuda_replica_mask_filter(HgCudaWork *work, HgCudaReplicaMask *mask, const HgCudaGraph *replica,
							HgCudaGraph *graph, bool *copied, HgError *error)
{
	*graph = *replica;
	*copied = mask->words != nullptr && graph->rows > 0;
	if (*copied)
		HG_TRY(hg_cuda_edges_filter(work, replica, mask->words, graph, error));
	hg_cuda_free(work, mask->words);
	mask->words = nullptr;
	return HG_OK;
}

/* Allocates a zeroed block, once. */
static HgStatus
reserve(HgCudaWork *work, uint64_t bytes, uint8_t **block, HgError *error)
{
	if (*block != nullptr)
		return HG_OK;
	HG_TRY(hg_cuda_alloc_array(work, bytes, block, error));
	HG_CUDA_TRY(cudaMemsetAsync(*block, 0, bytes, work->stream), error);
	return HG_OK;
}

static HgStatus
reserve_values(HgCudaWork *work, HgCudaReplicaColumn *column, HgError *error)
{
	return reserve(work, hg_replica_ordinals(&column->shape) * column->shape.width, &column->values,
				   error);
}

/* Copies values, a piece at most, and waits for the copies. */
static HgStatus
put_piece(HgCudaWork *work, HgCudaReplicaColumn *column, const void *values, const uint8_t *nulls,
		  uint64_t count, uint64_t first_ordinal, HgError *error)
{
	const uint32_t width = column->shape.width;

	HG_CUDA_TRY(cudaMemcpyAsync(column->values + first_ordinal * width, values, count * width,
								cudaMemcpyHostToDevice, work->stream),
				error);
	if (nulls != nullptr)
		HG_CUDA_TRY(cudaMemcpyAsync(column->nulls + first_ordinal, nulls, count,
									cudaMemcpyHostToDevice, work->stream),
					error);
	else if (column->nulls != nullptr)
		HG_CUDA_TRY(cudaMemsetAsync(column->nulls + first_ordinal, 0, count, work->stream), error);
	return hg_cuda_wait(work, error);
}

HgStatus
hg_cuda_replica_column_put(HgCudaWork *work, HgCudaReplicaColumn *column, const void *values,
						   const uint8_t *nulls, uint64_t count, uint64_t first_ordinal,
						   HgError *error)
{
	const unsigned char *from = static_cast<const unsigned char *>(values);
	const uint64_t ordinals = hg_replica_ordinals(&column->shape);

	if (first_ordinal > ordinals || count > ordinals - first_ordinal)
		return hg_error_set(error, HG_INVALID, nullptr, "a value is of no place in the column");
	if (count == 0)
		return HG_OK;
	HG_TRY(reserve_values(work, column, error));
	if (nulls != nullptr)
		HG_TRY(reserve(work, ordinals, &column->nulls, error));
	while (count > 0)
	{
		const uint64_t piece = count < HG_APPEND_KEYS ? count : HG_APPEND_KEYS;

		HG_TRY(put_piece(work, column, from, nulls, piece, first_ordinal, error));
		from += piece * column->shape.width;
		nulls = nulls != nullptr ? nulls + piece : nullptr;
		first_ordinal += piece;
		count -= piece;
	}
	return HG_OK;
}

HgStatus
hg_cuda_replica_column_build(HgCudaWork *work, HgCudaReplicaColumn *column, HgError *error)
{
	HG_TRY(reserve_values(work, column, error));
	return hg_cuda_wait(work, error);
}

uint64_t
hg_cuda_replica_column_detach(HgCudaWork *work, HgCudaReplicaColumn *column)
{
	column->values_bytes = hg_cuda_detach(work, column->values);
	column->nulls_bytes = hg_cuda_detach(work, column->nulls);
	return column->values_bytes + column->nulls_bytes;
}

void
hg_cuda_replica_column_release(HgCudaDevice *device, const HgCudaReplicaColumn *column)
{
	if (column->values != nullptr)
		hg_cuda_device_release(device, column->values, column->values_bytes);
	if (column->nulls != nullptr)
		hg_cuda_device_release(device, column->nulls, column->nulls_bytes);
}

uint64_t
hg_cuda_replica_column_bytes(const HgReplicaColumnShape *shape)
{
	return hg_replica_ordinals(shape) * (shape->width + 1);
}

/* ---------------------------------------------------------------------
 * Columns of a side that is a graph replica, which are computed from other columns, in device
 * memory
 *
 * MEMORY: 9 bytes for each ordinal and column.
 * ---------------------------------------------------------------------
 */

/* Blocks of device memory are multiples of this. */
static constexpr uint64_t BLOCK_BYTES = 256;

void
hg_cuda_replica_computed_init(HgCudaReplicaComputed *computed, const HgJobSpec *spec, HgSide side)
{
	const HgReplicaSource *source = hg_side_replica(spec, side);

	memset(computed, 0, sizeof(*computed));
	for (uint32_t i = 0; source->nprograms > 0 && i < spec->sides[side].ncolumns; i++)
	{
		const HgReplicaColumnUse *use = &source->columns[i];

		if (use->program == 0)
			continue;
		computed->stride = use->shape.stride;
		computed->ordinals = hg_replica_ordinals(&use->shape);
		computed->columns[computed->count] = i;
		computed->programs[computed->count++] = source->programs[use->program - 1];
	}
}

/* Fills in the columns that a program reads. */
static void
find_operands(const HgProgram *program, const HgCudaColumns *columns, HgCudaComputing *computing)
{
	memset(computing, 0, sizeof(*computing));
	computing->program = *program;
	for (uint32_t i = 0; i < program->nsteps; i++)
	{
		const uint32_t column = program->steps[i].column;

		if (program->steps[i].kind == HG_STEP_COLUMN)
			computing->columns[column] = {hg_cuda_columns_values(columns, column),
										  hg_cuda_columns_nulls(columns, column),
										  columns->width[column]};
	}
}

HgStatus
hg_cuda_replica_computed_run(HgCudaWork *work, HgCudaReplicaComputed *computed,
							 HgCudaColumns *columns, HgError *error)
{
	if (computed->count == 0)
		return HG_OK;
	HG_TRY(hg_cuda_alloc_array(work, 1, &computed->lost, error));
	HG_CUDA_TRY(cudaMemsetAsync(computed->lost, 0, sizeof(*computed->lost), work->stream), error);
	for (uint32_t i = 0; i < computed->count; i++)
	{
		HgCudaComputing computing;
		int64_t *values;
		uint8_t *nulls;

		find_operands(&computed->programs[i], columns, &computing);
		HG_TRY(hg_cuda_alloc_array(work, computed->ordinals, &values, error));
		HG_TRY(hg_cuda_alloc_array(work, computed->ordinals, &nulls, error));
		HG_TRY(hg_cuda_compute(work, &computing, computed->ordinals, values, nulls, computed->lost,
							   error));
		computed->nulls[i] = nulls;
		hg_cuda_columns_set_external(columns, computed->columns[i], values, nulls);
	}
	return HG_OK;
}

/* Reads the flag, waits, and clears it. */
static HgStatus
take_lost(HgCudaWork *work, HgCudaReplicaComputed *computed, bool *lost, HgError *error)
{
	uint32_t answer;
	const void *host;

	HG_TRY(hg_cuda_read_back(work, computed->lost, sizeof(answer), &host, error));
	memcpy(&answer, host, sizeof(answer));
	*lost = answer != 0;
	HG_CUDA_TRY(cudaMemsetAsync(computed->lost, 0, sizeof(*computed->lost), work->stream), error);
	return HG_OK;
}

HgStatus
hg_cuda_replica_computed_check(HgCudaWork *work, HgCudaReplicaComputed *computed,
							   const HgCudaGraph *graph, HgError *error)
{
	bool lost = false;

	if (computed->count == 0)
		return HG_OK;
	HG_TRY(take_lost(work, computed, &lost, error));
	if (lost)
	{
		for (uint32_t i = 0; i < computed->count; i++)
			HG_TRY(hg_cuda_compute_look(work, graph, computed->stride, computed->nulls[i],
										computed->lost, error));
		HG_TRY(take_lost(work, computed, &lost, error));
	}
	hg_cuda_free(work, computed->lost);
	computed->lost = nullptr;
	return lost ? hg_error_set(error, HG_OVERFLOW, nullptr, "a computed number does not fit")
				: HG_OK;
}

static uint64_t
block_bytes(uint64_t bytes)
{
	return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

uint64_t
hg_cuda_replica_computed_bytes(const HgJobSpec *spec, HgSide side)
{
	HgCudaReplicaComputed computed;

	hg_cuda_replica_computed_init(&computed, spec, side);
	if (computed.count == 0)
		return 0;
	return BLOCK_BYTES + computed.count * (block_bytes(computed.ordinals * HG_COMPUTED_WIDTH) +
										   block_bytes(computed.ordinals));
}

/* ---------------------------------------------------------------------
 * Lookups of the rows of a side that is a graph replica in other replicas, in device memory
 *
 * MEMORY: 4 bytes for each ordinal of the side's rows, for the current lookup and for each one
 * that a later lookup needs; one copy of the looked-up graph if it has a mask; and the columns,
 * with a byte for each ordinal if they are nullable.
 * ---------------------------------------------------------------------
 */

/* Bytes of an ordinal. */
static constexpr uint64_t ORDINAL_BYTES = sizeof(uint32_t);

/* Null flags follow the values, which are aligned, in one block. */
static constexpr uint64_t VALUES_ALIGNMENT = 8;

void
hg_cuda_replica_lookups_init(HgCudaReplicaLookups *lookups, const HgJobSpec *spec, HgSide side)
{
	const HgReplicaSource *source = hg_side_replica(spec, side);

	memset(lookups, 0, sizeof(*lookups));
	if (source->nlookups == 0)
		return;
	lookups->count = source->nlookups;
	lookups->parts = source->use->shape.parts;
	lookups->stride = hg_replica_side_stride(spec, side);
	for (uint32_t i = 0; i < lookups->count; i++)
	{
		const HgReplicaLookup *from = &source->lookups[i];
		HgCudaReplicaLookup *lookup = &lookups->lookups[i];

		lookup->from = from->from;
		lookup->unmatched = from->unmatched != 0;
		lookup->stride = from->stride;
		lookup->found_stride = from->found_stride;
		lookup->parts = from->own.shape.parts;
		hg_cuda_replica_mask_init(&lookup->mask, &from->found);
	}
	lookups->ncolumns = spec->sides[side].ncolumns;
	for (uint32_t i = 0; i < lookups->ncolumns; i++)
		lookups->found_by[i] = source->columns[i].lookup;
}

static uint64_t
ordinals_of(const HgCudaReplicaLookups *lookups)
{
	return (uint64_t) lookups->parts * lookups->stride;
}

/* Allocates and fills the array of what each row that looks up finds, by its own ordinals. */
static HgStatus
find(HgCudaWork *work, HgCudaReplicaLookup *lookup, uint32_t **ordinals, HgError *error)
{
	const HgCudaOrdinalGraph own = {lookup->own, (uint64_t) lookup->parts * lookup->stride,
									lookup->stride};
	HgCudaGraph counting;
	const HgCudaOrdinalGraph found = {&counting, 0, lookup->found_stride};
	bool copied;

	HG_TRY(
		hg_cuda_replica_mask_filter(work, &lookup->mask, lookup->found, &counting, &copied, error));
	HG_TRY(hg_cuda_found_make(work, &own, &found, ordinals, error));
	if (copied)
		hg_cuda_graph_free(work, &counting);
	return HG_OK;
}

/* The same by the ordinals of the side. */
static HgStatus
find_for_side(HgCudaWork *work, HgCudaReplicaLookups *lookups, HgCudaReplicaLookup *lookup,
			  HgError *error)
{
	uint32_t *found;

	if (lookup->from == 0)
		return find(work, lookup, &lookup->ordinals, error);
	HG_TRY(find(work, lookup, &found, error));
	HG_TRY(hg_cuda_found_compose(work, lookups->lookups[lookup->from - 1].ordinals, found,
								 ordinals_of(lookups), &lookup->ordinals, error));
	hg_cuda_free(work, found);
	return HG_OK;
}

/* Masks rows that found nothing, if the lookup requires a match. */
static HgStatus
drop_rows(HgCudaWork *work, const HgCudaReplicaLookups *lookups, const HgCudaReplicaLookup *lookup,
		  HgCudaReplicaMask *mask, HgError *error)
{
	const bool drop = !lookup->unmatched;
	bool two;

	if (drop)
		HG_TRY(replica_mask_begin(work, mask, error));
	HG_TRY(hg_cuda_found_look(work, lookup->ordinals, lookups->parts, lookups->stride, mask->words,
							  drop, &two, error));
	if (two)
		return hg_error_set(error, HG_NOT_UNIQUE, nullptr,
							"a row finds more than one where it may find one");
	return HG_OK;
}

static uint64_t
values_bytes(uint64_t ordinals, uint32_t width)
{
	return (ordinals * width + VALUES_ALIGNMENT - 1) / VALUES_ALIGNMENT * VALUES_ALIGNMENT;
}

/* Gathers a column of the found rows; it gets null flags only if it can be NULL. */
static HgStatus
gather_column(HgCudaWork *work, const HgCudaReplicaLookups *lookups,
			  const HgCudaReplicaLookup *lookup, uint32_t number, HgCudaColumns *columns,
			  HgError *error)
{
	const HgCudaReplicaColumn *column = lookups->columns[number];
	const uint32_t width = column->shape.width;
	const uint64_t ordinals = ordinals_of(lookups);
	const uint64_t bytes = values_bytes(ordinals, width);
	const bool nullable = lookup->unmatched || column->nulls != nullptr;
	uint8_t *values;
	uint8_t *nulls;

	HG_TRY(hg_cuda_alloc_array(work, bytes + (nullable ? ordinals : 0), &values, error));
	nulls = nullable ? values + bytes : nullptr;
	HG_TRY(hg_cuda_found_gather(work, lookup->ordinals, ordinals, width, column->values,
								column->nulls, values, nulls, error));
	hg_cuda_columns_set_external(columns, number, values, nulls);
	return HG_OK;
}

/* Returns true if a lookup from `next` on starts from what lookup `number` found. */
static bool
is_needed(const HgCudaReplicaLookups *lookups, uint32_t number, uint32_t next)
{
	for (uint32_t i = next; i < lookups->count; i++)
		if (lookups->lookups[i].from == number + 1)
			return true;
	return false;
}

/* Frees the arrays that no lookup from `next` on needs. */
static void
free_ordinals(HgCudaWork *work, HgCudaReplicaLookups *lookups, uint32_t next)
{
	for (uint32_t i = 0; i < next; i++)
		if (!is_needed(lookups, i, next))
		{
			hg_cuda_free(work, lookups->lookups[i].ordinals);
			lookups->lookups[i].ordinals = nullptr;
		}
}

HgStatus
hg_cuda_replica_lookups_run(HgCudaWork *work, HgCudaReplicaLookups *lookups,
							HgCudaReplicaMask *mask, HgCudaColumns *columns, HgError *error)
{
	for (uint32_t i = 0; i < lookups->count; i++)
	{
		HgCudaReplicaLookup *lookup = &lookups->lookups[i];

		HG_TRY(find_for_side(work, lookups, lookup, error));
		HG_TRY(drop_rows(work, lookups, lookup, mask, error));
		for (uint32_t column = 0; column < lookups->ncolumns; column++)
			if (lookups->found_by[column] == i + 1)
				HG_TRY(gather_column(work, lookups, lookup, column, columns, error));
		free_ordinals(work, lookups, i + 1);
	}
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------ */

static uint64_t
mask_bytes(const HgReplicaShape *shape)
{
	return hg_replica_mask_words(shape) * sizeof(uint64_t);
}

uint64_t
hg_cuda_replica_lookups_mask_bytes(const HgJobSpec *spec, HgSide side)
{
	const HgReplicaSource *source = hg_side_replica(spec, side);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < source->nlookups; i++)
		if (hg_replica_is_masked(spec, side, i + 1))
			bytes += mask_bytes(&source->lookups[i].found.shape);
	return bytes;
}

/* The bytes that are held now, and the most that were held. */
struct Holding
{
	uint64_t now;
	uint64_t most;
};

/* Adds bytes that stay, and for a moment `beside` more. */
static void
hold(Holding *holding, uint64_t bytes, uint64_t beside)
{
	holding->now += bytes;
	if (holding->now + beside > holding->most)
		holding->most = holding->now + beside;
}

/* Adds what find allocates for a masked or unmasked graph; only the array stays. */
static void
hold_find(Holding *holding, const HgReplicaLookup *lookup, bool masked)
{
	const HgReplicaShape *shape = &lookup->found.shape;
	uint64_t filtered = 0;

	if (masked)
	{
		const HgShape graph = hg_cuda_graph_shape(sizeof(uint64_t), shape->rows);

		hold(holding, 0, hg_cuda_edges_filter_bytes(shape->rows, graph.vertices_log2, &filtered));
		holding->now -= mask_bytes(shape);
	}
	hold(holding, filtered, 0);
	hold(holding, (uint64_t) lookup->own.shape.parts * lookup->stride * ORDINAL_BYTES, 0);
	holding->now -= filtered;
}

/* Counts the arrays that are freed after the lookups before `next`, the last of which is new. */
static uint32_t
count_freed(const HgCudaReplicaLookups *lookups, uint32_t next)
{
	uint32_t freed = 0;

	for (uint32_t i = 0; i < next; i++)
		freed += !is_needed(lookups, i, next) && (i + 1 == next || is_needed(lookups, i, next - 1));
	return freed;
}

uint64_t
hg_cuda_replica_lookups_bytes(const HgJobSpec *spec, HgSide side, uint64_t *held)
{
	const HgReplicaSource *source = hg_side_replica(spec, side);
	bool has_mask = hg_replica_is_masked(spec, side, 0);
	HgCudaReplicaLookups lookups;
	Holding holding = {*held, *held};
	uint64_t ordinals;

	hg_cuda_replica_lookups_init(&lookups, spec, side);
	ordinals = ordinals_of(&lookups);
	for (uint32_t i = 0; i < lookups.count; i++)
	{
		const HgReplicaLookup *lookup = &source->lookups[i];

		hold_find(&holding, lookup, hg_replica_is_masked(spec, side, i + 1));
		if (lookup->from > 0)
		{
			hold(&holding, ordinals * ORDINAL_BYTES, 0);
			holding.now -= (uint64_t) lookup->own.shape.parts * lookup->stride * ORDINAL_BYTES;
		}
		if (lookup->unmatched == 0 && !has_mask)
		{
			hold(&holding, mask_bytes(&source->use->shape), 0);
			has_mask = true;
		}
		for (uint32_t column = 0; column < lookups.ncolumns; column++)
			if (lookups.found_by[column] == i + 1)
				hold(&holding,
					 values_bytes(ordinals, spec->sides[side].column_width[column]) + ordinals, 0);
		holding.now -= count_freed(&lookups, i + 1) * ordinals * ORDINAL_BYTES;
	}
	*held = holding.now;
	return holding.most;
}

/* ---------------------------------------------------------------------
 * Filters the rows of a graph replica by values of column replicas, in device memory
 * ---------------------------------------------------------------------
 */

/* Waits; HG_OVERFLOW if the filter computed a number that does not fit. Frees the flag. */
static HgStatus
check_lost(HgCudaWork *work, uint32_t *lost, HgError *error)
{
	uint32_t answer;
	const void *host;

	HG_TRY(hg_cuda_read_back(work, lost, sizeof(answer), &host, error));
	memcpy(&answer, host, sizeof(answer));
	hg_cuda_free(work, lost);
	return answer != 0 ? hg_error_set(error, HG_OVERFLOW, nullptr,
									  "a number that a filter computes does not fit")
					   : HG_OK;
}

HgStatus
hg_cuda_replica_filters_apply(HgCudaWork *work, const HgCudaReplicaFilters *filters,
							  uint32_t lookup, HgCudaReplicaMask *mask, HgError *error)
{
	HgFilterTest test;
	uint32_t *lost = nullptr;

	if (!hg_filter_test_init(&test, &filters->all, lookup))
		return HG_OK;
	for (uint32_t i = 0; i < filters->all.ncolumns; i++)
	{
		test.columns[i].values = filters->columns[i]->values;
		test.columns[i].nulls = filters->columns[i]->nulls;
	}
	HG_TRY(replica_mask_begin(work, mask, error));
	if (hg_filter_computes(&test))
	{
		HG_TRY(hg_cuda_alloc_array(work, 1, &lost, error));
		HG_CUDA_TRY(cudaMemsetAsync(lost, 0, sizeof(*lost), work->stream), error);
	}
	HG_TRY(hg_cuda_filter(work, &test, mask->shape.parts, mask->words, lost, error));
	return lost != nullptr ? check_lost(work, lost, error) : HG_OK;
}
