/*-------------------------------------------------------------------------
 *
 * hg_predicate_clause.c
 *	  Expressions of a table scan's qual as predicates.
 *
 * Comparisons of columns with constants and with columns, = ANY and its kind over constant arrays,
 * LIKE with a prefix, tests for NULL and for truth, boolean columns, and AND, OR and NOT of all of
 * these.
 *
 * THREE VALUES.  An expression is asked for the rows for which it is TRUE, or for those for which
 * it is FALSE.  NOT swaps what is asked, AND and OR ask the same of their arguments and swap their
 * kind where FALSE is asked for; what is in neither is NULL.  So the columns alone have NULLs.
 *
 * COLLATIONS.  Under a deterministic one texts are equal if their bytes are (texteq(), bpchareq()),
 * and LIKE compares bytes (like_match.c); under any other the expression is not taken.  Texts are
 * ordered by their bytes where the collation is that of C alone.
 *
 * A date is compared with a timestamp as the day that begins with it, or after it.
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
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "batch/hg_predicate_clause.h"

/* "column operator constant", or its negation. */
typedef struct HgComparison
{
	AttrNumber attno;
	Oid type;
	HgValueOrder order;
	Oid other_type; /* the constant's */
	int strategy;
	bool negated;
} HgComparison;

/* The column that an expression is, as a value of *type; 0 where it is none. */
static AttrNumber
hg_clause_column(Node *node, Oid *type)
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

