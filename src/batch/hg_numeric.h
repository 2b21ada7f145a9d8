/*-------------------------------------------------------------------------
 *
 * hg_numeric.h
 *	  Numerics as integers of 64 and 128 bits.
 *
 * A numeric of moderate size is a scaled integer: its value times 10^scale, where scale is its
 * display scale.  Sums, differences and products of scaled integers are exact.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_NUMERIC_H
#define HG_NUMERIC_H

#include "postgres.h"

/*
 * Sets the scaled integer of a numeric and its display scale.  Returns false for a numeric that is
 * NaN, infinite, compressed, out of line, or has too many digits.
 */
extern bool hg_numeric_decode(Datum value, int128 *scaled, int *scale);

/*
 * Sets the scaled integers of values[n], which must all have the same display scale.  A row that
 * nulls marks (NULL: no row) is skipped and gets 0.  Returns false if scales differ, if a value
 * does not fit 64 bits, or if hg_numeric_decode() would refuse it.
 */
extern bool hg_numeric_decode_column(const Datum *values, const bool *nulls, int n, int64 *scaled,
									 int *scale);

/* Multiplies *scaled by 10^decimals.  Returns false, and leaves *scaled undefined, on overflow. */
extern bool hg_numeric_scale_up(int128 *scaled, int decimals);

/* Returns the numeric of an integer scaled by 10^scale. */
extern Datum hg_numeric_make(int128 scaled, int scale);

/* Returns the numeric of an integer. */
extern Datum hg_numeric_integer(int128 value);

#endif /* HG_NUMERIC_H */
