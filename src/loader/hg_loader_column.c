/*-------------------------------------------------------------------------
 *
 * hg_loader_column.c
 *	  Collects the values of a segment's column, and makes its arrays from them.
 *
 * Values that are not FIXED are PACKED first: their bytes are copied from the page.  So they use
 * no more memory than the pages, plus the default of missing rows once.  When all values are
 * there, other encodings are tried: scaled integers for numerics, and otherwise a dictionary, if
 * that is smaller.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "utils/memutils.h"

#include "batch/hg_numeric.h"
#include "batch/hg_values.h"
#include "loader/hg_loader_column.h"
#include "loader/hg_loader_dictionary.h"

/* Initial room for packed values, in bytes. */
#define HG_PACKED_ROOM ((Size) 64 * 1024)

static void *
hg_encoded_enlarge(MemoryContext context, void *array, Size bytes)
{
	if (array == NULL)
		return MemoryContextAllocHuge(context, bytes);
	return repalloc_huge(array, bytes);
}

void
hg_encoded_column_begin(HgEncodedColumn *column, MemoryContext context, HgResidentColumn of)
{
	bool fixed = of.length > 0 && of.length <= HG_FIXED_WIDTH;

	*column = (HgEncodedColumn){.context = context,
								.column = of,
								.encoding = fixed ? HG_ENCODING_FIXED : HG_ENCODING_PACKED,
								.alignby = (int) att_align_nominal(1, of.align)};
}

void
hg_encoded_column_reserve(HgEncodedColumn *column, uint32 capacity)
{
	column->valid =
		hg_encoded_enlarge(column->context, column->valid, hg_segment_bits_bytes(capacity));
	if (column->encoding == HG_ENCODING_FIXED)
		column->values = hg_encoded_enlarge(column->context, column->values,
											(Size) capacity * column->column.length);
	else
		column->starts = hg_encoded_enlarge(column->context, column->starts,
											(capacity / HG_GROUP_ROWS + 1) * sizeof(uint32));
	if (column->missing != NULL)
	{
		Size before = hg_segment_bits_bytes(column->capacity);

		column->missing = repalloc_huge(column->missing, hg_segment_bits_bytes(capacity));
		memset((char *) column->missing + before, 0, hg_segment_bits_bytes(capacity) - before);
	}
	column->capacity = capacity;
}

/* Appends the bytes of a value to the packed ones.  Returns their offset. */
static Size
hg_encoded_column_pack(HgEncodedColumn *column, const char *value)
{
	int length = column->column.length;
	Size size = hg_segment_value_bytes(length, value);
	Size start = column->nbytes;

	/* the first byte of a longer header may be zero too, so the value itself is tested */
	if (length != -1 || !VARATT_IS_SHORT(value))
		start = TYPEALIGN(column->alignby, start);
	if (start + size > column->room)
	{
		column->room = Max(Max(2 * column->room, HG_PACKED_ROOM), start + size);
		column->bytes = hg_encoded_enlarge(column->context, column->bytes, column->room);
	}
	memset(column->bytes + column->nbytes, 0, start - column->nbytes);
	memcpy(column->bytes + start, value, size);
	column->nbytes = start + size;
	return start;
}

/* Notes that a row is missing, and has this value. */
static void
hg_encoded_column_set_missing(HgEncodedColumn *column, uint32 row, const char *value)
{
	Assert(column->missing == NULL || column->missing_value == value);
	column->missing_value = value;
	if (column->missing == NULL)
		column->missing =
			MemoryContextAllocZero(column->context, hg_segment_bits_bytes(column->capacity));
	column->missing[row / 64] |= UINT64CONST(1) << (row % 64);
}

void
hg_encoded_column_append(HgEncodedColumn *column, uint32 row, Datum value, bool isnull,
						 bool missing)
{
	int width = column->column.length;
	bool fixed = column->encoding == HG_ENCODING_FIXED;

	if (row % 64 == 0)
		column->valid[row / 64] = 0;
	if (!fixed && row % HG_GROUP_ROWS == 0)
		column->starts[row / HG_GROUP_ROWS] = (uint32) column->nbytes;
	if (isnull)
	{
		if (fixed)
			memset(column->values + (Size) row * width, 0, width);
		column->has_nulls = true;
		return;
	}
	column->valid[row / 64] |= UINT64CONST(1) << (row % 64);
	if (fixed && column->column.by_value)
		store_att_byval(column->values + (Size) row * width, value, width);
	else if (fixed)
		memcpy(column->values + (Size) row * width, DatumGetPointer(value), width);
	else if (missing)
		hg_encoded_column_set_missing(column, row, DatumGetPointer(value));
	else
		hg_encoded_column_pack(column, DatumGetPointer(value));
}

