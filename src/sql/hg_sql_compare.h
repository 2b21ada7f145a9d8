/*-------------------------------------------------------------------------
 *
 * hg_sql_compare.h
 *	  Compares valid blocks with the heap.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SQL_COMPARE_H
#define HG_SQL_COMPARE_H

#include "hg_compat.h"

#include "resident/hg_resident_validity.h"

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
 * Returns the number of wrong rows in the graphs: missing, duplicate or superfluous ones, and rows
 * with another key or in another bin.
 */
extern uint64 hg_sql_compare_graphs(Relation rel, const HgValidBlocks *valid);

#endif /* HG_SQL_COMPARE_H */
