/*-------------------------------------------------------------------------
 *
 * hg_sql_list_lengths.c
 *	  hashgraph_list_lengths(): the lengths of the adjacency lists of a key column.
 *
 * The lists are counted in this process, whatever backend a join would use: vertices and hash are
 * the same in each.
 *
 * MEMORY.  Keys and the counts of their lists are charged to a budget like that of the other
 * statistics functions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "backend/hg_host.h"
#include "engine/hg_list_lengths.h"
#include "hg_guc.h"
#include "sql/hg_sql_relation.h"

PG_FUNCTION_INFO_V1(hashgraph_list_lengths);

/* Numbers of the result's columns. */
typedef enum HgListLengthsColumn
{
	LENGTHS_LENGTH = 0,
	LENGTHS_VERTICES,
	LENGTHS_ROWS,
	LENGTHS_COLUMNS
} HgListLengthsColumn;

/* Counts the lists of a side's keys. */
static HgStatus
hg_sql_lengths_make(HgListLengths *lists, const HgHost *host, const HgKeySet *set, uint32 width,
					HgError *error)
{
	HgStatus status = hg_list_lengths_open(lists, host, width, hg_load_factor, set->rows, error);

	if (status != HG_OK)
		return status;
	for (int i = 0; i < set->npieces && status == HG_OK; i++)
		status = hg_list_lengths_add(lists, set->pieces[i].keys, set->pieces[i].count, error);
	if (status == HG_OK)
		status = hg_list_lengths_make(lists, error);
	return status;
}

static void
hg_sql_lengths_return(ReturnSetInfo *result, const HgListLengths *lists)
{
	for (uint64 i = 0; i < lists->count; i++)
	{
		const HgListLength *length = &lists->lengths[i];
		Datum values[LENGTHS_COLUMNS];
		bool nulls[LENGTHS_COLUMNS] = {false};

		values[LENGTHS_LENGTH] = Int64GetDatum((int64) length->length);
		values[LENGTHS_VERTICES] = Int64GetDatum((int64) length->vertices);
		values[LENGTHS_ROWS] = Int64GetDatum((int64) (length->length * length->vertices));
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/* hashgraph_list_lengths(rel regclass, key name) */
Datum
hashgraph_list_lengths(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "hashgraph_list_lengths",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller;
	HgSqlKey key;
	HgKeyClause clause;
	HgKeyEncoder *encoder;
	HgKeySet set;
	HgSqlSide side;
	HgBudget budget;
	HgPgHost host;
	HgListLengths lists;
	HgError error;
	HgStatus status;

	InitMaterializedSRF(fcinfo, 0);
	if (result->setDesc->natts != LENGTHS_COLUMNS)
		elog(ERROR, "return type has %d columns, expected %d", result->setDesc->natts,
			 LENGTHS_COLUMNS);
	caller = MemoryContextSwitchTo(context);
	key = hg_sql_key_check(PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)));
	clause = hg_sql_key_clause(&key, &key);
	encoder = hg_key_encoder_create(1, &clause);
	hg_budget_init(&budget, NULL, hg_sql_memory_limit());
	hg_sql_side_read(&side, &key, encoder, HG_INNER, false, &budget);

	/* instead of the HashGraph, which no join will build */
	set = hg_key_column_set(side.keys);
	hg_charge_set(&side.keys->charge, hg_key_column_reserved(side.keys) +
										  hg_list_lengths_bytes(set.rows, hg_load_factor));
	hg_sql_memory_check(&budget);
	hg_host_init(&host, context);
	status = hg_sql_lengths_make(&lists, &host.host, &set, encoder->width, &error);
	if (status != HG_OK)
		hg_host_throw(&host, status, &error);
	MemoryContextSwitchTo(caller);
	hg_sql_lengths_return(result, &lists);
	MemoryContextDelete(context);
	return (Datum) 0;
}
