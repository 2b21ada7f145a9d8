/*-------------------------------------------------------------------------
 *
 * hg_resident_graph.c
 *	  Cached HashGraphs ("graphs"): finding and pinning them, and what devices have of them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <math.h>

#include "utils/timestamp.h"

#include "resident/hg_resident_chain.h"
#include "resident/hg_resident_graph.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_statistics.h"

/* Locks the entry of a table, shared.  Returns NULL if there is none, or it is of another file. */
static HgDirectoryEntry *
hg_graph_lock_table(Relation rel)
{
	HgDirectoryEntry *entry;

	if (!hg_resident_memory_exists())
		return NULL;
	entry = hg_directory_lock(hg_resident_relation(rel), false);
	if (entry == NULL)
		return NULL;
	if (hg_resident_file_equal(entry->file, hg_resident_file(rel)))
		return entry;
	hg_directory_unlock(entry);
	return NULL;
}

/* Does the same, and finds the graph of a key; NULL also if that is not requested. */
static HgDirectoryEntry *
hg_graph_lock(Relation rel, const HgGraphKey *key, HgDirectoryGraph **graph)
{
	HgKeyNumbers numbers = hg_graph_key_numbers(key);
	HgDirectoryEntry *entry = hg_graph_lock_table(rel);

	if (entry == NULL)
		return NULL;
	*graph = hg_directory_find_graph(entry, &numbers);
	if (*graph != NULL)
		return entry;
	hg_directory_unlock(entry);
	return NULL;
}

/* Returns true if a graph has a version made from this key, with the same column definitions. */
static bool
hg_graph_is_of(const HgDirectoryGraph *asked, const HgGraphKey *key)
{
	return DsaPointerIsValid(asked->version) &&
		   hg_graph_key_equal(&hg_graph_version(asked->version)->key, key);
}

static void
hg_graph_cleanup(void *arg)
{
	HgPinnedGraph *graph = arg;

	if (DsaPointerIsValid(graph->pointer))
		hg_graph_version_release(graph->pointer);
	graph->pointer = InvalidDsaPointer;
}

/* Allocates the pin of a graph, registered for cleanup. */
static HgPinnedGraph *
hg_graph_begin_pin(void)
{
	HgPinnedGraph *pinned = palloc0(sizeof(HgPinnedGraph));

	hg_cleanup_register(&pinned->cleanup, CurrentMemoryContext, hg_graph_cleanup, pinned);
	return pinned;
}

/* Fills in the addresses after pinning.  Returns the pin, or NULL if no version was pinned. */
static HgPinnedGraph *
hg_graph_end_pin(HgPinnedGraph *pinned)
{
	const HgResidentGraph *graph;
	const HgFlatBin **bins;

	if (!DsaPointerIsValid(pinned->pointer))
		return NULL;
	graph = hg_graph_version(pinned->pointer);
	bins = MemoryContextAllocHuge(CurrentMemoryContext,
								  ((Size) 1 << graph->shape.bins_log2) * sizeof(HgFlatBin *));
	hg_graph_version_bins(graph, bins);
	pinned->flat = (HgFlatGraph){.shape = graph->shape, .rows = graph->rows, .bins = bins};
	pinned->nsegments = graph->nsegments;
	pinned->serials = hg_graph_version_serials(graph);
	return pinned;
}

/* Pins a graph, to use it or only to inspect it. */
static HgPinnedGraph *
hg_graph_pin(Relation rel, const HgGraphKey *key, bool use)
{
	HgDirectoryGraph *asked;
	HgDirectoryEntry *entry;
	HgPinnedGraph *pinned = hg_graph_begin_pin();
	HgResidentGraph *graph;

	entry = hg_graph_lock(rel, key, &asked);
	if (entry == NULL)
		return NULL;
	if (!hg_graph_is_of(asked, key))
		asked->asked |= use;
	else
	{
		graph = hg_graph_version(asked->version);
		/* as for segment versions: idle cursors may hold these pins too */
		if (!hg_resident_memory_is_idle() || hg_graph_version_is_pinned(graph))
		{
			hg_graph_version_pin(graph);
			pinned->pointer = asked->version;
			if (use)
				pg_atomic_write_u64(&graph->used_at, (uint64) GetCurrentTimestamp());
		}
	}
	hg_directory_unlock(entry);
	return hg_graph_end_pin(pinned);
}

