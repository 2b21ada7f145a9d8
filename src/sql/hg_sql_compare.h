/*-------------------------------------------------------------------------
 *
 * hg_sql_compare.h
 *	  Is what would be served what the heap has?
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
	uint64 rows;	  /* that would be served */
	uint64 different; /* rows of which something differs, here or in a HashGraph */
} HgCompared;

/*
 * Compare all that a scan under this snapshot would be served of a table with what it reads from
 * the heap.
 */
extern HgCompared hg_sql_compare_served(Relation rel, Snapshot snapshot);

#endif /* HG_SQL_COMPARE_H */
