/*-------------------------------------------------------------------------
 *
 * hg_loader_graph.c
 *	  Making the HashGraphs of a table's key columns, of what its segments have in memory.
 *
 * A graph is made of the arrays of the key column in the versions that the table's slots have, and
 * of nothing else: no page is read, no lock is held, and no snapshot.  The versions are pinned
 * meanwhile, and immutable.
 *
 * KEEPING.  What is made when there is a graph already is made of it: of the rows that it has of
 * versions which the slots still have, and of those of versions that came since.  Rows that are
 * kept come bin by bin as they lie there, and most of them need not be hashed again.
 *
 * BIN BY BIN.  Rows are counted first, and then collected for as many bins at a time as fit
 * maintenance_work_mem, so that it takes this much and no more beside the area, however large the
 * graph is.  The rows are hashed once for each time.
 *
 * MEMORY.  A graph that finds no room has others evicted, as columns do.  If that is not enough the
 * graph that it would replace goes first; readers that have pinned it keep it.  A graph that finds
 * no room even so is declined, and its table's columns stay as they are.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "portability/instr_time.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "backend/hg_host.h"
#include "loader/hg_loader_graph.h"
#include "loader/hg_loader_plan.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_eviction.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_statistics.h"

/* Rows whose keys are widened, or picked from those that are NULL, at a time. */
#define HG_GRAPH_BATCH_ROWS 4096

/* How an attempt at a graph has ended. */
typedef enum HgGraphOutcome
{
	HG_GRAPH_DONE,		/* also where there was nothing to do */
	HG_GRAPH_LEFT,		/* the loader is to go */
	HG_GRAPH_NO_MEMORY, /* in the area */
	HG_GRAPH_REPLACED	/* the table has another file meanwhile, or the column has gone */
} HgGraphOutcome;

/* What a graph is made of. */
typedef struct HgGraphMaking
{
	HgPgHost host; /* the first member: what it is given as */
	bool (*is_interrupted)(void *arg);
	bool (*is_left)(void);
	HgCleanup cleanup; /* of pins */
	HgResidentRelation key;
	AttrNumber number;
	HgResidentFile file;
	HgResidentColumn column;
	uint32 key_width;
	uint64 replacements; /* of the entry, when its slots were read */
	uint32 nsegments;
	uint32 size;		/* of each of these arrays: */
	uint64 *serials;	/* of versions whose rows the graph will have */
	uint8 *kept;		/* HgFlatPartState of the older graph's rows */
	dsa_pointer *added; /* versions that it does not have, pinned; invalid: none */
	dsa_pointer old;	/* the older graph, pinned; invalid: there is none */
	HgFlatGraph flat;	/* that */
	HgFlatMask mask;	/* and its rows that are kept */
	/* a batch: */
	int64 *keys;
	uint32 *rows;
} HgGraphMaking;

/*
 * ------------------------------------------------------------------------
 * What it is made of
 * ------------------------------------------------------------------------
 */

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

/* The engine's question, every few milliseconds. */
static bool
hg_graph_is_cancelled(void *arg)
{
	HgGraphMaking *making = arg;

	return making->is_interrupted(arg) || making->is_left();
}

static HgGraphMaking *
hg_graph_making(HgResidentRelation key, AttrNumber number, bool (*is_left)(void))
{
	HgGraphMaking *making = palloc0(sizeof(HgGraphMaking));

	hg_host_init(&making->host, CurrentMemoryContext);
	making->is_interrupted = making->host.host.cancelled;
	making->host.host.cancelled = hg_graph_is_cancelled;
	making->is_left = is_left;
	making->key = key;
	making->number = number;
	making->keys = palloc(HG_GRAPH_BATCH_ROWS * sizeof(int64));
	making->rows = palloc(HG_GRAPH_BATCH_ROWS * sizeof(uint32));
	hg_cleanup_register(&making->cleanup, CurrentMemoryContext, hg_graph_unpin, making);
	return making;
}

/* Have room for so many segments. */
static void
hg_graph_reserve(HgGraphMaking *making, uint32 nsegments)
{
	making->size = Max(nsegments, 1);
	making->serials = palloc(making->size * sizeof(uint64));
	making->kept = palloc(making->size * sizeof(uint8));
	making->added = palloc(making->size * sizeof(dsa_pointer));
}

