/*-------------------------------------------------------------------------
 *
 * hg_numeric_scaled.h
 *	  Numerics as rows have them, from scaled integers of their display scale, and back.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_NUMERIC_SCALED_H
#define HG_NUMERIC_SCALED_H

#include "hg_compat.h"

/* Most decimals. */
#define HG_SCALED_DECIMALS 16

/* Digits to the base of 10000 that 63 bits have at most, some of the lowest behind the decimals. */
#define HG_SCALED_DIGITS 6

/*
 * Memory of a numeric that is made of a scaled integer: a short header, one of numerics, and
 * digits.
 */
#define HG_SCALED_BYTES 16

/* How numerics of a display scale are made. */
typedef struct HgScaledFormat
{
	uint16 header;
	int fraction;  /* digits to the base behind the point */
	uint64 factor; /* from the scaled integer to one that is scaled by whole digits */
} HgScaledFormat;

extern HgScaledFormat hg_scaled_format(int scale);

/*
 * Sets the scaled integer of a numeric as a row has it, and its display scale.  Returns false
 * where the numeric differs in any byte from what hg_scaled_store() makes of these.
 */
extern bool hg_scaled_load(const char *numeric, int64 *scaled, int *scale);

/*
 * Sets the digits of a scaled integer that overflows when it is multiplied by the factor, the
 * lowest first.  Returns their number.
 */
extern int hg_scaled_many_digits(uint64 scaled, uint64 factor, uint16 *digits);

/*
 * Makes the numeric of a scaled integer at place, where HG_SCALED_BYTES are, in the form in which
 * rows have it: with a short header.  Returns its bytes.
 */
static inline Size
hg_scaled_store(const HgScaledFormat *format, int64 scaled, char *place)
{
	uint64 rest = scaled < 0 ? -(uint64) scaled : (uint64) scaled;
	uint16 header = format->header | (scaled < 0 ? 0x2000 : 0);
	uint16 digits[HG_SCALED_DIGITS];
	int n = 0;
	int zeroes = 0;
	Size size;

	if (rest <= PG_UINT64_MAX / 1000)
	{
		for (rest *= format->factor; rest >= 10000; rest /= 10000)
			digits[n++] = rest % 10000;
		if (rest > 0)
			digits[n++] = (uint16) rest;
	}
	else
		n = hg_scaled_many_digits(rest, format->factor, digits);
	if (n > 0)
		/* the weight of the first one, in seven bits with its sign */
		header |= (uint16) (n - 1 - format->fraction) & 0x7f;
	while (zeroes < n && digits[zeroes] == 0)
		zeroes++;
	size = 1 + (1 + n - zeroes) * sizeof(uint16);
	SET_VARSIZE_SHORT(place, size);
	place++;
	memcpy(place, &header, sizeof(header));
	while (n > zeroes)
	{
		place += sizeof(uint16);
		memcpy(place, &digits[--n], sizeof(uint16));
	}
	return size;
}

#endif /* HG_NUMERIC_SCALED_H */
