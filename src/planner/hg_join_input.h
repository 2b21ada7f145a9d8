/*-------------------------------------------------------------------------
 *
 * hg_join_input.h
 *	  A relation as an input of joins.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_INPUT_H
#define HG_JOIN_INPUT_H

#include "planner/hg_input_cost.h"

typedef struct HgJoinInput
{
	HgInputCost whole;	 /* of the cheapest path that returns all rows */
	HgInputCost partial; /* of the cheapest partial path; path is NULL without one */
	int first;			 /* its first relation */
	Path *repeated;		 /* the cheapest path that each process may run for itself; or NULL */
	bool eligible;		 /* a join of ours can return its columns */
} HgJoinInput;

/* Returns a relation as an input, once its paths are complete; cached for the planner's run. */
extern const HgJoinInput *hg_join_input(PlannerInfo *root, RelOptInfo *rel);

#endif /* HG_JOIN_INPUT_H */
