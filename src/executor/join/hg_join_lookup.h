/*-------------------------------------------------------------------------
 *
 * hg_join_lookup.h
 *	  Adaptive join: looks up inner rows in an index as long as there are few outer rows.
 *
 * The plan has a third child: a nested loop from the outer rows that were read, which Custom Scan
 * (HashGraphFeed) returns, into an index of the inner table, with all clauses of the join.  Outer
 * rows are counted before the inner side is read.  Up to most_rows of them, the nested loop joins
 * them; beyond that hashing clearly costs less (planner/hg_adaptive_path.c).  If memory for outer
 * rows is full earlier, the loop joins the rows that are there, and counting goes on with the next
 * chunk.  If the join's first rows matter, chunks are small.  Rows after most_rows are hashed.
 *
 * most_rows follows from the rows that the index is expected to find per outer row.  That estimate
 * can be low: keys that many rows of both sides have are looked up more often than others, and
 * filters hide what they find.  So if most_rows is large, the loop joins a sample of the outer
 * rows first.  If the index finds more rows than expected, most_rows shrinks in proportion.
 * Processes that count together take no sample.
 *
 * BELOW A GATHER, processes that would hash the inner side together count their outer rows
 * together and decide as one (hg_join_parallel.c).  They also share the lookups: a process that
 * began before the others, and has read most of the rows, does not look them up alone.  If each
 * process would hash all of the inner side, it counts its own rows, because they decide about its
 * own hashing.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_LOOKUP_H
#define HG_JOIN_LOOKUP_H

#include "nodes/execnodes.h"
#include "nodes/extensible.h"

#include "batch/hg_batch.h"
#include "executor/join/hg_join_progress.h"

typedef struct HgJoinLookup
{
	PlanState *loop;	 /* the third child; NULL: no adaptive join */
	uint64 most_rows;	 /* outer rows, of all that decide as one, that the loop joins at most */
	uint64 planned_rows; /* most_rows as planned */
	PlanState *scan;	 /* the loop's inner child if its rows are counted, or NULL */
	NodeInstrumentation *counter; /* counts them if EXPLAIN does not, or NULL */
	double matches;				  /* rows that scan is expected to find per outer row */
	bool at_once;				  /* the join's first rows matter: chunks are small */
	uint64 chunk_rows;			  /* size of the next chunk of outer rows, if at_once */
	uint64 earlier_rows;		  /* outer rows that the loop has joined in earlier chunks */
	HgBatchSource *source;		  /* the loop's rows, with the needed columns */
	HgBatch *batch;				  /* receives the loop's rows */
	int *column_indexes;		  /* indexes of these columns in the join's scan slot */
	bool chosen;				  /* the loop joins the rows in the outer input */
} HgJoinLookup;

/*
 * Methods of the feed's plan node: a CustomScan with scanrelid 0, whose custom_scan_tlist and
 * target list are the columns of the outer child.
 */
extern const CustomScanMethods hg_join_feed_methods;

/* Initializes the adaptive join, if it is one.  Inputs and output must be set up. */
extern void hg_join_lookup_init(HgJoinState *state);

/* Returns the number of outer rows, at least 1, to read before hg_join_choose_lookup(). */
extern uint64 hg_join_lookup_rows(const HgJoinLookup *lookup);

/*
 * Decides whether the nested loop joins the rows in the outer input, all of them or a chunk.  The
 * inner side must be unread.
 */
extern bool hg_join_choose_lookup(HgJoinState *state);

/*
 * Sets whether the nested loop is chosen, for the rows of this process.  If recorded is true,
 * counts the choice in the record.
 */
extern void hg_join_set_lookup(HgJoinLookup *lookup, HgJoinRecord *record, bool chosen,
							   bool recorded);

/*
 * Shares the lookups: the nested loop, which is chosen, joins rows of all processes that have
 * counted together.  Each takes a few rows with a key at a time, and looks up those without a key
 * that it has read itself.  *taken, in shared memory and initialized to 0, counts the rows taken.
 * The store of the outer rows must be attached, and no process may add rows.
 */
extern void hg_join_lookup_share(HgJoinLookup *lookup, pg_atomic_uint64 *taken);

/*
 * Starts to return the rows of the nested loop, which is chosen. Returns the next phase. If the
 * outer side has more rows, those in the input are removed after the last row, and the next chunk
 * is read; otherwise the join is done.
 */
extern HgJoinPhase hg_join_emit_looked_up(HgJoinState *state);

/* Starts again for a rescan of the join; changed holds the changed parameters, or is NULL. */
extern void hg_join_lookup_rescan(HgJoinLookup *lookup, const Bitmapset *changed);

#endif /* HG_JOIN_LOOKUP_H */
