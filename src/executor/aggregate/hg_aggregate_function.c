/*-------------------------------------------------------------------------
 *
 * hg_aggregate_function.c
 *	  Aggregate functions over batches: their description, and which inputs they accept.
 *
 * Counts, sums and averages of integers, and minima and maxima of types that compare as integers,
 * are computed inline, by loops over a batch's columns.  Their results equal those of PostgreSQL's
 * own functions to the last digit:
 *
 *	sum(int2), sum(int4)	an int8, which wraps as PostgreSQL's does
 *	sum(int8)				a numeric, from a sum of 128 bits
 *	sum(numeric)			a numeric: a sum of 128 bits in units of the greatest display scale
 *							(hg_numeric.h), and for values that are too large for it the
 *							state of PostgreSQL's transition function
 *	min, max(numeric)		a scaled integer of the display scale that came first, and for other
 *							values the state of PostgreSQL's transition function
 *	avg						numeric_div of the sum by the count, as in PostgreSQL
 *
 * All other aggregates call their own transition function for each value
 * (hg_aggregate_transition.c), which saves forming the row, but no arithmetic.
 *
 * A state of zeros has seen no row.  States are flat, except that by-reference values of
 * transition functions live in the groups' memory context.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_type.h"
#include "utils/fmgroids.h"

#include "backend/hg_privilege.h"
#include "executor/aggregate/hg_aggregate_function.h"
#include "executor/aggregate/hg_aggregate_sums.h"
#include "hg_guc.h"

/* ---------------------------------------------------------------------
 * Which aggregate functions the node computes, and how
 * ---------------------------------------------------------------------
 */

/* In one piece: a case for each aggregate of PostgreSQL. */
HgAggregateKind
hg_aggregate_kind(Oid function)
{
	switch (function)
	{
		case F_COUNT_:
		case F_COUNT_ANY:
			return HG_AGGREGATE_COUNT;

		case F_SUM_INT2:
		case F_SUM_INT4:
			return HG_AGGREGATE_SUM_INT;

		case F_AVG_INT2:
		case F_AVG_INT4:
			return HG_AGGREGATE_AVG_INT;

		case F_SUM_INT8:
			return HG_AGGREGATE_SUM_BIGINT;

		case F_AVG_INT8:
			return HG_AGGREGATE_AVG_BIGINT;

		case F_SUM_NUMERIC:
			return HG_AGGREGATE_SUM_NUMERIC;

		case F_AVG_NUMERIC:
			return HG_AGGREGATE_AVG_NUMERIC;

		case F_MIN_INT2:
		case F_MIN_INT4:
		case F_MIN_INT8:
		case F_MIN_OID:
		case F_MIN_DATE:
		case F_MIN_TIME:
		case F_MIN_TIMESTAMP:
		case F_MIN_TIMESTAMPTZ:
		case F_MIN_MONEY:
			return HG_AGGREGATE_MIN;

		case F_MAX_INT2:
		case F_MAX_INT4:
		case F_MAX_INT8:
		case F_MAX_OID:
		case F_MAX_DATE:
		case F_MAX_TIME:
		case F_MAX_TIMESTAMP:
		case F_MAX_TIMESTAMPTZ:
		case F_MAX_MONEY:
			return HG_AGGREGATE_MAX;

		case F_MIN_NUMERIC:
			return HG_AGGREGATE_MIN_NUMERIC;

		case F_MAX_NUMERIC:
			return HG_AGGREGATE_MAX_NUMERIC;

		case F_SUM_INTERVAL:
		case F_AVG_INTERVAL:
		case F_SUM_MONEY:
		case F_MIN_FLOAT4:
		case F_MIN_FLOAT8:
		case F_MIN_TIMETZ:
		case F_MIN_INTERVAL:
		case F_MIN_TEXT:
		case F_MIN_BPCHAR:
		case F_MIN_INET:
		case F_MIN_PG_LSN:
		case F_MIN_XID8:
		case F_MIN_TID:
		case F_MAX_FLOAT4:
		case F_MAX_FLOAT8:
		case F_MAX_TIMETZ:
		case F_MAX_INTERVAL:
		case F_MAX_TEXT:
		case F_MAX_BPCHAR:
		case F_MAX_INET:
		case F_MAX_PG_LSN:
		case F_MAX_XID8:
		case F_MAX_TID:
		case F_BOOL_AND:
		case F_BOOL_OR:
		case F_EVERY:
		case F_BIT_AND_INT2:
		case F_BIT_AND_INT4:
		case F_BIT_AND_INT8:
		case F_BIT_AND_BIT:
		case F_BIT_OR_INT2:
		case F_BIT_OR_INT4:
		case F_BIT_OR_INT8:
		case F_BIT_OR_BIT:
		case F_BIT_XOR_INT2:
		case F_BIT_XOR_INT4:
		case F_BIT_XOR_INT8:
		case F_BIT_XOR_BIT:
		case F_VARIANCE_INT2:
		case F_VARIANCE_INT4:
		case F_VARIANCE_INT8:
		case F_VARIANCE_NUMERIC:
		case F_VAR_SAMP_INT2:
		case F_VAR_SAMP_INT4:
		case F_VAR_SAMP_INT8:
		case F_VAR_SAMP_NUMERIC:
		case F_VAR_POP_INT2:
		case F_VAR_POP_INT4:
		case F_VAR_POP_INT8:
		case F_VAR_POP_NUMERIC:
		case F_STDDEV_INT2:
		case F_STDDEV_INT4:
		case F_STDDEV_INT8:
		case F_STDDEV_NUMERIC:
		case F_STDDEV_SAMP_INT2:
		case F_STDDEV_SAMP_INT4:
		case F_STDDEV_SAMP_INT8:
		case F_STDDEV_SAMP_NUMERIC:
		case F_STDDEV_POP_INT2:
		case F_STDDEV_POP_INT4:
		case F_STDDEV_POP_INT8:
		case F_STDDEV_POP_NUMERIC:
			return HG_AGGREGATE_TRANSITION;

		case F_SUM_FLOAT4:
		case F_SUM_FLOAT8:
		case F_AVG_FLOAT4:
		case F_AVG_FLOAT8:
		case F_VARIANCE_FLOAT4:
		case F_VARIANCE_FLOAT8:
		case F_VAR_SAMP_FLOAT4:
		case F_VAR_SAMP_FLOAT8:
		case F_VAR_POP_FLOAT4:
		case F_VAR_POP_FLOAT8:
		case F_STDDEV_FLOAT4:
		case F_STDDEV_FLOAT8:
		case F_STDDEV_SAMP_FLOAT4:
		case F_STDDEV_SAMP_FLOAT8:
		case F_STDDEV_POP_FLOAT4:
		case F_STDDEV_POP_FLOAT8:
			return hg_float_sums ? HG_AGGREGATE_TRANSITION : HG_AGGREGATE_UNSUPPORTED;

		default:
			return HG_AGGREGATE_UNSUPPORTED;
	}
}

