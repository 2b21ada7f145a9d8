/*-------------------------------------------------------------------------
 *
 * hg_resident_directory.c
 *	  The directory: which tables, columns and graphs are or shall be cached, and their segments.
 *
 * A dshash table in the area, made by the postmaster as pgstat_shmem.c makes its own.  An entry
 * names three chunks: its slots, columns and graphs.  A chunk that is too small is replaced by a
 * larger one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "storage/lwlock.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_graph_version.h"

typedef struct HgDirectoryShared
{
	dshash_table_handle handle;
	pg_atomic_uint64 changes;
} HgDirectoryShared;

static HgDirectoryShared *shared = NULL;
static dshash_table *directory = NULL; /* of this process */

static dshash_parameters
hg_directory_parameters(void)
{
	return (dshash_parameters){.key_size = sizeof(HgResidentRelation),
							   .entry_size = sizeof(HgDirectoryEntry),
							   HG_DSHASH_MEMORY_KEYS,
							   .tranche_id = hg_resident_tranche()};
}

void
hg_directory_request(void)
{
	hg_resident_shared_request(sizeof(HgDirectoryShared));
}

void
hg_directory_startup(void)
{
	dshash_parameters parameters;
	dshash_table *table;
	bool is_new;

	shared = hg_resident_shared_startup("hashgraph resident directory", sizeof(HgDirectoryShared),
										&is_new);
	if (!is_new)
		return;
	parameters = hg_directory_parameters();
	table = dshash_create(hg_resident_startup_area(), &parameters, NULL);
	shared->handle = dshash_get_hash_table_handle(table);
	pg_atomic_init_u64(&shared->changes, 0);
	dshash_detach(table);
}

static dshash_table *
hg_directory_table(void)
{
	if (directory == NULL)
	{
		dshash_parameters parameters = hg_directory_parameters();
		MemoryContext before = MemoryContextSwitchTo(TopMemoryContext);

		directory = dshash_attach(hg_resident_area(), &parameters, shared->handle, NULL);
		MemoryContextSwitchTo(before);
	}
	return directory;
}

HgDirectoryEntry *
hg_directory_lock(HgResidentRelation key, bool exclusive)
{
	return dshash_find(hg_directory_table(), &key, exclusive);
}

HgDirectoryEntry *
hg_directory_lock_new(HgResidentRelation key, bool *found)
{
	HgDirectoryEntry *entry = dshash_find_or_insert(hg_directory_table(), &key, found);

	if (!*found)
	{
		memset(entry, 0, sizeof(HgDirectoryEntry));
		entry->key = key;
	}
	return entry;
}

void
hg_directory_unlock(HgDirectoryEntry *entry)
{
	dshash_release_lock(hg_directory_table(), entry);
}

uint64
hg_directory_changes(void)
{
	return pg_atomic_read_u64(&shared->changes);
}

static void
hg_directory_note_change(void)
{
	pg_atomic_fetch_add_u64(&shared->changes, 1);
}

bool
hg_directory_check_name(HgDirectoryEntry *entry, const char *name)
{
	if (strcmp(NameStr(entry->name), name) != 0)
	{
		if (entry->listed)
			return false;
		namestrcpy(&entry->name, name);
		hg_directory_note_change();
	}
	entry->listed = false;
	return true;
}

/* Enlarges a chunk for wanted items, of which used are in use; false if there is no memory. */
static bool
hg_directory_grow(dsa_pointer *chunk, uint32 *size, uint32 used, uint32 wanted, Size width)
{
	uint32 larger = Max(wanted, Max(4, 2 * *size));
	dsa_pointer replacement;

	if (wanted <= *size)
		return true;
	replacement = hg_resident_allocate(NULL, larger * width);
	if (!DsaPointerIsValid(replacement))
		return false;
	if (*size > 0)
	{
		memcpy(hg_resident_address(replacement), hg_resident_address(*chunk), used * width);
		hg_resident_free(*chunk, *size * width);
	}
	*chunk = replacement;
	*size = larger;
	return true;
}

/* Frees a graph's version, and queues the graph. */
static void
hg_directory_lose_graph(HgDirectoryGraph *graph)
{
	if (DsaPointerIsValid(graph->version))
		hg_graph_version_retire(graph->version);
	*graph = (HgDirectoryGraph){.key = graph->key,
								.state = HG_RESIDENT_QUEUED,
								.version = InvalidDsaPointer,
								.wanted = true};
}

