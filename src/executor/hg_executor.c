/*-------------------------------------------------------------------------
 *
 * hg_executor.c
 *	  Registration of the executor's custom scan nodes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/aggregate/hg_aggregate.h"
#include "executor/hg_executor.h"
#include "executor/join/hg_join.h"
#include "executor/lookup/hg_scan_lookup.h"
#include "executor/sort/hg_sort.h"

void
hg_executor_init(void)
{
	hg_join_init();
	hg_aggregate_init();
	hg_scan_lookup_init();
	hg_sort_init();
}
