/*-------------------------------------------------------------------------
 *
 * hg_sql_compare.c
 *	  Compares valid blocks with the heap.
 *
 * The valid blocks of each segment are determined without requiring any column.  Then the heap's
 * rows of these blocks are read in physical order.  Each is compared with the cached row at its
 * position, in all columns that the version has: line pointer, NULLs and bytes.  Graphs are
 * compared with the valid blocks (hg_sql_compare.c).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/tableam.h"
#include "access/tupmacs.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"

#include "batch/hg_graph_key.h"
#include "batch/hg_numeric.h"
#include "engine/hg_hash.h"
#include "resident/hg_resident_graph.h"
#include "sql/hg_sql_relation.h"
#include "sql/hg_sql_resident.h"

/* ---------------------------------------------------------------------
 * Compares the graphs of a table's keys with its valid blocks
 *
 * A graph and the segment versions are both copies of the table's rows; hg_sql_compare.c compares
 * the versions with the table.  All edges of the graph are read, bin by bin.  An edge of a valid
 * version must have the key that the version has, and lie in that key's bin.  A bit marks rows for
 * which an edge was seen.  Edges of versions that are not valid, which no join gets, must be of a
 * segment that the graph lists.
 *
 * MEMORY.  The keys of as many segments are held at a time as the statistics functions have memory
 * for, at least one.  The edges are read once for each time.
 * ---------------------------------------------------------------------
 */

/* A segment; it is not compared if the graph has other rows of it, or none. */
typedef struct HgComparedPart
{
	bool compared;
	uint32 nrows;
	int64 *keys;  /* [nrows] */
	uint64 *seen; /* [nrows] bits; set for rows without a key */
} HgComparedPart;

/* Begins to compare a segment, whose words are begun. */
static void
hg_compared_part_begin(HgComparedPart *part, HgGraphWords *words, uint32 key_width)
{
	part->compared = true;
	part->nrows = words->nrows;
	part->keys = palloc(Max(words->nrows, 1) * sizeof(int64));
	part->seen = palloc0(Max(hg_segment_bits_bytes(words->nrows), 1));
	for (uint32 first = 0; first < words->nrows;)
	{
		int n = hg_graph_words_next(words, first);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++, first++)
		{
			part->keys[first] =
				key_width == sizeof(int64) ? (int64) words->words[i] : (int32) words->words[i];
			if (words->nulls[i])
				part->seen[first / 64] |= UINT64CONST(1) << (first % 64);
		}
	}
}

/*
 * Begins to compare segments of the valid blocks that a graph has rows of, in
 * parts[graph->nsegments]: from the *next-th on, as many as fit in memory.  Advances *next.
 */
static void
hg_compared_parts_begin(const HgPinnedGraph *graph, HgGraphWords *words, const HgValidBlocks *valid,
						HgComparedPart *parts, int *next)
{
	uint64 limit = hg_sql_memory_limit() / (sizeof(int64) + 1); /* in rows */
	uint64 rows = 0;

	for (; *next < valid->nsegments; (*next)++)
	{
		const HgSegmentVersion *version = valid->segments[*next].version;
		uint32 segment = version->first / HG_SEGMENT_BLOCKS;

		if (segment >= graph->nsegments || graph->serials[segment] != version->serial ||
			!hg_graph_words_begin(words, version))
			continue;
		if (rows > 0 && rows + version->nrows > limit)
			return;
		hg_compared_part_begin(&parts[segment], words, graph->flat.shape.key_width);
		rows += version->nrows;
	}
}

/* Returns true if a graph may have an edge with this key in this bin, and lists its segment. */
static bool
hg_graph_edge_may_be(const HgPinnedGraph *graph, uint32 bin, int64 key, uint32 segment)
{
	uint32 hash = hg_hash_of_mixed64(hg_mix64((uint64) key));

	return segment < graph->nsegments && graph->serials[segment] != 0 &&
		   (graph->serials[segment] & HG_GRAPH_PASSED) == 0 &&
		   hg_vertex_of_hash(hash, graph->flat.shape.bins_log2) == bin;
}

/* Returns true if a segment has a row with this key, for which no edge was seen before. */
static bool
hg_compared_part_takes(HgComparedPart *part, uint32 number, int64 key)
{
	uint64 bit = UINT64CONST(1) << (number % 64);

	if (number >= part->nrows || part->keys[number] != key || (part->seen[number / 64] & bit) != 0)
		return false;
	part->seen[number / 64] |= bit;
	return true;
}