void
hg_directory_truncate(HgDirectoryEntry *entry, uint32 n)
{
	while (entry->nslots > n)
		hg_directory_set_version(entry, --entry->nslots, InvalidDsaPointer);
	for (uint32 i = 0; i < entry->ngraphs && n == 0; i++)
		hg_directory_lose_graph(&hg_directory_graphs(entry)[i]);
}

bool
hg_directory_set_file(HgDirectoryEntry *entry, HgResidentFile file, uint32 nslots)
{
	HgSegmentSlot *slots;

	if (!hg_resident_file_equal(entry->file, file))
		hg_directory_truncate(entry, 0);
	entry->file = file;
	hg_directory_truncate(entry, nslots);
	if (!hg_directory_grow(&entry->slots, &entry->slots_size, entry->nslots, nslots,
						   sizeof(HgSegmentSlot)))
		return false;
	slots = hg_directory_slots(entry);
	entry->disturbed = true;
	for (; entry->nslots < nslots; entry->nslots++)
	{
		memset(&slots[entry->nslots], 0, sizeof(HgSegmentSlot));
		slots[entry->nslots].version = InvalidDsaPointer;
		slots[entry->nslots].wanted = true;
	}
	return true;
}

void
hg_directory_replace_file(HgDirectoryEntry *entry, HgResidentFile file)
{
	HgDirectoryColumn *columns = hg_directory_columns(entry);
	bool takes_in = hg_directory_takes_in(entry);
	bool full = entry->state == HG_RESIDENT_DECLINED && entry->reason == HG_REASON_NO_MEMORY;

	hg_directory_truncate(entry, 0);
	entry->file = file;
	for (uint32 i = 0; i < entry->ncolumns; i++)
		if (!takes_in || (full && !columns[i].evicted))
			columns[i].asked = true;
}

bool
hg_directory_add_column(HgDirectoryEntry *entry, AttrNumber number, bool pinned)
{
	HgDirectoryColumn *columns = hg_directory_columns(entry);
	uint32 at = 0;

	while (at < entry->ncolumns && columns[at].number < number)
		at++;
	if (at < entry->ncolumns && columns[at].number == number)
	{
		if (columns[at].pinned != pinned)
			hg_directory_note_change();
		columns[at].pinned = pinned;
		columns[at].evicted = columns[at].asked = false;
		columns[at].asked_at = GetCurrentTimestamp();
		return true;
	}
	if (!hg_directory_grow(&entry->columns, &entry->columns_size, entry->ncolumns,
						   entry->ncolumns + 1, sizeof(HgDirectoryColumn)))
		return false;
	columns = hg_directory_columns(entry);
	memmove(&columns[at + 1], &columns[at], (entry->ncolumns - at) * sizeof(HgDirectoryColumn));
	columns[at] =
		(HgDirectoryColumn){.number = number, .pinned = pinned, .asked_at = GetCurrentTimestamp()};
	entry->ncolumns++;
	hg_directory_note_change();
	return true;
}

/* Queues a graph, whatever has prevented it before. */
static void
hg_directory_queue_graph(HgDirectoryGraph *graph)
{
	graph->wanted = true;
	graph->asked = false;
	if (graph->state != HG_RESIDENT_READY)
		graph->state = HG_RESIDENT_QUEUED;
	graph->reason = HG_REASON_NONE;
}

HgResidentReason
hg_directory_add_key(HgDirectoryEntry *entry, const HgKeyNumbers *key)
{
	HgDirectoryGraph *graph = hg_directory_find_graph(entry, key);

	for (int i = 0; i < key->n; i++)
		if (hg_directory_find_column(entry, key->numbers[i]) == NULL)
			return HG_REASON_NONE;
	if (graph == NULL)
	{
		if (entry->ngraphs == HG_DIRECTORY_GRAPHS)
			return HG_REASON_GRAPH_NUMBER;
		if (!hg_directory_grow(&entry->graphs, &entry->graphs_size, entry->ngraphs,
							   entry->ngraphs + 1, sizeof(HgDirectoryGraph)))
			return HG_REASON_NO_MEMORY;
		graph = &hg_directory_graphs(entry)[entry->ngraphs++];
		*graph = (HgDirectoryGraph){.key = *key, .version = InvalidDsaPointer};
		hg_directory_note_change();
	}
	hg_directory_queue_graph(graph);
	return HG_REASON_NONE;
}

