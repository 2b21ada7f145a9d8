/*-------------------------------------------------------------------------
 *
 * hg_sql_match.h
 *	  Two key columns read and matched, for hashgraph_probe_stats().
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
	bool exact;			/* every match of the engine is one */
	HgMatcher *matcher;
	instr_time start;
	double scan_ms;

	/* for the recheck of matches whose keys are hashes */
	FmgrInfo equality;
	Oid collation;
	HgBatch *key;			 /* one key, on its way from a store to the operator */
	MemoryContext temporary; /* of the operator; reset now and then */
} HgSqlMatch;

/*
 * Check both key columns, read them and build their HashGraphs.  Everything lies in
 * CurrentMemoryContext; an error of class 53 where it would pass hg_sql_memory_limit().
 */
extern void hg_sql_match_open(HgSqlMatch *match, Oid left, const char *left_key, Oid right,
							  const char *right_key);

/* Are the keys of two rows equal?  To be asked of every match unless match->exact. */
extern bool hg_sql_match_recheck(HgSqlMatch *match, uint32 left, uint32 right);

/* Milliseconds since a moment. */
extern double hg_sql_ms_since(instr_time start);

#endif /* HG_SQL_MATCH_H */
