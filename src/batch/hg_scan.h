/*-------------------------------------------------------------------------
 *
 * hg_scan.h
 *	  Read the child plan of a join as batches.
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
 * A source of the attributes attnos[nattnos] (from 1, each once) of a plan's result rows, in
 * that order, made in CurrentMemoryContext.  It takes the rows page by page where the plan is a
 * sequential scan of a heap table, or an Append of such scans, and by ExecProcNode where it is
 * anything else; the plan is used by nobody else meanwhile.  Rescanning the plan is the
 * caller's to do (ExecReScan); a plan with changed parameters (chgParam) is rescanned by the source
 * itself.
 */
extern HgBatchSource *hg_scan_create(PlanState *plan, int nattnos, const int *attnos);

#endif /* HG_SCAN_H */
