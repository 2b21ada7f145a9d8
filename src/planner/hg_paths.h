/*-------------------------------------------------------------------------
 *
 * hg_paths.h
 *	  Paths of our nodes, and the hooks that offer them to the planner.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PATHS_H
#define HG_PATHS_H

#include "nodes/pathnodes.h"

#include "planner/hg_aggregate_plan.h"
#include "planner/hg_join_plan.h"

/* All kinds of paths with one input have it at the same offset. */
#define HG_HAS_INPUT(type) (offsetof(type, subpath) == offsetof(SubqueryScanPath, subpath))

StaticAssertDecl(HG_HAS_INPUT(AggPath) && HG_HAS_INPUT(GatherMergePath) &&
					 HG_HAS_INPUT(GatherPath) && HG_HAS_INPUT(GroupingSetsPath) &&
					 HG_HAS_INPUT(GroupPath) && HG_HAS_INPUT(LimitPath) &&
					 HG_HAS_INPUT(LockRowsPath) && HG_HAS_INPUT(MaterialPath) &&
					 HG_HAS_INPUT(MemoizePath) && HG_HAS_INPUT(ModifyTablePath) &&
					 HG_HAS_INPUT(ProjectionPath) && HG_HAS_INPUT(ProjectSetPath) &&
					 HG_HAS_INPUT(SortPath) && offsetof(IncrementalSortPath, spath) == 0 &&
					 HG_HAS_INPUT(UniquePath) && HG_HAS_INPUT(WindowAggPath),
				 "paths with one input have it in the same place");

/* Returns the input of a path of core's that has one. */
static inline Path *
hg_path_input(const Path *path)
{
	return ((const SubqueryScanPath *) path)->subpath;
}

/* hg_planner.c: all hooks */

/*
 * Installs the planner's hooks if the session preloads the library. Otherwise only registers the
 * EXPLAIN option.
 */
extern void hg_planner_init(bool preloading);

/* hg_join_path.c: joins */

/*
 * Returns our join of the same inputs as a hash join of core's or a projection of one, with the
 * target of its relation. Returns NULL if the path is no such join, the node cannot do it, or the
 * inputs are small. Our join may cost more; it is for a caller that saves more above it.
 */
extern Path *hg_join_path_instead(PlannerInfo *root, const Path *path);

/*
 * Installs the hook that offers the join node, in any session, until hg_join_path_release is
 * called: for queries of the extension itself. Calls may nest.
 */
extern void hg_join_path_acquire(void);

/* Ends one hg_join_path_acquire. Its caller must call this once, on errors too. */
extern void hg_join_path_release(void);

/*
 * Returns our inner or left join of two unparameterized paths, for a joined relation that the
 * planner has. Returns NULL if the node cannot do it.
 */
extern Path *hg_join_path_of(PlannerInfo *root, RelOptInfo *joinrel, Path *outer, Path *inner,
							 JoinType join_type, List *restrictlist, bool inner_unique);

/*
 * hg_adaptive_path.c: joins that count their outer rows before they choose between an index and
 * hashing.
 *
 * The time of a nested loop into an index grows with the number of its outer rows, which is often a
 * wrong guess.  An adaptive path has that loop beside a join that hashes, and decides when it has
 * counted the rows (executor/join/hg_join_lookup.h).  It costs what the loop takes
 * (hg_path_cost.h), and counting.  It replaces the loop, which core would prefer, as the loop
 * alone does not count.
 *
 * If the first rows of the join matter, it looks rows up as they are read, until there have been
 * too many.
 *
 * In a partial path the processes count together, and decide as one, if they would hash the inner
 * side together.  If the first rows matter, each decides for itself, and waits for no other.
 */

/*
 * Returns a new path of the cheapest nested loop into an index.  It is a copy of the join's
 * cheapest path, if that is such a loop, or else a loop over outer, whose rows cost outer_cost to
 * read.  Returns NULL if no loop can be part of an adaptive path, or another path is cheaper.
 */
extern NestPath *hg_adaptive_loop(PlannerInfo *root, RelOptInfo *joinrel, Path *outer,
								  Cost outer_cost, const RelOptInfo *innerrel, JoinType join_type,
								  JoinPathExtraData *extra);

/*
 * Returns true if a loop and its outer rows take so little that counting them would be a good part
 * of it.  Returns false for a loop above a join of ours, unless the query is rescanned.
 */
extern bool hg_adaptive_loop_is_cheap(PlannerInfo *root, const NestPath *loop, Cost outer_cost);

/*
 * Makes a path that hashes adaptive: it looks rows up by the loop if there are few.  Both have the
 * same outer path.  Returns false and changes nothing if the path can't be adaptive, or if hashing
 * is cheaper for the rows that core expects.
 */
extern bool hg_adaptive_path(PlannerInfo *root, HgJoinPath *path, NestPath *loop, Cost outer_cost);

/*
 * Removes the nested loops that an adaptive path replaces from the paths of its join.  If the first
 * rows of the query matter, it removes only the cheapest path, and only if that is such a loop:
 * other loops may return a row sooner.
 */
extern void hg_adaptive_replace(PlannerInfo *root, RelOptInfo *joinrel, const Path *adaptive);

/*
 * hg_estimates.c: raises the planner's estimates of the rows of joins of a base relation with those
 * before it in the range table, if hashgraph.join_estimates is on. Call it once for each relation,
 * when all sizes are known and before any join has a path.
 */
