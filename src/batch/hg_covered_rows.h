/*-------------------------------------------------------------------------
 *
 * hg_covered_rows.h
 *	  Subsets of the covered rows: found by a key, left out, or selected.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COVERED_ROWS_H
#define HG_COVERED_ROWS_H

#include "hg_compat.h"

#include "batch/hg_covered.h"

/* Integers, as many as there are, in the memory context that was current when there were none. */
typedef struct HgIntegers
{
	MemoryContext context;
	uint64 count;
	uint64 room;
	int64 *values; /* [count] */
} HgIntegers;

extern void hg_integers_init(HgIntegers *integers);
extern void hg_integers_add(HgIntegers *integers, int64 integer);

/*
 * Adds the covered rows that a graph of theirs (hg_covered_graph_by) has by one of the keys, which
 * are integers.  Each row is added as often as its key is there.  Returns false if there would be
 * more than most.
 */
extern bool hg_covered_find_rows(const HgCovered *covered, const HgPinnedGraph *graph,
								 const HgIntegers *keys, uint64 most, HgIntegers *rows);

/* Add the values that rows have in a column of integers; none where it is NULL. */
extern void hg_covered_add_values(const HgCovered *covered, const HgIntegers *rows, int column,
								  HgIntegers *values);

/*
 * Returns the covered rows without these, in CurrentMemoryContext, and sets *left to their number.
 */
extern HgFlatMask *hg_covered_mask_without(const HgCovered *covered, const HgIntegers *rows,
										   uint64 *left);

/*
 * Returns those of some covered rows that pass the pending predicate, in CurrentMemoryContext.
 * The predicate stays pending for the other rows (hg_covered.h).
 */
extern HgCovered *hg_covered_apply_rows(const HgCovered *covered, const HgIntegers *rows);

/* Makes these rows the only covered ones. */
extern void hg_covered_keep_rows(HgCovered *covered, const HgIntegers *rows);

#endif /* HG_COVERED_ROWS_H */
