/*-------------------------------------------------------------------------
 *
 * hg_budget.c
 *	  Memory budgets that several processes share.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "backend/hg_budget.h"

void
hg_shared_budget_init(HgSharedBudget *shared, uint64 limit)
{
	shared->limit = limit;
	pg_atomic_init_u64(&shared->charged, 0);
}

uint64
hg_shared_budget_add(HgSharedBudget *shared, uint64 bytes)
{
	return pg_atomic_add_fetch_u64(&shared->charged, (int64) bytes);
}

uint64
hg_shared_budget_room(HgSharedBudget *shared)
{
	uint64 charged = pg_atomic_read_u64(&shared->charged);

	return charged < shared->limit ? shared->limit - charged : 0;
}
