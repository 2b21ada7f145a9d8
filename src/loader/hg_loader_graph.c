/*-------------------------------------------------------------------------
 *
 * hg_loader_graph.c
 *	  Makes the graphs of a table's keys from the versions of its segments.
 *
 * A graph is made only from the arrays of the key's columns in the versions of the table's slots.
 * No page is read, and no table lock and no snapshot is held.  The versions are pinned meanwhile,
 * and immutable.
 *
 * MERGING.  If there is an older graph, the new one is made from the older graph's rows of
 * versions that the slots still have, and from the rows of newer versions.  The older graph's rows
 * are copied bin by bin, and most of them need not be hashed again.
 *
 * VALUES OUT OF LINE are cached as pointers (resident/hg_resident_array.h), which nobody may
 * follow without a snapshot that sees the row.  So a version with such a value in the key is
 * passed over: joins read its rows as they do those of newer versions.
 *
 * MEMORY.  A graph that finds no room evicts others, as columns do.  If that is not enough, the
 * graph that it replaces is freed first; readers that have pinned it keep it.  A graph that finds
 * no room even so is declined.  Its table's columns remain.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "backend/hg_cleanup.h"
#include "backend/hg_host.h"
#include "batch/hg_graph_key.h"
#include "engine/hg_flat.h"
#include "loader/hg_loader_plan.h"
#include "loader/hg_loader_table.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_eviction.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_graph_version.h"
#include "resident/hg_resident_memory.h"
#include "resident/hg_resident_statistics.h"

/* What a graph is made of. */
typedef struct HgGraphMaking
{
	HgPgHost host; /* must be first: callbacks get its address */
	/* the host's own cancel callback */
	bool (*is_interrupted)(void *arg);
	/* returns true if the loader has to exit */
	bool (*is_left)(void);
	HgCleanup cleanup; /* of pins */
	HgResidentRelation key;
	HgKeyNumbers numbers;
	HgResidentFile file;
	/* makes the columns' words; NULL: their types can't have a graph */
	HgGraphWords *words;
	HgResidentColumn columns[HG_GRAPH_COLUMNS];
	uint64 replacements; /* the entry's counter when its slots were read */
	uint32 nsegments;
	uint32 size;		/* allocated elements of the next three arrays */
	uint64 *serials;	/* of versions that the graph will list */
	uint8 *copied;		/* HgFlatPartState: whether the older graph's rows are copied */
	dsa_pointer *added; /* pinned versions whose rows are new; invalid: none */
	dsa_pointer old;	/* pinned older graph; invalid: none */
	HgFlatGraph flat;	/* the older graph */
	HgFlatMask mask;	/* which of its rows are copied */
	uint32 *rows;		/* [HG_BATCH_ROWS] numbers of those rows of a batch that have a key */
} HgGraphMaking;

/* Result of an attempt to make a graph. */
typedef enum HgGraphOutcome
{
	HG_GRAPH_DONE,		/* made, or nothing to do */
	HG_GRAPH_LEFT,		/* the loader has to exit */
	HG_GRAPH_NO_MEMORY, /* the area has no room */
	HG_GRAPH_NO_BIN,	/* a bin does not fit in maintenance_work_mem */
	HG_GRAPH_REPLACED	/* the table has another file now, or a column is gone */
} HgGraphOutcome;

/* ---------------------------------------------------------------------
 * Determines what a table's graph is to be made from, and pins it
 *
 * How a key's words are made follows from catalogs, which must not be read while an entry is
 * locked.  So the columns are read first.  Everything starts again if they have changed when the
 * versions are read.
 * ---------------------------------------------------------------------
 */

/* Unpins everything.  Also called when the memory context is reset. */
static void
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

/* Allocates the state for making the graph of a key, in CurrentMemoryContext. */
static HgGraphMaking *
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

/*
 * Determines what the graph is made from and pins it, in a transaction.  Returns false if no graph
 * is to be made; the directory then says why, if it was declined.
 */
static bool
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

