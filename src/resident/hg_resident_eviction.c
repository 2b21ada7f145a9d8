/*-------------------------------------------------------------------------
 *
 * hg_resident_eviction.c
 *	  Making room in the area: what was not used for the longest time goes.
 *
 * All that may go is listed, a lock at a time, sorted by when it was used last, and taken in that
 * order, where it is still what it was.  There is no list that is kept sorted: room is made
 * seldom, by loaders, and scans only write down when they came by.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/timestamp.h"

#include "resident/hg_resident_eviction.h"
#include "resident/hg_resident_statistics.h"

/* A column of a segment that may go. */
typedef struct HgVictim
{
	HgResidentRelation table;
	uint32 segment;
	dsa_pointer version;
	AttrNumber number;
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

/* Where a column stands in a locked entry; NULL: it is not asked for any more. */
static HgDirectoryColumn *
hg_eviction_find_column(const HgDirectoryEntry *entry, AttrNumber number)
{
	HgDirectoryColumn *columns = hg_directory_columns(entry);

	for (uint32 i = 0; i < entry->ncolumns; i++)
		if (columns[i].number == number)
			return &columns[i];
	return NULL;
}

/* May columns of a version go? */
static bool
hg_eviction_may_touch(HgSegmentVersion *version, TimestampTz now)
{
	return !hg_segment_version_is_pinned(version) &&
		   TimestampDifferenceExceeds(version->taken_at, now, hg_eviction_rest_ms());
}

/* Add the columns of a locked entry that may go; those that find no room are counted alone. */
static int
hg_eviction_collect(const HgDirectoryEntry *entry, HgVictims *victims)
{
	const HgSegmentSlot *slots = hg_directory_slots(entry);
	int n = victims->count;

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
			const HgDirectoryColumn *asked = hg_eviction_find_column(entry, column->column.number);
			TimestampTz used_at =
				Max(hg_segment_used_at(version, (int) k), asked != NULL ? asked->asked_at : 0);

			if (!hg_segment_has_column(version, (int) k) || (asked != NULL && asked->pinned) ||
				used_at >= victims->used_before)
				continue;
			if (n < victims->size)
				victims->items[n] = (HgVictim){.table = entry->key,
											   .segment = i,
											   .version = slots[i].version,
											   .number = column->column.number,
											   .used_at = used_at};
			n++;
		}
	}
	return n;
}

/* Add those of a table. */
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
	TimestampTz a = ((const HgVictim *) left)->used_at;
	TimestampTz b = ((const HgVictim *) right)->used_at;

	return a < b ? -1 : a > b;
}

/* Take a victim, if it still may go; how many bytes that has freed. */
static Size
hg_eviction_take(const HgVictim *victim, TimestampTz now)
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
	asked = hg_eviction_find_column(entry, victim->number);
	/* a scan that has missed it before it was there does not bring it back */
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

/* When a table was used last, or asked for. */
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
	Size freed = 0;

	victims.used_before = now ? victims.now : hg_eviction_used_at(table);
	victims.items = palloc(victims.size * sizeof(HgVictim));
	for (int i = 0; i < nkeys; i++)
		if (keys[i].database != table.database || keys[i].relation != table.relation)
			hg_eviction_collect_table(keys[i], &victims);
	if (victims.count > 1)
		qsort(victims.items, victims.count, sizeof(HgVictim), hg_eviction_compare);
	for (int i = 0; i < victims.count && freed < wanted; i++)
		freed += hg_eviction_take(&victims.items[i], victims.now);
	pfree(victims.items);
	pfree(keys);
	return freed;
}
