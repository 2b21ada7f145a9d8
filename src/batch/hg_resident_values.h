/*-------------------------------------------------------------------------
 *
 * hg_resident_values.h
 *	  Values of a segment's column as Datums.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_VALUES_H
#define HG_RESIDENT_VALUES_H

#include "hg_compat.h"

#include "resident/hg_resident_array.h"
#include "resident/hg_resident_key.h"

/*
 * Returns the bytes that HG_BATCH_ROWS values of a column may need beside its arrays, in any
 * encoding; 0 if none.
 */
extern Size hg_resident_values_room(const HgResidentColumn *column);

/*
 * Sets values[i] to the value of row first + which[i], or first + i if which is NULL, for i < n.
 * The value of a NULL is undefined.  By-reference values point into the arrays or into room, which
 * has hg_resident_values_room() bytes.
 */
extern void hg_resident_values_fetch(const HgResidentColumn *column, const HgSegmentArray *array,
									 char *room, uint32 first, const uint16 *which, int n,
									 Datum *values);

/* Sets values[i] to Int64GetDatum() of the scaled integer; the array's encoding is SCALED. */
extern void hg_resident_values_scaled(const HgSegmentArray *array, uint32 first,
									  const uint16 *which, int n, Datum *values);

/*
 * Sets values[i] to UInt32GetDatum() of the code; the array's encoding is DICTIONARY.  The code of
 * a NULL is undefined.
 */
extern void hg_resident_values_codes(const HgSegmentArray *array, uint32 first, const uint16 *which,
									 int n, Datum *values);

/* Returns an upper bound of the bytes of the by-reference values of n rows from first on. */
extern Size hg_resident_values_bytes(const HgResidentColumn *column, const HgSegmentArray *array,
									 uint32 first, uint32 n);

#endif /* HG_RESIDENT_VALUES_H */