/* Why a column of a locked entry can have no graph; HG_REASON_NONE: it can. */
static HgResidentReason
hg_graph_reason(const HgDirectoryEntry *entry, const HgDirectoryColumn *column)
{
	if (!hg_resident_graph_may_have(&column->planned))
		return HG_REASON_GRAPH_TYPE;
	return entry->nslots > HG_GRAPH_SEGMENTS ? HG_REASON_GRAPH_SEGMENTS : HG_REASON_NONE;
}

/* Is a graph one that a locked entry's column has now? */
static HgResidentGraph *
hg_graph_older(const HgDirectoryColumn *column)
{
	HgResidentGraph *graph;

	if (!DsaPointerIsValid(column->graph.version))
		return NULL;
	graph = hg_graph_version(column->graph.version);
	return hg_resident_column_equal(&graph->column, &column->planned) ? graph : NULL;
}

/*
 * Compare the slots of a locked entry, for which there is room, with the older graph: which rows of
 * that are kept, which versions come to them.  Nothing is pinned.  How many segments differ.
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
		making->kept[i] = HG_FLAT_NONE;
		making->added[i] = InvalidDsaPointer;
		hg_directory_prefetch(slots, entry->nslots, i);
		if (DsaPointerIsValid(slots[i].version))
		{
			version = hg_segment_version(slots[i].version);
			if (version->serial == old_serial)
				making->kept[i] = HG_FLAT_ALL;
			else if (hg_segment_find_column(version, &making->column) >= 0)
				making->added[i] = slots[i].version;
			if (making->kept[i] == HG_FLAT_ALL || DsaPointerIsValid(making->added[i]))
				making->serials[i] = version->serial;
		}
		differ += making->serials[i] != old_serial;
	}
	for (uint32 i = entry->nslots; i < old_nsegments; i++)
		differ += old_serials[i] != 0;
	return differ;
}

/* Pin what a locked entry has, and the graph is made of. */
static void
hg_graph_pin(HgGraphMaking *making, const HgDirectoryEntry *entry, const HgDirectoryColumn *column,
			 HgResidentGraph *old)
{
	making->nsegments = entry->nslots;
	for (uint32 i = 0; i < making->nsegments; i++)
		if (DsaPointerIsValid(making->added[i]))
			hg_segment_version_pin(hg_segment_version(making->added[i]));
	if (old == NULL)
		return;
	hg_graph_version_pin(old);
	making->old = column->graph.version;
}

/* Is there a graph to be made of a column of a locked entry, which says so from now on? */
static bool
hg_graph_take_locked(HgGraphMaking *making, const HgDirectoryEntry *entry,
					 HgDirectoryColumn *column)
{
	HgDirectoryGraph *graph = &column->graph;
	HgResidentReason reason = hg_graph_reason(entry, column);
	HgResidentGraph *old = hg_graph_older(column);
	uint32 differ;
	bool due;

	if (reason != HG_REASON_NONE)
	{
		hg_graph_decline(graph, reason);
		return false;
	}
	making->file = entry->file;
	making->column = column->planned;
	making->key_width = making->column.length == sizeof(int64) ? sizeof(int64) : sizeof(int32);
	making->replacements = entry->replacements;
	differ = hg_graph_compare(making, entry, old);
	due = graph->wanted || graph->state == HG_RESIDENT_LOADING ||
		  (graph->state == HG_RESIDENT_DECLINED &&
		   (graph->reason == HG_REASON_GRAPH_TYPE || graph->reason == HG_REASON_GRAPH_SEGMENTS)) ||
		  (graph->state == HG_RESIDENT_READY &&
		   (old == NULL || differ * HG_GRAPH_STEP_PART >= Max(entry->nslots, 1)));
	if (!due)
		return false;
	graph->wanted = false; /* what comes to be wanted from now on is another graph */
	graph->reason = HG_REASON_NONE;
	graph->tried_at = GetCurrentTimestamp();
	if (old != NULL && differ == 0)
	{
		graph->made_of = entry->replacements;
		graph->state = HG_RESIDENT_READY;
		return false;
	}
	graph->state = HG_RESIDENT_LOADING;
	hg_graph_pin(making, entry, column, old);
	return true;
}

