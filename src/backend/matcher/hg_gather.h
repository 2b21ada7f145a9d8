/*-------------------------------------------------------------------------
 *
 * hg_gather.h
 *	  Columns of a job: their values come with its matches, or the engine makes groups of
 *	  the matches.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_GATHER_H
#define HG_GATHER_H

#include "hg_compat.h"

#include "engine/hg_reduce.h"

/*
 * Columns of a job, and groups that the engine makes of its matches instead of returning them.
 *
 * Some engines take columns beside the keys, return their values with the matches and reduce
 * matches to groups (hg_engine.h). A reduction describes the groups and where the columns come
 * from. The result is a set of groups. All groups arrive before any is used, so the loss of a
 * device costs only time.
 */

/* Columns of a side's rows. */
typedef struct HgColumnSet
{
	uint32 ncolumns;
	uint8 widths[HG_MAX_COLUMNS];

	/*
	 * Returns the values of a column from a row on, at most rows of them. *values has n values of
	 * the column's width and *nulls their NULL flags, or NULL if there are none. Both are valid
	 * until the next call. Returns n, from 1 to rows.
	 */
	uint64 (*read)(void *arg, uint32 column, uint64 row, uint64 rows, const void **values,
				   const uint8 **nulls);
	void *arg;
} HgColumnSet;

typedef struct HgReduction
{
	HgReduceSpec spec;
	HgColumnSet columns[2]; /* by HgSide */
} HgReduction;

/* The groups of a reduction: count records (hg_engine.h), in no order. */
typedef struct HgGroupSet
{
	uint64 *words; /* [count * hg_reduce_words(spec)] */
	uint64 count;
	uint64 pairs;  /* matches of all groups together */
	bool too_many; /* more than spec.max_groups: count is 0 */
	bool partial;  /* some matches are in no group and must be streamed */
} HgGroupSet;

/*
 * Appends the values of all columns of a set to a job, for rows first_row .. first_row + rows - 1,
 * whose keys the job has. Returns the engine's status. set may be NULL: no columns.
 */
extern HgStatus hg_column_set_append(const HgColumnSet *set, HgEngine *engine, HgJob *job,
									 HgSide side, uint64 first_row, uint64 rows, HgError *error);

/*
 * Reduces all matches of a built job, and stores all groups in *groups, with the records in
 * context. Too many groups are HG_OK with too_many set. Leaves partial false. Any other status
 * fills *error, and *groups must not be used. Raises an error if there is no memory, or for an
 * interrupt.
 */
extern HgStatus hg_reduction_fetch(const HgReduction *reduction, HgEngine *engine, HgJob *job,
								   HgMatchMode mode, MemoryContext context, HgGroupSet *groups,
								   HgError *error);

/* Sets the number and the widths of both sides' columns in a job spec to the reduction's. */
extern void hg_reduction_fill_spec(const HgReduction *reduction, HgJobSpec *spec);
/* Sets the number and the widths of one side's columns in a job spec; set is not NULL. */
extern void hg_column_set_fill_spec(const HgColumnSet *set, HgSide side, HgJobSpec *spec);

/* Returns the bytes of a row's values and of a flag byte for each. set may be NULL: 0. */
extern size_t hg_column_set_bytes(const HgColumnSet *set);

/* Returns the bytes of the values of all columns, for this many rows, without NULL flags. */
extern double hg_reduction_bytes(const HgReduction *reduction, uint64 outer_rows,
								 uint64 inner_rows);

/* Values of columns that come with the matches of a job. */

/* Values of a side's columns, in the order of the matches. */
typedef struct HgMatchValues
{
	const void *values[HG_MAX_COLUMNS]; /* of the column's width */
	const uint8 *nulls[HG_MAX_COLUMNS]; /* not 0 for a NULL value; NULL if the column has none */
} HgMatchValues;

/* The columns whose values come with a job's matches, by HgSide; all zero means none. */
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

/* Removes the columns of both sides, and the values. */
extern void hg_gather_forget(HgGather *gather);

/*
 * Removes the columns of a side if this many pairs would take more than bytes bytes with their
 * values. Decides about the outer side first.
 */
extern void hg_gather_limit(HgGather *gather, uint64 pairs, uint64 bytes);

/* Returns true if columns of the outer or of the inner side are gathered. */
static inline bool
hg_gather_has_columns(const HgGather *gather)
{
	return gather->columns[HG_OUTER] != NULL || gather->columns[HG_INNER] != NULL;
}

/* Returns the bytes of a match: two row numbers, and values with their flag bytes. */
extern size_t hg_gather_match_bytes(const HgGather *gather);

/* Allocates an empty block for at least capacity matches; an error if there is no memory. */
extern HgMatchBlock *hg_match_block_create(const HgGather *gather, size_t capacity,
										   MemoryContext context);

/* Frees a block. */
extern void hg_match_block_destroy(HgMatchBlock *block);

/* Makes *rest name the free part of a block, so that next() of a job writes there. */
extern void hg_match_block_rest(const HgMatchBlock *block, const HgGather *gather, HgMatches *rest);

/* Adds to the block's count the rest->count matches that a job has written into *rest. */
extern void hg_match_block_add(HgMatchBlock *block, const HgGather *gather, const HgMatches *rest);

/* Makes gather->matched point to the block's values; returns the number of columns. */
extern uint32 hg_gather_show(HgGather *gather, const HgMatchBlock *block);

#endif /* HG_GATHER_H */
