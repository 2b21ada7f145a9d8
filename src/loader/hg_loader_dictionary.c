/*-------------------------------------------------------------------------
 *
 * hg_loader_dictionary.c
 *	  Makes a dictionary of the packed values of a segment's column.
 *
 * A sample of the rows is tried first, as most columns without a dictionary have far too many
 * values.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "loader/hg_loader_codes.h"
#include "loader/hg_loader_dictionary.h"

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

bool
hg_dictionary_make(MemoryContext context, const HgSegmentArray *packed, uint32 nrows, Size limit,
				   HgDictionary *dictionary)
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
