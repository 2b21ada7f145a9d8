/*-------------------------------------------------------------------------
 *
 * hg_sql_relation.h
 *	  Checks and reads the tables and key columns that are arguments of SQL functions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SQL_RELATION_H
#define HG_SQL_RELATION_H

#include "utils/relcache.h"

#include "backend/matcher/hg_matcher.h"
#include "batch/hg_column_store.h"
#include "batch/hg_key.h"
#include "batch/hg_key_column.h"

/* A key column of a table. */
typedef struct HgSqlKey
{
	Oid relation;
	const char *table;	/* schema-qualified and quoted as needed */
	const char *column; /* quoted as needed */
	Oid declared_type;
	Oid type; /* base type if the column's is a domain */
	Oid collation;
} HgSqlKey;

/* The rows of a key column, in the order they were read. */
typedef struct HgSqlSide
{
	HgKeyColumn *keys;	   /* one word for each row that has a key */
	HgColumnStore *values; /* the keys themselves, or NULL if not requested */
	uint64 null_keys;	   /* number of rows left out, because their key is NULL */
} HgSqlSide;

/*
 * Opens a relation of any kind that is an argument of a SQL function, with an AccessShareLock.
 * Raises an error with SQLSTATE 42P01 if there is no relation with this OID, or it was dropped
 * while the lock was awaited.
 */
extern Relation hg_sql_relation_open(Oid relation);

/*
 * Checks that the relation is a table or materialized view whose rows a ctid identifies, has this
 * column, and that the caller may read it.  Raises an error otherwise.  The lock on the relation
 * is kept until the end of the transaction.  The strings lie in CurrentMemoryContext, except that
 * column may be the caller's own string.
 */
extern HgSqlKey hg_sql_key_check(Oid relation, const char *column);

/*
 * Returns the clause "left = right" with the default operator of the columns' types, whatever the
 * search path is.  Raises an error if there is none that can be hashed, the current user may not
 * execute it, or the collations conflict.
 */
extern HgKeyClause hg_sql_key_clause(const HgSqlKey *left, const HgSqlKey *right);

/*
 * Returns the condition "left = right" as SQL text with that operator, for tables with the aliases
 * l and r.  It means the same under any search path.
 */
extern char *hg_sql_key_condition(const HgSqlKey *left, const HgSqlKey *right,
								  const HgKeyClause *clause);

/*
 * Reads a key column as the caller, under the active snapshot.  Rows with a NULL key are only
 * counted if the operator is strict: they match nothing.  Of the others, the words are stored, and
 * with keep_values the keys themselves.  Everything lies in CurrentMemoryContext.
 *
 * Rows and the HashGraph to be built from them are charged to the budget.  Raises an error with an
 * SQLSTATE of class 53 (insufficient resources) as soon as that is full.
 */
extern void hg_sql_side_read(HgSqlSide *side, const HgSqlKey *key, HgKeyEncoder *encoder,
							 HgSide which, bool keep_values, HgBudget *budget);

/*
 * Returns the bytes that a statistics function may use: the larger of maintenance_work_mem, as for
 * CREATE INDEX, and a join's memory.
 */
extern uint64 hg_sql_memory_limit(void);

/*
 * Raises an error with an SQLSTATE of class 53 (insufficient resources) if a budget with that
 * limit is full.
 */
extern void hg_sql_memory_check(const HgBudget *budget);

/* Reads and matches two key columns, for hashgraph_probe_stats(). */

/* A join of two key columns; left is the engine's outer side. */
typedef struct HgSqlMatch
{
	HgBudget budget;	/* of both sides */
	HgSqlSide sides[2]; /* by HgSide */
	bool exact;			/* matches need no recheck */
	HgMatcher *matcher;
	double start;	/* when reading began */
	double scan_ms; /* time that reading took */

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

#endif /* HG_SQL_RELATION_H */
