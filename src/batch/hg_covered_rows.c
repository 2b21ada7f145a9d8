/*-------------------------------------------------------------------------
 *
 * hg_covered_rows.c
 *	  Subsets of the covered rows: found by keys, left out, selected, or read after all.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "backend/hg_host.h"
#include "batch/hg_covered.h"

/* Rows that are found at a time. */
#define HG_FOUND_ROWS 1024

void
hg_integers_init(HgIntegers *integers)
{
	*integers = (HgIntegers){.context = CurrentMemoryContext};
}

void
hg_integers_add(HgIntegers *integers, int64 integer)
{
	if (integers->count == integers->room)
	{
		Size bytes;

		integers->room = Max(2 * integers->room, 64);
		bytes = integers->room * sizeof(int64);
		integers->values = integers->values == NULL
							   ? MemoryContextAllocHuge(integers->context, bytes)
							   : repalloc_huge(integers->values, bytes);
	}
	integers->values[integers->count++] = integer;
}

/* Appends the rows of an open join.  Sets *all to false if they are too many. */
static HgStatus
hg_covered_take_rows(HgFlatJoin *join, uint64 most, HgIntegers *rows, bool *all, HgError *error)
{
	uint32 outer[HG_FOUND_ROWS];
	uint32 inner[HG_FOUND_ROWS];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = HG_FOUND_ROWS};
	HgStatus status;

	while ((status = hg_flat_next(join, HG_MATCH_ALL, &matches, error)) == HG_OK &&
		   matches.count > 0)
	{
		*all = rows->count + matches.count <= most;
		for (size_t i = 0; i < matches.count && *all; i++)
			hg_integers_add(rows, inner[i]);
		if (!*all)
			break;
	}
	return status;
}

bool
hg_covered_find_rows(const HgCovered *covered, const HgPinnedGraph *graph, const HgIntegers *keys,
					 uint64 most, HgIntegers *rows)
{
	const HgFlatSide side = {.graph = &graph->flat, .mask = &covered->mask};
	const HgFlatRows wanted = {.keys = keys->values, .count = keys->count};
	HgFlatJoin *join = NULL;
	bool all = true;
	HgPgHost host;
	HgStatus status;
	HgError error;

	if (keys->count == 0)
		return true;
	/* the context frees its allocations if it is cancelled */
	hg_host_init(&host, CurrentMemoryContext);
	status =
		hg_flat_lookup_open(&host.host, &wanted, sizeof(int64), HG_OUTER, &side, &join, &error);
	if (status == HG_OK)
		status = hg_covered_take_rows(join, most, rows, &all, &error);
	if (status != HG_OK)
		hg_host_throw(&host, status, &error);
	hg_flat_close(join);
	return all;
}

void
hg_covered_add_values(const HgCovered *covered, const HgIntegers *rows, int column,
					  HgIntegers *values)
{
	const HgCoveredColumn *from = &covered->columns[column];

	for (uint64 i = 0; i < rows->count; i++)
	{
		const uint32 row = (uint32) rows->values[i];
		const HgSegmentArray *array = from->arrays[HG_FLAT_PART(row)];

		if (!hg_segment_is_null(array, HG_FLAT_NUMBER(row)))
			hg_integers_add(values,
							hg_segment_integer(array->width, array->values, HG_FLAT_NUMBER(row)));
	}
}

HgFlatMask *
hg_covered_mask_without(const HgCovered *covered, const HgIntegers *rows, uint64 *left)
{
	HgFlatMask *mask = palloc(sizeof(HgFlatMask));
	uint8 *states = palloc(Max(covered->nparts, 1) * sizeof(uint8));
	uint64 **bits = palloc0(Max(covered->nparts, 1) * sizeof(uint64 *));

	*left = covered->rows;
	memcpy(states, covered->states, covered->nparts * sizeof(uint8));
	for (uint32 part = 0; part < covered->nparts; part++)
		bits[part] = covered->bits[part];
	for (uint64 i = 0; i < rows->count; i++)
	{
		const uint32 part = HG_FLAT_PART((uint32) rows->values[i]);
		const uint32 number = HG_FLAT_NUMBER((uint32) rows->values[i]);
		const uint64 bit = UINT64CONST(1) << number % 64;

		if (bits[part] == covered->bits[part])
		{
			const uint32 nrows =
				(uint32) (covered->first_ordinals[part + 1] - covered->first_ordinals[part]);
			const Size bytes = hg_segment_bits_bytes(nrows);

			bits[part] = palloc0(bytes);
			if (covered->bits[part] != NULL)
				memcpy(bits[part], covered->bits[part], bytes);
			else
				hg_segment_set_bits(bits[part], 0, nrows);
			states[part] = HG_FLAT_SOME;
		}
		*left -= (bits[part][number / 64] & bit) != 0;
		bits[part][number / 64] &= ~bit;
	}
	*mask = (HgFlatMask){
		.nparts = covered->nparts, .states = states, .bits = (const uint64_t *const *) bits};
	return mask;
}