/* How an operator compares; false where that is not understood. */
static bool
hg_comparison_set_operator(HgComparison *comparison, Oid opno)
{
	Oid family = lookup_type_cache(comparison->type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;

	/* an operator of somebody's may be in a family, and of these types */
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

/*
 * Are texts known to be ordered by their bytes under a collation?  PostgreSQL's own answer is told
 * by a header that wants ICU's, which a server's own headers may come without; of collations that
 * are not the server's, or the database's, it might be yes as well.
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

/* Are values compared as their bytes are, under a collation? */
static bool
hg_comparison_is_bytewise(const HgComparison *comparison, Oid collation)
{
	if (comparison->order != HG_ORDER_TEXT && comparison->order != HG_ORDER_BLANKS)
		return true;
	if (!OidIsValid(collation))
		return false;
	if (comparison->strategy == BTEqualStrategyNumber)
		return get_collation_isdeterministic(collation);
	return hg_collation_is_c(collation);
}

/* Are values of a column and of a constant's type compared as is told by the column's order? */
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

/* A comparison of a column with constants of a type; false where it is not understood. */
static bool
hg_comparison_init(HgComparison *comparison, Node *column, Oid other_type, Oid opno, Oid collation,
				   bool negated)
{
	comparison->attno = hg_clause_column(column, &comparison->type);
	comparison->order = hg_value_order(comparison->type);
	comparison->other_type = other_type;
	comparison->negated = negated;
	return comparison->attno > 0 && hg_comparison_takes(comparison) &&
		   hg_comparison_set_operator(comparison, opno) &&
		   hg_comparison_is_bytewise(comparison, collation);
}

/* The integer of a constant; *between: it is somewhere between that and the next. */
static bool
hg_comparison_integer(const HgComparison *comparison, Datum constant, int128 *value, bool *between)
{
	*between = false;
	if (comparison->order == HG_ORDER_NUMERIC)
		return hg_predicate_units(constant, value);
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

		/* a day that no timestamp reaches is ahead of infinity, or behind it, all the same */
		*value = (int128) date * USECS_PER_DAY;
		return !DATE_NOT_FINITE(date) && *value > PG_INT64_MIN && *value < PG_INT64_MAX;
	}
	*value = hg_order_integer(comparison->order, get_typlen(comparison->other_type), constant);
	return true;
}

/* The integers for which a comparison with a constant holds; NULL where that is not understood. */
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
	/* from the next integer on it is above the value, and no integer equals it */
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

/* The rows whose bytes compare so with a constant's. */
static HgPredicate *
hg_comparison_bytes(const HgComparison *comparison, Datum constant)
{
	HgBytes bytes = hg_predicate_value(comparison->order, constant);
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

/* The rows for which a comparison holds with one of the constants, or with all of them. */
static HgPredicate *
hg_comparison_predicate_integers(const HgComparison *comparison, int nconstants,
								 const Datum *constants, bool all)
{
	/* a comparison holds in at most two intervals, and does not hold in two */
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
	return hg_predicate_integer(comparison->attno, comparison->order, set);
}

/* The same of bytes. */
static HgPredicate *
hg_comparison_predicate_bytes(const HgComparison *comparison, int nconstants,
							  const Datum *constants, bool all)
{
	HgPredicate **args;

	if (comparison->strategy == BTEqualStrategyNumber && comparison->negated == all)
	{
		HgBytes *bytes = palloc(Max(nconstants, 1) * sizeof(HgBytes));

		for (int i = 0; i < nconstants; i++)
			bytes[i] = hg_predicate_value(comparison->order, constants[i]);
		return hg_predicate_equal(comparison->attno, comparison->order, nconstants, bytes, all);
	}
	args = palloc(Max(nconstants, 1) * sizeof(HgPredicate *));
	for (int i = 0; i < nconstants; i++)
		args[i] = hg_comparison_bytes(comparison, constants[i]);
	return hg_predicate_combine(all ? HG_PREDICATE_AND : HG_PREDICATE_OR, nconstants, args);
}

/* Either of them, of constants that are not NULL, at least one. */
static HgPredicate *
hg_comparison_predicate(const HgComparison *comparison, int nconstants, const Datum *constants,
						bool all)
{
	Datum *fetched;

	if (hg_order_is_integer(comparison->order) || comparison->order == HG_ORDER_NUMERIC)
		return hg_comparison_predicate_integers(comparison, nconstants, constants, all);
	if (comparison->order == HG_ORDER_UUID)
		return hg_comparison_predicate_bytes(comparison, nconstants, constants, all);
	/* the expression's constants are as they were: it lives longer than what is fetched here */
	fetched = palloc(nconstants * sizeof(Datum));
	for (int i = 0; i < nconstants; i++)
		fetched[i] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(constants[i]));
	return hg_comparison_predicate_bytes(comparison, nconstants, fetched, all);
}

/* "column LIKE pattern", where the pattern has no wildcards but % at its end. */
static HgPredicate *
hg_predicate_from_like(Node *column, const Const *pattern, Oid collation, bool negated)
{
	Oid type;
	AttrNumber attno = hg_clause_column(column, &type);
	HgBytes bytes;
	int length;

	if (attno == 0 || pattern->consttype != TEXTOID || !OidIsValid(collation) ||
		!get_collation_isdeterministic(collation))
		return NULL;
	bytes = hg_predicate_value(HG_ORDER_TEXT,
							   PointerGetDatum(PG_DETOAST_DATUM_PACKED(pattern->constvalue)));
	length = bytes.length;
	while (length > 0 && bytes.data[length - 1] == '%')
		length--;
	for (int i = 0; i < length; i++)
		if (bytes.data[i] == '%' || bytes.data[i] == '_' || bytes.data[i] == '\\')
			return NULL;
	/* the blanks at the end of a char(n) count here */
	if (length == bytes.length)
		return hg_predicate_equal(attno, HG_ORDER_TEXT, 1, &bytes, negated);
	bytes.length = length;
	return hg_predicate_prefix(attno, HG_ORDER_TEXT, bytes, negated);
}

static inline bool
hg_clause_is_like(Oid opno)
{
	return opno == OID_TEXT_LIKE_OP || opno == OID_BPCHAR_LIKE_OP;
}

/* "column operator column". */
static HgPredicate *
hg_predicate_from_columns(const OpExpr *op, bool negated)
{
	HgComparison comparison;
	AttrNumber other;
	Oid type;
	HgIntervals *set;

	other = hg_clause_column(lsecond(op->args), &type);
	if (other == 0 || !hg_comparison_init(&comparison, linitial(op->args), type, op->opno,
										  op->inputcollid, negated))
		return NULL;
	if (!hg_order_is_shared(comparison.type, type))
		return NULL;
	/* the order of the two is compared with 0 */
	comparison.type = comparison.other_type = INT8OID;
	set = hg_comparison_intervals(&comparison, Int64GetDatum(0));
	return hg_predicate_order(comparison.attno, comparison.order, other, set);
}

static HgPredicate *
hg_predicate_from_operator(const OpExpr *op, bool holds)
{
	Node *left;
	Node *right;
	Oid opno = op->opno;
	HgComparison comparison;
	Const *constant;

	if (list_length(op->args) != 2)
		return NULL;
	left = linitial(op->args);
	right = lsecond(op->args);
	if (IsA(left, Const))
	{
		Node *swap = left;

		left = right;
		right = swap;
		opno = get_commutator(opno);
	}
	if (!IsA(right, Const))
		return hg_predicate_from_columns(op, !holds);
	constant = (Const *) right;
	/* all operators that are understood are strict */
	if (hg_clause_is_like(opno) || (OidIsValid(opno) && hg_clause_is_like(get_negator(opno))))
		return constant->constisnull ? hg_predicate_constant(false)
									 : hg_predicate_from_like(left, constant, op->inputcollid,
															  hg_clause_is_like(opno) != holds);
	if (!hg_comparison_init(&comparison, left, constant->consttype, opno, op->inputcollid, !holds))
		return NULL;
	if (constant->constisnull)
		return hg_predicate_constant(false);
	return hg_comparison_predicate(&comparison, 1, &constant->constvalue, false);
}

/* "column IS DISTINCT FROM constant". */
static HgPredicate *
hg_predicate_from_distinct(const DistinctExpr *distinct, bool holds)
{
	OpExpr equal = *distinct;
	HgPredicate *predicate;

	if (!IsA(lsecond(distinct->args), Const) || ((Const *) lsecond(distinct->args))->constisnull)
		return NULL;
	equal.xpr.type = T_OpExpr;
	predicate = hg_predicate_from_operator(&equal, true);
	return holds && predicate != NULL ? hg_predicate_not(predicate) : predicate;
}

/* "column operator ANY (array)", or ALL. */
static HgPredicate *
hg_predicate_from_array(const ScalarArrayOpExpr *op, bool holds)
{
	const Const *constant = lsecond(op->args);
	/* some comparison is to hold, or all of them are; for FALSE, not to hold */
	bool all = op->useOr != holds;
	HgComparison comparison;
	ArrayType *array;
	int16 length;
	bool by_value;
	char align;
	Datum *values;
	bool *nulls;
	int nvalues;
	int n = 0;

	if (!IsA(constant, Const))
		return NULL;
	if (constant->constisnull)
		return hg_predicate_constant(false);
	array = DatumGetArrayTypeP(constant->constvalue);
	if (!hg_comparison_init(&comparison, linitial(op->args), ARR_ELEMTYPE(array), op->opno,
							op->inputcollid, !holds))
		return NULL;
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align, &values, &nulls,
					  &nvalues);
	for (int i = 0; i < nvalues; i++)
	{
		/* a comparison with NULL neither holds nor does not */
		if (nulls[i] && all)
			return hg_predicate_constant(false);
		if (!nulls[i])
			values[n++] = values[i];
	}
	/* an empty array is not even compared with NULL */
	if (n == 0)
		return hg_predicate_constant(all);
	return hg_comparison_predicate(&comparison, n, values, all);
}

