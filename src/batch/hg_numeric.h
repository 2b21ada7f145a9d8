/*-------------------------------------------------------------------------
 *
 * hg_numeric.h
 *	  Numerics as integers of 64 and 128 bits.
 *
 * A numeric of moderate size is a scaled integer: its value times 10^scale, where scale is its
 * display scale.  Sums, differences and products of scaled integers are exact.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_NUMERIC_H
#define HG_NUMERIC_H

#include "hg_compat.h"

/*
 * Sets the scaled integer of a numeric and its display scale.  Returns false for a numeric that is
 * NaN, infinite, compressed, out of line, or has too many digits.
 */
extern bool hg_numeric_decode(Datum value, int128 *scaled, int *scale);

/*
 * Sets scaled[n] to the scaled integers of the numerics values[n], and *scale to their display
 * scale.  A row that nulls marks (NULL: no row) is skipped and gets 0.  Returns false if scales
 * differ, if a value does not fit 64 bits, or if hg_numeric_decode() would refuse it.
 */
extern bool hg_numeric_decode_column(const Datum *values, const bool *nulls, int n, int64 *scaled,
									 int *scale);

/* Multiplies *scaled by 10^decimals.  Returns false, and leaves *scaled undefined, on overflow. */
extern bool hg_numeric_scale_up(int128 *scaled, int decimals);

/* Returns the numeric scaled / 10^scale, of this display scale, in CurrentMemoryContext. */
extern Datum hg_numeric_make(int128 scaled, int scale);

/* Returns the numeric of an integer, in CurrentMemoryContext. */
extern Datum hg_numeric_integer(int128 value);

/*
 * ------------------------------------------------------------------------
 * Stored numerics and scaled integers of their display scale
 * ------------------------------------------------------------------------
 */

/* Digits of stored numerics, and bits of the first uint16 of their header, short or long. */
#define HG_DIGIT_BASE 10000
#define HG_DIGIT_DECIMALS 4
#define HG_NUMERIC_SPECIAL 0xC000
#define HG_NUMERIC_SHORT 0x8000
#define HG_SHORT_NEGATIVE 0x2000
#define HG_SHORT_SCALE 0x1F80
#define HG_SHORT_SCALE_SHIFT 7
#define HG_SHORT_WEIGHT_SIGN 0x0040
#define HG_SHORT_WEIGHT 0x003F
#define HG_LONG_NEGATIVE 0x4000
#define HG_LONG_SCALE 0x3FFF

/* The most decimals of a scaled integer. */
#define HG_SCALED_DECIMALS 16

/* The most base-10000 digits of 63 bits, including decimals that pad the last digit. */
#define HG_SCALED_DIGITS 6

/* Bytes of a numeric made from a scaled integer: varlena header, numeric header, digits. */
#define HG_SCALED_BYTES 16

/* How numerics of one display scale are made. */
typedef struct HgScaledFormat
{
	uint16 header;
	int fraction;  /* base-10000 digits behind the point */
	uint64 factor; /* multiplies a scaled integer up to whole digits */
} HgScaledFormat;

/* Returns the format of a display scale of 0 to HG_SCALED_DECIMALS. */
extern HgScaledFormat hg_scaled_format(int scale);

/*
 * Sets the scaled integer and the display scale of a stored numeric.  Returns false if
 * hg_scaled_store() would not make the same bytes again.
 */
extern bool hg_scaled_load(const char *numeric, int64 *scaled, int *scale);

/*
 * Sets digits[HG_SCALED_DIGITS] to the base-10000 digits, lowest first, of scaled * factor, which
 * overflows 64 bits.  Returns the number of digits.
 */
extern int hg_scaled_many_digits(uint64 scaled, uint64 factor, uint16 *digits);

/*
 * Writes the numeric of a scaled integer to target, which has HG_SCALED_BYTES, with a short header
 * as in stored rows.  Returns the number of bytes.
 */
static inline Size
hg_scaled_store(const HgScaledFormat *format, int64 scaled, char *target)
{
	uint64 rest = scaled < 0 ? -(uint64) scaled : (uint64) scaled;
	uint16 header = format->header | (scaled < 0 ? HG_SHORT_NEGATIVE : 0);
	uint16 digits[HG_SCALED_DIGITS];
	int n = 0;
	int zeroes = 0;
	Size size;

	if (rest <= PG_UINT64_MAX / (HG_DIGIT_BASE / 10))
	{
		for (rest *= format->factor; rest >= HG_DIGIT_BASE; rest /= HG_DIGIT_BASE)
			digits[n++] = rest % HG_DIGIT_BASE;
		if (rest > 0)
			digits[n++] = (uint16) rest;
	}
	else
		n = hg_scaled_many_digits(rest, format->factor, digits);
	if (n > 0)
		/* the first digit's weight: seven bits with its sign */
		header |= (uint16) (n - 1 - format->fraction) & (HG_SHORT_WEIGHT_SIGN | HG_SHORT_WEIGHT);
	while (zeroes < n && digits[zeroes] == 0)
		zeroes++;
	size = 1 + (1 + n - zeroes) * sizeof(uint16);
	SET_VARSIZE_SHORT(target, size);
	target++;
	memcpy(target, &header, sizeof(header));
	while (n > zeroes)
	{
		target += sizeof(uint16);
		memcpy(target, &digits[--n], sizeof(uint16));
	}
	return size;
}

#endif /* HG_NUMERIC_H */
