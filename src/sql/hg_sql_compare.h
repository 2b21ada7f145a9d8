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
	uint64 different; /* number of rows that differ, in the cache or in a graph */
} HgCompared;

/* Compares all rows that a scan under this snapshot would read from the cache with the heap. */
extern HgCompared hg_sql_compare_valid(Relation rel, Snapshot snapshot);

#endif /* HG_SQL_COMPARE_H */