/* ---------------------------------------------------------------------
 * Makes a graph version from segment versions, bin by bin
 *
 * Rows are counted first.  Then they are collected for as many bins at a time as fit in
 * maintenance_work_mem, so that a graph of any size takes no more than this beside the area.  The
 * rows are hashed once for each time.  If a single bin does not fit, because too many rows have
 * one key, there is no graph.
 * ---------------------------------------------------------------------
 */

typedef HgStatus (*HgGraphTaker)(HgFlatMaker *maker, const HgFlatRows *rows, HgError *error);

/* Passes the words of a batch of a segment's rows, from *row on, to a maker.  Advances *row. */
static HgStatus
hg_graph_feed_batch(HgGraphMaking *making, uint32 segment, uint32 *row, HgFlatMaker *maker,
					HgGraphTaker take, HgError *error)
{
	HgGraphWords *words = making->words;
	int n = hg_graph_words_next(words, *row);
	int count = 0;

	/* narrow words overwrite wide ones from the front on, none before it was read */
	for (int i = 0; i < n; i++)
	{
		if (words->nulls[i])
			continue;
		if (words->encoder->width == sizeof(uint64))
			words->words[count] = words->words[i];
		else
			((uint32 *) words->words)[count] = (uint32) words->words[i];
		making->rows[count++] = HG_FLAT_ROW(segment, *row + i);
	}
	*row += n;
	return take(maker,
				&(HgFlatRows){.keys = words->words, .rows = making->rows, .count = (uint64) count},
				error);
}

/* Passes the rows of a new version to a maker. */
static HgStatus
hg_graph_feed_segment(HgGraphMaking *making, uint32 segment, HgFlatMaker *maker, HgGraphTaker take,
					  HgError *error)
{
	HgGraphWords *words = making->words;
	const HgSegmentArray *array = &words->arrays[0];
	HgStatus status = HG_OK;

	(void) hg_graph_words_begin(words, hg_segment_version(making->added[segment]));
	/* if the values are the words, pass them in place */
	if (hg_key_is_value(words->encoder, HG_OUTER) && array->valid == NULL)
		return take(maker,
					&(HgFlatRows){.keys = array->values,
								  .count = words->nrows,
								  .first_row = HG_FLAT_ROW(segment, 0)},
					error);
	for (uint32 row = 0; row < words->nrows && status == HG_OK;)
	{
		if (making->host.host.cancelled(&making->host))
			return HG_CANCELLED;
		status = hg_graph_feed_batch(making, segment, &row, maker, take, error);
	}
	return status;
}

static HgStatus
hg_graph_feed(HgGraphMaking *making, HgFlatMaker *maker, HgGraphTaker take, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32 i = 0; i < making->nsegments && status == HG_OK; i++)
		if (DsaPointerIsValid(making->added[i]))
			status = hg_graph_feed_segment(making, i, maker, take, error);
	return status;
}

/* Returns the expected number of rows; those of the older graph are an estimate. */
static uint64
hg_graph_rows(const HgGraphMaking *making)
{
	uint64 rows = 0;
	uint32 copied = 0;
	uint32 listed = 0;

	for (uint32 i = 0; i < making->nsegments; i++)
	{
		copied += making->copied[i] == HG_FLAT_ALL;
		if (DsaPointerIsValid(making->added[i]))
			rows += hg_segment_version(making->added[i])->nrows;
	}
	if (!DsaPointerIsValid(making->old))
		return rows;
	for (uint32 i = 0; i < hg_graph_version(making->old)->nsegments; i++)
	{
		uint64 serial = hg_graph_version_serials(hg_graph_version(making->old))[i];

		listed += serial != 0 && (serial & HG_GRAPH_PASSED) == 0;
	}
	return rows + (uint64) ((double) making->flat.rows * copied / Max(listed, 1));
}

/*
 * ------------------------------------------------------------------------
 * A graph
 * ------------------------------------------------------------------------
 */

/* Raises an error of the engine, unless it was cancelled because the loader has to exit. */
static HgGraphOutcome
hg_graph_fail(HgGraphMaking *making, HgStatus status, const HgError *error)
{
	if (status != HG_CANCELLED || making->host.caught != NULL)
		hg_host_throw(&making->host, status, error);
	return HG_GRAPH_LEFT;
}

