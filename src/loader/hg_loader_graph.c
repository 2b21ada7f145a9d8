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
#include "portability/instr_time.h"

#include "loader/hg_loader_graph.h"
#include "loader/hg_loader_graph_make.h"
#include "loader/hg_loader_plan.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_eviction.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_statistics.h"

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
	instr_time start;
	instr_time taken;

	if (!hg_graph_take(making))
		return HG_GRAPH_DONE;
	INSTR_TIME_SET_CURRENT(start);
	claim = palloc(sizeof(HgResidentClaim));
	hg_resident_claim_open(claim, CurrentMemoryContext);
	outcome = hg_graph_make(making, claim, &pointer);
	if (outcome == HG_GRAPH_DONE && !hg_graph_leaves_room(making->key))
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
