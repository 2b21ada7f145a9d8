/*-------------------------------------------------------------------------
 *
 * hg_resident_array.h
 *	  The values of one column of a segment in memory: their encodings and arrays.
 *
 * FIXED: values of a fixed width of at most HG_FIXED_WIDTH bytes.  A NULL row has a value of
 * zeroes.
 *
 * PACKED: all other values, byte for byte as the heap has them: short headers, values compressed
 * in line, and pointers to values out of line.  Values lie one behind the other as in a row,
 * aligned as their type requires; those with a short header are not aligned.  A NULL row takes no
 * bytes.  The start of every HG_GROUP_ROWS-th value is stored; the others follow from the lengths
 * of the values before them.  That costs a quarter of a byte a row.
 *
 * DICTIONARY: such values where few of them differ.  Each distinct value is stored once, and each
 * row has its number, the CODE.  Two values that differ in a byte have two codes, even if their
 * type calls them equal.
 *
 * SCALED: numerics that all have one display scale, as scaled integers of the width that their
 * range needs.
 *
 * MISSING: a row that is older than its column has no value in the heap, but the column's default
 * of that time, which may be large.  That value is stored once; a PACKED column has a bit for each
 * row that says whether the row is missing it.
 *
 * VALUES OUT OF LINE.  Of a value in the table's TOAST, the array has the pointer, which is
 * followed when the value is read.  The chunks are still there then, and still are that value's.
 * The reader's snapshot sees the row that the pointer was taken from, or its block would not be
 * valid (hg_resident_validity.c).  Chunks are deleted by the transaction that deletes that row or
 * updates the value, and the snapshot does not see that transaction as committed.  So no vacuum of
 * the TOAST table may remove them while the snapshot is registered, and no other value gets their
 * identifier meanwhile.  Only a rewrite moves or drops chunks otherwise.  It gives the table
 * another file, under a lock that waits for the reader.  A heap scan relies on the same: it reads
 * the pointer first, and follows it later.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_ARRAY_H
#define HG_RESIDENT_ARRAY_H

#include "hg_compat.h"

#include "access/tupmacs.h"

/* Maximum width of FIXED values, in bytes. */
#define HG_FIXED_WIDTH 16

/* Rows of a PACKED group; the start of the group's first value is stored. */
#define HG_GROUP_ROWS 16

/* Maximum number of values of a DICTIONARY. */
#define HG_MOST_CODES 65536

typedef enum HgSegmentEncoding
{
	HG_ENCODING_FIXED = 0,
	HG_ENCODING_PACKED,
	HG_ENCODING_DICTIONARY,
	HG_ENCODING_SCALED
} HgSegmentEncoding;

/* How to read the arrays of a column. */
typedef struct HgSegmentForm
{
	HgSegmentEncoding encoding;
	int width;	   /* bytes of a FIXED value, a code (1 or 2), or a scaled integer (1, 2, 4 or 8) */
	int scale;	   /* of SCALED */
	uint32 ncodes; /* DICTIONARY: number of codes */
	uint32 widest; /* DICTIONARY: bytes of the widest value */
	uint32 missing_at; /* PACKED: offset in HG_PART_BYTES of the value of missing rows */
} HgSegmentForm;

/* The arrays of a column, in the order in which they lie in its chunk. */
typedef enum HgSegmentPart
{
	HG_PART_VALUES = 0, /* [rows x width] values, codes or scaled integers */
	HG_PART_VALID,		/* [rows] bits; absent if no value is NULL */
	HG_PART_STARTS,		/* uint32 offsets of PACKED groups and their end, or of codes' values */
	HG_PART_MISSING,	/* [rows] bits; absent if no row is missing */
	HG_PART_BYTES,		/* PACKED and DICTIONARY: the values themselves */
	HG_PARTS
} HgSegmentPart;

/* The arrays at addresses of this process; NULL: the column does not have that array. */
typedef struct HgSegmentArray
{
	HgSegmentForm form;
	int width;	 /* a copy of form.width */
	int length;	 /* attlen of the type: a width, or -1 if each value has its own length */
	int alignby; /* alignment of the type, in bytes */
	const char *values;
	const uint64 *valid;
	const uint32 *starts;
	const uint64 *missing;
	const char *bytes;
} HgSegmentArray;

/* Returns the bytes of an array of one bit for each of nrows rows. */
static inline Size
hg_segment_bits_bytes(uint32 nrows)
{
	return ((Size) nrows + 63) / 64 * sizeof(uint64);
}

/* Returns true if the bit of a row is set. */
static inline bool
hg_segment_bit(const uint64 *bits, uint32 row)
{
	return (bits[row / 64] >> (row % 64) & 1) != 0;
}

/* Sets the bits of rows first to end - 1. */
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

/* Returns true if the value of a row is NULL. */
static inline bool
hg_segment_is_null(const HgSegmentArray *array, uint32 row)
{
	return array->valid != NULL && !hg_segment_bit(array->valid, row);
}

/* Returns true if a row is older than the column, and has its default of that time. */
static inline bool
hg_segment_is_missing(const HgSegmentArray *array, uint32 row)
{
	return array->missing != NULL && hg_segment_bit(array->missing, row);
}

/* Returns the bytes of a packed value; length is attlen of its type. */
static inline Size
hg_segment_value_bytes(int length, const char *value)
{
	return length == -1 ? VARSIZE_ANY(value) : (Size) length;
}

/* Returns where the next packed value begins, if the previous one ends at `end`. */
static inline const char *
hg_segment_align(int length, int alignby, const char *end)
{
	/* a short header is not aligned, and a byte of padding is no header: see att_align_pointer() */
	if (length == -1 && VARATT_NOT_PAD_BYTE(end))
		return end;
	return (const char *) TYPEALIGN(alignby, end);
}

/* Returns where the packed values of the row's group begin. */
static inline const char *
hg_segment_group(const HgSegmentArray *array, uint32 row)
{
	return array->bytes + array->starts[row / HG_GROUP_ROWS];
}

/*
 * Returns where the value of row `to` would begin, before alignment.  pointer is where the value of
 * row `from` would begin.  Both rows are in one group.
 */
static inline const char *
hg_segment_walk(const HgSegmentArray *array, uint32 from, uint32 to, const char *pointer)
{
	for (uint32 row = from; row < to; row++)
	{
		if (hg_segment_is_null(array, row) || hg_segment_is_missing(array, row))
			continue;
		pointer = hg_segment_align(array->length, array->alignby, pointer);
		pointer += hg_segment_value_bytes(array->length, pointer);
	}
	return pointer;
}

/* Returns the code of a row, which must not be NULL. */
static inline uint32
hg_segment_code(const HgSegmentArray *array, uint32 row)
{
	if (array->width == 1)
		return ((const uint8 *) array->values)[row];
	return ((const uint16 *) array->values)[row];
}

/* Returns the value of a code.  What depends on it alone can be computed once for each code. */
static inline const char *
hg_segment_code_value(const HgSegmentArray *array, uint32 code)
{
	return array->bytes + array->starts[code];
}

/* Returns the integer of a row; each of values has width bytes.  Inlined for constant widths. */
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
 * Returns a pointer to the value of a row, which must not be NULL.  The bytes are those of the
 * heap, except that FIXED values may be unaligned.  Not for SCALED, which has no such bytes.
 */
static inline const char *
hg_segment_value(const HgSegmentArray *array, uint32 row)
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
