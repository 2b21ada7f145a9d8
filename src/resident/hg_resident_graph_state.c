/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_state.c
 *	  Decides when a table's graphs are made, made again, and sent to devices.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "storage/procarray.h"
#include "utils/timestamp.h"

#include "backend/device/hg_device_shared.h"
#include "hg_guc.h"
#include "resident/hg_resident_eviction.h"
#include "resident/hg_resident_graph.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_statistics.h"

/* A graph that failed with an error is tried again after this time, in ms. */
#define HG_GRAPH_FAILED_MS (10 * 60 * 1000)

/* A graph that found no memory is tried again when this part of the area was freed. */
#define HG_GRAPH_MORE_MEMORY_PART 16

HgGraphBlocks
hg_graph_blocks(const HgDirectoryEntry *entry, const HgResidentGraph *graph, uint64 generation)
{
	const HgSegmentSlot *slots = hg_directory_slots(entry);
	const uint64 *serials = hg_graph_version_serials(graph);
	HgGraphBlocks blocks = {0};

	for (uint32 i = 0; i < entry->nslots; i++)
	{
		const HgSegmentVersion *version;
		BlockNumber resident = 0;
		BlockNumber stale;

		hg_directory_prefetch(slots, entry->nslots, i);
		if (!DsaPointerIsValid(slots[i].version))
			continue;
		version = hg_segment_version(slots[i].version);
		if (i < graph->nsegments && serials[i] == version->serial && generation != 0 &&
			slots[i].record.position.generation == generation)
			resident = hg_block_bits_count(&slots[i].record.blocks, NULL);
		stale = hg_block_bits_count(&version->taken, NULL) - resident;
		blocks.resident += resident;
		blocks.stale += stale;
		blocks.changed += resident > 0 ? stale : 0;
	}
	return blocks;
}

/* Returns true if the last attempt at a graph was at least ms ago. */
static bool
hg_graph_has_rested(const HgDirectoryGraph *graph, long ms)
{
	return TimestampDifferenceExceeds(graph->tried_at, GetCurrentTimestamp(), ms);
}

/* Returns true if it is time to make a graph that is out of step again, however little differs. */
static bool
hg_graph_is_to_step(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph)
{
	TimestampTz now = GetCurrentTimestamp();
	const HgResidentGraph *version;

	if (!DsaPointerIsValid(graph->version))
		return true;
	version = hg_graph_version(graph->version);
	return TimestampDifferenceExceeds(entry->replaced_at, now, HG_GRAPH_REST_MS) &&
		   now >= version->made_at + (TimestampTz) (version->made_ms * 1000 * HG_GRAPH_TIME_PART);
}

/* Returns true if what has prevented a graph may have passed, or a join requests it again. */
static bool
hg_graph_is_due(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph)
{
	switch ((HgResidentState) graph->state)
	{
		case HG_RESIDENT_QUEUED:
			return true;
		case HG_RESIDENT_LOADING:
			return entry->loader == 0 || BackendPidGetProc(entry->loader) == NULL;
		case HG_RESIDENT_READY:
			return graph->made_of != entry->replacements && hg_graph_is_to_step(entry, graph);
		case HG_RESIDENT_EVICTED:
			return graph->asked && hg_graph_has_rested(graph, hg_eviction_rest_ms());
		case HG_RESIDENT_DECLINED:
			break;
	}
	if (graph->reason == HG_REASON_NO_MEMORY)
		return (graph->asked && hg_graph_has_rested(graph, hg_eviction_rest_ms())) ||
			   hg_resident_memory_used() + hg_resident_memory_size() / HG_GRAPH_MORE_MEMORY_PART <=
				   graph->declined_with;
	return graph->reason == HG_REASON_GRAPH_FAILED &&
		   hg_graph_has_rested(graph, HG_GRAPH_FAILED_MS);
}

bool
hg_graph_is_to_stay(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph)
{
	for (int i = 0; i < graph->key.n; i++)
		if (!hg_directory_find_column(entry, graph->key.numbers[i])->pinned)
			return false;
	return true;
}

bool
hg_graph_may_be_made(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph)
{
	for (int i = 0; i < graph->key.n; i++)
	{
		const HgDirectoryColumn *column = hg_directory_find_column(entry, graph->key.numbers[i]);

		if (column->evicted || column->state == HG_RESIDENT_DECLINED)
			return false;
	}
	return true;
}

