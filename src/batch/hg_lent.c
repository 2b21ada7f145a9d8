/*-------------------------------------------------------------------------
 *
 * hg_lent.c
 *	  Rows of a table scan that are not read: a resident HashGraph has their keys, and resident
 *	  columns what else is wanted of them, by their numbers.
 *
 * Matches come in the order of vertices, so that each value lies somewhere else: the addresses of a
 * batch's values are found first, and memory asked for them, before the first one is taken.
 *
 * Where few of the rows that the graph has are not lent, the vertices of their keys are marked, so
 * that those of all others are joined without asking which rows are.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "batch/hg_lent.h"
#include "batch/hg_resident_values.h"
#include "batch/hg_values.h"

/* Vertices are marked as long as no more of a graph's rows than this part are not lent. */
#define HG_LENT_MARKED_PART 16

HgLent *
hg_lent_create(Relation rel, HgPinnedGraph *graph, const HgGraphKey *key, const HgServed *served,
			   uint32 nsegments, int ncolumns, const HgResidentColumn *columns)
{
	HgLent *lent = palloc0(sizeof(HgLent));

	Assert(nsegments <= HG_LENT_SEGMENTS);
	lent->rel = rel;
	lent->graph = graph;
	/* other keys are not as simply had from values */
	lent->marks = hg_graph_key_is_integer(key);
	lent->key = key->columns[0];
	lent->served = served;
	lent->nparts = nsegments;
	lent->first_other = nsegments << HG_FLAT_ROW_BITS;
	lent->places = palloc0((nsegments + 1) * sizeof(uint64));
	lent->states = palloc0(Max(nsegments, 1) * sizeof(uint8));
	lent->bits = palloc0(Max(nsegments, 1) * sizeof(uint64 *));
	lent->counts = palloc0(Max(nsegments, 1) * sizeof(uint32));
	lent->ncolumns = ncolumns;
	lent->columns = palloc0(Max(ncolumns, 1) * sizeof(HgLentColumn));
	lent->bytes = nsegments * (sizeof(uint64) + sizeof(uint8) + sizeof(uint64 *) + sizeof(uint32) +
							   ncolumns * (sizeof(HgSegmentArray *) + sizeof(HgSegmentArray)));
	for (int c = 0; c < ncolumns; c++)
	{
		HgLentColumn *column = &lent->columns[c];
		Size room = hg_resident_values_room(&columns[c]);

		column->column = columns[c];
		column->arrays = palloc0(Max(nsegments, 1) * sizeof(HgSegmentArray *));
		if (room > 0)
			column->room = palloc(room);
		lent->bytes += room;
	}
	return lent;
}

bool
hg_lent_has_version(const HgLent *lent, const HgSegmentVersion *version)
{
	uint32 segment = version->first / HG_SEGMENT_BLOCKS;

	return segment < lent->nparts && segment < lent->graph->nsegments &&
		   lent->graph->serials[segment] == version->serial;
}

/* Mark the vertices of n rows of a segment, whose keys have been asked for. */
static void
hg_lent_mark_rows(HgLent *lent, const HgSegmentArray *array, const uint32 *rows, uint32 n)
{
	int64 keys[HG_BATCH_ROWS];

	for (uint32 i = 0; i < n; i++)
		keys[i] = hg_segment_unit(array->width, array->values, rows[i]);
	hg_flat_mark_vertices(&lent->graph->flat.shape, keys, n, lent->masked);
}

/* Mark the vertices of rows of a version that are not lent, all of them or those without a bit. */
static void
hg_lent_mark(HgLent *lent, const HgSegmentVersion *version, const uint64 *bits)
{
	HgSegmentArray array = hg_segment_array(version, hg_segment_find_column(version, &lent->key));
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
			hg_lent_mark_rows(lent, &array, rows, n);
			n = 0;
		}
	}
	hg_lent_mark_rows(lent, &array, rows, n);
}

