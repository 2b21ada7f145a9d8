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

/* Values of a side's columns, in the order of the matches. */
typedef struct HgMatchValues
{
	const void *values[HG_MAX_COLUMNS]; /* of the column's width */
	const uint8 *nulls[HG_MAX_COLUMNS]; /* not 0 for a NULL value; NULL if the column has none */
} HgMatchValues;

/* What a job gathers, by HgSide; all zero means nothing. */
typedef struct HgGather
{
	const HgColumnSet *columns[2]; /* columns that the job has or will have; or NULL */
	HgMatchValues matched[2];	   /* values of the matches that were returned last */
	bool has_matched[2];		   /* these values came */
} HgGather;

/* Matches and their values, in one allocation. */
typedef struct HgMatchBlock
{
	struct HgMatchBlock *next; /* for the list that the block is in */
	HgMatches all;			   /* the matches so far, with room for all.capacity */
} HgMatchBlock;

/* Which columns a job has before all keys are there: those of a reduction, or of sides. */
typedef struct HgJobColumns
{
	bool reduces;
	bool gathers[2]; /* by HgSide */
} HgJobColumns;

/* Stops gathering values. */
extern void hg_gather_forget(HgGather *gather);

/* Stops gathering a side's values if those of all pairs would take more than bytes bytes. */
extern void hg_gather_limit(HgGather *gather, uint64 pairs, uint64 bytes);

/* Returns true if any values are gathered. */
static inline bool
hg_gather_has_columns(const HgGather *gather)
{
	return gather->columns[HG_OUTER] != NULL || gather->columns[HG_INNER] != NULL;
}

/* Returns the bytes of a match with its values. */
extern size_t hg_gather_match_bytes(const HgGather *gather);

/* Allocates a block for at least capacity matches and their values. */
extern HgMatchBlock *hg_match_block_create(const HgGather *gather, size_t capacity,
										   MemoryContext context);

/* Frees a block. */
extern void hg_match_block_destroy(HgMatchBlock *block);

/* Fills *rest with the free part of a block, for next() of a job. */
extern void hg_match_block_rest(const HgMatchBlock *block, const HgGather *gather, HgMatches *rest);

/* Adds to the block the matches that a job has written into *rest. */
extern void hg_match_block_add(HgMatchBlock *block, const HgGather *gather, const HgMatches *rest);

/* Makes a block's values the last ones of gather; returns the number of gathered columns. */
extern uint32 hg_gather_show(HgGather *gather, const HgMatchBlock *block);

#endif /* HG_GATHER_H */
