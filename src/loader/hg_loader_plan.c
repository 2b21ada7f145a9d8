/*-------------------------------------------------------------------------
 *
 * hg_loader_plan.c
 *	  Plans what to load of a table: which columns and which segments.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "loader/hg_loader_column.h"
#include "loader/hg_loader_plan.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_statistics.h"
#include "resident/hg_resident_validity.h"

void
hg_loader_decline(HgDirectoryEntry *entry, HgResidentReason reason)
{
	if (entry->state != HG_RESIDENT_DECLINED || entry->reason != reason)
		hg_resident_count_decline(reason);
	entry->state = HG_RESIDENT_DECLINED;
	entry->reason = reason;
	entry->wanted = false;
	entry->declined_with = hg_resident_memory_used();
}

bool
hg_loader_check_table(Relation rel)
{
	HgResidentReason reason = hg_validity_may_take_in(rel);
	HgDirectoryEntry *entry;

	if (reason == HG_REASON_NONE)
		return true;
	entry = hg_directory_lock(hg_resident_relation(rel), true);
	if (entry != NULL && !hg_directory_check_name(entry, RelationGetRelationName(rel)))
		hg_directory_remove(entry);
	else if (entry != NULL)
	{
		hg_directory_truncate(entry, 0);
		hg_loader_decline(entry, reason);
		hg_directory_unlock(entry);
	}
	return false;
}

/* Sets *column to an attribute's definition; false, with a reason, if it can't be cached. */
static bool
hg_loader_column(Relation rel, AttrNumber number, HgResidentColumn *column,
				 HgResidentReason *reason)
{
	TupleDesc desc = RelationGetDescr(rel);

	if (number > desc->natts)
		*reason = HG_REASON_COLUMN_DROPPED;
	else
	{
		*reason = hg_encode_may_take_in(TupleDescAttr(desc, number - 1));
		if (*reason == HG_REASON_NONE)
			*column = hg_resident_column(TupleDescAttr(desc, number - 1));
	}
	return *reason == HG_REASON_NONE;
}

/*
 * Returns the number of columns of a locked entry that are to be loaded, in columns[natts].
 * Stores each column's definition or reason in the entry.
 */
static int
hg_loader_plan_columns(Relation rel, HgDirectoryEntry *entry, HgResidentColumn *columns)
{
	HgDirectoryColumn *asked = hg_directory_columns(entry);
	int n = 0;

	for (uint32 i = 0; i < entry->ncolumns; i++)
	{
		HgResidentColumn column;
		HgResidentReason reason;

		if (hg_loader_column(rel, asked[i].number, &column, &reason) && !asked[i].evicted)
			columns[n++] = column;
		asked[i].reason = reason;
		asked[i].planned =
			reason == HG_REASON_NONE ? column : (HgResidentColumn){.number = InvalidAttrNumber};
		if (reason != HG_REASON_NONE)
		{
			asked[i].state = HG_RESIDENT_DECLINED;
			for (uint32 k = 0; k < entry->ngraphs; k++)
				if (hg_key_numbers_have(&hg_directory_graphs(entry)[k].key, asked[i].number))
					hg_graph_decline(&hg_directory_graphs(entry)[k], reason);
		}
		else if (asked[i].state == HG_RESIDENT_DECLINED)
			asked[i].state = HG_RESIDENT_QUEUED;
	}
	return n;
}

void
hg_loader_check_columns(Relation rel)
{
	HgDirectoryEntry *entry = hg_directory_lock(hg_resident_relation(rel), true);
	const HgDirectoryColumn *asked;

	if (entry == NULL)
		return;
	asked = hg_directory_columns(entry);
	for (uint32 i = 0; i < entry->ncolumns && entry->state == HG_RESIDENT_READY; i++)
	{
		HgResidentColumn column;
		HgResidentReason reason;

		if (hg_loader_column(rel, asked[i].number, &column, &reason)
				? !hg_resident_column_equal(&column, &asked[i].planned)
				: asked[i].planned.number != InvalidAttrNumber)
			entry->wanted = true;
	}
	hg_directory_unlock(entry);
}

