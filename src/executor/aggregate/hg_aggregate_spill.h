/*-------------------------------------------------------------------------
 *
 * hg_aggregate_spill.h
 *	  Temporary files for rows whose groups are not in memory.
 *
 * While the input is read, rows go to the partitions of a spill set (batch/hg_spill.h): start,
 * write, finish.  Then the partitions are read one by one (next, read).  Rows of a partition that
 * do not fit either form a set of the next level, which is read before the remaining partitions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_AGGREGATE_SPILL_H
#define HG_AGGREGATE_SPILL_H

#include "nodes/pg_list.h"

#include "batch/hg_spill.h"

/* A spill set that is being read, and its next partition. */
typedef struct HgAggregatePartitions
{
	HgSpill *spill;
	int next;
	pg_atomic_uint32 *shared_next; /* next partition of all processes; NULL: they share no set */
} HgAggregatePartitions;

typedef struct HgAggregateSpill
{
	MemoryContext context; /* owns all that follows */
	HgColumnStore *layout; /* layout of the rows; it holds none */
	int *dense;			   /* [columns of a batch] 0, 1, 2, ... */
	HgBatch *batch;		   /* rows that were read from a file; others may read into it too */
	int level;			   /* level of the next set to be written: 0 while the input is read */
	HgSpill *writing;	   /* the set that rows are written to, or NULL */
	pg_atomic_uint32 *shared_next; /* of that set, if processes share it; otherwise NULL */
	List *sets;					   /* stack of HgAggregatePartitions, innermost first */
} HgAggregateSpill;

/*
 * Initializes *spill with nothing on disk, in CurrentMemoryContext.  Rows consist of attributes
 * attnos[ncolumns] (from 1) of desc.  They are read into batch, which has ncolumns.
 */
extern void hg_aggregate_spill_init(HgAggregateSpill *spill, TupleDesc desc, int ncolumns,
									const int *attnos, HgBatch *batch);

/* Returns true if there are partitions on disk that have not been read. */
static inline bool
hg_aggregate_is_spilled(const HgAggregateSpill *spill)
{
	return spill->sets != NIL;
}

/* Returns true if writing can start: no set is being written and a level is left. */
static inline bool
hg_aggregate_spill_can_start(const HgAggregateSpill *spill)
{
	return spill->writing == NULL && spill->level < HG_SPILL_LEVELS;
}

/* Deletes all files, because the input is read again from its start. */
extern void hg_aggregate_spill_reset(HgAggregateSpill *spill);

/* log2 of the least number of partitions of a spill set, unless processes share it. */
#define HG_AGGREGATE_MIN_BITS 2

/*
 * Returns log2 of the number of partitions for groups that are expected to take expected bytes in
 * all, if groups and file buffers may take limit bytes.  It is at least wanted, unless the buffers
 * would take too much of the limit, and at least HG_AGGREGATE_MIN_BITS.
 */
extern int hg_aggregate_spill_bits(double expected, uint64 limit, int wanted);

/*
 * Starts a spill set for rows whose groups are expected to take expected bytes in all.  The groups
 * of a partition and the file buffers may take limit bytes.  File buffers are charged to budget.
 * Returns the number of partitions.
 */
extern int hg_aggregate_spill_start(HgAggregateSpill *spill, double expected, uint64 limit,
									HgBudget *budget);

/*
 * Starts a spill set of 2^bits partitions that all participants write; bits is the same in all.
 * After its last row each calls hg_spill_publish(spill->writing), waits until all have done so, and
 * calls hg_spill_adopt(spill->writing); hg_aggregate_spill_finish(), which follows, does neither.
 * Then each reads partitions that no other one reads.  *next, in shared memory, is the first one
 * that none has taken, and starts as 0.
 */
extern void hg_aggregate_spill_start_shared(HgAggregateSpill *spill, int bits,
											const HgSpillParticipants *participants,
											pg_atomic_uint32 *next, HgBudget *budget);

/* Writes the rows which[nrows] of a batch, whose hashes are keys->words, to the set in writing. */
extern void hg_aggregate_spill_write(HgAggregateSpill *spill, const HgSpillKeys *keys,
									 const HgBatch *batch, const uint16 *which, int nrows);

/*
 * Ends writing, when the input or a partition was read.  Returns the size in bytes of the set that
 * was written meanwhile, which is read next; 0 if there is none.
 */
extern uint64 hg_aggregate_spill_finish(HgAggregateSpill *spill);

/* Starts to read the next partition that has rows.  Returns false when none is left on disk. */
extern bool hg_aggregate_spill_next(HgAggregateSpill *spill);

/*
 * Returns the next rows of the current partition, valid until the next call.  At the end returns
 * NULL and deletes the file.
 */
extern const HgBatch *hg_aggregate_spill_read(HgAggregateSpill *spill);

#endif /* HG_AGGREGATE_SPILL_H */
