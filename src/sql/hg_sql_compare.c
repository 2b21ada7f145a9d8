/*-------------------------------------------------------------------------
 *
 * hg_sql_compare.c
 *	  Compares valid blocks with the heap.
 *
 * The valid blocks of each segment are determined without requiring any column.  Then the heap's
 * rows of these blocks are read in physical order.  Each is compared with the cached row at its
 * position, in all columns that the version has: line pointer, NULLs and bytes.  Graphs are
 * compared with the valid blocks (hg_sql_compare_graph.c).
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
#include "storage/bufmgr.h"

#include "batch/hg_numeric.h"
#include "sql/hg_sql_compare.h"
#include "sql/hg_sql_compare_graph.h"

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
