/*-------------------------------------------------------------------------
 *
 * hg_core_path.h
 *	  Joins of core's that take, or risk to take, much longer than their price says.
 *
 * There are three kinds.  A nested loop that reads all of its inner side for each outer row takes a
 * time that is the product of two numbers of rows: where these are guesses it grows without bound,
 * and a join that hashes takes their sum.  So such a loop is worth its risk only where it is much
 * cheaper.  A loop that looks rows up in an index may be charged for fewer pages than it reads
 * (hg_lookup_cost.h); and core prefers it, as its first row comes sooner, where it costs as much as
 * another path within 1 %.  And a hash join takes several times as long as its price says, in the
 * units of core's scans.
 *
 * Such a path would keep a join of ours out of the paths of their relation, as core compares
 * prices.  No price is changed for that: the path is removed where ours is the better choice.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CORE_PATH_H
#define HG_CORE_PATH_H

#include "nodes/pathnodes.h"

/* Up to so many times another path's cost is equal to it for add_path(). */
#define HG_EQUAL_COST 1.01

/*
 * A nested loop of lookups that takes less is left alone where core would choose it: many a short
 * transaction takes no longer, and making the node ready takes 0.05 ms.  In the units of core's
 * scans.
 */
#define HG_LOOP_LEAST_COST 500.0

/*
 * Returns true if a join of ours is among those that a path's rows come from.  Then a query is no
 * short transaction, and the number of these rows is a guess: no loop above them is cheap.
 */
extern bool hg_path_has_join(const Path *path);

/*
 * Returns true if the first rows of a join may be all that is wanted of it.  They are not where all
 * rows are grouped or sorted: a join of ours returns none in their order.
 */
extern bool hg_first_rows_matter(const PlannerInfo *root, const RelOptInfo *joinrel);

/*
 * Returns true if the cheapest paths of a joined relation, partial ones or all, are loops of these
 * kinds, whatever relations they join, and a path that hashes and costs at least so much may take
 * their place.  Left out are loops whose risk is bounded, as one side is a small table or one row,
 * and all where the first rows matter.  A loop with an order has to be dearer by what a sort costs.
 */
extern bool hg_core_loops_may_go(PlannerInfo *root, const RelOptInfo *joinrel, bool partial,
								 Cost least);

/* Returns true if a path of ours that costs at least so much may take the place of a hash join. */
extern bool hg_core_hash_may_go(const PlannerInfo *root, const RelOptInfo *joinrel, bool partial,
								Cost least);

/* Removes those of these joins from the paths of its relation whose place a path of ours takes. */
extern void hg_core_paths_remove(PlannerInfo *root, const Path *ours);

/*
 * Adds the cheapest path, and the cheapest partial one, that a joined relation had beside loops, if
 * a loop had taken its place and has been removed.  To be called after the paths of each pair of
 * relations.
 */
extern void hg_core_paths_restore(PlannerInfo *root, RelOptInfo *joinrel);

#endif /* HG_CORE_PATH_H */
