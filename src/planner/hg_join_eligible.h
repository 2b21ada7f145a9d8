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

/* Is it a join type that the node does?  Not what a later version may add. */
extern bool hg_join_type_is_eligible(JoinType join_type);

/* Returns true if a join of ours can return the columns of a relation. */
extern bool hg_rel_is_eligible(PlannerInfo *root, const RelOptInfo *rel);

/* Returns true if a join of ours can test the clauses of a join, or a Result above it does. */
extern bool hg_clauses_are_eligible(const PlannerInfo *root, List *restrictlist);

#endif /* HG_JOIN_ELIGIBLE_H */
