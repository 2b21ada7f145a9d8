/*-------------------------------------------------------------------------
 *
 * hg_sql_relation.c
 *	  Checks and reads the tables and key columns that are arguments of SQL functions.
 *
 * Rows are read by an ordinary query through SPI, as the caller under the active snapshot, so that
 * privileges, row security and visibility are PostgreSQL's own.  The query's text consists of
 * quoted names from the catalog, never of the caller's text.  The rows stream into a DestReceiver
 * that keeps only keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/hash.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "backend/hg_privilege.h"
#include "batch/hg_input.h"
#include "batch/hg_key.h"
#include "sql/hg_sql_relation.h"

/* Receives the rows of one side. */
typedef struct HgSqlReceiver
{
	DestReceiver base;
	HgSqlSide *side;
	HgKeyEncoder *encoder;
	HgSide which;
	bool keep_values;
	HgBudget *budget;
	MemoryContext parent;	 /* context for the values */
	HgBatch *row;			 /* the current row */
	MemoryContext temporary; /* for hash functions */
} HgSqlReceiver;

/* Raises the error for a relation of another kind, with a hint. */
static void
hg_sql_reject_kind(const char *table, char kind)
{
	const char *hint;

	switch (kind)
	{
		case RELKIND_VIEW:
			hint = "Rows of a view have no ctid. Name the table below it, or a materialized view.";
			break;
		case RELKIND_FOREIGN_TABLE:
			hint = "Rows of a foreign table have no ctid of this server. Copy them to a table or a "
				   "materialized view.";
			break;
		case RELKIND_PARTITIONED_TABLE:
			hint = "A ctid names a row within one partition only. Name the partitions one by one.";
			break;
		default:
			hint = "Name an ordinary table or a materialized view.";
			break;
	}
	ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
					errmsg("%s is not an ordinary table or materialized view", table),
					errhint("%s", hint)));
}

/* Returns true if the current user may read a column and the ctid of a relation. */
static bool
hg_sql_may_read(Oid relation, AttrNumber attribute)
{
	Oid user = GetUserId();

	if (pg_class_aclcheck(relation, user, ACL_SELECT) == ACLCHECK_OK)
		return true;
	return pg_attribute_aclcheck(relation, attribute, user, ACL_SELECT) == ACLCHECK_OK &&
		   pg_attribute_aclcheck(relation, SelfItemPointerAttributeNumber, user, ACL_SELECT) ==
			   ACLCHECK_OK;
}

Relation
hg_sql_relation_open(Oid relation)
{
	Relation rel = try_relation_open(relation, AccessShareLock);

	if (rel == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						errmsg("relation with OID %u does not exist", relation),
						errhint("Name an ordinary table or a materialized view.")));
	return rel;
}

HgSqlKey
hg_sql_key_check(Oid relation, const char *column)
{
	HgSqlKey key = {0};
	Relation rel = hg_sql_relation_open(relation);
	char kind;
	HeapTuple tuple;
	Form_pg_attribute attribute;
	AttrNumber number;

	kind = rel->rd_rel->relkind;
	key.relation = relation;
	key.table = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
										   RelationGetRelationName(rel));
	key.column = quote_identifier(column);
	relation_close(rel, NoLock);

	if (kind != RELKIND_RELATION && kind != RELKIND_MATVIEW)
		hg_sql_reject_kind(key.table, kind);
	if (has_subclass(relation) && find_inheritance_children(relation, NoLock) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("table %s has child tables", key.table),
				 errhint("A ctid names a row within one table only. Name tables without "
						 "children, one by one.")));

	tuple = SearchSysCacheAttName(relation, column);
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
						errmsg("column %s of relation %s does not exist", key.column, key.table),
						errhint("Column names are case-sensitive here and take no quotes.")));
	attribute = (Form_pg_attribute) GETSTRUCT(tuple);
	number = attribute->attnum;
	key.declared_type = attribute->atttypid;
	key.type = getBaseType(key.declared_type);
	key.collation = attribute->attcollation;
	ReleaseSysCache(tuple);

	if (number < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column %s of relation %s is a system column", key.column, key.table),
				 errhint("Name an ordinary column.")));
	if (!hg_sql_may_read(relation, number))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table %s", key.table),
				 errhint("Reading keys and ctids takes the SELECT privilege on the table, or "
						 "on its columns %s and ctid.",
						 key.column)));
	return key;
}

