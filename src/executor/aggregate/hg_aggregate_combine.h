/*-------------------------------------------------------------------------
 *
 * hg_aggregate_combine.h
 *	  States of aggregates that are combined with each other, and states as bytes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_COMBINE_H
#define HG_AGGREGATE_COMBINE_H

#include "executor/aggregate/hg_aggregate_function.h"
#include "executor/aggregate/hg_aggregate_groups.h"

/*
 * Combines a function's states: the state of to[i] takes all values of from[i], for i < count.  If
 * to[i] is NULL, nothing is done.  The states of to are of function, those of from are of source:
 * the same function of the node, with other memory.  The transition of function is for combined
 * states (hg_transition_for_combined()).  The values of from do not change.
 */
extern void hg_function_combine(const HgFunction *function, const HgFunction *source, int count,
								HgGroup *const *to, HgGroup *const *from);

/*
 * Returns the size in bytes of what a group's states have outside of the group.  It is an estimate
 * for states of type internal.
 */
extern Size hg_states_outside(int nfunctions, const HgFunction *functions, HgGroup *group);

/* Returns the states of a group as a bytea, in CurrentMemoryContext. */
extern Datum hg_states_pack(const HgGroups *groups, int nfunctions, const HgFunction *functions,
							HgGroup *group);

/*
 * Returns a group with the states that hg_states_pack() has packed, without values and hash.  The
 * functions are for combined states.  The group is in CurrentMemoryContext with all that its states
 * refer to.
 */
extern HgGroup *hg_states_unpack(const HgGroups *groups, int nfunctions,
								 const HgFunction *functions, Datum packed);

#endif /* HG_AGGREGATE_COMBINE_H */
