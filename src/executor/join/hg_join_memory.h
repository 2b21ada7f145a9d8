/*-------------------------------------------------------------------------
 *
 * hg_join_memory.h
 *	  The memory that a join may use, the sizes expected, and its partitions on disk.
 *
 * The spill sets of both sides are partitioned alike and joined partition by partition.  A
 * partition that is still too large is partitioned again; its sets are joined before the remaining
 * partitions of the sets that it came from.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_MEMORY_H
#define HG_JOIN_MEMORY_H

#include "port/atomics.h"

#include "backend/hg_budget.h"
#include "batch/hg_input.h"
#include "batch/hg_spill.h"
#include "executor/join/hg_join_rules.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/* The join's memory: the inputs, each with its own part of the budget, and the rest. */
typedef struct HgJoinMemory
{
	MemoryContext context; /* inputs, spill sets, filter, bits and upload live in it */
	HgBudget budget;	   /* work memory */
	HgBudget files;		   /* its part for filter, bits and buffers of files */
} HgJoinMemory;

/* Initializes *memory with a budget of limit bytes, and a context below CurrentMemoryContext. */
extern void hg_join_memory_init(HgJoinMemory *memory, uint64 limit);

/* Returns the bytes that both inputs may take together: the budget less the files' part. */
extern uint64 hg_join_limit(const HgJoinMemory *memory);

/* Returns log2 of the number of partitions, at least 4, for `expected` bytes of inner rows. */
extern int hg_join_partition_bits(const HgJoinMemory *memory, double expected);

/*
 * Returns the rows of a side that the plan expects in each process.  If one process reads the side
 * for all, they are divided among the processes.
 */
extern double hg_join_planned_rows(const HgJoinState *state, HgSide side);

/* Returns the bytes of both sides' rows that the plan expects in all processes. */
extern double hg_join_planned_bytes(const HgJoinState *state);

/*
 * Returns the expected bytes of the inner side in this process: the larger of twice the bytes in
 * memory, and the planned rows, less `covered` rows, times the planned bytes of a row.
 */
extern double hg_join_expected_bytes(const HgInput *inner, double covered);

/*
 * Returns how many inner rows one process can hold: half of hg_join_limit(), divided by the
 * planned bytes of a row.  Returns PG_UINT64_MAX if the child has no more inner rows and none are
 * on disk.
 */
extern double hg_join_inner_room(const HgJoinMemory *memory, const HgInput *inner);

/* The part of the memory of both inputs that inner rows may take if outer rows are streamed. */
#define HG_STREAM_SHARE 0.875

/* A filter may take 1 / HG_FILTER_SHARE of the memory of both inputs. */
#define HG_FILTER_SHARE 8

/*
 * Returns true if a filter of the keys of a side with rows rows may pay, which rejects rows without
 * a match among the other_rows of the other side.  If the side is small beside the other one, the
 * filter is cheap and itself finds out whether it pays; otherwise the planner's estimate decides.
 */
extern bool hg_join_filter_may_pay(const HgJoinState *state, HgSide side, double rows,
								   double other_rows);

/* ---------------------------------------------------------------------
 * Partitions
 * ---------------------------------------------------------------------
 */

/* Spill sets of both sides with the same partitioning. */
typedef struct HgPartitions
{
	HgSpill *sides[2];		/* by HgSide */
	int current;			/* the partition that is joined; -1 before the first */
	pg_atomic_uint32 *next; /* if processes share the sets: the next partition to take; or NULL */
} HgPartitions;

/* The spill sets of a join.  Zeros: nothing is on disk. */
typedef struct HgJoinSpill
{
	List *sets;	   /* stack of HgPartitions, innermost first */
	bool writing;  /* rows are still written to the innermost set */
	uint64 joined; /* partitions of deleted sets */
} HgJoinSpill;

/* Returns true if partitions are left to be joined, the current one included. */
static inline bool
hg_join_is_spilled(const HgJoinSpill *spill)
{
	return spill->sets != NIL;
}

/*
 * Pushes the spill sets sides[2], which are joined before those that are there, and starts writing
 * to them; in CurrentMemoryContext.  The join owns them from now on.  next: see HgPartitions.
 */
extern void hg_join_spill_push(HgJoinSpill *spill, HgSpill *const sides[2], pg_atomic_uint32 *next);

/* Ends writing to the innermost sets and returns their size in bytes. */
extern uint64 hg_join_spill_finish(HgJoinSpill *spill);

/* Returns the bytes written so far to sets that are being written; 0 if there are none. */
extern uint64 hg_join_spill_unfinished_bytes(const HgJoinSpill *spill);

/* Returns the number of finished partitions, whichever process joined them. */
extern uint64 hg_join_spill_joined(const HgJoinSpill *spill);

/*
 * Deletes the current partition and moves to the next one that can return a row.  covered[] says
 * which sides have covered rows, which the other side's rows may match.  Sets without another
 * partition are deleted.  Returns the sets whose current partition it is; NULL: none is left.
 */
extern HgPartitions *hg_join_spill_next(HgJoinSpill *spill, const HgJoinRules *rules,
										const bool covered[2]);

/*
 * Returns true if partitioning the current partition again costs less than joining it in the given
 * number of chunks of its inner rows.  Partitioning writes and reads all of its rows once more.
 * Each chunk but the first reads the outer rows again, and the covered outer rows if outer_covered
 * is set.  Partitioning does not help if the partition has most rows of its set, because nearly
 * all of them share a key.
 */
extern bool hg_join_spill_pays(const HgPartitions *partitions, double chunks, bool outer_covered);

/* Deletes the current partition, whose rows were moved to other sets. */
extern void hg_join_spill_drop_current(HgPartitions *partitions);

/* Deletes all sets. */
extern void hg_join_spill_drop(HgJoinSpill *spill);

#endif /* HG_JOIN_MEMORY_H */