/* Returns true if a column of a locked entry is requested. */
static bool
hg_loader_is_asked(const HgDirectoryEntry *entry, AttrNumber number)
{
	const HgDirectoryColumn *asked = hg_directory_columns(entry);

	for (uint32 i = 0; i < entry->ncolumns; i++)
		if (asked[i].number == number)
			return true;
	return false;
}

bool
hg_loader_has_columns(const HgDirectoryEntry *entry, dsa_pointer pointer, const HgLoaderPlan *plan)
{
	const HgSegmentVersion *version = hg_segment_version(pointer);

	for (int i = 0; i < plan->ncolumns; i++)
		if (hg_segment_find_column(version, &plan->columns[i]) < 0)
			return false;
	for (uint32 i = 0; i < version->ncolumns; i++)
		if (hg_segment_has_column(version, (int) i) &&
			!hg_loader_is_asked(entry, version->columns[i].column.number))
			return false;
	return true;
}

/* Adds the segments of a locked entry that need loading; the plan has room for all. */
static void
hg_loader_plan_segments(HgLoaderPlan *plan, HgDirectoryEntry *entry)
{
	const HgSegmentSlot *slots = hg_directory_slots(entry);

	for (uint32 i = 0; i < entry->nslots; i++)
		if (slots[i].wanted || (DsaPointerIsValid(slots[i].version) &&
								!hg_loader_has_columns(entry, slots[i].version, plan)))
			plan->segments[plan->nsegments++] = i;
}

HgLoaderPlan *
hg_loader_make_plan(Relation rel, MemoryContext context)
{
	HgResidentRelation key = hg_resident_relation(rel);
	BlockNumber nblocks;
	HgLoaderPlan *plan;
	HgDirectoryEntry *entry;

	if (!hg_loader_check_table(rel))
		return NULL;
	nblocks = RelationGetNumberOfBlocks(rel);
	plan = MemoryContextAllocZero(context, sizeof(HgLoaderPlan));
	plan->key = key;
	plan->file = hg_resident_file(rel);
	plan->columns = MemoryContextAlloc(context, Max(RelationGetNumberOfAttributes(rel), 1) *
													sizeof(HgResidentColumn));
	plan->segments =
		MemoryContextAlloc(context, Max(hg_segment_count(nblocks), 1) * sizeof(uint32));

	entry = hg_directory_lock(key, true);
	if (entry == NULL)
		return NULL;
	if (!hg_directory_check_name(entry, RelationGetRelationName(rel)))
	{
		hg_directory_remove(entry);
		return NULL;
	}
	entry->nblocks = nblocks;
	if (!hg_directory_set_file(entry, plan->file, hg_segment_count(nblocks)))
	{
		hg_loader_decline(entry, HG_REASON_NO_MEMORY);
		hg_directory_unlock(entry);
		return NULL;
	}
	plan->ncolumns = hg_loader_plan_columns(rel, entry, plan->columns);
	if (plan->ncolumns > 0)
		hg_loader_plan_segments(plan, entry);
	entry->state = HG_RESIDENT_LOADING;
	entry->reason = HG_REASON_NONE;
	entry->wanted = false; /* later requests are for another plan */
	hg_directory_unlock(entry);
	return plan;
}

bool
hg_loader_plan_holds(const HgLoaderPlan *plan, Relation rel)
{
	if (!hg_resident_file_equal(plan->file, hg_resident_file(rel)) ||
		hg_validity_may_take_in(rel) != HG_REASON_NONE)
		return false;
	for (int i = 0; i < plan->ncolumns; i++)
	{
		HgResidentColumn column;
		HgResidentReason reason;

		if (!hg_loader_column(rel, plan->columns[i].number, &column, &reason) ||
			!hg_resident_column_equal(&column, &plan->columns[i]))
			return false;
	}
	return true;
}
