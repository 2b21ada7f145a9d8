/*-------------------------------------------------------------------------
 *
 * hg_join_star_graphs.h
 *	  The role of each table of a multi-way join in a device's job, and the graphs that it uses.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_STAR_GRAPHS_H
#define HG_JOIN_STAR_GRAPHS_H

#include "backend/matcher/hg_matcher_spec.h"
#include "batch/hg_covered.h"
#include "executor/join/hg_join_tree.h"

typedef struct HgStarTable
{
	HgSide side;					  /* side of the job whose rows it has, or that looks it up */
	uint32 lookup;					  /* 0: it is that side; n: it is found by lookup n - 1 */
	int from;						  /* table that looks it up; -1: it is the fact relation */
	int column;						  /* its column in the edge to that table */
	HgPinnedGraph *own;				  /* graph of that table for the lookup */
	HgPinnedGraph *graph;			  /* its own graph, in which it is looked up */
	HgReplicaUse use;				  /* the device's replica of graph */
	const HgPartitioning *partitions; /* partitions of graph; NULL: a device has all of it */
	uint32 stride;					  /* stride of its rows' numbers */
} HgStarTable;

/* The graphs of a multi-way join. */
typedef struct HgStarGraphs
{
	int fact;
	int usual;	   /* edge whose ends, the fact relation and another table, are the sides */
	bool complete; /* the edge is a left join's: every fact row must have a match there */
	HgStarTable tables[HG_TREE_TABLES]; /* by table of the tree */
	int order[HG_TREE_TABLES];			/* all tables, each after the one that looks it up */
	HgStarTable second_lookup; /* the inner side, if fact rows look it up again; else lookup is 0 */
	uint32 computed[HG_MAX_REDUCE_ITEMS]; /* bit sets of the tables of each computed column */
	int ncomputed;
	HgReplicaCovered replica[2]; /* by HgSide: replicas of the job, with its lookups */
	bool partitioned;			 /* several devices have partitions of a side */
	HgDeviceSet at;				 /* devices that have everything; if partitioned, together */
	bool missing;				 /* some replicas are missing, and were requested */
} HgStarGraphs;

/* Returns true if a table can be the fact relation: some other table can be the other side. */
extern bool hg_star_has_sides(const HgJoinTree *tree, int fact);

/*
 * Chooses the next edge whose ends can be the sides of the job, starting with graphs->usual = -1.
 * Returns false if there is no other.
 */
extern bool hg_star_next_sides(const HgJoinTree *tree, HgStarGraphs *graphs);

/*
 * Finds the graphs of a tree, in CurrentMemoryContext.  All tables have covered rows, and graphs
 * has the fact relation, the edge and the computed columns.  Returns false if neither one device
 * has all replicas nor several have partitions of a side.
 */
extern bool hg_star_find_graphs(const HgJoinTree *tree, HgStarGraphs *graphs);

/* Returns the entry by which a device reads a table's columns and looks others up. */
extern HgStarTable *hg_star_table(HgStarGraphs *graphs, int table);

/*
 * Reports to the loader how many bytes of replicas the tree needs, because some are missing.
 * columns[]: the bytes of column replicas, by table.
 */
extern void hg_star_report_demand(const HgJoinTree *tree, const HgStarGraphs *graphs,
								  const uint64 columns[HG_TREE_TABLES]);

/*
 * Finds the replica of a table's column on the devices that have everything else.  Returns false,
 * after requesting it, if it is missing.
 */
extern bool hg_star_find_replica_column(HgStarGraphs *graphs, const HgStarTable *table,
										AttrNumber number, HgReplicaColumnUse *use,
										const HgGraphCodes **codes);

/* Records replicas that the devices of device_set reported missing. */
extern void hg_star_report_missing(const HgJoinTree *tree, HgStarGraphs *graphs,
								   HgDeviceSet device_set, const HgMissingReplicas *missing);

/*
 * Returns a hash, not 0, of the graphs that are looked up and, if every fact row must have a
 * match, of the number of covered fact rows.
 */
extern uint64 hg_star_found(const HgJoinTree *tree, const HgStarGraphs *graphs);

#endif /* HG_JOIN_STAR_GRAPHS_H */
