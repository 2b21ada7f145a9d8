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
#include "executor/tuptable.h"
#include "utils/memutils.h"

#include "loader/hg_loader_column.h"
#include "loader/hg_loader_encode.h"

/* Room for so many rows at first. */
#define HG_ENCODE_ROWS 32768

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
	/* nothing is stored as such a string in practice */
	if (attribute->attlen == -2)
		return HG_REASON_COLUMN_STRING;
	return HG_REASON_NONE;
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
		encoder->offsets == NULL
			? MemoryContextAllocHuge(encoder->context, capacity * sizeof(OffsetNumber))
			: repalloc_huge(encoder->offsets, capacity * sizeof(OffsetNumber));
	for (int i = 0; i < encoder->ncolumns; i++)
		hg_encoded_column_reserve(&encoder->columns[i], capacity);
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
		hg_encoded_column_begin(&encoder->columns[i], context, columns[i]);
		encoder->last = Max(encoder->last, columns[i].number);
	}
	encoder->data.first = segment * HG_SEGMENT_BLOCKS;
	hg_encoder_reserve(encoder);
	MemoryContextSwitchTo(before);
	return encoder;
}

/* Take the row of a page that has this line pointer. */
static void
hg_encoder_add_row(HgEncoder *encoder, Page page, BlockNumber block, OffsetNumber offset)
{
	ItemId item = PageGetItemId(page, offset);
	int natts;

	encoder->tuple.t_len = ItemIdGetLength(item);
	encoder->tuple.t_tableOid = encoder->relation;
	encoder->tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
	ItemPointerSet(&encoder->tuple.t_self, block, offset);
	ExecStoreHeapTuple(&encoder->tuple, encoder->slot, false);
	slot_getsomeattrs(encoder->slot, encoder->last);
	natts = HeapTupleHeaderGetNatts(encoder->tuple.t_data);
	for (int i = 0; i < encoder->ncolumns; i++)
	{
		int number = encoder->columns[i].column.number - 1;

		hg_encoded_column_append(&encoder->columns[i], encoder->nrows,
								 encoder->slot->tts_values[number],
								 encoder->slot->tts_isnull[number], number >= natts);
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
		hg_encoded_column_finish(&encoder->columns[i], encoder->nrows, &columns[i]);
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
