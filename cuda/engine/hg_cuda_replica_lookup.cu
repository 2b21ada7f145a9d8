/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_lookup.cu
 *	  Lookups of the rows of a side that is a graph replica in other replicas, in device memory.
 *
 * MEMORY: 4 bytes for each ordinal of the side's rows, for the current lookup and for each one
 * that a later lookup needs; one copy of the looked-up graph if it has a mask; and the columns,
 * with a byte for each ordinal if they are nullable.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_replica_lookup.h"

#include "../../src/engine/hg_replica_side.h"
#include "../kernels/hg_cuda_edges.h"
#include "../kernels/hg_cuda_found.h"

#include <cstring>

/* Bytes of an ordinal. */
static constexpr uint64_t ORDINAL_BYTES = sizeof(uint32_t);

/* Null flags follow the values, which are aligned, in one block. */
static constexpr uint64_t VALUES_ALIGNMENT = 8;

void
hg_cuda_replica_lookups_init(HgCudaReplicaLookups *lookups, const HgJobSpec *spec, HgSide side)
{
	memset(lookups, 0, sizeof(*lookups));
	if (spec->nlookups[side] == 0)
		return;
	lookups->count = spec->nlookups[side];
	lookups->parts = spec->replica[side]->shape.parts;
	lookups->stride = hg_replica_side_stride(spec, side);
	for (uint32_t i = 0; i < lookups->count; i++)
	{
		const HgReplicaLookup *from = &spec->lookups[side][i];
		HgCudaReplicaLookup *lookup = &lookups->lookups[i];

		lookup->from = from->from;
		lookup->unmatched = from->unmatched != 0;
		lookup->stride = from->stride;
		lookup->found_stride = from->found_stride;
		lookup->parts = from->own.shape.parts;
		hg_cuda_replica_mask_init(&lookup->mask, &from->found);
	}
	lookups->ncolumns = spec->ncolumns[side];
	for (uint32_t i = 0; i < lookups->ncolumns; i++)
		lookups->found_by[i] = spec->replica_columns[side][i].lookup;
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
		HG_TRY(hg_cuda_replica_mask_begin(work, mask, error));
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
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < spec->nlookups[side]; i++)
		if (hg_replica_is_masked(spec, side, i + 1))
			bytes += mask_bytes(&spec->lookups[side][i].found.shape);
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
	bool has_mask = hg_replica_is_masked(spec, side, 0);
	HgCudaReplicaLookups lookups;
	Holding holding = {*held, *held};
	uint64_t ordinals;

	hg_cuda_replica_lookups_init(&lookups, spec, side);
	ordinals = ordinals_of(&lookups);
	for (uint32_t i = 0; i < lookups.count; i++)
	{
		const HgReplicaLookup *lookup = &spec->lookups[side][i];

		hold_find(&holding, lookup, hg_replica_is_masked(spec, side, i + 1));
		if (lookup->from > 0)
		{
			hold(&holding, ordinals * ORDINAL_BYTES, 0);
			holding.now -= (uint64_t) lookup->own.shape.parts * lookup->stride * ORDINAL_BYTES;
		}
		if (lookup->unmatched == 0 && !has_mask)
		{
			hold(&holding, mask_bytes(&spec->replica[side]->shape), 0);
			has_mask = true;
		}
		for (uint32_t column = 0; column < lookups.ncolumns; column++)
			if (lookups.found_by[column] == i + 1)
				hold(&holding, values_bytes(ordinals, spec->column_width[side][column]) + ordinals,
					 0);
		holding.now -= count_freed(&lookups, i + 1) * ordinals * ORDINAL_BYTES;
	}
	*held = holding.now;
	return holding.most;
}
