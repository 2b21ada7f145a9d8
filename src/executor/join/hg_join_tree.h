/*-------------------------------------------------------------------------
 *
 * hg_join_tree.h
 *	  A tree of joins: the tables below it, and the columns that are joined.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_TREE_H
#define HG_JOIN_TREE_H

#include "batch/hg_graph_key.h"
#include "batch/hg_input.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

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

/* A column of a table, as its index in the input's batches. */
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

/* Returns the table column behind a column, by its index in the batches, of a join's side. */
extern HgTreeColumn hg_join_tree_trace(const HgJoinTree *tree, HgJoinState *join, HgSide side,
									   int column);

#endif /* HG_JOIN_TREE_H */
