/*-------------------------------------------------------------------------
 *
 * hg_covered.c
 *	  Covered rows: rows that a table scan does not return, because a cached HashGraph has their
 *	  keys, and cached columns have their other values, by row number.
 *
 * Matches come in the order of vertices, so that values are scattered.  The addresses of a batch's
 * values are computed and prefetched before the first value is read.
 *
 * If all but a few of the graph's rows are covered, the vertices of the other rows' keys are
 * marked.  All other keys are then joined without a test whether their rows are covered.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "batch/hg_covered.h"
#include "batch/hg_resident_columns.h"
#include "batch/hg_values.h"

/* Vertices are marked while at most this part of the graph's rows is not covered. */
#define HG_COVERED_MARKED_PART 16

HgCovered *
hg_covered_create(Relation rel, HgPinnedGraph *graph, const HgGraphKey *key,
				  const HgValidBlocks *valid, uint32 nsegments, int ncolumns,
				  const HgResidentColumn *columns)
{
	HgCovered *covered = palloc0(sizeof(HgCovered));

	Assert(nsegments <= HG_COVERED_SEGMENTS);
	covered->rel = rel;
	covered->graph = graph;
	/* other keys would have to be encoded */
	covered->marks = hg_graph_key_is_integer(key);
	covered->key = key->columns[0];
	covered->valid = valid;
	covered->nparts = nsegments;
	covered->first_other = nsegments << HG_FLAT_ROW_BITS;
	covered->first_ordinals = palloc0((nsegments + 1) * sizeof(uint64));
	covered->states = palloc0(Max(nsegments, 1) * sizeof(uint8));
	covered->bits = palloc0(Max(nsegments, 1) * sizeof(uint64 *));
	covered->counts = palloc0(Max(nsegments, 1) * sizeof(uint32));
	covered->ncolumns = ncolumns;
	covered->columns = palloc0(Max(ncolumns, 1) * sizeof(HgCoveredColumn));
	covered->bytes =
		nsegments * (sizeof(uint64) + sizeof(uint8) + sizeof(uint64 *) + sizeof(uint32) +
					 ncolumns * (sizeof(HgSegmentArray *) + sizeof(HgSegmentArray)));
	for (int c = 0; c < ncolumns; c++)
	{
		HgCoveredColumn *column = &covered->columns[c];
		Size room = hg_resident_values_room(&columns[c]);

		column->column = columns[c];
		column->arrays = palloc0(Max(nsegments, 1) * sizeof(HgSegmentArray *));
		if (room > 0)
			column->room = palloc(room);
		covered->bytes += room;
	}
	return covered;
}

bool
hg_covered_has_version(const HgCovered *covered, const HgSegmentVersion *version)
{
	uint32 segment = version->first / HG_SEGMENT_BLOCKS;

	return segment < covered->nparts && segment < covered->graph->nsegments &&
		   covered->graph->serials[segment] == version->serial;
}

/* Marks the vertices of n rows of a segment, whose keys have been prefetched. */
static void
hg_covered_mark_rows(HgCovered *covered, const HgSegmentArray *array, const uint32 *rows, uint32 n)
{
	int64 keys[HG_BATCH_ROWS];

	for (uint32 i = 0; i < n; i++)
		keys[i] = hg_segment_integer(array->width, array->values, rows[i]);
	hg_flat_mark_vertices(&covered->graph->flat.shape, keys, n, covered->masked);
}

/* Marks the vertices of rows of a version that are not covered: all, or those without a bit. */
static void
hg_covered_mark(HgCovered *covered, const HgSegmentVersion *version, const uint64 *bits)
{
	HgSegmentArray array =
		hg_segment_array(version, hg_segment_find_column(version, &covered->key));
	uint32 rows[HG_BATCH_ROWS];
	uint32 n = 0;

	for (uint32 first = 0; first < version->nrows; first += 64)
	{
		uint64 left = bits != NULL ? ~bits[first / 64] : ~UINT64CONST(0);

		if (version->nrows - first < 64)
			left &= (UINT64CONST(1) << (version->nrows - first)) - 1;
		for (; left != 0; left &= left - 1)
		{
			rows[n] = first + pg_rightmost_one_pos64(left);
			HG_PREFETCH(array.values + (Size) rows[n] * array.width);
			n++;
		}
		if (n > HG_BATCH_ROWS - 64)
		{
			hg_covered_mark_rows(covered, &array, rows, n);
			n = 0;
		}
	}
	hg_covered_mark_rows(covered, &array, rows, n);
}

