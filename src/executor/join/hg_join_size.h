/*-------------------------------------------------------------------------
 *
 * hg_join_size.h
 *	  What a join may hold, and what it is expected to be like.
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

/*
 * The memory that the join may use, and uses: the inputs, each of which has a part of it, and what
 * lies beside them.
 */
typedef struct HgJoinMemory
{
	MemoryContext context; /* of the inputs, the spill sets, the filter, the bits and the sender */
	HgBudget budget;	   /* of work memory */
	HgBudget files;		   /* the part of a filter, of bits, and of buffers of temporary files */
} HgJoinMemory;

/*
 * Begins with no memory used, in a context below CurrentMemoryContext; at most limit bytes may be.
 */
extern void hg_join_memory_init(HgJoinMemory *memory, uint64 limit);

/* What both inputs may take together. */
extern uint64 hg_join_limit(const HgJoinMemory *memory);

/* How many partitions, as a power of two, for expected bytes of inner rows. */
extern int hg_join_partition_bits(const HgJoinMemory *memory, double expected);

/*
 * Rows of a side that the plan expects in a process: of a child that one of them reads for all, a
 * share, as of any other.
 */
extern double hg_join_planned_rows(const HgJoinState *state, HgSide side);

/* What the rows of both sides take that the plan expects in all processes. */
extern double hg_join_planned_bytes(const HgJoinState *state);

/*
 * The memory that the inner side is expected to take, from the rows in memory and the plan's
 * estimate, less so many covered rows.
 */
extern double hg_join_expected_bytes(const HgInput *inner, double covered);

/* Returns how many inner rows a process may have in memory; those that are there may stay. */
extern double hg_join_inner_room(const HgJoinState *state);

/* A filter may take one part in so many of the memory of both inputs. */
#define HG_FILTER_SHARE 8

/*
 * Are outer rows that match nothing worth finding while they are read?  Where the inner side
 * is small beside the outer one a filter costs next to nothing, and shows itself whether
 * it is worth its price; else the planner's estimate decides.
 */
extern bool hg_join_filter_may_pay(const HgJoinState *state, double inner_rows);

#endif /* HG_JOIN_SIZE_H */
