/*-------------------------------------------------------------------------
 *
 * hg_budget.h
 *	  What a node may take of memory, what it has taken, and the most that it took.
 *
 * Every copy whose size a query decides is charged to a budget: rows that are kept, values of
 * groups, bits, filters, buffers of files, matches that came from a device.  Whoever holds memory
 * has a charge, which says how much it holds now; it is set when that grows, and set to 0 when
 * the memory is let go or used for something else.
 *
 * A budget refuses nothing.  Its owner looks whether it is full between two steps, none of which
 * charges more than a batch (hg_batch.h), and goes to disk then.
 *
 * What is charged to a budget is charged to its parent, too: each input of a join has a part of
 * what the join has.  The peak of a node's budget is what EXPLAIN shows as Memory Usage.
 *
 * What is gone before the next row is looked at is not charged: what expressions leave behind.
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
	uint64 limit;	  /* its owner's to change */
	uint64 charged;	  /* now */
	uint64 peak;	  /* the most there was */
};

/* What somebody holds.  Zeros: nothing, and of no budget. */
typedef struct HgCharge
{
	HgBudget *budget; /* or NULL: it is counted here alone */
	uint64 bytes;
} HgCharge;

/* What several processes may take together, in shared memory. */
typedef struct HgSharedBudget
{
	uint64 limit;
	pg_atomic_uint64 charged; /* as far as they have told of it */
} HgSharedBudget;

static inline void
hg_budget_init(HgBudget *budget, HgBudget *parent, uint64 limit)
{
	*budget = (HgBudget){.parent = parent, .limit = limit};
}

/* Is more charged than may be? */
static inline bool
hg_budget_is_full(const HgBudget *budget)
{
	return budget->charged > budget->limit;
}

/* What may still be charged. */
static inline uint64
hg_budget_room(const HgBudget *budget)
{
	return hg_budget_is_full(budget) ? 0 : budget->limit - budget->charged;
}

/* So many bytes are held now, whatever it was before. */
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

extern void hg_shared_budget_init(HgSharedBudget *shared, uint64 limit);

/*
 * A budget of this process has been charged so much more; returns what all have.  That does not
 * fall again until it is initialised: all who look at it when the last has told of its own see the
 * same.
 */
extern uint64 hg_shared_budget_add(HgSharedBudget *shared, uint64 bytes);

/* What all processes together have left. */
extern uint64 hg_shared_budget_room(HgSharedBudget *shared);

#endif /* HG_BUDGET_H */
