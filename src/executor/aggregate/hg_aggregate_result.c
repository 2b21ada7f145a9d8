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
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "batch/hg_bound_params.h"
#include "batch/hg_numeric.h"
#include "batch/hg_predicate.h"
#include "executor/aggregate/hg_aggregate_advance.h"
#include "executor/aggregate/hg_aggregate_result.h"
#include "executor/aggregate/hg_aggregate_state.h"
#include "executor/aggregate/hg_aggregate_sums.h"

/* Sums of int8 and of numerics, as numerics. */
static Datum
hg_big_sum(const HgBigSumState *state)
{
	return hg_numeric_integer(hg_big_sum_of(state));
}

static Datum
hg_numeric_total(const HgFunction *function, const HgNumericState *state)
{
	Datum sum = hg_numeric_make(hg_numeric_sum_of(state), state->scale);

	if (!state->rest.started)
		return sum;
	return DirectFunctionCall2(
		numeric_add, sum,
		DirectFunctionCall1(numeric_sum, hg_transition_value(function->transition, &state->rest)));
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
			return *isnull ? (Datum) 0 : hg_numeric_total(function, numeric);
		case HG_AGGREGATE_AVG_NUMERIC:
			*isnull = numeric->count == 0;
			return *isnull ? (Datum) 0
						   : hg_average(hg_numeric_total(function, numeric), numeric->count);
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

int64
hg_aggregate_copies(const HgFunction *function, SetOpCmd command, const HgGroup *group)
{
	const HgSumState *state = (const HgSumState *) ((const char *) group + function->offset);
	int64 right = state->sum;
	int64 left = state->count - right;

	switch (command)
	{
		case SETOPCMD_INTERSECT:
			return left > 0 && right > 0;
		case SETOPCMD_INTERSECT_ALL:
			return Min(left, right);
		case SETOPCMD_EXCEPT:
			return left > 0 && right == 0;
		case SETOPCMD_EXCEPT_ALL:
			return Max(left - right, 0);
	}
	elog(ERROR, "unexpected set operation %d", (int) command);
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

/* ---------------------------------------------------------------------
 * HAVING, evaluated for many groups at a time
 *
 * HAVING is a predicate over the columns of the node's scan slot (hg_aggregate_advance.h).  When
 * the first group of a batch of groups is asked about, it is evaluated for all of them.  The batch
 * has only results that need no memory: integers, and sums of numerics as scaled integers of one
 * scale.  Groups that pass, or whose outcome is unknown, are evaluated one by one.
 * ---------------------------------------------------------------------
 */

struct HgAggregateHaving
{
	HgColumnFilter *filter;
	int nindexes;		 /* number of columns of the scan slot that the filter uses */
	int *column_indexes; /* [nindexes] their indexes in the scan slot and in batch */
	HgBatch *batch;		 /* values of the groups */

	/* outcome for the groups first .. first + batch->nrows - 1 */
	uint32 first;
	bool passes[HG_BATCH_ROWS];	 /* [batch->nrows] */
	bool recheck[HG_BATCH_ROWS]; /* [batch->nrows] */
};

/* Returns true if a result can be computed from its state without allocating memory. */
static bool
hg_result_is_cheap(const HgResult *result)
{
	switch (result->kind)
	{
		case HG_AGGREGATE_COUNT:
		case HG_AGGREGATE_SUM_INT:
		case HG_AGGREGATE_MIN:
		case HG_AGGREGATE_MAX:
			return true;
		default:
			return hg_result_is_scaled(result);
	}
}

/* Returns true if a column of the scan slot is the value of a GROUPING() call. */
static inline bool
hg_is_grouping(const HgAggregateState *state, int column_index)
{
	return column_index >= state->first_result + state->nresults;
}

HgAggregateHaving *
hg_aggregate_begin_having(HgAggregateState *state)
{
	const PlanState *plan = &state->css.ss.ps;
	TupleDesc desc = state->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	Expr *qual = make_ands_explicit(plan->plan->qual);
	HgAggregateHaving *having;
	HgColumnFilter *filter;
	int *attnos = palloc(desc->natts * sizeof(int));
	bool *used = palloc0(desc->natts * sizeof(bool));

	if (plan->plan->qual == NIL)
		return NULL;
	for (int column_index = 0; column_index < desc->natts; column_index++)
		attnos[column_index] = column_index + 1;
	filter = hg_column_filter_create((Expr *) hg_bind_params((Node *) qual, plan->state, false),
									 desc, desc->natts, attnos);
	if (filter == NULL)
		return NULL;
	having = palloc0(sizeof(HgAggregateHaving));
	having->filter = filter;
	having->column_indexes = palloc(desc->natts * sizeof(int));
	hg_column_filter_take_scaled(filter, used);
	for (int column_index = 0; column_index < desc->natts; column_index++)
	{
		if (!used[column_index])
			continue;
		if (column_index >= state->first_result && !hg_is_grouping(state, column_index) &&
			!hg_result_is_cheap(&state->results[column_index - state->first_result]))
			return NULL;
		having->column_indexes[having->nindexes++] = column_index;
	}
	having->batch = hg_batch_create_partial(desc->natts, having->nindexes, having->column_indexes);
	return having;
}

void
hg_aggregate_forget_having(HgAggregateHaving *having)
{
	having->batch->nrows = 0;
}

/* Copies a group column to the batch. */
static void
hg_having_add_column(HgAggregateState *state, int column_index)
{
	HgAggregateHaving *having = state->having;
	HgGroups *groups = state->groups;
	HgBatch *batch = having->batch;
	int value = 0;

	while (state->attnos[groups->columns[value]] != column_index + 1)
	{
		value++;
		Assert(value < groups->nvalues);
	}
	for (int i = 0; i < batch->nrows; i++)
	{
		HgGroup *group = hg_groups_get(groups, having->first + i);

		batch->values[column_index][i] = group->values[value];
		batch->nulls[column_index][i] = hg_group_nulls(groups, group)[value];
	}
}

/* Converts an integer from scale from to scale to.  Returns false if 64 bits do not hold it. */
static bool
hg_having_scale(Datum *value, int from, int to)
{
	int128 scaled = DatumGetInt64(*value);

	if (!hg_numeric_scale_up(&scaled, to - from) || scaled != (int64) scaled)
		return false;
	*value = Int64GetDatum((int64) scaled);
	return true;
}

/* Adds sums of numerics in their greatest scale.  Sets unknown[] for sums that do not fit. */
static void
hg_having_add_scaled(HgAggregateState *state, int column_index, const HgFunction *function,
					 bool *unknown)
{
	HgAggregateHaving *having = state->having;
	HgBatch *batch = having->batch;
	Datum *values = batch->values[column_index];
	bool *nulls = batch->nulls[column_index];
	int scales[HG_BATCH_ROWS];
	int greatest = 0;
	bool differ = false;

	for (int i = 0; i < batch->nrows; i++)
	{
		HgScaledSum sum =
			hg_function_scaled(function, hg_groups_get(state->groups, having->first + i));
		bool fits =
			sum.known && sum.scale <= HG_PREDICATE_SCALE && sum.scaled == (int64) sum.scaled;

		nulls[i] = sum.isnull;
		values[i] = fits ? Int64GetDatum((int64) sum.scaled) : Int64GetDatum(0);
		unknown[i] |= !fits && !sum.isnull;
		scales[i] = fits ? sum.scale : 0;
		greatest = Max(greatest, scales[i]);
		differ |= scales[i] != scales[0];
	}
	batch->scales[column_index] = greatest;
	for (int i = 0; differ && i < batch->nrows; i++)
		if (!nulls[i] && !unknown[i] && !hg_having_scale(&values[i], scales[i], greatest))
			unknown[i] = true;
}

static void
hg_having_add_result(HgAggregateState *state, int column_index, bool *unknown)
{
	const HgResult *result = &state->results[column_index - state->first_result];
	HgAggregateHaving *having = state->having;
	HgBatch *batch = having->batch;

	if (hg_is_grouping(state, column_index))
	{
		for (int i = 0; i < batch->nrows; i++)
		{
			batch->values[column_index][i] =
				hg_aggregate_set(&state->sets)
					->groupings[column_index - state->first_result - state->nresults];
			batch->nulls[column_index][i] = false;
		}
		return;
	}
	if (hg_result_is_scaled(result))
	{
		hg_having_add_scaled(state, column_index, result->function, unknown);
		return;
	}
	for (int i = 0; i < batch->nrows; i++)
		batch->values[column_index][i] = hg_function_finish(
			result->function, result->kind, hg_groups_get(state->groups, having->first + i),
			&batch->nulls[column_index][i]);
}

/* Evaluates HAVING for the groups from first on. */
static void
hg_having_apply(HgAggregateState *state, uint32 first)
{
	HgAggregateHaving *having = state->having;
	HgBatch *batch = having->batch;
	bool unknown[HG_BATCH_ROWS];

	having->first = first;
	batch->nrows = (int) Min(state->groups->count - first, HG_BATCH_ROWS);
	memset(unknown, false, batch->nrows * sizeof(bool));
	for (int p = 0; p < having->nindexes; p++)
	{
		int column_index = having->column_indexes[p];

		batch->has_nulls[column_index] = true;
		if (column_index < state->first_result)
			hg_having_add_column(state, column_index);
		else
			hg_having_add_result(state, column_index, unknown);
	}
	hg_column_filter_apply(having->filter, batch, having->passes, having->recheck);
	for (int i = 0; i < batch->nrows; i++)
		having->recheck[i] |= unknown[i];
}

bool
hg_aggregate_is_ruled_out(HgAggregateState *state, uint32 number)
{
	HgAggregateHaving *having = state->having;

	if (number < having->first || number - having->first >= (uint32) having->batch->nrows)
		hg_having_apply(state, number);
	number -= having->first;
	return !having->passes[number] && !having->recheck[number];
}