/* All arguments, or one of them. */
static HgPredicate *
hg_predicate_from_list(List *clauses, HgPredicateKind kind, bool holds)
{
	HgPredicate **args = palloc(list_length(clauses) * sizeof(HgPredicate *));
	int n = 0;
	ListCell *lc;

	foreach (lc, clauses)
	{
		args[n] = hg_predicate_from_clause(lfirst(lc), holds);
		if (args[n++] == NULL)
			return NULL;
	}
	return hg_predicate_combine(kind, n, args);
}

static HgPredicate *
hg_predicate_from_bool(const BoolExpr *expr, bool holds)
{
	switch (expr->boolop)
	{
		case AND_EXPR:
			return hg_predicate_from_list(expr->args, holds ? HG_PREDICATE_AND : HG_PREDICATE_OR,
										  holds);
		case OR_EXPR:
			return hg_predicate_from_list(expr->args, holds ? HG_PREDICATE_OR : HG_PREDICATE_AND,
										  holds);
		default:
			return hg_predicate_from_clause(linitial(expr->args), !holds);
	}
}

/* Is a test for NULL of a boolean expression in an expression? */
static bool
hg_clause_asks_unknown(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, BooleanTest) && (((BooleanTest *) node)->booltesttype == IS_UNKNOWN ||
								   ((BooleanTest *) node)->booltesttype == IS_NOT_UNKNOWN))
		return true;
	if (IsA(node, NullTest) && exprType((Node *) ((NullTest *) node)->arg) == BOOLOID &&
		!IsA(((NullTest *) node)->arg, Var))
		return true;
	return expression_tree_walker(node, hg_clause_asks_unknown, context);
}

