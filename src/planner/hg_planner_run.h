/*-------------------------------------------------------------------------
 *
 * hg_planner_run.h
 *	  What may be remembered while the planner runs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PLANNER_RUN_H
#define HG_PLANNER_RUN_H

#include "nodes/pathnodes.h"

/*
 * The number of the planner's run, if something that palloc() has returned for it lasts until its
 * end unless it is freed: what is known of it may be remembered under its address and this number.
 * 0: it may be gone before.  A run within a run gives both of them new numbers.
 */
extern uint64 hg_planner_run_find(const PlannerInfo *root, const void *made);

/* What an entry of a table is of.  Entries begin with it; the run of an empty one is 0. */
typedef struct HgRunKey
{
	uint64 run;
	const void *made;
	uint64 word; /* tells apart what has the same address */
} HgRunKey;

/* The first place in a table of 2^bits entries for a key of such an address and word. */
static inline size_t
hg_planner_run_place(const void *made, uint64 word, int bits)
{
	return ((word ^ (uintptr_t) made) * UINT64CONST(0x9E3779B97F4A7C15)) >> (64 - bits);
}

/* So many entries in a row are looked at. */
#define HG_RUN_PROBES 4

/*
 * Returns the entry for a key in a table of 2^bits entries of such a size; *known tells whether it
 * is of this key.  Else the caller fills the entry, key included, once it has what is remembered.
 */
static inline void *
hg_planner_run_entry(void *table, size_t size, int bits, HgRunKey key, bool *known)
{
	size_t mask = ((size_t) 1 << bits) - 1;
	size_t first =
		((key.word ^ (uintptr_t) key.made) * UINT64CONST(0x9E3779B97F4A7C15)) >> (64 - bits);

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