/* Find out what a column's graph is made of, and pin that.  False: none is to be made. */
static bool
hg_graph_take(HgGraphMaking *making)
{
	for (;;)
	{
		HgDirectoryEntry *entry = hg_directory_lock(making->key, true);
		HgDirectoryColumn *column;
		uint32 nslots;
		bool take = false;

		if (entry == NULL)
			return false;
		column = hg_directory_find_column(entry, making->number);
		nslots = entry->nslots;
		if (column != NULL && column->graph.keyed && !column->evicted &&
			column->planned.number != InvalidAttrNumber && entry->state != HG_RESIDENT_DECLINED &&
			nslots <= making->size)
			take = hg_graph_take_locked(making, entry, column);
		hg_directory_unlock(entry);
		if (nslots <= making->size)
			return take;
		hg_graph_reserve(making, nslots);
	}
}

/*
 * ------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------
 */

typedef HgStatus (*HgGraphTaker)(HgFlatMaker *maker, const HgFlatRows *rows, HgError *error);

/*
 * Hand the rows of an array, from one on, to a maker, those that are NULL left out: how far it has
 * come is *row.
 */
static HgStatus
hg_graph_feed_batch(HgGraphMaking *making, const HgSegmentArray *array, uint32 segment, uint32 *row,
					uint32 nrows, HgFlatMaker *maker, HgGraphTaker take, HgError *error)
{
	uint32 end = Min(nrows, *row + HG_GRAPH_BATCH_ROWS);
	uint32 count = 0;

	for (; *row < end; (*row)++)
	{
		int64 key;

		if (hg_segment_is_null(array, *row))
			continue;
		key = hg_segment_unit(array->width, array->values, *row);
		if (making->key_width == sizeof(int64))
			making->keys[count] = key;
		else
			((int32 *) making->keys)[count] = (int32) key;
		making->rows[count++] = HG_FLAT_ROW(segment, *row);
	}
	return take(maker, &(HgFlatRows){.keys = making->keys, .rows = making->rows, .count = count},
				error);
}

