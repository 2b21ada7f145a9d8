/*-------------------------------------------------------------------------
 *
 * hg_numeric_units.c
 *	  Numerics as rows have them, from integers in units of their display scale, and back.
 *
 * Most numerics are stored in the short form that is told at the head of PostgreSQL's numeric.c:
 * 16 bits of sign, display scale and weight, and the digits to the base of 10000 without zeroes at
 * either end, behind a header of one byte.  What is stored in any other way, or with digits that
 * numeric.c would not have left so, is not taken: it could not be made again.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_numeric_units.h"

#define HG_BASE 10000
#define HG_BASE_DECIMALS 4

/* The 16 bits of the short form. */
#define HG_FORM 0xC000
#define HG_FORM_SHORT 0x8000
#define HG_SIGN 0x2000
#define HG_SCALE_SHIFT 7
#define HG_SCALE 0x3f
#define HG_WEIGHT 0x7f
#define HG_WEIGHT_SIGN 0x40

HgUnitsFormat
hg_units_format(int scale)
{
	HgUnitsFormat format = {.header = HG_FORM_SHORT | scale << HG_SCALE_SHIFT,
							.fraction = (scale + HG_BASE_DECIMALS - 1) / HG_BASE_DECIMALS,
							.factor = 1};

	for (int i = scale; i < format.fraction * HG_BASE_DECIMALS; i++)
		format.factor *= 10;
	return format;
}

int
hg_units_many_digits(uint64 units, uint64 factor, uint16 *digits)
{
	uint64 last = HG_BASE / factor;
	int n = 0;

	digits[n++] = (uint16) (units % last * factor);
	for (units /= last; units > 0; units /= HG_BASE)
		digits[n++] = units % HG_BASE;
	return n;
}

/* Multiply by 10^power, or divide by 10^-power, of which no more than three are left out. */
static bool
hg_units_scale(uint128 *units, int power)
{
	for (; power < 0; power++)
		*units = *units <= PG_UINT64_MAX ? (uint64) *units / 10 : *units / 10;
	for (; power > 0 && *units <= PG_INT64_MAX; power--)
		*units *= 10;
	return *units <= PG_INT64_MAX;
}

bool
hg_units_load(const char *numeric, int64 *units, int *scale)
{
	char made[HG_UNITS_BYTES];
	HgUnitsFormat format;
	uint128 digits = 0;
	uint16 header;
	int weight;
	Size size;
	int n;

	if (!VARATT_IS_SHORT(numeric) || VARATT_IS_EXTERNAL(numeric))
		return false;
	size = VARSIZE_SHORT(numeric);
	n = (int) ((size - 1) / sizeof(uint16)) - 1;
	if (n < 0 || n > HG_UNITS_DIGITS)
		return false;
	memcpy(&header, numeric + 1, sizeof(header));
	*scale = header >> HG_SCALE_SHIFT & HG_SCALE;
	if ((header & HG_FORM) != HG_FORM_SHORT || *scale > HG_UNITS_SCALE)
		return false;
	weight = header & HG_WEIGHT;
	if (weight & HG_WEIGHT_SIGN)
		weight -= 2 * HG_WEIGHT_SIGN;
	for (int i = 0; i < n; i++)
	{
		uint16 digit;

		memcpy(&digit, numeric + 1 + (1 + i) * sizeof(uint16), sizeof(digit));
		digits = digits * HG_BASE + digit;
	}
	/* the last digit counts units of 10000^(weight - n + 1) */
	if (!hg_units_scale(
			&digits,
			digits == 0 ? 0 : Max(HG_BASE_DECIMALS * (weight - n + 1) + *scale, -HG_BASE_DECIMALS)))
		return false;
	*units = header & HG_SIGN ? -(int64) digits : (int64) digits;
	format = hg_units_format(*scale);
	return hg_units_store(&format, *units, made) == size && memcmp(made, numeric, size) == 0;
}
