/*-------------------------------------------------------------------------
 *
 * hg_planner.c
 *	  Hooks into the planner.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "planner/hg_paths.h"
#include "planner/hg_plan_reasons.h"

void
hg_planner_init(bool preloading)
{
	hg_plan_explain_init(preloading);
	if (!preloading)
		return;
	hg_scan_path_init();
	hg_scan_lookup_path_init();
	hg_join_path_acquire();
	hg_aggregate_path_init();
	hg_set_operation_path_init();
	hg_sort_path_init();
	hg_subplan_path_init();
	hg_plan_reasons_init();
	hg_plan_cached_init();
}
