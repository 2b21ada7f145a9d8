/*-------------------------------------------------------------------------
 *
 * hg_resident_eviction.c
 *	  Makes room in the area by evicting what was not used for the longest time.
 *
 * Everything that may be evicted is listed, one lock at a time, and sorted: graphs before columns,
 * by last use.  It is evicted in that order, if it is still the same.  No list is kept sorted:
 * only loaders make room, and seldom, and scans only store the time of use.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/timestamp.h"

#include "resident/hg_resident_eviction.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_statistics.h"

/* A column of a segment, or a graph, that may be evicted. */
typedef struct HgVictim
{
	HgResidentRelation table;
	bool graph;
	uint32 segment;
	dsa_pointer version; /* of the segment, or of the graph */
	AttrNumber number;	 /* of the column */
	HgKeyNumbers key;	 /* of the graph */
	TimestampTz used_at;
} HgVictim;

typedef struct HgVictims
{
	int count;
	int size;
	HgVictim *items; /* [size], count of them used */
	TimestampTz now;
	TimestampTz used_before; /* what was used later stays */
} HgVictims;

/* Returns true if columns of a version may be evicted. */
static bool
hg_eviction_may_touch(HgSegmentVersion *version, TimestampTz now)
{
	return !hg_segment_version_is_pinned(version) &&
		   TimestampDifferenceExceeds(version->taken_at, now, hg_eviction_rest_ms());
}

/* Stores a victim as the n-th, if there is room. */
static void
hg_eviction_note(HgVictims *victims, int n, HgVictim victim)
{
	if (n < victims->size)
		victims->items[n] = victim;
}

/* Returns true if a graph may be evicted.  One whose columns are all pinned may not. */
static bool
hg_eviction_may_take_graph(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph,
						   TimestampTz now)
{
	HgResidentGraph *version;

	if (!DsaPointerIsValid(graph->version) || hg_graph_is_to_stay(entry, graph))
		return false;
	version = hg_graph_version(graph->version);
	return !hg_graph_version_is_pinned(version) &&
		   TimestampDifferenceExceeds(version->made_at, now, hg_eviction_rest_ms());
}

/* Returns when a graph, or values of its columns, were last used, or its columns requested. */
static TimestampTz
hg_eviction_graph_used_at(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph)
{
	TimestampTz used_at = hg_graph_version_used_at(hg_graph_version(graph->version));

	for (int i = 0; i < graph->key.n; i++)
	{
		const HgDirectoryColumn *column = hg_directory_find_column(entry, graph->key.numbers[i]);

		used_at = Max(used_at, column->asked_at);
		used_at = Max(used_at, hg_directory_values_used_at(entry, column->number));
	}
	return used_at;
}

/* Adds the graphs that may be evicted, from the n-th victim on.  Returns the number of victims. */
static int
hg_eviction_collect_graphs(const HgDirectoryEntry *entry, HgVictims *victims, int n)
{
	const HgDirectoryGraph *graphs = hg_directory_graphs(entry);

	for (uint32 i = 0; i < entry->ngraphs; i++)
	{
		TimestampTz used_at;

		if (!hg_eviction_may_take_graph(entry, &graphs[i], victims->now))
			continue;
		used_at = hg_eviction_graph_used_at(entry, &graphs[i]);
		if (used_at >= victims->used_before)
			continue;
		hg_eviction_note(victims, n++,
						 (HgVictim){.table = entry->key,
									.graph = true,
									.version = graphs[i].version,
									.key = graphs[i].key,
									.used_at = used_at});
	}
	return n;
}

/*
 * Adds what may be evicted of a locked entry.  Returns the new number of victims, which may exceed
 * victims->size; the excess was only counted.
 */
static int
hg_eviction_collect(const HgDirectoryEntry *entry, HgVictims *victims)
{
	const HgSegmentSlot *slots = hg_directory_slots(entry);
	int n = hg_eviction_collect_graphs(entry, victims, victims->count);

	for (uint32 i = 0; i < entry->nslots; i++)
	{
		HgSegmentVersion *version;

		if (!DsaPointerIsValid(slots[i].version))
			continue;
		version = hg_segment_version(slots[i].version);
		if (!hg_eviction_may_touch(version, victims->now))
			continue;
		for (uint32 k = 0; k < version->ncolumns; k++)
		{
			const HgSegmentColumn *column = &version->columns[k];
			const HgDirectoryColumn *asked = hg_directory_find_column(entry, column->column.number);
			TimestampTz used_at =
				Max(hg_segment_used_at(version, (int) k), asked != NULL ? asked->asked_at : 0);

			if (!hg_segment_has_column(version, (int) k) || (asked != NULL && asked->pinned) ||
				used_at >= victims->used_before)
				continue;
			hg_eviction_note(victims, n++,
							 (HgVictim){.table = entry->key,
										.segment = i,
										.version = slots[i].version,
										.number = column->column.number,
										.used_at = used_at});
		}
	}
	return n;
}

/* Adds what may be evicted of a table. */
static void
hg_eviction_collect_table(HgResidentRelation table, HgVictims *victims)
{
	for (;;)
	{
		HgDirectoryEntry *entry = hg_directory_lock(table, false);
		int n;

		if (entry == NULL)
			return;
		n = hg_eviction_collect(entry, victims);
		hg_directory_unlock(entry);
		if (n <= victims->size)
		{
			victims->count = n;
			return;
		}
		victims->size = 2 * n;
		victims->items = repalloc_huge(victims->items, victims->size * sizeof(HgVictim));
	}
}

