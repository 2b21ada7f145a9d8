/*-------------------------------------------------------------------------
 *
 * hg_numeric_scaled.h
 *	  Conversion of numerics between their stored form and scaled integers of their display scale.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_NUMERIC_SCALED_H
#define HG_NUMERIC_SCALED_H

#include "hg_compat.h"

/* Digits of stored numerics, and bits of the first word of their header, short or long. */
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
 * Sets the digits, lowest first, of a scaled integer whose product with the factor overflows.
 * Returns the number of digits.
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

#endif /* HG_NUMERIC_SCALED_H */