/* Returns how a Datum holds a value of the argument type of an inline aggregate. */
static HgWordType
hg_word_type(Oid type)
{
	switch (type)
	{
		case INT2OID:
			return HG_WORD_INT2;
		case INT4OID:
		case DATEOID:
			return HG_WORD_INT4;
		case OIDOID:
			return HG_WORD_UINT4;
		case INT8OID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case CASHOID:
			return HG_WORD_INT8;
		default:
			elog(ERROR, "unexpected type %u of an aggregate's argument", type);
	}
}

void
hg_function_init(HgFunction *function, const Aggref *aggref, Size *offset, MemoryContext states,
				 MemoryContext temporary)
{
	/* an aggregate that the planner has made, not the user, has no number */
	if (aggref->aggno >= 0)
		hg_privilege_check_aggregate(aggref);
	function->kind = hg_aggregate_kind(aggref->aggfnoid);
	function->partial = DO_AGGSPLIT_SKIPFINAL(aggref->aggsplit);
	function->distinct = -1;
	function->offset = *offset;
	switch (function->kind)
	{
		case HG_AGGREGATE_COUNT:
			*offset += sizeof(int64);
			break;
		case HG_AGGREGATE_SUM_INT:
		case HG_AGGREGATE_AVG_INT:
			function->word = hg_word_type(linitial_oid(aggref->aggargtypes));
			*offset += sizeof(HgSumState);
			break;
		case HG_AGGREGATE_SUM_BIGINT:
		case HG_AGGREGATE_AVG_BIGINT:
			function->word = HG_WORD_INT8;
			if (function->partial)
				function->transition = hg_transition_create(aggref, states, temporary);
			*offset += sizeof(HgBigSumState);
			break;
		case HG_AGGREGATE_SUM_NUMERIC:
		case HG_AGGREGATE_AVG_NUMERIC:
			function->transition = hg_transition_create(aggref, states, temporary);
			*offset += sizeof(HgNumericState);
			break;
		case HG_AGGREGATE_MIN:
		case HG_AGGREGATE_MAX:
			function->word = hg_word_type(linitial_oid(aggref->aggargtypes));
			*offset += sizeof(HgExtremeState);
			break;
		case HG_AGGREGATE_MIN_NUMERIC:
		case HG_AGGREGATE_MAX_NUMERIC:
			function->transition = hg_transition_create(aggref, states, temporary);
			*offset += sizeof(HgNumericExtremeState);
			break;
		default:
			/* hashgraph.float_sums may be off by now, but the plan decides */
			function->kind = HG_AGGREGATE_TRANSITION;
			function->transition = hg_transition_create(aggref, states, temporary);
			*offset += sizeof(HgTransitionState);
			break;
	}
	*offset = MAXALIGN(*offset);
	/* partial results are states that only the aggregate's own functions can make */
	if (function->partial && hg_aggregate_is_sum(function->kind) && function->transition != NULL)
		hg_transition_find_combine(function->transition, aggref);
}

bool
hg_function_takes_numbers(const HgFunction *function)
{
	return function->kind != HG_AGGREGATE_TRANSITION;
}

bool
hg_function_takes_arrays(const HgFunction *function)
{
	/* a count of rows, or of a column */
	if (function->kind == HG_AGGREGATE_COUNT)
		return function->filter < 0 && function->argument == NULL;
	return hg_aggregate_is_of_integers(function->kind) && function->filter < 0 &&
		   function->column >= 0;
}
