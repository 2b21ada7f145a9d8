/*-------------------------------------------------------------------------
 *
 * hg_numeric_units.h
 *	  Numerics as rows have them, from integers in units of their display scale, and back.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_NUMERIC_UNITS_H
#define HG_NUMERIC_UNITS_H

#include "hg_compat.h"

/* Most decimals. */
#define HG_UNITS_SCALE 16

/* Digits to the base of 10000 that 63 bits have at most, some of the lowest behind the decimals. */
#define HG_UNITS_DIGITS 6

/* Memory of a numeric that is made of units: a short header, one of numerics, and digits. */
#define HG_UNITS_BYTES 16

/* How numerics of a display scale are made. */
typedef struct HgUnitsFormat
{
	uint16 header;
	int fraction;  /* digits to the base behind the point */
	uint64 factor; /* from units to units of the last of these */
} HgUnitsFormat;

extern HgUnitsFormat hg_units_format(int scale);

/*
 * The units of a numeric as a row has it, and its display scale.  False where it is anything else
 * than what hg_units_store() makes of them, byte for byte.
 */
extern bool hg_units_load(const char *numeric, int64 *units, int *scale);

/*
 * The digits of units of so many that are too many for a factor, the lowest first.  Returns their
 * number.
 */
extern int hg_units_many_digits(uint64 units, uint64 factor, uint16 *digits);

/*
 * Make the numeric of so many units at place, where HG_UNITS_BYTES are, in the form in which rows
 * have it: with a short header.  Returns its bytes.
 */
static inline Size
hg_units_store(const HgUnitsFormat *format, int64 units, char *place)
{
	uint64 rest = units < 0 ? -(uint64) units : (uint64) units;
	uint16 header = format->header | (units < 0 ? 0x2000 : 0);
	uint16 digits[HG_UNITS_DIGITS];
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
		n = hg_units_many_digits(rest, format->factor, digits);
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

#endif /* HG_NUMERIC_UNITS_H */
