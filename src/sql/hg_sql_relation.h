/*-------------------------------------------------------------------------
 *
 * hg_sql_relation.h
 *	  The tables and key columns that SQL functions are given: checking and reading.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SQL_RELATION_H
#define HG_SQL_RELATION_H

#include "utils/relcache.h"

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
	Oid type; /* base type, where the column's is a domain */
	Oid collation;
} HgSqlKey;

/* The rows of a key column, in the order they were read. */
typedef struct HgSqlSide
{
	HgKeyColumn *keys;	   /* a word for each row that has a key */
	HgColumnStore *values; /* the keys themselves where asked for; else NULL */
	uint64 null_keys;	   /* rows left out because their key is NULL */
} HgSqlSide;

/*
 * Open the relation that a SQL function was given, whatever its kind, with a lock of mode
 * AccessShareLock.  Throws an error with SQLSTATE 42P01 if no relation has this OID, or if the
 * relation was dropped while the lock was awaited.
 */
extern Relation hg_sql_relation_open(Oid relation);

/*
 * Check that relation is a table or materialized view whose rows a ctid names, that
 * it has a column of that name, and that the caller may read it.  Errors otherwise.
 * The relation stays locked to the end of the transaction.
 */
extern HgSqlKey hg_sql_key_check(Oid relation, const char *column);

/*
 * The clause "left = right" by the default operators of the columns' types, never by
 * the search path.  Errors where there is none that can be hashed or that the current user may
 * execute, or where the collations conflict.
 */
extern HgKeyClause hg_sql_key_clause(const HgSqlKey *left, const HgSqlKey *right);

/*
 * The condition "left = right" by that operator, as SQL that means the same whatever
 * the search path: the columns belong to tables with the aliases l and r.
 */
extern char *hg_sql_key_condition(const HgSqlKey *left, const HgSqlKey *right,
								  const HgKeyClause *clause);

/*
 * Read a key column as the caller, under the active snapshot.  Rows whose key matches
 * nothing are counted and left out; of the others the words are kept, and the keys
 * themselves where asked for.  Everything lies in CurrentMemoryContext.
 *
 * Rows and the HashGraph that is to be built of them are charged to the budget: an error
 * of class 53 as soon as it is full.
 */
extern void hg_sql_side_read(HgSqlSide *side, const HgSqlKey *key, HgKeyEncoder *encoder,
							 HgSide which, bool keep_values, HgBudget *budget);

/*
 * Bytes that the statistics functions may take: they build something whole, as CREATE
 * INDEX does, and need not spill as long as that memory or a join's would do.
 */
extern uint64 hg_sql_memory_limit(void);

/* An error of class 53 where a budget of that is full. */
extern void hg_sql_memory_check(const HgBudget *budget);

#endif /* HG_SQL_RELATION_H */
