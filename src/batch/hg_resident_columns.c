/*-------------------------------------------------------------------------
 *
 * hg_resident_columns.c
 *	  The values of cached columns: as Datums, and as columns of batches.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_type.h"

#include "batch/hg_batch.h"
#include "batch/hg_numeric.h"
#include "batch/hg_resident_columns.h"
#include "batch/hg_values.h"

/* ---------------------------------------------------------------------
 * Values of a segment's column as Datums
 *
 * Each encoding (resident/hg_resident_array.h) has a loop.  Packed values are walked one by one:
 * each waits for the length of the one before, but only within a group of rows, and the processor
 * overlaps groups.  Numerics are made from scaled integers, in memory that the next batch uses
 * again.
 * ---------------------------------------------------------------------
 */

/* Returns true if FIXED values by reference are aligned in an array. */
static bool
hg_resident_is_aligned(const HgResidentColumn *column)
{
	return column->by_value ||
		   att_align_nominal(column->length, column->align) == (Size) column->length;
}

Size
hg_resident_values_room(const HgResidentColumn *column)
{
	if (column->length > 0 && column->length <= HG_FIXED_WIDTH && !hg_resident_is_aligned(column))
		return HG_BATCH_ROWS * MAXALIGN(column->length);
	if (column->type == NUMERICOID)
		return HG_BATCH_ROWS * HG_SCALED_BYTES;
	return 0;
}

/* Fetches FIXED values by reference; copies them to room unless the array aligns them. */
static void
hg_resident_fetch_fixed(const HgSegmentArray *array, char *room, uint32 first, const uint16 *which,
						int n, Datum *values)
{
	for (int i = 0; i < n; i++)
	{
		uint32 row = first + (which != NULL ? which[i] : i);
		char *pointer = unconstify(char *, array->values) + (Size) row * array->width;

		if (room != NULL)
		{
			char *copy = room + (Size) i * MAXALIGN(array->width);

			memcpy(copy, pointer, array->width);
			pointer = copy;
		}
		values[i] = PointerGetDatum(pointer);
	}
}

/* Fetches PACKED values.  regular says that no row is NULL or missing. */
static pg_attribute_always_inline void
hg_resident_fetch_packed(const HgSegmentArray *array, int length, bool regular, uint32 first,
						 const uint16 *which, int n, Datum *values)
{
	const char *pointer = NULL;
	uint32 at = PG_UINT32_MAX; /* the row whose value begins at pointer */

	for (int i = 0; i < n; i++)
	{
		uint32 row = first + (which != NULL ? which[i] : i);

		if (row % HG_GROUP_ROWS == 0 || row / HG_GROUP_ROWS != at / HG_GROUP_ROWS)
		{
			at = row - row % HG_GROUP_ROWS;
			pointer = hg_segment_group(array, row);
		}
		for (; at < row; at++)
			if (regular || (!hg_segment_is_null(array, at) && !hg_segment_is_missing(array, at)))
			{
				pointer = hg_segment_align(length, array->alignby, pointer);
				pointer += hg_segment_value_bytes(length, pointer);
			}
		if (!regular && hg_segment_is_missing(array, row))
			values[i] = PointerGetDatum(array->bytes + array->form.missing_at);
		else if (regular || !hg_segment_is_null(array, row))
		{
			pointer = hg_segment_align(length, array->alignby, pointer);
			values[i] = PointerGetDatum(pointer);
			pointer += hg_segment_value_bytes(length, pointer);
			at = row + 1;
		}
	}
}

static pg_attribute_always_inline void
hg_resident_fetch_codes_width(int width, const HgSegmentArray *array, uint32 first,
							  const uint16 *which, int n, Datum *values)
{
	for (int i = 0; i < n; i++)
	{
		uint32 row = first + (which != NULL ? which[i] : i);
		uint32 code = width == 1 ? ((const uint8 *) array->values)[row]
								 : ((const uint16 *) array->values)[row];

		values[i] = PointerGetDatum(hg_segment_code_value(array, code));
	}
}

/* Fetches values of a DICTIONARY. */
static void
hg_resident_fetch_codes(const HgSegmentArray *array, uint32 first, const uint16 *which, int n,
						Datum *values)
{
	if (array->width == 1)
		hg_resident_fetch_codes_width(1, array, first, which, n, values);
	else
		hg_resident_fetch_codes_width(2, array, first, which, n, values);
}

static pg_attribute_always_inline void
hg_resident_values_scaled_width(int width, const char *array, uint32 first, const uint16 *which,
								int n, Datum *values)
{
	for (int i = 0; i < n; i++)
		values[i] =
			Int64GetDatum(hg_segment_integer(width, array, first + (which != NULL ? which[i] : i)));
}

/* Sets values[i] to Int64GetDatum() of the scaled integer; the array's encoding is SCALED. */
static void
hg_resident_values_scaled(const HgSegmentArray *array, uint32 first, const uint16 *which, int n,
						  Datum *values)
{
	HG_FOR_WIDTH(array->width, hg_resident_values_scaled_width, array->values, first, which, n,
				 values);
}

