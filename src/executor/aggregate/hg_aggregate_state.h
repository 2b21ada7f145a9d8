/*-------------------------------------------------------------------------
 *
 * hg_aggregate_state.h
 *	  The aggregate node's state, shared by its files.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_STATE_H
#define HG_AGGREGATE_STATE_H

#include "access/parallel.h"
#include "fmgr.h"
#include "nodes/execnodes.h"

#include "backend/hg_budget.h"
#include "batch/hg_batch.h"
#include "batch/hg_spill.h"
#include "executor/aggregate/hg_aggregate.h"
#include "executor/join/hg_join_explain.h"
#include "executor/join/hg_join_source.h"

/* ---------------------------------------------------------------------
 * hg_aggregate_groups.c: the groups
 * ---------------------------------------------------------------------
 */

/* When values of a group column are equal. */
typedef enum HgGroupKeyKind
{
	HG_GROUP_KEY_WORD,		/* by value: where the bits that count are */
	HG_GROUP_KEY_BYTES,		/* where their bytes are */
	HG_GROUP_KEY_TEXT,		/* varlena: where their bytes are, out of their headers */
	HG_GROUP_KEY_PADDED,	/* ... and without the spaces at their end */
	HG_GROUP_KEY_FUNCTIONS, /* where a function says so */
} HgGroupKeyKind;

/* A group column. */
typedef struct HgGroupKey
{
	int column; /* of the batch */
	HgGroupKeyKind kind;
	uint64 mask;	/* the bits that count, for words */
	Size length;	/* for bytes */
	FmgrInfo hash;	/* for functions */
	FmgrInfo equal; /* for functions */
	Oid collation;
} HgGroupKey;

/*
 * A group: its values, the flags of those that are NULL, and the states of the aggregates,
 * at the offsets that HgGroups knows.
 */
typedef struct HgGroup
{
	uint64 hash;
	Datum values[FLEXIBLE_ARRAY_MEMBER];
} HgGroup;

/* A place in the hash table. */
typedef struct HgGroupSlot
{
	uint32 hash;   /* the low bits of the group's */
	uint32 number; /* of the group, from 1; 0 = free */
} HgGroupSlot;

typedef struct HgGroups
{
	/* as made */
	int nkeys;
	HgGroupKey *keys; /* [nkeys] */
	int nvalues;	  /* group columns, then others that are the same in a group's rows */
	int *columns;	  /* [nvalues] of the batch */
	int16 *attlens;	  /* [nvalues] */
	bool *byvals;	  /* [nvalues] */
	Size nulls_offset;
	Size states_offset;
	Size group_bytes;

	/* what they hold */
	HgCharge charge;
	MemoryContext context;	 /* table and groups; reset with them */
	MemoryContext values;	 /* by-reference values of groups and states; reset with them */
	MemoryContext temporary; /* of hash and equality functions */
	HgGroupSlot *slots;		 /* [mask + 1] */
	uint64 mask;
	char **chunks; /* [nchunks] of 2^chunk_log2 groups */
	int chunk_log2;
	int nchunks;
	int max_chunks;
	char *piece_next; /* where the next chunk goes ... */
	int piece_left;	  /* ... and how many more fit there */
	uint64 bytes;	  /* of slots and pieces */
	uint32 count;
} HgGroups;

/*
 * An empty table, in a context of its own below CurrentMemoryContext.  Values are the
 * columns[nvalues] of batches, the first nkeys of them the keys'; types are those of desc's
 * attributes attnos[columns[i]].  keys[nkeys] is kept.  A group has room for states of
 * state_bytes, which begin as zeros.  What groups and states have by reference lives in values.
 * All of that, and what the table will be when it must grow next, is charged to budget.
 */
extern HgGroups *hg_groups_create(int nkeys, HgGroupKey *keys, int nvalues, const int *columns,
								  TupleDesc desc, const int *attnos, Size state_bytes,
								  MemoryContext values, MemoryContext temporary, HgBudget *budget);

/* Set up a key of a type with an equality operator and a collation: all but its column. */
extern void hg_group_key_init(HgGroupKey *key, Oid equality, Oid collation);

/* The hashes[nrows] of a batch's rows. */
extern void hg_groups_hash(HgGroups *groups, const HgBatch *batch, uint64 *hashes);

/*
 * Find the groups of a batch's rows, which have these hashes.  A row of a group that is not
 * there makes it, where add is set, and gets NULL where not.  New groups are numbered in the order
 * of their rows.
 */
extern void hg_groups_find(HgGroups *groups, const HgBatch *batch, const uint64 *hashes, bool add,
						   HgGroup **found);

/* One more group, of the values of a row, or of none where batch is NULL. */
extern HgGroup *hg_groups_add(HgGroups *groups, const HgBatch *batch, int row, uint64 hash);

/* Forget all groups and free their memory. */
extern void hg_groups_reset(HgGroups *groups);

