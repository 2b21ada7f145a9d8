/*-------------------------------------------------------------------------
 *
 * hg_core_path.h
 *	  Core's joins that take, or risk to take, much longer than their price says.
 *
 * There are three kinds:
 *
 * 1. A nested loop that reads all of its inner side for each outer row.  Its time is the product of
 *	  two numbers of rows, which may both be guesses.  A join that hashes takes their sum.
 * 2. A nested loop that looks rows up in an index.  Its price may leave out pages that it reads
 *	  (hg_path_cost.h).  Core prefers it to a path that costs as much within 1 %, as its first row
 *	  comes sooner.
 * 3. A hash join.  It takes several times as long as its price says, if core's scans take what
 *	  theirs say.
 *
 * Core compares prices, so that such a path would keep a join of ours out of the paths of a
 * relation.  The node changes no price.  It removes the path if its own is the better choice.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CORE_PATH_H
#define HG_CORE_PATH_H

#include "nodes/pathnodes.h"

/* add_path() treats two costs as equal if neither exceeds the other by more than this factor. */
#define HG_FUZZ_FACTOR 1.01

/*
 * A nested loop of lookups that takes less is left alone where core would choose it: many a short
 * transaction takes no longer, and making the node ready takes 0.05 ms.  In the units of core's
 * scans.
 */
#define HG_LOOP_LEAST_UNITS 500.0

/*
 * Returns true if a path's rows come from a join of ours.  The query is then no short transaction,
 * and the number of rows is a guess, so that no loop above the path counts as cheap.
 */
extern bool hg_path_has_join(const Path *path);

/*
 * Returns true if the query may read only the first rows of a join.  A query that groups or sorts
 * reads all of them, as a join of ours returns rows in no order.
 */
extern bool hg_first_rows_matter(const PlannerInfo *root, const RelOptInfo *joinrel);

/* Returns true if the query itself wants rows in an order that begins as one of a path does. */
extern bool hg_order_is_useful(const PlannerInfo *root, const Path *path);

/*
 * Returns true if a path of ours, which costs at least `least`, might replace nested loops among
 * the cheapest paths of a joined relation: its partial paths if partial is true, else the others.
 * A loop stays if one of its sides is a small table or a single row, and if the first rows matter.
 * If a loop's rows have an order, the cost of a sort is added to our path's.
 */
extern bool hg_core_loops_may_go(PlannerInfo *root, const RelOptInfo *joinrel, bool partial,
								 Cost least);

/* Returns true if a path of ours, which costs at least `least`, might replace core's hash join. */
extern bool hg_core_hash_may_go(const PlannerInfo *root, const RelOptInfo *joinrel, bool partial,
								Cost least);

/* Removes the joins that a path of ours replaces from the paths of its relation. */
extern void hg_core_paths_remove(PlannerInfo *root, const Path *ours);

/*
 * Adds the cheapest path that a joined relation had beside nested loops, and the cheapest partial
 * one, if core has dropped them for a loop that has been removed since.  The planner's hook calls
 * this after the paths of each pair of relations.
 */
extern void hg_core_paths_restore(PlannerInfo *root, RelOptInfo *joinrel);

#endif /* HG_CORE_PATH_H */
