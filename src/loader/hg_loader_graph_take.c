/*-------------------------------------------------------------------------
 *
 * hg_loader_graph_take.c
 *	  Determines what a table's graph is to be made from, and pins it.
 *
 * How a key's words are made follows from catalogs, which must not be read while an entry is
 * locked.  So the columns are read first.  Everything starts again if they have changed when the
 * versions are read.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "loader/hg_loader_graph_take.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_graph_state.h"

void
hg_graph_unpin(void *arg)
{
	HgGraphMaking *making = arg;

	for (uint32 i = 0; i < making->nsegments; i++)
		if (DsaPointerIsValid(making->added[i]))
			hg_segment_version_release(making->added[i]);
	making->nsegments = 0;
	if (DsaPointerIsValid(making->old))
		hg_graph_version_release(making->old);
	making->old = InvalidDsaPointer;
}

/*
 * Cancel callback, called every few milliseconds.  Making words reads catalogs, for hash functions
 * and collations too.  A catalog snapshot would hold back vacuums as long as the graph is made, so
 * it is dropped here.
 */
static bool
hg_graph_is_cancelled(void *arg)
{
	HgGraphMaking *making = arg;

	InvalidateCatalogSnapshot();
	return making->is_interrupted(arg) || making->is_left();
}

HgGraphMaking *
hg_graph_making(HgResidentRelation key, const HgKeyNumbers *numbers, bool (*is_left)(void))
{
	HgGraphMaking *making = palloc0(sizeof(HgGraphMaking));

	hg_host_init(&making->host, CurrentMemoryContext);
	making->is_interrupted = making->host.host.cancelled;
	making->host.host.cancelled = hg_graph_is_cancelled;
	making->is_left = is_left;
	making->key = key;
	making->numbers = *numbers;
	making->rows = palloc(HG_BATCH_ROWS * sizeof(uint32));
	hg_cleanup_register(&making->cleanup, CurrentMemoryContext, hg_graph_unpin, making);
	return making;
}

/* Allocates the arrays for nsegments. */
static void
hg_graph_reserve(HgGraphMaking *making, uint32 nsegments)
{
	making->size = Max(nsegments, 1);
	making->serials = palloc(making->size * sizeof(uint64));
	making->copied = palloc(making->size * sizeof(uint8));
	making->added = palloc(making->size * sizeof(dsa_pointer));
}

/* Returns why the key of a locked entry can have no graph, or HG_REASON_NONE. */
static HgResidentReason
hg_graph_reason(const HgGraphMaking *making, const HgDirectoryEntry *entry)
{
	if (making->words == NULL)
		return HG_REASON_GRAPH_TYPE;
	return entry->nslots > HG_GRAPH_SEGMENTS ? HG_REASON_GRAPH_SEGMENTS : HG_REASON_NONE;
}

/* Returns the older version of a graph, if its columns and words are still the same; or NULL. */
static HgResidentGraph *
hg_graph_older(const HgGraphMaking *making, const HgDirectoryGraph *graph)
{
	HgResidentGraph *version;

	if (making->words == NULL || !DsaPointerIsValid(graph->version))
		return NULL;
	version = hg_graph_version(graph->version);
	return hg_graph_key_equal(&version->key, &making->words->key) ? version : NULL;
}

/*
 * Compares the slots of a locked entry, for which the arrays have room, with the older graph.
 * Sets which of its rows are kept, and which versions are new, without pinning them.  Returns the
 * number of segments that differ.
 */
static uint32
hg_graph_compare(HgGraphMaking *making, const HgDirectoryEntry *entry, const HgResidentGraph *old)
{
	const HgSegmentSlot *slots = hg_directory_slots(entry);
	const uint64 *old_serials = old != NULL ? hg_graph_version_serials(old) : NULL;
	uint32 old_nsegments = old != NULL ? old->nsegments : 0;
	uint32 differ = 0;

	for (uint32 i = 0; i < entry->nslots; i++)
	{
		uint64 old_serial = i < old_nsegments ? old_serials[i] : 0;
		const HgSegmentVersion *version;

		making->serials[i] = 0;
		making->copied[i] = HG_FLAT_NONE;
		making->added[i] = InvalidDsaPointer;
		hg_directory_prefetch(slots, entry->nslots, i);
		if (DsaPointerIsValid(slots[i].version))
		{
			version = hg_segment_version(slots[i].version);
			if (version->serial == old_serial)
				making->copied[i] = HG_FLAT_ALL;
			else if ((version->serial | HG_GRAPH_PASSED) == old_serial)
				making->serials[i] = old_serial;
			else if (hg_graph_words_begin(making->words, version))
				making->added[i] = slots[i].version;
			if (making->copied[i] == HG_FLAT_ALL || DsaPointerIsValid(making->added[i]))
				making->serials[i] = version->serial;
		}
		differ += making->serials[i] != old_serial;
	}
	for (uint32 i = entry->nslots; i < old_nsegments; i++)
		differ += old_serials[i] != 0;
	return differ;
}