/* Notes that n rows from this one on are not NULL. */
static void
hg_encoded_column_set_valid(HgEncodedColumn *column, uint32 row, int n)
{
	uint32 end = row + n;

	while (row < end)
	{
		int bit = row % 64;
		int take = Min(64 - bit, (int) (end - row));

		if (bit == 0)
			column->valid[row / 64] = 0;
		column->valid[row / 64] |= PG_UINT64_MAX >> (64 - take) << bit;
		row += take;
	}
}

void
hg_encoded_column_append_values(HgEncodedColumn *column, uint32 row, const Datum *values, int n)
{
	int width = column->column.length;

	hg_values_store(width, column->values + (Size) row * width, values, NULL, n);
	hg_encoded_column_set_valid(column, row, n);
}

static void
hg_encoded_column_part(HgSegmentColumnData *data, HgSegmentPart part, const void *array, Size bytes)
{
	data->parts[part].array = array;
	data->parts[part].bytes = array != NULL ? bytes : 0;
}

static void
hg_encoded_column_finish_fixed(HgEncodedColumn *column, uint32 nrows, HgSegmentColumnData *data)
{
	data->form = (HgSegmentForm){.encoding = HG_ENCODING_FIXED, .width = column->column.length};
	hg_encoded_column_part(data, HG_PART_VALUES, column->values,
						   (Size) nrows * column->column.length);
}

static void
hg_encoded_column_finish_packed(HgEncodedColumn *column, uint32 nrows, HgSegmentColumnData *data)
{
	uint32 ngroups = (nrows + HG_GROUP_ROWS - 1) / HG_GROUP_ROWS;

	data->form = (HgSegmentForm){.encoding = HG_ENCODING_PACKED};
	column->starts[ngroups] = (uint32) column->nbytes;
	if (column->missing != NULL)
		data->form.missing_at = (uint32) hg_encoded_column_pack(column, column->missing_value);
	hg_encoded_column_part(data, HG_PART_STARTS, column->starts, (ngroups + 1) * sizeof(uint32));
	hg_encoded_column_part(data, HG_PART_MISSING, column->missing, hg_segment_bits_bytes(nrows));
	hg_encoded_column_part(data, HG_PART_BYTES, column->bytes, column->nbytes);
}

/* Returns the packed values as a reader would see them. */
static HgSegmentArray
hg_encoded_column_packed(const HgEncodedColumn *column, const HgSegmentColumnData *data)
{
	return (HgSegmentArray){.form = data->form,
							.length = column->column.length,
							.alignby = column->alignby,
							.valid = column->has_nulls ? column->valid : NULL,
							.starts = column->starts,
							.missing = column->missing,
							.bytes = column->bytes};
}

/* Returns the width in bytes of integers within these bounds. */
static int
hg_encoded_width(int64 least, int64 greatest)
{
	if (least >= PG_INT8_MIN && greatest <= PG_INT8_MAX)
		return sizeof(int8);
	if (least >= PG_INT16_MIN && greatest <= PG_INT16_MAX)
		return sizeof(int16);
	if (least >= PG_INT32_MIN && greatest <= PG_INT32_MAX)
		return sizeof(int32);
	return sizeof(int64);
}

/* Converts integers to the given width in place. */
static void
hg_encoded_narrow(int64 *integers, uint32 n, int width)
{
	for (uint32 i = 0; i < n; i++)
		switch (width)
		{
			case sizeof(int8):
				((int8 *) integers)[i] = (int8) integers[i];
				break;
			case sizeof(int16):
				((int16 *) integers)[i] = (int16) integers[i];
				break;
			case sizeof(int32):
				((int32 *) integers)[i] = (int32) integers[i];
				break;
			default:
				return;
		}
}

