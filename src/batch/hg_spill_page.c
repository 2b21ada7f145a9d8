/*-------------------------------------------------------------------------
 *
 * hg_spill_page.c
 *	  Pages: some rows of a spill set's partition, as they are written to its file.
 *
 * Columns are written and read by loops over rows, with the width of the column as a constant.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/expandeddatum.h"

#include "batch/hg_spill_page.h"

void
hg_spill_format_init(HgSpillFormat *format, const HgColumnStore *layout, bool keeps_words)
{
	int ncolumns = layout->ncolumns;
	int8 *scales = palloc(Max(ncolumns, 1) * sizeof(int8));

	*format = (HgSpillFormat){.ncolumns = ncolumns,
							  .columns = layout->columns,
							  .keeps_words = keeps_words,
							  .scales = palloc(Max(ncolumns, 1) * sizeof(int8)),
							  .offsets = palloc(Max(ncolumns, 1) * sizeof(int)),
							  .others = palloc(Max(ncolumns, 1) * sizeof(int)),
							  .bitmap_bytes = ncolumns / BITS_PER_BYTE + 1,
							  .header_bytes = sizeof(HgSpillHeader) + ncolumns * sizeof(int8)};
	memset(scales, -1, ncolumns * sizeof(int8));
	hg_spill_format_set(format, scales);
	pfree(scales);
}

void
hg_spill_format_set(HgSpillFormat *format, const int8 *scales)
{
	Size offset = format->bitmap_bytes + (format->keeps_words ? sizeof(uint64) : 0);

	format->nothers = 0;
	for (int c = 0; c < format->ncolumns; c++)
	{
		const HgColumn *column = &format->columns[c];

		format->scales[c] = scales[c];
		format->offsets[c] = -1;
		if (column->attbyval || scales[c] >= 0)
		{
			format->offsets[c] = (int) offset;
			offset += column->attbyval ? (Size) column->attlen : sizeof(int64);
		}
		else
			format->others[format->nothers++] = c;
	}
	format->row_bytes = offset;
}

void
hg_spill_format_free(HgSpillFormat *format)
{
	pfree(format->scales);
	pfree(format->offsets);
	pfree(format->others);
}

/* ---------------------------------------------------------------------
 * Writing
 * ---------------------------------------------------------------------
 */

/* Returns true if a value has a header of one byte, so that it is not aligned. */
static inline bool
hg_spill_is_packed(const HgColumn *column, Datum value)
{
	const void *pointer = DatumGetPointer(value);

	return column->attlen == -1 && VARATT_IS_1B(pointer) && !VARATT_IS_EXTERNAL_EXPANDED(pointer);
}

/* Returns the bytes of a by-reference value. */
static inline Size
hg_spill_value_bytes(const HgColumn *column, Datum value)
{
	const void *pointer = DatumGetPointer(value);

	if (column->attlen > 0)
		return column->attlen;
	if (column->attlen == -1)
		return VARATT_IS_EXTERNAL_EXPANDED(pointer) ? EOH_get_flat_size(DatumGetEOHP(value))
													: VARSIZE_ANY(pointer);
	return strlen(pointer) + 1;
}

Size
hg_spill_other_bytes(const HgSpillFormat *format, const HgBatch *batch, const int *at, int row)
{
	Size bytes = 0;

	for (int i = 0; i < format->nothers; i++)
	{
		int c = format->others[i];
		const HgColumn *column = &format->columns[c];
		Datum value;

		if (hg_batch_is_null(batch, at[c], row))
			continue;
		value = batch->values[at[c]][row];
		bytes += hg_spill_value_bytes(column, value) +
				 (hg_spill_is_packed(column, value) ? 0 : MAXIMUM_ALIGNOF - 1);
	}
	return bytes;
}

Size
hg_spill_page_bytes(const HgSpillFormat *format, Size other_bytes)
{
	return MAXALIGN(format->header_bytes + format->row_bytes) + other_bytes;
}

void
hg_spill_page_start(HgSpillPage *page, const HgSpillFormat *format, Size bytes, Size needed,
					double other_bytes)
{
	double rows =
		(double) (bytes - format->header_bytes) / ((double) format->row_bytes + other_bytes);
	Size rows_bytes = (Size) Min(Max(rows, 1), HG_BATCH_ROWS) * format->row_bytes;

	page->nrows = 0;
	page->other_bytes = 0;
	page->others_at =
		Min(MAXALIGN(format->header_bytes + rows_bytes), MAXALIGN_DOWN(bytes - needed));
	page->max_rows = (int) ((page->others_at - format->header_bytes) / format->row_bytes);
	page->max_rows = Min(page->max_rows, HG_BATCH_ROWS);
	page->max_other_bytes = bytes - page->others_at;
}