/* Returns the type's cache entry; raises an error if its values can't be hashed. */
static TypeCacheEntry *
hg_sql_lookup_hashable(const HgSqlKey *key)
{
	TypeCacheEntry *type = lookup_type_cache(key->type, TYPECACHE_EQ_OPR | TYPECACHE_HASH_PROC |
															TYPECACHE_HASH_OPFAMILY);

	if (!OidIsValid(type->eq_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify an equality operator for type %s",
						format_type_be(key->type)),
				 errdetail("Column %s of relation %s has this type.", key->column, key->table),
				 errhint("A key column's type must have a default hash operator class.")));
	if (!OidIsValid(type->hash_proc))
		ereport(
			ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION),
			 errmsg("could not identify a hash function for type %s", format_type_be(key->type)),
			 errdetail("Column %s of relation %s has this type.", key->column, key->table),
			 errhint("A key column's type must have a default hash operator class.")));
	return type;
}

/*
 * Returns the equality operator of a hash operator family between two types, or InvalidOid.  A
 * polymorphic type (arrays, enums, ranges) is only equal to itself, whatever the family says.
 */
static Oid
hg_sql_family_equality(Oid family, const TypeCacheEntry *left, const TypeCacheEntry *right)
{
	if (IsPolymorphicType(left->hash_opintype) || IsPolymorphicType(right->hash_opintype))
		return InvalidOid;
	return get_opfamily_member(family, left->hash_opintype, right->hash_opintype,
							   HTEqualStrategyNumber);
}

/*
 * Returns the collation of "left = right", as the parser derives it from two columns: a collation
 * other than the database's default wins over that, and two such collations must agree.
 */
static Oid
hg_sql_key_collation(const HgSqlKey *left, const HgSqlKey *right)
{
	if (left->collation == right->collation || !OidIsValid(right->collation) ||
		right->collation == DEFAULT_COLLATION_OID)
		return OidIsValid(left->collation) ? left->collation : right->collation;
	if (!OidIsValid(left->collation) || left->collation == DEFAULT_COLLATION_OID)
		return right->collation;

	ereport(
		ERROR,
		(errcode(ERRCODE_INDETERMINATE_COLLATION),
		 errmsg("could not determine which collation to use for the comparison of key columns"),
		 errdetail("Column %s of relation %s has collation %s, column %s of relation %s has "
				   "collation %s.",
				   left->column, left->table, quote_identifier(get_collation_name(left->collation)),
				   right->column, right->table,
				   quote_identifier(get_collation_name(right->collation))),
		 errhint("Give both columns the same collation, or write the join in SQL with a COLLATE "
				 "clause.")));
}

HgKeyClause
hg_sql_key_clause(const HgSqlKey *left, const HgSqlKey *right)
{
	HgKeyClause clause = {0};
	TypeCacheEntry *left_type = hg_sql_lookup_hashable(left);
	TypeCacheEntry *right_type = hg_sql_lookup_hashable(right);

	if (left->type == right->type)
		clause.operator_oid = left_type->eq_opr;
	else
	{
		clause.operator_oid = hg_sql_family_equality(left_type->hash_opf, left_type, right_type);
		if (!OidIsValid(clause.operator_oid))
			clause.operator_oid =
				hg_sql_family_equality(right_type->hash_opf, left_type, right_type);
	}
	if (!OidIsValid(clause.operator_oid) || !hg_key_operator_usable(clause.operator_oid))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("no hashable equality operator compares types %s and %s",
						format_type_be(left->type), format_type_be(right->type)),
				 errhint("Give both key columns the same type, or write the join in SQL with "
						 "a cast.")));
	hg_privilege_check_function(get_opcode(clause.operator_oid));
	clause.collation = hg_sql_key_collation(left, right);
	return clause;
}

/*
 * Returns a key as an operand: cast to the type that the operator takes, so that the parser finds
 * this operator and no other of its name.
 */
static char *
hg_sql_key_operand(const HgSqlKey *key, const char *alias, Oid wanted)
{
	/* a polymorphic operator takes the key as it is */
	if (IsPolymorphicType(wanted) || wanted == RECORDOID)
		wanted = key->type;
	if (wanted == key->declared_type)
		return psprintf("%s.%s", alias, key->column);
	return psprintf(
		"CAST(%s.%s AS %s)", alias, key->column,
		format_type_extended(wanted, -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
}

char *
hg_sql_key_condition(const HgSqlKey *left, const HgSqlKey *right, const HgKeyClause *clause)
{
	HeapTuple tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(clause->operator_oid));
	Form_pg_operator form;
	char *condition;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", clause->operator_oid);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	condition = psprintf("%s OPERATOR(%s.%s) %s", hg_sql_key_operand(left, "l", form->oprleft),
						 quote_identifier(get_namespace_name(form->oprnamespace)),
						 NameStr(form->oprname), hg_sql_key_operand(right, "r", form->oprright));
	ReleaseSysCache(tuple);
	return condition;
}

