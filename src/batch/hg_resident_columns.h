/*-------------------------------------------------------------------------
 *
 * hg_resident_columns.h
 *	  The values of cached columns: as Datums, and as columns of batches.
 *
 * The arrays are those of the segment of the scan's current run (hg_scan_resident.h).  Only
 * hg_resident_columns_add() and hg_resident_columns_run() allow columns with attribute 0.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_COLUMNS_H
#define HG_RESIDENT_COLUMNS_H

#include "hg_compat.h"

#include "batch/hg_batch.h"
#include "batch/hg_predicate.h"
#include "batch/hg_scan_resident.h"
#include "resident/hg_resident_array.h"
#include "resident/hg_resident_key.h"

/* Values of a segment's column as Datums. */

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

/* Fills columns of batches from the arrays of cached columns. */

/* The columns of a batch, and the arrays that fill them. */
typedef struct HgResidentColumns HgResidentColumns;

/*
 * Creates the columns of a scan in CurrentMemoryContext.  Column c of a batch is attnos[c], which
 * the scan must have; 0 leaves the column of a batch unchanged.
 */
extern HgResidentColumns *hg_resident_columns_create(const HgResidentScan *resident, int ncolumns,
													 const AttrNumber *attnos);

/*
 * Appends n rows of the current segment to a batch, which has room for them, and raises nrows: row
 * first + which[i] of the segment, or first + i if which is NULL.  If the batch takes them
 * (hg_batch.h) and the segment has them, numerics are scaled integers and values are codes.  Codes
 * need an empty batch.  By-reference values point into the arrays, which live as long as the scan,
 * or into memory that the next batch uses again.
 */
extern void hg_resident_columns_add(HgResidentColumns *columns, uint32 first, const uint16 *which,
									int n, HgBatch *batch);

/*
 * Returns true if rows of the current run may follow the rows of the batch: all numerics have the
 * same scale, or are not scaled.
 */
extern bool hg_resident_columns_join(const HgResidentColumns *columns, const HgBatch *batch);

/* Sets bounds[column] of all rows of the current run's segment. */
extern void hg_resident_columns_bounds(const HgResidentColumns *columns, HgValueBounds *bounds);

/* Sets arrays[column] to the arrays and dictionaries of the current run's segment. */
extern void hg_resident_columns_arrays(const HgResidentColumns *columns, HgPredicateColumn *arrays);

/*
 * Returns a number of rows from first on, at most n, whose by-reference values have at most *room
 * bytes; but at least 1.  Subtracts their bytes from *room, down to 0.
 */
extern int hg_resident_columns_fit(const HgResidentColumns *columns, uint32 first, int n,
								   Size *room);

/*
 * Sets values[column] to the address of row first's value in the array, behind which those of the
 * next rows follow.  Returns false if a column has NULLs or is by reference.
 */
extern bool hg_resident_columns_run(const HgResidentColumns *columns, uint32 first,
									const void **values);

#endif /* HG_RESIDENT_COLUMNS_H */
