/*-------------------------------------------------------------------------
 *
 * hg_naive_table.h
 *	  The reference for tables: the rows of each key that a test uses.
 *
 * The keys are a list of the test's; here they are indexes in it, and an array has the rows of
 * each.  There is no hashing, and nothing is shared with the tables that are compared with it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_NAIVE_TABLE_H
#define HG_NAIVE_TABLE_H

#include "../../src/engine/hg_table.h"

/* The rows of one key. */
typedef struct HgNaiveRows
{
	uint32_t *rows;
	size_t count;
	size_t capacity;
} HgNaiveRows;

/* A reference table. */
typedef struct HgNaiveTable
{
	HgTableContent content;
	size_t keys;	   /* keys that may occur */
	HgNaiveRows *rows; /* [keys]; a key of a set or numbering has one row, 0 */
	uint64_t count;	   /* rows in all */
} HgNaiveTable;

/* Make an empty table, and free it. */
extern void hg_naive_create(HgNaiveTable *table, HgTableContent content, size_t keys);
extern void hg_naive_destroy(HgNaiveTable *table);

/* Insert a row of a key, erase it, or erase all rows of the key; return the rows changed. */
extern uint64_t hg_naive_insert(HgNaiveTable *table, size_t key, uint32_t row);
extern uint64_t hg_naive_erase_pair(HgNaiveTable *table, size_t key, uint32_t row);
extern uint64_t hg_naive_erase_key(HgNaiveTable *table, size_t key);

#endif /* HG_NAIVE_TABLE_H */