/* Creates the store of values, when the type of the query's rows is known. */
static void
hg_sql_receive_startup(DestReceiver *self, int operation pg_attribute_unused(), TupleDesc desc)
{
	HgSqlReceiver *receiver = (HgSqlReceiver *) self;

	if (receiver->keep_values)
		receiver->side->values =
			hg_column_store_create(receiver->parent, desc, 1, (int[]){1}, receiver->budget);
}

uint64
hg_sql_memory_limit(void)
{
	return Max((uint64) maintenance_work_mem * 1024, get_hash_memory_limit());
}

void
hg_sql_memory_check(const HgBudget *budget)
{
	if (hg_budget_is_full(budget))
		ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
						errmsg("keys and HashGraphs do not fit in memory"),
						errdetail("The limit is the larger of maintenance_work_mem and work_mem "
								  "times hash_mem_multiplier, %zu kB.",
								  (size_t) (hg_sql_memory_limit() / 1024)),
						errhint("Increase maintenance_work_mem.")));
}

static bool
hg_sql_receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	HgSqlReceiver *receiver = (HgSqlReceiver *) self;
	HgSqlSide *side = receiver->side;
	HgBatch *row = receiver->row;
	uint64 word;
	bool null_key;

	slot_getallattrs(slot);
	row->values[0][0] = slot->tts_values[0];
	row->nulls[0][0] = row->has_nulls[0] = slot->tts_isnull[0];
	if (hg_key_encode(receiver->encoder, receiver->which, row, (int[]){0}, 0, 1, &word, &null_key,
					  receiver->temporary) == 0)
	{
		side->null_keys++;
		return true;
	}
	if (side->keys->rows >= HG_MAX_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("too many rows"),
				 errdetail("A side of a HashGraph join holds at most %u rows.", HG_MAX_ROWS)));
	hg_key_column_add(side->keys, side->keys->rows, &word, NULL, 1);
	if (side->values != NULL)
		hg_column_store_add(side->values, row, (int[]){0}, NULL, 1);
	hg_sql_memory_check(receiver->budget);
	return true;
}

static void
hg_sql_receive_nothing(DestReceiver *self pg_attribute_unused())
{
}

void
hg_sql_side_read(HgSqlSide *side, const HgSqlKey *key, HgKeyEncoder *encoder, HgSide which,
				 bool keep_values, HgBudget *budget)
{
	HgSqlReceiver receiver = {
		.base = {.receiveSlot = hg_sql_receive_row,
				 .rStartup = hg_sql_receive_startup,
				 .rShutdown = hg_sql_receive_nothing,
				 .rDestroy = hg_sql_receive_nothing,
				 .mydest = DestTuplestore}, /* SPI uses DestNone for itself */
		.side = side,
		.encoder = encoder,
		.which = which,
		.keep_values = keep_values,
		.budget = budget,
		.parent = CurrentMemoryContext,
		.row = hg_batch_create(1),
	};
	SPIExecuteOptions options = {.read_only = true, .dest = &receiver.base};
	char *query = psprintf("SELECT %s FROM ONLY %s", key->column, key->table);
	int status;

	memset(side, 0, sizeof(*side));
	side->keys = hg_key_column_create(CurrentMemoryContext, encoder->width, budget);
	receiver.temporary = AllocSetContextCreate(CurrentMemoryContext, "HashGraph key encoding",
											   ALLOCSET_DEFAULT_SIZES);

	SPI_connect();
	status = SPI_execute_extended(query, &options);
	if (status != SPI_OK_SELECT)
		elog(ERROR, "could not read keys: %s", SPI_result_code_string(status));
	SPI_finish();

	MemoryContextDelete(receiver.temporary);
	pfree(query);
}

/* ---------------------------------------------------------------------
 * Reads and matches two key columns, for hashgraph_probe_stats()
 * ---------------------------------------------------------------------
 */

/* Bytes of the operator's garbage after which it is freed. */
#define GARBAGE_BYTES ((Size) 256 * 1024)

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
	match->start = hg_clock_ms();
	match->exact = encoder->exact;
	if (!match->exact)
		hg_sql_match_prepare_recheck(match, &clause, &keys[HG_OUTER], &keys[HG_INNER]);

	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		hg_sql_side_read(&match->sides[side], &keys[side], encoder, (HgSide) side, !match->exact,
						 &match->budget);
		sets[side] = hg_key_column_set(match->sides[side].keys);
	}
	match->scan_ms = hg_clock_ms() - match->start;
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
