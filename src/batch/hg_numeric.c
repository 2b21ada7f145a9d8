/*-------------------------------------------------------------------------
 *
 * hg_numeric.c
 *	  Numerics as integers of 128 bits, for sums.
 *
 * The layout of a stored numeric is told at the head of PostgreSQL's numeric.c: a header of
 * one or two 16-bit words with sign, display scale and weight, then digits to the base of 10000,
 * the first of which counts 10000^weight.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "batch/hg_numeric.h"

#define HG_DIGIT_BASE 10000

/* Digits to the base behind the point, and before it, that are taken. */
#define HG_FRACTION_DIGITS (HG_NUMERIC_SCALE / 4)
#define HG_WHOLE_DIGITS 4

/* The first word of the header. */
#define HG_NUMERIC_SPECIAL 0xC000
#define HG_NUMERIC_SHORT 0x8000
#define HG_SHORT_NEGATIVE 0x2000
#define HG_SHORT_SCALE 0x1F80
#define HG_SHORT_SCALE_SHIFT 7
#define HG_SHORT_WEIGHT_SIGN 0x0040
#define HG_SHORT_WEIGHT 0x003F
#define HG_LONG_NEGATIVE 0x4000
#define HG_LONG_SCALE 0x3FFF

static const uint64 hg_powers[] = {UINT64CONST(1), UINT64CONST(10000), UINT64CONST(100000000),
								   UINT64CONST(1000000000000), UINT64CONST(10000000000000000)};

bool
hg_numeric_decode(Datum value, int128 *units, int *scale)
{
	const struct varlena *varlena = (const struct varlena *) DatumGetPointer(value);
	const char *at;
	int words, weight, missing;
	uint16 header;
	uint64 digits = 0;
	int128 result;
	bool negative;

	if (VARATT_IS_EXTENDED(varlena) && !VARATT_IS_SHORT(varlena))
		return false;
	at = VARDATA_ANY(varlena);
	words = (int) (VARSIZE_ANY_EXHDR(varlena) / sizeof(uint16)) - 1;
	memcpy(&header, at, sizeof(header));
	at += sizeof(header);
	if ((header & HG_NUMERIC_SPECIAL) == HG_NUMERIC_SPECIAL)
		return false;
	if (header & HG_NUMERIC_SHORT)
	{
		negative = (header & HG_SHORT_NEGATIVE) != 0;
		*scale = (header & HG_SHORT_SCALE) >> HG_SHORT_SCALE_SHIFT;
		weight = header & HG_SHORT_WEIGHT;
		if (header & HG_SHORT_WEIGHT_SIGN)
			weight |= ~HG_SHORT_WEIGHT;
	}
	else
	{
		int16 word;

		memcpy(&word, at, sizeof(word));
		at += sizeof(word);
		words--;
		negative = (header & HG_LONG_NEGATIVE) != 0;
		*scale = header & HG_LONG_SCALE;
		weight = word;
	}
	/* so many digits of zero follow those that are stored */
	missing = HG_FRACTION_DIGITS + weight + 1 - words;
	if (words == 0)
		missing = 0;
	else if (weight >= HG_WHOLE_DIGITS || missing < 0)
		return false;
	if (*scale > HG_NUMERIC_SCALE)
		return false;

	/* the first four fit 64 bits */
	for (int i = 0; i < Min(words, 4); i++, at += sizeof(uint16))
	{
		uint16 digit;

		memcpy(&digit, at, sizeof(digit));
		digits = digits * HG_DIGIT_BASE + digit;
	}
	result = digits;
	for (int i = 4; i < words; i++, at += sizeof(uint16))
	{
		uint16 digit;

		memcpy(&digit, at, sizeof(digit));
		result = result * HG_DIGIT_BASE + digit;
	}
	if (missing > HG_FRACTION_DIGITS)
	{
		result *= hg_powers[HG_FRACTION_DIGITS];
		missing -= HG_FRACTION_DIGITS;
	}
	result *= hg_powers[missing];
	*units = negative ? -result : result;
	return true;
}

Datum
hg_numeric_integer(int128 value)
{
	int64 high = (int64) (value >> 64);
	uint64 low = (uint64) value;
	Datum base;
	Datum result;

	if (value >= PG_INT64_MIN && value <= PG_INT64_MAX)
		return NumericGetDatum(int64_to_numeric((int64) value));
	base = NumericGetDatum(int64_to_numeric(INT64CONST(1) << 32));
	result = DirectFunctionCall2(numeric_mul, NumericGetDatum(int64_to_numeric(high)), base);
	result = DirectFunctionCall2(numeric_add, result,
								 NumericGetDatum(int64_to_numeric((int64) (low >> 32))));
	result = DirectFunctionCall2(numeric_mul, result, base);
	return DirectFunctionCall2(numeric_add, result,
							   NumericGetDatum(int64_to_numeric((int64) (low & 0xffffffff))));
}

Datum
hg_numeric_make(int128 units, int scale)
{
	int64 divisor = 1;

	for (int i = scale; i < HG_NUMERIC_SCALE; i++)
		divisor *= 10;
	units /= divisor;
	if (units >= PG_INT64_MIN && units <= PG_INT64_MAX)
		return NumericGetDatum(int64_div_fast_to_numeric((int64) units, scale));
	return DirectFunctionCall2(numeric_mul, hg_numeric_integer(units),
							   NumericGetDatum(int64_div_fast_to_numeric(1, scale)));
}
