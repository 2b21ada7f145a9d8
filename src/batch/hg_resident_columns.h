/*-------------------------------------------------------------------------
 *
 * hg_resident_columns.h
 *	  Columns of batches that are taken from the arrays of a resident scan.
 *
 * They are those of the segment that the scan stands at (hg_scan_resident.h), which the current run
 * is of.  What is asked of all columns, but for their values, is asked where none is left alone.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_COLUMNS_H
#define HG_RESIDENT_COLUMNS_H

#include "batch/hg_batch.h"
#include "batch/hg_predicate_arrays.h"
#include "batch/hg_predicate_judge.h"
#include "batch/hg_scan_resident.h"

/* Columns of a batch that are taken from arrays. */
typedef struct HgResidentColumns HgResidentColumns;

/*
 * Column c is attnos[c], which is one of the scan's, or with 0 one that is left alone.  In
 * CurrentMemoryContext.
 */
extern HgResidentColumns *hg_resident_columns_create(const HgResidentScan *resident, int ncolumns,
													 const AttrNumber *attnos);

/*
 * Adds rows of the current run behind those of a batch, which has room for them: row first +
 * which[i], or first + i where which is NULL, for i < n.  Numerics are scaled integers, and values
 * codes, where the batch takes them (hg_batch.h) and the segment has them; codes if the batch is
 * empty.  What is by reference points into the arrays, which stay as long as the scan does, or
 * into memory that is used again with the batch.
 */
extern void hg_resident_columns_add(HgResidentColumns *columns, uint32 first, const uint16 *which,
									int n, HgBatch *batch);

/*
 * True if rows of the current run may stand in a batch with those that it has, as numerics or as
 * scaled integers.
 */
extern bool hg_resident_columns_join(const HgResidentColumns *columns, const HgBatch *batch);

/* What is known of all rows of the segment that the current run is of, by column. */
extern void hg_resident_columns_bounds(const HgResidentColumns *columns, HgValueBounds *bounds);

/* The arrays of that segment, each of which is one of the columns'. */
extern void hg_resident_columns_arrays(const HgResidentColumns *columns, HgPredicateColumn *arrays);

/*
 * How many of the next n rows of the current run a batch may take, at least one, for their values
 * by reference to come to no more than *room bytes, which becomes what is left of it.
 */
extern int hg_resident_columns_fit(const HgResidentColumns *columns, uint32 first, int n,
								   Size *room);

/*
 * Rows of the current run that lie in the arrays one behind the other: where.  False where some
 * column has NULLs, or is by reference.
 */
extern bool hg_resident_columns_run(const HgResidentColumns *columns, uint32 first,
									const void **values);

#endif /* HG_RESIDENT_COLUMNS_H */
