/*-------------------------------------------------------------------------
 *
 * hg_lookup_rows.h
 *	  Rows that are looked up by the hash of a key.
 *
 * The rows are sorted by hash, and rows of one hash stay in the order in which they were added.
 * They lie one behind the other, in memory or in a temporary file, with an index of the hashes in
 * memory.  Both together are limited by work memory, beside which the sort uses work_mem.  A caller
 * starts a set, adds all rows, finishes it, and then for each hash seeks and reads its rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOOKUP_ROWS_H
#define HG_LOOKUP_ROWS_H

#include "executor/tuptable.h"
#include "storage/buffile.h"
#include "utils/tuplesort.h"

/* A hash, and where its first row lies. */
typedef struct HgLookupHash
{
	uint64 offset;
	int32 hash;
} HgLookupHash;

typedef struct HgLookupRows
{
	MemoryContext context; /* has all that hg_lookup_rows_reset() frees */
	TupleTableSlot *added; /* a row with HG_LOOKUP_COLUMNS ahead, to be sorted */
	TupleTableSlot *found; /* the same, sorted */
	Tuplesortstate *sort;  /* while rows are added, else NULL */
	uint64 nrows;
	uint64 limit; /* of the memory of rows and hashes, in bytes */

	HgLookupHash *hashes; /* in ascending order */
	uint64 nhashes;
	uint64 max_hashes; /* that the array has room for */

	uint64 bytes;	 /* of all rows */
	char *memory;	 /* the rows; or NULL */
	uint64 capacity; /* of memory */
	BufFile *file;	 /* the rows; or NULL */
	uint64 next;	 /* offset of the row that hg_lookup_rows_next() returns */
	uint64 end;		 /* offset behind the last one */
	char *buffer;	 /* a row that was read from the file */
	uint64 buffer_size;
} HgLookupRows;

/* Number of the columns that rows have ahead of those of the plan: hash and ordinal. */
#define HG_LOOKUP_COLUMNS 2

/* Initializes an empty set for rows of desc.  Its slots are estate's, and live as long as that. */
extern void hg_lookup_rows_init(HgLookupRows *rows, EState *estate, TupleDesc desc);

/* Starts to collect rows in an empty set. */
extern void hg_lookup_rows_start(HgLookupRows *rows);

/* Copies a row, of the descriptor given at initialization, with its hash. */
extern void hg_lookup_rows_add(HgLookupRows *rows, uint32 hash, TupleTableSlot *slot);

/* Ends adding: sorts the rows.  Returns false, without rows, if the index exceeds the limit. */
extern bool hg_lookup_rows_finish(HgLookupRows *rows);

/* Lets hg_lookup_rows_next() return the rows with a hash. */
extern void hg_lookup_rows_seek(HgLookupRows *rows, uint32 hash);

/*
 * Returns the next row with that hash, behind its HG_LOOKUP_COLUMNS, in rows->found; NULL at the
 * end.  It is valid until the next call.
 */
extern TupleTableSlot *hg_lookup_rows_next(HgLookupRows *rows);

/* Frees all rows. */
extern void hg_lookup_rows_reset(HgLookupRows *rows);

/* Returns the memory of rows and hashes in bytes. */
static inline uint64
hg_lookup_rows_memory(const HgLookupRows *rows)
{
	return rows->capacity + rows->max_hashes * sizeof(HgLookupHash);
}

#endif /* HG_LOOKUP_ROWS_H */