/* Allocates a bin; NULL if there is no room.  Evictions make room for all missing bytes. */
static void *
hg_graph_add_bin(const HgGraphMaking *making, HgResidentClaim *claim, HgResidentGraph *graph,
				 uint32 bin, uint64 rows, uint64 missing)
{
	Size bytes = hg_flat_bin_bytes(&graph->shape, rows);
	void *memory = hg_graph_version_add_bin(claim, graph, bin, bytes, rows);

	for (bool more = true; memory == NULL && more;)
	{
		more = hg_eviction_make_room(making->key, missing, false) > 0;
		memory = hg_graph_version_add_bin(claim, graph, bin, bytes, rows);
	}
	return memory;
}

/* Returns the bytes of all bins of a maker that has counted. */
static uint64
hg_graph_bytes(const HgFlatMaker *maker, const HgFlatShape *shape)
{
	uint64 bytes = 0;

	for (uint32 bin = 0; bin < (uint32) 1 << shape->bins_log2; bin++)
		if (hg_flat_counted(maker, bin) > 0)
			bytes += hg_flat_bin_bytes(shape, hg_flat_counted(maker, bin));
	return bytes;
}

/* Returns true if each bin of a maker that has counted fits in a limit by itself. */
static bool
hg_graph_bins_fit(const HgFlatMaker *maker, const HgFlatShape *shape, uint64 limit)
{
	for (uint32 bin = 0; bin < (uint32) 1 << shape->bins_log2; bin++)
		if (hg_flat_bin_bytes(shape, hg_flat_counted(maker, bin)) > limit)
			return false;
	return true;
}

/* Makes the bins of a graph from counted rows. */
static HgGraphOutcome
hg_graph_make_bins(HgGraphMaking *making, HgFlatMaker *maker, HgResidentClaim *claim,
				   HgResidentGraph *graph)
{
	uint64 missing = hg_graph_bytes(maker, &graph->shape);
	uint64 limit = (uint64) maintenance_work_mem * 1024;
	uint32 nbins = (uint32) 1 << graph->shape.bins_log2;
	HgError error;
	uint32 end;

	if (!hg_graph_bins_fit(maker, &graph->shape, limit))
		return HG_GRAPH_NO_BIN;
	if (missing > hg_resident_memory_size())
		return HG_GRAPH_NO_MEMORY;
	for (uint32 first = 0; first < nbins; first = end)
	{
		HgStatus status = hg_flat_begin(maker, first, limit, &end, &error);

		if (status == HG_OK && DsaPointerIsValid(making->old))
			status = hg_flat_add_graph(maker, &making->flat, &making->mask, &error);
		if (status == HG_OK)
			status = hg_graph_feed(making, maker, hg_flat_add, &error);
		for (uint32 bin = first; bin < end && status == HG_OK; bin++)
		{
			uint64 rows = hg_flat_counted(maker, bin);
			void *memory;

			if (rows == 0)
				continue;
			memory = hg_graph_add_bin(making, claim, graph, bin, rows, missing);
			if (memory == NULL)
				return HG_GRAPH_NO_MEMORY;
			status = hg_flat_finish_bin(maker, bin, memory, &error);
			missing -= hg_flat_bin_bytes(&graph->shape, rows);
		}
		if (status != HG_OK)
			return hg_graph_fail(making, status, &error);
	}
	return HG_GRAPH_DONE;
}

/*
 * Makes a graph version from what hg_graph_take() has pinned.  *pointer becomes the version, whose
 * chunks belong to the claim.  Raises the engine's errors.
 */
