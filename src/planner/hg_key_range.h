/*-------------------------------------------------------------------------
 *
 * hg_key_range.h
 *	  The range of a join's keys, as far as statistics have it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_KEY_RANGE_H
#define HG_KEY_RANGE_H

#include "nodes/pathnodes.h"

typedef struct HgKeyRange
{
	double size;  /* integers from the least to the greatest */
	bool repeats; /* some come more than once */
	bool unique;  /* none of those that ANALYZE has seen comes twice */
	bool nulls;	  /* ANALYZE has seen NULLs */
} HgKeyRange;

/*
 * Estimates the range of a clause's left or right operand. Returns false if it is no column of
 * integers or has no statistics.
 */
extern bool hg_key_range(PlannerInfo *root, const RestrictInfo *clause, bool left,
						 HgKeyRange *range);

#endif /* HG_KEY_RANGE_H */
