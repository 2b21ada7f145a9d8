/*-------------------------------------------------------------------------
 *
 * hg_gather.h
 *	  Values of columns that come with the matches of a job.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_GATHER_H
#define HG_GATHER_H

#include "backend/matcher/hg_reduction.h"

/* Values of columns of a side, in the order of the matches. */
typedef struct HgMatchValues
{
	const void *values[HG_MAX_COLUMNS]; /* of the column's width */
	const uint8 *nulls[HG_MAX_COLUMNS]; /* not 0 where the value is NULL; NULL where none is */
} HgMatchValues;

/* What a job gathers, by HgSide; all zero: nothing. */
typedef struct HgGather
{
	const HgColumnSet *columns[2]; /* that the job has, or will have; or NULL */
	HgMatchValues matched[2];	   /* of the matches that were shown last ... */
	bool has_matched[2];		   /* ... if they came */
} HgGather;

/* Matches, with the values that came with them, in memory of their own. */
typedef struct HgMatchBlock
{
	struct HgMatchBlock *next; /* for whoever keeps several */
	HgMatches all;			   /* what there is of them, and room for all.capacity */
} HgMatchBlock;

/* The columns that a job is to have before all keys are there: of a reduction, or of sides. */
typedef struct HgJobColumns
{
	bool reduces;
	bool gathers[2]; /* by HgSide */
} HgJobColumns;

/* Nothing is gathered from now on. */
extern void hg_gather_forget(HgGather *gather);

/* The same for the sides whose values, with so many pairs, would take more memory than this. */
extern void hg_gather_limit(HgGather *gather, uint64 pairs, uint64 bytes);

static inline bool
hg_gather_is_wanted(const HgGather *gather)
{
	return gather->columns[HG_OUTER] != NULL || gather->columns[HG_INNER] != NULL;
}

/* Bytes of a match, with its values. */
extern size_t hg_gather_match_bytes(const HgGather *gather);

/* Room for so many matches, or a few more, and their values. */
extern HgMatchBlock *hg_match_block_create(const HgGather *gather, size_t capacity,
										   MemoryContext context);
extern void hg_match_block_destroy(HgMatchBlock *block);

/* The room that is left in a block: for what next() of a job is to fill ... */
extern void hg_match_block_rest(const HgMatchBlock *block, const HgGather *gather, HgMatches *rest);

/* ... and has filled. */
extern void hg_match_block_add(HgMatchBlock *block, const HgGather *gather, const HgMatches *rest);

/* Have the values of a block be those that the job has gathered last; returns their columns. */
extern uint32 hg_gather_show(HgGather *gather, const HgMatchBlock *block);

#endif /* HG_GATHER_H */
