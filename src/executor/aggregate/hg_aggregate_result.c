/*-------------------------------------------------------------------------
 *
 * hg_aggregate_result.c
 *	  Results of aggregate functions, computed from their states.
 *
 * PARTIAL RESULTS.  Below a Gather the node returns states, which core's Finalize Aggregate
 * combines.  They have the form that the aggregates' own combine functions accept.  If only the
 * aggregate's own functions know that form, they make the state.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "batch/hg_numeric.h"
#include "executor/aggregate/hg_aggregate_result.h"
#include "executor/aggregate/hg_aggregate_sums.h"

/* Sums of int8 and of numerics, as numerics. */
static Datum
hg_big_sum(const HgBigSumState *state)
{
	return hg_numeric_integer(hg_big_sum_of(state));
}

static Datum
hg_numeric_total(const HgNumericState *state)
{
	Datum sum = hg_numeric_make(hg_numeric_sum_of(state), state->scale);

	if (!state->rest.started)
		return sum;
	return DirectFunctionCall2(numeric_add, sum,
							   DirectFunctionCall1(numeric_sum, state->rest.value));
}

/* Returns sum / count as a numeric. */
static Datum
hg_average(Datum sum, int64 count)
{
	return DirectFunctionCall2(numeric_div, sum, NumericGetDatum(int64_to_numeric(count)));
}

/* Returns the state of avg(int2) and avg(int4) in the form of PostgreSQL's own functions. */
static Datum
hg_average_state(const HgSumState *state)
{
	Datum values[] = {Int64GetDatum(state->count), Int64GetDatum(state->sum)};

	return PointerGetDatum(construct_array(values, lengthof(values), INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static Datum
hg_word_datum(int64 value, HgWordType type)
{
	switch (type)
	{
		case HG_WORD_INT2:
			return Int16GetDatum((int16) value);
		case HG_WORD_INT4:
			return Int32GetDatum((int32) value);
		case HG_WORD_UINT4:
			return UInt32GetDatum((uint32) value);
		case HG_WORD_INT8:
			break;
	}
	return Int64GetDatum(value);
}

/* Returns the kind whose state a kind uses: an average uses that of a sum. */
static HgAggregateKind
hg_function_state_kind(HgAggregateKind kind)
{
	switch (kind)
	{
		case HG_AGGREGATE_AVG_INT:
			return HG_AGGREGATE_SUM_INT;
		case HG_AGGREGATE_AVG_BIGINT:
			return HG_AGGREGATE_SUM_BIGINT;
		case HG_AGGREGATE_AVG_NUMERIC:
			return HG_AGGREGATE_SUM_NUMERIC;
		default:
			return kind;
	}
}

bool
hg_function_has_state_of(const HgFunction *function, HgAggregateKind kind)
{
	return kind != HG_AGGREGATE_TRANSITION &&
		   hg_function_state_kind(function->kind) == hg_function_state_kind(kind);
}

/* Returns the extreme, after adding the scaled integer to the rest.  Repeated calls do no harm. */
static Datum
hg_numeric_extreme(const HgFunction *function, HgNumericExtremeState *state, bool *isnull)
{
	if (state->any)
		hg_transition_advance(function->transition, &state->rest,
							  hg_numeric_make(state->scaled, state->scale), false);
	return hg_transition_finish(function->transition, &state->rest, isnull);
}

Datum
hg_function_finish(const HgFunction *function, HgAggregateKind kind, HgGroup *group, bool *isnull)
{
	void *at = (char *) group + function->offset;
	const HgSumState *sum = at;
	const HgBigSumState *big = at;
	const HgNumericState *numeric = at;
	const HgExtremeState *extreme = at;

	if (function->partial)
		switch (kind)
		{
			case HG_AGGREGATE_AVG_INT:
				*isnull = false;
				return hg_average_state(sum);
			case HG_AGGREGATE_SUM_BIGINT:
			case HG_AGGREGATE_AVG_BIGINT:
				return hg_transition_finish_sum(function->transition, big->count,
												hg_big_sum_of(big), -1, NULL, isnull);
			case HG_AGGREGATE_SUM_NUMERIC:
			case HG_AGGREGATE_AVG_NUMERIC:
				return hg_transition_finish_sum(function->transition, numeric->summed,
												hg_numeric_sum_of(numeric), numeric->scale,
												&numeric->rest, isnull);
			default:
				break;
		}
	switch (kind)
	{
		case HG_AGGREGATE_COUNT:
			*isnull = false;
			return Int64GetDatum(*(const int64 *) at);
		case HG_AGGREGATE_SUM_INT:
			*isnull = sum->count == 0;
			return Int64GetDatum(sum->sum);
		case HG_AGGREGATE_AVG_INT:
			*isnull = sum->count == 0;
			return *isnull ? (Datum) 0
						   : hg_average(NumericGetDatum(int64_to_numeric(sum->sum)), sum->count);
		case HG_AGGREGATE_SUM_BIGINT:
			*isnull = big->count == 0;
			return *isnull ? (Datum) 0 : hg_big_sum(big);
		case HG_AGGREGATE_AVG_BIGINT:
			*isnull = big->count == 0;
			return *isnull ? (Datum) 0 : hg_average(hg_big_sum(big), big->count);
		case HG_AGGREGATE_SUM_NUMERIC:
			*isnull = numeric->count == 0;
			return *isnull ? (Datum) 0 : hg_numeric_total(numeric);
		case HG_AGGREGATE_AVG_NUMERIC:
			*isnull = numeric->count == 0;
			return *isnull ? (Datum) 0 : hg_average(hg_numeric_total(numeric), numeric->count);
		case HG_AGGREGATE_MIN:
		case HG_AGGREGATE_MAX:
			*isnull = !extreme->any;
			return hg_word_datum(extreme->value, function->word);
		case HG_AGGREGATE_MIN_NUMERIC:
		case HG_AGGREGATE_MAX_NUMERIC:
			return hg_numeric_extreme(function, at, isnull);
		default:
			return hg_transition_finish(function->transition, at, isnull);
	}
}

HgScaledSum
hg_function_scaled(const HgFunction *function, const HgGroup *group)
{
	const HgNumericState *state =
		(const HgNumericState *) ((const char *) group + function->offset);

	return (HgScaledSum){.scaled = hg_numeric_sum_of(state),
						 .scale = state->scale,
						 .isnull = state->count == 0,
						 .known = !state->rest.started};
}
