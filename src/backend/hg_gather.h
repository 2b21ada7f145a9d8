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

#include "backend/hg_reduction.h"

/* Values of columns of a side, in the order of the matches. */
typedef struct HgMatchValues
{
	const void *values[HG_MAX_COLUMNS]; /* of the column's width */
	const uint8 *nulls[HG_MAX_COLUMNS]; /* not 0 where the value is NULL; NULL where none is */
} HgMatchValues;

/* What a job gathers, by HgSide, and room for its matches' values; all zero: nothing. */
typedef struct HgGather
{
	const HgColumnSet *columns[2];	 /* that the job has, or will have; or NULL */
	void *values[2][HG_MAX_COLUMNS]; /* [capacity] of the caller's */
	uint8 *nulls[2][HG_MAX_COLUMNS]; /* [capacity], undefined where no value is NULL: */
	bool has_nulls[2][HG_MAX_COLUMNS];
	HgMatchValues matched[2]; /* of the matches that were shown last ... */
	bool has_matched[2];	  /* ... if they came */
} HgGather;

/* The columns that a job is to have before all keys are there: of a reduction, or of sides. */
typedef struct HgJobColumns
{
	bool reduces;
	bool gathers[2]; /* by HgSide */
} HgJobColumns;

/* Nothing is gathered from now on, and what was is freed. */
extern void hg_gather_forget(HgGather *gather);

/* The same for the sides whose values, with so many pairs, would take more memory than this. */
extern void hg_gather_limit(HgGather *gather, uint64 pairs, uint64 bytes);

static inline bool
hg_gather_is_wanted(const HgGather *gather)
{
	return gather->columns[HG_OUTER] != NULL || gather->columns[HG_INNER] != NULL;
}

/* Bytes that the values of a match take. */
extern size_t hg_gather_bytes(const HgGather *gather);

/* Make room for the values of so many matches, the first of which may be there already. */
extern void hg_gather_reserve(HgGather *gather, size_t capacity, MemoryContext context);

/* Ask for the values that are to come with the next matches, in their place from first on ... */
extern void hg_gather_ask(HgGather *gather, HgMatches *matches, size_t first);

/* ... which have come, behind those that are kept before them. */
extern void hg_gather_keep(HgGather *gather, const HgMatches *matches, size_t first);

/* The values from first on are those of the caller's matches; returns their columns. */
extern uint32 hg_gather_show(HgGather *gather, size_t first);

#endif /* HG_GATHER_H */