static pg_attribute_always_inline void
hg_resident_fetch_scaled_width(int width, const char *array, const HgScaledFormat *format,
							   char *room, uint32 first, const uint16 *which, int n, Datum *values)
{
	for (int i = 0; i < n; i++, room += HG_SCALED_BYTES)
	{
		hg_scaled_store(
			format, hg_segment_integer(width, array, first + (which != NULL ? which[i] : i)), room);
		values[i] = PointerGetDatum(room);
	}
}

/* Makes numerics from SCALED values. */
static void
hg_resident_fetch_scaled(const HgSegmentArray *array, char *room, uint32 first, const uint16 *which,
						 int n, Datum *values)
{
	HgScaledFormat format = hg_scaled_format(array->form.scale);

	HG_FOR_WIDTH(array->width, hg_resident_fetch_scaled_width, array->values, &format, room, first,
				 which, n, values);
}

static pg_attribute_always_inline void
hg_resident_values_codes_width(int width, const char *array, uint32 first, const uint16 *which,
							   int n, Datum *values)
{
	for (int i = 0; i < n; i++)
	{
		uint32 row = first + (which != NULL ? which[i] : i);

		values[i] = UInt32GetDatum(width == 1 ? ((const uint8 *) array)[row]
											  : ((const uint16 *) array)[row]);
	}
}

/*
 * Sets values[i] to UInt32GetDatum() of the code; the array's encoding is DICTIONARY.  The code of
 * a NULL is undefined.
 */
static void
hg_resident_values_codes(const HgSegmentArray *array, uint32 first, const uint16 *which, int n,
						 Datum *values)
{
	if (array->width == 1)
		hg_resident_values_codes_width(1, array->values, first, which, n, values);
	else
		hg_resident_values_codes_width(2, array->values, first, which, n, values);
}

void
hg_resident_values_fetch(const HgResidentColumn *column, const HgSegmentArray *array, char *room,
						 uint32 first, const uint16 *which, int n, Datum *values)
{
	bool regular = array->valid == NULL && array->missing == NULL;

	if (array->form.encoding == HG_ENCODING_PACKED)
	{
		if (regular && array->length == -1)
			hg_resident_fetch_packed(array, -1, true, first, which, n, values);
		else
			hg_resident_fetch_packed(array, array->length, regular, first, which, n, values);
	}
	else if (array->form.encoding == HG_ENCODING_DICTIONARY)
		hg_resident_fetch_codes(array, first, which, n, values);
	else if (array->form.encoding == HG_ENCODING_SCALED)
		hg_resident_fetch_scaled(array, room, first, which, n, values);
	else if (!column->by_value)
		hg_resident_fetch_fixed(array, room, first, which, n, values);
	else if (which == NULL)
		hg_values_load(array->width, array->values + (Size) first * array->width, n, values);
	else
		hg_values_gather(array->width, array->values + (Size) first * array->width, which, n,
						 values);
}

/* Returns an upper bound of the bytes of the by-reference values of n rows from first on. */
static Size
hg_resident_values_bytes(const HgResidentColumn *column, const HgSegmentArray *array, uint32 first,
						 uint32 n)
{
	uint32 end = (first + n + HG_GROUP_ROWS - 1) / HG_GROUP_ROWS;
	Size bytes;

	if (array->form.encoding == HG_ENCODING_FIXED)
		return column->by_value ? 0 : (Size) n * column->length;
	if (array->form.encoding == HG_ENCODING_DICTIONARY)
		return (Size) n * array->form.widest;
	if (array->form.encoding == HG_ENCODING_SCALED)
		return (Size) n * HG_SCALED_BYTES;
	bytes = array->starts[end] - array->starts[first / HG_GROUP_ROWS];
	if (array->missing != NULL)
		bytes += n * hg_segment_value_bytes(array->length, array->bytes + array->form.missing_at);
	return bytes;
}

struct HgResidentColumns
{
	int ncolumns;
	const HgResidentSource **sources; /* [ncolumns] NULL for a column that is left alone */
	/* [ncolumns] memory for values that must be decoded; NULL if none is needed. */
	char **rooms;
};

HgResidentColumns *
hg_resident_columns_create(const HgResidentScan *resident, int ncolumns, const AttrNumber *attnos)
{
	HgResidentColumns *columns = palloc0(sizeof(HgResidentColumns));

	columns->ncolumns = ncolumns;
	columns->sources = palloc(Max(ncolumns, 1) * sizeof(HgResidentSource *));
	columns->rooms = palloc0(Max(ncolumns, 1) * sizeof(char *));
	for (int c = 0; c < ncolumns; c++)
	{
		Size room;

		columns->sources[c] = NULL;
		if (attnos[c] == 0)
			continue;
		columns->sources[c] = hg_resident_scan_source(resident, attnos[c]);
		room = hg_resident_values_room(&columns->sources[c]->column);
		if (room > 0)
			columns->rooms[c] = palloc(room);
	}
	return columns;
}