/* Adds count rows of a version that are not covered, and marks them while they are few. */
static void
hg_covered_mask_out(HgCovered *covered, const HgSegmentVersion *version, const uint64 *bits,
					uint64 count)
{
	Size bytes = hg_flat_vertices_bytes(&covered->graph->flat.shape);

	covered->left_out += count;
	if (!covered->marks || covered->left_out > covered->graph->flat.rows / HG_COVERED_MARKED_PART)
		return;
	if (covered->masked == NULL)
	{
		covered->masked = MemoryContextAllocExtended(GetMemoryChunkContext(covered), bytes,
													 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		covered->bytes += bytes;
	}
	hg_covered_mark(covered, version, bits);
}

void
hg_covered_add(HgCovered *covered, const HgValidSegment *segment, uint64 *bits, uint64 count)
{
	const HgSegmentVersion *version = segment->version;
	uint32 part = version->first / HG_SEGMENT_BLOCKS;

	covered->states[part] = count == 0 ? HG_FLAT_NONE : bits == NULL ? HG_FLAT_ALL : HG_FLAT_SOME;
	covered->bits[part] = bits;
	covered->counts[part] = (uint32) count;
	covered->rows += count;
	covered->first_ordinals[part + 1] = version->nrows;
	covered->known++;
	if (count < version->nrows)
		hg_covered_mask_out(covered, version, bits, version->nrows - count);
	if (bits != NULL)
		covered->bytes += hg_segment_bits_bytes(version->nrows);
	for (int c = 0; c < covered->ncolumns && count > 0; c++)
	{
		HgCoveredColumn *column = &covered->columns[c];
		int at = hg_segment_find_column(version, &column->column);

		Assert(at >= 0);
		column->arrays[part] = palloc(sizeof(HgSegmentArray));
		*column->arrays[part] = hg_segment_array(version, at);
		column->maybe_null |= column->arrays[part]->valid != NULL;
	}
}

/* Sets side and mask from the states of the segments. */
static void
hg_covered_select(HgCovered *covered)
{
	uint32 known = 0; /* segments of which the graph has rows */

	covered->mask = (HgFlatMask){.nparts = covered->nparts,
								 .states = covered->states,
								 .bits = (const uint64_t *const *) covered->bits};
	for (uint32 part = 0; part < covered->graph->nsegments; part++)
		known += covered->graph->serials[part] != 0;
	covered->side =
		(HgFlatSide){.graph = &covered->graph->flat,
					 .mask = hg_covered_has_all(covered, covered->graph) ? NULL : &covered->mask};
	/* rows of segments that were not added are not marked */
	if (known == covered->known &&
		covered->left_out <= covered->graph->flat.rows / HG_COVERED_MARKED_PART)
		covered->side.masked = covered->masked;
}

void
hg_covered_end(HgCovered *covered)
{
	/* first_ordinals[part + 1] has the number of rows of each segment */
	for (uint32 part = 0; part < covered->nparts; part++)
		covered->first_ordinals[part + 1] += covered->first_ordinals[part];
	hg_covered_select(covered);
}

void
hg_covered_restrict(HgCovered *covered, const HgValidSegment *segment, uint64 *bits, uint64 count)
{
	const uint32 part = segment->version->first / HG_SEGMENT_BLOCKS;
	const uint64 gone = covered->counts[part] - count;

	if (gone == 0)
		return;
	if (covered->bits[part] == NULL)
		covered->bytes += hg_segment_bits_bytes(segment->version->nrows);
	covered->states[part] = count == 0 ? HG_FLAT_NONE : HG_FLAT_SOME;
	covered->bits[part] = bits;
	covered->counts[part] = (uint32) count;
	covered->rows -= gone;
	hg_covered_mask_out(covered, segment->version, bits, gone);
}

void
hg_covered_apply(HgCovered *covered)
{
	if (!hg_covered_has_pending(covered))
		return;
	covered->apply(covered, covered->apply_arg);
	covered->pending = NULL;
	hg_covered_select(covered);
}

bool
hg_covered_has_all(const HgCovered *covered, const HgPinnedGraph *graph)
{
	for (uint32 part = 0; part < graph->nsegments; part++)
		if (graph->serials[part] != 0 &&
			(part >= covered->nparts || covered->states[part] != HG_FLAT_ALL))
			return false;
	return true;
}

/* Returns true if another graph has the rows of all segment versions with covered rows. */
static bool
hg_covered_is_in(const HgCovered *covered, const HgPinnedGraph *graph)
{
	for (uint32 part = 0; part < covered->nparts; part++)
		if (covered->counts[part] > 0 &&
			(part >= graph->nsegments || graph->serials[part] != covered->graph->serials[part]))
			return false;
	return true;
}

HgPinnedGraph *
hg_covered_graph_by(const HgCovered *covered, int column, const HgGraphPart *part)
{
	const HgGraphKey key = {
		.ncolumns = 1, .columns = {covered->columns[column].column}, .parts = {*part}};
	HgPinnedGraph *graph;

	if (hg_graph_key_equal(&key, hg_resident_graph_key(covered->graph)))
		return covered->graph;
	graph = hg_resident_graph_pin(covered->rel, &key);
	return graph != NULL && hg_covered_is_in(covered, graph) ? graph : NULL;
}

uint32
hg_covered_stride(const HgCovered *covered)
{
	uint64 stride = 1;

	for (uint32 part = 0; part < covered->nparts; part++)
		stride = Max(stride, covered->first_ordinals[part + 1] - covered->first_ordinals[part]);
	return (uint32) stride;
}

/* ---------------------------------------------------------------------
 * Columns
 * ---------------------------------------------------------------------
 */

/* Finds the addresses and NULL flags of rows' values, and prefetches the values. */
static void
hg_covered_find(const HgCoveredColumn *column, const uint32 *rows, int nrows, char **addresses,
				bool *nulls)
{
	for (int i = 0; i < nrows; i++)
	{
		const HgSegmentArray *array = column->arrays[HG_FLAT_PART(rows[i])];

		addresses[i] =
			unconstify(char *, array->values) + (Size) HG_FLAT_NUMBER(rows[i]) * array->width;
		HG_PREFETCH(addresses[i]);
		if (column->maybe_null && array->valid != NULL)
			HG_PREFETCH(&array->valid[HG_FLAT_NUMBER(rows[i]) / 64]);
	}
	for (int i = 0; i < nrows && column->maybe_null; i++)
		nulls[i] =
			hg_segment_is_null(column->arrays[HG_FLAT_PART(rows[i])], HG_FLAT_NUMBER(rows[i]));
}

void
hg_covered_get(HgCovered *covered, const uint32 *rows, int nrows, HgBatch *batch, const int *at)
{
	char *addresses[HG_BATCH_ROWS];

	/* versions that are not pinned must not be read */
	if (covered->valid->nsegments == 0)
		elog(ERROR, "resident columns have been let go in the middle of a join");
	for (int c = 0; c < covered->ncolumns; c++)
	{
		const HgCoveredColumn *column = &covered->columns[c];
		Datum *values;
		Size room;

		if (at[c] < 0)
			continue;
		values = batch->values[at[c]];
		room = column->room != NULL ? hg_resident_values_room(&column->column) / HG_BATCH_ROWS : 0;
		batch->has_nulls[at[c]] = column->maybe_null;
		hg_covered_find(column, rows, nrows, addresses, batch->nulls[at[c]]);
		if (column->column.by_value)
			hg_values_fetch(column->column.length, addresses, 0, nrows, values);
		else
			for (int i = 0; i < nrows; i++)
				hg_resident_values_fetch(&column->column, column->arrays[HG_FLAT_PART(rows[i])],
										 column->room != NULL ? column->room + i * room : NULL,
										 HG_FLAT_NUMBER(rows[i]), NULL, 1, &values[i]);
	}
}

int
hg_covered_next_of(const HgCovered *covered, uint32 part, uint64 *at, uint32 *rows, int room)
{
	uint64 first = covered->first_ordinals[part];
	uint64 end = covered->first_ordinals[part + 1];
	int n = 0;

	if (covered->states[part] == HG_FLAT_NONE)
		*at = Max(*at, end);
	for (; *at < end && n < room; (*at)++)
	{
		uint32 number = (uint32) (*at - first);

		if (covered->states[part] == HG_FLAT_ALL || hg_segment_bit(covered->bits[part], number))
			rows[n++] = HG_FLAT_ROW(part, number);
	}
	return n;
}

int
hg_covered_next(const HgCovered *covered, uint64 *at, uint32 *rows, int room)
{
	uint32 part = 0;
	int n = 0;

	/* binary search for the last segment that begins at or before *at */
	for (uint32 end = covered->nparts; part + 1 < end;)
	{
		uint32 middle = part + (end - part) / 2;

		if (covered->first_ordinals[middle] <= *at)
			part = middle;
		else
			end = middle;
	}
	for (; part < covered->nparts && n < room; part++)
	{
		CHECK_FOR_INTERRUPTS();
		n += hg_covered_next_of(covered, part, at, rows + n, room - n);
	}
	return n;
}