extern void hg_raise_join_rows(PlannerInfo *root, RelOptInfo *rel);

/*
 * Returns how many groups the rows of a relation have by a list of SortGroupClauses: as many as
 * PostgreSQL expects, or fewer if the relation is a join and its clauses show that, and if
 * hashgraph.join_estimates is on.
 */
extern double hg_estimate_groups(PlannerInfo *root, const RelOptInfo *input_rel, List *clause,
								 double expected);

/* hg_scan_path.c: scans as inputs of our nodes */

/*
 * Returns core's own sequential scan of a relation by one process: one among its paths or below a
 * projection there, or a new one if core's parallel scan is there. Returns NULL otherwise, because
 * the relation's rows may not be those of its heap.
 */
extern Path *hg_scan_path_find(PlannerInfo *root, RelOptInfo *rel);

/*
 * Returns the path by which one of our nodes reads a relation at the least cost: its
 * cheapest_total_path, or a sequential scan if our faster reading (hg_path_cost.h) makes up for
 * the scan's higher cost.
 */
extern Path *hg_cheapest_input(PlannerInfo *root, RelOptInfo *rel);

/* Does the same with the relation's partial paths.  Returns NULL if it has none. */
extern Path *hg_cheapest_partial_input(const RelOptInfo *rel);

/*
 * Puts sequential scans that core has dropped back among a table's paths, if it is joined,
 * aggregated or sorted and our nodes may want them as inputs.
 */
extern void hg_restore_scans(PlannerInfo *root, RelOptInfo *rel, const RangeTblEntry *rte);

/*
 * Returns true if a query, or one that contains it, depends on values of an outer row: a
 * correlated or LATERAL subquery, which runs again for each row. Call it while the query's paths
 * are made.
 */
extern bool hg_query_is_rescanned(const PlannerInfo *root);

/* hg_star_path.c: joins of all tables at once */

/*
 * Returns a path that joins all tables of a relation, one after the other, if a device has graph
 * replicas of them and can be asked about all at once (executor/join/hg_join_star_graphs.h). That
 * is for plans that only need the number of rows or groups of them, at the price HgJoinPath.asked.
 * Returns NULL if there is none.
 */
extern Path *hg_star_path(PlannerInfo *root, RelOptInfo *rel);

/*
 * Returns true if a device can be asked about one join as a star of two tables, so that results
 * may use columns of both (executor/join/hg_join_star_graphs.h). The join must be by one integer,
 * whose values seem to be unique in the smaller table.
 */
extern bool hg_star_is_one_join(PlannerInfo *root, const HgJoinPath *path);

/* hg_aggregate_path.c, hg_sort_path.c: groups, and the first rows of an order */

/* Offers the aggregate node for a query's grouping. */
extern void hg_consider_aggregate(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
								  const GroupPathExtraData *extra);

/*
 * Offers the aggregate node for a SELECT DISTINCT without GROUP BY, of all rows or of each
 * process's rows. Core appends a Gather to the latter, and removes duplicates once more.
 */
extern void hg_consider_distinct(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *distinct_rel,
								 bool partial);

/* Returns true if a path is one of the aggregate node. */
extern bool hg_path_is_groups(const Path *path);

/*
 * Returns a path that groups an input by a list of SortGroupClauses, without a cost yet. All rows
 * are one group if grouped is false.
 */
extern HgAggregatePath *hg_aggregate_path_make(RelOptInfo *rel, PathTarget *target, Path *input,
											   bool grouped, List *group_clause);

/*
 * Adds our path for all groups. Core sorts its rows, whose number is a guess, to get ordered
 * groups, and prefers that to hashing within 1 % of the cost. Removes core's path if sorting our
 * groups costs no more.
 */
extern void hg_add_groups(PlannerInfo *root, RelOptInfo *grouped_rel, Path *ours);

/* Offers the sort node for a query's ORDER BY. */
extern void hg_consider_sort(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel);

/* hg_set_operation_path.c: set operations */

/* Offers the aggregate node for UNION, INTERSECT and EXCEPT. */
extern void hg_consider_set_operation(PlannerInfo *root, RelOptInfo *rel);

/* hg_subplan_path.c: results of correlated subqueries that are kept */

/* Returns true if a parameter has the value of an expression of a query around this one. */
extern bool hg_param_is_outer(const PlannerInfo *root, int param);

/*
 * Returns true if an entry is a relation of the user's whose rows a snapshot decides: a table,
 * partitioned or not, a view or a materialized view.  Catalogs, sequences, foreign tables and
 * entries that are no relations are not.
 */
extern bool hg_rte_is_table(const RangeTblEntry *rte);

/*
 * Returns true if a query or an expression may have another result when it is evaluated again in a
 * statement, or has a side effect.  Stable functions count: a setting that they read may change.
 */
extern bool hg_node_varies(Node *node);

/* Puts Memoize above the expensive paths of a correlated subquery. */
extern void hg_memoize_subquery(PlannerInfo *root, RelOptInfo *final_rel);

/*
 * hg_jit.c: takes back that a statement's expressions are compiled if it only seems expensive
 * enough because of our nodes, or of calls of subqueries whose results are kept.
 */
extern void hg_decide_jit(PlannedStmt *statement);

/* hg_scan_lookup_path.c: scans in correlated subqueries, whose rows are looked up by hash */

/* Replaces the path that reads a table in a correlated subquery by such a scan if it may pay. */
extern void hg_consider_scan_lookup(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte);

#endif /* HG_PATHS_H */