void
hg_covered_select_rows(HgCovered *covered, const HgIntegers *rows)
{
	memset(covered->states, HG_FLAT_NONE, covered->nparts * sizeof(uint8));
	memset(covered->counts, 0, covered->nparts * sizeof(uint32));
	memset(covered->bits, 0, covered->nparts * sizeof(uint64 *));
	covered->rows = 0;
	for (uint64 i = 0; i < rows->count; i++)
	{
		const uint32 part = HG_FLAT_PART((uint32) rows->values[i]);
		const uint32 number = HG_FLAT_NUMBER((uint32) rows->values[i]);
		const uint64 bit = UINT64CONST(1) << number % 64;

		if (covered->bits[part] == NULL)
		{
			const Size bytes = hg_segment_bits_bytes(
				(uint32) (covered->first_ordinals[part + 1] - covered->first_ordinals[part]));

			covered->bits[part] = MemoryContextAllocZero(GetMemoryChunkContext(covered), bytes);
			covered->bytes += bytes;
		}
		if ((covered->bits[part][number / 64] & bit) != 0)
			continue;
		covered->bits[part][number / 64] |= bit;
		covered->states[part] = HG_FLAT_SOME;
		covered->counts[part]++;
		covered->rows++;
	}
	covered->side = (HgFlatSide){.graph = &covered->graph->flat, .mask = &covered->mask};
}

HgCovered *
hg_covered_apply_rows(const HgCovered *covered, const HgIntegers *rows)
{
	HgCovered *some = palloc(sizeof(HgCovered));

	/* fields that depend on the rows are copied */
	*some = *covered;
	some->marks = false;
	some->masked = NULL;
	some->states = palloc(Max(covered->nparts, 1) * sizeof(uint8));
	some->bits = palloc(Max(covered->nparts, 1) * sizeof(uint64 *));
	some->counts = palloc(Max(covered->nparts, 1) * sizeof(uint32));
	hg_covered_select_rows(some, rows);
	hg_covered_apply(some);
	some->side = (HgFlatSide){.graph = &some->graph->flat, .mask = &some->mask};
	return some;
}

/* ---------------------------------------------------------------------
 * Uncovered rows
 * ---------------------------------------------------------------------
 */

void
hg_uncover_begin(HgUncover *uncover, HgCovered *covered, pg_atomic_uint32 *next_part)
{
	uncover->covered = covered;
	uncover->columns = palloc(Max(covered->ncolumns, 1) * sizeof(int));
	for (int c = 0; c < covered->ncolumns; c++)
		uncover->columns[c] = c;
	uncover->next_part = next_part;
	uncover->part = 0;
	uncover->at = covered->first_ordinals[covered->nparts];
}

/* Claims the next segment; false if there is none. */
static bool
hg_uncover_take(HgUncover *uncover)
{
	uint32 part;

	CHECK_FOR_INTERRUPTS();
	/* the counter exceeds the number of segments by at most one for each process */
	part = pg_atomic_read_u32(uncover->next_part);
	if (part < uncover->covered->nparts)
		part = pg_atomic_fetch_add_u32(uncover->next_part, 1);
	if (part >= uncover->covered->nparts)
		return false;
	uncover->part = part;
	uncover->at = uncover->covered->first_ordinals[part];
	return true;
}

bool
hg_uncover_next(HgUncover *uncover, HgBatch *batch)
{
	uint32 rows[HG_BATCH_ROWS];
	int n;

	if (uncover->covered == NULL)
		return false;
	while ((n = hg_covered_next_of(uncover->covered, uncover->part, &uncover->at, rows,
								   HG_BATCH_ROWS)) == 0)
		if (!hg_uncover_take(uncover))
			return false;
	hg_covered_get(uncover->covered, rows, n, batch, uncover->columns);
	batch->nrows = n;
	batch->checked = false;
	return true;
}
