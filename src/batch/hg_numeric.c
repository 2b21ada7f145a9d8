/*-------------------------------------------------------------------------
 *
 * hg_numeric.c
 *	  Numerics as integers of 64 and 128 bits.
 *
 * PostgreSQL's numeric.c describes the layout of a stored numeric.  A header of one or two 16-bit
 * words has sign, display scale and weight.  Base-10000 digits follow; the first counts
 * 10000^weight.
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

/* The greatest powers of ten that fit 64 and 128 bits. */
#define HG_MOST_TENS 18
#define HG_MOST_BIG_TENS (2 * HG_MOST_TENS)

/* Numbers of digits that fit 64 and 128 bits, whatever they are. */
#define HG_SMALL_DIGITS 4
#define HG_BIG_DIGITS 9

static const int64 hg_tens[HG_MOST_TENS + 1] = {INT64CONST(1),
												INT64CONST(10),
												INT64CONST(100),
												INT64CONST(1000),
												INT64CONST(10000),
												INT64CONST(100000),
												INT64CONST(1000000),
												INT64CONST(10000000),
												INT64CONST(100000000),
												INT64CONST(1000000000),
												INT64CONST(10000000000),
												INT64CONST(100000000000),
												INT64CONST(1000000000000),
												INT64CONST(10000000000000),
												INT64CONST(100000000000000),
												INT64CONST(1000000000000000),
												INT64CONST(10000000000000000),
												INT64CONST(100000000000000000),
												INT64CONST(1000000000000000000)};

/* A stored numeric.  Its digits times 10^power are the integer scaled by 10^scale. */
typedef struct HgStored
{
	bool negative;
	int scale;
	int ndigits;
	const char *digits; /* of 16 bits each */
	int power;			/* at least -(HG_DIGIT_DECIMALS - 1) */
} HgStored;

/* Parses a numeric's header.  Returns false if it is not a number, or not inline. */
static pg_attribute_always_inline bool
hg_numeric_parse(Datum value, HgStored *stored)
{
	const struct varlena *varlena = (const struct varlena *) DatumGetPointer(value);
	const char *at;
	uint16 header;
	int weight;

	/* a pointer to a value out of line has a short header too */
	if (VARATT_IS_EXTERNAL(varlena) || VARATT_IS_COMPRESSED(varlena))
		return false;
	at = VARDATA_ANY(varlena);
	stored->ndigits = (int) (VARSIZE_ANY_EXHDR(varlena) / sizeof(uint16)) - 1;
	memcpy(&header, at, sizeof(header));
	at += sizeof(header);
	if ((header & HG_NUMERIC_SPECIAL) == HG_NUMERIC_SPECIAL)
		return false;
	if (header & HG_NUMERIC_SHORT)
	{
		stored->negative = (header & HG_SHORT_NEGATIVE) != 0;
		stored->scale = (header & HG_SHORT_SCALE) >> HG_SHORT_SCALE_SHIFT;
		weight = header & HG_SHORT_WEIGHT;
		if (header & HG_SHORT_WEIGHT_SIGN)
			weight |= ~HG_SHORT_WEIGHT;
	}
	else
	{
		int16 word;

		memcpy(&word, at, sizeof(word));
		at += sizeof(word);
		stored->ndigits--;
		stored->negative = (header & HG_LONG_NEGATIVE) != 0;
		stored->scale = header & HG_LONG_SCALE;
		weight = word;
	}
	stored->digits = at;
	stored->power = stored->scale - HG_DIGIT_DECIMALS * (stored->ndigits - 1 - weight);
	return stored->power > -HG_DIGIT_DECIMALS || stored->ndigits == 0;
}

static inline uint16
hg_stored_digit(const HgStored *stored, int i)
{
	uint16 digit;

	memcpy(&digit, stored->digits + i * sizeof(digit), sizeof(digit));
	return digit;
}

