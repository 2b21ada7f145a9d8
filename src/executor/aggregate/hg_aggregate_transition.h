/*-------------------------------------------------------------------------
 *
 * hg_aggregate_transition.h
 *	  Aggregates that run their own functions: transition, combine, serialize and final.
 *
 * Errors of these functions are raised.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_TRANSITION_H
#define HG_AGGREGATE_TRANSITION_H

#include "fmgr.h"
#include "nodes/primnodes.h"

/* What is needed to call an aggregate's own functions. */
typedef struct HgTransition
{
	FmgrInfo advance;
	FmgrInfo finish;	  /* final or serialize function; invalid fn_oid: the value is the result */
	FmgrInfo combine;	  /* after hg_transition_find_combine(); otherwise fn_oid is invalid */
	FmgrInfo serialize;	  /* the same, if internal */
	FmgrInfo deserialize; /* the same, if internal */
	Oid collation;
	Node *agg_context;	/* fcinfo context of functions whose states live in states */
	Node *temp_context; /* fcinfo context of functions whose states live in temporary */
	MemoryContext states;
	MemoryContext temporary;
	int16 value_len; /* typlen of the transition type */
	bool value_byval;
	bool internal;	 /* the transition type is internal */
	bool serialized; /* it is, and values of states are byteas of the serialize function */
	Datum initial;
	bool initial_null;
} HgTransition;

/* The state of a transition function.  Zeros: no value was taken. */
typedef struct HgTransitionState
{
	Datum value;
	bool null;
	bool started; /* value and null are valid; otherwise the state is the initial value */
} HgTransitionState;

/*
 * Looks up the functions of an Aggref, in CurrentMemoryContext.  By-reference values of states
 * live in states.  The transition function runs in temporary, which is reset after each call.
 */
extern HgTransition *hg_transition_create(const Aggref *aggref, MemoryContext states,
										  MemoryContext temporary);

/*
 * Looks up the functions to combine and to serialize states as well, which some functions below
 * need.
 */
extern void hg_transition_find_combine(HgTransition *transition, const Aggref *aggref);

/*
 * Returns a copy in CurrentMemoryContext, for combined states whose by-reference values live in
 * states.  States of type internal are serialized ones, because combine functions of core's do not
 * free all that they allocate beside a state.
 */
extern HgTransition *hg_transition_for_combined(const HgTransition *transition,
												MemoryContext states);

/* Advances a state by one value, as PostgreSQL does: strict functions skip NULL. */
extern void hg_transition_advance(HgTransition *transition, HgTransitionState *state, Datum value,
								  bool null);

/*
 * Calls the combine function: state, of a transition for combined states, takes all values of
 * other, which is a state of source and does not change.  If state has no value yet, it becomes a
 * copy of other.
 */
extern void hg_transition_merge(HgTransition *transition, HgTransitionState *state,
								HgTransition *source, const HgTransitionState *other);

/* Returns the value of a state of type internal as a bytea, in CurrentMemoryContext. */
extern Datum hg_transition_serialize(HgTransition *transition, Datum state);

/*
 * Returns the value of a state, which is not NULL, as the aggregate's functions take it.  That of a
 * serialized state is in CurrentMemoryContext.
 */
extern Datum hg_transition_value(HgTransition *transition, const HgTransitionState *state);

/*
 * Returns the result of the final function for a state, or of the serialize function if the Aggref
 * is partial.  Sets *isnull.
 */
extern Datum hg_transition_finish(HgTransition *transition, const HgTransitionState *state,
								  bool *isnull);

/*
 * Returns the result of the sum of count values, combined with rest: the state of values summed
 * beside them (NULL: none).  The values are int8 if scale is negative; otherwise they are numerics
 * of that display scale, and sum is scaled by 10^scale.
 *
 * Only the aggregate's functions know what a state looks like inside.  So the state is made from
 * count values that have this sum: two neighbouring values, each repeated by doubling states.
 */
extern Datum hg_transition_finish_sum(HgTransition *transition, uint64 count, int128 sum, int scale,
									  const HgTransitionState *rest, bool *isnull);

#endif /* HG_AGGREGATE_TRANSITION_H */
