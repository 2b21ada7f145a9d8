/*-------------------------------------------------------------------------
 *
 * hg_key_operator.c
 *	  Operators that join keys: their catalog entries, and what they compare.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/hash.h"
#include "access/htup_details.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_type.h"
#include "storage/itemptr.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inet.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "batch/hg_key.h"

/*
 * The built-in equality functions that compare images.  They are identified by function and not by
 * type, because a user's operator on int4 may mean something else.
 */
static const HgExactFunction hg_exact_functions[] = {
	{F_INT2EQ, {HG_IMAGE_INT16, HG_IMAGE_INT16}},
	{F_INT24EQ, {HG_IMAGE_INT16, HG_IMAGE_INT32}},
	{F_INT28EQ, {HG_IMAGE_INT16, HG_IMAGE_INT64}},
	{F_INT42EQ, {HG_IMAGE_INT32, HG_IMAGE_INT16}},
	{F_INT4EQ, {HG_IMAGE_INT32, HG_IMAGE_INT32}},
	{F_INT48EQ, {HG_IMAGE_INT32, HG_IMAGE_INT64}},
	{F_INT82EQ, {HG_IMAGE_INT64, HG_IMAGE_INT16}},
	{F_INT84EQ, {HG_IMAGE_INT64, HG_IMAGE_INT32}},
	{F_INT8EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}},
	{F_FLOAT4EQ, {HG_IMAGE_FLOAT4, HG_IMAGE_FLOAT4}},
	{F_FLOAT48EQ, {HG_IMAGE_FLOAT4_WIDE, HG_IMAGE_FLOAT8}},
	{F_FLOAT84EQ, {HG_IMAGE_FLOAT8, HG_IMAGE_FLOAT4_WIDE}},
	{F_FLOAT8EQ, {HG_IMAGE_FLOAT8, HG_IMAGE_FLOAT8}},
	{F_BOOLEQ, {HG_IMAGE_INT8, HG_IMAGE_INT8}},
	{F_CHAREQ, {HG_IMAGE_INT8, HG_IMAGE_INT8}},
	{F_OIDEQ, {HG_IMAGE_INT32, HG_IMAGE_INT32}},
	{F_XIDEQ, {HG_IMAGE_INT32, HG_IMAGE_INT32}},
	{F_CIDEQ, {HG_IMAGE_INT32, HG_IMAGE_INT32}},
	{F_XID8EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}},
#if HG_HAVE_OID8
	{F_OID8EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}},
#endif
	{F_PG_LSN_EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}},
	{F_TIDEQ, {HG_IMAGE_BYTES6, HG_IMAGE_BYTES6}},
	{F_DATE_EQ, {HG_IMAGE_INT32, HG_IMAGE_INT32}},
	{F_TIME_EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}},
	{F_TIMESTAMP_EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}},
	{F_TIMESTAMPTZ_EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}},
	{F_ENUM_EQ, {HG_IMAGE_INT32, HG_IMAGE_INT32}},
	{F_CASH_EQ, {HG_IMAGE_INT64, HG_IMAGE_INT64}}, /* only in a user's operator class */
	{F_MACADDR_EQ, {HG_IMAGE_BYTES6, HG_IMAGE_BYTES6}},
	{F_MACADDR8_EQ, {HG_IMAGE_BYTES8, HG_IMAGE_BYTES8}},
};

StaticAssertDecl(sizeof(macaddr) == 6 && sizeof(ItemPointerData) == 6 && sizeof(macaddr8) == 8,
				 "values passed by reference have no padding");

static HTAB *hg_operators;

/*
 * The catalogs behind HgOperator: the operator, its families, their hash functions, and its
 * function, whose strictness ALTER FUNCTION changes.
 */
static const int hg_operator_catalogs[] = {OPEROID, AMOPOPID, AMPROCNUM, PROCOID};

/* Number of changes to hg_operator_catalogs. */
static uint64 hg_operator_changes;

/* The operator that was read last, which is often the next one too; or NULL. */
static const HgOperator *hg_last_operator;

/*
 * Finds the hash functions of an operator's family for its two input types.  They are extended
 * ones if both sides have them, else 32-bit ones.  Returns false if there are none.
 *
 * Containers (arrays, ranges, records) use 32-bit hashes, as in PostgreSQL's own joins.  Their
 * extended function is in the catalog whatever the elements are, and fails for elements without
 * one.  What made the operator hashable vouches for the 32-bit function.
 *
 * char(n) does too: under a nondeterministic collation, PostgreSQL 15's extended function hashes
 * trailing blanks, which do not count.
 */
