/*-------------------------------------------------------------------------
 *
 * hg_sort_rows.c
 *	  Rows in memory, sorted by their keys: columns stay where they are, and row numbers are sorted.
 *
 * Core forms a tuple of each row, sorts pointers to tuples, and then waits for memory at each
 * tuple of the order.  Here rows are columns (hg_column_store.h), and entries are sorted: each has
 * the number of a row and a word.  Sorted rows are fetched column by column, many at a time, so
 * that the processor has many cache misses under way.
 *
 * The word is the integer of the first sort key (hg_value_order.h) or, of other types, the
 * abbreviated key that core's sort would have, as far as abbreviated keys pay for their making.
 * Entries with the same word are compared by the sort keys that it does not stand for, whose values
 * are fetched before.  Entries whose first sort key is NULL are in a list of their own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "backend/hg_budget.h"
#include "batch/hg_column_store.h"
#include "batch/hg_value_order.h"
#include "executor/sort/hg_sort_rows.h"

/* Abbreviated keys that are judged first; then twice as many, and so on, as core does. */
#define HG_FIRST_JUDGED 10

/* Entries of the first allocation. */
#define HG_FIRST_ENTRIES 1024

typedef struct HgSortEntry
{
	uint64 word;
	uint32 row;
} HgSortEntry;

typedef struct HgSortList
{
	HgSortEntry *entries; /* [room] */
	uint64 n;
	uint64 room;
} HgSortList;

/* The values of a sort key by row number, for comparisons; NULL until rows are sorted. */
typedef struct HgSortValues
{
	Datum *values;
	bool *nulls;
} HgSortValues;

struct HgSortRows
{
	MemoryContext context; /* owns entries and values */
	int nkeys;
	SortSupport keys;	/* [nkeys] */
	HgValueOrder order; /* of the first sort key */
	bool descending;
	int16 attlen; /* of the first sort key */
	Oid ordering_operator;
	HgBudget budget;
	HgCharge charge; /* for entries and values */
	HgColumnStore *store;
	int *at;			  /* [store->ncolumns] 0, 1, ... */
	HgSortList lists[2];  /* by whether the first sort key is NULL */
	int first_key;		  /* the first sort key that words do not stand for: 0 or 1 */
	HgSortValues *values; /* [nkeys] of first_key and the keys behind it */
	bool sorted;
	uint64 next; /* the next row: its position in the order, or its number */
};

/*
 * Prepares the sort support of an operator whose ssup_cxt and ssup_collation are set.  Returns true
 * if it has abbreviated keys that are unsigned integers.
 */
static bool
hg_sort_prepare_abbreviated(SortSupport key, Oid ordering_operator)
{
	key->abbreviate = true;
	PrepareSortSupportFromOrderingOp(ordering_operator, key);
	return key->abbrev_converter != NULL && key->comparator == ssup_datum_unsigned_cmp;
}

bool
hg_sort_rows_takes(Oid type, Oid ordering_operator, Oid collation)
{
	SortSupportData key = {.ssup_cxt = CurrentMemoryContext, .ssup_collation = collation};
	bool descending;

	return hg_order_is_integer(hg_value_order_by(type, ordering_operator, &descending)) ||
		   hg_sort_prepare_abbreviated(&key, ordering_operator);
}

HgSortRows *
hg_sort_rows_create(TupleDesc desc, int nkeys, SortSupport keys, Oid ordering_operator,
					uint64 max_bytes)
{
	HgSortRows *rows = palloc0(sizeof(HgSortRows));
	Form_pg_attribute att = TupleDescAttr(desc, keys[0].ssup_attno - 1);
	int *attnos = palloc(Max(desc->natts, 1) * sizeof(int));

	rows->context = AllocSetContextCreate(CurrentMemoryContext, "HashGraph sorted rows",
										  ALLOCSET_DEFAULT_SIZES);
	rows->nkeys = nkeys;
	rows->keys = keys;
	rows->order = hg_value_order_by(att->atttypid, ordering_operator, &rows->descending);
	rows->attlen = att->attlen;
	rows->ordering_operator = ordering_operator;
	rows->first_key = hg_order_is_integer(rows->order) ? 1 : 0;
	hg_budget_init(&rows->budget, NULL, max_bytes);
	rows->charge.budget = &rows->budget;
	rows->at = palloc(Max(desc->natts, 1) * sizeof(int));
	for (int c = 0; c < desc->natts; c++)
	{
		rows->at[c] = c;
		attnos[c] = c + 1;
	}
	rows->store =
		hg_column_store_create(CurrentMemoryContext, desc, desc->natts, attnos, &rows->budget);
	rows->values = palloc0(nkeys * sizeof(HgSortValues));
	pfree(attnos);
	return rows;
}

