/*-------------------------------------------------------------------------
 *
 * hg_join_spill.h
 *	  The join node's partitions on disk.
 *
 * Spill sets of both sides are cut alike, and taken partition by partition.  A partition that is
 * still too large is cut again: its sets are then taken before the others of those it is from.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_SPILL_H
#define HG_JOIN_SPILL_H

#include "port/atomics.h"

#include "batch/hg_spill.h"
#include "executor/join/hg_join_rules.h"

/* Spill sets of both sides that are cut alike. */
typedef struct HgPartitions
{
	HgSpill *sides[2];		/* by HgSide */
	int current;			/* the partition that is joined; -1 before the first */
	pg_atomic_uint32 *next; /* where processes share the sets: the next one to be taken */
} HgPartitions;

/* Zeros: nothing is on disk. */
typedef struct HgJoinSpill
{
	List *sets;	   /* stack of HgPartitions, innermost first */
	bool writing;  /* ... which rows go to, so far */
	uint64 joined; /* partitions of sets that are no more */
} HgJoinSpill;

/* Are there partitions that are not joined yet, or the one that is being joined? */
static inline bool
hg_join_is_spilled(const HgJoinSpill *spill)
{
	return spill->sets != NIL;
}

/*
 * Take over the spill sets of both sides, sides[2], which are taken before those that are there,
 * in CurrentMemoryContext, and have rows written to them.  next: see HgPartitions, or NULL.
 */
extern void hg_join_spill_push(HgJoinSpill *spill, HgSpill *const sides[2], pg_atomic_uint32 *next);

/* All rows are in the innermost sets: their bytes. */
extern uint64 hg_join_spill_finish(HgJoinSpill *spill);

/* What has gone to sets that rows still go to. */
extern uint64 hg_join_spill_unfinished_bytes(const HgJoinSpill *spill);

/* Partitions that are done with; of those that processes share, by whichever of them. */
extern uint64 hg_join_spill_joined(const HgJoinSpill *spill);

/*
 * Takes the next partition that a row may be returned of, whose rows of a side may find matches
 * among covered rows of the other one: it is the current one of the sets that are returned.  The
 * one before is deleted, and so are sets without another one.  NULL where none is left.
 */
extern HgPartitions *hg_join_spill_next(HgJoinSpill *spill, const HgJoinRules *rules,
										const bool covered[2]);

/*
 * True if cutting the current partition again costs less than joining it in chunks, which is how
 * many parts of its inner rows memory holds one after the other.  To cut it, all of its rows are
 * written and read once more; in chunks, each one but the first reads the outer rows again, and the
 * outer rows that a cached index covers, where outer_covered says that there are such.  Cutting
 * does not help if the partition has most rows of its set: nearly all of them share a key.
 */
extern bool hg_join_spill_pays(const HgPartitions *partitions, double chunks, bool outer_covered);

/* Delete the current partition, whose rows are elsewhere now. */
extern void hg_join_spill_drop_current(HgPartitions *partitions);

/* Delete all sets. */
extern void hg_join_spill_drop(HgJoinSpill *spill);

#endif /* HG_JOIN_SPILL_H */
