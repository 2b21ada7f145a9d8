/*-------------------------------------------------------------------------
 *
 * hg_comparison.c
 *	  Clauses that are compiled into predicates: comparisons, and conditions on texts.
 *
 * A date is compared with a timestamp as the first microsecond of its day.
 *
 * A computed side may raise an error in PostgreSQL whatever it is compared with.  So such a
 * comparison is a predicate even if no row can be in it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "batch/hg_comparison.h"

/* ---------------------------------------------------------------------
 * Text conditions: collations that compare texts as bytes, and LIKE
 *
 * Under a deterministic collation, texts are equal if their bytes are (texteq(), bpchareq()), and
 * LIKE compares bytes (like_match.c).  No other collation is supported.  % stands for whole
 * characters.  In encodings such as EUC, bytes of a pattern may occur in a text without being
 * characters of it.  Texts are ordered by their bytes under the C collation only.
 * ---------------------------------------------------------------------
 */

/*
 * Returns true if texts are known to be ordered by their bytes under a collation.  PostgreSQL's
 * own test is in a header that needs ICU's headers, which a server's installation may lack.  So
 * only built-in C and the database's collation are recognized.
 */
static bool
hg_collation_is_c(Oid collation)
{
	HeapTuple tuple;
	bool is_c = false;

	if (collation == C_COLLATION_OID)
		return true;
	if (collation != DEFAULT_COLLATION_OID)
		return false;
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_database) GETSTRUCT(tuple))->datlocprovider == COLLPROVIDER_LIBC)
	{
		bool isnull;
		Datum collate = SysCacheGetAttr(DATABASEOID, tuple, Anum_pg_database_datcollate, &isnull);
		char *name = isnull ? NULL : TextDatumGetCString(collate);

		is_c = name != NULL && (strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0);
	}
	ReleaseSysCache(tuple);
	return is_c;
}

/*
 * Returns true if texts are known to be equal (or, if equality is false, to be ordered) as their
 * bytes are, under a collation.
 */
static bool
hg_text_is_bytewise(Oid collation, bool equality)
{
	if (!OidIsValid(collation))
		return false;
	return equality ? get_collation_isdeterministic(collation) : hg_collation_is_c(collation);
}

bool
hg_text_is_like(Oid opno)
{
	return opno == OID_TEXT_LIKE_OP || opno == OID_BPCHAR_LIKE_OP;
}

/* Returns true if bytes of whole characters in a text are always characters of it. */
static bool
hg_text_has_characters(void)
{
	return GetDatabaseEncoding() == PG_UTF8 || pg_database_encoding_max_length() == 1;
}

/* Splits a pattern at its %.  Returns the number of parts that are not empty. */
static int
hg_pattern_part(HgBytes pattern, HgBytes *parts)
{
	int nparts = 0;
	int begin = 0;

	for (int i = 0; i <= pattern.length; i++)
	{
		if (i < pattern.length && pattern.data[i] != '%')
			continue;
		if (i > begin)
			parts[nparts++] = (HgBytes){pattern.data + begin, i - begin};
		begin = i + 1;
	}
	return nparts;
}

HgPredicate *
hg_predicate_from_like(AttrNumber attno, const Const *pattern, Oid collation, bool negated)
{
	HgBytes bytes;
	HgBytes *parts;
	HgPredicate *predicate;
	bool at_start;
	bool at_end;
	int nparts;

	if (attno == 0 || pattern->consttype != TEXTOID || !OidIsValid(collation) ||
		!get_collation_isdeterministic(collation))
		return NULL;
	bytes =
		hg_bytes_of(HG_ORDER_TEXT, PointerGetDatum(PG_DETOAST_DATUM_PACKED(pattern->constvalue)));
	if (memchr(bytes.data, '_', bytes.length) != NULL ||
		memchr(bytes.data, '\\', bytes.length) != NULL)
		return NULL;
	/* trailing blanks of a char(n) count here */
	if (memchr(bytes.data, '%', bytes.length) == NULL)
		return hg_predicate_equal(attno, HG_ORDER_TEXT, 1, &bytes, negated);
	at_start = bytes.data[0] != '%';
	at_end = bytes.data[bytes.length - 1] != '%';
	parts = palloc((bytes.length + 1) * sizeof(HgBytes));
	nparts = hg_pattern_part(bytes, parts);
	if ((at_end || nparts > (at_start ? 1 : 0)) && !hg_text_has_characters())
		return NULL;
	predicate = hg_predicate_like(attno, nparts, parts, at_start, at_end, negated);
	pfree(parts);
	return predicate;
}

AttrNumber
hg_comparison_column(Node *node, Oid *type)
{
	Var *var;

	*type = exprType(node);
	/* a varchar is compared as a text */
	if (IsA(node, RelabelType) && *type == TEXTOID &&
		exprType((Node *) ((RelabelType *) node)->arg) == VARCHAROID)
		node = (Node *) ((RelabelType *) node)->arg;
	var = (Var *) node;
	if (!IsA(var, Var) || var->varattno <= 0 || var->varlevelsup > 0)
		return 0;
	return var->varattno;
}

