/*-------------------------------------------------------------------------
 *
 * hg_numeric_scaled.c
 *	  Conversion of numerics between their stored form and scaled integers of their display scale.
 *
 * Most numerics are stored in the short form of PostgreSQL's numeric.c.  A one-byte varlena header
 * is followed by 16 bits of sign, display scale and weight, and by base-10000 digits without
 * zeroes at either end.  A numeric in any other form is refused, because hg_scaled_store() could
 * not make it again.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_numeric_scaled.h"

HgScaledFormat
hg_scaled_format(int scale)
{
	HgScaledFormat format = {.header = HG_NUMERIC_SHORT | scale << HG_SHORT_SCALE_SHIFT,
							 .fraction = (scale + HG_DIGIT_DECIMALS - 1) / HG_DIGIT_DECIMALS,
							 .factor = 1};

	for (int i = scale; i < format.fraction * HG_DIGIT_DECIMALS; i++)
		format.factor *= 10;
	return format;
}

int
hg_scaled_many_digits(uint64 scaled, uint64 factor, uint16 *digits)
{
	uint64 last = HG_DIGIT_BASE / factor;
	int n = 0;

	digits[n++] = (uint16) (scaled % last * factor);
	for (scaled /= last; scaled > 0; scaled /= HG_DIGIT_BASE)
		digits[n++] = scaled % HG_DIGIT_BASE;
	return n;
}

/* Multiplies by 10^power, or divides by 10^-power.  Returns false on overflow. */
static bool
hg_scaled_multiply(uint128 *scaled, int power)
{
	for (; power < 0; power++)
		*scaled = *scaled <= PG_UINT64_MAX ? (uint64) *scaled / 10 : *scaled / 10;
	for (; power > 0 && *scaled <= PG_INT64_MAX; power--)
		*scaled *= 10;
	return *scaled <= PG_INT64_MAX;
}

bool
hg_scaled_load(const char *numeric, int64 *scaled, int *scale)
{
	char made[HG_SCALED_BYTES];
	HgScaledFormat format;
	uint128 digits = 0;
	uint16 header;
	int weight;
	Size size;
	int n;

	if (!VARATT_IS_SHORT(numeric) || VARATT_IS_EXTERNAL(numeric))
		return false;
	size = VARSIZE_SHORT(numeric);
	n = (int) ((size - 1) / sizeof(uint16)) - 1;
	if (n < 0 || n > HG_SCALED_DIGITS)
		return false;
	memcpy(&header, numeric + 1, sizeof(header));
	*scale = (header & HG_SHORT_SCALE) >> HG_SHORT_SCALE_SHIFT;
	if ((header & HG_NUMERIC_SPECIAL) != HG_NUMERIC_SHORT || *scale > HG_SCALED_DECIMALS)
		return false;
	weight = header & HG_SHORT_WEIGHT;
	if (header & HG_SHORT_WEIGHT_SIGN)
		weight |= ~HG_SHORT_WEIGHT;
	for (int i = 0; i < n; i++)
	{
		uint16 digit;

		memcpy(&digit, numeric + 1 + (1 + i) * sizeof(uint16), sizeof(digit));
		digits = digits * HG_DIGIT_BASE + digit;
	}
	/* the last digit counts multiples of 10000^(weight - n + 1) */
	if (!hg_scaled_multiply(
			&digits, digits == 0
						 ? 0
						 : Max(HG_DIGIT_DECIMALS * (weight - n + 1) + *scale, -HG_DIGIT_DECIMALS)))
		return false;
	*scaled = header & HG_SHORT_NEGATIVE ? -(int64) digits : (int64) digits;
	format = hg_scaled_format(*scale);
	return hg_scaled_store(&format, *scaled, made) == size && memcmp(made, numeric, size) == 0;
}
