/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_copartition.c
 *	  Graph versions that are co-partitioned with another graph of their table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/timestamp.h"

#include "backend/device/hg_device_shared.h"
#include "resident/hg_resident_graph.h"

/* Returns true if no join has requested it for this time, in ms. */
static bool
hg_copartition_is_idle(HgGraphCopartitionRequest *asked, int ms)
{
	return TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&asked->used_at),
									  GetCurrentTimestamp(), ms);
}

void
hg_graph_copartition_ask(HgResidentGraph *graph, AttrNumber column)
{
	HgGraphCopartitionRequest *idle = NULL;
	uint32 number;

	for (int i = 0; i < HG_GRAPH_COPARTITIONS; i++)
	{
		HgGraphCopartitionRequest *asked = &graph->copartition[i];
		uint32 none = InvalidAttrNumber;

		/* this also finds an existing request, as other processes request at the same time */
		if (pg_atomic_compare_exchange_u32(&asked->column, &none, (uint32) column) ||
			none == (uint32) column)
		{
			pg_atomic_write_u64(&asked->used_at, (uint64) GetCurrentTimestamp());
			return;
		}
		if (idle == NULL && hg_copartition_is_idle(asked, HG_GRAPH_COLUMN_IDLE_MS))
			idle = asked;
	}
	if (idle == NULL)
		return;
	number = pg_atomic_read_u32(&idle->column);
	if (pg_atomic_compare_exchange_u32(&idle->column, &number, (uint32) column))
		pg_atomic_write_u64(&idle->used_at, (uint64) GetCurrentTimestamp());
}

int
hg_graph_copartition_asked(HgResidentGraph *graph, AttrNumber *numbers)
{
	int n = 0;

	for (int i = 0; i < HG_GRAPH_COPARTITIONS; i++)
	{
		const uint32 number = pg_atomic_read_u32(&graph->copartition[i].column);

		if (number != InvalidAttrNumber &&
			!hg_copartition_is_idle(&graph->copartition[i], HG_GRAPH_COLUMN_END_MS))
			numbers[n++] = (AttrNumber) number;
	}
	return n;
}

HgGraphCopartition *
hg_graph_copartition_find(HgResidentGraph *graph, const HgResidentGraph *with,
						  HgDeviceSet device_set)
{
	dsa_pointer pointer = hg_graph_version_pointer(&graph->copartitions);

	while (DsaPointerIsValid(pointer) && (hg_graph_copartition(pointer)->with != with->serial ||
										  hg_graph_copartition(pointer)->device_set != device_set))
		pointer = hg_graph_copartition(pointer)->next;
	return DsaPointerIsValid(pointer) ? hg_graph_copartition(pointer) : NULL;
}

/* Has devices drop a version's partitions, as it was co-partitioned with the graph of a column. */
static void
hg_copartition_forget(HgResidentGraph *graph, AttrNumber column)
{
	dsa_pointer pointer = hg_graph_version_pointer(&graph->copartitions);

	for (; DsaPointerIsValid(pointer); pointer = hg_graph_copartition(pointer)->next)
	{
		HgGraphCopartition *copartition = hg_graph_copartition(pointer);
		HgReplicaName name = hg_graph_version_name(graph, InvalidAttrNumber);

		if (copartition->column != column)
			continue;
		hg_device_copies_forget(copartition->copies);
		for (uint32 partition = 0; partition < copartition->count; partition++)
		{
			name.partition =
				hg_copartition_number(copartition->partitioning, copartition->count, partition);
			hg_device_shared_forget(&name);
		}
	}
}

/* Returns the number of the next co-partitioning; HG_MAX_COPARTITIONS if there is none left. */
static uint32
hg_copartition_next(HgResidentGraph *graph)
{
	const dsa_pointer first = hg_graph_version_pointer(&graph->copartitions);

	return DsaPointerIsValid(first) ? hg_graph_copartition(first)->partitioning + 1 : 1;
}

HgGraphCopartition *
hg_graph_copartition_add(HgResidentGraph *graph, const HgResidentGraph *with,
						 const HgGraphPartitions *partitioning, const uint64 *rows)
{
	/* nothing fails until it is linked */
	const dsa_pointer pointer = hg_resident_allocate(NULL, sizeof(HgGraphCopartition));
	const uint32 number = hg_copartition_next(graph);
	HgGraphCopartition *copartition;

	if (!DsaPointerIsValid(pointer))
	{
		pg_atomic_write_u64(&graph->copartition_at, (uint64) GetCurrentTimestamp());
		return NULL;
	}
	Assert(number < HG_MAX_COPARTITIONS);
	copartition = hg_graph_copartition(pointer);
	memset(copartition, 0, sizeof(HgGraphCopartition));
	copartition->next = hg_graph_version_pointer(&graph->copartitions);
	copartition->with = with->serial;
	copartition->column = with->key.columns[0].number;
	copartition->device_set = partitioning->device_set;
	copartition->count = partitioning->count;
	copartition->partitioning = number;
	memcpy(copartition->rows, rows, partitioning->count * sizeof(uint64));
	hg_device_copies_init(copartition->copies);
	hg_copartition_forget(graph, copartition->column);
	pg_write_barrier();
	pg_atomic_write_u64(&graph->copartitions, (uint64) pointer);
	return copartition;
}

bool
hg_graph_copartition_is_replicated(HgGraphCopartition *copartition, const HgReplicaHolders *holders)
{
	return (hg_device_copies_present(copartition->copies, holders) & copartition->device_set) ==
		   copartition->device_set;
}

bool
hg_graph_copartition_has_replicas(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	dsa_pointer pointer = hg_graph_version_pointer(&graph->copartitions);

	while (DsaPointerIsValid(pointer) &&
		   !hg_graph_copartition_is_replicated(hg_graph_copartition(pointer), holders))
		pointer = hg_graph_copartition(pointer)->next;
	return DsaPointerIsValid(pointer);
}

HgGraphPartitions *
hg_graph_copartition_partitions(HgResidentGraph *with, const HgReplicaHolders *holders)
{
	const HgDeviceSet partitioning = hg_graph_version_partitioning(with, holders);
	HgGraphPartitions *partitions = hg_graph_version_partitions(with);

	return partitioning != 0 && partitions != NULL && partitions->device_set == partitioning
			   ? partitions
			   : NULL;
}

bool
hg_graph_copartition_needs_loader(HgResidentGraph *graph, HgResidentGraph *with,
								  const HgReplicaHolders *holders)
{
	const HgGraphPartitions *partitions = hg_graph_copartition_partitions(with, holders);
	HgGraphCopartition *copartition;
	bool due = false;

	if (partitions == NULL || graph->rows == 0)
		return false;
	copartition = hg_graph_copartition_find(graph, with, partitions->device_set);
	if (copartition == NULL)
		return hg_copartition_next(graph) < HG_MAX_COPARTITIONS &&
			   TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&graph->copartition_at),
										  GetCurrentTimestamp(), HG_REPLICA_RETRY_MS);
	for (int device_no = 0; device_no < HG_GPU_DEVICES && !due; device_no++)
		due = (copartition->device_set & HG_DEVICE_BIT(device_no)) != 0 &&
			  hg_device_copy_needs_upload(&copartition->copies[device_no],
										  holders->epochs[device_no]);
	return due;
}
