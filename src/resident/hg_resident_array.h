/*-------------------------------------------------------------------------
 *
 * hg_resident_array.h
 *	  The values of a segment's column in memory: their encodings, and where a row's value is.
 *
 * FIXED: values of a fixed width of at most HG_FIXED_WIDTH bytes, of which a row that is NULL has
 * one of zeroes.
 *
 * PACKED: all other values, byte for byte as the row in the heap has them: short headers, what is
 * compressed in line, and pointers to what is out of line.  They lie one behind the other as in a
 * row, aligned as their type wants it (those with a short header are not), and nothing lies there
 * for a row that is NULL.  Where a value begins is known of each HG_GROUP_ROWS-th row, and of the
 * others from the lengths of those ahead of it: a quarter of a byte a row is all that it takes.
 *
 * DICTIONARY: such values where few of them differ, each kept once, and their numbers by row: a
 * CODE.  Two values that differ in a byte have two codes, whatever their type calls equal.
 *
 * SCALED: numerics that all have one display scale, as scaled integers, as wide as their range
 * needs.
 *
 * MISSING: a row that is older than its column has no value in the heap, but the column's default
 * of that time, which may be large.  That is kept once, and of a PACKED column a bit for each row.
 *
 * VALUES OUT OF LINE.  What is kept of a value in the table's TOAST is its pointer, which is
 * followed when somebody asks for the value.  The chunks are there then, and are that value's: the
 * reader's snapshot sees the row that the pointer was taken from, or its block would not be valid
 * (hg_resident_validity.c).  Chunks are deleted by who deletes that row, or updates the value, in
 * the same transaction, which that snapshot does not see as committed; so no vacuum of the TOAST
 * table may remove them as long as the snapshot is registered, and no other value gets their
 * identifier while they are there.  What moves chunks under new identifiers, or drops them, is a
 * rewrite, which gives the table another file under a lock that waits for the reader.  That is
 * all that a scan of the heap relies on too: it reads the pointer first, and follows it later.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_ARRAY_H
#define HG_RESIDENT_ARRAY_H

#include "hg_compat.h"

#include "access/tupmacs.h"

/* Widest values that are FIXED. */
#define HG_FIXED_WIDTH 16

/* PACKED values of which the first one's place is kept. */
#define HG_GROUP_ROWS 16

/* Most values of a DICTIONARY. */
#define HG_MOST_CODES 65536

typedef enum HgSegmentEncoding
{
	HG_ENCODING_FIXED = 0,
	HG_ENCODING_PACKED,
	HG_ENCODING_DICTIONARY,
	HG_ENCODING_SCALED
} HgSegmentEncoding;

/* How the arrays of a column are to be read. */
typedef struct HgSegmentForm
{
	HgSegmentEncoding encoding;
	int width;		   /* of FIXED values, of codes: 1 or 2, or of scaled integers: 1, 2, 4 or 8 */
	int scale;		   /* of UNITS */
	uint32 ncodes;	   /* of a DICTIONARY */
	uint32 widest;	   /* DICTIONARY: bytes of the widest value */
	uint32 missing_at; /* PACKED: where the value of missing rows begins */
} HgSegmentForm;

/* The arrays of a column, in the order in which they lie in its chunk. */
typedef enum HgSegmentPart
{
	HG_PART_VALUES = 0, /* [rows x width] values, codes or scaled integers */
	HG_PART_VALID,		/* [rows] bits; none where no value is NULL */
	HG_PART_STARTS,		/* uint32s: of groups of rows, and of what is behind them; or of codes */
	HG_PART_MISSING,	/* [rows] bits; none where no row is missing */
	HG_PART_BYTES,		/* PACKED and DICTIONARY: the values themselves */
	HG_PARTS
} HgSegmentPart;

/* Pointers of this process to them. */
typedef struct HgSegmentArray
{
	HgSegmentForm form;
	int width;	 /* form.width */
	int length;	 /* of the type: -1, or that of each value */
	int alignby; /* of the type */
	const char *values;
	const uint64 *valid;
	const uint32 *starts;
	const uint64 *missing;
	const char *bytes;
} HgSegmentArray;

