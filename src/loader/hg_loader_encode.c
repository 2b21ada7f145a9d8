/*-------------------------------------------------------------------------
 *
 * hg_loader_encode.c
 *	  Rows of a table's pages to the arrays of a segment version.
 *
 * The arrays grow as rows come: a segment has up to 297,111 of them, and seldom as many.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "executor/tuptable.h"
#include "utils/memutils.h"

#include "loader/hg_loader_bounds.h"
#include "loader/hg_loader_encode.h"

/* Room for so many rows at first. */
#define HG_ENCODE_ROWS 32768

typedef struct HgEncodedColumn
{
	HgResidentColumn column;
	char *values;  /* [capacity x width] */
	uint64 *valid; /* [capacity] bits */
	bool has_nulls;
} HgEncodedColumn;

struct HgEncoder
{
	MemoryContext context;
	Oid relation;
	TupleTableSlot *slot;
	HeapTupleData tuple; /* that the slot has */
	int last;			 /* attribute that is needed */
	uint32 nrows;
	uint32 capacity;
	int nblocks; /* whose first row is known */
	uint32 first_rows[HG_SEGMENT_BLOCKS + 1];
	XLogRecPtr lsns[HG_SEGMENT_BLOCKS];
	Buffer buffers[HG_SEGMENT_BLOCKS];
	OffsetNumber *offsets; /* [capacity] */
	int ncolumns;
	HgEncodedColumn *columns;
	HgSegmentData data;
};

HgResidentReason
hg_encode_may_take_in(Form_pg_attribute attribute)
{
	if (attribute->attisdropped)
		return HG_REASON_COLUMN_DROPPED;
	if (hg_attribute_is_virtual(attribute))
		return HG_REASON_COLUMN_VIRTUAL;
	if (attribute->attlen <= 0 || attribute->attlen > HG_ENCODE_MAX_WIDTH)
		return HG_REASON_COLUMN_WIDTH;
	return HG_REASON_NONE;
}

static void *
hg_encoder_enlarge(HgEncoder *encoder, void *array, Size bytes)
{
	if (array == NULL)
		return MemoryContextAllocHuge(encoder->context, bytes);
	return repalloc_huge(array, bytes);
}

/* Make room for a page's rows. */
static void
hg_encoder_reserve(HgEncoder *encoder)
{
	uint32 capacity = encoder->capacity;

	if (encoder->nrows + MaxHeapTuplesPerPage <= capacity)
		return;
	capacity = Max(HG_ENCODE_ROWS, 2 * capacity);
	encoder->offsets =
		hg_encoder_enlarge(encoder, encoder->offsets, capacity * sizeof(OffsetNumber));
	for (int i = 0; i < encoder->ncolumns; i++)
	{
		HgEncodedColumn *column = &encoder->columns[i];

		column->values =
			hg_encoder_enlarge(encoder, column->values, (Size) capacity * column->column.length);
		column->valid = hg_encoder_enlarge(encoder, column->valid, capacity / 8);
	}
	encoder->capacity = capacity;
}

HgEncoder *
hg_encoder_begin(Relation rel, uint32 segment, const HgResidentColumn *columns, int ncolumns)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "hashgraph segment", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	HgEncoder *encoder = palloc0(sizeof(HgEncoder));

	encoder->context = context;
	encoder->relation = RelationGetRelid(rel);
	encoder->slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);
	encoder->ncolumns = ncolumns;
	encoder->columns = palloc0(Max(ncolumns, 1) * sizeof(HgEncodedColumn));
	for (int i = 0; i < ncolumns; i++)
	{
		encoder->columns[i].column = columns[i];
		encoder->last = Max(encoder->last, columns[i].number);
	}
	encoder->data.first = segment * HG_SEGMENT_BLOCKS;
	hg_encoder_reserve(encoder);
	MemoryContextSwitchTo(before);
	return encoder;
}

