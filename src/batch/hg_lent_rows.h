/*-------------------------------------------------------------------------
 *
 * hg_lent_rows.h
 *	  Some of the rows that are lent: found by a key, left out, or kept alone.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LENT_ROWS_H
#define HG_LENT_ROWS_H

#include "hg_compat.h"

#include "batch/hg_lent.h"

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
 * Add the lent rows that a graph of theirs (hg_lent_graph_by) has by one of the keys, which are
 * integers, each row as often as its key is there; false where there would be more than most.
 */
extern bool hg_lent_find_rows(const HgLent *lent, const HgPinnedGraph *graph,
							  const HgIntegers *keys, uint64 most, HgIntegers *rows);

/* Add the values that rows have in a column of integers; none where it is NULL. */
extern void hg_lent_add_values(const HgLent *lent, const HgIntegers *rows, int column,
							   HgIntegers *values);

/* The rows that are lent without these, in CurrentMemoryContext, and how many there are. */
extern HgFlatMask *hg_lent_mask_without(const HgLent *lent, const HgIntegers *rows, uint64 *left);

/*
 * Those of some lent rows that a qual leaves, which is not decided about the others (hg_lent.h); in
 * CurrentMemoryContext.
 */
extern HgLent *hg_lent_decide_rows(const HgLent *lent, const HgIntegers *rows);

/* Have these rows be all that are lent. */
extern void hg_lent_keep_rows(HgLent *lent, const HgIntegers *rows);

#endif /* HG_LENT_ROWS_H */
