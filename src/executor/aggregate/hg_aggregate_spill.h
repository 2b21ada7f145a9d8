/*-------------------------------------------------------------------------
 *
 * hg_aggregate_spill.h
 *	  Rows of groups that are not in memory, in temporary files.
 *
 * While the input is read, rows go to partitions of a spill set.  The partitions are read one by
 * one then; rows of one of them that do not fit either make a set of the next level, which is read
 * before the other partitions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_SPILL_H
#define HG_AGGREGATE_SPILL_H

#include "nodes/pg_list.h"

#include "batch/hg_spill.h"

/* A spill set that is read, and its next partition. */
typedef struct HgAggregatePartitions
{
	HgSpill *spill;
	int next;
} HgAggregatePartitions;

typedef struct HgAggregateSpill
{
	MemoryContext context; /* of all that follows */
	HgColumnStore *layout; /* of the rows: none are in it */
	int *dense;			   /* [columns of a batch] 0, 1, 2, ... */
	HgBatch *batch;		   /* rows on their way back */
	int level;			   /* of the set that is made next: 0 while the input is read */
	HgSpill *writing;	   /* where rows go; or NULL */
	List *sets;			   /* stack of HgAggregatePartitions, innermost first */
} HgAggregateSpill;

/* Nothing is on disk, in CurrentMemoryContext; attributes attnos[ncolumns] of desc would be. */
extern void hg_aggregate_spill_init(HgAggregateSpill *spill, TupleDesc desc, int ncolumns,
									const int *attnos);

/* Is there anything on disk that is yet to be read? */
static inline bool
hg_aggregate_is_spilled(const HgAggregateSpill *spill)
{
	return spill->sets != NIL;
}

/* Can rows begin to go to disk: do none go there yet, and is there a level left? */
static inline bool
hg_aggregate_spill_can_start(const HgAggregateSpill *spill)
{
	return spill->writing == NULL && spill->level < HG_SPILL_LEVELS;
}

/* The input is read again from its start: nothing is on disk. */
extern void hg_aggregate_spill_reset(HgAggregateSpill *spill);

/*
 * The number of partitions, as a logarithm to base 2, of rows whose groups are expected to take so
 * many bytes in all, with so much memory for groups and buffers.
 */
extern int hg_aggregate_spill_bits(double expected, uint64 limit);

/*
 * Have rows go to disk from now on, whose groups are expected to take so many bytes in all.
 * Buffers are charged to a budget, which is that of the groups.  Returns how many partitions there
 * are.
 */
extern int hg_aggregate_spill_start(HgAggregateSpill *spill, double expected, HgBudget *budget);

/* Write the rows which[nrows] of a batch. */
extern void hg_aggregate_spill_write(HgAggregateSpill *spill, const HgSpillKeys *keys,
									 const HgBatch *batch, const uint16 *which, int nrows);

/* What was read is over: what was written of it, if anything, is read next.  Returns its bytes. */
extern uint64 hg_aggregate_spill_finish(HgAggregateSpill *spill);

/* Begin to read the next partition that has rows; false, and nothing is on disk, at the end. */
extern bool hg_aggregate_spill_next(HgAggregateSpill *spill);

/* The next rows of it, until the next call, or NULL at its end, where it is deleted. */
extern const HgBatch *hg_aggregate_spill_read(HgAggregateSpill *spill);

#endif /* HG_AGGREGATE_SPILL_H */
