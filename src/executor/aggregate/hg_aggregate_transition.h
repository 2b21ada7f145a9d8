/*-------------------------------------------------------------------------
 *
 * hg_aggregate_transition.h
 *	  Aggregates that run their own functions: transition, combine, serialize, final.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_TRANSITION_H
#define HG_AGGREGATE_TRANSITION_H

#include "fmgr.h"
#include "nodes/primnodes.h"

/* What calls an aggregate's own functions. */
typedef struct HgTransition
{
	FmgrInfo advance;
	FmgrInfo finish;  /* or serialize; fn_oid invalid where the value itself is the result */
	FmgrInfo combine; /* of partial sums; else fn_oid is invalid */
	Oid collation;
	Node *agg_context;	/* tells the functions where states live */
	Node *temp_context; /* ... and where those that are to be combined do */
	MemoryContext states;
	MemoryContext temporary;
	int16 value_len; /* of the transition type */
	bool value_byval;
	Datum initial;
	bool initial_null;
} HgTransition;

/* The state of a transition function; zeros: it has taken no value. */
typedef struct HgTransitionState
{
	Datum value;
	bool null;
	bool started; /* the above is valid; before, it is the initial value */
} HgTransitionState;

/*
 * What calls the functions of an Aggref, in CurrentMemoryContext: what is by reference in their
 * states lives in states, and what they leave behind goes to temporary.
 */
extern HgTransition *hg_transition_create(const Aggref *aggref, MemoryContext states,
										  MemoryContext temporary);

/* Have its states be combined too: for hg_transition_finish_sum(). */
extern void hg_transition_find_combine(HgTransition *transition, const Aggref *aggref);

/* Call the transition function for one value. */
extern void hg_transition_advance(HgTransition *transition, HgTransitionState *state, Datum value,
								  bool null);

/* The result of a state, or what its serialize function makes of it where that is wanted. */
extern Datum hg_transition_finish(HgTransition *transition, const HgTransitionState *state,
								  bool *isnull);

/*
 * The same of a sum of count values, and of those that a state (or NULL: none) has taken beside
 * them.  They are int8s, or where scale is not negative numerics with that display scale, whose
 * sum is scaled by 10^scale.  How a state looks inside is the function's affair: it is made of as
 * many values that have this sum, two neighbours, and doubled as often as takes it there.
 */
extern Datum hg_transition_finish_sum(HgTransition *transition, uint64 count, int128 sum, int scale,
									  const HgTransitionState *rest, bool *isnull);

#endif /* HG_AGGREGATE_TRANSITION_H */