/* Appends a by-reference value at offset; returns its end. */
static Size
hg_spill_put_other(char *others, Size offset, const HgColumn *column, Datum value)
{
	Size bytes = hg_spill_value_bytes(column, value);
	char *target;

	if (!hg_spill_is_packed(column, value))
	{
		Size aligned = att_align_nominal(offset, column->attalign);

		/* zeros tell padding from a short header */
		memset(others + offset, 0, aligned - offset);
		offset = aligned;
	}
	target = others + offset;
	if (column->attlen == -1 && VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
		EOH_flatten_into(DatumGetEOHP(value), target, bytes);
	else
		memcpy(target, DatumGetPointer(value), bytes);
	return offset + bytes;
}

char *
hg_spill_page_add(HgSpillPage *page, const HgSpillFormat *format, const HgBatch *batch,
				  const int *at, int row)
{
	for (int i = 0; i < format->nothers; i++)
	{
		int c = format->others[i];

		if (!hg_batch_is_null(batch, at[c], row))
			page->other_bytes =
				hg_spill_put_other(page->memory + page->others_at, page->other_bytes,
								   &format->columns[c], batch->values[at[c]][row]);
	}
	return page->memory + format->header_bytes + page->nrows++ * format->row_bytes;
}

/* Writes a column's values of a type to the rows; a NULL is written as 0. */
#define HG_SPILL_PUT(type)                                                                         \
	do                                                                                             \
	{                                                                                              \
		for (int i = 0; i < nrows; i++)                                                            \
		{                                                                                          \
			int row = which != NULL ? which[i] : i;                                                \
			type value = nulls != NULL && nulls[row] ? 0 : (type) values[row];                     \
                                                                                                   \
			memcpy(targets[i] + offset, &value, sizeof(value));                                    \
		}                                                                                          \
	} while (0)

/* Fills a column of rows. */
static void
hg_spill_put_column(int offset, int width, const Datum *values, const bool *nulls,
					const uint16 *which, int nrows, char *const *targets)
{
	switch (width)
	{
		case sizeof(uint8):
			HG_SPILL_PUT(uint8);
			break;
		case sizeof(uint16):
			HG_SPILL_PUT(uint16);
			break;
		case sizeof(uint32):
			HG_SPILL_PUT(uint32);
			break;
		default:
			HG_SPILL_PUT(uint64);
			break;
	}
}

/* Returns the width of a value in a row. */
static inline int
hg_spill_width(const HgSpillFormat *format, int c)
{
	return format->columns[c].attbyval ? format->columns[c].attlen : (int) sizeof(int64);
}

/* Sets a bit of the bitmaps of the rows that nulls marks. */
static void
hg_spill_put_bits(int bit, const bool *nulls, const uint16 *which, int nrows, char *const *targets)
{
	for (int i = 0; i < nrows; i++)
		if (nulls[which != NULL ? which[i] : i])
			targets[i][bit / BITS_PER_BYTE] |= 1 << (bit % BITS_PER_BYTE);
}

void
hg_spill_put_rows(const HgSpillFormat *format, const HgSpillKeys *keys, const HgBatch *batch,
				  const int *at, const uint16 *which, int nrows, char *const *targets)
{
	for (int i = 0; i < nrows; i++)
		memset(targets[i], 0, format->bitmap_bytes);
	hg_spill_put_bits(format->ncolumns, keys->null_keys, which, nrows, targets);
	if (format->keeps_words)
		hg_spill_put_column((int) format->bitmap_bytes, sizeof(uint64), keys->words, NULL, which,
							nrows, targets);
	for (int c = 0; c < format->ncolumns; c++)
	{
		const bool *nulls = batch->has_nulls[at[c]] ? batch->nulls[at[c]] : NULL;

		if (nulls != NULL)
			hg_spill_put_bits(c, nulls, which, nrows, targets);
		if (format->offsets[c] >= 0)
			hg_spill_put_column(format->offsets[c], hg_spill_width(format, c), batch->values[at[c]],
								nulls, which, nrows, targets);
	}
}

void
hg_spill_page_finish(HgSpillPage *page, const HgSpillFormat *format)
{
	HgSpillHeader header = {(uint32) page->nrows, (uint32) page->other_bytes};

	memcpy(page->memory, &header, sizeof(header));
	memcpy(page->memory + sizeof(header), format->scales, format->ncolumns * sizeof(int8));
}

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

/* Returns true if a bit is set in the bitmap of a row. */
static inline bool
hg_spill_bit(const char *row, int bit)
{
	return (row[bit / BITS_PER_BYTE] & (1 << (bit % BITS_PER_BYTE))) != 0;
}

/* Reads a column's values of a type from the rows. */
#define HG_SPILL_TAKE(type, to_datum)                                                              \
	do                                                                                             \
	{                                                                                              \
		for (int i = 0; i < nrows; i++)                                                            \
		{                                                                                          \
			type value;                                                                            \
                                                                                                   \
			memcpy(&value, rows + i * stride, sizeof(value));                                      \
			values[i] = to_datum(value);                                                           \
		}                                                                                          \
	} while (0)

/* Reads a column of rows; rows points to the value of the first one. */
static void
hg_spill_take_column(const char *rows, Size stride, int nrows, int width, Datum *values)
{
	switch (width)
	{
		case sizeof(char):
			HG_SPILL_TAKE(char, CharGetDatum);
			break;
		case sizeof(int16):
			HG_SPILL_TAKE(int16, Int16GetDatum);
			break;
		case sizeof(int32):
			HG_SPILL_TAKE(int32, Int32GetDatum);
			break;
		default:
			HG_SPILL_TAKE(Datum, (Datum));
			break;
	}
}

/* Appends the NULL flags of rows to those of a batch's column. */
static void
hg_spill_take_nulls(const char *rows, Size stride, int nrows, int c, HgBatch *batch)
{
	bool *nulls = batch->nulls[c];
	bool any = false;

	for (int i = 0; i < nrows; i++)
	{
		nulls[batch->nrows + i] = hg_spill_bit(rows + i * stride, c);
		any |= nulls[batch->nrows + i];
	}
	if (any && !batch->has_nulls[c])
	{
		memset(nulls, false, batch->nrows * sizeof(bool));
		batch->has_nulls[c] = true;
	}
}

/* Reads the values outside the rows. */
static void
hg_spill_take_others(const HgSpillFormat *format, const char *rows, int nrows, char *others,
					 HgBatch *batch)
{
	Size offset = 0;

	for (int i = 0; i < nrows; i++)
		for (int o = 0; o < format->nothers; o++)
		{
			int c = format->others[o];
			const HgColumn *column = &format->columns[c];

			if (hg_spill_bit(rows + i * format->row_bytes, c))
				continue;
			offset = att_align_pointer(offset, column->attalign, column->attlen, others + offset);
			batch->values[c][batch->nrows + i] = PointerGetDatum(others + offset);
			offset = att_addlength_pointer(offset, column->attlen, others + offset);
		}
}

void
hg_spill_take_rows(const HgSpillFormat *format, const char *rows, int nrows, char *others,
				   HgBatch *batch, HgSpillKeys *keys)
{
	const Size stride = format->row_bytes;
	uint8 any = 0;

	for (int i = 0; i < nrows; i++)
	{
		keys->null_keys[batch->nrows + i] = hg_spill_bit(rows + i * stride, format->ncolumns);
		for (Size b = 0; b < format->bitmap_bytes; b++)
			any |= (uint8) rows[i * stride + b];
	}
	if (format->keeps_words)
		hg_spill_take_column(rows + format->bitmap_bytes, stride, nrows, sizeof(uint64),
							 keys->words + batch->nrows);
	for (int c = 0; c < format->ncolumns; c++)
	{
		if (any != 0 || batch->has_nulls[c])
			hg_spill_take_nulls(rows, stride, nrows, c, batch);
		batch->scales[c] = format->scales[c];
		if (format->offsets[c] >= 0)
			hg_spill_take_column(rows + format->offsets[c], stride, nrows,
								 hg_spill_width(format, c), batch->values[c] + batch->nrows);
	}
	if (format->nothers > 0)
		hg_spill_take_others(format, rows, nrows, others, batch);
	batch->nrows += nrows;
}
