/*-------------------------------------------------------------------------
 *
 * hg_join_replica.h
 *	  Device replicas of covered rows: which devices a join asks, with which columns and filters.
 *
 * A device that has replicas of both sides' graphs joins covered rows without a transfer of keys.
 * Covered rows with a pending predicate (batch/hg_covered.h) go to a device with a filter.  If no
 * filter can be made, because a column has no replica beside the graph, the predicates are applied
 * here.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_REPLICA_H
#define HG_JOIN_REPLICA_H

#include "backend/matcher/hg_matcher_spec.h"
#include "executor/join/hg_join_reduce.h"
#include "resident/hg_resident_graph.h"

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
extern bool hg_join_has_replica_columns(const HgJoinReduction *reduction, HgInput *const inputs[2]);

/*
 * Records in the cache which replicas devices reported missing to the matcher, so that loaders send
 * them again.
 */
extern void hg_join_report_missing(const HgJoinState *state);

/*
 * Asks idle devices to start, for later joins, if the graph of a side is partitioned and no device
 * is asked now.  An idle device has no partition of the graph.
 */
extern void hg_join_wake_partitions(HgInput *const inputs[2]);

/* Applies the pending predicates to both sides' covered rows. */
extern void hg_join_apply_pending(HgInput *const inputs[2]);

/* Lets a matcher apply the pending predicates when it joins covered rows here: sets callbacks. */
extern void hg_join_set_pending(HgJoinState *state, HgMatcherSpec *spec);

/*
 * Adds a filter for the pending predicates of an input's covered rows to a side's replica.  See
 * hg_predicate_filter_add() for lookup, graph and device_set.  Returns false if there are
 * predicates and no filter can be made.
 */
extern bool hg_join_add_filter(HgReplicaCovered *replica, uint32 lookup, const HgInput *input,
							   const HgPinnedGraph *graph, HgDeviceSet *device_set);

/*
 * Returns the devices that have a replica of a column of a graph's rows, and requests such a
 * replica: of their partitions, or with partitions NULL of all rows.  Sets *use and *codes as
 * hg_resident_graph_replica_column() does.
 */
extern HgDeviceSet hg_replica_find_column(const HgPinnedGraph *graph,
										  const HgPartitioning *partitions, AttrNumber number,
										  HgReplicaColumnUse *use, const HgGraphCodes **codes);

/*
 * Records in a side's replica and in codes what a device has of a column: `of` describes its codes
 * or scaled integers; NULL if it has the values themselves.
 */
extern void hg_replica_note_codes(HgReplicaCovered *replica, HgJoinCodes *codes, HgSide side,
								  uint32 column, const HgGraphCodes *of);

/*
 * Adds a program to a side's replica by which a device computes a column as an expression of the
 * reduction.  operands[side][i] describes column i.  parts and stride map row numbers to ordinals
 * (engine/hg_replica.h).  Returns false if the expression cannot be compiled.
 */
extern bool hg_replica_add_computed(HgReplicaCovered *replica, HgJoinCodes *codes, HgSide side,
									uint32 column, const HgJoinReduction *reduction, int expression,
									HgOperand operands[2][HG_MAX_COLUMNS], uint32 parts,
									uint32 stride);

/* Devices that have all of a side's graph, and devices that together have its partitions. */
typedef struct HgSideDevices
{
	HgDeviceSet whole;
	HgDeviceSet partitioned;
} HgSideDevices;

/*
 * Sets at[].partitioned to the devices that have partitions of the sides' graphs, by HgSide, and
 * use and partitions of replica[]; the caller has set at[].whole.  Returns the devices that have
 * partitions of one side, and of the other side either partitions or all of it; 0: none.
 */
extern HgDeviceSet hg_replica_find_partitions(HgPinnedGraph *const graphs[2],
											  HgReplicaCovered replica[2], HgSideDevices at[2]);

/*
 * Requests copies of the two graphs on common devices: of the smaller one where the larger is, or
 * of the one that is not partitioned where the partitions of the other are.
 */
extern void hg_replica_bring_together(HgPinnedGraph *const graphs[2], const HgSideDevices at[2]);

#endif /* HG_JOIN_REPLICA_H */