/* Rows of a version are not lent: mark them, where they are few so far. */
static void
hg_lent_leave_out(HgLent *lent, const HgSegmentVersion *version, const uint64 *bits, uint64 count)
{
	Size bytes = hg_flat_vertices_bytes(&lent->graph->flat.shape);

	lent->left_out += count;
	if (!lent->marks || lent->left_out > lent->graph->flat.rows / HG_LENT_MARKED_PART)
		return;
	if (lent->masked == NULL)
	{
		lent->masked = MemoryContextAllocExtended(GetMemoryChunkContext(lent), bytes,
												  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		lent->bytes += bytes;
	}
	hg_lent_mark(lent, version, bits);
}

void
hg_lent_add(HgLent *lent, const HgServedSegment *segment, uint64 *bits, uint64 count)
{
	const HgSegmentVersion *version = segment->version;
	uint32 part = version->first / HG_SEGMENT_BLOCKS;

	lent->states[part] = count == 0 ? HG_FLAT_NONE : bits == NULL ? HG_FLAT_ALL : HG_FLAT_SOME;
	lent->bits[part] = bits;
	lent->counts[part] = (uint32) count;
	lent->rows += count;
	lent->places[part + 1] = version->nrows;
	lent->known++;
	if (count < version->nrows)
		hg_lent_leave_out(lent, version, bits, version->nrows - count);
	if (bits != NULL)
		lent->bytes += hg_segment_bits_bytes(version->nrows);
	for (int c = 0; c < lent->ncolumns && count > 0; c++)
	{
		HgLentColumn *column = &lent->columns[c];
		int at = hg_segment_find_column(version, &column->column);

		Assert(at >= 0);
		column->arrays[part] = palloc(sizeof(HgSegmentArray));
		*column->arrays[part] = hg_segment_array(version, at);
		column->maybe_null |= column->arrays[part]->valid != NULL;
	}
}

/* Know which rows of the graph are lent, by what is known of each segment. */
static void
hg_lent_select(HgLent *lent)
{
	uint32 known = 0; /* segments that the graph has rows of */

	lent->mask = (HgFlatMask){.nparts = lent->nparts,
							  .states = lent->states,
							  .bits = (const uint64_t *const *) lent->bits};
	for (uint32 part = 0; part < lent->graph->nsegments; part++)
		known += lent->graph->serials[part] != 0;
	lent->side = (HgFlatSide){.graph = &lent->graph->flat,
							  .mask = hg_lent_has_all(lent, lent->graph) ? NULL : &lent->mask};
	/* what a version had that is not served any more is not known */
	if (known == lent->known && lent->left_out <= lent->graph->flat.rows / HG_LENT_MARKED_PART)
		lent->side.masked = lent->masked;
}

void
hg_lent_end(HgLent *lent)
{
	/* what stands there are the rows of each segment */
	for (uint32 part = 0; part < lent->nparts; part++)
		lent->places[part + 1] += lent->places[part];
	hg_lent_select(lent);
}

void
hg_lent_leave(HgLent *lent, const HgServedSegment *segment, uint64 *bits, uint64 count)
{
	const uint32 part = segment->version->first / HG_SEGMENT_BLOCKS;
	const uint64 gone = lent->counts[part] - count;

	if (gone == 0)
		return;
	if (lent->bits[part] == NULL)
		lent->bytes += hg_segment_bits_bytes(segment->version->nrows);
	lent->states[part] = count == 0 ? HG_FLAT_NONE : HG_FLAT_SOME;
	lent->bits[part] = bits;
	lent->counts[part] = (uint32) count;
	lent->rows -= gone;
	hg_lent_leave_out(lent, segment->version, bits, gone);
}

void
hg_lent_decide(HgLent *lent)
{
	if (!hg_lent_is_undecided(lent))
		return;
	lent->decide(lent, lent->decide_arg);
	lent->undecided = NULL;
	hg_lent_select(lent);
}

bool
hg_lent_has_all(const HgLent *lent, const HgPinnedGraph *graph)
{
	for (uint32 part = 0; part < graph->nsegments; part++)
		if (graph->serials[part] != 0 &&
			(part >= lent->nparts || lent->states[part] != HG_FLAT_ALL))
			return false;
	return true;
}

/* Has another graph the rows of all segment versions that rows are lent of? */
static bool
hg_lent_is_in(const HgLent *lent, const HgPinnedGraph *graph)
{
	for (uint32 part = 0; part < lent->nparts; part++)
		if (lent->counts[part] > 0 &&
			(part >= graph->nsegments || graph->serials[part] != lent->graph->serials[part]))
			return false;
	return true;
}

HgPinnedGraph *
hg_lent_graph_by(const HgLent *lent, int column, const HgGraphPart *part)
{
	const HgGraphKey key = {
		.ncolumns = 1, .columns = {lent->columns[column].column}, .parts = {*part}};
	HgPinnedGraph *graph;

	if (hg_graph_key_equal(&key, hg_resident_graph_key(lent->graph)))
		return lent->graph;
	graph = hg_resident_graph_pin(lent->rel, &key);
	return graph != NULL && hg_lent_is_in(lent, graph) ? graph : NULL;
}

uint32
hg_lent_stride(const HgLent *lent)
{
	uint64 stride = 1;

	for (uint32 part = 0; part < lent->nparts; part++)
		stride = Max(stride, lent->places[part + 1] - lent->places[part]);
	return (uint32) stride;
}

/* ---------------------------------------------------------------------
 * Columns
 * ---------------------------------------------------------------------
 */

/* Where the values of rows lie, and which of them are NULL; memory is asked for them. */
static void
hg_lent_find(const HgLentColumn *column, const uint32 *rows, int nrows, char **places, bool *nulls)
{
	for (int i = 0; i < nrows; i++)
	{
		const HgSegmentArray *array = column->arrays[HG_FLAT_PART(rows[i])];

		places[i] =
			unconstify(char *, array->values) + (Size) HG_FLAT_NUMBER(rows[i]) * array->width;
		HG_PREFETCH(places[i]);
		if (column->maybe_null && array->valid != NULL)
			HG_PREFETCH(&array->valid[HG_FLAT_NUMBER(rows[i]) / 64]);
	}
	for (int i = 0; i < nrows && column->maybe_null; i++)
		nulls[i] =
			hg_segment_is_null(column->arrays[HG_FLAT_PART(rows[i])], HG_FLAT_NUMBER(rows[i]));
}

void
hg_lent_get(HgLent *lent, const uint32 *rows, int nrows, HgBatch *batch, const int *at)
{
	char *places[HG_BATCH_ROWS];

	/* a match of versions that are not pinned any more may not be looked at */
	if (lent->served->nsegments == 0)
		elog(ERROR, "resident columns have been let go in the middle of a join");
	for (int c = 0; c < lent->ncolumns; c++)
	{
		const HgLentColumn *column = &lent->columns[c];
		Datum *values;
		Size room;

		if (at[c] < 0)
			continue;
		values = batch->values[at[c]];
		room = column->room != NULL ? hg_resident_values_room(&column->column) / HG_BATCH_ROWS : 0;
		batch->has_nulls[at[c]] = column->maybe_null;
		hg_lent_find(column, rows, nrows, places, batch->nulls[at[c]]);
		if (column->column.by_value)
			hg_values_fetch(column->column.length, places, 0, nrows, values);
		else
			for (int i = 0; i < nrows; i++)
				hg_resident_values_fetch(&column->column, column->arrays[HG_FLAT_PART(rows[i])],
										 column->room != NULL ? column->room + i * room : NULL,
										 HG_FLAT_NUMBER(rows[i]), NULL, 1, &values[i]);
	}
}

int
hg_lent_next_of(const HgLent *lent, uint32 part, uint64 *at, uint32 *rows, int room)
{
	uint64 first = lent->places[part];
	uint64 end = lent->places[part + 1];
	int n = 0;

	if (lent->states[part] == HG_FLAT_NONE)
		*at = Max(*at, end);
	for (; *at < end && n < room; (*at)++)
	{
		uint32 number = (uint32) (*at - first);

		if (lent->states[part] == HG_FLAT_ALL || hg_segment_bit(lent->bits[part], number))
			rows[n++] = HG_FLAT_ROW(part, number);
	}
	return n;
}

int
hg_lent_next(const HgLent *lent, uint64 *at, uint32 *rows, int room)
{
	uint32 part = 0;
	int n = 0;

	/* the last segment that begins there, or ahead of it */
	for (uint32 end = lent->nparts; part + 1 < end;)
	{
		uint32 middle = part + (end - part) / 2;

		if (lent->places[middle] <= *at)
			part = middle;
		else
			end = middle;
	}
	for (; part < lent->nparts && n < room; part++)
	{
		CHECK_FOR_INTERRUPTS();
		n += hg_lent_next_of(lent, part, at, rows + n, room - n);
	}
	return n;
}
