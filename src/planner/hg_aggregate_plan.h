/*-------------------------------------------------------------------------
 *
 * hg_aggregate_plan.h
 *	  What a path of the aggregate node is, and the plan that it becomes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_PLAN_H
#define HG_AGGREGATE_PLAN_H

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

/* A path of the aggregate node. */
typedef struct HgAggregatePath
{
	CustomPath custom;	/* must be first; custom_paths is the input */
	bool grouped;		/* there is a GROUP BY */
	List *group_clause; /* SortGroupClauses, over the input's target */
	Var *distinct;		/* of the input: a group column too, that the query has none of; or NULL */
	Oid distinct_equality;
	List *aggrefs;
	List *having;
} HgAggregatePath;

/* Does it count rows, whatever is in them? */
extern bool hg_aggref_counts_rows(const Aggref *aggref);

/* Turn a path of the aggregate node into a plan: the PlanCustomPath method. */
extern Plan *hg_aggregate_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
							   List *tlist, List *clauses, List *custom_plans);

#endif /* HG_AGGREGATE_PLAN_H */
