/*-------------------------------------------------------------------------
 *
 * hg_join_input.h
 *	  What a relation is as an input of joins.
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
	HgInputCost partial; /* of the cheapest partial path; path is NULL where there is none */
	int first;			 /* its first relation */
	Path *repeated;		 /* the cheapest that each process may run for itself; or NULL */
	bool eligible;		 /* a join of ours can return its columns */
} HgJoinInput;

/* Returns what a relation whose paths have all been made is as an input: it is remembered. */
extern const HgJoinInput *hg_join_input(PlannerInfo *root, RelOptInfo *rel);

#endif /* HG_JOIN_INPUT_H */
