/*-------------------------------------------------------------------------
 *
 * hg_sql_resident.h
 *	  What the functions about cached columns share: named columns and keys, and
 *	  comparisons with the heap.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SQL_RESIDENT_H
#define HG_SQL_RESIDENT_H

#include "hg_compat.h"

#include "nodes/pg_list.h"
#include "utils/array.h"

#include "resident/hg_resident_graph_key.h"
#include "resident/hg_resident_validity.h"

/* hg_sql_compare.c: compares valid blocks with the heap */

typedef struct HgCompared
{
	uint64 rows;	  /* number of rows in valid blocks */
	uint64 different; /* rows that differ: counted once for the cache and once for each graph */
} HgCompared;

/*
 * Compares the valid blocks of a table with the heap under a snapshot, in all cached columns, and
 * then with the table's graphs.  different counts rows that differ, or that only one of the two
 * has.  A row that is wrong in the cache and in two graphs counts three times.  Returns zeros if no
 * block is valid.
 */
extern HgCompared hg_sql_compare_valid(Relation rel, Snapshot snapshot);

/*
 * hg_sql_resident_columns.c: looks up the columns and keys of a table that a caller names for
 * caching
 */

/*
 * Returns the numbers of the named columns, or with NULL those of all columns that can be cached.
 * Raises an error if a column does not exist or can't be cached.
 */
extern List *hg_sql_resident_columns(Relation rel, const ArrayType *names);

/*
 * Sets *keys to the named keys, and returns their number; 0 if names is NULL or empty.  Each
 * element of an array of one dimension is a key of one column.  Each row of an array of two
 * dimensions is a key of several, and may end with NULLs.  Adds the keys' columns to *numbers.
 * Raises an error if a key can't have a graph.
 */
extern int hg_sql_resident_keys(Relation rel, ArrayType *names, HgKeyNumbers **keys,
								List **numbers);

/* Returns column numbers as an array of *n elements. */
extern const AttrNumber *hg_sql_resident_numbers(const List *numbers, int *n);

/* Returns the names of columns by their numbers, as a list of strings. */
extern List *hg_sql_resident_names(Relation rel, const List *numbers);

#endif /* HG_SQL_RESIDENT_H */
