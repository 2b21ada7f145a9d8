/*-------------------------------------------------------------------------
 *
 * hg_join_lookup.h
 *	  A join that looks inner rows up in an index while there are few outer ones.
 *
 * The plan of such a join has a third child: a nested loop of the outer rows that the join holds
 * (hg_join_feed.h) into an index of the inner table, with all clauses of the join.  How many outer
 * rows there are is counted before anything is read of the inner side.  The nested loop joins them
 * up to a number from which on hashing clearly costs less (planner/hg_adaptive_path.c).  Where the
 * memory for outer rows is full before they are that many, the loop joins the rows that are there,
 * and counting goes on with the next chunk.  Where the first rows of the join matter, the chunks
 * are small.  When there have been too many outer rows, those that follow are hashed.
 *
 * That number follows from the rows that the index is expected to find for each outer row.  Keys
 * that many rows of both sides have are looked up more often than others, and filters hide what
 * they find.  So if the number is large, the loop joins a sample of the outer rows before the
 * others are counted; where the index finds more rows than expected, the number becomes smaller in
 * proportion.  Processes that count together take no sample.
 *
 * BELOW A GATHER processes that would hash the inner side together count their outer rows together
 * too, and decide as one (hg_join_together.c).  Where each would hash all of the inner side for
 * itself, each counts its own rows: these are what it saves its own hashing for.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_LOOKUP_H
#define HG_JOIN_LOOKUP_H

#include "nodes/execnodes.h"

#include "batch/hg_batch.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

typedef struct HgJoinLookup
{
	PlanState *loop;	 /* the third child; NULL: there is none */
	uint64 most_rows;	 /* the loop joins up to so many outer rows, of all that decide as one */
	uint64 planned_rows; /* most_rows before anything was looked up */
	PlanState *scan;	 /* the loop's inner child if the rows that it finds are counted, or NULL */
	NodeInstrumentation *counter; /* what counts them, where EXPLAIN does not, or NULL */
	double matches;				  /* rows that it is expected to find for each outer row */
	bool at_once;		   /* the first rows matter: chunks of outer rows are small */
	uint64 chunk_rows;	   /* outer rows of the next chunk, if at_once */
	uint64 earlier_rows;   /* outer rows of the chunks that it has joined */
	HgBatchSource *source; /* the loop's rows, with the columns that are needed */
	HgBatch *batch;		   /* that they are read into */
	int *column_indexes;   /* of these columns in the join's scan slot */
	bool chosen;		   /* the loop joins the rows that the outer input holds */
} HgJoinLookup;

/* The node begins, and its inputs have been made. */
extern void hg_join_lookup_init(HgJoinState *state);

/* Returns how many rows of the outer input are to be read before the next choice. */
extern uint64 hg_join_lookup_rows(const HgJoinState *state);

/*
 * Returns true if the nested loop is to join the rows that the outer input holds: all of them, or a
 * chunk.  Nothing has been read of the inner side.
 */
extern bool hg_join_choose_lookup(HgJoinState *state);

/* It is known whether the nested loop joins them; the record tells of it, if it is to. */
extern void hg_join_set_lookup(HgJoinState *state, bool chosen, bool tells);

/* Fill the output with the next rows of the nested loop; false when there are no more. */
extern bool hg_join_fill_lookup(HgJoinState *state);

/*
 * The nested loop has joined the rows of the outer input, which has more: forgets them, so that the
 * next chunk can be read.
 */
extern void hg_join_lookup_next_chunk(HgJoinState *state);

/* The join is rescanned, with these parameters changed. */
extern void hg_join_lookup_rescan(HgJoinState *state, const Bitmapset *changed);

#endif /* HG_JOIN_LOOKUP_H */
