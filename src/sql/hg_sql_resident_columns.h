/*-------------------------------------------------------------------------
 *
 * hg_sql_resident_columns.h
 *	  The columns and keys of a table that a caller names, to be resident.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SQL_RESIDENT_COLUMNS_H
#define HG_SQL_RESIDENT_COLUMNS_H

#include "hg_compat.h"

#include "nodes/pg_list.h"
#include "utils/array.h"

#include "resident/hg_resident_graph_key.h"

/*
 * The numbers of the columns of these names, or where that is NULL of all that can be resident; an
 * error where one can't be.
 */
extern List *hg_sql_resident_columns(Relation rel, const ArrayType *names);

/*
 * The keys that names (or NULL) tell, in *keys; returns how many.  An array of one dimension has a
 * key of one column in each element, and one of two has a key of several in each row, at whose end
 * there may be NULLs.  An error where one can't have a HashGraph.  Their columns are added to a
 * list of numbers.
 */
extern int hg_sql_resident_keys(Relation rel, ArrayType *names, HgKeyNumbers **keys,
								List **numbers);

/* Numbers of columns as an array; their number is *n. */
extern const AttrNumber *hg_sql_resident_numbers(const List *numbers, int *n);

/* The names of columns of a table. */
extern List *hg_sql_resident_names(Relation rel, const List *numbers);

#endif /* HG_SQL_RESIDENT_COLUMNS_H */