static HgGraphOutcome
hg_graph_make(HgGraphMaking *making, HgResidentClaim *claim, dsa_pointer *pointer)
{
	HgFlatMaker *maker;
	HgGraphOutcome outcome;
	HgFlatShape shape;
	HgError error;
	HgStatus status;

	if (DsaPointerIsValid(making->old))
	{
		HgResidentGraph *old = hg_graph_version(making->old);
		const HgFlatBin **bins = MemoryContextAllocHuge(
			CurrentMemoryContext, ((Size) 1 << old->shape.bins_log2) * sizeof(HgFlatBin *));

		hg_graph_version_bins(old, bins);
		making->flat = (HgFlatGraph){.shape = old->shape, .rows = old->rows, .bins = bins};
		making->mask = (HgFlatMask){.nparts = making->nsegments, .states = making->copied};
	}
	shape = hg_flat_shape(making->words->encoder->width, hg_graph_rows(making));
	*pointer = hg_graph_version_make(claim, &making->words->key, &shape, making->nsegments);
	if (!DsaPointerIsValid(*pointer))
		return HG_GRAPH_NO_MEMORY;
	memcpy(hg_graph_version_serials(hg_graph_version(*pointer)), making->serials,
		   making->nsegments * sizeof(uint64));

	status = hg_flat_maker_open(&making->host.host, &shape, &maker, &error);
	if (status == HG_OK && DsaPointerIsValid(making->old))
		status = hg_flat_count_graph(maker, &making->flat, &making->mask, &error);
	if (status == HG_OK)
		status = hg_graph_feed(making, maker, hg_flat_count, &error);
	if (status != HG_OK)
		outcome = hg_graph_fail(making, status, &error);
	else
		outcome = hg_graph_make_bins(making, maker, claim, hg_graph_version(*pointer));
	hg_flat_maker_close(maker);
	return outcome;
}

/* Returns true if the key's columns in a locked entry are those that the graph was made from. */
static bool
hg_graph_is_of_columns(const HgGraphMaking *making, const HgDirectoryEntry *entry)
{
	for (int i = 0; i < making->numbers.n; i++)
	{
		const HgDirectoryColumn *column =
			hg_directory_find_column(entry, making->numbers.numbers[i]);

		if (!hg_resident_column_equal(&column->planned, &making->columns[i]))
			return false;
	}
	return true;
}

/* Publishes a graph in place of the older one. */
static HgGraphOutcome
hg_graph_publish(const HgGraphMaking *making, HgResidentClaim *claim, dsa_pointer pointer)
{
	HgDirectoryEntry *entry = hg_directory_lock(making->key, true);
	HgDirectoryGraph *graph;
	dsa_pointer old = InvalidDsaPointer;
	bool published = false;

	if (entry == NULL)
		return HG_GRAPH_REPLACED;
	graph = hg_directory_find_graph(entry, &making->numbers);
	if (graph != NULL && hg_resident_file_equal(entry->file, making->file) &&
		hg_graph_is_of_columns(making, entry))
	{
		hg_resident_claim_keep(claim);
		old = graph->version;
		if (DsaPointerIsValid(old))
			hg_graph_version_ask_same(hg_graph_version(pointer), hg_graph_version(old));
		graph->version = pointer;
		graph->made_of = making->replacements;
		graph->state = HG_RESIDENT_READY;
		published = true;
	}
	hg_directory_unlock(entry);
	/* its many bins are freed without a lock */
	if (DsaPointerIsValid(old))
		hg_graph_version_retire(old);
	return published ? HG_GRAPH_DONE : HG_GRAPH_REPLACED;
}

/*
 * Handles lack of room for a graph.  If it would replace another one, frees that and returns true:
 * the next attempt may succeed.  Otherwise declines the graph.
 */
static bool
hg_graph_vacate(HgGraphMaking *making)
{
	dsa_pointer old = making->old;
	bool vacated = DsaPointerIsValid(old);
	HgDirectoryEntry *entry = hg_directory_lock(making->key, true);
	HgDirectoryGraph *graph;

	if (entry == NULL)
		return false;
	graph = hg_directory_find_graph(entry, &making->numbers);
	if (graph != NULL && vacated && graph->version == old)
	{
		graph->version = InvalidDsaPointer;
		hg_graph_version_retire(old); /* pinned by this process, so freed after unpinning */
	}
	else if (graph != NULL && !vacated)
		hg_graph_decline(graph, HG_REASON_NO_MEMORY);
	hg_directory_unlock(entry);
	return vacated;
}

