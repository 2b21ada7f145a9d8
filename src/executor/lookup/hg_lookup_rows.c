/*-------------------------------------------------------------------------
 *
 * hg_lookup_rows.c
 *	  Rows that are looked up by the hash of a key.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/memutils.h"

#include "executor/lookup/hg_lookup_rows.h"

/* Least bytes of rows and number of hashes to allocate at once. */
#define HG_LOOKUP_MIN_BYTES 8192
#define HG_LOOKUP_MIN_HASHES 256

void
hg_lookup_rows_init(HgLookupRows *rows, EState *estate, TupleDesc desc)
{
	List *columns =
		list_make2(makeNullConst(INT4OID, -1, InvalidOid), makeNullConst(INT8OID, -1, InvalidOid));
	TupleDesc sorted;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		columns = lappend(columns, makeNullConst(attribute->atttypid, attribute->atttypmod,
												 attribute->attcollation));
	}
	sorted = ExecTypeFromExprList(columns);
	*rows = (HgLookupRows){.limit = get_hash_memory_limit()};
	rows->context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraphLookup", ALLOCSET_DEFAULT_SIZES);
	rows->added = ExecInitExtraTupleSlot(estate, sorted, &TTSOpsVirtual);
	rows->found = ExecInitExtraTupleSlot(estate, sorted, &TTSOpsMinimalTuple);
}

void
hg_lookup_rows_reset(HgLookupRows *rows)
{
	ExecClearTuple(rows->found);
	if (rows->sort != NULL)
		tuplesort_end(rows->sort);
	if (rows->file != NULL)
		BufFileClose(rows->file);
	MemoryContextReset(rows->context);
	*rows = (HgLookupRows){
		.context = rows->context, .added = rows->added, .found = rows->found, .limit = rows->limit};
}

/* ---------------------------------------------------------------------
 * Adding
 * ---------------------------------------------------------------------
 */

void
hg_lookup_rows_start(HgLookupRows *rows)
{
	AttrNumber columns[] = {1, 2};
	Oid operators[] = {Int4LessOperator, Int8LessOperator};
	Oid collations[] = {InvalidOid, InvalidOid};
	bool nulls_first[] = {false, false};
	MemoryContext old = MemoryContextSwitchTo(rows->context);

	rows->sort = tuplesort_begin_heap(rows->added->tts_tupleDescriptor, lengthof(columns), columns,
									  operators, collations, nulls_first, work_mem, NULL, 0);
	MemoryContextSwitchTo(old);
}

void
hg_lookup_rows_add(HgLookupRows *rows, uint32 hash, TupleTableSlot *slot)
{
	TupleTableSlot *added = rows->added;
	int natts = slot->tts_tupleDescriptor->natts;

	slot_getallattrs(slot);
	ExecClearTuple(added);
	added->tts_values[0] = Int32GetDatum((int32) hash);
	added->tts_values[1] = Int64GetDatum((int64) rows->nrows++);
	added->tts_isnull[0] = added->tts_isnull[1] = false;
	memcpy(added->tts_values + HG_LOOKUP_COLUMNS, slot->tts_values, natts * sizeof(Datum));
	memcpy(added->tts_isnull + HG_LOOKUP_COLUMNS, slot->tts_isnull, natts * sizeof(bool));
	ExecStoreVirtualTuple(added);
	tuplesort_puttupleslot(rows->sort, added);
	ExecClearTuple(added);
}

/* Moves the rows from memory to a file. */
static void
hg_lookup_rows_spill(HgLookupRows *rows)
{
	rows->file = BufFileCreateTemp(false);
	if (rows->memory != NULL)
	{
		BufFileWrite(rows->file, rows->memory, rows->bytes);
		pfree(rows->memory);
	}
	rows->memory = NULL;
	rows->capacity = 0;
}

/* Allocates or enlarges an array, which may be NULL. */
static void *
hg_lookup_enlarge(void *array, Size size)
{
	return array == NULL ? MemoryContextAllocHuge(CurrentMemoryContext, size)
						 : repalloc_huge(array, size);
}

/* Appends a row. */
static void
hg_lookup_rows_append(HgLookupRows *rows, const MinimalTupleData *tuple)
{
	static const char padding[MAXIMUM_ALIGNOF] = {0};
	uint64 size = MAXALIGN(tuple->t_len);

	if (rows->file == NULL && rows->bytes + size > rows->capacity)
	{
		uint64 capacity = Max(Max(2 * rows->capacity, rows->bytes + size), HG_LOOKUP_MIN_BYTES);

		if (hg_lookup_rows_memory(rows) - rows->capacity + capacity > rows->limit)
			hg_lookup_rows_spill(rows);
		else
		{
			rows->memory = hg_lookup_enlarge(rows->memory, capacity);
			rows->capacity = capacity;
		}
	}
	if (rows->file == NULL)
		memcpy(rows->memory + rows->bytes, tuple, tuple->t_len);
	else
	{
		BufFileWrite(rows->file, (void *) tuple, tuple->t_len);
		BufFileWrite(rows->file, (void *) padding, size - tuple->t_len);
	}
	rows->bytes += size;
}

