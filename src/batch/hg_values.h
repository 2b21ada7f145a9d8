/*-------------------------------------------------------------------------
 *
 * hg_values.h
 *	  Conversion of by-value columns between arrays of the column's own width and arrays of Datums.
 *
 * A stored value has 1, 2, 4 or 8 bytes.  Loops over many values are compiled for a constant
 * width; HG_FOR_WIDTH selects the loop.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_VALUES_H
#define HG_VALUES_H

#include "postgres.h"

#include "access/tupmacs.h"

/* Calls an always-inlined function with the width as a constant first argument. */
#define HG_FOR_WIDTH(width, function, ...)                                                         \
	do                                                                                             \
	{                                                                                              \
		switch (width)                                                                             \
		{                                                                                          \
			case 1:                                                                                \
				function(1, __VA_ARGS__);                                                          \
				break;                                                                             \
			case 2:                                                                                \
				function(2, __VA_ARGS__);                                                          \
				break;                                                                             \
			case 4:                                                                                \
				function(4, __VA_ARGS__);                                                          \
				break;                                                                             \
			default:                                                                               \
				function(8, __VA_ARGS__);                                                          \
				break;                                                                             \
		}                                                                                          \
	} while (0)

static pg_attribute_always_inline void
hg_values_fetch_width(int width, char *const *addresses, Size offset, int n, Datum *values)
{
	for (int i = 0; i < n; i++)
		values[i] = fetch_att(addresses[i] + offset, true, width);
}

/* Sets values[i] to the value of width bytes at addresses[i] + offset, for i < n. */
static inline void
hg_values_fetch(int width, char *const *addresses, Size offset, int n, Datum *values)
{
	HG_FOR_WIDTH(width, hg_values_fetch_width, addresses, offset, n, values);
}

static pg_attribute_always_inline void
hg_values_load_width(int width, const char *array, int n, Datum *values)
{
	for (int i = 0; i < n; i++)
		values[i] = fetch_att(array + (Size) i * width, true, width);
}

/* Sets values[i] to element i of an array of values of width bytes, for i < n. */
static inline void
hg_values_load(int width, const void *array, int n, Datum *values)
{
	HG_FOR_WIDTH(width, hg_values_load_width, array, n, values);
}

static pg_attribute_always_inline void
hg_values_gather_width(int width, const char *array, const uint16 *which, int n, Datum *values)
{
	for (int i = 0; i < n; i++)
		values[i] = fetch_att(array + (Size) which[i] * width, true, width);
}

/* Sets values[i] to element which[i] of an array of values of width bytes, for i < n. */
static inline void
hg_values_gather(int width, const void *array, const uint16 *which, int n, Datum *values)
{
	HG_FOR_WIDTH(width, hg_values_gather_width, array, which, n, values);
}

/*
 * Returns true if numbers[n] are consecutive and ascending; false if n is 0.  Row numbers mostly
 * are, if rows are streamed in their order.
 */
static inline bool
hg_numbers_consecutive(const uint32 *numbers, int n)
{
	uint32 differ = 0;

	if (n == 0 || numbers[n - 1] - numbers[0] != (uint32) n - 1)
		return false;
	for (int i = 0; i < n; i++)
		differ |= numbers[i] ^ (numbers[0] + i);
	return differ == 0;
}

static pg_attribute_always_inline void
hg_values_store_width(int width, char *array, const Datum *values, const uint16 *which, int n)
{
	for (int i = 0; i < n; i++)
		store_att_byval(array + (Size) i * width, values[which != NULL ? which[i] : i], width);
}

/*
 * Sets element i of an array of values of width bytes to values[which[i]], for i < n.  If which is
 * NULL, to values[i].
 */
static inline void
hg_values_store(int width, void *array, const Datum *values, const uint16 *which, int n)
{
	HG_FOR_WIDTH(width, hg_values_store_width, array, values, which, n);
}

/* Returns the signed integer that a by-value Datum of width bytes stores. */
static pg_attribute_always_inline int64
hg_value_integer(int width, Datum value)
{
	switch (width)
	{
		case 1:
			return DatumGetChar(value);
		case 2:
			return DatumGetInt16(value);
		case 4:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

static pg_attribute_always_inline void
hg_values_integers_width(int width, const Datum *values, int n, int64 *integers)
{
	for (int i = 0; i < n; i++)
		integers[i] = hg_value_integer(width, values[i]);
}

/* Sets integers[i] to the signed integer that values[i], of width bytes, stores, for i < n. */
static inline void
hg_values_integers(int width, const Datum *values, int n, int64 *integers)
{
	HG_FOR_WIDTH(width, hg_values_integers_width, values, n, integers);
}

#endif /* HG_VALUES_H */