HgPinnedGraph *
hg_resident_graph_pin(Relation rel, const HgGraphKey *key)
{
	return hg_graph_pin(rel, key, true);
}

HgPinnedGraph *
hg_resident_graph_peek(Relation rel, const HgGraphKey *key)
{
	return hg_graph_pin(rel, key, false);
}

HgPinnedGraph *
hg_resident_graph_pin_too(dsa_pointer version)
{
	HgPinnedGraph *pinned = hg_graph_begin_pin();

	hg_graph_version_pin(hg_graph_version(version));
	pinned->pointer = version;
	return hg_graph_end_pin(pinned);
}

HgPinnedGraph *
hg_resident_graph_pin_to_send(HgResidentRelation key, const HgKeyNumbers *numbers,
							  const HgReplicaHolders *holders)
{
	HgPinnedGraph *pinned = hg_graph_begin_pin();
	HgDirectoryEntry *entry = hg_directory_lock(key, false);
	HgDirectoryGraph *graph;

	if (entry == NULL)
		return NULL;
	graph = hg_directory_find_graph(entry, numbers);
	if (graph != NULL && DsaPointerIsValid(graph->version) &&
		(holders == NULL || hg_graph_needs_loader(entry, graph, holders)))
	{
		hg_graph_version_pin(hg_graph_version(graph->version));
		pinned->pointer = graph->version;
	}
	hg_directory_unlock(entry);
	return hg_graph_end_pin(pinned);
}

void
hg_resident_graph_unpin(HgPinnedGraph *graph)
{
	hg_graph_cleanup(graph);
}

const HgGraphKey *
hg_resident_graph_key(const HgPinnedGraph *graph)
{
	return &hg_graph_version(graph->pointer)->key;
}

HgDeviceSet
hg_resident_graph_replica(const HgPinnedGraph *graph, HgReplicaUse *use)
{
	HgResidentGraph *version = hg_graph_version(graph->pointer);
	HgReplicaHolders holders;

	*use = (HgReplicaUse){.name = hg_graph_version_name(version, InvalidAttrNumber),
						  .shape = hg_graph_version_shape(version)};
	pg_atomic_write_u64(&version->wishes.whole_at, (uint64) GetCurrentTimestamp());
	return hg_graph_replica_holders(&holders) ? hg_device_copies_present(version->copies, &holders)
											  : 0;
}

void
hg_resident_graph_report_demand(const HgPinnedGraph *graph, const HgGraphDemand *demand)
{
	/* what it is partitioned for already stays as it is */
	if (!hg_resident_graph_is_too_large(graph))
		hg_graph_wishes_store(&hg_graph_version(graph->pointer)->wishes, demand);
}

uint64
hg_resident_graph_least_bytes(const HgPinnedGraph *graph)
{
	return hg_graph_version_least_bytes(hg_graph_version(graph->pointer));
}

HgDeviceSet
hg_resident_graph_replica_column(const HgPinnedGraph *graph, AttrNumber number,
								 HgReplicaColumnUse *use, const HgGraphCodes **codes)
{
	HgResidentGraph *version = hg_graph_version(graph->pointer);
	int device_no = hg_graph_version_ask_column(version, number);
	HgReplicaHolders holders;
	HgDeviceSet replica = 0;

	if (device_no >= 0 && hg_graph_replica_holders(&holders))
		replica = hg_device_copies_present(version->columns[device_no].copies, &holders);
	if (replica == 0)
		return 0;
	*use = (HgReplicaColumnUse){.name = hg_graph_version_name(version, number),
								.shape = version->columns[device_no].shape};
	*codes = hg_graph_codes_find(version, number);
	return replica;
}

