/*-------------------------------------------------------------------------
 *
 * hg_table_lists.h
 *	  Lists of a HashGraph in CSR form, built from a feed: Algorithm 1 of the HashGraph paper.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_LISTS_H
#define HG_TABLE_LISTS_H

#include "hg_table_base.h"
#include "hg_table_slots.h"

/* Lists longer than this are sorted by word if they never change (hg_cpu_job.h says why). */
#define HG_TABLE_SORTED_LIST 128

/* Lists of which more than this part is unused slots are copied to fewer. */
#define HG_TABLE_UNUSED_PART 8

typedef struct HgTableLists
{
	uint32_t log2;	   /* 2^log2 vertices, chosen by the top bits of the hash */
	uint32_t *offsets; /* [vertices + 2] list v is slots offsets[v] .. offsets[v + 1] - 1 */
	uint64_t offsets_bytes;
	HgTableSlots slots; /* the lists use the first offsets[vertices] */
	uint64_t rows;
	uint64_t longest; /* rows of the longest list */
} HgTableLists;

/*
 * Builds *lists of the rows of a feed, with `empty` empty slots at the end of each. Sets and maps
 * keep only the first row of equal keys. If sorted is true, lists longer than HG_TABLE_SORTED_LIST
 * are ordered by word. The memory counts toward the table's limit. HG_TOO_MANY_ROWS as for
 * hg_lists_check. On failure no memory stays allocated.
 */
extern HgStatus hg_lists_build(HgTable *table, HgTableFeed *feed, uint32_t empty, bool sorted,
							   HgTableLists *lists, HgError *error);

/* Frees the lists and zeroes the struct. */
extern void hg_lists_free(HgTable *table, HgTableLists *lists);

/* Returns HG_TOO_MANY_ROWS if the lists of so many rows would need 2^32 slots, else HG_OK. */
extern HgStatus hg_lists_check(const HgTableSpec *spec, uint64_t rows, uint32_t empty,
							   HgError *error);

/* Returns an upper bound on the bytes of the lists of so many rows. */
extern uint64_t hg_lists_bytes(const HgTableSpec *spec, uint64_t rows, uint32_t empty);

/* Returns an upper bound on the further bytes that building them needs. */
extern uint64_t hg_lists_build_bytes(const HgTableSpec *spec, uint64_t rows, uint32_t empty);

/* Sorts count slots from `from` on by word, stably. scratch has count slots or more. */
extern HgStatus hg_lists_sort(HgTable *table, HgTableSlots *slots, uint64_t from, uint64_t count,
							  HgTableSlots *scratch, HgError *error);

/* Returns the number of lists. */
static inline uint64_t
hg_lists_vertices(const HgTableLists *lists)
{
	return UINT64_C(1) << lists->log2;
}

#endif /* HG_TABLE_LISTS_H */