/* Adds a hash, whose rows follow.  Returns false if the limit does not allow it. */
static bool
hg_lookup_rows_index(HgLookupRows *rows, int32 hash)
{
	if (rows->nhashes == rows->max_hashes)
	{
		uint64 max_hashes = Max(2 * rows->max_hashes, HG_LOOKUP_MIN_HASHES);

		if (max_hashes * sizeof(HgLookupHash) > rows->limit)
			return false;
		if (rows->file == NULL && max_hashes * sizeof(HgLookupHash) + rows->capacity > rows->limit)
			hg_lookup_rows_spill(rows);
		rows->hashes = hg_lookup_enlarge(rows->hashes, max_hashes * sizeof(HgLookupHash));
		rows->max_hashes = max_hashes;
	}
	rows->hashes[rows->nhashes++] = (HgLookupHash){rows->bytes, hash};
	return true;
}

/* Stores the sorted rows; returns false if the index exceeds the limit. */
static bool
hg_lookup_rows_store(HgLookupRows *rows)
{
	while (tuplesort_gettupleslot(rows->sort, true, false, rows->found, NULL))
	{
		bool is_null;
		int32 hash = DatumGetInt32(slot_getattr(rows->found, 1, &is_null));
		bool must_free;
		MinimalTuple tuple;

		CHECK_FOR_INTERRUPTS();
		if ((rows->nhashes == 0 || rows->hashes[rows->nhashes - 1].hash != hash) &&
			!hg_lookup_rows_index(rows, hash))
			return false;
		tuple = ExecFetchSlotMinimalTuple(rows->found, &must_free);
		hg_lookup_rows_append(rows, tuple);
		if (must_free)
			pfree(tuple);
	}
	return true;
}

bool
hg_lookup_rows_finish(HgLookupRows *rows)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);
	bool stored;

	tuplesort_performsort(rows->sort);
	stored = hg_lookup_rows_store(rows);
	MemoryContextSwitchTo(old);
	if (!stored)
	{
		hg_lookup_rows_reset(rows);
		return false;
	}
	ExecClearTuple(rows->found);
	tuplesort_end(rows->sort);
	rows->sort = NULL;
	return true;
}

/* ---------------------------------------------------------------------
 * Looking up
 * ---------------------------------------------------------------------
 */

void
hg_lookup_rows_seek(HgLookupRows *rows, uint32 hash)
{
	uint64 low = 0;
	uint64 high = rows->nhashes;

	while (low < high)
	{
		uint64 middle = low + (high - low) / 2;

		if (rows->hashes[middle].hash < (int32) hash)
			low = middle + 1;
		else
			high = middle;
	}
	rows->next = rows->end = 0;
	if (low == rows->nhashes || rows->hashes[low].hash != (int32) hash)
		return;
	rows->next = rows->hashes[low].offset;
	rows->end = low + 1 < rows->nhashes ? rows->hashes[low + 1].offset : rows->bytes;
	if (rows->file != NULL && BufFileSeek(rows->file, 0, (off_t) rows->next, SEEK_SET) != 0)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not seek in a temporary file of a lookup"));
}

/* Reads the row that comes next in the file. */
static MinimalTuple
hg_lookup_rows_read(HgLookupRows *rows)
{
	uint32 length;
	uint64 size;

	BufFileReadExact(rows->file, &length, sizeof(length));
	size = MAXALIGN(length);
	if (size > rows->buffer_size)
	{
		if (rows->buffer != NULL)
			pfree(rows->buffer);
		rows->buffer = MemoryContextAlloc(rows->context, size);
		rows->buffer_size = size;
	}
	memcpy(rows->buffer, &length, sizeof(length));
	BufFileReadExact(rows->file, rows->buffer + sizeof(length), size - sizeof(length));
	return (MinimalTuple) rows->buffer;
}

TupleTableSlot *
hg_lookup_rows_next(HgLookupRows *rows)
{
	MinimalTuple tuple;

	if (rows->next == rows->end)
		return NULL;
	ExecClearTuple(rows->found);
	tuple =
		rows->file != NULL ? hg_lookup_rows_read(rows) : (MinimalTuple) (rows->memory + rows->next);
	rows->next += MAXALIGN(tuple->t_len);
	return ExecStoreMinimalTuple(tuple, rows->found, false);
}
