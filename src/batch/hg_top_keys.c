/*-------------------------------------------------------------------------
 *
 * hg_top_keys.c
 *	  The sort keys of the first rows of an ORDER BY with a LIMIT, among those seen so far.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/datum.h"
#include "utils/memutils.h"

#include "batch/hg_batch.h"
#include "batch/hg_top_keys.h"

/*
 * The heap takes the keys of HG_TOP_ROUNDS times the limit, and of a part of the rows.  Rows in
 * random order need fewer: 1 + ln(rows / limit) times the limit.  The part is larger if a batch,
 * whose last row comes first, has more rows than the limit: then the heap lets few rows of a batch
 * pass even if each batch comes before the last one.
 */
#define HG_TOP_ROUNDS 4
#define HG_TOP_PART 64
#define HG_TOP_BATCH_PART 4

/* Compares the keys of two rows. */
static int
hg_top_compare(const HgTopKeys *top, const Datum *left, const bool *left_nulls, const Datum *right,
			   const bool *right_nulls)
{
	for (int k = 0; k < top->nkeys; k++)
	{
		int order =
			ApplySortComparator(left[k], left_nulls[k], right[k], right_nulls[k], &top->keys[k]);

		if (order != 0)
			return order;
	}
	return 0;
}

/* A binaryheap_comparator. */
static int
hg_top_compare_entries(Datum left, Datum right, void *arg)
{
	const HgTopKeys *top = arg;
	const HgTopEntry *left_entry = (const HgTopEntry *) DatumGetPointer(left);
	const HgTopEntry *right_entry = (const HgTopEntry *) DatumGetPointer(right);

	return hg_top_compare(top, left_entry->values, left_entry->nulls, right_entry->values,
						  right_entry->nulls);
}

HgTopKeys *
hg_top_keys_create(int nkeys, SortSupport keys, HgTopKeyType *types, int limit, Size max_bytes)
{
	HgTopKeys *top = palloc0(sizeof(HgTopKeys));

	top->context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph top keys", ALLOCSET_DEFAULT_SIZES);
	top->nkeys = nkeys;
	top->keys = keys;
	top->types = types;
	top->limit = limit;
	top->max_bytes = max_bytes;
	top->part = limit <= HG_BATCH_ROWS / HG_TOP_BATCH_PART ? HG_TOP_BATCH_PART : HG_TOP_PART;
	hg_top_keys_reset(top);
	return top;
}

void
hg_top_keys_reset(HgTopKeys *top)
{
	MemoryContextReset(top->context);
	top->heap = NULL;
	top->last = NULL;
	top->complete = false;
	top->too_large = top->limit * sizeof(Datum) > top->max_bytes;
	top->changes++;
	top->seen = top->added = 0;
}

bool
hg_top_keys_rejects(const HgTopKeys *top, const Datum *values, const bool *nulls)
{
	return top->complete &&
		   hg_top_compare(top, values, nulls, top->last->values, top->last->nulls) >= 0;
}

/* Fills an entry with copies of keys. */
static void
hg_top_entry_fill(const HgTopKeys *top, HgTopEntry *entry, const Datum *values, const bool *nulls)
{
	for (int k = 0; k < top->nkeys; k++)
	{
		entry->nulls[k] = nulls[k];
		entry->values[k] =
			nulls[k] ? (Datum) 0 : datumCopy(values[k], top->types[k].byval, top->types[k].len);
	}
}

/* Frees the copies of an entry. */
static void
hg_top_entry_clear(const HgTopKeys *top, const HgTopEntry *entry)
{
	for (int k = 0; k < top->nkeys; k++)
		if (!top->types[k].byval && !entry->nulls[k])
			pfree(DatumGetPointer(entry->values[k]));
}

void
hg_top_keys_add(HgTopKeys *top, const Datum *values, const bool *nulls)
{
	MemoryContext old;
	HgTopEntry *entry;

	if (top->too_large || top->added > HG_TOP_ROUNDS * (uint64) top->limit + top->seen / top->part)
		return;
	top->added++;
	old = MemoryContextSwitchTo(top->context);
	if (top->heap == NULL)
		top->heap = binaryheap_allocate(top->limit, hg_top_compare_entries, top);
	if (top->complete)
	{
		entry = top->last;
		hg_top_entry_clear(top, entry);
	}
	else
	{
		entry = palloc(offsetof(HgTopEntry, values) + top->nkeys * (sizeof(Datum) + sizeof(bool)));
		entry->nulls = (bool *) &entry->values[top->nkeys];
	}
	hg_top_entry_fill(top, entry, values, nulls);
	MemoryContextSwitchTo(old);
	/* these compare, which may leak */
	if (top->complete)
		binaryheap_replace_first(top->heap, PointerGetDatum(entry));
	else
		binaryheap_add(top->heap, PointerGetDatum(entry));
	top->complete = top->heap->bh_size == top->limit;
	if (top->complete)
		top->last = (HgTopEntry *) DatumGetPointer(binaryheap_first(top->heap));
	top->changes++;
	if (MemoryContextMemAllocated(top->context, true) > top->max_bytes)
	{
		hg_top_keys_reset(top);
		top->too_large = true;
	}
}
