/*-------------------------------------------------------------------------
 *
 * hg_loader_dictionary.c
 *	  Packed values of a segment's column to a dictionary of those that differ.
 *
 * A hash table has the codes by the values' bytes, with open addressing; a sample of the rows is
 * looked at first, as most columns that have no dictionary have none by far.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "common/hashfn.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "loader/hg_loader_dictionary.h"

/*
 * Rows of the sample.  Where as many values as a dictionary may have are equally frequent, some 30
 * of them come again.
 */
#define HG_SAMPLE_ROWS 2048
#define HG_SAMPLE_REPEATED 8

#define HG_NO_CODE PG_UINT32_MAX

/* Values and their codes, in the order in which they came. */
typedef struct HgCodes
{
	const HgSegmentArray *packed;
	uint32 most; /* no more codes than that */
	uint32 ncodes;
	const char **values; /* [most] */
	uint32 *hashes;		 /* [most] */
	uint32 mask;
	uint32 *slots;	/* [mask + 1] codes, or HG_NO_CODE */
	Size nbytes;	/* of the values, laid one behind the other */
	uint32 missing; /* the code of missing rows, or HG_NO_CODE */
} HgCodes;

static HgCodes *
hg_codes_create(const HgSegmentArray *packed, uint32 most)
{
	HgCodes *codes = palloc(sizeof(HgCodes));
	uint32 nslots = pg_nextpower2_32(2 * most);

	*codes = (HgCodes){.packed = packed, .most = most, .mask = nslots - 1, .missing = HG_NO_CODE};
	codes->values = palloc(most * sizeof(char *));
	codes->hashes = palloc(most * sizeof(uint32));
	codes->slots = palloc(nslots * sizeof(uint32));
	memset(codes->slots, 0xff, nslots * sizeof(uint32));
	return codes;
}

/* Where a value begins that is laid behind others which end there. */
static Size
hg_codes_start(const HgSegmentArray *packed, const char *value, Size end)
{
	if (packed->length == -1 && VARATT_IS_SHORT(value))
		return end;
	return TYPEALIGN(packed->alignby, end);
}

/* The code of a value, which it is given if it has none; HG_NO_CODE: there are too many. */
static uint32
hg_codes_find(HgCodes *codes, const char *value)
{
	Size size = hg_segment_value_bytes(codes->packed->length, value);
	uint32 hash = hash_bytes((const unsigned char *) value, (int) size);
	uint32 slot = hash & codes->mask;
	uint32 code;

	/* the first bytes of a value tell how many there are */
	for (; (code = codes->slots[slot]) != HG_NO_CODE; slot = (slot + 1) & codes->mask)
		if (codes->hashes[code] == hash &&
			hg_segment_value_bytes(codes->packed->length, codes->values[code]) == size &&
			memcmp(codes->values[code], value, size) == 0)
			return code;
	if (codes->ncodes == codes->most)
		return HG_NO_CODE;
	code = codes->ncodes++;
	codes->values[code] = value;
	codes->hashes[code] = hash;
	codes->slots[slot] = code;
	codes->nbytes = hg_codes_start(codes->packed, value, codes->nbytes) + size;
	return code;
}

/*
 * The code of a row that is not NULL: that of missing rows, whose value is large, is looked up
 * once.
 */
static uint32
hg_codes_row(HgCodes *codes, uint32 row, const char *value)
{
	if (!hg_segment_is_missing(codes->packed, row))
		return hg_codes_find(codes, value);
	if (codes->missing == HG_NO_CODE)
		codes->missing = hg_codes_find(codes, value);
	return codes->missing;
}

/* Does it look as if there were a dictionary? */
static bool
hg_dictionary_is_likely(const HgSegmentArray *packed, uint32 nrows)
{
	HgCodes *codes;
	int seen = 0;

	if (nrows <= 2 * HG_SAMPLE_ROWS)
		return true;
	codes = hg_codes_create(packed, HG_SAMPLE_ROWS);
	for (uint32 i = 0; i < HG_SAMPLE_ROWS; i++)
	{
		uint32 row = (uint32) ((uint64) i * nrows / HG_SAMPLE_ROWS);

		if (hg_segment_is_null(packed, row))
			continue;
		seen++;
		hg_codes_row(codes, row, hg_segment_place(packed, row));
	}
	/* few values among many rows that are NULL tell nothing */
	return seen < HG_SAMPLE_ROWS / 4 || seen - (int) codes->ncodes >= HG_SAMPLE_REPEATED;
}

/* Find the codes of all rows; false where these become too many or take too much. */
static bool
hg_dictionary_encode(HgCodes *codes, uint32 nrows, Size limit, uint16 *of_rows)
{
	const HgSegmentArray *packed = codes->packed;
	const char *place = NULL;

	for (uint32 row = 0; row < nrows; row++)
	{
		const char *value = NULL;
		uint32 code = 0;

		if (row % HG_GROUP_ROWS == 0)
			place = hg_segment_group(packed, row);
		if (hg_segment_is_missing(packed, row))
			value = packed->bytes + packed->form.missing_at;
		else if (!hg_segment_is_null(packed, row))
		{
			value = hg_segment_align(packed->length, packed->alignby, place);
			place = value + hg_segment_value_bytes(packed->length, value);
		}
		if (value != NULL)
			code = hg_codes_row(codes, row, value);
		if (code == HG_NO_CODE || codes->nbytes > limit)
			return false;
		of_rows[row] = (uint16) code;
	}
	return true;
}

/* Lay out the values of a dictionary. */
static void
hg_dictionary_fill(const HgCodes *codes, HgDictionary *dictionary)
{
	Size end = 0;

	dictionary->widest = 0;
	for (uint32 code = 0; code < codes->ncodes; code++)
	{
		const char *value = codes->values[code];
		Size size = hg_segment_value_bytes(codes->packed->length, value);
		Size start = hg_codes_start(codes->packed, value, end);

		dictionary->starts[code] = (uint32) start;
		memcpy(dictionary->bytes + start, value, size);
		dictionary->widest = Max(dictionary->widest, (uint32) size);
		end = start + size;
	}
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
		codes = hg_codes_create(packed, Min(nrows, HG_MOST_CODES));
		of_rows = palloc(nrows * sizeof(uint16));
		made = hg_dictionary_encode(codes, nrows, limit, of_rows) && codes->ncodes > 0;
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
		hg_dictionary_fill(codes, dictionary);
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
