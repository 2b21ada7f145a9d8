/*-------------------------------------------------------------------------
 *
 * hg_join_cover_replica.h
 *	  Device replicas of the graphs and columns of covered rows: which devices a join asks.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_COVER_REPLICA_H
#define HG_JOIN_COVER_REPLICA_H

#include "backend/matcher/hg_matcher_spec.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/*
 * Adds to a matcher's specification which devices have replicas of both sides' graphs, and of the
 * columns that it needs: whole replicas, or a partition on each of several devices.  If no device
 * has both graphs, requests copies on common devices for later joins.
 */
extern void hg_join_add_replicas(HgJoinState *state, HgMatcherSpec *spec);

/*
 * Returns true if devices are known to have replicas of all columns that groups of the matches
 * need.  Missing columns are requested and loaded in the background.
 */
extern bool hg_join_has_replica_columns(const HgJoinState *state);

/* Records which replicas a device reported missing when the matcher asked it. */
extern void hg_join_report_missing(const HgJoinState *state);

/*
 * Asks idle devices to start, for later joins, if the graph of a side is partitioned and no device
 * is asked now.  An idle device has no partition of the graph.
 */
extern void hg_join_wake_partitions(const HgJoinState *state);

#endif /* HG_JOIN_COVER_REPLICA_H */
