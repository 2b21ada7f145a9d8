/*-------------------------------------------------------------------------
 *
 * hg_planner.c
 *	  Hook into the planner.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "planner/hg_planner.h"

void
hg_planner_init(void)
{
	hg_scan_path_init();
	hg_planner_acquire();
	hg_aggregate_path_init();
}
