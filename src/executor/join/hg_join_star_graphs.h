/*-------------------------------------------------------------------------
 *
 * hg_join_star_graphs.h
 *	  What each table of a tree of joins is in a device's job, and by which of its graphs.
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
	HgSide side;					  /* of the job, whose rows it is of or looked up by */
	uint32 lookup;					  /* 0: it is that side; else the number of the lookup, and 1 */
	int from;						  /* the table whose rows find its; -1: they are the facts */
	int column;						  /* ... by this column ... */
	HgPinnedGraph *own;				  /* ... and by this graph of that table's */
	HgPinnedGraph *graph;			  /* the graph of its own by which they are found */
	HgReplicaUse use;				  /* ... as the device has it, ... */
	const HgPartitioning *partitions; /* ... or several, cut so; NULL: each has all of it */
	uint32 stride;					  /* of its rows' places */
} HgStarTable;

typedef struct HgStarGraphs
{
	int facts;
	int usual;	   /* the edge of which facts and another table are the sides, ... */
	bool complete; /* ... of a left join, so that all facts must have a match there */
	HgStarTable tables[HG_TREE_TABLES]; /* as the tree has them */
	int order[HG_TREE_TABLES];			/* all of them, each behind the one that finds it */
	HgStarTable again; /* the table that facts are joined with, looked up by them as well; or not:
						* its lookup is 0 */
	uint32 computed[HG_MAX_REDUCE_ITEMS]; /* tables, as bits, of whose columns one is computed */
	int ncomputed;
	HgReplicaCovered replica[2]; /* of the job: what it looks up */
	bool partitioned;			 /* several devices have partitions of a side ... */
	HgDeviceSet at; /* of the devices that have all of it; or, together, partitions and all else */
	bool missing;	/* ... but for what has been asked for */
} HgStarGraphs;

/* Can these be the facts: is there a table that they can be the sides of a job with? */
extern bool hg_star_has_sides(const HgJoinTree *tree, int facts);

/*
 * Have facts and another table be the sides, those of graphs->usual = -1 at first, and then the
 * next ones that can be; false: there are no others.
 */
extern bool hg_star_next_sides(const HgJoinTree *tree, HgStarGraphs *graphs);

/*
 * Finds the graphs of a tree all of whose tables have covered rows, the facts and sides of which
 * are told, and of which tables something is computed, in CurrentMemoryContext.  False: neither
 * does a device have all replicas that it takes, nor do several that have a partition each of a
 * side.
 */
extern bool hg_star_find_graphs(const HgJoinTree *tree, HgStarGraphs *graphs);

/* The table by whose rows a device knows a table's columns, and looks others up. */
extern HgStarTable *hg_star_table(HgStarGraphs *graphs, int table);

/*
 * They were not found, or not all columns: tell the loader, which gives devices their replicas, how
 * much the tree needs of them, of which so many bytes are columns, by table.
 */
extern void hg_star_tell_needs(const HgJoinTree *tree, const HgStarGraphs *graphs,
							   const uint64 columns[HG_TREE_TABLES]);

/*
 * A column of a table's rows, as the device has it that has all else, or the devices.  False: it is
 * not there, and was asked for.
 */
extern bool hg_star_find_replica_column(HgStarGraphs *graphs, const HgStarTable *table,
										AttrNumber number, HgReplicaColumnUse *use,
										const HgGraphCodes **codes);

/* These places have answered that this, of what they have of the tables, is not there any more. */
extern void hg_star_note_missed(const HgJoinTree *tree, HgStarGraphs *graphs,
								HgDeviceSet device_set, const HgMissingReplicas *missing);

/*
 * A number that the graphs which rows are looked up in come to, with the number of covered facts
 * where that matters; not 0.
 */
extern uint64 hg_star_found(const HgJoinTree *tree, const HgStarGraphs *graphs);

#endif /* HG_JOIN_STAR_GRAPHS_H */