/* Sets the addresses of the arrays of a partitioning. */
static void
hg_graph_view_partitions(HgPinnedGraph *graph, const HgGraphPartitions *partitions)
{
	if (graph->partitioning == partitions)
		return;
	hg_graph_partitions_view(partitions, GetMemoryChunkContext(graph), &graph->partitions);
	graph->partitioning = partitions;
}

HgDeviceSet
hg_resident_graph_partitioned(HgPinnedGraph *graph, HgReplicaUse *use,
							  const HgPartitioning **partitions)
{
	HgResidentGraph *version = hg_graph_version(graph->pointer);
	HgGraphPartitions *partitioning = hg_graph_version_partitions(version);
	HgReplicaHolders holders;

	*partitions = NULL;
	if (partitioning == NULL || !hg_graph_replica_holders(&holders) ||
		!hg_graph_partitions_are_replicated(partitioning, &holders))
		return 0;
	*use = (HgReplicaUse){.name = hg_graph_version_name(version, InvalidAttrNumber),
						  .shape = hg_graph_version_shape(version)};
	hg_graph_view_partitions(graph, partitioning);
	*partitions = &graph->partitions;
	return partitioning->device_set;
}

HgDeviceSet
hg_resident_graph_partitioned_column(const HgPinnedGraph *graph, AttrNumber number,
									 HgReplicaColumnUse *use, const HgGraphCodes **codes)
{
	HgResidentGraph *version = hg_graph_version(graph->pointer);
	int device_no = hg_graph_version_ask_column(version, number);
	HgGraphPartitions *partitioning = hg_graph_version_partitions(version);
	HgReplicaHolders holders;

	/* the partitioning may have changed meanwhile */
	if (device_no < 0 || partitioning == NULL || partitioning != graph->partitioning ||
		!hg_graph_replica_holders(&holders) ||
		!hg_graph_partitions_have_column(partitioning, device_no, &holders))
		return 0;
	*use = (HgReplicaColumnUse){.name = hg_graph_version_name(version, number),
								.shape = version->columns[device_no].shape};
	*codes = hg_graph_codes_find(version, number);
	return partitioning->device_set;
}

HgDeviceSet
hg_resident_graph_copartition(const HgPinnedGraph *graph, const HgPinnedGraph *with,
							  HgReplicaUse *use, HgCopartition *copartition)
{
	HgResidentGraph *version = hg_graph_version(graph->pointer);
	HgResidentGraph *partitioning = hg_graph_version(with->pointer);
	HgGraphCopartition *found;
	HgReplicaHolders holders;

	*use = (HgReplicaUse){.name = hg_graph_version_name(version, InvalidAttrNumber),
						  .shape = hg_graph_version_shape(version)};
	*copartition = (HgCopartition){0};
	if (version == partitioning)
		return with->partitioning->device_set;
	hg_graph_copartition_ask(version, partitioning->key.columns[0].number);
	found = hg_graph_copartition_find(version, partitioning, with->partitioning->device_set);
	if (found == NULL || !hg_graph_replica_holders(&holders) ||
		!hg_graph_copartition_is_replicated(found, &holders))
		return 0;
	*copartition = (HgCopartition){.partitioning = found->partitioning, .rows = found->rows};
	return found->device_set;
}

bool
hg_resident_graph_is_partitioned(const HgPinnedGraph *graph)
{
	return hg_graph_version_partitions(hg_graph_version(graph->pointer)) != NULL;
}

bool
hg_resident_graph_is_too_large(const HgPinnedGraph *graph)
{
	return hg_resident_graph_is_partitioned(graph) &&
		   pg_atomic_read_u32(&hg_graph_version(graph->pointer)->too_large) != 0;
}

bool
hg_resident_graph_is_replicated(const HgPinnedGraph *graph)
{
	HgReplicaHolders holders;

	return hg_graph_replica_holders(&holders) &&
		   hg_graph_version_is_replicated(hg_graph_version(graph->pointer), &holders);
}

