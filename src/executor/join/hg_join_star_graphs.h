/*-------------------------------------------------------------------------
 *
 * hg_join_star_graphs.h
 *	  A star: its tree of joins, and the graphs and columns of its tables in a device's job.
 *
 * A device joins the covered rows (batch/hg_covered.h) of all tables below a tree of joins in one
 * job.  The job has two tables as its sides; their rows look up the other tables.  The fact
 * relation is the largest table.  The join node calls hg_join_ask_star() and
 * hg_join_forget_star(); the other functions serve hg_join_star.c.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_STAR_GRAPHS_H
#define HG_JOIN_STAR_GRAPHS_H

#include "hg_compat.h"

#include "backend/matcher/hg_matcher_spec.h"
#include "batch/hg_covered.h"
#include "batch/hg_graph_key.h"
#include "batch/hg_input.h"
#include "executor/join/hg_join_reduce.h"

/*
 * hg_join_star.c: multi-way join: a device joins the covered rows of all tables below a tree of
 * joins at once
 */

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/*
 * The last multi-way join.  tables: number of tables that a device joined at once; 0: never.
 * why_not: why it did not in the last execution; NULL: it did, it was not tried, or the record's
 * fallback has the reason.
 */
typedef struct HgJoinMultiway
{
	int tables;
	const char *why_not;
} HgJoinMultiway;

/* State of the topmost join of such a tree; opaque. */
typedef struct HgJoinStar HgJoinStar;

/*
 * Asks a device, at the start of an execution, to join the covered rows of all tables below the
 * join.  If it returns true, the covered rows of the fact relation, except stale probes, are
 * joined: *rows is the number of joined rows, or 0 if they were handed up in groups.  The joins
 * then return only rows for delta rows of the fact relation and stale probes.  If it returns false,
 * the joins return all rows, and multiway.why_not may have the reason.
 */
extern bool hg_join_ask_star(HgJoinState *state, uint64 *rows);

/* Resets all joins of the tree before a rescan, if a device has answered.  star may be NULL. */
extern void hg_join_forget_star(HgJoinStar *star);

/*
 * hg_join_star_graphs.c: a star: its tree of joins, and the graphs and columns of its tables in
 * a device's job
 */

/* ---------------------------------------------------------------------
 * The tree
 * ---------------------------------------------------------------------
 */

/* Joins of a tree: a device can do one of them as a job, and the others as lookups. */
#define HG_TREE_JOINS (HG_MAX_LOOKUPS + 1)
#define HG_TREE_TABLES (HG_TREE_JOINS + 1)

/* A table: the input of a side of one of the joins. */
typedef struct HgTreeTable
{
	HgJoinState *join;
	HgSide side;
	HgInput *input;
	bool optional; /* the other side's rows without a match here are returned too */
} HgTreeTable;

/* A column of a table: the table's number in the tree, and its index in the input's batches. */
typedef struct HgTreeColumn
{
	int table;
	int column;
} HgTreeColumn;

/* Two columns that must be equal, and how each is encoded in the words of a key of it alone. */
typedef struct HgTreeEdge
{
	HgTreeColumn ends[2];
	HgGraphPart parts[2];
} HgTreeEdge;

/* njoins joins, the topmost first, and njoins + 1 tables. */
typedef struct HgJoinTree
{
	int njoins;
	HgJoinState *joins[HG_TREE_JOINS];
	HgTreeTable tables[HG_TREE_TABLES];
	HgTreeEdge edges[HG_TREE_JOINS];
} HgJoinTree;

/*
 * Finds the tables below a join.  Returns false unless all joins compare integers, return their
 * matches without further quals, run in this process alone, and are inner joins, or outer joins
 * whose optional side is a table.
 */
extern bool hg_join_tree_init(HgJoinTree *tree, HgJoinState *top);

/* ---------------------------------------------------------------------
 * Graphs
 * ---------------------------------------------------------------------
 */

typedef struct HgStarTable
{
	HgSide side;		  /* side of the job that it is, or whose rows look it up */
	uint32 lookup;		  /* 0: it is that side; n: lookup n - 1 of that side finds its rows */
	int from;			  /* table whose rows look it up; -1: it is the fact relation */
	int column;			  /* this table's column in the edge to table from */
	HgPinnedGraph *own;	  /* graph of table from, by that table's column in the edge */
	HgPinnedGraph *graph; /* graph of this table by column, in which its rows are found */
	HgReplicaUse use;	  /* the device's replica of graph */
	const HgPartitioning *partitions; /* partitions of graph; NULL: a device has all of it */
	uint32 stride;					  /* of its rows' ordinals (engine/hg_replica.h) */
} HgStarTable;

/* The graphs of a multi-way join. */
typedef struct HgStarGraphs
{
	const HgJoinTree *tree;
	int fact;	   /* table of the tree that is the fact relation */
	int usual;	   /* edge whose ends are the sides, unless partitions make another one better */
	bool complete; /* the edge is a left join's: every fact row must have a match there */
	HgStarTable tables[HG_TREE_TABLES]; /* by table of the tree */
	HgStarTable second_lookup; /* the inner side, if fact rows look it up again; else lookup is 0 */
	uint32 computed[HG_MAX_REDUCE_ITEMS]; /* bit sets of the tables of each computed column */
	int ncomputed;
	HgReplicaCovered replica[2]; /* by HgSide: replicas of the job, with its lookups */
	bool partitioned;			 /* several devices have partitions of a side */
	HgDeviceSet at;				 /* devices that have everything; if partitioned, together */
	bool missing;				 /* during a search of partitions: replicas are missing */
} HgStarGraphs;

