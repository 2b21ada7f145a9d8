/*-------------------------------------------------------------------------
 *
 * hg_resident_report.c
 *	  Reports what is cached of a table, for users and the planner.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "resident/hg_resident_chain.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_report.h"

/* Adds what a slot has of a column. */
static void
hg_report_add(HgResidentReport *report, const HgSegmentSlot *slot, uint64 generation)
{
	HgSegmentVersion *version;
	HgBlockBits taken;
	int resident = 0;

	report->visible += slot->visible;
	if (slot->refused > 0 && report->reason == HG_REASON_NONE)
		report->reason = HG_REASON_NO_POSITION;
	if (!DsaPointerIsValid(slot->version))
		return;
	version = hg_segment_version(slot->version);
	for (uint32 i = 0; i < version->ncolumns; i++)
	{
		const HgSegmentColumn *column = &version->columns[i];

		if (column->column.number != report->number)
			continue;
		taken = version->taken;
		if (generation != 0 && slot->record.position.generation == generation)
			resident = hg_block_bits_count(&slot->record.blocks, NULL);
		if (!hg_segment_has_column(version, (int) i))
			return;
		report->used_at = Max(report->used_at, hg_segment_used_at(version, (int) i));
		report->resident += resident;
		report->stale += hg_block_bits_count(&taken, NULL) - resident;
		report->bytes += hg_segment_column_bytes(version, i);
	}
}

/* Fills in the report of a column of a locked entry. */
static void
hg_report_column(const HgDirectoryEntry *entry, const HgDirectoryColumn *column, uint64 generation,
				 HgResidentReport *report)
{
	const HgSegmentSlot *slots = hg_directory_slots(entry);

	*report = (HgResidentReport){.number = column->number,
								 .state = entry->state,
								 .reason = entry->reason,
								 .total = entry->nblocks,
								 .pinned = column->pinned,
								 .loaded_at = entry->loaded_at};
	if (column->state == HG_RESIDENT_DECLINED)
	{
		report->state = HG_RESIDENT_DECLINED;
		report->reason = column->reason;
	}
	else if (column->evicted && entry->state != HG_RESIDENT_DECLINED)
		report->state = HG_RESIDENT_EVICTED;
	for (uint32 k = 0; k < entry->nslots; k++)
		hg_report_add(report, &slots[k], generation);
	if (report->state == HG_RESIDENT_READY && report->reason == HG_REASON_NONE &&
		report->total > 0 && report->visible == 0)
		report->reason = HG_REASON_NOT_VISIBLE;
}

/* Fills in the report of a graph; of_column is that of its first column. */
static void
hg_report_graph(const HgDirectoryEntry *entry, const HgDirectoryGraph *graph, uint64 generation,
				const HgResidentReport *of_column, HgResidentReport *report)
{
	*report = (HgResidentReport){.number = of_column->number,
								 .key = graph->key,
								 .state = of_column->state,
								 .reason = of_column->reason,
								 .total = entry->nblocks,
								 .visible = of_column->visible,
								 .pinned = hg_graph_is_to_stay(entry, graph)};
	if (!entry->partitioned && report->state != HG_RESIDENT_DECLINED)
	{
		report->state = graph->state;
		report->reason = graph->state == HG_RESIDENT_QUEUED ? entry->reason : graph->reason;
	}
	if (DsaPointerIsValid(graph->version))
	{
		HgResidentGraph *version = hg_graph_version(graph->version);
		HgGraphBlocks blocks = hg_graph_blocks(entry, version, generation);
		HgReplicaHolders holders;

		hg_graph_replica_holders(&holders);
		report->resident = blocks.resident;
		report->stale = blocks.stale;
		report->bytes = hg_graph_version_host_bytes(version);
		report->replica_bytes = hg_graph_version_replica_bytes(version, &holders);
		/* it may also be co-partitioned with another graph */
		report->has_replica =
			hg_graph_version_is_replicated(version, &holders) || report->replica_bytes > 0;
		report->used_at = hg_graph_version_used_at(version);
		report->loaded_at = version->made_at;
	}
}

/* Fills in the reports of a locked entry; there is room for all. */
static void
hg_report_fill(const HgDirectoryEntry *entry, uint64 generation, HgResidentReport *reports)
{
	const HgDirectoryColumn *columns = hg_directory_columns(entry);
	const HgDirectoryGraph *graphs = hg_directory_graphs(entry);
	uint32 n = 0;

	for (uint32 i = 0; i < entry->ncolumns; i++)
	{
		const HgResidentReport *of_column = &reports[n];

		hg_report_column(entry, &columns[i], generation, &reports[n++]);
		for (uint32 k = 0; k < entry->ngraphs; k++)
			if (graphs[k].key.numbers[0] == columns[i].number)
				hg_report_graph(entry, &graphs[k], generation, of_column, &reports[n++]);
	}
}

