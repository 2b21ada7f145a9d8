/*-------------------------------------------------------------------------
 *
 * hg_loader_encode.c
 *	  Makes the arrays of a segment version from copies of the table's pages.
 *
 * The rows of a page are deformed together, column by column, as a scan does it
 * (batch/hg_scan_tuples.h), and appended a column at a time.  The arrays grow with the rows: a
 * segment has up to 297,111 rows, and seldom as many.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/htup_details.h"
#include "utils/memutils.h"

#include "batch/hg_scan_tuples.h"
#include "loader/hg_loader_column.h"

/* Initial room, in rows. */
#define HG_ENCODE_ROWS 32768

StaticAssertDecl(MaxHeapTuplesPerPage <= HG_BATCH_ROWS, "a page has more rows than a batch");

struct HgEncoder
{
	MemoryContext context;
	HgTupleLayout *layout;
	HgBatch *batch; /* rows of a page; its columns are in the order of columns */
	HeapTupleHeader tuples[MaxHeapTuplesPerPage];
	uint32 nrows;
	uint32 capacity;
	int nblocks; /* number of blocks whose first_rows is set */
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
	/* in practice nothing is stored as a C string */
	if (attribute->attlen == -2)
		return HG_REASON_COLUMN_STRING;
	return HG_REASON_NONE;
}

/* Makes room for a page's rows. */
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
	AttrNumber *numbers = palloc(Max(ncolumns, 1) * sizeof(AttrNumber));

	encoder->context = context;
	encoder->ncolumns = ncolumns;
	encoder->columns = palloc0(Max(ncolumns, 1) * sizeof(HgEncodedColumn));
	for (int i = 0; i < ncolumns; i++)
	{
		hg_encoded_column_begin(&encoder->columns[i], context, columns[i]);
		numbers[i] = columns[i].number;
	}
	/* a copy that stays while the relation is closed and reopened */
	encoder->layout =
		hg_tuple_layout_create(CreateTupleDescCopyConstr(RelationGetDescr(rel)), ncolumns, numbers);
	encoder->batch = hg_batch_create(ncolumns);
	encoder->data.first = segment * HG_SEGMENT_BLOCKS;
	hg_encoder_reserve(encoder);
	MemoryContextSwitchTo(before);
	return encoder;
}

/* Appends the rows of the batch to column i. */
static void
hg_encoder_append_batch(HgEncoder *encoder, int i)
{
	const HgBatch *batch = encoder->batch;
	HgEncodedColumn *column = &encoder->columns[i];
	AttrNumber number = column->column.number;

	if (column->encoding == HG_ENCODING_FIXED && column->column.by_value && !batch->has_nulls[i])
	{
		hg_encoded_column_append_values(column, encoder->nrows, batch->values[i], batch->nrows);
		return;
	}
	for (int row = 0; row < batch->nrows; row++)
		hg_encoded_column_append(column, encoder->nrows + row, batch->values[i][row],
								 hg_batch_is_null(batch, i, row),
								 number > HeapTupleHeaderGetNatts(encoder->tuples[row]));
}

/* Sets first_rows up to block to.  Blocks that were not added have no rows. */
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
	int ntuples = 0;

	hg_encoder_advance(encoder, number);
	hg_encoder_reserve(encoder);
	for (OffsetNumber offset = FirstOffsetNumber; offset <= noffsets; offset++)
	{
		ItemId item = PageGetItemId(page, offset);

		if (!ItemIdIsNormal(item))
			continue;
		encoder->offsets[encoder->nrows + ntuples] = offset;
		encoder->tuples[ntuples++] = (HeapTupleHeader) PageGetItem(page, item);
	}
	hg_batch_clear(encoder->batch);
	hg_tuple_layout_add(encoder->layout, ntuples, encoder->tuples, encoder->batch);
	for (int i = 0; i < encoder->ncolumns; i++)
		hg_encoder_append_batch(encoder, i);
	encoder->nrows += ntuples;
	hg_block_bits_set(&encoder->data.taken, number);
	encoder->lsns[number] = captured->lsn;
	encoder->buffers[number] = captured->buffer;
}

Size
hg_encoder_fixed_bytes(const HgEncoder *encoder)
{
	Size row = 0;

	for (int i = 0; i < encoder->ncolumns; i++)
		if (encoder->columns[i].encoding == HG_ENCODING_FIXED)
			row += encoder->columns[i].column.length;
	return encoder->nrows * row;
}

const HgSegmentData *
hg_encoder_finish(HgEncoder *encoder, const HgCapture *capture)
{
	HgSegmentColumnData *columns = MemoryContextAllocZero(
		encoder->context, Max(encoder->ncolumns, 1) * sizeof(HgSegmentColumnData));

	hg_encoder_advance(encoder, HG_SEGMENT_BLOCKS);
	for (int i = 0; i < encoder->ncolumns; i++)
	{
		HgSegmentColumnData *column = &columns[i];

		hg_encoded_column_finish(&encoder->columns[i], encoder->nrows, column);
		column->bounds = hg_bounds_create(column, encoder->nrows);
	}
	encoder->data.map_lsn = capture->map_lsn;
	encoder->data.horizon = capture->horizon;
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
	MemoryContextDelete(encoder->context);
}