int
hg_directory_unnamed(HgResidentRelation key, AttrNumber *columns, int ncolumns)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, false);
	int unnamed = 0;

	if (entry == NULL)
		return ncolumns;
	for (int i = 0; i < ncolumns; i++)
	{
		if (hg_directory_find_column(entry, columns[i]) == NULL)
			columns[unnamed++] = columns[i];
	}
	hg_directory_unlock(entry);
	return unnamed;
}

HgResidentReason
hg_directory_ask(const HgDirectoryRequest *request)
{
	HgResidentReason reason = HG_REASON_NONE;
	bool found;
	HgDirectoryEntry *entry;

	entry = hg_directory_lock(request->key, true);
	found = entry != NULL;
	if (!found)
	{
		/* the hash table raises an error if it finds no room */
		if (!hg_resident_has_room(HG_DIRECTORY_ROOM))
			return HG_REASON_NO_MEMORY;
		entry = hg_directory_lock_new(request->key, &found);
	}
	if (!found)
	{
		entry->parent = request->parent;
		entry->partitioned = request->partitioned;
		entry->automatic = request->automatic;
		entry->state = request->partitioned ? HG_RESIDENT_READY : HG_RESIDENT_QUEUED;
	}
	namestrcpy(&entry->name, request->name);
	entry->listed = false;
	if (entry->automatic && !request->automatic)
	{
		entry->automatic = false;
		hg_directory_note_change();
	}
	for (int i = 0; i < request->ncolumns && reason == HG_REASON_NONE; i++)
		if (!hg_directory_add_column(entry, request->columns[i], request->pinned))
			reason = HG_REASON_NO_MEMORY;
	if (entry->ncolumns == 0)
	{
		hg_directory_remove(entry);
		return HG_REASON_NO_MEMORY;
	}
	for (int i = 0; i < request->nkeys && reason == HG_REASON_NONE; i++)
		reason = hg_directory_add_key(entry, &request->keys[i]);
	if (!entry->partitioned && request->ncolumns > 0)
		hg_directory_queue_segments(entry);
	else if (!entry->partitioned)
		entry->wanted = true;
	hg_directory_unlock(entry);
	return reason;
}

bool
hg_directory_remove_column(HgDirectoryEntry *entry, AttrNumber number)
{
	HgDirectoryColumn *column = hg_directory_find_column(entry, number);
	HgDirectoryGraph *graphs = hg_directory_graphs(entry);
	uint32 left = 0;

	if (column == NULL)
		return false;
	for (uint32 i = 0; i < entry->ngraphs; i++)
		if (!hg_key_numbers_have(&graphs[i].key, number))
			graphs[left++] = graphs[i];
		else if (DsaPointerIsValid(graphs[i].version))
			hg_graph_version_retire(graphs[i].version);
	entry->ngraphs = left;
	entry->ncolumns--;
	hg_directory_note_change();
	memmove(column, column + 1,
			(char *) (hg_directory_columns(entry) + entry->ncolumns) - (char *) column);
	return true;
}

void
hg_directory_note_missing(HgDirectoryEntry *entry, AttrNumber number, TimestampTz now)
{
	HgDirectoryColumn *column = hg_directory_find_column(entry, number);

	if (column == NULL)
		return;
	column->asked_at = now;
	column->asked = true;
}

void
hg_directory_set_asked_at(HgDirectoryEntry *entry, TimestampTz asked_at)
{
	HgDirectoryColumn *columns = hg_directory_columns(entry);

	for (uint32 i = 0; i < entry->ncolumns; i++)
		columns[i].asked_at = asked_at;
}

void
hg_directory_queue_evicted(HgDirectoryEntry *entry)
{
	HgSegmentSlot *slots = hg_directory_slots(entry);

	for (uint32 i = 0; i < entry->nslots; i++)
		if (slots[i].evicted)
		{
			slots[i].evicted = false;
			slots[i].wanted = true;
		}
	entry->disturbed = true;
	entry->wanted = true;
}

void
hg_directory_request_columns(HgDirectoryEntry *entry)
{
	HgDirectoryColumn *columns = hg_directory_columns(entry);

	for (uint32 i = 0; i < entry->ncolumns; i++)
	{
		columns[i].evicted = columns[i].asked = false;
		columns[i].asked_at = GetCurrentTimestamp();
	}
	for (uint32 i = 0; i < entry->ngraphs; i++)
		hg_directory_queue_graph(&hg_directory_graphs(entry)[i]);
}

