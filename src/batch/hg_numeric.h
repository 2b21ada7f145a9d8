/*-------------------------------------------------------------------------
 *
 * hg_numeric.h
 *	  Numerics as integers of 128 bits, for sums.
 *
 * A numeric of moderate size is a whole number of units of 10^-HG_NUMERIC_SCALE.  Sums of
 * such numbers are exact, and so is what is made of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_NUMERIC_H
#define HG_NUMERIC_H

#include "postgres.h"

/* Decimal digits behind the point that are kept. */
#define HG_NUMERIC_SCALE 16

/*
 * The units of a numeric, and its display scale, which is at most HG_NUMERIC_SCALE; false for
 * one that is too large, too fine, NaN, infinite, compressed or out of line.
 */
extern bool hg_numeric_decode(Datum value, int128 *units, int *scale);

/* The numeric of so many units with a display scale that is enough for them. */
extern Datum hg_numeric_make(int128 units, int scale);

/* The numeric of an integer. */
extern Datum hg_numeric_integer(int128 value);

#endif /* HG_NUMERIC_H */
