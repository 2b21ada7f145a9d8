/*-------------------------------------------------------------------------
 *
 * hashgraph.c
 *	  The entry point of the library: calls each room's init, nothing else.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "fmgr.h"

#include "backend/hg_device_worker.h"
#include "backend/hg_stats.h"
#include "executor/hg_join.h"
#include "hg_guc.h"
#include "planner/hg_planner.h"

HG_MODULE_MAGIC("hashgraph", HG_VERSION);

void _PG_init(void);

void
_PG_init(void)
{
	hg_guc_init();
	hg_stats_init();
	hg_device_worker_init();
	hg_executor_init();
	hg_planner_init();
}
