/*-------------------------------------------------------------------------
 *
 * hg_whole_loop.h
 *	  Nested loops that read all of their inner side for each outer row.
 *
 * Their time is the product of two numbers of rows.  Where these are guesses, and both are larger,
 * it grows without bound; a join that hashes takes their sum.  So such a loop is worth its risk
 * only where it is much cheaper.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WHOLE_LOOP_H
#define HG_WHOLE_LOOP_H

#include "nodes/pathnodes.h"

/*
 * The loops of two relations, in either order, that are the cheapest paths of their join, partial
 * ones or all.  Left out are those whose risk is bounded, as one side is a small table or one row,
 * and those that somebody may want for the order or the first of their rows.
 */
extern List *hg_whole_loops(PlannerInfo *root, const RelOptInfo *joinrel, RelOptInfo *outerrel,
							RelOptInfo *innerrel, bool partial);

/* Take those of these loops out of the paths that are not much cheaper than a path which hashes. */
extern void hg_whole_loops_remove(RelOptInfo *joinrel, List *loops, const Path *hashed);

#endif /* HG_WHOLE_LOOP_H */
