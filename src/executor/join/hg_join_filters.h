/*-------------------------------------------------------------------------
 *
 * hg_join_filters.h
 *	  Pending predicates of covered rows, which a device applies to columns that it keeps.
 *
 * Covered rows with a pending predicate (batch/hg_covered.h) go to a device with a filter.  If a
 * filter can't be made, because a column is not kept any more beside the graph on the device, the
 * predicates are applied here.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_FILTERS_H
#define HG_JOIN_FILTERS_H

#include "backend/matcher/hg_matcher_spec.h"
#include "executor/join/hg_join_star_graphs.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/* Applies the pending predicates of both sides' covered rows. */
extern void hg_join_apply_pending(HgJoinState *state);

/* Have a matcher have that done, when it joins them. */
extern void hg_join_tell_pending(HgJoinState *state, HgMatcherSpec *spec);

/* There are none of a side. */
extern void hg_join_clear_filters(HgReplicaCovered *replica);

/*
 * Have the matcher know those of both sides, which are not there yet: the set of devices, or of
 * some of them, that have the replicas for this.
 */
extern HgDeviceSet hg_join_tell_filters(HgJoinState *state, HgDeviceSet device_set);

/*
 * Adds filters for the pending predicates of all tables of a tree, whose graphs are known: of the
 * places there, and with strides that are then those of the tables.  When it is known that a
 * device has all else, the predicates of tables without a filter are to be applied here.
 */
extern void hg_star_tell_filters(const HgJoinTree *tree, HgStarGraphs *graphs);
extern void hg_star_apply_others(const HgJoinTree *tree, const HgStarGraphs *graphs);

#endif /* HG_JOIN_FILTERS_H */
