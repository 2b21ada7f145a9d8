/*-------------------------------------------------------------------------
 *
 * hg_covered_rows.h
 *	  Subsets of the covered rows: found by keys, left out, or selected.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COVERED_ROWS_H
#define HG_COVERED_ROWS_H

#include "hg_compat.h"

#include "batch/hg_covered.h"

/* A growing array of integers, in the memory context that was current at initialization. */
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
 * Appends to rows the covered rows whose key is in keys, which are integers, by a graph of
 * hg_covered_graph_by().  A row is appended as often as its key is in keys.  Returns false if rows
 * would get more than most elements.
 */
extern bool hg_covered_find_rows(const HgCovered *covered, const HgPinnedGraph *graph,
								 const HgIntegers *keys, uint64 most, HgIntegers *rows);

/* Appends the values of rows in a column of integers, without NULLs. */
extern void hg_covered_add_values(const HgCovered *covered, const HgIntegers *rows, int column,
								  HgIntegers *values);

/* Returns the covered rows without rows, in CurrentMemoryContext.  Sets *left to their number. */
extern HgFlatMask *hg_covered_mask_without(const HgCovered *covered, const HgIntegers *rows,
										   uint64 *left);

/*
 * Returns the rows that pass the pending predicate, in CurrentMemoryContext.  rows must be
 * covered.  The predicate stays pending for the other rows (hg_covered.h).
 */
extern HgCovered *hg_covered_apply_rows(const HgCovered *covered, const HgIntegers *rows);

/* Makes rows the only covered rows. */
extern void hg_covered_select_rows(HgCovered *covered, const HgIntegers *rows);

#endif /* HG_COVERED_ROWS_H */