/*
 * A boolean expression is NULL, or is not.  That takes two predicates of the expression, and twice
 * as many with each such test that is inside of another, which is not taken.
 */
static HgPredicate *
hg_predicate_from_unknown(Node *arg, bool unknown)
{
	HgPredicate *either[2];
	HgPredicate *known;

	if (hg_clause_asks_unknown(arg, NULL))
		return NULL;
	either[0] = hg_predicate_from_clause(arg, true);
	either[1] = hg_predicate_from_clause(arg, false);
	if (either[0] == NULL || either[1] == NULL)
		return NULL;
	known = hg_predicate_combine(HG_PREDICATE_OR, 2, either);
	return unknown ? hg_predicate_not(known) : known;
}

static HgPredicate *
hg_predicate_from_null_test(const NullTest *test, bool holds)
{
	bool is_null = (test->nulltesttype == IS_NULL) == holds;
	Node *arg = (Node *) test->arg;

	if (test->argisrow)
		return NULL;
	while (IsA(arg, RelabelType))
		arg = (Node *) ((RelabelType *) arg)->arg;
	if (IsA(arg, Var))
		return ((Var *) arg)->varattno > 0 ? hg_predicate_null(((Var *) arg)->varattno, is_null)
										   : NULL;
	return exprType(arg) == BOOLOID ? hg_predicate_from_unknown(arg, is_null) : NULL;
}

static HgPredicate *
hg_predicate_from_boolean_test(const BooleanTest *test, bool holds)
{
	Node *arg = (Node *) test->arg;
	bool negated = !holds;
	HgPredicate *predicate;

	switch (test->booltesttype)
	{
		case IS_UNKNOWN:
		case IS_NOT_UNKNOWN:
			return hg_predicate_from_unknown(arg, (test->booltesttype == IS_UNKNOWN) == holds);
		case IS_NOT_TRUE:
			negated = !negated;
			/* FALLTHROUGH */
		case IS_TRUE:
			predicate = hg_predicate_from_clause(arg, true);
			break;
		case IS_NOT_FALSE:
			negated = !negated;
			/* FALLTHROUGH */
		default:
			predicate = hg_predicate_from_clause(arg, false);
			break;
	}
	return negated && predicate != NULL ? hg_predicate_not(predicate) : predicate;
}

HgPredicate *
hg_predicate_from_clause(Node *clause, bool holds)
{
	Oid type;
	AttrNumber attno;

	check_stack_depth();
	switch (nodeTag(clause))
	{
		case T_Const:
			return hg_predicate_constant(!((Const *) clause)->constisnull &&
										 DatumGetBool(((Const *) clause)->constvalue) == holds);
		case T_Var:
			attno = hg_clause_column(clause, &type);
			if (attno == 0 || type != BOOLOID)
				return NULL;
			return hg_predicate_integer(attno, HG_ORDER_SIGNED, hg_intervals_between(holds, holds));
		case T_OpExpr:
			return hg_predicate_from_operator((OpExpr *) clause, holds);
		case T_DistinctExpr:
			return hg_predicate_from_distinct((DistinctExpr *) clause, holds);
		case T_ScalarArrayOpExpr:
			return hg_predicate_from_array((ScalarArrayOpExpr *) clause, holds);
		case T_BoolExpr:
			return hg_predicate_from_bool((BoolExpr *) clause, holds);
		case T_NullTest:
			return hg_predicate_from_null_test((NullTest *) clause, holds);
		case T_BooleanTest:
			return hg_predicate_from_boolean_test((BooleanTest *) clause, holds);
		default:
			return NULL;
	}
}
