/*-------------------------------------------------------------------------
 *
 * hg_planner_run.h
 *	  A cache that lives as long as a run of the planner.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PLANNER_RUN_H
#define HG_PLANNER_RUN_H

#include "nodes/pathnodes.h"

/*
 * Returns the number of the planner's run if made, which palloc() has returned, lives until the
 * run's end unless it is freed. What is known of made may then be cached under its address and
 * this number. Returns 0 if made may be freed before. A run within a run gives both of them new
 * numbers.
 */
extern uint64 hg_planner_run_find(const PlannerInfo *root, const void *made);

/* The key of a table entry, and the entry's first field. The run of an empty entry is 0. */
typedef struct HgRunKey
{
	uint64 run;
	const void *made;
	uint64 word; /* distinguishes entries with the same address */
} HgRunKey;

/* Returns the first index to probe in a table of 2^bits entries. */
static inline size_t
hg_planner_run_index(const void *made, uint64 word, int bits)
{
	return ((word ^ (uintptr_t) made) * UINT64CONST(0x9E3779B97F4A7C15)) >> (64 - bits);
}

/* Entries that are probed in a row. */
#define HG_RUN_PROBES 4

/*
 * Returns the entry for a key in a table of 2^bits entries of the given size; *known is true if it
 * has this key. Otherwise the caller fills the entry, key included.
 */
static inline void *
hg_planner_run_entry(void *table, size_t size, int bits, HgRunKey key, bool *known)
{
	size_t mask = ((size_t) 1 << bits) - 1;
	size_t first = hg_planner_run_index(key.made, key.word, bits);

	for (size_t i = 0; i < HG_RUN_PROBES; i++)
	{
		HgRunKey *entry = (HgRunKey *) ((char *) table + ((first + i) & mask) * size);

		*known = entry->run == key.run && entry->made == key.made && entry->word == key.word;
		if (*known || entry->run != key.run)
			return entry;
	}
	return (char *) table + first * size;
}

#endif /* HG_PLANNER_RUN_H */
