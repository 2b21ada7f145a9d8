/*-------------------------------------------------------------------------
 *
 * hg_join_size.h
 *	  The memory that a join may use, and the sizes that it is expected to have.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_SIZE_H
#define HG_JOIN_SIZE_H

#include "backend/hg_budget.h"
#include "batch/hg_input.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/* The join's memory: the inputs, each with its own part of the budget, and the rest. */
typedef struct HgJoinMemory
{
	MemoryContext context; /* inputs, spill sets, filter, bits and upload live in it */
	HgBudget budget;	   /* work memory */
	HgBudget files;		   /* its part for filter, bits and buffers of files */
} HgJoinMemory;

/* Initializes budgets of limit bytes, and creates the context below CurrentMemoryContext. */
extern void hg_join_memory_init(HgJoinMemory *memory, uint64 limit);

/* Returns the bytes that both inputs may take together. */
extern uint64 hg_join_limit(const HgJoinMemory *memory);

/* Returns log2 of the number of partitions for expected bytes of inner rows. */
extern int hg_join_partition_bits(const HgJoinMemory *memory, double expected);

/*
 * Returns the rows of a side that the plan expects in each process.  If one process reads the side
 * for all, they are divided among the processes.
 */
extern double hg_join_planned_rows(const HgJoinState *state, HgSide side);

/* Returns the bytes of both sides' rows that the plan expects in all processes. */
extern double hg_join_planned_bytes(const HgJoinState *state);

/*
 * Returns the expected bytes of the inner side: the larger of twice the bytes in memory, and the
 * planned rows without `covered` rows times the planned bytes of a row.
 */
extern double hg_join_expected_bytes(const HgInput *inner, double covered);

/*
 * Returns how many inner rows one process can hold: half of hg_join_limit(), divided by the
 * planned bytes of a row.  Returns PG_UINT64_MAX if the child has no more inner rows and none are
 * on disk.
 */
extern double hg_join_inner_room(const HgJoinState *state);

/* A filter may take 1 / HG_FILTER_SHARE of the memory of both inputs. */
#define HG_FILTER_SHARE 8

/*
 * Returns true if filtering outer rows without a match while they are read may pay.  If the inner
 * side is small beside the outer one, the filter is cheap and itself finds out whether it pays;
 * otherwise the planner's estimate decides.
 */
extern bool hg_join_filter_may_pay(const HgJoinState *state, double inner_rows);

#endif /* HG_JOIN_SIZE_H */
