/*-------------------------------------------------------------------------
 *
 * hg_provider.c
 *	  An extension that meddles with the scans of relations, as others do, for
 *	  test/t/join_provider.pl, which builds and preloads it.
 *
 * It goes by the names of relations, and does in set_rel_pathlist_hook:
 *
 *	elsewhere*	A table's paths are replaced by a CustomScan, as a table provider does whose
 *				rows do not lie in the heap: hg_provider.rows rows, in which row i has i in
 *				every column, int4 all of them.
 *	beside*		The CustomScan is offered beside core's paths, and takes the place of those
 *				that it is cheaper than.
 *	indexed*	Nothing but index scans is left, as of a table whose user gave a hint.
 *	wanted*		Its partial paths cost nothing, as of a table that a hint wants to be read in
 *				parallel.
 *	many*		A function's paths are to return hg_provider.rows rows, as an extension does
 *				that knows better; the relation's own estimate stays.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

PG_MODULE_MAGIC;

void _PG_init(void);

typedef struct HgProviderState
{
	CustomScanState css; /* must be first */
	int next;
} HgProviderState;

static int hg_provider_rows = 1000;
static set_rel_pathlist_hook_type hg_prev_set_rel_pathlist_hook;

static TupleTableSlot *
hg_provider_next(ScanState *node)
{
	HgProviderState *state = (HgProviderState *) node;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;

	ExecClearTuple(slot);
	if (state->next >= hg_provider_rows)
		return slot;
	state->next++;
	for (int column = 0; column < slot->tts_tupleDescriptor->natts; column++)
	{
		slot->tts_values[column] = Int32GetDatum(state->next);
		slot->tts_isnull[column] = false;
	}
	return ExecStoreVirtualTuple(slot);
}

static bool
hg_provider_recheck(ScanState *node pg_attribute_unused(),
					TupleTableSlot *slot pg_attribute_unused())
{
	return true;
}

static void
hg_provider_begin(CustomScanState *node, EState *estate pg_attribute_unused(),
				  int eflags pg_attribute_unused())
{
	((HgProviderState *) node)->next = 0;
}

static TupleTableSlot *
hg_provider_exec(CustomScanState *node)
{
	return ExecScan(&node->ss, hg_provider_next, hg_provider_recheck);
}

static void
hg_provider_end(CustomScanState *node pg_attribute_unused())
{
}

static void
hg_provider_rescan(CustomScanState *node)
{
	((HgProviderState *) node)->next = 0;
	ExecScanReScan(&node->ss);
}

static const CustomExecMethods hg_provider_exec_methods = {
	.CustomName = "Elsewhere",
	.BeginCustomScan = hg_provider_begin,
	.ExecCustomScan = hg_provider_exec,
	.EndCustomScan = hg_provider_end,
	.ReScanCustomScan = hg_provider_rescan,
};

static Node *
hg_provider_create_state(CustomScan *cscan pg_attribute_unused())
{
	HgProviderState *state =
		(HgProviderState *) newNode(sizeof(HgProviderState), T_CustomScanState);

	state->css.methods = &hg_provider_exec_methods;
	return (Node *) state;
}

static const CustomScanMethods hg_provider_scan_methods = {
	.CustomName = "Elsewhere",
	.CreateCustomScanState = hg_provider_create_state,
};

static Plan *
hg_provider_plan(PlannerInfo *root pg_attribute_unused(), RelOptInfo *rel,
				 CustomPath *best_path pg_attribute_unused(), List *tlist, List *clauses,
				 List *custom_plans pg_attribute_unused())
{
	CustomScan *cscan = makeNode(CustomScan);

	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = extract_actual_clauses(clauses, false);
	cscan->scan.scanrelid = rel->relid;
	cscan->methods = &hg_provider_scan_methods;
	return &cscan->scan.plan;
}

static const CustomPathMethods hg_provider_path_methods = {
	.CustomName = "Elsewhere",
	.PlanCustomPath = hg_provider_plan,
};

static Path *
hg_provider_path(RelOptInfo *rel)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = rel->reltarget;
	path->path.rows = rel->rows;
	path->path.total_cost = rel->rows * cpu_tuple_cost / 10;
	path->methods = &hg_provider_path_methods;
	return &path->path;
}

static bool
hg_provider_has_prefix(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static void
hg_provider_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	const char *name =
		rte->rtekind == RTE_RELATION ? get_rel_name(rte->relid) : rte->eref->aliasname;
	ListCell *lc;

	if (hg_prev_set_rel_pathlist_hook != NULL)
		hg_prev_set_rel_pathlist_hook(root, rel, rti, rte);
	if (rte->rtekind == RTE_FUNCTION && hg_provider_has_prefix(name, "many"))
	{
		foreach (lc, rel->pathlist)
		{
			Path *path = lfirst(lc);

			path->rows = hg_provider_rows;
			path->total_cost = path->startup_cost + hg_provider_rows * cpu_tuple_cost;
		}
	}
	if (rte->rtekind != RTE_RELATION)
		return;
	if (hg_provider_has_prefix(name, "elsewhere"))
	{
		rel->pathlist = list_make1(hg_provider_path(rel));
		rel->partial_pathlist = NIL;
	}
	else if (hg_provider_has_prefix(name, "beside"))
		add_path(rel, hg_provider_path(rel));
	else if (hg_provider_has_prefix(name, "indexed"))
	{
		foreach (lc, rel->pathlist)
			if (!IsA(lfirst(lc), IndexPath))
				rel->pathlist = foreach_delete_current(rel->pathlist, lc);
		rel->partial_pathlist = NIL;
	}
	else if (hg_provider_has_prefix(name, "wanted"))
	{
		foreach (lc, rel->partial_pathlist)
		{
			Path *path = lfirst(lc);

			path->startup_cost = path->total_cost = 0;
		}
	}
}

void
_PG_init(void)
{
	DefineCustomIntVariable("hg_provider.rows", "Rows of relations that are meddled with.", NULL,
							&hg_provider_rows, 1000, 1, 10000000, PGC_USERSET, 0, NULL, NULL, NULL);
	hg_prev_set_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = hg_provider_set_rel_pathlist;
}