/* Appends NULL flags to those of a batch's column; sets *has_nulls if there may be NULLs. */
static void
hg_resident_add_nulls(const HgSegmentArray *array, uint32 first, const uint16 *which, int n,
					  int start, bool *nulls, bool *has_nulls)
{
	if (array->valid == NULL)
	{
		if (*has_nulls)
			memset(nulls + start, 0, n * sizeof(bool));
		return;
	}
	/* the flags of the rows before have not been set */
	if (!*has_nulls)
		memset(nulls, 0, start * sizeof(bool));
	for (int i = 0; i < n; i++)
	{
		uint32 row = first + (which != NULL ? which[i] : i);

		nulls[start + i] = hg_segment_is_null(array, row);
	}
	*has_nulls = true;
}

bool
hg_resident_columns_join(const HgResidentColumns *columns, const HgBatch *batch)
{
	if (batch->nrows == 0)
		return true;
	for (int c = 0; c < columns->ncolumns; c++)
	{
		const HgSegmentForm *form = &columns->sources[c]->array.form;
		int scale = form->encoding == HG_ENCODING_SCALED ? form->scale : -1;

		if (batch->takes_scaled[c] && batch->scales[c] != scale)
			return false;
	}
	return true;
}

void
hg_resident_columns_add(HgResidentColumns *columns, uint32 first, const uint16 *which, int n,
						HgBatch *batch)
{
	int start = batch->nrows;

	Assert(start + n <= HG_BATCH_ROWS);
	if (n == 0)
		return;
	for (int c = 0; c < columns->ncolumns; c++)
	{
		const HgResidentSource *source;
		const HgSegmentArray *array;
		Size used;

		if (columns->sources[c] == NULL)
			continue;
		source = columns->sources[c];
		array = &source->array;
		used = hg_resident_values_room(&source->column) / HG_BATCH_ROWS * start;
		hg_resident_add_nulls(array, first, which, n, start, batch->nulls[c], &batch->has_nulls[c]);
		if (batch->takes_scaled[c] && array->form.encoding == HG_ENCODING_SCALED)
		{
			batch->scales[c] = array->form.scale;
			hg_resident_values_scaled(array, first, which, n, batch->values[c] + start);
		}
		else if (batch->takes_codes[c] && array->form.encoding == HG_ENCODING_DICTIONARY)
		{
			Assert(start == 0);
			batch->dictionaries[c] = &source->dictionary;
			hg_resident_values_codes(array, first, which, n, batch->values[c]);
		}
		else
			hg_resident_values_fetch(&source->column, array,
									 columns->rooms[c] != NULL ? columns->rooms[c] + used : NULL,
									 first, which, n, batch->values[c] + start);
	}
	batch->nrows += n;
}

int
hg_resident_columns_fit(const HgResidentColumns *columns, uint32 first, int n, Size *room)
{
	for (;;)
	{
		Size bytes = 0;

		for (int c = 0; c < columns->ncolumns; c++)
		{
			const HgResidentSource *source = columns->sources[c];

			bytes += hg_resident_values_bytes(&source->column, &source->array, first, (uint32) n);
		}
		if (bytes <= *room || n == 1)
		{
			*room -= Min(bytes, *room);
			return n;
		}
		n /= 2;
	}
}

bool
hg_resident_columns_run(const HgResidentColumns *columns, uint32 first, const void **values)
{
	for (int c = 0; c < columns->ncolumns; c++)
	{
		const HgResidentSource *source;

		if (columns->sources[c] == NULL)
			continue;
		source = columns->sources[c];
		if (!source->column.by_value || source->array.valid != NULL)
			return false;
		values[c] = source->array.values + (Size) first * source->array.width;
	}
	return true;
}

void
hg_resident_columns_arrays(const HgResidentColumns *columns, HgPredicateColumn *arrays)
{
	for (int c = 0; c < columns->ncolumns; c++)
	{
		const HgResidentSource *source = columns->sources[c];

		arrays[c] = (HgPredicateColumn){&source->array, &source->dictionary};
	}
}

void
hg_resident_columns_bounds(const HgResidentColumns *columns, HgValueBounds *bounds)
{
	for (int c = 0; c < columns->ncolumns; c++)
	{
		const HgResidentSource *source = columns->sources[c];
		const HgSegmentForm *form = &source->array.form;
		int128 unit = 1;

		if (form->encoding == HG_ENCODING_SCALED)
			for (int i = form->scale; i < HG_PREDICATE_SCALE; i++)
				unit *= 10;
		bounds[c].all_nulls = source->bounds->all_nulls;
		bounds[c].has_nulls = source->array.valid != NULL;
		bounds[c].known = source->bounds->known;
		bounds[c].low = source->bounds->least * unit;
		bounds[c].high = source->bounds->greatest * unit;
	}
}
