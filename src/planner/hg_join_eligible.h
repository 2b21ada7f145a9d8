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

/* Is there nothing in the way of a join of two relations, its clauses left aside? */
extern bool hg_join_is_eligible(PlannerInfo *root, const RelOptInfo *outerrel,
								const RelOptInfo *innerrel, List *restrictlist);

#endif /* HG_JOIN_ELIGIBLE_H */
