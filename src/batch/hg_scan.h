/*-------------------------------------------------------------------------
 *
 * hg_scan.h
 *	  Reads the child plan of a join as batches.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_H
#define HG_SCAN_H

#include "nodes/execnodes.h"

#include "batch/hg_batch.h"

/*
 * Creates a source of the attributes attnos[nattnos] (from 1, each once) of a plan's rows, in that
 * order, in CurrentMemoryContext.  A sequential scan of a heap table, or an Append of such scans,
 * is read by pages; any other plan by ExecProcNode.  Nothing else may read the plan.  The caller
 * rescans the plan (ExecReScan); the source itself rescans a plan with changed parameters
 * (chgParam).
 */
extern HgBatchSource *hg_scan_create(PlanState *plan, int nattnos, const int *attnos);

#endif /* HG_SCAN_H */