static bool
hg_key_hash_functions(Oid operator_oid, Oid functions[2], bool *extended)
{
	CatCList *list = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(operator_oid));
	bool found = false;

	for (int i = 0; i < list->n_members && !(found && *extended); i++)
	{
		HeapTuple tuple = &list->members[i]->tuple;
		Form_pg_amop amop = (Form_pg_amop) GETSTRUCT(tuple);
		Oid left = amop->amoplefttype;
		Oid right = amop->amoprighttype;
		Oid outer;
		Oid inner;

		if (amop->amopmethod != HASH_AM_OID || amop->amopstrategy != HTEqualStrategyNumber)
			continue;

		outer = get_opfamily_proc(amop->amopfamily, left, left, HASHEXTENDED_PROC);
		inner = get_opfamily_proc(amop->amopfamily, right, right, HASHEXTENDED_PROC);
		if (OidIsValid(outer) && OidIsValid(inner) && !IsPolymorphicType(left) &&
			!IsPolymorphicType(right) && left != RECORDOID && right != RECORDOID &&
			left != BPCHAROID && right != BPCHAROID)
		{
			functions[HG_OUTER] = outer;
			functions[HG_INNER] = inner;
			*extended = true;
			found = true;
			continue;
		}
		if (found)
			continue;
		outer = get_opfamily_proc(amop->amopfamily, left, left, HASHSTANDARD_PROC);
		inner = get_opfamily_proc(amop->amopfamily, right, right, HASHSTANDARD_PROC);
		if (OidIsValid(outer) && OidIsValid(inner))
		{
			functions[HG_OUTER] = outer;
			functions[HG_INNER] = inner;
			*extended = false;
			found = true;
		}
	}
	ReleaseSysCacheList(list);
	return found;
}

static void
hg_key_forget_operators(Datum arg pg_attribute_unused(), int cache pg_attribute_unused(),
						uint32 hash pg_attribute_unused())
{
	HASH_SEQ_STATUS scan;
	HgOperator *entry;

	hg_operator_changes++;
	hg_last_operator = NULL;
	hash_seq_init(&scan, hg_operators);
	while ((entry = hash_seq_search(&scan)) != NULL)
		hash_search(hg_operators, &entry->operator_oid, HASH_REMOVE, NULL);
}

HgOperator
hg_key_operator(Oid operator_oid)
{
	HgOperator *entry;
	HgOperator found = {0};
	uint64 changes;

	if (hg_last_operator != NULL && hg_last_operator->operator_oid == operator_oid)
		return *hg_last_operator;
	if (hg_operators == NULL)
	{
		HASHCTL ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(HgOperator)};

		hg_operators = hash_create("HashGraph operators", 64, &ctl, HASH_ELEM | HASH_BLOBS);
		for (int i = 0; i < (int) lengthof(hg_operator_catalogs); i++)
			CacheRegisterSyscacheCallback(hg_operator_catalogs[i], hg_key_forget_operators,
										  (Datum) 0);
	}
	entry = hash_search(hg_operators, &operator_oid, HASH_FIND, NULL);
	if (entry != NULL)
	{
		hg_last_operator = entry;
		return *entry;
	}
	changes = hg_operator_changes;

	found.operator_oid = operator_oid;
	found.usable = hg_key_hash_functions(operator_oid, found.hash, &found.extended);
	found.strict = op_strict(operator_oid);
	found.commutator = get_commutator(operator_oid);
	found.function = get_opcode(operator_oid);
	for (int i = 0; i < (int) lengthof(hg_exact_functions); i++)
		if (hg_exact_functions[i].function == found.function)
			found.exact = &hg_exact_functions[i];

	/* a catalog change meanwhile may concern what was read before it */
	if (changes == hg_operator_changes)
	{
		entry = hash_search(hg_operators, &operator_oid, HASH_ENTER, NULL);
		*entry = found;
		hg_last_operator = entry;
	}
	return found;
}

bool
hg_key_operator_usable(Oid operator_oid)
{
	return hg_key_operator(operator_oid).usable;
}

Oid
hg_key_commutator(Oid operator_oid)
{
	return hg_key_operator(operator_oid).commutator;
}
