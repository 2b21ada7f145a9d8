/*-------------------------------------------------------------------------
 *
 * hg_predicate_judge.h
 *	  What of rows is in a predicate, by what is known of all their values.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PREDICATE_JUDGE_H
#define HG_PREDICATE_JUDGE_H

#include "batch/hg_predicate.h"

/* What is known of all values of a column. */
typedef struct HgValueBounds
{
	bool has_nulls; /* some may be */
	bool all_nulls;
	/*
	 * the integers of those that are not NULL, or the scaled integers of NUMERIC, are from low to
	 * high
	 */
	bool known;
	int128 low;
	int128 high;
} HgValueBounds;

/* Of all rows, are none in a predicate, or all; and if that is not known, some.  They ascend. */
typedef enum HgPredicateShare
{
	HG_SHARE_NONE,
	HG_SHARE_SOME,
	HG_SHARE_ALL
} HgPredicateShare;

/* What of rows is in a predicate of whose columns this is known, by columns of the batch. */
extern HgPredicateShare hg_predicate_judge(const HgPredicate *predicate,
										   const HgValueBounds *bounds);

#endif /* HG_PREDICATE_JUDGE_H */