/* Ends a segment.  Returns the number of rows that have a key, and for which no edge was seen. */
static uint64
hg_compared_part_end(HgComparedPart *part)
{
	uint64 missing = 0;

	if (!part->compared)
		return 0;
	for (uint32 row = 0; row < part->nrows; row++)
		missing += !hg_segment_bit(part->seen, row);
	pfree(part->keys);
	pfree(part->seen);
	part->compared = false;
	return missing;
}

/* Returns the number of wrong edges of compared segments; with all, adds impossible edges. */
static uint64
hg_graph_compare_edges(const HgPinnedGraph *graph, HgComparedPart *parts, bool all)
{
	bool wide = graph->flat.shape.key_width == sizeof(int64);
	uint64 different = 0;

	for (uint32 bin = 0; bin < (uint32) 1 << graph->flat.shape.bins_log2; bin++)
	{
		const void *keys;
		const uint32 *rows;
		uint64 n = hg_flat_scan(&graph->flat, bin, &keys, &rows);

		CHECK_FOR_INTERRUPTS();
		for (uint64 i = 0; i < n; i++)
		{
			int64 key = wide ? ((const int64 *) keys)[i] : ((const int32 *) keys)[i];
			uint32 segment = HG_FLAT_PART(rows[i]);

			if (!hg_graph_edge_may_be(graph, bin, key, segment))
				different += all;
			else if (parts[segment].compared)
				different += !hg_compared_part_takes(&parts[segment], HG_FLAT_NUMBER(rows[i]), key);
		}
	}
	return different;
}

/* Returns the number of rows that a graph lacks, has more than once, or should not have. */
static uint64
hg_graph_compare(const HgPinnedGraph *graph, HgGraphWords *words, const HgValidBlocks *valid)
{
	HgComparedPart *parts = palloc0(Max(graph->nsegments, 1) * sizeof(HgComparedPart));
	uint64 different = 0;
	int next = 0;

	for (bool first = true; first || next < valid->nsegments; first = false)
	{
		hg_compared_parts_begin(graph, words, valid, parts, &next);
		different += hg_graph_compare_edges(graph, parts, first);
		for (uint32 i = 0; i < graph->nsegments; i++)
		{
			CHECK_FOR_INTERRUPTS();
			different += hg_compared_part_end(&parts[i]);
		}
	}
	return different;
}

/*
 * Returns the number of wrong rows in the graphs: missing, duplicate or superfluous ones, and rows
 * with another key or in another bin.
 */
static uint64
hg_sql_compare_graphs(Relation rel, const HgValidBlocks *valid)
{
	HgGraphKey *keys;
	int nkeys = hg_resident_graph_keys(rel, &keys);
	MemoryContext context = AllocSetContextCreate(
		CurrentMemoryContext, "HashGraph that is compared", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	uint64 different = 0;

	for (int i = 0; i < nkeys; i++)
	{
		HgPinnedGraph *graph = hg_resident_graph_peek(rel, &keys[i]);
		HgGraphWords *words = hg_graph_words_create(keys[i].ncolumns, keys[i].columns);

		/* no join uses a graph whose columns are hashed in another way now */
		if (graph != NULL && words != NULL && hg_graph_key_equal(&words->key, &keys[i]))
			different += hg_graph_compare(graph, words, valid);
		if (graph != NULL)
			hg_resident_graph_unpin(graph);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
	return different;
}

/* Returns true if a value of the heap equals the cached value of this row. */
static bool
hg_sql_compare_value(const HgResidentColumn *column, const HgSegmentArray *array, uint32 row,
					 Datum value, bool isnull)
{
	const char *cached;
	char bytes[HG_SCALED_BYTES];
	Size size;

	if (isnull || hg_segment_is_null(array, row))
		return isnull && hg_segment_is_null(array, row);
	if (array->form.encoding == HG_ENCODING_SCALED)
	{
		HgScaledFormat format = hg_scaled_format(array->form.scale);

		hg_scaled_store(&format, hg_segment_integer(array->width, array->values, row), bytes);
		cached = bytes;
	}
	else
		cached = hg_segment_value(array, row);
	size = hg_segment_value_bytes(column->length, cached);
	if (!column->by_value)
		return hg_segment_value_bytes(column->length, DatumGetPointer(value)) == size &&
			   memcmp(cached, DatumGetPointer(value), size) == 0;
	store_att_byval(bytes, value, column->length);
	return memcmp(cached, bytes, size) == 0;
}

/*
 * Returns true if a version's column is there, and has the definition of a column of the table.  A
 * dropped column is valid for nobody.
 */
static bool
hg_sql_compare_has_column(Relation rel, const HgSegmentVersion *version, int i)
{
	const HgResidentColumn *column = &version->columns[i].column;
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), column->number - 1);
	HgResidentColumn now = hg_resident_column(attribute);

	return hg_segment_has_column(version, i) && !attribute->attisdropped &&
		   hg_resident_column_equal(&now, column);
}