/* Sets the scaled integer of a numeric with few digits; false for others. */
static pg_attribute_always_inline bool
hg_stored_small(const HgStored *stored, int64 *scaled)
{
	int64 digits = 0;

	if (stored->ndigits > HG_SMALL_DIGITS)
		return false;
	for (int i = 0; i < stored->ndigits; i++)
		digits = digits * HG_DIGIT_BASE + hg_stored_digit(stored, i);
	if (digits == 0)
		*scaled = 0;
	else if (stored->power >= 0)
	{
		if (stored->power > HG_MOST_TENS ||
			__builtin_mul_overflow(digits, hg_tens[stored->power], &digits))
			return false;
		*scaled = stored->negative ? -digits : digits;
	}
	else
	{
		/* division by constants is cheap; the digits cut off are zero */
		digits /= stored->power == -1 ? 10 : stored->power == -2 ? 100 : 1000;
		*scaled = stored->negative ? -digits : digits;
	}
	return true;
}

bool
hg_numeric_decode(Datum value, int128 *scaled, int *scale)
{
	HgStored stored;
	int64 small;
	int128 digits = 0;

	if (!hg_numeric_parse(value, &stored) || stored.ndigits > HG_BIG_DIGITS)
		return false;
	*scale = stored.scale;
	if (hg_stored_small(&stored, &small))
	{
		*scaled = small;
		return true;
	}
	for (int i = 0; i < stored.ndigits; i++)
		digits = digits * HG_DIGIT_BASE + hg_stored_digit(&stored, i);
	if (stored.power < 0)
		digits /= hg_tens[-stored.power];
	else if (!hg_numeric_scale_up(&digits, stored.power))
		return false;
	*scaled = stored.negative ? -digits : digits;
	return true;
}

bool
hg_numeric_decode_column(const Datum *values, const bool *nulls, int n, int64 *scaled, int *scale)
{
	int first = 0;
	HgStored stored;

	*scale = 0;
	while (nulls != NULL && first < n && nulls[first])
		scaled[first++] = 0;
	for (int i = first; i < n; i++)
	{
		if (nulls != NULL && nulls[i])
		{
			scaled[i] = 0;
			continue;
		}
		if (!hg_numeric_parse(values[i], &stored))
			return false;
		if (i == first)
			*scale = stored.scale;
		if (stored.scale != *scale || !hg_stored_small(&stored, &scaled[i]))
			return false;
	}
	return true;
}

bool
hg_numeric_scale_up(int128 *scaled, int decimals)
{
	int128 factor;

	if (decimals > HG_MOST_BIG_TENS)
		return *scaled == 0;
	factor = hg_tens[Min(decimals, HG_MOST_TENS)];
	if (decimals > HG_MOST_TENS)
		factor *= hg_tens[decimals - HG_MOST_TENS];
	return !__builtin_mul_overflow(*scaled, factor, scaled);
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
hg_numeric_make(int128 scaled, int scale)
{
	if (scaled >= PG_INT64_MIN && scaled <= PG_INT64_MAX)
		return NumericGetDatum(int64_div_fast_to_numeric((int64) scaled, scale));
	return DirectFunctionCall2(numeric_mul, hg_numeric_integer(scaled),
							   NumericGetDatum(int64_div_fast_to_numeric(1, scale)));
}

/* ---------------------------------------------------------------------
 * Stored numerics and scaled integers of their display scale
 *
 * Most numerics are stored in the short form of PostgreSQL's numeric.c.  A one-byte varlena header
 * is followed by 16 bits of sign, display scale and weight, and by base-10000 digits without
 * zeroes at either end.  A numeric in any other form is refused, because hg_scaled_store() could
 * not make it again.
 * ---------------------------------------------------------------------
 */

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
	weight = header & (HG_SHORT_WEIGHT_SIGN | HG_SHORT_WEIGHT);
	if (weight & HG_SHORT_WEIGHT_SIGN)
		weight -= 2 * HG_SHORT_WEIGHT_SIGN;
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