/* Returns true if a graph leaves enough room in the area, after evictions if needed. */
static bool
hg_graph_leaves_room(HgResidentRelation key)
{
	bool room = hg_resident_has_room(HG_LOADER_LEFT_ROOM);

	for (bool more = true; !room && more;)
	{
		more = hg_eviction_make_room(key, HG_LOADER_LEFT_ROOM, false) > 0;
		room = hg_resident_has_room(HG_LOADER_LEFT_ROOM);
	}
	return room;
}

/* Makes a graph in a transaction, without a snapshot. */
static HgGraphOutcome
hg_graph_attempt(HgGraphMaking *making)
{
	HgResidentClaim *claim;
	HgResidentGraph *graph;
	HgGraphOutcome outcome;
	dsa_pointer pointer;
	double start;

	if (!hg_graph_take(making))
		return HG_GRAPH_DONE;
	start = hg_clock_ms();
	claim = palloc(sizeof(HgResidentClaim));
	hg_resident_claim_open(claim, CurrentMemoryContext);
	outcome = hg_graph_make(making, claim, &pointer);
	if (outcome == HG_GRAPH_DONE && !hg_graph_leaves_room(making->key))
		outcome = HG_GRAPH_NO_MEMORY;
	if (outcome == HG_GRAPH_DONE)
	{
		graph = hg_graph_version(pointer);
		graph->made_ms = hg_clock_ms() - start;
		graph->merged = DsaPointerIsValid(making->old);
		hg_resident_count(graph->merged ? HG_COUNT_GRAPHS_MERGED : HG_COUNT_GRAPHS_MADE, 1);
		outcome = hg_graph_publish(making, claim, pointer);
	}
	hg_resident_claim_release(claim);
	if (outcome == HG_GRAPH_NO_MEMORY && !hg_graph_vacate(making))
		outcome = HG_GRAPH_DONE;
	hg_graph_unpin(making);
	return outcome;
}

/* Queues a graph again, or declines it with a reason. */
static void
hg_graph_requeue(HgResidentRelation key, const HgKeyNumbers *numbers, HgResidentReason failure)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, true);
	HgDirectoryGraph *graph;

	if (entry == NULL)
		return;
	graph = hg_directory_find_graph(entry, numbers);
	if (graph != NULL && failure != HG_REASON_NONE)
		hg_graph_decline(graph, failure);
	else if (graph != NULL)
	{
		graph->state = HG_RESIDENT_QUEUED;
		graph->wanted = entry->wanted = true;
	}
	hg_directory_unlock(entry);
}

/* Makes the graph of a key.  Returns false if that must wait, and it is still requested. */
static bool
hg_graph_make_one(HgResidentRelation key, const HgKeyNumbers *numbers, bool (*is_left)(void),
				  MemoryContext context)
{
	volatile HgGraphOutcome outcome = HG_GRAPH_NO_MEMORY;
	volatile HgResidentReason failure = HG_REASON_NONE;

	PG_TRY();
	{
		while (outcome == HG_GRAPH_NO_MEMORY)
		{
			StartTransactionCommand();
			outcome = hg_graph_attempt(hg_graph_making(key, numbers, is_left));
			CommitTransactionCommand();
			MemoryContextSwitchTo(context);
		}
	}
	PG_CATCH();
	{
		if (!hg_loader_recover(context))
			failure = HG_REASON_GRAPH_FAILED;
		outcome = HG_GRAPH_LEFT;
	}
	PG_END_TRY();
	if (outcome == HG_GRAPH_NO_BIN)
		failure = HG_REASON_GRAPH_BIN;
	if (outcome != HG_GRAPH_DONE)
		hg_graph_requeue(key, numbers, failure);
	return outcome == HG_GRAPH_DONE || failure != HG_REASON_NONE;
}

bool
hg_loader_make_graphs(HgResidentRelation key, bool (*is_left)(void), MemoryContext context)
{
	HgKeyNumbers *keys;
	int n = hg_directory_graph_keys(key, &keys);
	bool all = true;

	for (int i = 0; i < n && !is_left(); i++)
		all &= hg_graph_make_one(key, &keys[i], is_left, context);
	pfree(keys);
	return all;
}
