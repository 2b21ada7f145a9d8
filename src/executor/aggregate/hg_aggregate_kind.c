/*-------------------------------------------------------------------------
 *
 * hg_aggregate_kind.c
 *	  Which aggregate functions the node computes, and how.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/fmgroids.h"

#include "executor/aggregate/hg_aggregate_kind.h"
#include "hg_guc.h"

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
