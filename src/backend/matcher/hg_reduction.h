/*-------------------------------------------------------------------------
 *
 * hg_reduction.h
 *	  Columns of a job, and groups that the engine makes of its matches instead of returning them.
 *
 * Some engines take columns beside the keys, return their values with the matches and reduce
 * matches to groups (hg_engine.h). A reduction describes the groups and where the columns come
 * from. The result is a set of groups. All groups arrive before any is used, so the loss of a
 * device costs only time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_REDUCTION_H
#define HG_REDUCTION_H

#include "engine/hg_reduce.h"
#include "hg_compat.h"

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

/* Gives a job the columns of the rows from first_row on. set may be NULL: none. */
extern HgStatus hg_column_set_append(const HgColumnSet *set, HgEngine *engine, HgJob *job,
									 HgSide side, uint64 first_row, uint64 rows, HgError *error);

/* Reduces all matches of a built job. The records are allocated in context. */
extern HgStatus hg_reduction_fetch(const HgReduction *reduction, HgEngine *engine, HgJob *job,
								   HgMatchMode mode, MemoryContext context, HgGroupSet *groups,
								   HgError *error);

/* Enters the columns of a reduction into a job spec. */
extern void hg_reduction_fill_spec(const HgReduction *reduction, HgJobSpec *spec);
/* Enters the columns of one side into a job spec. */
extern void hg_column_set_fill_spec(const HgColumnSet *set, HgSide side, HgJobSpec *spec);

/* Returns the bytes of a row's values and NULL flags. set may be NULL: 0. */
extern size_t hg_column_set_bytes(const HgColumnSet *set);

/* Returns the bytes of the columns of all rows of both sides, without NULL flags. */
extern double hg_reduction_bytes(const HgReduction *reduction, uint64 outer_rows,
								 uint64 inner_rows);

#endif /* HG_REDUCTION_H */
