/*-------------------------------------------------------------------------
 *
 * hg_table_lists.h
 *	  Lists of a HashGraph in CSR form, built from a feed: Algorithm 1 of the paper.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_LISTS_H
#define HG_TABLE_LISTS_H

#include "hg_table_feed.h"
#include "hg_table_slots.h"

/*
 * Lists longer than this are sorted by word where they are not to change (hg_cpu_job.h says why).
 */
#define HG_TABLE_SORTED_LIST 128

typedef struct HgTableLists
{
	uint32_t log2;	   /* 2^log2 vertices, by the top bits of the hash */
	uint32_t *offsets; /* [vertices + 2] list v is slots offsets[v] .. offsets[v + 1] - 1 */
	uint64_t offsets_bytes;
	HgTableSlots slots; /* offsets[vertices] of them are in lists */
	uint64_t rows;
	uint64_t longest; /* most rows in one list */
} HgTableLists;

/*
 * Build lists of the rows of a feed, each with so many empty slots at its end, and have only the
 * first of equal keys in sets and maps.  With sorted, lists longer than HG_TABLE_SORTED_LIST are
 * ordered by word.  On failure there are none, and nothing is held.
 */
extern HgStatus hg_lists_build(HgTable *table, HgTableFeed *feed, uint32_t empty, bool sorted,
							   HgTableLists *lists, HgError *error);
extern void hg_lists_free(HgTable *table, HgTableLists *lists);

/* HG_OK, or HG_TOO_MANY_ROWS where the lists of so many rows would have too many slots. */
extern HgStatus hg_lists_check(const HgTableSpec *spec, uint64_t rows, uint32_t empty,
							   HgError *error);

/* Bytes of the lists of so many rows, and of what building them takes in addition, at most. */
extern uint64_t hg_lists_bytes(const HgTableSpec *spec, uint64_t rows, uint32_t empty);
extern uint64_t hg_lists_build_bytes(const HgTableSpec *spec, uint64_t rows, uint32_t empty);

/* Sort slots from .. from + count - 1 by word; equal words keep their order. */
extern HgStatus hg_lists_sort(HgTable *table, HgTableSlots *slots, uint64_t from, uint64_t count,
							  HgTableSlots *scratch, HgError *error);

static inline uint64_t
hg_lists_vertices(const HgTableLists *lists)
{
	return UINT64_C(1) << lists->log2;
}

#endif /* HG_TABLE_LISTS_H */
