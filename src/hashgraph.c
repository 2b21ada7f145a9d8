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
#include "miscadmin.h"

#include "backend/device/hg_device_supervisor.h"
#include "backend/hg_memory.h"
#include "backend/hg_progress.h"
#include "backend/hg_stats.h"
#include "executor/aggregate/hg_aggregate.h"
#include "executor/join/hg_join.h"
#include "executor/join/hg_join_lookup.h"
#include "executor/lookup/hg_scan_lookup.h"
#include "executor/sort/hg_sort.h"
#include "hg_guc.h"
#include "loader/hg_loader_worker.h"
#include "planner/hg_paths.h"
#include "resident/hg_resident_memory.h"

HG_MODULE_MAGIC("hashgraph", HG_VERSION);

void _PG_init(void);

/*
 * Is the library loaded because shared_preload_libraries, session_preload_libraries or
 * local_preload_libraries names it?  The latter two are loaded while a session is set up, which is
 * before anything that it runs can load a library: a function, CREATE EXTENSION or LOAD.  A
 * parallel worker loads what its leader has after it is set up, and plans nothing but what
 * functions of the query do.
 */
static bool
hg_is_preloading(void)
{
	return process_shared_preload_libraries_in_progress || IsInitProcessingMode();
}

/* Registers all nodes, so that plans that contain them can be read. */
static void
hg_executor_init(void)
{
	RegisterCustomScanMethods(&hg_join_scan_methods);
	RegisterCustomScanMethods(&hg_join_feed_methods);
	RegisterCustomScanMethods(&hg_aggregate_scan_methods);
	RegisterCustomScanMethods(&hg_scan_lookup_methods);
	RegisterCustomScanMethods(&hg_sort_scan_methods);
}

/*
 * A session that did not ask for the library may load it all the same, and must not get other
 * plans by that.  What runs the node is there in any: a parallel worker gets its leader's plan, and
 * hashgraph_join() over tables is the node.
 */
void
_PG_init(void)
{
	hg_guc_init();
	hg_pool_init();
	hg_stats_init();
	hg_progress_init();
	hg_device_worker_init();
	hg_resident_init();
	hg_loader_init();
	hg_executor_init();
	hg_planner_init(hg_is_preloading());
}
