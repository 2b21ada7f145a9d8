/*-------------------------------------------------------------------------
 *
 * hg_join_filters.h
 *	  Pending predicates of covered rows, which a device applies to its replicas of columns.
 *
 * Covered rows with a pending predicate (batch/hg_covered.h) go to a device with a filter.  If no
 * filter can be made, because a column has no replica beside the graph, the predicates are applied
 * here.
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

/* Applies the pending predicates to both sides' covered rows. */
extern void hg_join_apply_pending(HgJoinState *state);

/* Makes a matcher apply the pending predicates before it joins covered rows here. */
extern void hg_join_set_pending(HgJoinState *state, HgMatcherSpec *spec);

/* Removes all filters of a side. */
extern void hg_join_clear_filters(HgReplicaCovered *replica);

/*
 * Adds filters for both sides' pending predicates, which must be clear before, to the replicas.
 * Returns the devices out of device_set that have all replicas for them.  Predicates without a
 * filter are applied at once.
 */
extern HgDeviceSet hg_join_add_filters(HgJoinState *state, HgDeviceSet device_set);

/*
 * For a multi-way join whose graphs are known.  hg_star_add_filters() adds filters for the
 * pending predicates of all tables, restricts the graphs' devices to those that can apply them,
 * and sets the tables' strides.  hg_star_apply_others() applies the predicates of tables without a
 * filter, once a device is known to have everything else.
 */
extern void hg_star_add_filters(const HgJoinTree *tree, HgStarGraphs *graphs);
extern void hg_star_apply_others(const HgJoinTree *tree, const HgStarGraphs *graphs);

#endif /* HG_JOIN_FILTERS_H */
