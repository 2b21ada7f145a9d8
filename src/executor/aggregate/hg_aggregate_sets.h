/*-------------------------------------------------------------------------
 *
 * hg_aggregate_sets.h
 *	  Grouping sets: groups of some columns, combined from groups of more columns.
 *
 * The rows of the input make the groups of the first set.  When they are complete, the node
 * combines them to those of other sets (hg_aggregate_combine()) and returns them; then
 * hg_aggregate_next_set() makes the next set current.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_SETS_H
#define HG_AGGREGATE_SETS_H

#include "batch/hg_batch.h"
#include "executor/aggregate/hg_aggregate_function.h"
#include "executor/aggregate/hg_aggregate_groups.h"
#include "executor/aggregate/hg_aggregate_spill.h"

typedef struct HgAggregateState HgAggregateState; /* hg_aggregate_state.h */
typedef struct HgFunction HgFunction;
typedef struct HgResult HgResult;

/* A grouping set and its groups, which have the columns of all sets; NULL if the set lacks them. */
typedef struct HgGroupingSet
{
	Bitmapset *parents;	 /* numbers of the sets that its groups are combined from; NULL: rows */
	bool keys_only;		 /* its groups have no states and no values but its keys */
	bool returned;		 /* its groups are returned; otherwise other sets are combined from them */
	bool has_sets;		 /* other sets are combined from its groups */
	bool never_empty;	 /* it has one group even of no rows */
	bool shared;		 /* processes below a Gather share its groups (hg_aggregate_shared.h) */
	int distinct;		 /* number of the DISTINCT column that its groups have; or -1 */
	bool takes_distinct; /* it has no DISTINCT column, and its parents' groups have some */
	int filter;			 /* if it is made of rows: index of the filter that they pass; -1: none */
	bool *lacks;		 /* [columns of a batch] a column of GROUP BY that it lacks */
	double expected;	 /* number of its groups */
	Datum *groupings;	 /* [ngroupings] values of the GROUPING() calls for its groups */

	HgGroups *groups;
	HgAggregateSpill *spill;
	HgFunction *functions; /* [functions of the node] whose states are in these groups */
	HgResult *results;	   /* [results of the node] */
} HgGroupingSet;

/* The grouping sets of a node.  A GROUP BY without sets is one set, and so is no GROUP BY. */
typedef struct HgAggregateSets
{
	int nkeys;
	HgGroupKey *keys; /* [nkeys] the columns of GROUP BY, then the DISTINCT columns */
	int count;
	HgGroupingSet *sets; /* [count] a set follows its parents; the first one is made of rows */
	int of_rows;		 /* number of sets that are made of rows */
	int current;		 /* number of the set whose groups are made or returned */
	uint32 combined;	 /* number of its groups from which other sets need nothing more */
	int ngroupings;		 /* number of GROUPING() calls */
	uint64 share; /* part of the budget in bytes for the groups of one set; 0: there is one set */
	/*
	 * groups as rows: the columns of the input, then packed states, which are NULL if the groups
	 * have none, then the number of the DISTINCT column that the groups have
	 */
	HgBatch *rows;
	bool **nulls;		  /* [columns of rows] its flags for columns that a set has */
	bool *all_null;		  /* [HG_BATCH_ROWS] its flags for columns that a set lacks */
	HgGroup *empty;		  /* a group without values, and with the states of no rows */
	MemoryContext packed; /* what is needed for one batch: packed states, temporary values */
} HgAggregateSets;

/*
 * Creates the sets of the node's plan, in CurrentMemoryContext.  The first one has the state's
 * groups, functions, results and spill, which are set up.
 */
extern void hg_aggregate_begin_sets(HgAggregateState *state);

/* Returns the current set. */
static inline HgGroupingSet *
hg_aggregate_set(const HgAggregateSets *sets)
{
	return &sets->sets[sets->current];
}

/* Returns true if memory is full for the groups of a set. */
extern bool hg_aggregate_is_full(const HgAggregateState *state, const HgGroupingSet *set);

/* Starts to write rows of a set without a group in memory to files (hg_aggregate_spill.h). */
extern void hg_aggregate_start_spill(HgAggregateState *state, const HgGroupingSet *set);

/* Makes the first set current, and removes the groups and files of the other ones. */
extern void hg_aggregate_reset_sets(HgAggregateState *state);

/*
 * Makes the next set current, whose groups in memory are complete, and removes those of the last
 * one.  Returns false if there is no further set.
 */
extern bool hg_aggregate_next_set(HgAggregateState *state);

/*
 * Combines up to a batch of groups of the current set, from number sets.combined on, to those of
 * the sets that have it as a parent, and advances sets.combined past them.  May free the groups
 * before them.
 */
extern void hg_aggregate_combine(HgAggregateState *state);

/*
 * Makes groups of a set that is made of rows and has keys only: of the rows selected[count] of a
 * batch, or of the first count rows if selected is NULL.
 */
extern void hg_aggregate_take_keys(HgAggregateState *state, HgGroupingSet *set,
								   const HgBatch *batch, const uint16 *selected, int count);

/*
 * Combines groups of the current set, not the first one, with packed groups: the batch that
 * hg_aggregate_spill_read() has read.
 */
extern void hg_aggregate_take_packed(HgAggregateState *state);

/* hg_aggregate_combine.c: combining and packing the states of groups */

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
 * functions are for combined states (hg_transition_for_combined()).  The group is in
 * CurrentMemoryContext with all that its states refer to.
 */
extern HgGroup *hg_states_unpack(const HgGroups *groups, int nfunctions,
								 const HgFunction *functions, Datum packed);

#endif /* HG_AGGREGATE_SETS_H */
