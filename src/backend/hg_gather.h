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
#include "engine/hg_costs.h"

/* Values of columns of a side, in the order of the matches. */
typedef struct HgMatchValues
{
	const void *values[HG_MAX_COLUMNS]; /* of the column's width */
	const uint8 *nulls[HG_MAX_COLUMNS]; /* not 0 where the value is NULL; NULL where none is */
} HgMatchValues;

/* What a job gathers, by HgSide, and room for its chunks; all zero: nothing. */
typedef struct HgGather
{
	const HgColumnSet *columns[2]; /* that the job has, or will have; or NULL */
	void *values[2][HG_MAX_COLUMNS];
	uint8 *nulls[2][HG_MAX_COLUMNS];
	HgMatchValues matched[2]; /* of the last chunk ... */
	bool has_matched[2];	  /* ... if they came */
} HgGather;

/*
 * Choose of the columns of each side, which may be NULL, those that a device gathers for so many
 * pairs in less time than it takes to look each value up by its row; none where costs are unknown.
 */
extern void hg_gather_choose(uint32 key_width, const HgColumnSet *const columns[2],
							 const uint64 rows[2], double pairs, const HgColumnSet *chosen[2]);

/* Nothing is gathered from now on. */
extern void hg_gather_forget(HgGather *gather);

static inline bool
hg_gather_is_wanted(const HgGather *gather)
{
	return gather->columns[HG_OUTER] != NULL || gather->columns[HG_INNER] != NULL;
}

/* Bytes that the values of a match take. */
extern size_t hg_gather_bytes(const HgGather *gather);

/* Make room for the values of chunks of so many matches. */
extern void hg_gather_reserve(HgGather *gather, size_t capacity, MemoryContext context);

/* Ask for the values that are to come with the next matches ... */
extern void hg_gather_ask(HgGather *gather, HgMatches *matches);

/* ... which have come; returns their columns. */
extern uint32 hg_gather_take(HgGather *gather, const HgMatches *matches);

#endif /* HG_GATHER_H */