int
hg_resident_report(HgResidentRelation key, HgResidentReport **reports)
{
	const HgChain *chain = hg_chain_find(key.database);
	uint32 room = 32;

	for (;;)
	{
		HgDirectoryEntry *entry;
		uint32 n;

		*reports = palloc(room * sizeof(HgResidentReport));
		entry = hg_directory_lock(key, false);
		if (entry == NULL)
			return 0;
		n = entry->ncolumns + entry->ngraphs;
		if (n <= room)
			hg_report_fill(entry, chain != NULL ? hg_chain_generation(chain) : 0, *reports);
		hg_directory_unlock(entry);
		if (n <= room)
			return (int) n;
		pfree(*reports);
		room = n;
	}
}

/* Returns true if a version has all columns with these numbers, and none is evicted. */
static bool
hg_report_has_numbers(const HgSegmentVersion *version, int nnumbers, const AttrNumber *numbers)
{
	for (int i = 0; i < nnumbers; i++)
	{
		uint32 c = 0;

		while (c < version->ncolumns && (version->columns[c].column.number != numbers[i] ||
										 !hg_segment_has_column(version, (int) c)))
			c++;
		if (c == version->ncolumns)
			return false;
	}
	return true;
}

bool
hg_resident_is_known(HgResidentRelation key)
{
	const HgChain *chain = hg_chain_find(key.database);
	HgDirectoryEntry *entry =
		chain != NULL && hg_chain_generation(chain) != 0 ? hg_directory_lock(key, false) : NULL;

	if (entry != NULL)
		hg_directory_unlock(entry);
	return entry != NULL;
}

double
hg_resident_share(HgResidentRelation key, int nnumbers, const AttrNumber *numbers)
{
	const HgChain *chain = hg_chain_find(key.database);
	uint64 generation = chain != NULL ? hg_chain_generation(chain) : 0;
	const HgDirectoryEntry *entry;
	const HgSegmentSlot *slots;
	double blocks = 0;

	if (generation == 0)
		return 0;
	entry = hg_directory_lock(key, false);
	if (entry == NULL)
		return 0;
	slots = hg_directory_slots(entry);
	for (uint32 i = 0; i < entry->nslots; i++)
	{
		hg_directory_prefetch(slots, entry->nslots, i);
		if (slots[i].record.position.generation == generation &&
			hg_report_has_numbers(hg_segment_version(slots[i].version), nnumbers, numbers))
			blocks += hg_block_bits_count(&slots[i].record.blocks, NULL);
	}
	blocks /= Max(entry->nblocks, 1);
	hg_directory_unlock(unconstify(HgDirectoryEntry *, entry));
	return Min(blocks, 1);
}

const char *
hg_resident_state_name(HgResidentState state)
{
	switch (state)
	{
		case HG_RESIDENT_QUEUED:
			return "queued";
		case HG_RESIDENT_LOADING:
			return "loading";
		case HG_RESIDENT_READY:
			return "ready";
		case HG_RESIDENT_EVICTED:
			return "evicted";
		case HG_RESIDENT_DECLINED:
			break;
	}
	return "declined";
}

const char *
hg_resident_reason_text(HgResidentReason reason)
{
	switch (reason)
	{
		case HG_REASON_NONE:
			break;
		case HG_REASON_NO_MEMORY:
			return "hashgraph.resident_memory is used up";
		case HG_REASON_NO_POSITION:
			return "blocks of it were written without WAL: VACUUM (FREEZE) and "
				   "hashgraph_resident_refresh() cure that";
		case HG_REASON_NOT_VISIBLE:
			return "none of its pages is marked as visible to all: VACUUM it, two seconds after its "
				   "last change";
		case HG_REASON_NO_WORKER:
			return "no background worker could be started: max_worker_processes is used up";
		case HG_REASON_FAILED:
			return "it could not be read, as the server's log tells";
		case HG_REASON_NOT_HEAP:
			return "its access method is not heap";
		case HG_REASON_NOT_PERMANENT:
			return "it is temporary, unlogged, or written without WAL";
		case HG_REASON_NOT_TABLE:
			return "it is neither a table nor a materialized view, or belongs to the system";
		case HG_REASON_OLD_SNAPSHOTS:
			return "old_snapshot_threshold is set";
		case HG_REASON_COLUMN_STRING:
			return "values of its type are strings that a zero byte ends";
		case HG_REASON_COLUMN_VIRTUAL:
			return "it is generated when it is read";
		case HG_REASON_COLUMN_DROPPED:
			return "it was dropped";
		case HG_REASON_GRAPH_TYPE:
			return "a type of its key has no hash function of PostgreSQL's own, or has values of "
				   "other types in it";
		case HG_REASON_GRAPH_SEGMENTS:
			return "its table is larger than 32 GB";
		case HG_REASON_GRAPH_NUMBER:
			return "it has as many HashGraphs as a table can have";
		case HG_REASON_GRAPH_BIN:
			return "rows of one key do not fit in maintenance_work_mem";
		case HG_REASON_GRAPH_FAILED:
			return "its HashGraph could not be made, as the server's log tells";
		case HG_RESIDENT_REASONS:
			break;
	}
	return NULL;
}
