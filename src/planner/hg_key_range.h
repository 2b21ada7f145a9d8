/*-------------------------------------------------------------------------
 *
 * hg_key_range.h
 *	  How near to each other the keys of a join are, as far as statistics tell.
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
	bool repeats; /* some of them come more than once */
	bool unique;  /* none does, of those that ANALYZE has seen */
	bool nulls;	  /* it has seen rows without one */
} HgKeyRange;

/*
 * The range of one operand of a clause, its left one or its right one, which is to be a column of
 * integers; false: it is not known.
 */
extern bool hg_key_range(PlannerInfo *root, const RestrictInfo *clause, bool left,
						 HgKeyRange *range);

#endif /* HG_KEY_RANGE_H */
