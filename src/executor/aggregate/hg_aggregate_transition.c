/*-------------------------------------------------------------------------
 *
 * hg_aggregate_transition.c
 *	  Aggregates that run their own functions: transition, combine, serialize and final.
 *
 * Functions are called as PostgreSQL's executor does it.  A strict function sees no NULL, one
 * without an initial value starts with the first value that is not NULL, and AggCheckCallContext()
 * returns the memory in which states live.
 *
 * If the function returns another by-reference value than it was given, the value is copied to
 * that memory.  Anything else that the function allocates is in temporary memory, which is freed
 * with the row.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "batch/hg_numeric.h"
#include "executor/aggregate/hg_aggregate_transition.h"

/* ---------------------------------------------------------------------
 * Setting up
 * ---------------------------------------------------------------------
 */

/* Returns an fcinfo context from which AggCheckCallContext() gets the memory of states. */
static Node *
hg_transition_context(MemoryContext states)
{
	AggState *agg = makeNode(AggState);

	agg->curaggcontext = makeNode(ExprContext);
	agg->curaggcontext->ecxt_per_tuple_memory = states;
	return (Node *) agg;
}

/* Returns the initial value of a transition type from its text. */
static Datum
hg_transition_initial(Oid type, char *string)
{
	Oid input;
	Oid parameter;

	getTypeInputInfo(type, &input, &parameter);
	return OidInputFunctionCall(input, string, parameter, -1);
}

HgTransition *
hg_transition_create(const Aggref *aggref, MemoryContext states, MemoryContext temporary)
{
	HgTransition *transition = palloc0(sizeof(HgTransition));
	HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	Form_pg_aggregate aggregate;
	Oid finish;
	Datum initial;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	aggregate = (Form_pg_aggregate) GETSTRUCT(tuple);
	fmgr_info(aggregate->aggtransfn, &transition->advance);
	finish = aggregate->aggfinalfn;
	if (DO_AGGSPLIT_SKIPFINAL(aggref->aggsplit))
		finish = aggref->aggtranstype == INTERNALOID ? aggregate->aggserialfn : InvalidOid;
	if (OidIsValid(finish))
		fmgr_info(finish, &transition->finish);
	initial =
		SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval, &transition->initial_null);
	if (!transition->initial_null)
	{
		char *string = TextDatumGetCString(initial);

		transition->initial = hg_transition_initial(aggref->aggtranstype, string);
		pfree(string);
	}
	ReleaseSysCache(tuple);

	transition->collation = aggref->inputcollid;
	transition->agg_context = hg_transition_context(states);
	transition->states = states;
	transition->temporary = temporary;
	get_typlenbyval(aggref->aggtranstype, &transition->value_len, &transition->value_byval);
	transition->internal = aggref->aggtranstype == INTERNALOID;
	return transition;
}

void
hg_transition_find_combine(HgTransition *transition, const Aggref *aggref)
{
	HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	Form_pg_aggregate aggregate;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	aggregate = (Form_pg_aggregate) GETSTRUCT(tuple);
	fmgr_info(aggregate->aggcombinefn, &transition->combine);
	if (transition->internal)
	{
		fmgr_info(aggregate->aggserialfn, &transition->serialize);
		fmgr_info(aggregate->aggdeserialfn, &transition->deserialize);
	}
	ReleaseSysCache(tuple);
	transition->temp_context = hg_transition_context(transition->temporary);
}

HgTransition *
hg_transition_for_combined(const HgTransition *transition, MemoryContext states)
{
	HgTransition *copy = palloc(sizeof(HgTransition));

	*copy = *transition;
	copy->states = states;
	copy->agg_context = hg_transition_context(states);
	if (copy->internal)
	{
		copy->serialized = true;
		copy->value_byval = false;
		copy->value_len = -1;
	}
	return copy;
}

/* ---------------------------------------------------------------------
 * States in temporary memory
 * ---------------------------------------------------------------------
 */

/* Returns two states of a transition function combined, in temporary memory; 0: no state. */
static Datum
hg_transition_combine(HgTransition *transition, Datum to, Datum state)
{
	LOCAL_FCINFO(fcinfo, 2);

	InitFunctionCallInfoData(*fcinfo, &transition->combine, 2, transition->collation,
							 transition->temp_context, NULL);
	fcinfo->args[0].value = to;
	fcinfo->args[0].isnull = to == (Datum) 0;
	fcinfo->args[1].value = state;
	fcinfo->args[1].isnull = state == (Datum) 0;
	return FunctionCallInvoke(fcinfo);
}