/* Hand the rows of a version that was added to a maker. */
static HgStatus
hg_graph_feed_segment(HgGraphMaking *making, uint32 segment, HgFlatMaker *maker, HgGraphTaker take,
					  HgError *error)
{
	const HgSegmentVersion *version = hg_segment_version(making->added[segment]);
	HgSegmentArray array =
		hg_segment_array(version, hg_segment_find_column(version, &making->column));
	HgStatus status = HG_OK;

	Assert(array.form.encoding == HG_ENCODING_FIXED && array.width == making->column.length);
	if (array.valid == NULL && array.width == (int) making->key_width)
		return take(maker,
					&(HgFlatRows){.keys = array.values,
								  .count = version->nrows,
								  .first_row = HG_FLAT_ROW(segment, 0)},
					error);
	for (uint32 row = 0; row < version->nrows && status == HG_OK;)
		status =
			hg_graph_feed_batch(making, &array, segment, &row, version->nrows, maker, take, error);
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

/* How many rows there will be: of those that are kept an estimate. */
static uint64
hg_graph_rows(const HgGraphMaking *making)
{
	uint64 rows = 0;
	uint32 kept = 0;
	uint32 listed = 0;

	for (uint32 i = 0; i < making->nsegments; i++)
	{
		kept += making->kept[i] == HG_FLAT_ALL;
		if (DsaPointerIsValid(making->added[i]))
			rows += hg_segment_version(making->added[i])->nrows;
	}
	if (!DsaPointerIsValid(making->old))
		return rows;
	for (uint32 i = 0; i < hg_graph_version(making->old)->nsegments; i++)
		listed += hg_graph_version_serials(hg_graph_version(making->old))[i] != 0;
	return rows + (uint64) ((double) making->flat.rows * kept / Max(listed, 1));
}

/*
 * ------------------------------------------------------------------------
 * A graph
 * ------------------------------------------------------------------------
 */

/* An error of the engine's, unless the loader is to go. */
static HgGraphOutcome
hg_graph_fail(HgGraphMaking *making, HgStatus status, const HgError *error)
{
	if (status != HG_CANCELLED || making->host.caught != NULL)
		hg_host_throw(&making->host, status, error);
	return HG_GRAPH_LEFT;
}

/*
 * Room for a bin; NULL: there is none.  Whoever is evicted for it makes room for all that is
 * missing.
 */
static void *
hg_graph_add_bin(const HgGraphMaking *making, HgResidentClaim *claim, HgResidentGraph *graph,
				 uint32 bin, uint64 rows, uint64 missing)
{
	Size bytes = hg_flat_bin_bytes(&graph->shape, rows);
	void *memory = hg_graph_version_add_bin(claim, graph, bin, bytes, rows);

	while (memory == NULL && hg_eviction_make_room(making->key, missing, false) > 0)
		memory = hg_graph_version_add_bin(claim, graph, bin, bytes, rows);
	return memory;
}

/* Bytes of all bins of a maker that has counted. */
static uint64
hg_graph_bytes(const HgFlatMaker *maker, const HgFlatShape *shape)
{
	uint64 bytes = 0;

	for (uint32 bin = 0; bin < (uint32) 1 << shape->bins_log2; bin++)
		if (hg_flat_counted(maker, bin) > 0)
			bytes += hg_flat_bin_bytes(shape, hg_flat_counted(maker, bin));
	return bytes;
}

/* Make the bins of a graph, of rows that were counted. */
static HgGraphOutcome
hg_graph_make_bins(HgGraphMaking *making, HgFlatMaker *maker, HgResidentClaim *claim,
				   HgResidentGraph *graph)
{
	uint64 missing = hg_graph_bytes(maker, &graph->shape);
	uint64 limit = (uint64) maintenance_work_mem * 1024;
	uint32 nbins = (uint32) 1 << graph->shape.bins_log2;
	HgError error;
	uint32 end;

	if (missing > hg_resident_memory_size())
		return HG_GRAPH_NO_MEMORY;
	for (uint32 first = 0; first < nbins; first = end)
	{
		HgStatus status = hg_flat_begin(maker, first, limit, &end, &error);

		if (status == HG_OK && DsaPointerIsValid(making->old))
			status = hg_flat_keep(maker, &making->flat, &making->mask, &error);
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

/* Make a graph of what was pinned; *pointer is the claim's. */
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
		making->mask = (HgFlatMask){.nparts = making->nsegments, .states = making->kept};
	}
	shape = hg_flat_shape(making->key_width, hg_graph_rows(making));
	*pointer = hg_graph_version_make(claim, &making->column, &shape, making->nsegments);
	if (!DsaPointerIsValid(*pointer))
		return HG_GRAPH_NO_MEMORY;
	memcpy(hg_graph_version_serials(hg_graph_version(*pointer)), making->serials,
		   making->nsegments * sizeof(uint64));

	status = hg_flat_maker_open(&making->host.host, &shape, &maker, &error);
	if (status == HG_OK && DsaPointerIsValid(making->old))
		status = hg_flat_count_kept(maker, &making->flat, &making->mask, &error);
	if (status == HG_OK)
		status = hg_graph_feed(making, maker, hg_flat_count, &error);
	if (status != HG_OK)
		outcome = hg_graph_fail(making, status, &error);
	else
		outcome = hg_graph_make_bins(making, maker, claim, hg_graph_version(*pointer));
	hg_flat_maker_close(maker);
	return outcome;
}

/* Publish a graph, in place of the one that there is. */
static HgGraphOutcome
hg_graph_publish(const HgGraphMaking *making, HgResidentClaim *claim, dsa_pointer pointer)
{
	HgDirectoryEntry *entry = hg_directory_lock(making->key, true);
	HgDirectoryColumn *column;
	dsa_pointer old = InvalidDsaPointer;
	bool published = false;

	if (entry == NULL)
		return HG_GRAPH_REPLACED;
	column = hg_directory_find_column(entry, making->number);
	if (column != NULL && column->graph.keyed &&
		hg_resident_file_equal(entry->file, making->file) &&
		hg_resident_column_equal(&column->planned, &making->column))
	{
		hg_resident_claim_keep(claim);
		old = column->graph.version;
		column->graph.version = pointer;
		column->graph.made_of = making->replacements;
		column->graph.state = HG_RESIDENT_READY;
		published = true;
	}
	hg_directory_unlock(entry);
	/* all of its bins are given back without a lock */
	if (DsaPointerIsValid(old))
		hg_graph_version_retire(old);
	return published ? HG_GRAPH_DONE : HG_GRAPH_REPLACED;
}

/*
 * There is no room for a graph.  Where it would have replaced another one, that goes, and the next
 * attempt may find room; true.  Else it is declined.
 */
static bool
hg_graph_vacate(HgGraphMaking *making)
{
	dsa_pointer old = making->old;
	bool vacated = DsaPointerIsValid(old);
	HgDirectoryEntry *entry = hg_directory_lock(making->key, true);
	HgDirectoryColumn *column;

	if (entry == NULL)
		return false;
	column = hg_directory_find_column(entry, making->number);
	if (column != NULL && vacated && column->graph.version == old)
	{
		column->graph.version = InvalidDsaPointer;
		hg_graph_version_retire(old); /* it is pinned, and goes when it is not */
	}
	else if (column != NULL && !vacated)
		hg_graph_decline(&column->graph, HG_REASON_NO_MEMORY);
	hg_directory_unlock(entry);
	return vacated;
}

/* Make a graph in a transaction, which holds no snapshot. */
static HgGraphOutcome
hg_graph_attempt(HgGraphMaking *making)
{
	HgResidentClaim *claim;
	HgResidentGraph *graph;
	HgGraphOutcome outcome;
	dsa_pointer pointer;
	instr_time start;
	instr_time taken;

	if (!hg_graph_take(making))
		return HG_GRAPH_DONE;
	INSTR_TIME_SET_CURRENT(start);
	claim = palloc(sizeof(HgResidentClaim));
	hg_resident_claim_open(claim, CurrentMemoryContext);
	outcome = hg_graph_make(making, claim, &pointer);
	if (outcome == HG_GRAPH_DONE && !hg_resident_has_room(HG_LOADER_LEFT_ROOM))
		outcome = HG_GRAPH_NO_MEMORY;
	if (outcome == HG_GRAPH_DONE)
	{
		INSTR_TIME_SET_CURRENT(taken);
		INSTR_TIME_SUBTRACT(taken, start);
		graph = hg_graph_version(pointer);
		graph->made_ms = INSTR_TIME_GET_MILLISEC(taken);
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

/* A graph is still wanted. */
static void
hg_graph_want(HgResidentRelation key, AttrNumber number, HgResidentReason failure)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, true);
	HgDirectoryColumn *column;

	if (entry == NULL)
		return;
	column = hg_directory_find_column(entry, number);
	if (column != NULL && column->graph.keyed && failure != HG_REASON_NONE)
		hg_graph_decline(&column->graph, failure);
	else if (column != NULL && column->graph.keyed)
	{
		column->graph.state = HG_RESIDENT_QUEUED;
		column->graph.wanted = entry->wanted = true;
	}
	hg_directory_unlock(entry);
}

/* Make a column's graph.  False: it could not be made now, and is still wanted. */
static bool
hg_graph_make_one(HgResidentRelation key, AttrNumber number, bool (*is_left)(void),
				  MemoryContext context)
{
	volatile HgGraphOutcome outcome = HG_GRAPH_NO_MEMORY;
	volatile HgResidentReason failure = HG_REASON_NONE;

	PG_TRY();
	{
		while (outcome == HG_GRAPH_NO_MEMORY)
		{
			StartTransactionCommand();
			outcome = hg_graph_attempt(hg_graph_making(key, number, is_left));
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
	if (outcome != HG_GRAPH_DONE)
		hg_graph_want(key, number, failure);
	return outcome == HG_GRAPH_DONE || failure != HG_REASON_NONE;
}

/* The columns of a table that graphs are asked for; their number. */
static int
hg_graph_list(HgResidentRelation key, AttrNumber **numbers)
{
	for (uint32 size = 32;; size *= 2)
	{
		HgDirectoryEntry *entry;
		uint32 ncolumns;
		int n = 0;

		*numbers = palloc(size * sizeof(AttrNumber));
		entry = hg_directory_lock(key, false);
		if (entry == NULL)
			return 0;
		ncolumns = entry->ncolumns;
		for (uint32 i = 0; i < ncolumns && ncolumns <= size; i++)
			if (hg_directory_columns(entry)[i].graph.keyed)
				(*numbers)[n++] = hg_directory_columns(entry)[i].number;
		hg_directory_unlock(entry);
		if (ncolumns <= size)
			return n;
		pfree(*numbers);
	}
}

bool
hg_loader_make_graphs(HgResidentRelation key, bool (*is_left)(void), MemoryContext context)
{
	AttrNumber *numbers;
	int n = hg_graph_list(key, &numbers);
	bool all = true;

	for (int i = 0; i < n && !is_left(); i++)
		all &= hg_graph_make_one(key, numbers[i], is_left, context);
	pfree(numbers);
	return all;
}
