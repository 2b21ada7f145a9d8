/*-------------------------------------------------------------------------
 *
 * hg_aggregate_plan.h
 *	  The path of the aggregate node, and the plan that it becomes.
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
	List *distinct;		/* HgDistincts (hg_grouping_sets.h) of the aggregates */
	List *sets;			/* HgPlannedSets (hg_grouping_sets.h); NIL: there is one */
	double groups;	 /* estimated number before HAVING; with several sets that of the first one */
	List *groupings; /* GroupingFuncs */
	List *aggrefs;
	List *having;
	/* the first branch of a set operation, in the range table; 0: the input is none */
	Index first_branch;
	/*
	 * INTERSECT and EXCEPT: the number in the last column of the rows of the branch that makes
	 * groups, whose rows come first; or -1
	 */
	int grouping_branch;
	SetOpCmd command; /* of INTERSECT and EXCEPT */
} HgAggregatePath;

/* Returns the index of the HgDistinct whose values an aggregate takes; -1: there is none. */
extern int hg_aggref_distinct(const List *distinct, const Aggref *aggref);

/* Returns true if an aggregate counts rows, whatever is in them: count(*) or of a constant. */
extern bool hg_aggref_counts_rows(const Aggref *aggref);

/*
 * Returns true if the plan of a path with grouping sets can be made: if its target and HAVING use
 * each expression of the input with one marking only, as NULL by the sets or not.  The plan's slot
 * has one place for both. GROUP BY a, CUBE (f(a)) may use a in both ways.
 */
extern bool hg_aggregate_marks_agree(PlannerInfo *root, const HgAggregatePath *path);

/* The PlanCustomPath method: turns a path of the aggregate node into a plan. */
extern Plan *hg_aggregate_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
							   List *tlist, List *clauses, List *custom_plans);

/*
 * Fills in rows and costs of a path, and groups: the number of groups before HAVING.  With several
 * sets it is that of the first one.
 */
extern void hg_aggregate_cost(PlannerInfo *root, HgAggregatePath *path, double groups);

#endif /* HG_AGGREGATE_PLAN_H */