/* Append a value to a column, as the row of that number. */
static void
hg_encoder_append(HgEncodedColumn *column, uint32 row, Datum value, bool isnull)
{
	int width = column->column.length;
	char *place = column->values + (Size) row * width;
	uint64 bit = UINT64CONST(1) << (row % 64);

	if (row % 64 == 0)
		column->valid[row / 64] = 0;
	if (isnull)
	{
		memset(place, 0, width);
		column->has_nulls = true;
		return;
	}
	column->valid[row / 64] |= bit;
	if (column->column.by_value)
		store_att_byval(place, value, width);
	else
		memcpy(place, DatumGetPointer(value), width);
}

/* Take the row of a page that has this line pointer. */
static void
hg_encoder_add_row(HgEncoder *encoder, Page page, BlockNumber block, OffsetNumber offset)
{
	ItemId item = PageGetItemId(page, offset);

	encoder->tuple.t_len = ItemIdGetLength(item);
	encoder->tuple.t_tableOid = encoder->relation;
	encoder->tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
	ItemPointerSet(&encoder->tuple.t_self, block, offset);
	ExecStoreHeapTuple(&encoder->tuple, encoder->slot, false);
	slot_getsomeattrs(encoder->slot, encoder->last);
	for (int i = 0; i < encoder->ncolumns; i++)
	{
		int number = encoder->columns[i].column.number - 1;

		hg_encoder_append(&encoder->columns[i], encoder->nrows, encoder->slot->tts_values[number],
						  encoder->slot->tts_isnull[number]);
	}
	encoder->offsets[encoder->nrows++] = offset;
}

/* Blocks before this one that did not come have no rows. */
static void
hg_encoder_advance(HgEncoder *encoder, int to)
{
	while (encoder->nblocks <= to)
		encoder->first_rows[encoder->nblocks++] = encoder->nrows;
}

void
hg_encoder_add_page(HgEncoder *encoder, BlockNumber block, HgCapturedPage *captured)
{
	Page page = (Page) captured->content.data;
	OffsetNumber noffsets = PageGetMaxOffsetNumber(page);
	int number = block % HG_SEGMENT_BLOCKS;

	hg_encoder_advance(encoder, number);
	hg_encoder_reserve(encoder);
	for (OffsetNumber offset = FirstOffsetNumber; offset <= noffsets; offset++)
		if (ItemIdIsNormal(PageGetItemId(page, offset)))
			hg_encoder_add_row(encoder, page, block, offset);
	ExecClearTuple(encoder->slot);
	hg_block_bits_set(&encoder->data.taken, number);
	encoder->lsns[number] = captured->lsn;
	encoder->buffers[number] = captured->buffer;
}

const HgSegmentData *
hg_encoder_finish(HgEncoder *encoder, XLogRecPtr map_lsn)
{
	HgSegmentColumnData *columns = MemoryContextAllocZero(
		encoder->context, Max(encoder->ncolumns, 1) * sizeof(HgSegmentColumnData));

	hg_encoder_advance(encoder, HG_SEGMENT_BLOCKS);
	for (int i = 0; i < encoder->ncolumns; i++)
	{
		columns[i].column = encoder->columns[i].column;
		columns[i].values = encoder->columns[i].values;
		columns[i].valid = encoder->columns[i].has_nulls ? encoder->columns[i].valid : NULL;
		columns[i].bounds =
			hg_bounds_create(&columns[i].column, columns[i].values, columns[i].valid, encoder->nrows);
	}
	encoder->data.map_lsn = map_lsn;
	encoder->data.first_rows = encoder->first_rows;
	encoder->data.lsns = encoder->lsns;
	encoder->data.buffers = encoder->buffers;
	encoder->data.offsets = encoder->offsets;
	encoder->data.ncolumns = encoder->ncolumns;
	encoder->data.columns = columns;
	return &encoder->data;
}

void
hg_encoder_end(HgEncoder *encoder)
{
	ExecDropSingleTupleTableSlot(encoder->slot);
	MemoryContextDelete(encoder->context);
}