/*
 * Computes the scaled integers of packed numerics, and their bounds.  Returns their scale; -1 if
 * some have no scaled integer or another scale, or all are NULL.
 */
static int
hg_encoded_scaled(const HgSegmentArray *packed, uint32 nrows, int64 *integers, int64 *least,
				  int64 *greatest)
{
	const char *pointer = packed->bytes;
	int common = -1;

	*least = PG_INT64_MAX;
	*greatest = PG_INT64_MIN;
	for (uint32 row = 0; row < nrows; row++)
	{
		int scale;

		integers[row] = 0;
		if (hg_segment_is_null(packed, row))
			continue;
		pointer = hg_segment_align(packed->length, packed->alignby, pointer);
		if (!hg_scaled_load(pointer, &integers[row], &scale) || (common >= 0 && scale != common))
			return -1;
		common = scale;
		*least = Min(*least, integers[row]);
		*greatest = Max(*greatest, integers[row]);
		pointer += hg_segment_value_bytes(packed->length, pointer);
	}
	return common;
}

/* Replaces packed numerics by scaled integers; returns false if that is not possible. */
static bool
hg_encoded_column_try_scaled(HgEncodedColumn *column, uint32 nrows, HgSegmentColumnData *data)
{
	HgSegmentArray packed = hg_encoded_column_packed(column, data);
	int64 *integers;
	int64 least;
	int64 greatest;
	int scale;
	int width;

	/* a default that is in no row has another header than a value in a row */
	if (column->column.type != NUMERICOID || column->missing != NULL || nrows == 0)
		return false;
	integers = MemoryContextAllocHuge(column->context, nrows * sizeof(int64));
	scale = hg_encoded_scaled(&packed, nrows, integers, &least, &greatest);
	if (scale < 0)
	{
		pfree(integers);
		return false;
	}
	width = hg_encoded_width(least, greatest);
	hg_encoded_narrow(integers, nrows, width);
	data->form = (HgSegmentForm){.encoding = HG_ENCODING_SCALED, .width = width, .scale = scale};
	hg_encoded_column_part(data, HG_PART_VALUES, integers, (Size) nrows * width);
	hg_encoded_column_part(data, HG_PART_STARTS, NULL, 0);
	hg_encoded_column_part(data, HG_PART_BYTES, NULL, 0);
	return true;
}

/* Replaces the packed values by a dictionary, if that is smaller. */
static void
hg_encoded_column_try_dictionary(HgEncodedColumn *column, uint32 nrows, HgSegmentColumnData *data)
{
	HgSegmentArray packed = hg_encoded_column_packed(column, data);
	Size taken = data->parts[HG_PART_STARTS].bytes + data->parts[HG_PART_MISSING].bytes +
				 data->parts[HG_PART_BYTES].bytes;
	HgDictionary dictionary;

	if (!hg_dictionary_make(column->context, &packed, nrows, taken, &dictionary))
		return;
	data->form = (HgSegmentForm){.encoding = HG_ENCODING_DICTIONARY,
								 .width = dictionary.width,
								 .ncodes = dictionary.ncodes,
								 .widest = dictionary.widest};
	hg_encoded_column_part(data, HG_PART_VALUES, dictionary.codes, (Size) nrows * dictionary.width);
	hg_encoded_column_part(data, HG_PART_STARTS, dictionary.starts,
						   dictionary.ncodes * sizeof(uint32));
	hg_encoded_column_part(data, HG_PART_MISSING, NULL, 0);
	hg_encoded_column_part(data, HG_PART_BYTES, dictionary.bytes, dictionary.nbytes);
}

void
hg_encoded_column_finish(HgEncodedColumn *column, uint32 nrows, HgSegmentColumnData *data)
{
	*data = (HgSegmentColumnData){.column = column->column};
	hg_encoded_column_part(data, HG_PART_VALID, column->has_nulls ? column->valid : NULL,
						   hg_segment_bits_bytes(nrows));
	if (column->encoding == HG_ENCODING_FIXED)
		hg_encoded_column_finish_fixed(column, nrows, data);
	else
	{
		hg_encoded_column_finish_packed(column, nrows, data);
		if (!hg_encoded_column_try_scaled(column, nrows, data))
			hg_encoded_column_try_dictionary(column, nrows, data);
	}
}