static inline Size
hg_segment_bits_bytes(uint32 nrows)
{
	return ((Size) nrows + 63) / 64 * sizeof(uint64);
}

static inline bool
hg_segment_bit(const uint64 *bits, uint32 row)
{
	return (bits[row / 64] >> (row % 64) & 1) != 0;
}

/* Set the bits of rows first .. end - 1. */
static inline void
hg_segment_set_bits(uint64 *bits, uint32 first, uint32 end)
{
	while (first < end)
	{
		uint32 count = Min(end - first, 64 - first % 64);

		bits[first / 64] |= (~UINT64CONST(0) >> (64 - count)) << first % 64;
		first += count;
	}
}

static inline bool
hg_segment_is_null(const HgSegmentArray *array, uint32 row)
{
	return array->valid != NULL && !hg_segment_bit(array->valid, row);
}

static inline bool
hg_segment_is_missing(const HgSegmentArray *array, uint32 row)
{
	return array->missing != NULL && hg_segment_bit(array->missing, row);
}

/* Bytes of a value, which is of a type of that length. */
static inline Size
hg_segment_value_bytes(int length, const char *value)
{
	return length == -1 ? VARSIZE_ANY(value) : (Size) length;
}

/* Where a value begins that is packed behind others which end there. */
static inline const char *
hg_segment_align(int length, int alignby, const char *end)
{
	/* a short header is not aligned, and a byte of padding is no header: see att_align_pointer() */
	if (length == -1 && VARATT_NOT_PAD_BYTE(end))
		return end;
	return (const char *) TYPEALIGN(alignby, end);
}

/* Where the packed values of a row's group begin. */
static inline const char *
hg_segment_group(const HgSegmentArray *array, uint32 row)
{
	return array->bytes + array->starts[row / HG_GROUP_ROWS];
}

/*
 * The packed value of a row that is behind the one whose value would begin at place, in the same
 * group, or is that one.
 */
static inline const char *
hg_segment_walk(const HgSegmentArray *array, uint32 from, uint32 to, const char *place)
{
	for (uint32 row = from; row < to; row++)
	{
		if (hg_segment_is_null(array, row) || hg_segment_is_missing(array, row))
			continue;
		place = hg_segment_align(array->length, array->alignby, place);
		place += hg_segment_value_bytes(array->length, place);
	}
	return place;
}

/* The code of a row that is not NULL. */
static inline uint32
hg_segment_code(const HgSegmentArray *array, uint32 row)
{
	if (array->width == 1)
		return ((const uint8 *) array->values)[row];
	return ((const uint16 *) array->values)[row];
}

/* The value of a code: what depends on a value alone can be found out once for each. */
static inline const char *
hg_segment_code_value(const HgSegmentArray *array, uint32 code)
{
	return array->bytes + array->starts[code];
}

/* Returns the integer of a row in an array of that width; inlined where this is a constant. */
static pg_attribute_always_inline int64
hg_segment_integer(int width, const char *values, uint32 row)
{
	switch (width)
	{
		case 1:
			return ((const int8 *) values)[row];
		case 2:
			return ((const int16 *) values)[row];
		case 4:
			return ((const int32 *) values)[row];
		default:
			return ((const int64 *) values)[row];
	}
}

/*
 * Where the value of a row is that is not NULL, as the heap has it, but for the alignment of FIXED
 * values.  Not of UNITS, which nothing lies there for.
 */
static inline const char *
hg_segment_place(const HgSegmentArray *array, uint32 row)
{
	switch (array->form.encoding)
	{
		case HG_ENCODING_PACKED:
			if (hg_segment_is_missing(array, row))
				return array->bytes + array->form.missing_at;
			return hg_segment_align(array->length, array->alignby,
									hg_segment_walk(array, row - row % HG_GROUP_ROWS, row,
													hg_segment_group(array, row)));
		case HG_ENCODING_DICTIONARY:
			return hg_segment_code_value(array, hg_segment_code(array, row));
		default:
			Assert(array->form.encoding == HG_ENCODING_FIXED);
			return array->values + (Size) row * array->width;
	}
}

#endif /* HG_RESIDENT_ARRAY_H */