void
hg_resident_graph_bring_partitions(const HgPinnedGraph *graph, HgDeviceSet device_set)
{
	HgResidentGraph *version = hg_graph_version(graph->pointer);

	/* small graphs get whole replicas, if devices have memory */
	if (version->rows > HG_GRAPH_EVERYWHERE_ROWS || pg_atomic_read_u32(&version->too_large) != 0)
		hg_graph_version_set_partitioning(version, device_set, false);
}

void
hg_resident_graph_bring(const HgPinnedGraph *graph, HgDeviceSet device_set)
{
	/* all graphs that are requested together choose the same device */
	hg_graph_version_add_homes(hg_graph_version(graph->pointer), device_set & (~device_set + 1));
}

void
hg_resident_graph_bring_all(const HgPinnedGraph *graph, HgDeviceSet device_set)
{
	hg_graph_version_add_homes(hg_graph_version(graph->pointer), device_set);
}

void
hg_resident_graph_set_missing(const HgPinnedGraph *graph, bool partitioned, HgDeviceSet device_set,
							  const HgMissingReplicas *missing)
{
	HgResidentGraph *version = hg_graph_version(graph->pointer);
	HgReplicaHolders holders;
	bool is_missing = false;

	hg_graph_replica_holders(&holders);
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0)
			is_missing |= hg_graph_version_note_missing(version, partitioned, device_no,
														holders.epochs[device_no], missing);
	hg_resident_count(HG_COUNT_REPLICAS_MISSING, is_missing);
}

void
hg_resident_graph_set_missing_copartition(const HgPinnedGraph *graph, const HgPinnedGraph *with,
										  HgDeviceSet device_set, const HgMissingReplicas *missing)
{
	const HgResidentGraph *version = hg_graph_version(graph->pointer);
	HgReplicaName name = hg_graph_version_name(version, InvalidAttrNumber);
	HgGraphCopartition *copartition =
		hg_graph_copartition_find(hg_graph_version(graph->pointer), hg_graph_version(with->pointer),
								  with->partitioning->device_set);
	HgReplicaHolders holders;

	name.partition = 1;
	if (!hg_replica_is_missing(missing, &name))
		return;
	hg_graph_replica_holders(&holders);
	for (int device_no = 0; device_no < HG_GPU_DEVICES && copartition != NULL; device_no++)
		if ((device_set & HG_DEVICE_BIT(device_no)) != 0)
			hg_device_copy_set_evicted(&copartition->copies[device_no], holders.epochs[device_no]);
}

void
hg_resident_graph_note_ambiguous(const HgPinnedGraph *graph, uint64 found)
{
	HgResidentGraph *version = hg_graph_version(graph->pointer);

	if (!hg_resident_graph_is_ambiguous(graph, found))
		pg_atomic_write_u64(
			&version->ambiguous[pg_atomic_fetch_add_u32(&version->next_ambiguous, 1) %
								HG_GRAPH_AMBIGUOUS],
			found);
}

bool
hg_resident_graph_is_ambiguous(const HgPinnedGraph *graph, uint64 found)
{
	HgResidentGraph *version = hg_graph_version(graph->pointer);
	bool ambiguous = false;

	for (int i = 0; i < HG_GRAPH_AMBIGUOUS && !ambiguous; i++)
		ambiguous = pg_atomic_read_u64(&version->ambiguous[i]) == found;
	return ambiguous;
}

void
hg_resident_graph_note_lost(const HgPinnedGraph *graph, double blocks)
{
	pg_atomic_write_u32(&hg_graph_version(graph->pointer)->lost, (uint32) ceil(blocks));
}

/* Requests a column.  Returns true if devices have a replica of it beside that of the graph. */
static bool
hg_graph_has_column(HgResidentGraph *graph, AttrNumber number)
{
	const int index = hg_graph_version_ask_column(graph, number);
	HgGraphPartitions *partitioning = hg_graph_version_partitions(graph);
	HgReplicaHolders holders;

	if (index < 0 || !hg_graph_replica_holders(&holders))
		return false;
	return hg_device_copies_present(graph->columns[index].copies, &holders) != 0 ||
		   (partitioning != NULL && hg_graph_partitions_have_column(partitioning, index, &holders));
}

