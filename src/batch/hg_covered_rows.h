/*-------------------------------------------------------------------------
 *
 * hg_covered_rows.h
 *	  Subsets of the covered rows: found by keys, left out, selected, or read after all.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COVERED_ROWS_H
#define HG_COVERED_ROWS_H

#include "hg_compat.h"

#include "port/atomics.h"

#include "batch/hg_covered.h"

/*
 * A growing array of integers: row numbers (hg_covered.h) or values of a column.  It is in the
 * memory context that was current at initialization.
 */
typedef struct HgIntegers
{
	MemoryContext context;
	uint64 count;
	uint64 room;
	int64 *values; /* [count] */
} HgIntegers;

/* Initializes an empty array. */
extern void hg_integers_init(HgIntegers *integers);
/* Appends an integer. */
extern void hg_integers_add(HgIntegers *integers, int64 integer);

/*
 * Looks the values in keys up in a graph that hg_covered_graph_by() has returned, and appends the
 * numbers of the covered rows that it finds to rows.  A row is appended once for each time that
 * its key is in keys.  Returns false if rows would then have more than `most` elements; some of
 * them may have been appended.
 */
extern bool hg_covered_find_rows(const HgCovered *covered, const HgPinnedGraph *graph,
								 const HgIntegers *keys, uint64 most, HgIntegers *rows);

/* Appends the values that covered rows have in covered->columns[column]; NULLs are left out. */
extern void hg_covered_add_values(const HgCovered *covered, const HgIntegers *rows, int column,
								  HgIntegers *values);

/*
 * Returns a mask of all covered rows except those whose numbers are in rows, and sets *left to the
 * number of rows in it.  The mask is in CurrentMemoryContext; covered does not change.
 */
extern HgFlatMask *hg_covered_mask_without(const HgCovered *covered, const HgIntegers *rows,
										   uint64 *left);

/*
 * Applies the pending predicates to the covered rows whose numbers are in rows.  Returns the rows
 * that pass as a copy of covered, in CurrentMemoryContext.  In covered itself the predicates stay
 * pending (hg_covered.h).
 */
extern HgCovered *hg_covered_apply_rows(const HgCovered *covered, const HgIntegers *rows);

/* Makes the rows whose numbers are in rows the only covered rows. */
extern void hg_covered_select_rows(HgCovered *covered, const HgIntegers *rows);

/* ---------------------------------------------------------------------
 * Uncovered rows: covered rows that the processes of a parallel query read after all
 * ---------------------------------------------------------------------
 */

/* The position of a process in the segments of covered rows. */
typedef struct HgUncover
{
	HgCovered *covered;			 /* NULL if no row is uncovered */
	int *columns;				 /* [covered->ncolumns] 0, 1, 2, ... */
	pg_atomic_uint32 *next_part; /* shared: the next segment that no process has taken */
	uint32 part;				 /* the segment that is read now */
	/* ordinal of the next row; behind the segment's last if it is read */
	uint64 at;
} HgUncover;

/*
 * Begins reading covered rows, in CurrentMemoryContext.  *next_part is a counter that all
 * processes share and that begins with 0; each segment is read by one process.
 */
extern void hg_uncover_begin(HgUncover *uncover, HgCovered *covered, pg_atomic_uint32 *next_part);

/* Fills a batch, whose columns are covered->columns.  Returns false at the end. */
extern bool hg_uncover_next(HgUncover *uncover, HgBatch *batch);

#endif /* HG_COVERED_ROWS_H */