/* Returns the state that has seen a value times times, in temporary memory; 0 if times is 0. */
static Datum
hg_transition_repeat(HgTransition *transition, Datum value, uint64 times)
{
	LOCAL_FCINFO(fcinfo, 2);
	Datum once;
	Datum state = (Datum) 0;

	if (times == 0)
		return state;
	InitFunctionCallInfoData(*fcinfo, &transition->advance, 2, transition->collation,
							 transition->temp_context, NULL);
	fcinfo->args[0].value = (Datum) 0;
	fcinfo->args[0].isnull = true;
	fcinfo->args[1].value = value;
	fcinfo->args[1].isnull = false;
	once = FunctionCallInvoke(fcinfo);
	for (int bit = pg_leftmost_one_pos64(times); bit >= 0; bit--)
	{
		/* a copy, because no state may be combined with itself */
		Datum same = hg_transition_combine(transition, (Datum) 0, state);

		state = hg_transition_combine(transition, state, same);
		if ((times >> bit & 1) != 0)
			state = hg_transition_combine(transition, state, once);
	}
	return state;
}

/* ---------------------------------------------------------------------
 * Taking values and states
 * ---------------------------------------------------------------------
 */

/* Copies a value of the transition type to the memory of states. */
static Datum
hg_transition_copy(const HgTransition *transition, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(transition->states);

	value = datumCopy(value, transition->value_byval, transition->value_len);
	MemoryContextSwitchTo(old);
	return value;
}

/*
 * Calls a transition or combine function for a state and a value, and makes the result the state.
 */
static void
hg_transition_call(HgTransition *transition, FmgrInfo *function, HgTransitionState *state,
				   Datum value, bool null)
{
	LOCAL_FCINFO(fcinfo, 2);
	MemoryContext old;
	Datum result;

	InitFunctionCallInfoData(*fcinfo, function, 2, transition->collation, transition->agg_context,
							 NULL);
	fcinfo->args[0].value = state->value;
	fcinfo->args[0].isnull = state->null;
	fcinfo->args[1].value = value;
	fcinfo->args[1].isnull = null;
	old = MemoryContextSwitchTo(transition->temporary);
	result = FunctionCallInvoke(fcinfo);
	MemoryContextSwitchTo(old);

	if (!transition->value_byval && (fcinfo->isnull || result != state->value || state->null))
	{
		if (!fcinfo->isnull)
			result = hg_transition_copy(transition, result);
		if (!state->null)
			pfree(DatumGetPointer(state->value));
	}
	state->value = fcinfo->isnull ? (Datum) 0 : result;
	state->null = fcinfo->isnull;
	MemoryContextReset(transition->temporary);
}

Datum
hg_transition_serialize(HgTransition *transition, Datum state)
{
	LOCAL_FCINFO(fcinfo, 1);

	InitFunctionCallInfoData(*fcinfo, &transition->serialize, 1, InvalidOid,
							 transition->agg_context, NULL);
	fcinfo->args[0].value = state;
	fcinfo->args[0].isnull = false;
	return FunctionCallInvoke(fcinfo);
}

Datum
hg_transition_value(HgTransition *transition, const HgTransitionState *state)
{
	LOCAL_FCINFO(fcinfo, 2);

	if (!transition->serialized)
		return state->value;
	InitFunctionCallInfoData(*fcinfo, &transition->deserialize, 2, InvalidOid,
							 transition->agg_context, NULL);
	fcinfo->args[0].value = state->value;
	fcinfo->args[0].isnull = false;
	/* an argument that only says that the function returns a state */
	fcinfo->args[1].value = (Datum) 0;
	fcinfo->args[1].isnull = false;
	return FunctionCallInvoke(fcinfo);
}

/* Lets a serialized state take all values of a state of type internal.  Resets temporary. */
static void
hg_transition_take_internal(HgTransition *transition, HgTransitionState *state, Datum other)
{
	MemoryContext old = MemoryContextSwitchTo(transition->temporary);
	Datum value = other;

	if (state->started && !state->null)
	{
		value = hg_transition_combine(transition, hg_transition_value(transition, state), other);
		pfree(DatumGetPointer(state->value));
	}
	state->value = hg_transition_copy(transition, hg_transition_serialize(transition, value));
	state->null = false;
	state->started = true;
	MemoryContextSwitchTo(old);
	MemoryContextReset(transition->temporary);
}

