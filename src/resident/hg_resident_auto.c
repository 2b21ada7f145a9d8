/*-------------------------------------------------------------------------
 *
 * hg_resident_auto.c
 *	  Columns that joins have scanned twice are taken in without being asked for, and HashGraphs are
 *	  made of those whose values joins have hashed twice.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "commands/extension.h"
#include "common/hashfn.h"
#include "storage/bufmgr.h"
#include "storage/lwlock.h"

#include "hg_guc.h"
#include "resident/hg_resident_auto.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_eviction.h"
#include "resident/hg_resident_graph_version.h"
#include "resident/hg_resident_list.h"
#include "resident/hg_resident_validity.h"

/* Columns that are remembered. */
#define HG_AUTO_NOTES 4096

/* As many scans have a column be taken in. */
#define HG_AUTO_SCANS 2

typedef struct HgAutoNote
{
	HgResidentRelation table;
	AttrNumber number;
	bool key; /* it was hashed, and not scanned alone */
	uint16 scans;
} HgAutoNote;

static HgAutoNote *notes = NULL; /* [HG_AUTO_NOTES], protected by HG_RESIDENT_LOCK_NOTES */

void
hg_auto_request(void)
{
	hg_resident_shared_request(HG_AUTO_NOTES * sizeof(HgAutoNote));
}

void
hg_auto_startup(void)
{
	bool is_new;

	notes = hg_resident_shared_startup("hashgraph scans of columns",
									   HG_AUTO_NOTES * sizeof(HgAutoNote), &is_new);
}

/* Note a scan of a column, the lock held.  Is it time to take it in? */
static bool
hg_auto_note(HgResidentRelation table, AttrNumber number, bool key)
{
	uint32 hash =
		hash_combine(hash_combine(murmurhash32(table.database), murmurhash32(table.relation)),
					 murmurhash32((uint32) number * 2 + key));
	HgAutoNote *note = &notes[hash % HG_AUTO_NOTES];

	if (note->table.database != table.database || note->table.relation != table.relation ||
		note->number != number || note->key != key)
		*note = (HgAutoNote){.table = table, .number = number, .key = key};
	if (++note->scans < HG_AUTO_SCANS)
		return false;
	memset(note, 0, sizeof(HgAutoNote));
	return true;
}

/*
 * Note a scan of columns that nobody has asked for; those that it is time for are left in the
 * array.
 */
static int
hg_auto_note_all(HgResidentRelation table, AttrNumber *columns, int ncolumns, bool key)
{
	LWLock *lock = hg_resident_lock(HG_RESIDENT_LOCK_NOTES);
	int due = 0;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	for (int i = 0; i < ncolumns; i++)
		if (hg_auto_note(table, columns[i], key))
			columns[due++] = columns[i];
	LWLockRelease(lock);
	return due;
}

/*
 * Ask for columns, and for graphs of keys.  Where the extension was not created nobody could drop
 * them again, and witnesses would do so at once.  The launcher writes the list: a query waits for
 * no disk that is written.
 *
 * Whether there is room is looked at before (hg_directory_ask), but others may take it meanwhile,
 * and then the directory raises an error, which is not the query's.  It leaves nothing but locks of
 * the directory's, and who begins a scan holds no others.
 */
static void
hg_auto_ask(Relation rel, const AttrNumber *columns, int ncolumns, const AttrNumber *keys,
			int nkeys)
{
	MemoryContext context = CurrentMemoryContext;
	HgDirectoryRequest request = {
		.key = hg_resident_relation(rel),
		.name = RelationGetRelationName(rel),
		.automatic = true,
		.ncolumns = ncolumns,
		.columns = columns,
		.nkeys = nkeys,
		.keys = keys,
	};

	if (!OidIsValid(get_extension_oid("hashgraph", true)))
		return;
	PG_TRY();
	{
		hg_list_load();
		if (!hg_directory_ask(&request) &&
			hg_eviction_make_room(request.key, HG_DIRECTORY_ROOM, true) > 0)
			(void) hg_directory_ask(&request);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_OUT_OF_MEMORY)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		LWLockReleaseAll();
	}
	PG_END_TRY();
}

/* Is what a join does with a table to be noted? */
static bool
hg_auto_may_note(Relation rel)
{
	return hg_resident_auto && hg_resident_memory_exists() &&
		   hg_validity_may_take_in(rel) == HG_REASON_NONE && !hg_relation_is_new(rel);
}

void
hg_auto_note_scan(Relation rel, const AttrNumber *columns, int ncolumns)
{
	HgResidentRelation table = hg_resident_relation(rel);
	AttrNumber *unnamed;
	int n;

	if (ncolumns == 0 || !hg_auto_may_note(rel))
		return;
	unnamed = palloc(ncolumns * sizeof(AttrNumber));
	memcpy(unnamed, columns, ncolumns * sizeof(AttrNumber));
	n = hg_directory_unnamed(table, unnamed, ncolumns);
	if (n > 0)
		n = hg_auto_note_all(table, unnamed, n, false);
	if (n > 0)
		hg_auto_ask(rel, unnamed, n, NULL, 0);
	pfree(unnamed);
}

/* Is a graph of a table's column asked for already? */
static bool
hg_auto_is_key(HgResidentRelation table, AttrNumber number)
{
	HgDirectoryEntry *entry = hg_directory_lock(table, false);
	const HgDirectoryColumn *column;
	bool keyed;

	if (entry == NULL)
		return false;
	column = hg_directory_find_column(entry, number);
	keyed = column != NULL && column->graph.keyed;
	hg_directory_unlock(entry);
	return keyed;
}

void
hg_auto_note_key(Relation rel, AttrNumber number)
{
	HgResidentRelation table = hg_resident_relation(rel);
	HgResidentColumn column = hg_resident_column(TupleDescAttr(RelationGetDescr(rel), number - 1));
	AttrNumber unnamed = number;
	BlockNumber nblocks;

	if (!hg_resident_graph_may_have(&column) || !hg_auto_may_note(rel) ||
		hg_auto_is_key(table, number))
		return;
	nblocks = RelationGetNumberOfBlocks(rel);
	if (nblocks < HG_SEGMENT_BLOCKS || hg_segment_count(nblocks) > HG_GRAPH_SEGMENTS ||
		hg_auto_note_all(table, &number, 1, true) == 0)
		return;
	hg_auto_ask(rel, &unnamed, hg_directory_unnamed(table, &unnamed, 1), &number, 1);
}