bool
hg_graph_replica_holders(HgReplicaHolders *holders)
{
	HgDeviceAvailability states[HG_GPU_DEVICES];
	int ndevices;
	bool any = false;

	memset(holders, 0, sizeof(*holders));
	if (hg_backend == HG_BACKEND_CPU || hg_resident_gpu_memory < 0)
		return false;
	ndevices = hg_device_shared_survey(states);
	holders->lost = HG_ALL_DEVICES & ~(HG_DEVICE_BIT(ndevices) - 1);
	for (int device_no = 0; device_no < ndevices; device_no++)
	{
		const HgDeviceAvailability *state = &states[device_no];

		if (state->state == HG_SERVER_DEVICE_UNAVAILABLE)
			holders->lost |= HG_DEVICE_BIT(device_no);
		else if (state->state == HG_SERVER_DEVICE_READY && !state->silent)
			holders->epochs[device_no] = state->epoch;
		else if (state->state == HG_SERVER_DEVICE_STARTING)
			holders->starting |= HG_DEVICE_BIT(device_no);
		any |= holders->epochs[device_no] != 0;
	}
	return any;
}

bool
hg_graph_needs_loader(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph,
					  const HgReplicaHolders *holders)
{
	HgResidentGraph *version = hg_graph_version(graph->version);
	bool due = hg_graph_version_needs_loader(version, holders);
	AttrNumber columns[HG_GRAPH_COPARTITIONS];
	const int n = hg_graph_copartition_asked(version, columns);

	for (int i = 0; i < n && !due; i++)
	{
		const HgKeyNumbers numbers = {.n = 1, .numbers = {columns[i]}};
		const HgDirectoryGraph *with = hg_directory_find_graph(entry, &numbers);

		due = with != NULL && with != graph && DsaPointerIsValid(with->version) &&
			  hg_graph_copartition_needs_loader(version, hg_graph_version(with->version), holders);
	}
	return due;
}

bool
hg_graphs_observe(HgDirectoryEntry *entry)
{
	bool wanted = false;
	HgReplicaHolders holders;

	if (entry->ngraphs == 0)
		return false;
	hg_graph_replica_holders(&holders);
	for (uint32 i = 0; i < entry->ngraphs; i++)
	{
		HgDirectoryGraph *graph = &hg_directory_graphs(entry)[i];

		if (!hg_graph_may_be_made(entry, graph))
			continue;
		if (!graph->wanted && hg_graph_is_due(entry, graph))
			graph->wanted = true;
		wanted |= graph->wanted || (DsaPointerIsValid(graph->version) &&
									hg_graph_needs_loader(entry, graph, &holders));
	}
	return wanted;
}

HgResidentState
hg_graphs_state(const HgDirectoryEntry *entry, TimestampTz since, HgResidentReason *reason)
{
	HgResidentState state = HG_RESIDENT_READY;

	*reason = HG_REASON_NONE;
	for (uint32 i = 0; i < entry->ngraphs; i++)
	{
		const HgDirectoryGraph *graph = &hg_directory_graphs(entry)[i];

		if (!hg_graph_may_be_made(entry, graph))
			continue;
		if (graph->wanted || graph->state == HG_RESIDENT_QUEUED ||
			graph->state == HG_RESIDENT_LOADING)
			return HG_RESIDENT_QUEUED;
		if (graph->state == HG_RESIDENT_DECLINED && graph->tried_at >= since)
		{
			state = HG_RESIDENT_DECLINED;
			*reason = graph->reason;
		}
	}
	return state;
}

void
hg_graph_decline(HgDirectoryGraph *graph, HgResidentReason reason)
{
	if (graph->state != HG_RESIDENT_DECLINED || graph->reason != reason)
		hg_resident_count_decline(reason);
	if (DsaPointerIsValid(graph->version))
		hg_graph_version_retire(graph->version);
	graph->version = InvalidDsaPointer;
	graph->state = HG_RESIDENT_DECLINED;
	graph->reason = reason;
	graph->wanted = graph->asked = false;
	graph->tried_at = GetCurrentTimestamp();
	graph->declined_with = hg_resident_memory_used();
}
