/*-------------------------------------------------------------------------
 *
 * hg_reduction.h
 *	  Columns that an engine has, and groups that it makes of matches instead of returning them.
 *
 * Some engines take columns beside the keys, whose values come with the matches, and reduce matches
 * to groups (hg_engine.h).  What they are asked for then, and where they get the columns from, is a
 * reduction; what comes of it is a set of groups, all of which are here before anybody sees
 * one: what is lost with a device is no more than time.
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
	 * Where the values of a column lie from a row on: *values[n] of its width each and *nulls[n],
	 * flags of those that are NULL, or NULL where none is; both until the next call.  Returns n,
	 * from 1 to rows.
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

/* What matches were reduced to: count records (hg_engine.h), in no order. */
typedef struct HgGroupSet
{
	uint64 *words; /* [count * hg_reduce_words(spec)] */
	uint64 count;
	uint64 pairs;  /* that they are made of, all together */
	bool too_many; /* there are more than spec.max_groups, and none is here */
	bool partial;  /* they are not made of all matches: the others are to be streamed */
} HgGroupSet;

/* Give a job the columns of rows that it has the keys of; set may be NULL: none. */
extern HgStatus hg_column_set_append(const HgColumnSet *set, HgEngine *engine, HgJob *job,
									 HgSide side, uint64 first_row, uint64 rows, HgError *error);

/* Reduce all matches of a built job; the records are allocated in context. */
extern HgStatus hg_reduction_fetch(const HgReduction *reduction, HgEngine *engine, HgJob *job,
								   HgMatchMode mode, MemoryContext context, HgGroupSet *groups,
								   HgError *error);

/* Enter the columns into what is asked of a job: all, or those of a set. */
extern void hg_reduction_fill_spec(const HgReduction *reduction, HgJobSpec *spec);
extern void hg_column_set_fill_spec(const HgColumnSet *set, HgSide side, HgJobSpec *spec);

/* Bytes that the values of a row take with those that tell NULL; set may be NULL: none. */
extern size_t hg_column_set_bytes(const HgColumnSet *set);

/* Bytes of the columns of so many rows. */
extern double hg_reduction_bytes(const HgReduction *reduction, uint64 outer_rows,
								 uint64 inner_rows);

#endif /* HG_REDUCTION_H */
