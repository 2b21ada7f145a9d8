/*-------------------------------------------------------------------------
 *
 * hg_join_tree.h
 *	  A tree of joins as the tables below it, and which column is joined with which.
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

/* A tree of more joins than rows can look others up in on a device is none. */
#define HG_TREE_JOINS (HG_MAX_LOOKUPS + 1)
#define HG_TREE_TABLES (HG_TREE_JOINS + 1)

/* A table: the input of a side of one of the joins. */
typedef struct HgTreeTable
{
	HgJoinState *join;
	HgSide side;
	HgInput *input;
	bool optional; /* rows of the others that it has no match for are returned all the same */
} HgTreeTable;

/* A column of it, by its place in the input's batches. */
typedef struct HgTreeColumn
{
	int table;
	int column;
} HgTreeColumn;

/* Two columns whose values are equal, and how each takes part in the words of a key of it alone. */
typedef struct HgTreeEdge
{
	HgTreeColumn ends[2];
	HgGraphPart parts[2];
} HgTreeEdge;

/* Its joins, the topmost of which is the first; it has a table more than these. */
typedef struct HgJoinTree
{
	int njoins;
	HgJoinState *joins[HG_TREE_JOINS];
	HgTreeTable tables[HG_TREE_TABLES];
	HgTreeEdge edges[HG_TREE_JOINS];
} HgJoinTree;

/*
 * Find the tables below a join.  False: it is no such tree, all of whose joins are of integers,
 * return their matches as they are, are of this process alone, and inner ones or, where all that
 * may have no match is looked for in one table, outer ones.
 */
extern bool hg_join_tree_init(HgJoinTree *tree, HgJoinState *top);

/* Which table has the column of a join's side, by its place in that side's batches? */
extern HgTreeColumn hg_join_tree_trace(const HgJoinTree *tree, HgJoinState *join, HgSide side,
									   int column);

#endif /* HG_JOIN_TREE_H */
