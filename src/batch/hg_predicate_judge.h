/*-------------------------------------------------------------------------
 *
 * hg_predicate_judge.h
 *	  Decides, by bounds of all values, whether a predicate has all, some or none of the rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PREDICATE_JUDGE_H
#define HG_PREDICATE_JUDGE_H

#include "batch/hg_predicate.h"

/* Bounds of all values of a column. */
typedef struct HgValueBounds
{
	bool has_nulls; /* some values may be NULL */
	bool all_nulls;
	/* low to high has all integers, or scaled integers of NUMERIC, that are not NULL */
	bool known;
	int128 low;
	int128 high;
} HgValueBounds;

/* The share of rows that are in a predicate; HG_SHARE_SOME if that is unknown.  Ascending. */
typedef enum HgPredicateShare
{
	HG_SHARE_NONE,
	HG_SHARE_SOME,
	HG_SHARE_ALL
} HgPredicateShare;

/* Returns the share of rows that are in a predicate.  bounds are by column of the batch. */
extern HgPredicateShare hg_predicate_judge(const HgPredicate *predicate,
										   const HgValueBounds *bounds);

#endif /* HG_PREDICATE_JUDGE_H */
