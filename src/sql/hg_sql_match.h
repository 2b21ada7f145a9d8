/*-------------------------------------------------------------------------
 *
 * hg_sql_match.h
 *	  Reads and matches two key columns, for hashgraph_probe_stats().
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SQL_MATCH_H
#define HG_SQL_MATCH_H

#include "portability/instr_time.h"

#include "backend/matcher/hg_matcher.h"
#include "sql/hg_sql_relation.h"

/* A join of two key columns; left is the engine's outer side. */
typedef struct HgSqlMatch
{
	HgBudget budget;	/* of both sides */
	HgSqlSide sides[2]; /* by HgSide */
	bool exact;			/* matches need no recheck */
	HgMatcher *matcher;
	instr_time start; /* when reading began */
	double scan_ms;	  /* time that reading took */

	/* For the recheck of matches whose keys are hashes: */
	FmgrInfo equality;
	Oid collation;
	HgBatch *key;			 /* room for one key, between a store and the operator */
	MemoryContext temporary; /* for the operator's garbage */
} HgSqlMatch;

/*
 * Checks both key columns, reads them and builds their HashGraphs.  Everything lies in
 * CurrentMemoryContext.  Raises an error of class 53 if that would exceed hg_sql_memory_limit().
 */
extern void hg_sql_match_open(HgSqlMatch *match, Oid left, const char *left_key, Oid right,
							  const char *right_key);

/* Returns true if the keys of two rows are equal.  Call it for every match unless match->exact. */
extern bool hg_sql_match_recheck(HgSqlMatch *match, uint32 left, uint32 right);

/* Returns the milliseconds since start. */
extern double hg_sql_ms_since(instr_time start);

#endif /* HG_SQL_MATCH_H */