/*
 * Returns true if graphs->fact can be the fact relation: some other table can be the other side.
 * Only tree and fact of graphs must be set.
 */
extern bool hg_star_has_sides(const HgStarGraphs *graphs);

/*
 * Sets graphs->usual to the next edge whose ends can be the sides of the job (the first if it is
 * -1), and graphs->complete.  Returns false if there is no other.
 */
extern bool hg_star_next_sides(HgStarGraphs *graphs);

/*
 * Finds the graphs of all tables of a tree, and their replicas, in CurrentMemoryContext.  The
 * caller has covered rows of all tables, and has set tree, fact, usual, complete, computed and
 * ncomputed of graphs.  Returns true if one device has all replicas, or if several devices have the
 * partitions of a side and each of them has all other replicas.  Otherwise requests replicas that
 * it finds missing, and returns false.
 */
extern bool hg_star_find_graphs(HgStarGraphs *graphs);

/*
 * Returns the entry by which a device reads a table's columns and looks other tables up from its
 * rows: the table's own, or second_lookup if it is the inner side and fact rows look it up again.
 */
extern HgStarTable *hg_star_table(HgStarGraphs *graphs, int table);

/* Returns the table that is a side of the job. */
extern int hg_star_side(const HgStarGraphs *graphs, HgSide side);

/*
 * Reports to the loader how many bytes of replicas the tree needs, because some are missing.
 * columns[]: the bytes of column replicas, by table.
 */
extern void hg_star_report_demand(const HgStarGraphs *graphs, const uint64 columns[HG_TREE_TABLES]);

/*
 * Finds the replica of the column with attribute `number` on the devices that have everything else,
 * and sets *use and *codes (NULL: it has values).  Returns false, after requesting it, if it is
 * missing.
 */
extern bool hg_star_find_replica_column(HgStarGraphs *graphs, const HgStarTable *table,
										AttrNumber number, HgReplicaColumnUse *use,
										const HgGraphCodes **codes);

/* Records replicas that the devices of device_set reported missing. */
extern void hg_star_report_missing(HgStarGraphs *graphs, HgDeviceSet device_set,
								   const HgMissingReplicas *missing);

/*
 * Returns a hash, not 0, of the graphs that are looked up and, if every fact row must have a
 * match, of the number of covered fact rows.  It names a combination that was found ambiguous
 * (hg_resident_graph_is_ambiguous()).
 */
extern uint64 hg_star_found(const HgStarGraphs *graphs);

/*
 * Adds filters for the pending predicates of all tables, unless sides are partitioned; restricts
 * graphs->at to devices that can apply them, and sets the strides of tables with a filter.
 */
extern void hg_star_add_filters(HgStarGraphs *graphs);

/*
 * Applies, in this process, the pending predicates of tables without a filter.  Call it when a
 * device is known to have everything else.
 */
extern void hg_star_apply_others(const HgStarGraphs *graphs);

/*
 * Adds the numbers of the stale probes to rows: the covered fact rows that may match delta rows of
 * other tables, directly or through rows of a third table.  A row can be added twice.  Reads the
 * tables' delta rows and starts the tables again.  Returns false if there are too many.
 */
extern bool hg_star_find_stale(const HgStarGraphs *graphs, HgIntegers *rows);

/* ---------------------------------------------------------------------
 * Columns
 * ---------------------------------------------------------------------
 */

/* The state of the topmost join of a tree. */
struct HgJoinStar
{
	HgJoinTree tree;
	bool possible; /* the joins form a tree that a device can join at once */
	bool answered; /* the device has answered in this execution */

	/* valid while the device is asked */
	HgStarGraphs graphs;
	HgFlatSide covered[2];
	HgIntegers stale_probes; /* covered fact rows that the device is not asked about */
	uint64 asked;			 /* number of fact rows that it is asked about */
	HgReduction reduction;
	HgJoinCodes codes;
	HgTreeColumn columns[2][HG_MAX_COLUMNS]; /* columns of the reduction */
};

/* Returns the table column behind a column of the reduction that is not computed. */
extern HgTreeColumn hg_star_trace(HgJoinState *state, HgSide side, uint32 column);

/* Returns the number of the expression that computes a column of the reduction; -1: a replica. */
extern int hg_star_expression(const HgJoinReduction *reduction, const HgReduceColumn *column);

/*
 * Sets graphs.computed and ncomputed of state->star: one entry for each item of requested whose
 * argument is computed, with the tables of its operands. There are none if requested is NULL.
 */
extern void hg_star_find_computed_tables(HgJoinState *state, const HgReduction *requested);

/*
 * Sets star->reduction and star->codes: the requested reduction, with columns of the job in place
 * of the topmost join's.  Returns false if the devices lack some of them; all missing ones are
 * requested.
 */
extern bool hg_star_find_columns(HgJoinState *state, const HgReduction *requested);

#endif /* HG_JOIN_STAR_GRAPHS_H */
