/*-------------------------------------------------------------------------
 *
 * hg_numeric.h
 *	  Numerics as integers of 64 and 128 bits.
 *
 * A numeric of moderate size is a SCALED INTEGER, its value times 10^scale, where scale is the
 * number of decimals that it is displayed with.  Sums, differences and products of such numbers
 * are exact, and so is what is made of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_NUMERIC_H
#define HG_NUMERIC_H

#include "postgres.h"

/*
 * Sets the scaled integer of a numeric, and its display scale.  Returns false for a numeric that
 * is too large, too fine, NaN, infinite, compressed or out of line.
 */
extern bool hg_numeric_decode(Datum value, int128 *scaled, int *scale);

/*
 * Sets the scaled integers of values[n], where all of them have the same display scale; those with
 * nulls (or NULL: none) are left out and have 0.  Returns false where the scales differ, or a
 * value is none of the above or does not fit 64 bits.
 */
extern bool hg_numeric_decode_column(const Datum *values, const bool *nulls, int n, int64 *scaled,
									 int *scale);

/* Multiplies by 10^decimals; false, and *scaled is undefined, where that does not fit. */
extern bool hg_numeric_scale_up(int128 *scaled, int decimals);

/* Returns the numeric of an integer that is scaled by 10^scale. */
extern Datum hg_numeric_make(int128 scaled, int scale);

/* The numeric of an integer. */
extern Datum hg_numeric_integer(int128 value);

#endif /* HG_NUMERIC_H */
