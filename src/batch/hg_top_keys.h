/*-------------------------------------------------------------------------
 *
 * hg_top_keys.h
 *	  The sort keys of the first rows of an ORDER BY with a LIMIT, among those seen so far.
 *
 * A row is rejected if as many rows as the limit come before it or are equal to it.  Keys of
 * accepted rows are in a heap with the last of them on top.  A caller raises `seen` for each row,
 * asks hg_top_keys_rejects(), and adds the keys of a row that is not rejected.
 *
 * If rows come in the opposite order, each is accepted, and the heap would be for nothing.  So it
 * takes the keys of a part of the rows at most.  Rows are then compared with an older entry, which
 * is also right.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TOP_KEYS_H
#define HG_TOP_KEYS_H

#include "postgres.h"

#include "lib/binaryheap.h"
#include "utils/sortsupport.h"

/* The type of a sort key. */
typedef struct HgTopKeyType
{
	int16 len;
	bool byval;
} HgTopKeyType;

/* The sort keys of a row. */
typedef struct HgTopEntry
{
	bool *nulls; /* [nkeys] behind the values */
	Datum values[FLEXIBLE_ARRAY_MEMBER];
} HgTopEntry;

typedef struct HgTopKeys
{
	MemoryContext context; /* owns the entries and their values */
	int nkeys;
	SortSupport keys;	 /* [nkeys] */
	HgTopKeyType *types; /* [nkeys] */
	int limit;
	Size max_bytes;
	int part;		  /* keys of one in so many rows may be added */
	bool complete;	  /* there are as many entries as the limit */
	bool too_large;	  /* keys exceed max_bytes: no row is rejected */
	uint64 changes;	  /* number of changes to the last entry */
	uint64 seen;	  /* rows so far, rejected or not; the caller counts them */
	uint64 added;	  /* rows whose keys were added */
	binaryheap *heap; /* of HgTopEntry */
	HgTopEntry *last; /* the last entry, if complete */
} HgTopKeys;

/*
 * Creates an empty heap for `limit` rows in CurrentMemoryContext.  It refers to keys[nkeys] and
 * types[nkeys] afterwards.  When the keys exceed max_bytes, no row is rejected until a reset.
 */
extern HgTopKeys *hg_top_keys_create(int nkeys, SortSupport keys, HgTopKeyType *types, int limit,
									 Size max_bytes);

/* Removes all keys. */
extern void hg_top_keys_reset(HgTopKeys *top);

/*
 * Copies the keys of a row that hg_top_keys_rejects() does not reject, or leaves them out if they
 * exceed the part of the rows.  May leak in CurrentMemoryContext.
 */
extern void hg_top_keys_add(HgTopKeys *top, const Datum *values, const bool *nulls);

/* Returns true if a row is rejected because of its first key.  May leak in CurrentMemoryContext. */
static inline bool
hg_top_keys_rejects_first(const HgTopKeys *top, Datum value, bool null)
{
	int order;

	if (!top->complete)
		return false;
	order =
		ApplySortComparator(value, null, top->last->values[0], top->last->nulls[0], &top->keys[0]);
	return order > 0 || (order == 0 && top->nkeys == 1);
}

/* Returns true if a row is rejected.  May leak in CurrentMemoryContext. */
extern bool hg_top_keys_rejects(const HgTopKeys *top, const Datum *values, const bool *nulls);

#endif /* HG_TOP_KEYS_H */
