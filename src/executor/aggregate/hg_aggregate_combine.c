/*-------------------------------------------------------------------------
 *
 * hg_aggregate_combine.c
 *	  States of aggregates that are combined with each other, and states as bytes.
 *
 * A combined state is the one that the values of both states would have made: sums of integers and
 * of scaled numerics are added, and states of transition functions go to the aggregate's combine
 * function.
 *
 * PACKED STATES.  The bytes are those of the states in the group, followed by the value of each
 * state of a transition function that lies outside of it.  A value of type internal is serialized.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "lib/stringinfo.h"
#include "utils/datum.h"

#include "executor/aggregate/hg_aggregate_advance.h"
#include "executor/aggregate/hg_aggregate_sets.h"
#include "executor/aggregate/hg_aggregate_sums.h"

/* Returns the part of a function's state that a transition function makes; NULL: there is none. */
static HgTransitionState *
hg_function_transition_state(const HgFunction *function, HgGroup *group)
{
	void *at = (char *) group + function->offset;

	switch (function->kind)
	{
		case HG_AGGREGATE_SUM_NUMERIC:
		case HG_AGGREGATE_AVG_NUMERIC:
			return &((HgNumericState *) at)->rest;
		case HG_AGGREGATE_MIN_NUMERIC:
		case HG_AGGREGATE_MAX_NUMERIC:
			return &((HgNumericExtremeState *) at)->rest;
		case HG_AGGREGATE_TRANSITION:
			return at;
		default:
			return NULL;
	}
}

/* ---------------------------------------------------------------------
 * Combining
 * ---------------------------------------------------------------------
 */

static void
hg_combine_sum(HgSumState *to, const HgSumState *from)
{
	to->count += from->count;
	to->sum = (int64) ((uint64) to->sum + (uint64) from->sum);
}

static void
hg_combine_extreme(HgExtremeState *to, const HgExtremeState *from, bool greatest)
{
	if (!from->any)
		return;
	if (!to->any || (greatest ? from->value > to->value : from->value < to->value))
		to->value = from->value;
	to->any = true;
}

static void
hg_combine_numeric(const HgFunction *function, const HgFunction *source, HgGroup *to, HgGroup *from)
{
	HgNumericState *state = (HgNumericState *) ((char *) to + function->offset);
	const HgNumericState *other = (const HgNumericState *) ((char *) from + function->offset);

	hg_function_merge_scaled(function, to, other->summed, hg_numeric_sum_of(other), other->scale);
	state->count += other->count - other->summed;
	hg_transition_merge(function->transition, &state->rest, source->transition, &other->rest);
}

static void
hg_combine_numeric_extreme(const HgFunction *function, const HgFunction *source, HgGroup *to,
						   HgGroup *from)
{
	HgNumericExtremeState *state = (HgNumericExtremeState *) ((char *) to + function->offset);
	const HgNumericExtremeState *other =
		(const HgNumericExtremeState *) ((char *) from + function->offset);

	if (other->any)
		hg_numeric_extreme_take(function, state, other->scaled, other->scale,
								function->kind == HG_AGGREGATE_MAX_NUMERIC);
	hg_transition_merge(function->transition, &state->rest, source->transition, &other->rest);
}

/* Combines the states of one group with those of another one. */
static inline void
hg_function_combine_group(const HgFunction *function, const HgFunction *source, HgGroup *to,
						  HgGroup *from)
{
	void *state = (char *) to + function->offset;
	void *other = (char *) from + function->offset;

	switch (function->kind)
	{
		case HG_AGGREGATE_COUNT:
			*(int64 *) state += *(const int64 *) other;
			break;
		case HG_AGGREGATE_SUM_INT:
		case HG_AGGREGATE_AVG_INT:
			hg_combine_sum(state, other);
			break;
		case HG_AGGREGATE_SUM_BIGINT:
		case HG_AGGREGATE_AVG_BIGINT:
			hg_big_sum_take(state, ((const HgBigSumState *) other)->count, hg_big_sum_of(other));
			break;
		case HG_AGGREGATE_SUM_NUMERIC:
		case HG_AGGREGATE_AVG_NUMERIC:
			hg_combine_numeric(function, source, to, from);
			break;
		case HG_AGGREGATE_MIN:
			hg_combine_extreme(state, other, false);
			break;
		case HG_AGGREGATE_MAX:
			hg_combine_extreme(state, other, true);
			break;
		case HG_AGGREGATE_MIN_NUMERIC:
		case HG_AGGREGATE_MAX_NUMERIC:
			hg_combine_numeric_extreme(function, source, to, from);
			break;
		default:
			hg_transition_merge(function->transition, state, source->transition, other);
			break;
	}
}