void
hg_transition_merge(HgTransition *transition, HgTransitionState *state, HgTransition *source,
					const HgTransitionState *other)
{
	if (!other->started)
		return;
	if (transition->serialized)
	{
		MemoryContext old = MemoryContextSwitchTo(transition->temporary);

		/* combine functions take a NULL of type internal as no state */
		if (other->null)
			state->null = state->null || !state->started;
		else
			hg_transition_take_internal(transition, state, hg_transition_value(source, other));
		state->started = true;
		MemoryContextSwitchTo(old);
		return;
	}
	if (!state->started || (transition->combine.fn_strict && state->null && !other->null))
	{
		*state = *other;
		if (!state->null)
			state->value = hg_transition_copy(transition, other->value);
		return;
	}
	if (transition->combine.fn_strict && other->null)
		return;
	hg_transition_call(transition, &transition->combine, state, other->value, other->null);
}

void
hg_transition_advance(HgTransition *transition, HgTransitionState *state, Datum value, bool null)
{
	if (unlikely(transition->serialized))
	{
		MemoryContext old;

		/* transition functions with states of type internal ignore NULLs */
		if (null)
			return;
		old = MemoryContextSwitchTo(transition->temporary);
		hg_transition_take_internal(transition, state, hg_transition_repeat(transition, value, 1));
		MemoryContextSwitchTo(old);
		return;
	}
	if (!state->started)
	{
		state->null = transition->initial_null;
		state->value =
			state->null ? (Datum) 0 : hg_transition_copy(transition, transition->initial);
		/* a strict function without an initial value starts with the first value */
		if (state->null && transition->advance.fn_strict)
		{
			if (null)
				return;
			state->value = hg_transition_copy(transition, value);
			state->null = false;
			state->started = true;
			return;
		}
		state->started = true;
	}
	if (transition->advance.fn_strict && (null || state->null))
		return;
	hg_transition_call(transition, &transition->advance, state, value, null);
}

/* ---------------------------------------------------------------------
 * Results
 * ---------------------------------------------------------------------
 */

Datum
hg_transition_finish(HgTransition *transition, const HgTransitionState *state, bool *isnull)
{
	LOCAL_FCINFO(fcinfo, 1);
	Datum result;

	fcinfo->args[0].value = state->started ? state->value : transition->initial;
	fcinfo->args[0].isnull = state->started ? state->null : transition->initial_null;
	*isnull = fcinfo->args[0].isnull;
	if (transition->serialized && !*isnull)
		fcinfo->args[0].value = hg_transition_value(transition, state);
	if (!OidIsValid(transition->finish.fn_oid) || (*isnull && transition->finish.fn_strict))
		return fcinfo->args[0].value;
	InitFunctionCallInfoData(*fcinfo, &transition->finish, 1, transition->collation,
							 transition->agg_context, NULL);
	result = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	return result;
}

/* ---------------------------------------------------------------------
 * Results of sums
 * ---------------------------------------------------------------------
 */

/* Returns the Datum of a value that is summed, from its scaled integer. */
static Datum
hg_transition_summand(int128 scaled, int scale)
{
	return scale >= 0 ? hg_numeric_make(scaled, scale) : Int64GetDatum((int64) scaled);
}

/* Returns the state that has seen count values, at least one, with this sum. */
static Datum
hg_transition_sum(HgTransition *transition, uint64 count, int128 sum, int scale)
{
	int128 value = sum / (int128) count;
	uint64 greater;
	Datum low;

	if (value * (int128) count > sum)
		value--;
	greater = (uint64) (sum - value * (int128) count);
	low = hg_transition_repeat(transition, hg_transition_summand(value, scale), count - greater);
	if (greater == 0)
		return low;
	return hg_transition_combine(
		transition, low,
		hg_transition_repeat(transition, hg_transition_summand(value + 1, scale), greater));
}

Datum
hg_transition_finish_sum(HgTransition *transition, uint64 count, int128 sum, int scale,
						 const HgTransitionState *rest, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(transition->temporary);
	HgTransitionState state = {.null = true, .started = true};
	Datum result;

	if (count > 0)
		state.value = hg_transition_sum(transition, count, sum, scale);
	if (rest != NULL && rest->started)
		state.value = hg_transition_combine(transition, state.value, rest->value);
	state.null = state.value == (Datum) 0;
	MemoryContextSwitchTo(old);
	result = hg_transition_finish(transition, &state, isnull);
	MemoryContextReset(transition->temporary);
	return result;
}