static int
hg_eviction_compare(const void *left, const void *right)
{
	const HgVictim *a = left;
	const HgVictim *b = right;

	if (a->graph != b->graph)
		return a->graph ? -1 : 1;
	return a->used_at < b->used_at ? -1 : a->used_at > b->used_at;
}

/* Evicts a graph, if it still may be.  Returns the freed bytes. */
static Size
hg_eviction_take_graph(const HgVictim *victim, TimestampTz now)
{
	HgDirectoryEntry *entry = hg_directory_lock(victim->table, true);
	HgDirectoryGraph *graph;
	Size freed = 0;

	if (entry == NULL)
		return 0;
	graph = hg_directory_find_graph(entry, &victim->key);
	if (graph != NULL && graph->version == victim->version &&
		hg_eviction_may_take_graph(entry, graph, now))
	{
		freed = hg_graph_version(victim->version)->bytes;
		graph->version = InvalidDsaPointer;
		graph->state = HG_RESIDENT_EVICTED;
		graph->wanted = graph->asked = false;
		graph->tried_at = now;
		hg_resident_count(HG_COUNT_EVICTIONS, 1);
	}
	hg_directory_unlock(entry);
	/* its many bins are freed without a lock */
	if (freed > 0)
		hg_graph_version_retire(victim->version);
	return freed;
}

/* Evicts a column of a segment, if it still may be.  Returns the freed bytes. */
static Size
hg_eviction_take_column(const HgVictim *victim, TimestampTz now)
{
	HgDirectoryEntry *entry = hg_directory_lock(victim->table, true);
	HgSegmentSlot *slot;
	HgSegmentVersion *version;
	HgDirectoryColumn *asked;
	Size freed = 0;
	bool empty = true;

	if (entry == NULL)
		return 0;
	slot = victim->segment < entry->nslots ? &hg_directory_slots(entry)[victim->segment] : NULL;
	if (slot == NULL || slot->version != victim->version ||
		!hg_eviction_may_touch(hg_segment_version(slot->version), now))
	{
		hg_directory_unlock(entry);
		return 0;
	}
	version = hg_segment_version(slot->version);
	for (uint32 i = 0; i < version->ncolumns; i++)
	{
		if (hg_segment_has_column(version, (int) i) &&
			version->columns[i].column.number == victim->number)
			freed += hg_segment_evict_column(version, (int) i);
		empty &= !hg_segment_has_column(version, (int) i);
	}
	asked = hg_directory_find_column(entry, victim->number);
	/* a scan that missed it before it was loaded does not bring it back */
	if (asked != NULL && freed > 0)
	{
		asked->evicted = true;
		asked->asked = false;
	}
	if (freed > 0)
		hg_resident_count(HG_COUNT_EVICTIONS, 1);
	if (empty)
	{
		freed += version->bytes;
		hg_directory_set_version(entry, victim->segment, InvalidDsaPointer);
		slot->evicted = true;
	}
	hg_directory_unlock(entry);
	return freed;
}

/* Frees page visibility caches that nobody reads, up to wanted bytes.  Returns the bytes. */
static Size
hg_eviction_take_page_vis(HgResidentRelation table, Size wanted)
{
	HgDirectoryEntry *entry = hg_directory_lock(table, true);
	const HgSegmentSlot *slots;
	Size freed = 0;

	if (entry == NULL)
		return 0;
	slots = hg_directory_slots(entry);
	for (uint32 i = 0; i < entry->nslots && freed < wanted; i++)
		if (DsaPointerIsValid(slots[i].version) &&
			!hg_segment_version_is_pinned(hg_segment_version(slots[i].version)))
			freed += hg_page_vis_free(&hg_segment_version(slots[i].version)->page_vis);
	hg_directory_unlock(entry);
	return freed;
}

/* Returns when a table was last used or requested; 0 if it has no entry. */
static TimestampTz
hg_eviction_used_at(HgResidentRelation table)
{
	HgDirectoryEntry *entry = hg_directory_lock(table, false);
	TimestampTz used_at;

	if (entry == NULL)
		return 0;
	used_at = hg_directory_used_at(entry);
	hg_directory_unlock(entry);
	return used_at;
}

Size
hg_eviction_make_room(HgResidentRelation table, Size wanted, bool now)
{
	HgVictims victims = {.size = 64, .now = GetCurrentTimestamp()};
	HgResidentRelation *keys;
	int nkeys = hg_directory_list(InvalidOid, &keys);
	Size page_vis = 0;
	Size freed = 0;

	for (int i = 0; i < nkeys && page_vis < wanted; i++)
		page_vis += hg_eviction_take_page_vis(keys[i], wanted - page_vis);
	if (page_vis >= wanted)
	{
		pfree(keys);
		return page_vis;
	}
	victims.used_before = now ? victims.now : hg_eviction_used_at(table);
	victims.items = palloc(victims.size * sizeof(HgVictim));
	for (int i = 0; i < nkeys; i++)
		if (keys[i].database != table.database || keys[i].relation != table.relation)
			hg_eviction_collect_table(keys[i], &victims);
	if (victims.count > 1)
		qsort(victims.items, victims.count, sizeof(HgVictim), hg_eviction_compare);
	for (int i = 0; i < victims.count && page_vis + freed < wanted; i++)
	{
		const HgVictim *victim = &victims.items[i];

		freed += victim->graph ? hg_eviction_take_graph(victim, victims.now)
							   : hg_eviction_take_column(victim, victims.now);
	}
	pfree(victims.items);
	pfree(keys);
	return freed > 0 ? page_vis + freed : 0;
}