void
hg_directory_queue_segments(HgDirectoryEntry *entry)
{
	HgSegmentSlot *slots = hg_directory_slots(entry);

	for (uint32 i = 0; i < entry->nslots; i++)
	{
		slots[i].evicted = false;
		slots[i].wanted = true;
	}
	if (entry->state == HG_RESIDENT_DECLINED)
	{
		entry->state = HG_RESIDENT_QUEUED;
		entry->reason = HG_REASON_NONE;
	}
	entry->disturbed = true;
	entry->wanted = true;
}

void
hg_directory_set_version(HgDirectoryEntry *entry, uint32 i, dsa_pointer version)
{
	HgSegmentSlot *slot = &hg_directory_slots(entry)[i];

	entry->disturbed = true;
	if (slot->version != version)
	{
		entry->replacements++;
		entry->replaced_at = GetCurrentTimestamp();
	}
	if (DsaPointerIsValid(slot->version))
		hg_segment_version_retire(slot->version);
	slot->version = version;
	memset(&slot->record, 0, sizeof(HgSegmentRecord));
}

void
hg_directory_remove(HgDirectoryEntry *entry)
{
	hg_directory_note_change();
	hg_directory_truncate(entry, 0);
	if (entry->slots_size > 0)
		hg_resident_free(entry->slots, entry->slots_size * sizeof(HgSegmentSlot));
	if (entry->columns_size > 0)
		hg_resident_free(entry->columns, entry->columns_size * sizeof(HgDirectoryColumn));
	if (entry->graphs_size > 0)
		hg_resident_free(entry->graphs, entry->graphs_size * sizeof(HgDirectoryGraph));
	dshash_delete_entry(hg_directory_table(), entry);
}

int
hg_directory_forget_relation(HgResidentRelation key)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, true);

	if (entry == NULL)
		return 0;
	hg_directory_remove(entry);
	return 1;
}

int
hg_directory_forget_database(Oid database)
{
	HgResidentRelation *keys;
	int n = hg_directory_list(database, &keys);
	int forgotten = 0;

	for (int i = 0; i < n; i++)
		forgotten += hg_directory_forget_relation(keys[i]);
	pfree(keys);
	return forgotten;
}

void
hg_directory_set_waiting(Oid database, HgResidentReason reason)
{
	HgResidentRelation *keys;
	int n = hg_directory_list(database, &keys);

	for (int i = 0; i < n; i++)
	{
		HgDirectoryEntry *entry = hg_directory_lock(keys[i], true);

		if (entry == NULL)
			continue;
		if (reason == HG_REASON_NONE && entry->reason == HG_REASON_NO_WORKER)
			entry->reason = HG_REASON_NONE;
		else if (reason != HG_REASON_NONE && entry->state != HG_RESIDENT_DECLINED)
			entry->reason = reason;
		hg_directory_unlock(entry);
	}
	pfree(keys);
}

int
hg_directory_graph_keys(HgResidentRelation key, HgKeyNumbers **keys)
{
	/* the array is allocated without a lock */
	for (uint32 size = 8;; size *= 2)
	{
		HgDirectoryEntry *entry;
		uint32 ngraphs;

		*keys = palloc(size * sizeof(HgKeyNumbers));
		entry = hg_directory_lock(key, false);
		if (entry == NULL)
			return 0;
		ngraphs = entry->ngraphs;
		for (uint32 i = 0; i < ngraphs && ngraphs <= size; i++)
			(*keys)[i] = hg_directory_graphs(entry)[i].key;
		hg_directory_unlock(entry);
		if (ngraphs <= size)
			return (int) ngraphs;
		pfree(*keys);
	}
}

int
hg_directory_list(Oid database, HgResidentRelation **keys)
{
	int size = 64;

	/* the array is allocated without a lock */
	for (;;)
	{
		dshash_seq_status scan;
		HgDirectoryEntry *entry;
		int n = 0;

		*keys = palloc(size * sizeof(HgResidentRelation));
		dshash_seq_init(&scan, hg_directory_table(), false);
		while ((entry = dshash_seq_next(&scan)) != NULL)
		{
			if (OidIsValid(database) && entry->key.database != database)
				continue;
			if (n < size)
				(*keys)[n] = entry->key;
			n++;
		}
		dshash_seq_term(&scan);
		if (n <= size)
			return n;
		pfree(*keys);
		size = n + n / 2;
	}
}
