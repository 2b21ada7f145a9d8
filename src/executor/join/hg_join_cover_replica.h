/*-------------------------------------------------------------------------
 *
 * hg_join_cover_replica.h
 *	  What devices keep of the rows that a join covers.
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
 * Tells a matcher which devices keep the graphs of both sides' covered rows, and the columns that
 * it needs of them: each all of it, or several a partition each.  Where none do, the replicas are
 * brought together, for joins to come.
 */
extern void hg_join_tell_replicas(HgJoinState *state, HgMatcherSpec *spec);

/*
 * True if devices are known to have replicas of all columns that groups of the matches need.  Those
 * that they lack are asked for, and come in the background.
 */
extern bool hg_join_has_replica_columns(const HgJoinState *state);

/*
 * A matcher has asked: note where a device does not have a replica any more that it was known to
 * have.
 */
extern void hg_join_note_missed(const HgJoinState *state);

/*
 * No device is asked: where the graph of a side is partitioned, devices that rest, and so have no
 * partition of it, are to come up, for joins to come.
 */
extern void hg_join_wake_partitions(const HgJoinState *state);

#endif /* HG_JOIN_COVER_REPLICA_H */
