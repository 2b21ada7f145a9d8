/*-------------------------------------------------------------------------
 *
 * hg_planner_run.c
 *	  What may be remembered while the planner runs.
 *
 * The same questions are asked again and again while joins are planned: of each path that is an
 * input, for each pair of relations that it is one of.  Answers are found by the address of what
 * they are about, in tables of a fixed size whose entries tell the run that they are of.
 *
 * An address stands for one thing as long as it is not freed, nor the memory context that it lies
 * in reset.  So it is for what lies in the context of the run itself: numbers are given to
 * these, and end with them.  GEQO plans each of its tours in a context of the tour's, whose paths
 * are not remembered.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "planner/hg_planner_run.h"

/* The run that was asked for last: its memory, NULL where that is gone, and its number. */
static MemoryContext hg_run_context;
static uint64 hg_run_number;

static void
hg_planner_run_forget(void *context)
{
	if (hg_run_context == (MemoryContext) context)
		hg_run_context = NULL;
}

static void
hg_planner_run_begin(MemoryContext context)
{
	MemoryContextCallback *callback = MemoryContextAlloc(context, sizeof(*callback));

	callback->func = hg_planner_run_forget;
	callback->arg = context;
	MemoryContextRegisterResetCallback(context, callback);
	hg_run_context = context;
	hg_run_number++;
}

uint64
hg_planner_run_find(const PlannerInfo *root, const void *made)
{
	MemoryContext context = root->planner_cxt;

	if (GetMemoryChunkContext(unconstify(void *, made)) != context)
		return 0;
	if (hg_run_context != context)
		hg_planner_run_begin(context);
	return hg_run_number;
}