bool
hg_resident_graph_ask_column(Relation rel, const HgGraphKey *key, AttrNumber number)
{
	HgDirectoryGraph *asked;
	HgDirectoryEntry *entry = hg_graph_lock(rel, key, &asked);
	bool replica = false;

	if (entry == NULL)
		return false;
	if (hg_graph_is_of(asked, key))
		replica = hg_graph_has_column(hg_graph_version(asked->version), number);
	hg_directory_unlock(entry);
	return replica;
}

bool
hg_resident_graph_has_column(const HgPinnedGraph *graph, AttrNumber number)
{
	return hg_graph_has_column(hg_graph_version(graph->pointer), number);
}

HgGraphExtent
hg_resident_graph_extent(Relation rel, const HgGraphKey *key)
{
	const HgChain *chain = hg_chain_find(MyDatabaseId);
	uint64 generation = chain != NULL ? hg_chain_generation(chain) : 0;
	HgDirectoryGraph *asked;
	HgDirectoryEntry *entry = hg_graph_lock(rel, key, &asked);
	HgGraphExtent extent = {0};

	if (entry == NULL)
		return extent;
	if (hg_graph_is_of(asked, key))
	{
		HgResidentGraph *graph = hg_graph_version(asked->version);
		HgGraphBlocks blocks = hg_graph_blocks(entry, graph, generation);
		double all = Max(entry->nblocks, 1);
		double lost = pg_atomic_read_u32(&graph->lost);
		HgReplicaHolders holders;

		extent.rows = (double) graph->rows;
		extent.share = Min(1, blocks.resident / all);
		extent.changed = blocks.changed;
		extent.older = Min(1 - extent.share, Max(blocks.changed - lost, 0) / all);
		if (hg_graph_replica_holders(&holders))
		{
			extent.has_replica = hg_graph_version_is_replicated(graph, &holders);
			extent.copartition = hg_graph_copartition_has_replicas(graph, &holders);
		}
	}
	hg_directory_unlock(entry);
	return extent;
}

/* Returns true if a key's columns still have these definitions in the table. */
static bool
hg_graph_key_is_current(Relation rel, const HgGraphKey *key)
{
	TupleDesc desc = RelationGetDescr(rel);

	for (int i = 0; i < key->ncolumns; i++)
	{
		AttrNumber number = key->columns[i].number;
		HgResidentColumn column;

		if (number > desc->natts || TupleDescAttr(desc, number - 1)->attisdropped)
			return false;
		column = hg_resident_column(TupleDescAttr(desc, number - 1));
		if (!hg_resident_column_equal(&column, &key->columns[i]))
			return false;
	}
	return true;
}

int
hg_resident_graph_keys(Relation rel, HgGraphKey **keys)
{
	for (uint32 room = 8;; room *= 2)
	{
		HgDirectoryEntry *entry;
		uint32 ngraphs;
		int n = 0;

		*keys = palloc(room * sizeof(HgGraphKey));
		entry = hg_graph_lock_table(rel);
		if (entry == NULL)
			return 0;
		ngraphs = entry->ngraphs;
		for (uint32 i = 0; i < ngraphs && ngraphs <= room; i++)
		{
			const HgDirectoryGraph *graph = &hg_directory_graphs(entry)[i];

			if (DsaPointerIsValid(graph->version) &&
				hg_graph_key_is_current(rel, &hg_graph_version(graph->version)->key))
				(*keys)[n++] = hg_graph_version(graph->version)->key;
		}
		hg_directory_unlock(entry);
		if (ngraphs <= room)
			return n;
		pfree(*keys);
	}
}

bool
hg_resident_graph_any(HgResidentRelation key)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, false);
	bool any = false;

	if (entry == NULL)
		return false;
	for (uint32 i = 0; i < entry->ngraphs && !any; i++)
		any = DsaPointerIsValid(hg_directory_graphs(entry)[i].version);
	hg_directory_unlock(entry);
	return any;
}
