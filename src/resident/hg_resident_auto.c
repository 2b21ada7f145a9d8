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
	HgKeyNumbers columns;
	bool key; /* they were hashed, and not one scanned alone */
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

/* Note a scan of a column, or of a key, the lock held.  Is it time to take it in? */
static bool
hg_auto_note(HgResidentRelation table, const HgKeyNumbers *columns, bool key)
{
	uint32 hash = hash_combine(murmurhash32(table.database), murmurhash32(table.relation));
	HgAutoNote *note;

	for (int i = 0; i < columns->n; i++)
		hash = hash_combine(hash, murmurhash32((uint32) columns->numbers[i] * 2 + key));
	note = &notes[hash % HG_AUTO_NOTES];

	if (note->table.database != table.database || note->table.relation != table.relation ||
		!hg_key_numbers_equal(&note->columns, columns) || note->key != key)
		*note = (HgAutoNote){.table = table, .columns = *columns, .key = key};
	if (++note->scans < HG_AUTO_SCANS)
		return false;
	memset(note, 0, sizeof(HgAutoNote));
	return true;
}

/* The same without the lock. */
static bool
hg_auto_note_one(HgResidentRelation table, const HgKeyNumbers *columns, bool key)
{
	LWLock *lock = hg_resident_lock(HG_RESIDENT_LOCK_NOTES);
	bool due;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	due = hg_auto_note(table, columns, key);
	LWLockRelease(lock);
	return due;
}

/*
 * Note a scan of columns that nobody has asked for; those that it is time for are left in the
 * array.
 */
static int
hg_auto_note_all(HgResidentRelation table, AttrNumber *columns, int ncolumns)
{
	int due = 0;

	for (int i = 0; i < ncolumns; i++)
		if (hg_auto_note_one(table, &(HgKeyNumbers){.n = 1, .numbers = {columns[i]}}, false))
			columns[due++] = columns[i];
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
hg_auto_ask(Relation rel, const AttrNumber *columns, int ncolumns, const HgKeyNumbers *keys,
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
		if (hg_directory_ask(&request) == HG_REASON_NO_MEMORY &&
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

bool
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
		n = hg_auto_note_all(table, unnamed, n);
	if (n > 0)
		hg_auto_ask(rel, unnamed, n, NULL, 0);
	pfree(unnamed);
}

/* Is a graph of a table's key asked for already? */
static bool
hg_auto_is_key(HgResidentRelation table, const HgKeyNumbers *key)
{
	HgDirectoryEntry *entry = hg_directory_lock(table, false);
	bool keyed;

	if (entry == NULL)
		return false;
	keyed = hg_directory_find_graph(entry, key) != NULL;
	hg_directory_unlock(entry);
	return keyed;
}

void
hg_auto_note_key(Relation rel, const HgKeyNumbers *key)
{
	HgResidentRelation table = hg_resident_relation(rel);
	AttrNumber unnamed[HG_GRAPH_COLUMNS];
	BlockNumber nblocks;

	if (!hg_auto_may_note(rel) || hg_auto_is_key(table, key))
		return;
	nblocks = RelationGetNumberOfBlocks(rel);
	if (nblocks < HG_SEGMENT_BLOCKS || hg_segment_count(nblocks) > HG_GRAPH_SEGMENTS ||
		!hg_auto_note_one(table, key, true))
		return;
	memcpy(unnamed, key->numbers, sizeof(unnamed));
	hg_auto_ask(rel, unnamed, hg_directory_unnamed(table, unnamed, key->n), key, 1);
}
