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
#include "common/hashfn.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "batch/hg_batch.h"
#include "batch/hg_numeric.h"
#include "batch/hg_value_order.h"
#include "batch/hg_values.h"
#include "loader/hg_loader_column.h"

/* ---------------------------------------------------------------------
 * Computes the least and the greatest value of a segment's column
 * ---------------------------------------------------------------------
 */

/* Extends bounds by the integers of n rows from first on. */
static void
hg_bounds_extend(HgSegmentBounds *bounds, const int64 *integers, const uint64 *valid, uint32 first,
				 int n)
{
	int64 least = bounds->least;
	int64 greatest = bounds->greatest;

	for (int i = 0; i < n; i++)
	{
		uint32 row = first + i;

		/* NULL rows have a value of zeroes */
		if (valid != NULL && (valid[row / 64] >> (row % 64) & 1) == 0)
			continue;
		bounds->all_nulls = false;
		least = Min(least, integers[i]);
		greatest = Max(greatest, integers[i]);
	}
	bounds->least = least;
	bounds->greatest = greatest;
}

/* Computes the integers that n rows compare as, or their scaled integers. */
static void
hg_bounds_integers(const HgSegmentColumnData *column, HgValueOrder order, uint32 first, int n,
				   int64 *integers)
{
	const char *values = column->parts[HG_PART_VALUES].array;
	Datum datums[HG_BATCH_ROWS];

	if (column->form.encoding == HG_ENCODING_SCALED)
	{
		for (int i = 0; i < n; i++)
			integers[i] = hg_segment_integer(column->form.width, values, first + i);
		return;
	}
	hg_values_load(column->form.width, values + (Size) first * column->form.width, n, datums);
	hg_order_integers(order, column->form.width, datums, n, integers);
}

HgSegmentBounds
hg_bounds_create(const HgSegmentColumnData *column, uint32 nrows)
{
	const uint64 *valid = column->parts[HG_PART_VALID].array;
	HgValueOrder order = hg_value_order(column->column.type);
	HgSegmentBounds bounds = {.known = column->form.encoding == HG_ENCODING_SCALED ||
									   (column->column.by_value && hg_order_is_integer(order)),
							  .all_nulls = true,
							  .least = PG_INT64_MAX,
							  .greatest = PG_INT64_MIN};

	if (!bounds.known)
	{
		for (uint32 row = 0; bounds.all_nulls && row < nrows; row++)
			bounds.all_nulls = valid != NULL && !hg_segment_bit(valid, row);
		return bounds;
	}
	for (uint32 first = 0; first < nrows; first += HG_BATCH_ROWS)
	{
		int n = (int) Min(nrows - first, HG_BATCH_ROWS);
		int64 integers[HG_BATCH_ROWS];

		hg_bounds_integers(column, order, first, n, integers);
		hg_bounds_extend(&bounds, integers, valid, first, n);
	}
	return bounds;
}

/* ---------------------------------------------------------------------
 * A set of distinct values, with a code for each
 *
 * A hash table with open addressing finds codes by the bytes of values.
 * ---------------------------------------------------------------------
 */

HgCodes *
hg_codes_create(int length, int alignby, uint32 most)
{
	HgCodes *codes = palloc(sizeof(HgCodes));
	uint32 nslots = pg_nextpower2_32(2 * most);

	*codes = (HgCodes){.length = length, .alignby = alignby, .most = most, .mask = nslots - 1};
	codes->values = palloc(most * sizeof(char *));
	codes->hashes = palloc(most * sizeof(uint32));
	codes->slots = palloc(nslots * sizeof(uint32));
	memset(codes->slots, 0xff, nslots * sizeof(uint32));
	return codes;
}

/* Returns where a value begins that is laid out after values that end at end. */
static Size
hg_codes_start(const HgCodes *codes, const char *value, Size end)
{
	if (codes->length == -1 && VARATT_IS_SHORT(value))
		return end;
	return TYPEALIGN(codes->alignby, end);
}

uint32
hg_codes_find(HgCodes *codes, const char *value)
{
	Size size = hg_segment_value_bytes(codes->length, value);
	uint32 hash = hash_bytes((const unsigned char *) value, (int) size);
	uint32 slot = hash & codes->mask;
	uint32 code;

	/* a value begins with its length, so comparing lengths reads no byte beyond it */
	for (; (code = codes->slots[slot]) != HG_NO_CODE; slot = (slot + 1) & codes->mask)
		if (codes->hashes[code] == hash &&
			hg_segment_value_bytes(codes->length, codes->values[code]) == size &&
			memcmp(codes->values[code], value, size) == 0)
			return code;
	if (codes->ncodes == codes->most)
		return HG_NO_CODE;
	code = codes->ncodes++;
	codes->values[code] = value;
	codes->hashes[code] = hash;
	codes->slots[slot] = code;
	codes->nbytes = hg_codes_start(codes, value, codes->nbytes) + size;
	return code;
}

uint32
hg_codes_fill(const HgCodes *codes, uint32 *starts, char *bytes)
{
	uint32 widest = 0;
	Size end = 0;

	for (uint32 code = 0; code < codes->ncodes; code++)
	{
		const char *value = codes->values[code];
		Size size = hg_segment_value_bytes(codes->length, value);
		Size start = hg_codes_start(codes, value, end);

		starts[code] = (uint32) start;
		memcpy(bytes + start, value, size);
		widest = Max(widest, (uint32) size);
		end = start + size;
	}
	return widest;
}

