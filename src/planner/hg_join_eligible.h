/*-------------------------------------------------------------------------
 *
 * hg_join_eligible.h
 *	  Is a join one that the node can do?
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_ELIGIBLE_H
#define HG_JOIN_ELIGIBLE_H

#include "nodes/pathnodes.h"

#include "hg_guc.h"

/* Is it a join type that the node does?  Not what a later version may add. */
extern bool hg_join_type_is_eligible(JoinType join_type);

/* Returns true if a join of ours can return the columns of a relation. */
extern bool hg_rel_is_eligible(PlannerInfo *root, const RelOptInfo *rel);

/* Returns true if a join of ours can test the clauses of a join, or a Result above it does. */
extern bool hg_clauses_are_eligible(const PlannerInfo *root, List *restrictlist);

/* Are inputs too small to look at?  What a scan reads and drops counts too: we read it faster. */
static inline bool
hg_inputs_small(const Path *outer_path, const Path *inner_path)
{
	double rows = 0;

	for (int side = 0; side < 2; side++)
	{
		const Path *path = side == 0 ? outer_path : inner_path;

		rows += path->pathtype == T_SeqScan ? path->parent->tuples : path->rows;
	}
	return rows < hg_min_rows;
}

#endif /* HG_JOIN_ELIGIBLE_H */
