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
 * Memory that HG_BATCH_ROWS values of a column may need beside its arrays, whatever encoding a
 * segment has; 0: none.
 */
extern Size hg_resident_values_room(const HgResidentColumn *column);

/*
 * values[i] = the value of row first + which[i], or first + i where which is NULL, for i < n; of
 * those that are NULL anything.  Values by reference point into the arrays or into room, of which
 * value i has the i-th part of HG_BATCH_ROWS.
 */
extern void hg_resident_values_fetch(const HgResidentColumn *column, const HgSegmentArray *array,
									 char *room, uint32 first, const uint16 *which, int n,
									 Datum *values);

/* The same for SCALED: values[i] = Int64GetDatum() of the scaled integer. */
extern void hg_resident_values_scaled(const HgSegmentArray *array, uint32 first,
									  const uint16 *which, int n, Datum *values);

/* The same of a DICTIONARY: values[i] = UInt32GetDatum() of the code; of a NULL anything. */
extern void hg_resident_values_codes(const HgSegmentArray *array, uint32 first, const uint16 *which,
									 int n, Datum *values);

/* Bytes that the values of n rows from first on come to at most, those by reference. */
extern Size hg_resident_values_bytes(const HgResidentColumn *column, const HgSegmentArray *array,
									 uint32 first, uint32 n);

#endif /* HG_RESIDENT_VALUES_H */
