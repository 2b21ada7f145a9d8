/*-------------------------------------------------------------------------
 *
 * hg_naive_table.h
 *	  What a table must hold, told by the rows of each key that a test uses.
 *
 * The keys are a list that the test makes; here they are numbers in it, and the rows of each stand
 * in an array.  It knows no hash and shares nothing with what it is compared with.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_NAIVE_TABLE_H
#define HG_NAIVE_TABLE_H

#include "../../src/engine/hg_table.h"

typedef struct HgNaiveRows
{
	uint32_t *rows;
	size_t count;
	size_t capacity;
} HgNaiveRows;

typedef struct HgNaiveTable
{
	HgTableContent content;
	size_t keys;	   /* different ones that there may be */
	HgNaiveRows *rows; /* [keys]; of a key of a set or a numbering one row, 0 */
	uint64_t count;	   /* rows in all */
} HgNaiveTable;

extern void hg_naive_create(HgNaiveTable *table, HgTableContent content, size_t keys);
extern void hg_naive_destroy(HgNaiveTable *table);

/* Insert a row of a key, erase it, or erase all of the key: returns how many came or went. */
extern uint64_t hg_naive_insert(HgNaiveTable *table, size_t key, uint32_t row);
extern uint64_t hg_naive_erase_pair(HgNaiveTable *table, size_t key, uint32_t row);
extern uint64_t hg_naive_erase_key(HgNaiveTable *table, size_t key);

#endif /* HG_NAIVE_TABLE_H */
