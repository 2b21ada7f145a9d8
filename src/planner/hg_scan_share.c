/*-------------------------------------------------------------------------
 *
 * hg_scan_share.c
 *	  What share of a table's blocks a scan would be served from resident columns.
 *
 * The directory is asked once for each relation of a query, when its paths are made: that looks
 * at each of its segments, of 8 MB.  The answer is looked for with each path of a join, and is
 * found by the address of the relation, which is its own as long as the memory that it lies in; a
 * note lies there too, and is taken out when that goes.  There are notes of tables alone of which
 * something is resident.
 *
 * It is an estimate: what is served is decided by the scan.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/sysattr.h"
#include "access/xact.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"

#include "hg_guc.h"
#include "planner/hg_scan_share.h"
#include "resident/hg_resident_memory.h"
#include "resident/hg_resident_report.h"

typedef struct HgShareNote
{
	dlist_node node;
	MemoryContextCallback callback;
	const RelOptInfo *rel;
	double share;
} HgShareNote;

static dlist_head hg_share_notes = DLIST_STATIC_INIT(hg_share_notes);

static void
hg_share_forget(void *arg)
{
	dlist_delete(&((HgShareNote *) arg)->node);
}

/* The attributes that a scan returns or filters by; -1: some of them can't be resident. */
static int
hg_share_attributes(const RelOptInfo *rel, AttrNumber **attnos)
{
	Bitmapset *offset_attnos = NULL;
	int member = -1;
	int n = 0;
	ListCell *lc;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &offset_attnos);
	foreach (lc, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid, &offset_attnos);
	*attnos = palloc(Max(bms_num_members(offset_attnos), 1) * sizeof(AttrNumber));
	while ((member = bms_next_member(offset_attnos, member)) >= 0)
	{
		if (member + FirstLowInvalidHeapAttributeNumber <= 0)
			return -1;
		(*attnos)[n++] = (AttrNumber) (member + FirstLowInvalidHeapAttributeNumber);
	}
	return n;
}

void
hg_scan_share_note(const RelOptInfo *rel, Oid relation)
{
	HgResidentRelation key = {.database = MyDatabaseId, .relation = relation};
	AttrNumber *attnos;
	HgShareNote *note;
	double share;
	int n;

	if (!hg_resident || !hg_resident_memory_exists() || IsolationIsSerializable())
		return;
	n = hg_share_attributes(rel, &attnos);
	share = n < 0 ? 0 : hg_resident_share(key, n, attnos);
	if (share <= 0)
		return;
	note = palloc(sizeof(HgShareNote));
	note->rel = rel;
	note->share = share;
	dlist_push_head(&hg_share_notes, &note->node);
	note->callback.func = hg_share_forget;
	note->callback.arg = note;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &note->callback);
}

double
hg_scan_share(const RelOptInfo *rel)
{
	dlist_iter iter;

	dlist_foreach(iter, &hg_share_notes)
	{
		const HgShareNote *note = dlist_container(HgShareNote, node, iter.cur);

		if (note->rel == rel)
			return note->share;
	}
	return 0;
}
