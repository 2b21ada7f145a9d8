/*-------------------------------------------------------------------------
 *
 * hg_sql_match.c
 *	  Reads and matches two key columns, for hashgraph_probe_stats().
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "sql/hg_sql_relation.h"

/* Bytes of the operator's garbage after which it is freed. */
#define GARBAGE_BYTES ((Size) 256 * 1024)

double
hg_sql_ms_since(instr_time start)
{
	instr_time now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	return INSTR_TIME_GET_MILLISEC(now);
}

/* Prepares the operator.  A polymorphic function needs an expression to find argument types. */
static void
hg_sql_match_prepare_recheck(HgSqlMatch *match, const HgKeyClause *clause, const HgSqlKey *left,
							 const HgSqlKey *right)
{
	Var *left_var = makeVar(1, 1, left->type, -1, left->collation, 0);
	Var *right_var = makeVar(2, 1, right->type, -1, right->collation, 0);
	Expr *expression = make_opclause(clause->operator_oid, BOOLOID, false, (Expr *) left_var,
									 (Expr *) right_var, InvalidOid, clause->collation);

	set_opfuncid((OpExpr *) expression);
	fmgr_info(((OpExpr *) expression)->opfuncid, &match->equality);
	fmgr_info_set_expr((Node *) expression, &match->equality);
	match->collation = clause->collation;
	match->key = hg_batch_create(1);
	match->temporary =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph recheck", ALLOCSET_DEFAULT_SIZES);
}

void
hg_sql_match_open(HgSqlMatch *match, Oid left, const char *left_key, Oid right,
				  const char *right_key)
{
	HgSqlKey keys[2] = {hg_sql_key_check(left, left_key), hg_sql_key_check(right, right_key)};
	HgKeyClause clause = hg_sql_key_clause(&keys[HG_OUTER], &keys[HG_INNER]);
	HgKeyEncoder *encoder = hg_key_encoder_create(1, &clause);
	HgMatcherSpec spec = {.key_width = encoder->width, .mode = HG_MATCH_ALL};
	HgKeySet sets[2];

	memset(match, 0, sizeof(*match));
	hg_budget_init(&match->budget, NULL, hg_sql_memory_limit());
	INSTR_TIME_SET_CURRENT(match->start);
	match->exact = encoder->exact;
	if (!match->exact)
		hg_sql_match_prepare_recheck(match, &clause, &keys[HG_OUTER], &keys[HG_INNER]);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_sql_side_read(&match->sides[side], &keys[side], encoder, (HgSide) side, !match->exact,
						 &match->budget);
		sets[side] = hg_key_column_set(match->sides[side].keys);
	}
	match->scan_ms = hg_sql_ms_since(match->start);
	match->matcher = hg_matcher_create(&spec, &sets[HG_OUTER], &sets[HG_INNER]);
}

/* Returns the key of a row as an argument of the operator. */
static NullableDatum
hg_sql_match_key(const HgSqlMatch *match, HgSide side, uint32 row)
{
	HgBatch *key = match->key;

	hg_column_store_get(match->sides[side].values, &row, 1, key, (int[]){0});
	return (NullableDatum){key->values[0][0], hg_batch_is_null(key, 0, 0)};
}

bool
hg_sql_match_recheck(HgSqlMatch *match, uint32 left, uint32 right)
{
	LOCAL_FCINFO(call, 2);
	MemoryContext caller;
	Datum equal;

	if (MemoryContextMemAllocated(match->temporary, false) > GARBAGE_BYTES)
		MemoryContextReset(match->temporary);
	caller = MemoryContextSwitchTo(match->temporary);
	InitFunctionCallInfoData(*call, &match->equality, 2, match->collation, NULL, NULL);
	call->args[0] = hg_sql_match_key(match, HG_OUTER, left);
	call->args[1] = hg_sql_match_key(match, HG_INNER, right);
	equal = FunctionCallInvoke(call);
	MemoryContextSwitchTo(caller);
	return !call->isnull && DatumGetBool(equal);
}