/* ---------------------------------------------------------------------
 * Adding
 * ---------------------------------------------------------------------
 */

/* Charges what sorting takes beside the columns. */
static void
hg_sort_rows_charge(HgSortRows *rows)
{
	hg_charge_set(&rows->charge, (rows->lists[0].room + rows->lists[1].room) * sizeof(HgSortEntry) +
									 rows->store->rows * (rows->nkeys - rows->first_key) *
										 (sizeof(Datum) + sizeof(bool)));
}

/* Makes room for n more entries. */
static void
hg_sort_list_grow(HgSortRows *rows, HgSortList *list, int n)
{
	if (list->n + n <= list->room)
		return;
	list->room = Max(2 * list->room, HG_FIRST_ENTRIES);
	if (list->entries == NULL)
		list->entries = MemoryContextAllocHuge(rows->context, list->room * sizeof(HgSortEntry));
	else
		list->entries = repalloc_huge(list->entries, list->room * sizeof(HgSortEntry));
}

bool
hg_sort_rows_add(HgSortRows *rows, const HgBatch *batch)
{
	const int column = rows->keys[0].ssup_attno - 1;
	/* the sign bit is flipped so that words are ordered, and all bits for a descending order */
	const uint64 flip =
		(UINT64CONST(1) << 63) ^ (rows->descending ? PG_UINT64_MAX : UINT64CONST(0));
	uint32 first = (uint32) rows->store->rows;
	int64 integers[HG_BATCH_ROWS];

	if (rows->first_key > 0)
		hg_order_integers(rows->order, rows->attlen, batch->values[column], batch->nrows, integers);
	else
		memset(integers, 0, batch->nrows * sizeof(int64));
	for (int i = 0; i < 2; i++)
		hg_sort_list_grow(rows, &rows->lists[i],
						  i == 0 || batch->has_nulls[column] ? batch->nrows : 0);
	for (int i = 0; i < batch->nrows; i++)
	{
		bool null = hg_batch_is_null(batch, column, i);
		HgSortList *list = &rows->lists[null];

		list->entries[list->n++] = (HgSortEntry){.word = null ? 0 : (uint64) integers[i] ^ flip,
												 .row = first + (uint32) i};
	}
	hg_column_store_add(rows->store, batch, rows->at, NULL, batch->nrows);
	hg_sort_rows_charge(rows);
	return !hg_budget_is_full(&rows->budget) && rows->store->rows < PG_UINT32_MAX - HG_BATCH_ROWS;
}

/* ---------------------------------------------------------------------
 * Sorting
 * ---------------------------------------------------------------------
 */

/* Compares rows by the sort keys that words do not stand for. */
static int
hg_sort_compare_rest(const HgSortRows *rows, uint32 left, uint32 right)
{
	for (int k = rows->first_key; k < rows->nkeys; k++)
	{
		const HgSortValues *key = &rows->values[k];
		int order = ApplySortComparator(key->values[left], key->nulls[left], key->values[right],
										key->nulls[right], &rows->keys[k]);

		if (order != 0)
			return order;
	}
	return 0;
}

static pg_attribute_always_inline int
hg_sort_compare(const HgSortEntry *left, const HgSortEntry *right, const HgSortRows *rows)
{
	if (left->word != right->word)
		return left->word < right->word ? -1 : 1;
	return hg_sort_compare_rest(rows, left->row, right->row);
}

