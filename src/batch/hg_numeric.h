/*-------------------------------------------------------------------------
 *
 * hg_numeric.h
 *	  Numerics as integers of 64 and 128 bits.
 *
 * A numeric of moderate size is a whole number of units of 10^-scale, where scale is the number of
 * decimals that it is displayed with.  Sums, differences and products of such numbers are exact,
 * and so is what is made of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_NUMERIC_H
#define HG_NUMERIC_H

#include "postgres.h"

/*
 * The units of a numeric, and its display scale; false for one that is too large, too fine, NaN,
 * infinite, compressed or out of line.
 */
extern bool hg_numeric_decode(Datum value, int128 *units, int *scale);

/*
 * The units of values[n], of which those with nulls (or NULL: none) are left out and have 0, where
 * all of them have the same display scale; false where they don't, or one of them is none of the
 * above or does not fit 64 bits.
 */
extern bool hg_numeric_decode_column(const Datum *values, const bool *nulls, int n, int64 *units,
									 int *scale);

/* Multiply by 10^decimals; false, and *units is undefined, where that does not fit. */
extern bool hg_numeric_scale_up(int128 *units, int decimals);

/* The numeric of so many units of 10^-scale. */
extern Datum hg_numeric_make(int128 units, int scale);

/* The numeric of an integer. */
extern Datum hg_numeric_integer(int128 value);

#endif /* HG_NUMERIC_H */
