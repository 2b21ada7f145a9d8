/*-------------------------------------------------------------------------
 *
 * hg_planner_run.h
 *	  What may be remembered while the planner runs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PLANNER_RUN_H
#define HG_PLANNER_RUN_H

#include "nodes/pathnodes.h"

/*
 * The number of the planner's run, if something that palloc() has returned for it lasts until its
 * end unless it is freed: what is known of it may be remembered under its address and this number.
 * 0: it may be gone before.  A run within a run gives both of them new numbers.
 */
extern uint64 hg_planner_run_find(const PlannerInfo *root, const void *made);

/* A place among 2^bits for what has such an address, and differs in a word from others that have.
 */
static inline int
hg_planner_run_place(const void *made, uint64 word, int bits)
{
	return (int) (((word ^ (uintptr_t) made) * UINT64CONST(0x9E3779B97F4A7C15)) >> (64 - bits));
}

#endif /* HG_PLANNER_RUN_H */