/* Sets the strategy of an operator; false if it is not supported. */
static bool
hg_comparison_set_operator(HgComparison *comparison, Oid opno)
{
	Oid family = lookup_type_cache(comparison->type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;

	/* a user's operator may be in the family and have the types */
	if (!OidIsValid(opno) || opno >= FirstGenbkiObjectId || !OidIsValid(family))
		return false;
	comparison->strategy = get_op_opfamily_strategy(opno, family);
	if (comparison->strategy == InvalidStrategy)
	{
		Oid negator = get_negator(opno);

		if (!OidIsValid(negator) ||
			get_op_opfamily_strategy(negator, family) != BTEqualStrategyNumber)
			return false;
		comparison->strategy = BTEqualStrategyNumber;
		comparison->negated = !comparison->negated;
	}
	return true;
}

/* Returns true if texts are compared as bytes under a collation; other types always are. */
static bool
hg_comparison_is_bytewise(const HgComparison *comparison, Oid collation)
{
	if (comparison->order != HG_ORDER_TEXT && comparison->order != HG_ORDER_BLANKS)
		return true;
	return hg_text_is_bytewise(collation, comparison->strategy == BTEqualStrategyNumber);
}

/* Returns true if the column's order also compares values of the constant's type. */
static bool
hg_comparison_takes(const HgComparison *comparison)
{
	Oid type = comparison->type;
	Oid other = comparison->other_type;

	if (comparison->order == HG_ORDER_UNKNOWN)
		return false;
	return type == other || hg_order_is_shared(type, other) ||
		   (type == DATEOID && other == TIMESTAMPOID) || (type == TIMESTAMPOID && other == DATEOID);
}

bool
hg_comparison_init(HgComparison *comparison, Node *column, Oid other_type, Oid opno, Oid collation,
				   bool negated)
{
	comparison->attno = hg_comparison_column(column, &comparison->type);
	comparison->order = hg_value_order(comparison->type);
	comparison->other_type = other_type;
	comparison->negated = negated;
	comparison->compared = NULL;
	if (!hg_comparison_takes(comparison) || !hg_comparison_set_operator(comparison, opno) ||
		!hg_comparison_is_bytewise(comparison, collation))
		return false;
	if (comparison->attno == 0)
		comparison->compared = hg_compared_create(column, NULL);
	return comparison->attno > 0 || comparison->compared != NULL;
}

/* Returns the rows whose column or computed number is in a set. */
static HgPredicate *
hg_comparison_set(const HgComparison *comparison, HgIntervals *set)
{
	return comparison->compared != NULL
			   ? hg_predicate_computed(comparison->compared, comparison->order, set)
			   : hg_predicate_integer(comparison->attno, comparison->order, set);
}

HgPredicate *
hg_comparison_null(const HgComparison *comparison)
{
	return comparison->compared != NULL
			   ? hg_comparison_set(comparison, hg_intervals_create(0, NULL))
			   : hg_predicate_constant(false);
}

/* Sets the integer of a constant.  *between: the constant is between it and the next integer. */
static bool
hg_comparison_integer(const HgComparison *comparison, Datum constant, int128 *value, bool *between)
{
	*between = false;
	if (comparison->order == HG_ORDER_NUMERIC)
		return hg_predicate_scale_value(constant, value);
	if (comparison->type == DATEOID && comparison->other_type == TIMESTAMPOID)
	{
		Timestamp timestamp = DatumGetTimestamp(constant);

		*value = timestamp / USECS_PER_DAY - (timestamp % USECS_PER_DAY < 0);
		*between = timestamp % USECS_PER_DAY != 0;
		return !TIMESTAMP_NOT_FINITE(timestamp);
	}
	if (comparison->type == TIMESTAMPOID && comparison->other_type == DATEOID)
	{
		DateADT date = DatumGetDateADT(constant);

		/* a day out of a timestamp's range compares as infinity does */
		*value = (int128) date * USECS_PER_DAY;
		return !DATE_NOT_FINITE(date) && *value > PG_INT64_MIN && *value < PG_INT64_MAX;
	}
	*value = hg_order_integer(comparison->order, get_typlen(comparison->other_type), constant);
	return true;
}

/* Returns the integers for which a comparison with a constant holds; NULL if not supported. */
static HgIntervals *
hg_comparison_intervals(const HgComparison *comparison, Datum constant)
{
	int128 low = HG_INTERVAL_MIN;
	int128 high = HG_INTERVAL_MAX;
	int128 value;
	bool between;
	HgIntervals *set;

	if (!hg_comparison_integer(comparison, constant, &value, &between))
		return NULL;
	/* between: no integer equals the constant, and value is the last one below it */
	switch (comparison->strategy)
	{
		case BTLessStrategyNumber:
			high = between ? value : value - 1;
			break;
		case BTLessEqualStrategyNumber:
			high = value;
			break;
		case BTGreaterEqualStrategyNumber:
			low = between ? value + 1 : value;
			break;
		case BTGreaterStrategyNumber:
			low = value + 1;
			break;
		default:
			low = value;
			high = between ? value - 1 : value;
			break;
	}
	set = hg_intervals_between(low, high);
	return comparison->negated ? hg_intervals_complement(set) : set;
}

/* Returns the rows whose bytes compare with the constant's. */
static HgPredicate *
hg_comparison_bytes(const HgComparison *comparison, Datum constant)
{
	HgBytes bytes = hg_bytes_of(comparison->order, constant);
	bool allows[3];

	if (comparison->strategy == BTEqualStrategyNumber)
		return hg_predicate_equal(comparison->attno, comparison->order, 1, &bytes,
								  comparison->negated);
	allows[0] = comparison->strategy == BTLessStrategyNumber ||
				comparison->strategy == BTLessEqualStrategyNumber;
	allows[1] = comparison->strategy == BTLessEqualStrategyNumber ||
				comparison->strategy == BTGreaterEqualStrategyNumber;
	allows[2] = comparison->strategy == BTGreaterEqualStrategyNumber ||
				comparison->strategy == BTGreaterStrategyNumber;
	for (int i = 0; i < 3; i++)
		allows[i] = allows[i] != comparison->negated;
	return hg_predicate_bytes(comparison->attno, comparison->order, bytes, allows);
}

/* Returns the rows for which a comparison of integers holds with one or all constants. */
static HgPredicate *
hg_comparison_predicate_integers(const HgComparison *comparison, int nconstants,
								 const Datum *constants, bool all)
{
	/* a comparison, or its complement, is at most two intervals */
	HgInterval *intervals = palloc(Max(nconstants, 1) * 2 * sizeof(HgInterval));
	int n = 0;
	HgIntervals *set;

	for (int i = 0; i < nconstants; i++)
	{
		set = hg_comparison_intervals(comparison, constants[i]);
		if (set == NULL)
			return NULL;
		if (all)
			set = hg_intervals_complement(set);
		for (int k = 0; k < set->n; k++)
			intervals[n++] = set->intervals[k];
	}
	set = hg_intervals_create(n, intervals);
	if (all)
		set = hg_intervals_complement(set);
	return hg_comparison_set(comparison, set);
}

/* Returns the rows for which a comparison of bytes holds with one or all constants. */
static HgPredicate *
hg_comparison_predicate_bytes(const HgComparison *comparison, int nconstants,
							  const Datum *constants, bool all)
{
	HgPredicate **args;

	if (comparison->strategy == BTEqualStrategyNumber && comparison->negated == all)
	{
		HgBytes *bytes = palloc(Max(nconstants, 1) * sizeof(HgBytes));

		for (int i = 0; i < nconstants; i++)
			bytes[i] = hg_bytes_of(comparison->order, constants[i]);
		return hg_predicate_equal(comparison->attno, comparison->order, nconstants, bytes, all);
	}
	args = palloc(Max(nconstants, 1) * sizeof(HgPredicate *));
	for (int i = 0; i < nconstants; i++)
		args[i] = hg_comparison_bytes(comparison, constants[i]);
	return hg_predicate_combine(all ? HG_PREDICATE_AND : HG_PREDICATE_OR, nconstants, args);
}

HgPredicate *
hg_comparison_predicate(const HgComparison *comparison, int nconstants, const Datum *constants,
						bool all)
{
	Datum *fetched;

	if (hg_order_is_integer(comparison->order) || comparison->order == HG_ORDER_NUMERIC)
		return hg_comparison_predicate_integers(comparison, nconstants, constants, all);
	if (comparison->order == HG_ORDER_UUID)
		return hg_comparison_predicate_bytes(comparison, nconstants, constants, all);
	/* the predicate outlives what is detoasted here */
	fetched = palloc(nconstants * sizeof(Datum));
	for (int i = 0; i < nconstants; i++)
		fetched[i] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(constants[i]));
	return hg_comparison_predicate_bytes(comparison, nconstants, fetched, all);
}

HgPredicate *
hg_comparison_predicate_column(Node *column, Node *other, Oid opno, bool negated)
{
	HgComparison comparison = {.negated = negated};
	AttrNumber attno = hg_comparison_column(column, &comparison.type);
	AttrNumber other_attno = hg_comparison_column(other, &comparison.other_type);
	const HgValueOrder order = hg_value_order(comparison.type);
	const bool shared = hg_order_is_shared(comparison.type, comparison.other_type);
	HgCompared *compared = NULL;
	HgIntervals *set;

	if ((!shared && (order != HG_ORDER_NUMERIC || comparison.other_type != comparison.type)) ||
		!hg_comparison_set_operator(&comparison, opno))
		return NULL;
	if (!shared || attno == 0 || other_attno == 0)
	{
		compared = hg_compared_create(column, other);
		if (compared == NULL)
			return NULL;
	}
	/* the order of the two sides is compared with 0 */
	comparison.type = comparison.other_type = INT8OID;
	comparison.order = HG_ORDER_SIGNED;
	set = hg_comparison_intervals(&comparison, Int64GetDatum(0));
	return compared != NULL ? hg_predicate_computed(compared, HG_ORDER_SIGNED, set)
							: hg_predicate_order(attno, order, other_attno, set);
}