/* Pins the versions and the older graph in a locked entry. */
static void
hg_graph_pin(HgGraphMaking *making, const HgDirectoryEntry *entry, const HgDirectoryGraph *graph,
			 HgResidentGraph *old)
{
	making->nsegments = entry->nslots;
	for (uint32 i = 0; i < making->nsegments; i++)
		if (DsaPointerIsValid(making->added[i]))
			hg_segment_version_pin(hg_segment_version(making->added[i]));
	if (old == NULL)
		return;
	hg_graph_version_pin(old);
	making->old = graph->version;
}

/* Returns true if a graph of a locked entry shall be made; then marks it as loading. */
static bool
hg_graph_take_locked(HgGraphMaking *making, const HgDirectoryEntry *entry, HgDirectoryGraph *graph)
{
	HgResidentReason reason = hg_graph_reason(making, entry);
	HgResidentGraph *old = hg_graph_older(making, graph);
	uint32 differ;
	bool due;

	if (reason != HG_REASON_NONE)
	{
		/* a waiting session gets an error only for graphs that are declined while it waits */
		if (graph->wanted || graph->state != HG_RESIDENT_DECLINED || graph->reason != reason)
			hg_graph_decline(graph, reason);
		return false;
	}
	making->file = entry->file;
	making->replacements = entry->replacements;
	differ = hg_graph_compare(making, entry, old);
	due = graph->wanted || graph->state == HG_RESIDENT_LOADING ||
		  (graph->state == HG_RESIDENT_DECLINED &&
		   (graph->reason == HG_REASON_GRAPH_TYPE || graph->reason == HG_REASON_GRAPH_SEGMENTS)) ||
		  (graph->state == HG_RESIDENT_READY &&
		   (old == NULL || differ * HG_GRAPH_STEP_PART >= Max(entry->nslots, 1)));
	if (!due)
		return false;
	graph->wanted = false; /* later requests are for another graph */
	graph->reason = HG_REASON_NONE;
	graph->tried_at = GetCurrentTimestamp();
	if (old != NULL && differ == 0)
	{
		graph->made_of = entry->replacements;
		graph->state = HG_RESIDENT_READY;
		return false;
	}
	graph->state = HG_RESIDENT_LOADING;
	hg_graph_pin(making, entry, graph, old);
	return true;
}

/*
 * Returns true if a graph's columns in a locked entry are those of the words.  Otherwise stores
 * the new ones; the caller makes words for them.
 */
static bool
hg_graph_knows_columns(HgGraphMaking *making, const HgDirectoryEntry *entry)
{
	bool known = true;

	for (int i = 0; i < making->numbers.n; i++)
	{
		const HgDirectoryColumn *column =
			hg_directory_find_column(entry, making->numbers.numbers[i]);

		known &= hg_resident_column_equal(&making->columns[i], &column->planned);
		making->columns[i] = column->planned;
	}
	return known;
}

/* Returns true if all columns of a graph in a locked entry can be loaded and are not evicted. */
static bool
hg_graph_has_columns(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph)
{
	if (entry->state == HG_RESIDENT_DECLINED || !hg_graph_may_be_made(entry, graph))
		return false;
	for (int i = 0; i < graph->key.n; i++)
		if (hg_directory_find_column(entry, graph->key.numbers[i])->planned.number ==
			InvalidAttrNumber)
			return false;
	return true;
}

/*
 * Passes over pinned versions with a value of the key out of line.  If the loader has to exit,
 * there is no time to check, and the remaining versions must not be used either.
 */
static void
hg_graph_pass_over(HgGraphMaking *making)
{
	for (uint32 i = 0; i < making->nsegments; i++)
	{
		bool left;

		if (!DsaPointerIsValid(making->added[i]))
			continue;
		left = hg_graph_is_cancelled(making);
		if (!left && (!hg_graph_words_begin(making->words, hg_segment_version(making->added[i])) ||
					  !hg_graph_words_lie_outside(making->words)))
			continue;
		making->serials[i] = left ? 0 : making->serials[i] | HG_GRAPH_PASSED;
		hg_segment_version_release(making->added[i]);
		making->added[i] = InvalidDsaPointer;
	}
}

bool
hg_graph_take(HgGraphMaking *making)
{
	for (;;)
	{
		HgDirectoryEntry *entry = hg_directory_lock(making->key, true);
		HgDirectoryGraph *graph;
		uint32 nslots;
		bool known = true;
		bool take = false;

		if (entry == NULL)
			return false;
		graph = hg_directory_find_graph(entry, &making->numbers);
		nslots = entry->nslots;
		if (graph != NULL && hg_graph_has_columns(entry, graph))
		{
			known = hg_graph_knows_columns(making, entry);
			if (known && nslots <= making->size)
				take = hg_graph_take_locked(making, entry, graph);
		}
		hg_directory_unlock(entry);
		if (known && nslots <= making->size)
		{
			if (take)
				hg_graph_pass_over(making);
			return take;
		}
		if (!known)
			making->words = hg_graph_words_create(making->numbers.n, making->columns);
		if (nslots > making->size)
			hg_graph_reserve(making, nslots);
	}
}
