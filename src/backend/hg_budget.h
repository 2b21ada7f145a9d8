/*-------------------------------------------------------------------------
 *
 * hg_budget.h
 *	  Memory budgets: how much memory a node may use, uses, and has used at most.
 *
 * Every copy whose size a query decides is charged to a budget: stored rows, values of groups,
 * bits, filters, file buffers, matches from a device.  The owner of such memory has a charge,
 * which says how many bytes it uses now.  It sets the charge when that grows, and to 0 when the
 * memory is freed or used for something else.
 *
 * A budget refuses nothing.  Its owner checks whether it is full between two steps, none of which
 * charges more than a batch (hg_batch.h), and then goes to disk.
 *
 * What is charged to a budget is also charged to its parent: each input of a join has a budget
 * below the join's.  EXPLAIN shows the peak of a node's budget as Memory Usage.
 *
 * Memory that is freed before the next row, such as what expressions leave behind, is not charged.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BUDGET_H
#define HG_BUDGET_H

#include "postgres.h"

#include "port/atomics.h"

typedef struct HgBudget HgBudget;
struct HgBudget
{
	HgBudget *parent; /* or NULL */
	uint64 limit;	  /* in bytes; the owner may change it */
	uint64 charged;	  /* bytes charged now */
	uint64 peak;	  /* largest value of charged */
};

/* What one owner of memory has charged.  All zeros: no memory, and no budget. */
typedef struct HgCharge
{
	HgBudget *budget; /* or NULL: counted only here */
	uint64 bytes;
} HgCharge;

/* A limit that several processes have together, in shared memory. */
typedef struct HgSharedBudget
{
	uint64 limit;
	pg_atomic_uint64 charged; /* as reported by hg_shared_budget_add */
} HgSharedBudget;

/* Initializes an empty budget with a limit in bytes; parent may be NULL. */
static inline void
hg_budget_init(HgBudget *budget, HgBudget *parent, uint64 limit)
{
	*budget = (HgBudget){.parent = parent, .limit = limit};
}

/* Returns true if more is charged than the limit. */
static inline bool
hg_budget_is_full(const HgBudget *budget)
{
	return budget->charged > budget->limit;
}

/* Returns the bytes that may still be charged. */
static inline uint64
hg_budget_room(const HgBudget *budget)
{
	return hg_budget_is_full(budget) ? 0 : budget->limit - budget->charged;
}

/* Sets a charge to this many bytes; budgets and their parents change by the difference. */
static inline void
hg_charge_set(HgCharge *charge, uint64 bytes)
{
	for (HgBudget *budget = charge->budget; budget != NULL; budget = budget->parent)
	{
		budget->charged += bytes - charge->bytes;
		budget->peak = Max(budget->peak, budget->charged);
	}
	charge->bytes = bytes;
}

/* Initializes a shared budget, to which nothing is charged, with a limit in bytes. */
static inline void
hg_shared_budget_init(HgSharedBudget *shared, uint64 limit)
{
	shared->limit = limit;
	pg_atomic_init_u64(&shared->charged, 0);
}

/*
 * Adds bytes that a budget of this process has been charged, and returns the sum of all processes.
 * The sum never falls until the next initialization: all processes that read it after the last one
 * has added its bytes see the same.
 */
static inline uint64
hg_shared_budget_add(HgSharedBudget *shared, uint64 bytes)
{
	return pg_atomic_add_fetch_u64(&shared->charged, (int64) bytes);
}

/* Returns the bytes that all processes together may still charge; 0 beyond the limit. */
static inline uint64
hg_shared_budget_room(HgSharedBudget *shared)
{
	uint64 charged = pg_atomic_read_u64(&shared->charged);

	return charged < shared->limit ? shared->limit - charged : 0;
}

#endif /* HG_BUDGET_H */
