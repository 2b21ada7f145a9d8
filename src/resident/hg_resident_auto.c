/*-------------------------------------------------------------------------
 *
 * hg_resident_auto.c
 *	  Requests columns that joins have scanned twice, and keys that joins have hashed twice.
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

/* Number of notes. */
#define HG_AUTO_NOTES 4096

/* Number of scans that make a request. */
#define HG_AUTO_SCANS 2

typedef struct HgAutoNote
{
	HgResidentRelation table;
	HgKeyNumbers columns;
	bool key; /* a join hashed them; else it scanned a single one */
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

/* Notes a scan of a column or a key, with the lock held.  True: request it. */
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

/* Takes the lock for hg_auto_note. */
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
 * Notes a scan of columns that nobody has requested.  Leaves those that it is time to request at
 * the front of the array, and returns their number.
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
 * Requests columns, and graphs of keys.  Does nothing if the extension was not created: nobody
 * could drop the entries, and witnesses would do so at once.  The launcher writes the list file,
 * so that no query waits for a disk write.
 *
 * hg_directory_ask() checks for room first, but other processes may use it up meanwhile.  Then the
 * directory raises an error, which must not fail the query.  It leaves only locks of the directory
 * behind, and a process that begins a scan holds no other LWLock.
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

/* Returns true if a graph of a table's key is requested already. */
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