void
hg_function_combine(const HgFunction *function, const HgFunction *source, int count,
					HgGroup *const *to, HgGroup *const *from)
{
	for (int i = 0; i < count; i++)
		if (to[i] != NULL)
			hg_function_combine_group(function, source, to[i], from[i]);
}

/* ---------------------------------------------------------------------
 * States as bytes
 * ---------------------------------------------------------------------
 */

/* Returns true if a state has a value outside of the group. */
static inline bool
hg_transition_is_outside(const HgTransition *transition, const HgTransitionState *state)
{
	return state->started && !state->null && (transition->internal || !transition->value_byval);
}

/* Estimated bytes of a state of type internal. */
#define HG_INTERNAL_STATE_BYTES 256

Size
hg_states_outside(int nfunctions, const HgFunction *functions, HgGroup *group)
{
	Size bytes = 0;

	for (int f = 0; f < nfunctions; f++)
	{
		const HgTransition *transition = functions[f].transition;
		const HgTransitionState *state = hg_function_transition_state(&functions[f], group);

		if (state != NULL && hg_transition_is_outside(transition, state))
			bytes += transition->internal && !transition->serialized
						 ? HG_INTERNAL_STATE_BYTES
						 : datumGetSize(state->value, false, transition->value_len);
	}
	return bytes;
}

Datum
hg_states_pack(const HgGroups *groups, int nfunctions, const HgFunction *functions, HgGroup *group)
{
	Size bytes = groups->group_bytes - groups->states_offset;
	StringInfoData packed;

	packed.maxlen = (int) (VARHDRSZ + bytes + hg_states_outside(nfunctions, functions, group) + 1);
	packed.data = palloc(packed.maxlen);
	resetStringInfo(&packed);
	/* the header */
	appendStringInfoSpaces(&packed, VARHDRSZ);
	appendBinaryStringInfo(&packed, (char *) group + groups->states_offset, (int) bytes);
	for (int f = 0; f < nfunctions; f++)
	{
		HgTransition *transition = functions[f].transition;
		const HgTransitionState *state = hg_function_transition_state(&functions[f], group);
		Datum value;
		int length;

		if (state == NULL || !hg_transition_is_outside(transition, state))
			continue;
		length = transition->value_len;
		value = state->value;
		if (transition->internal && !transition->serialized)
		{
			value = hg_transition_serialize(transition, value);
			length = -1;
		}
		appendBinaryStringInfo(&packed, DatumGetPointer(value),
							   (int) datumGetSize(value, false, length));
	}
	SET_VARSIZE(packed.data, packed.len);
	return PointerGetDatum(packed.data);
}

HgGroup *
hg_states_unpack(const HgGroups *groups, int nfunctions, const HgFunction *functions, Datum packed)
{
	HgGroup *group = palloc0(groups->group_bytes);
	const char *next = VARDATA_ANY(DatumGetPointer(packed));
	Size bytes = groups->group_bytes - groups->states_offset;

	memcpy((char *) group + groups->states_offset, next, bytes);
	next += bytes;
	for (int f = 0; f < nfunctions; f++)
	{
		const HgTransition *transition = functions[f].transition;
		HgTransitionState *state = hg_function_transition_state(&functions[f], group);

		if (state == NULL || !hg_transition_is_outside(transition, state))
			continue;
		bytes = datumGetSize(PointerGetDatum(next), false, transition->value_len);
		state->value = PointerGetDatum(memcpy(palloc(bytes), next, bytes));
		next += bytes;
	}
	return group;
}
