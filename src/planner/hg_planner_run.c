/*-------------------------------------------------------------------------
 *
 * hg_planner_run.c
 *	  A cache that lives as long as a run of the planner.
 *
 * Planning joins asks the same questions again and again: about each path that is an input, for
 * each pair of relations. The answers are cached by address in tables of a fixed size, whose
 * entries have the number of their run.
 *
 * An address stands for one object until it is freed or its memory context is reset. Objects in
 * the context of the run itself last until the run ends, so these can be cached under the run's
 * number. GEQO plans each tour in a context of its own, whose paths are not cached.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "planner/hg_planner_run.h"

/* Memory of the run that was found last, NULL once it is gone, and the run's number. */
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