#define ST_SORT hg_sort_entries
#define ST_ELEMENT_TYPE HgSortEntry
#define ST_COMPARE(a, b, rows) hg_sort_compare(a, b, rows)
#define ST_COMPARE_ARG_TYPE const HgSortRows
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Fetches the values of a sort key. */
static void
hg_sort_rows_fetch_key(HgSortRows *rows, int k)
{
	const int column = rows->keys[k].ssup_attno - 1;
	HgSortValues *key = &rows->values[k];
	HgBatch *batch = hg_batch_create(rows->store->ncolumns);
	uint64 nrows = rows->store->rows;

	key->values = MemoryContextAllocHuge(rows->context, Max(nrows, 1) * sizeof(Datum));
	key->nulls = MemoryContextAllocHuge(rows->context, Max(nrows, 1) * sizeof(bool));
	for (uint64 done = 0; done < nrows; done += HG_BATCH_ROWS)
	{
		int n = (int) Min(nrows - done, HG_BATCH_ROWS);
		uint32 numbers[HG_BATCH_ROWS];

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++)
			numbers[i] = (uint32) (done + i);
		hg_column_store_get(rows->store, numbers, n, batch, rows->at);
		for (int i = 0; i < n; i++)
		{
			key->nulls[done + i] = hg_batch_is_null(batch, column, i);
			key->values[done + i] = key->nulls[done + i] ? (Datum) 0 : batch->values[column][i];
		}
	}
}

/*
 * Sets the words to abbreviated keys, if the type has them.  They are not used if they tell too few
 * values apart.
 */
static void
hg_sort_rows_abbreviate(HgSortRows *rows)
{
	const SortSupportData *key = &rows->keys[0];
	HgSortList *list = &rows->lists[0];
	SortSupportData abbreviated = {.ssup_cxt = rows->context,
								   .ssup_collation = key->ssup_collation};
	uint64 judged = HG_FIRST_JUDGED;
	uint64 i = 0;

	if (!hg_sort_prepare_abbreviated(&abbreviated, rows->ordering_operator))
		return;
	for (; i < list->n; i++)
	{
		HgSortEntry *entry = &list->entries[i];
		uint64 word = DatumGetUInt64(
			abbreviated.abbrev_converter(rows->values[0].values[entry->row], &abbreviated));

		if (i == judged)
		{
			CHECK_FOR_INTERRUPTS();
			if (abbreviated.abbrev_abort((int) i, &abbreviated))
				break;
			judged *= 2;
		}
		entry->word = key->ssup_reverse ? ~word : word;
	}
	if (i < list->n)
		for (i = 0; i < list->n; i++)
			list->entries[i].word = 0;
}

void
hg_sort_rows_sort(HgSortRows *rows)
{
	for (int k = rows->first_key; k < rows->nkeys; k++)
		hg_sort_rows_fetch_key(rows, k);
	if (rows->first_key == 0)
		hg_sort_rows_abbreviate(rows);
	for (int i = 0; i < 2; i++)
		hg_sort_entries(rows->lists[i].entries, rows->lists[i].n, rows);
	rows->sorted = true;
	hg_sort_rows_rewind(rows);
}

/* ---------------------------------------------------------------------
 * Returning
 * ---------------------------------------------------------------------
 */

void
hg_sort_rows_rewind(HgSortRows *rows)
{
	rows->next = 0;
}

/* Returns the number of the row at a position of the order. */
static inline uint32
hg_sort_rows_at(const HgSortRows *rows, uint64 position)
{
	const HgSortList *first = &rows->lists[rows->keys[0].ssup_nulls_first ? 1 : 0];
	const HgSortList *second = &rows->lists[rows->keys[0].ssup_nulls_first ? 0 : 1];

	return position < first->n ? first->entries[position].row
							   : second->entries[position - first->n].row;
}

bool
hg_sort_rows_next(HgSortRows *rows, HgBatch *batch)
{
	uint32 numbers[HG_BATCH_ROWS];

	batch->nrows = (int) Min(rows->store->rows - rows->next, HG_BATCH_ROWS);
	for (int i = 0; i < batch->nrows; i++)
		numbers[i] =
			rows->sorted ? hg_sort_rows_at(rows, rows->next + i) : (uint32) (rows->next + i);
	hg_column_store_get(rows->store, numbers, batch->nrows, batch, rows->at);
	rows->next += batch->nrows;
	return batch->nrows > 0;
}

void
hg_sort_rows_clear(HgSortRows *rows)
{
	hg_column_store_release(rows->store);
	MemoryContextReset(rows->context);
	memset(rows->lists, 0, sizeof(rows->lists));
	memset(rows->values, 0, rows->nkeys * sizeof(HgSortValues));
	hg_sort_rows_charge(rows);
	rows->sorted = false;
	rows->next = 0;
}

uint64
hg_sort_rows_peak(const HgSortRows *rows)
{
	return rows->budget.peak;
}