/* Returns true if the compared columns of a row are as in the heap. */
static bool
hg_sql_compare_row(const HgSegmentVersion *version, const HgSegmentArray *arrays,
				   const bool *compared, uint32 row, TupleTableSlot *slot)
{
	slot_getallattrs(slot);
	for (uint32 i = 0; i < version->ncolumns; i++)
	{
		const HgResidentColumn *column = &version->columns[i].column;
		int number = column->number - 1;

		if (compared[i] && !hg_sql_compare_value(column, &arrays[i], row, slot->tts_values[number],
												 slot->tts_isnull[number]))
			return false;
	}
	return true;
}

static void
hg_sql_compare_segment(Relation rel, Snapshot snapshot, const HgValidSegment *segment,
					   TupleTableSlot *slot, HgCompared *compared)
{
	const HgSegmentVersion *version = segment->version;
	HgSegmentRows rows = hg_segment_rows(version);
	HgSegmentArray *arrays = palloc0(Max(version->ncolumns, 1) * sizeof(HgSegmentArray));
	bool *has = palloc0(Max(version->ncolumns, 1) * sizeof(bool));
	uint16 *found = palloc0(HG_SEGMENT_BLOCKS * sizeof(uint16)); /* number of heap rows, by block */
	ItemPointerData first;
	ItemPointerData last;
	TableScanDesc scan;

	for (uint32 i = 0; i < version->ncolumns; i++)
	{
		has[i] = hg_sql_compare_has_column(rel, version, (int) i);
		if (has[i])
			arrays[i] = hg_segment_array(version, (int) i);
	}
	ItemPointerSet(&first, version->first, FirstOffsetNumber);
	ItemPointerSet(&last, version->first + HG_SEGMENT_BLOCKS - 1, MaxOffsetNumber);
	scan = hg_beginscan_tidrange(rel, snapshot, &first, &last);
	while (table_scan_getnextslot_tidrange(scan, ForwardScanDirection, slot))
	{
		int block = ItemPointerGetBlockNumber(&slot->tts_tid) - version->first;
		uint32 valid_rows = rows.first_rows[block + 1] - rows.first_rows[block];
		uint32 i = found[block];

		CHECK_FOR_INTERRUPTS();
		if (!hg_block_bits_test(segment->blocks, block))
			continue;
		found[block]++;
		if (i >= valid_rows ||
			hg_segment_offset(&rows, block, (int) i) !=
				ItemPointerGetOffsetNumber(&slot->tts_tid) ||
			!hg_sql_compare_row(version, arrays, has, rows.first_rows[block] + i, slot))
			compared->different++;
	}
	table_endscan(scan);

	for (int block = 0; block < HG_SEGMENT_BLOCKS; block++)
	{
		uint32 valid_rows = rows.first_rows[block + 1] - rows.first_rows[block];

		if (!hg_block_bits_test(segment->blocks, block))
			continue;
		compared->rows += valid_rows;
		if (found[block] < valid_rows)
			compared->different += valid_rows - found[block];
	}
	pfree(arrays);
	pfree(has);
	pfree(found);
}

HgCompared
hg_sql_compare_valid(Relation rel, Snapshot snapshot)
{
	HgCompared compared = {0};
	HgValidBlocks *valid = hg_validity_find(rel, snapshot, RelationGetNumberOfBlocks(rel), NULL, 0);
	TupleTableSlot *slot;

	if (valid == NULL)
		return compared;
	slot = table_slot_create(rel, NULL);
	for (int i = 0; i < valid->nsegments; i++)
		hg_sql_compare_segment(rel, snapshot, &valid->segments[i], slot, &compared);
	ExecDropSingleTupleTableSlot(slot);
	compared.different += hg_sql_compare_graphs(rel, valid);
	hg_validity_release(valid);
	return compared;
}
