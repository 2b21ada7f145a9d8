/*-------------------------------------------------------------------------
 *
 * hg_sort_rows.h
 *	  Rows in memory, sorted by their keys: columns stay where they are, and row numbers are sorted.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SORT_ROWS_H
#define HG_SORT_ROWS_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "utils/sortsupport.h"

#include "batch/hg_batch.h"

typedef struct HgSortRows HgSortRows;

/* Returns the estimated bytes of a row beside its columns, with more_keys behind the first one. */
static inline Size
hg_sort_row_bytes(int more_keys)
{
	return 2 * sizeof(uint64) + more_keys * (sizeof(Datum) + sizeof(bool));
}

/*
 * Returns true if values of a type have words by which an ordering operator compares most of them:
 * integers (hg_value_order.h), or abbreviated keys that are unsigned integers.
 */
extern bool hg_sort_rows_takes(Oid type, Oid ordering_operator, Oid collation);

/*
 * Creates an empty set of rows of desc in CurrentMemoryContext.  It refers to keys[nkeys], the sort
 * keys by attribute of desc, afterwards.  ordering_operator is that of the first key.  Rows may
 * take max_bytes.
 */
extern HgSortRows *hg_sort_rows_create(TupleDesc desc, int nkeys, SortSupport keys,
									   Oid ordering_operator, uint64 max_bytes);

/*
 * Copies all rows of a batch of all columns.  Returns false if memory is then full: the rows must
 * be read in any order and cleared before others are added.
 */
extern bool hg_sort_rows_add(HgSortRows *rows, const HgBatch *batch);

/* Sorts the rows, and begins to return them in their order.  May leak in CurrentMemoryContext. */
extern void hg_sort_rows_sort(HgSortRows *rows);

/* Begins to return the rows again, in their order if they were sorted. */
extern void hg_sort_rows_rewind(HgSortRows *rows);

/*
 * Fetches the next rows into a batch of all columns.  By-reference values live as long as the rows.
 * Returns false at the end.
 */
extern bool hg_sort_rows_next(HgSortRows *rows, HgBatch *batch);

/* Removes the rows and frees their memory. */
extern void hg_sort_rows_clear(HgSortRows *rows);

/* Returns the most bytes that rows have taken. */
extern uint64 hg_sort_rows_peak(const HgSortRows *rows);

#endif /* HG_SORT_ROWS_H */