/* ---------------------------------------------------------------------
 * Makes a dictionary of the packed values of a segment's column
 *
 * A sample of the rows is tried first, as most columns without a dictionary have far too many
 * values.
 * ---------------------------------------------------------------------
 */

/*
 * Rows of the sample, the part of them that needs values for the sample to say anything, and
 * repeated values that make a dictionary likely.  If as many values as a dictionary may have are
 * equally frequent, some 30 of the sample's values are repeated.
 */
#define HG_SAMPLE_ROWS 2048
#define HG_SAMPLE_VALUES_PART 4
#define HG_SAMPLE_REPEATED 8

/* State of encoding a column's rows. */
typedef struct HgEncoding
{
	const HgSegmentArray *packed;
	HgCodes *codes;
	uint32 missing; /* code of missing rows, or HG_NO_CODE */
} HgEncoding;

static HgEncoding
hg_encoding_begin(const HgSegmentArray *packed, uint32 most)
{
	return (HgEncoding){.packed = packed,
						.codes = hg_codes_create(packed->length, packed->alignby, most),
						.missing = HG_NO_CODE};
}

/* Returns the code of a row.  The value of missing rows, which is large, is looked up once. */
static uint32
hg_encoding_row(HgEncoding *encoding, uint32 row, const char *value)
{
	if (!hg_segment_is_missing(encoding->packed, row))
		return hg_codes_find(encoding->codes, value);
	if (encoding->missing == HG_NO_CODE)
		encoding->missing = hg_codes_find(encoding->codes, value);
	return encoding->missing;
}

/* Returns true if a dictionary seems possible. */
static bool
hg_dictionary_is_likely(const HgSegmentArray *packed, uint32 nrows)
{
	HgEncoding encoding;
	int seen = 0;

	if (nrows <= 2 * HG_SAMPLE_ROWS)
		return true;
	encoding = hg_encoding_begin(packed, HG_SAMPLE_ROWS);
	for (uint32 i = 0; i < HG_SAMPLE_ROWS; i++)
	{
		uint32 row = (uint32) ((uint64) i * nrows / HG_SAMPLE_ROWS);

		if (hg_segment_is_null(packed, row))
			continue;
		seen++;
		hg_encoding_row(&encoding, row, hg_segment_value(packed, row));
	}
	return seen < HG_SAMPLE_ROWS / HG_SAMPLE_VALUES_PART ||
		   seen - (int) encoding.codes->ncodes >= HG_SAMPLE_REPEATED;
}

/* Finds the codes of all rows; false if there are too many, or they use more than limit bytes. */
static bool
hg_dictionary_encode(HgEncoding *encoding, uint32 nrows, Size limit, uint16 *of_rows)
{
	const HgSegmentArray *packed = encoding->packed;
	const char *pointer = NULL;

	for (uint32 row = 0; row < nrows; row++)
	{
		const char *value = NULL;
		uint32 code = 0;

		if (row % HG_GROUP_ROWS == 0)
			pointer = hg_segment_group(packed, row);
		if (hg_segment_is_missing(packed, row))
			value = packed->bytes + packed->form.missing_at;
		else if (!hg_segment_is_null(packed, row))
		{
			value = hg_segment_align(packed->length, packed->alignby, pointer);
			pointer = value + hg_segment_value_bytes(packed->length, value);
		}
		if (value != NULL)
			code = hg_encoding_row(encoding, row, value);
		if (code == HG_NO_CODE || encoding->codes->nbytes > limit)
			return false;
		of_rows[row] = (uint16) code;
	}
	return true;
}

/*
 * Makes a dictionary of the PACKED values of nrows rows, with its arrays in context.  Returns
 * false if it would have too many values, or take limit bytes or more.
 */
static bool
hg_dictionary_make(MemoryContext context, const HgSegmentArray *packed, uint32 nrows, Size limit,
				   HgLoaderDictionary *dictionary)
{
	MemoryContext work =
		AllocSetContextCreate(context, "hashgraph dictionary", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(work);
	HgCodes *codes = NULL;
	uint16 *of_rows;
	bool made = false;

	if (nrows > 0 && hg_dictionary_is_likely(packed, nrows))
	{
		HgEncoding encoding = hg_encoding_begin(packed, Min(nrows, HG_MOST_CODES));

		codes = encoding.codes;
		of_rows = palloc(nrows * sizeof(uint16));
		made = hg_dictionary_encode(&encoding, nrows, limit, of_rows) && codes->ncodes > 0;
	}
	MemoryContextSwitchTo(before);
	if (made)
	{
		dictionary->ncodes = codes->ncodes;
		dictionary->width = codes->ncodes <= 256 ? 1 : 2;
		made = codes->nbytes + codes->ncodes * sizeof(uint32) + (Size) nrows * dictionary->width <
			   limit;
	}
	if (made)
	{
		dictionary->starts = MemoryContextAlloc(context, codes->ncodes * sizeof(uint32));
		dictionary->nbytes = codes->nbytes;
		dictionary->bytes = MemoryContextAllocHuge(context, codes->nbytes);
		memset(dictionary->bytes, 0, codes->nbytes);
		dictionary->widest = hg_codes_fill(codes, dictionary->starts, dictionary->bytes);
		dictionary->codes = MemoryContextAlloc(context, (Size) nrows * dictionary->width);
		if (dictionary->width == 2)
			memcpy(dictionary->codes, of_rows, (Size) nrows * sizeof(uint16));
		else
			for (uint32 row = 0; row < nrows; row++)
				((uint8 *) dictionary->codes)[row] = (uint8) of_rows[row];
	}
	MemoryContextDelete(work);
	return made;
}

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
	HgLoaderDictionary dictionary;

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