/* States have grown, or may have: charge what they take now. */
extern void hg_groups_charge(HgGroups *groups);

/* Take out all but the first count groups; none of the others was there when the table last grew.
 */
extern void hg_groups_truncate(HgGroups *groups, uint32 count);

/* A group by its number, from 0. */
static inline HgGroup *
hg_groups_get(const HgGroups *groups, uint32 number)
{
	return (HgGroup *) (groups->chunks[number >> groups->chunk_log2] +
						(number & ((1U << groups->chunk_log2) - 1)) * groups->group_bytes);
}

static inline bool *
hg_group_nulls(const HgGroups *groups, HgGroup *group)
{
	return (bool *) ((char *) group + groups->nulls_offset);
}

/* ---------------------------------------------------------------------
 * hg_aggregate_transition.c: aggregates that run their own functions
 * ---------------------------------------------------------------------
 */

/* What calls an aggregate's own functions. */
typedef struct HgTransition
{
	FmgrInfo advance;
	FmgrInfo finish;  /* or serialize; fn_oid invalid where the value itself is the result */
	FmgrInfo combine; /* of partial sums of int8; else fn_oid is invalid */
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

/* Have its states be combined too: for hg_transition_merge_sum(). */
extern void hg_transition_find_combine(HgTransition *transition, const Aggref *aggref);

/* Call the transition function for one value. */
extern void hg_transition_advance(HgTransition *transition, HgTransitionState *state, Datum value,
								  bool null);

/*
 * Add the sum of count int8s, at least one, to the state of a function that sums them.  How that
 * looks inside is the function's affair: the state is made of as many values that have this
 * sum, two neighbours, and doubled as often as takes it there.
 */
extern void hg_transition_merge_sum(HgTransition *transition, HgTransitionState *state,
									uint64 count, int128 sum);

/* The result of a state, or what its serialize function makes of it where that is wanted. */
extern Datum hg_transition_finish(HgTransition *transition, const HgTransitionState *state,
								  bool *isnull);

/* ---------------------------------------------------------------------
 * hg_aggregate_function.c: aggregate functions
 * ---------------------------------------------------------------------
 */

/* How the integers of an inline aggregate lie in a Datum. */
typedef enum HgWordType
{
	HG_WORD_INT2,
	HG_WORD_INT4,
	HG_WORD_INT8,
	HG_WORD_UINT4
} HgWordType;

typedef struct HgFunction
{
	HgAggregateKind kind;
	bool partial;			  /* the result is the state, for a Finalize Aggregate above */
	HgWordType word;		  /* of the argument of inline ones */
	HgTransition *transition; /* of others, and of sums of numerics */
	Size offset;			  /* of its state in a group */
	int filter;				  /* of the node's, or -1 */
	int column;				  /* of the batch: its argument; or -1 */
	ExprState *argument;	  /* where it is no column; NULL with column -1: rows are counted */
	int16 argument_len;		  /* of the argument's type */
	bool argument_byval;
	Datum *results;		/* [HG_BATCH_ROWS] of a computed argument over the current batch */
	bool *results_null; /* [HG_BATCH_ROWS] */
} HgFunction;

/* Rows of a batch: rows[count], or all of the first count where rows is NULL. */
typedef struct HgSelection
{
	const uint16 *rows;
	int count;
} HgSelection;

/*
 * Set up a function for an Aggref: everything but filter and argument.  Its state goes to
 * *offset, which is moved behind it.  States of by-reference values live in states, what
 * its functions leave behind goes to temporary.
 */
extern void hg_function_init(HgFunction *function, const Aggref *aggref, Size *offset,
							 MemoryContext states, MemoryContext temporary);

/*
 * Take the selected rows: values and nulls (or NULL: none is) of the argument, by row.
 * Row r belongs to groups[r], or where groups is NULL all rows belong to group.
 */
extern void hg_function_advance(const HgFunction *function, HgSelection selection,
								const Datum *values, const bool *nulls, HgGroup *const *groups,
								HgGroup *group);

/* The result for a group, in CurrentMemoryContext or in the group. */
extern Datum hg_function_finish(const HgFunction *function, HgGroup *group, bool *isnull);

/*
 * Take rows that a device has reduced: their number, and the words of the item that tells of the
 * argument's values (hg_engine.h), or NULL where rows are counted.
 */
extern void hg_function_merge(const HgFunction *function, HgGroup *group, uint64 rows,
							  const uint64 *item);

/* Count rows that come without a batch. */
extern void hg_function_count(const HgFunction *function, HgGroup *group, uint64 rows);

/* ---------------------------------------------------------------------
 * The node
 * ---------------------------------------------------------------------
 */

/* Where the node stands; hg_aggregate.c tells the way. */
typedef enum HgAggregatePhase
{
	HG_AGGREGATE_READ,
	HG_AGGREGATE_RETURN,
	HG_AGGREGATE_NEXT_PARTITION,
	HG_AGGREGATE_DONE
} HgAggregatePhase;

/* Rows of groups that did not fit, and the partition that is next. */
typedef struct HgAggregateSpill
{
	HgSpill *spill;
	int next;
} HgAggregateSpill;

/* What was done, over all executions, for EXPLAIN. */
typedef struct HgAggregateRecord
{
	int processes; /* that took rows */
	uint64 groups;
	uint64 memory_bytes; /* the peak of the budget; of all processes */
	uint64 spilled_bytes;
	uint64 partitions;
	uint64 reduced_rows; /* that came in groups from a device */
} HgAggregateRecord;

/* What the processes below a Gather share: no more than what each of them did. */
typedef struct HgAggregateShared
{
	int nprocesses;
	HgAggregateRecord records[FLEXIBLE_ARRAY_MEMBER]; /* [nprocesses], the leader's is unused */
} HgAggregateShared;

typedef struct HgAggregateState
{
	CustomScanState css; /* must be first */

	/* from the plan */
	bool grouped;
	int ncolumns; /* that are needed of the input */
	int *attnos;  /* [ncolumns] their attributes in the input's rows, from 1 */
	bool counts;  /* nothing but the number of rows is needed */
	int nfunctions;
	HgFunction *functions;
	int nfilters;
	ExprState **filters; /* [nfilters] */
	int *dense;			 /* [ncolumns] 0, 1, 2, ... */
	int nexpr_columns;	 /* columns of the batch that filters and arguments use */
	int *expr_columns;	 /* [nexpr_columns] */
	Bitmapset *params;	 /* PARAM_EXECs that filters and arguments use */
	int first_result;	 /* place of the first aggregate in the scan slot */

	/* the batch that is being taken; hg_aggregate_take.c */
	HgSelection *filtered; /* [nfilters] what passes ... */
	uint16 *filter_rows;   /* [nfilters][HG_BATCH_ROWS] ... and where it is noted */
	int *filter_first;	   /* [nfilters] the first of the current run's ... */
	int *filter_next;	   /* [nfilters] ... and the next that may pass */
	uint16 *every_row;	   /* [HG_BATCH_ROWS] 0, 1, 2, ... */
	int nby_run;		   /* functions that take it by runs ... */
	int *by_run;		   /* [nby_run] ... are these ... */
	int nby_column;		   /* ... and all others, which take it by columns, */
	int *by_column;		   /* [nby_column] these */

	/* the input */
	HgBatchSource *source;
	HgBatch *batch;

	/* what the join may make of its rows instead of returning them; hg_aggregate_reduce.c */
	HgReducer reducer;
	int *reduced; /* [nfunctions] places of their items in a record; 0: the number of rows does */

	/* what is read */
	HgBudget budget;		   /* of groups, and of buffers of files */
	MemoryContext context;	   /* owns all that follows */
	MemoryContext row_context; /* of transition, hash and equality functions */
	MemoryContext states;	   /* what groups and their states have by reference */
	HgGroups *groups;
	HgColumnStore *layout; /* of spilled rows: no rows in it */
	HgBatch *stored_batch; /* rows on their way back from a file */
	HgSpill *spill;		   /* where rows of groups that are not in memory go; or NULL */
	List *spilled;		   /* stack of HgAggregateSpill, innermost first */
	int level;			   /* of spill sets made from now on */

	HgAggregatePhase phase;
	uint32 next_group; /* to return */
	bool rescannable;  /* all groups of the input are in memory */

	HgAggregateRecord record;  /* of this process */
	HgAggregateRecord others;  /* of the workers that have ended */
	HgAggregateShared *shared; /* NULL where there is one process */
	int process;			   /* 0 is the leader */
} HgAggregateState;

/*
 * hg_aggregate_take.c: set up how functions take rows, once arguments and filters are known; and
 * take the rows of a batch.
 */
extern void hg_aggregate_begin_taking(HgAggregateState *state);
extern void hg_aggregate_take(HgAggregateState *state, const HgBatch *batch);

/* hg_aggregate_reduce.c: take groups from the join, where it can give them. */
extern void hg_aggregate_begin_reduction(HgAggregateState *state);

/* hg_aggregate_explain.c: what executor callbacks of these names do */
extern Size hg_aggregate_estimate_dsm(CustomScanState *node, ParallelContext *pcxt);
extern void hg_aggregate_initialize_dsm(CustomScanState *node, ParallelContext *pcxt,
										void *coordinate);
extern void hg_aggregate_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt,
										  void *coordinate);
extern void hg_aggregate_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate);
extern void hg_aggregate_shutdown(CustomScanState *node);
extern void hg_aggregate_explain(CustomScanState *node, List *ancestors, ExplainState *es);

#endif /* HG_AGGREGATE_STATE_H */
