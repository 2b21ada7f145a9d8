/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_version.c
 *	  Graph versions: HashGraphs in shared memory, immutable once they are published.
 *
 * A version has a chunk for itself, one for its list of segment versions, one for the pointers to
 * its bins, and one for each bin.  A graph of 10 million rows has a thousand bins of some 100 kB.
 * So none needs a large piece of the area, and rounding up wastes little.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/timestamp.h"

#include "backend/device/hg_device_shared.h"
#include "resident/hg_resident_device_copy.h"
#include "resident/hg_resident_graph_version.h"

/* ---------------------------------------------------------------------
 * Codes that devices have instead of a column's values
 * ---------------------------------------------------------------------
 */

const HgGraphCodes *
hg_graph_codes_find(HgResidentGraph *graph, AttrNumber number)
{
	dsa_pointer pointer = hg_graph_version_pointer(&graph->codes);

	while (DsaPointerIsValid(pointer))
	{
		const HgGraphCodes *codes = hg_resident_address(pointer);

		if (codes->number == number)
			return codes;
		pointer = codes->next;
	}
	return NULL;
}

HgGraphCodes *
hg_graph_codes_allocate(AttrNumber number, int scale, uint32 ncodes, Size nbytes,
						dsa_pointer *pointer, char **values)
{
	const Size header = MAXALIGN(offsetof(HgGraphCodes, starts) + ncodes * sizeof(uint32));
	HgGraphCodes *codes;

	*pointer = hg_resident_allocate(NULL, header + nbytes);
	if (!DsaPointerIsValid(*pointer))
		return NULL;
	codes = hg_resident_address(*pointer);
	codes->next = InvalidDsaPointer;
	codes->bytes = header + nbytes;
	codes->number = number;
	codes->scale = scale;
	codes->ncodes = ncodes;
	*values = (char *) codes + header;
	memset(*values, 0, nbytes);
	return codes;
}

void
hg_graph_codes_link(HgResidentGraph *graph, dsa_pointer pointer)
{
	HgGraphCodes *codes = hg_resident_address(pointer);
	uint64 first = pg_atomic_read_u64(&graph->codes);

	do
		codes->next = (dsa_pointer) first;
	while (!pg_atomic_compare_exchange_u64(&graph->codes, &first, (uint64) pointer));
}

/* Frees all codes of a graph version that is being freed. */
static void
hg_graph_codes_free(HgResidentGraph *graph)
{
	dsa_pointer pointer = (dsa_pointer) pg_atomic_read_u64(&graph->codes);

	while (DsaPointerIsValid(pointer))
	{
		const HgGraphCodes *codes = hg_resident_address(pointer);
		const dsa_pointer next = codes->next;

		hg_resident_free(pointer, codes->bytes);
		pointer = next;
	}
}

/* ---------------------------------------------------------------------
 * The device memory that joins need beside a graph version
 * ---------------------------------------------------------------------
 */

/* Sets all members to 0. */
static void
hg_graph_wishes_init(HgGraphWishes *wishes)
{
	pg_atomic_init_u64(&wishes->partitioning, 0);
	pg_atomic_init_u64(&wishes->whole, 0);
	pg_atomic_init_u64(&wishes->most_weighed, 0);
	pg_atomic_init_u64(&wishes->weighed_at, 0);
	pg_atomic_init_u64(&wishes->whole_at, 0);
}

/* A reader that sees the numbers of two joins mixed soon sees the report of another join. */
void
hg_graph_wishes_store(HgGraphWishes *wishes, const HgGraphDemand *demand)
{
	pg_atomic_write_u64(&wishes->partitioning, demand->partitioning);
	pg_atomic_write_u64(&wishes->whole, demand->whole);
}

HgGraphDemand
hg_graph_wishes_load(HgGraphWishes *wishes)
{
	return (HgGraphDemand){.partitioning = pg_atomic_read_u64(&wishes->partitioning),
						   .whole = pg_atomic_read_u64(&wishes->whole)};
}

/* Returns the bytes that one device would need. */
static uint64
hg_graph_wishes_bytes(HgGraphWishes *wishes)
{
	const HgGraphDemand demand = hg_graph_wishes_load(wishes);

	return hg_graph_demand_each(&demand, 1);
}

/*
 * Returns true if a loader shall decide whether to partition the graph.  That is so if the stored
 * needs exceed those for which a loader decided not to, or if there are any and the last such
 * decision was more than HG_REPLICA_RETRY_MS ago.
 */
static bool
hg_graph_wishes_are_due(HgGraphWishes *wishes)
{
	const uint64 bytes = hg_graph_wishes_bytes(wishes);

	return bytes > pg_atomic_read_u64(&wishes->most_weighed) ||
		   (bytes > 0 &&
			TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&wishes->weighed_at),
									   GetCurrentTimestamp(), HG_REPLICA_RETRY_MS));
}

void
hg_graph_wishes_set_weighed(HgGraphWishes *wishes)
{
	const uint64 bytes = hg_graph_wishes_bytes(wishes);

	pg_atomic_write_u64(&wishes->most_weighed,
						Max(bytes, pg_atomic_read_u64(&wishes->most_weighed)));
	pg_atomic_write_u64(&wishes->weighed_at, (uint64) GetCurrentTimestamp());
}

static uint32
hg_graph_version_nbins(const HgResidentGraph *graph)
{
	return (uint32) 1 << graph->shape.bins_log2;
}

dsa_pointer
hg_graph_version_make(HgResidentClaim *claim, const HgGraphKey *key, const HgFlatShape *shape,
					  uint32 nsegments)
{
	Size serials_bytes = Max(nsegments, 1) * sizeof(uint64);
	Size bins_bytes = ((Size) 1 << shape->bins_log2) * sizeof(dsa_pointer);
	dsa_pointer pointer = hg_resident_allocate(claim, sizeof(HgResidentGraph));
	dsa_pointer serials = hg_resident_allocate(claim, serials_bytes);
	dsa_pointer bins = hg_resident_allocate(claim, bins_bytes);
	HgResidentGraph *graph;

	if (!DsaPointerIsValid(pointer) || !DsaPointerIsValid(serials) || !DsaPointerIsValid(bins))
		return InvalidDsaPointer;
	graph = hg_graph_version(pointer);
	memset(graph, 0, sizeof(HgResidentGraph));
	graph->key = *key;
	graph->shape = *shape;
	graph->bytes = sizeof(HgResidentGraph) + serials_bytes + bins_bytes;
	pg_atomic_init_u32(&graph->users, 1);
	pg_atomic_init_u32(&graph->pins, 0);
	pg_atomic_init_u64(&graph->used_at, 0);
	graph->made_at = GetCurrentTimestamp();
	graph->serial = hg_resident_serial();
	pg_atomic_init_u32(&graph->uploaded, 0);
	pg_atomic_init_u32(&graph->homes, 0);
	pg_atomic_init_u32(&graph->partitioning, 0);
	pg_atomic_init_u32(&graph->too_large, 0);
	pg_atomic_init_u64(&graph->partitioning_at, 0);
	pg_atomic_init_u64(&graph->chosen_at, 0);
	pg_atomic_init_u64(&graph->partitions, InvalidDsaPointer);
	pg_atomic_init_u64(&graph->all_partitions, InvalidDsaPointer);
	hg_device_copies_init(graph->copies);
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
	{
		pg_atomic_init_u32(&graph->columns[i].number, InvalidAttrNumber);
		pg_atomic_init_u64(&graph->columns[i].used_at, 0);
		hg_device_copies_init(graph->columns[i].copies);
	}
	for (int i = 0; i < HG_GRAPH_COPARTITIONS; i++)
	{
		pg_atomic_init_u32(&graph->copartition[i].column, InvalidAttrNumber);
		pg_atomic_init_u64(&graph->copartition[i].used_at, 0);
	}
	hg_graph_wishes_init(&graph->wishes);
	pg_atomic_init_u64(&graph->copartitions, InvalidDsaPointer);
	pg_atomic_init_u64(&graph->copartition_at, 0);
	pg_atomic_init_u64(&graph->codes, InvalidDsaPointer);
	for (int i = 0; i < HG_GRAPH_AMBIGUOUS; i++)
		pg_atomic_init_u64(&graph->ambiguous[i], 0);
	pg_atomic_init_u32(&graph->next_ambiguous, 0);
	pg_atomic_init_u32(&graph->lost, 0);
	graph->nsegments = nsegments;
	graph->serials = serials;
	graph->bins = bins;
	memset(hg_resident_address(serials), 0, serials_bytes);
	for (uint32 i = 0; i < hg_graph_version_nbins(graph); i++)
		((dsa_pointer *) hg_resident_address(bins))[i] = InvalidDsaPointer;
	return pointer;
}

uint64 *
hg_graph_version_serials(const HgResidentGraph *graph)
{
	return hg_resident_address(graph->serials);
}

void *
hg_graph_version_add_bin(HgResidentClaim *claim, HgResidentGraph *graph, uint32 bin, Size bytes,
						 uint64 rows)
{
	dsa_pointer chunk = hg_resident_allocate(claim, bytes);

	if (!DsaPointerIsValid(chunk))
		return NULL;
	((dsa_pointer *) hg_resident_address(graph->bins))[bin] = chunk;
	graph->bytes += bytes;
	graph->rows += rows;
	return hg_resident_address(chunk);
}

void
hg_graph_version_bins(const HgResidentGraph *graph, const HgFlatBin **bins)
{
	const dsa_pointer *chunks = hg_resident_address(graph->bins);

	for (uint32 i = 0; i < hg_graph_version_nbins(graph); i++)
		bins[i] = DsaPointerIsValid(chunks[i]) ? hg_resident_address(chunks[i]) : NULL;
}

void
hg_graph_version_pin(HgResidentGraph *graph)
{
	pg_atomic_fetch_add_u32(&graph->users, 1);
	hg_resident_memory_pin(graph->bytes, pg_atomic_fetch_add_u32(&graph->pins, 1) == 0);
}

void
hg_graph_version_release(dsa_pointer pointer)
{
	HgResidentGraph *graph = hg_graph_version(pointer);

	hg_resident_memory_unpin(graph->bytes, pg_atomic_sub_fetch_u32(&graph->pins, 1) == 0);
	hg_graph_version_retire(pointer);
}

/*
 * Has devices drop all replicas of a version.  Nobody knows for sure which exist: a column may be
 * there that was reported missing, or was on its way when the loader exited.
 */
static void
hg_graph_version_forget_copies(HgResidentGraph *graph)
{
	HgReplicaName name = hg_graph_version_name(graph, InvalidAttrNumber);

	if (pg_atomic_read_u32(&graph->uploaded) != 0)
		hg_device_shared_forget(&name);
}

void
hg_graph_version_retire(dsa_pointer pointer)
{
	HgResidentGraph *graph = hg_graph_version(pointer);
	const dsa_pointer *chunks;

	if (pg_atomic_sub_fetch_u32(&graph->users, 1) > 0)
		return;
	hg_graph_version_forget_copies(graph);
	hg_graph_codes_free(graph);
	hg_graph_copartition_free(hg_graph_version_pointer(&graph->copartitions));
	hg_graph_partitions_free((dsa_pointer) pg_atomic_read_u64(&graph->all_partitions));
	chunks = hg_resident_address(graph->bins);
	/* the version accounts for the bytes of all its chunks */
	for (uint32 i = 0; i < hg_graph_version_nbins(graph); i++)
		if (DsaPointerIsValid(chunks[i]))
			hg_resident_free(chunks[i], 0);
	hg_resident_free(graph->bins, 0);
	hg_resident_free(graph->serials, 0);
	hg_resident_free(pointer, graph->bytes);
}

/* ---------------------------------------------------------------------
 * What devices shall have
 * ---------------------------------------------------------------------
 */

void
hg_graph_version_note_upload(HgResidentGraph *graph)
{
	pg_atomic_write_u32(&graph->uploaded, 1);
}

HgDeviceSet
hg_graph_version_partitioning(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	const HgDeviceSet partitioning = pg_atomic_read_u32(&graph->partitioning);

	return (partitioning & holders->lost) == 0 ? partitioning : 0;
}

/* Returns true if joins requested a co-partitioning last, and not a whole replica. */
static bool
hg_graph_version_is_copartitioned(HgResidentGraph *graph)
{
	const uint64 whole_at = pg_atomic_read_u64(&graph->wishes.whole_at);
	uint64 copartition_at = 0;

	for (int i = 0; i < HG_GRAPH_COPARTITIONS; i++)
		if (pg_atomic_read_u32(&graph->copartition[i].column) != InvalidAttrNumber)
			copartition_at =
				Max(copartition_at, pg_atomic_read_u64(&graph->copartition[i].used_at));
	return copartition_at > whole_at;
}

void
hg_graph_version_end_whole(HgResidentGraph *graph)
{
	const bool is_partitioned = pg_atomic_read_u32(&graph->too_large) != 0;

	/* forgetting the version's name drops its partitions, too */
	if ((!is_partitioned && !hg_graph_version_is_copartitioned(graph)) ||
		DsaPointerIsValid((dsa_pointer) pg_atomic_read_u64(&graph->all_partitions)) ||
		DsaPointerIsValid(hg_graph_version_pointer(&graph->copartitions)))
		return;
	hg_device_copies_forget(graph->copies);
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
		hg_device_copies_forget(graph->columns[i].copies);
	hg_graph_version_forget_copies(graph);
}

void
hg_graph_version_set_partitioning(HgResidentGraph *graph, HgDeviceSet device_set, bool too_large)
{
	pg_atomic_write_u64(&graph->chosen_at, (uint64) GetCurrentTimestamp());
	if (too_large && pg_atomic_exchange_u32(&graph->too_large, 1) == 0)
		hg_graph_version_end_whole(graph);
	if (pg_atomic_read_u32(&graph->partitioning) != device_set)
		pg_atomic_write_u32(&graph->partitioning, device_set);
}

bool
hg_graph_version_needs_devices(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	const HgDeviceSet partitioning = hg_graph_version_partitioning(graph, holders);
	HgDeviceSet others = 0;

	if (partitioning == 0)
		return hg_graph_wishes_are_due(&graph->wishes);
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if (holders->epochs[device_no] != 0)
			others |= HG_DEVICE_BIT(device_no) & ~partitioning;
	return others != 0 && pg_atomic_read_u32(&graph->too_large) != 0 &&
		   TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&graph->chosen_at),
									  GetCurrentTimestamp(), HG_REPLICA_RETRY_MS);
}

HgGraphPartitions *
hg_graph_version_partitions(HgResidentGraph *graph)
{
	const dsa_pointer partitions = hg_graph_version_pointer(&graph->partitions);

	return DsaPointerIsValid(partitions) ? hg_graph_partitions(partitions) : NULL;
}

dsa_pointer
hg_graph_version_partitions_over(HgResidentGraph *graph, HgDeviceSet device_set)
{
	dsa_pointer pointer = hg_graph_version_pointer(&graph->all_partitions);

	while (DsaPointerIsValid(pointer) && hg_graph_partitions(pointer)->device_set != device_set)
		pointer = hg_graph_partitions(pointer)->next;
	return pointer;
}

HgGraphPartitions *
hg_graph_version_partitions_into(HgResidentGraph *graph, uint32 count)
{
	dsa_pointer pointer = hg_graph_version_pointer(&graph->all_partitions);

	while (DsaPointerIsValid(pointer) && hg_graph_partitions(pointer)->count != count)
		pointer = hg_graph_partitions(pointer)->next;
	return DsaPointerIsValid(pointer) ? hg_graph_partitions(pointer) : NULL;
}

/*
 * Has devices drop a version's partitions, as it is now partitioned into another number.
 * Partitions with the same number on other devices have the same names.
 */
static void
hg_graph_version_forget_partitions(HgResidentGraph *graph, uint32 count)
{
	HgReplicaName name = hg_graph_version_name(graph, InvalidAttrNumber);
	dsa_pointer pointer = hg_graph_version_pointer(&graph->all_partitions);

	for (; DsaPointerIsValid(pointer); pointer = hg_graph_partitions(pointer)->next)
		if (hg_graph_partitions(pointer)->count == count)
			hg_graph_partitions_forget(hg_graph_partitions(pointer));
	for (uint32 partition = 0; partition < count; partition++)
	{
		name.partition = hg_partition_number(count, partition);
		hg_device_shared_forget(&name);
	}
}

void
hg_graph_version_link_partitions(HgResidentGraph *graph, dsa_pointer pointer)
{
	const HgGraphPartitions *older = hg_graph_version_partitions(graph);
	HgGraphPartitions *partitions;

	if (!DsaPointerIsValid(pointer))
	{
		pg_atomic_write_u64(&graph->partitioning_at, (uint64) GetCurrentTimestamp());
		return;
	}
	partitions = hg_graph_partitions(pointer);
	if (hg_graph_version_partitions_over(graph, partitions->device_set) != pointer)
	{
		partitions->next = hg_graph_version_pointer(&graph->all_partitions);
		pg_write_barrier();
		pg_atomic_write_u64(&graph->all_partitions, (uint64) pointer);
	}
	if (older != NULL && older->count != partitions->count)
		hg_graph_version_forget_partitions(graph, older->count);
	pg_write_barrier();
	pg_atomic_write_u64(&graph->partitions, (uint64) pointer);
}

bool
hg_graph_version_needs_partitions(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	const HgDeviceSet partitioning = hg_graph_version_partitioning(graph, holders);
	const HgGraphPartitions *partitions = hg_graph_version_partitions(graph);

	if (partitioning == 0 || (partitions != NULL && partitions->device_set == partitioning))
		return false;
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((partitioning & HG_DEVICE_BIT(device_no)) != 0 && holders->epochs[device_no] == 0)
			return false;
	return TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&graph->partitioning_at),
									  GetCurrentTimestamp(), HG_REPLICA_RETRY_MS);
}

HgDeviceSet
hg_graph_version_homes(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	if (pg_atomic_read_u32(&graph->too_large) != 0 &&
		hg_graph_version_partitioning(graph, holders) != 0)
		return 0;
	if (hg_graph_version_is_copartitioned(graph))
		return 0;
	if (graph->rows <= HG_GRAPH_EVERYWHERE_ROWS)
		return HG_ALL_DEVICES;
	return pg_atomic_read_u32(&graph->homes) & ~holders->lost;
}

bool
hg_graph_version_needs_home(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	/* a partitioned version gets a home only on request */
	return hg_graph_version_homes(graph, holders) == 0 &&
		   hg_graph_version_partitioning(graph, holders) == 0 &&
		   !hg_graph_version_is_copartitioned(graph);
}

void
hg_graph_version_add_homes(HgResidentGraph *graph, HgDeviceSet device_set)
{
	if ((device_set & ~pg_atomic_read_u32(&graph->homes)) != 0)
		pg_atomic_fetch_or_u32(&graph->homes, device_set);
}

void
hg_graph_version_remove_home(HgResidentGraph *graph, int device_no)
{
	pg_atomic_fetch_and_u32(&graph->homes, ~HG_DEVICE_BIT(device_no));
}

HgDeviceCopy *
hg_graph_version_copies(HgResidentGraph *graph, HgGraphPartitions *partitions)
{
	return partitions != NULL ? partitions->copies : graph->copies;
}

HgDeviceCopy *
hg_graph_version_column_copies(HgResidentGraph *graph, HgGraphPartitions *partitions, int column)
{
	return partitions != NULL ? partitions->columns[column] : graph->columns[column].copies;
}

/*
 * Returns true if the device process with this epoch shall be sent the version or one of its
 * columns, or its partition of them.  Columns are not sent before the version.
 */
static bool
hg_graph_version_needs_upload(HgResidentGraph *graph, HgGraphPartitions *partitions, int device_no,
							  uint64 epoch)
{
	HgDeviceCopy *copy = &hg_graph_version_copies(graph, partitions)[device_no];
	const bool replica = hg_device_copy_is_present(copy, epoch);
	bool due = hg_device_copy_needs_upload(copy, epoch);

	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS && replica && !due; i++)
		due = pg_atomic_read_u32(&graph->columns[i].number) != InvalidAttrNumber &&
			  hg_device_copy_needs_upload(
				  &hg_graph_version_column_copies(graph, partitions, i)[device_no], epoch);
	return due;
}

bool
hg_graph_version_note_missing(HgResidentGraph *graph, bool partitioned, int device_no, uint64 epoch,
							  const HgMissingReplicas *missing)
{
	HgGraphPartitions *partitions = partitioned ? hg_graph_version_partitions(graph) : NULL;
	HgReplicaName name = hg_graph_version_name(graph, InvalidAttrNumber);
	bool gone;

	if (partitioned && partitions == NULL)
		return false;
	/* whichever partition it has */
	name.partition = partitioned;
	gone = hg_replica_is_missing(missing, &name);
	if (gone)
		hg_device_copy_set_evicted(&hg_graph_version_copies(graph, partitions)[device_no], epoch);
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
	{
		name.column = pg_atomic_read_u32(&graph->columns[i].number);
		if (name.column == InvalidAttrNumber || !hg_replica_is_missing(missing, &name))
			continue;
		hg_device_copy_set_evicted(&hg_graph_version_column_copies(graph, partitions, i)[device_no],
								   epoch);
		gone = true;
	}
	return gone;
}

/* Returns true if it shall be partitioned, or a partition or a column of one be sent. */
static bool
hg_graph_version_partitions_are_due(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	const HgDeviceSet partitioning = hg_graph_version_partitioning(graph, holders);
	HgGraphPartitions *partitions = hg_graph_version_partitions(graph);
	bool due = hg_graph_version_needs_partitions(graph, holders);

	if (partitions == NULL || partitions->device_set != partitioning)
		return due;
	for (int device_no = 0; device_no < HG_GPU_DEVICES && !due; device_no++)
		due =
			(partitioning & HG_DEVICE_BIT(device_no)) != 0 &&
			hg_graph_version_needs_upload(graph, partitions, device_no, holders->epochs[device_no]);
	return due;
}

bool
hg_graph_version_needs_loader(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	const HgDeviceSet homes = hg_graph_version_homes(graph, holders);
	const bool any = hg_graph_version_needs_home(graph, holders);
	bool due = hg_graph_version_partitions_are_due(graph, holders) ||
			   hg_graph_version_needs_devices(graph, holders);

	for (int device_no = 0; device_no < HG_GPU_DEVICES && !due; device_no++)
		due = (any || (homes & HG_DEVICE_BIT(device_no)) != 0) &&
			  hg_graph_version_needs_upload(graph, NULL, device_no, holders->epochs[device_no]);
	return due && graph->rows > 0;
}

bool
hg_graph_version_is_replicated(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	HgGraphPartitions *partitions = hg_graph_version_partitions(graph);

	return hg_device_copies_present(graph->copies, holders) != 0 ||
		   (partitions != NULL && hg_graph_partitions_are_replicated(partitions, holders));
}

Size
hg_graph_version_host_bytes(HgResidentGraph *graph)
{
	dsa_pointer pointer = hg_graph_version_pointer(&graph->all_partitions);
	Size bytes = graph->bytes +
				 hg_graph_copartition_host_bytes(hg_graph_version_pointer(&graph->copartitions));

	for (; DsaPointerIsValid(pointer); pointer = hg_graph_partitions(pointer)->next)
		bytes += hg_graph_partitions(pointer)->bytes;
	return bytes;
}

Size
hg_graph_version_replica_bytes(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	HgGraphPartitions *partitions = hg_graph_version_partitions(graph);
	Size bytes =
		hg_device_copies_bytes(graph->copies, holders) +
		hg_graph_copartition_replica_bytes(hg_graph_version_pointer(&graph->copartitions), holders);

	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
		bytes += hg_device_copies_bytes(graph->columns[i].copies, holders);
	return bytes +
		   (partitions != NULL ? hg_graph_partitions_replica_bytes(partitions, holders) : 0);
}

HgReplicaName
hg_graph_version_name(const HgResidentGraph *graph, AttrNumber column)
{
	return (HgReplicaName){
		.epoch = hg_resident_epoch(), .serial = graph->serial, .column = (uint32) column};
}

HgReplicaShape
hg_graph_version_shape(const HgResidentGraph *graph)
{
	return (HgReplicaShape){.key_width = graph->shape.key_width,
							.parts = Max(graph->nsegments, 1),
							.rows = graph->rows};
}

uint64
hg_graph_version_least_bytes(const HgResidentGraph *graph)
{
	const HgReplicaSpec new_replica = {.shape = hg_graph_version_shape(graph)};
	const HgJobSpec spec = {.key_width = new_replica.shape.key_width,
							.product = {HG_PRODUCT_GRAPH, .graph = &new_replica}};

	return hg_replica_least_bytes(&spec);
}

static bool
hg_graph_column_is_idle(HgGraphColumn *column, TimestampTz now, int ms)
{
	return TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&column->used_at), now, ms);
}

/*
 * Takes an idle column's entry for another column.  A process that reads the records meanwhile may
 * take a replica of the old column for one of the new.  The device does not know it by that name,
 * and reports it missing.
 */
static bool
hg_graph_column_replace(HgResidentGraph *graph, int column_index, AttrNumber number,
						TimestampTz now)
{
	HgGraphColumn *column = &graph->columns[column_index];
	HgGraphPartitions *partitions = hg_graph_version_partitions(graph);
	uint32 idle = pg_atomic_read_u32(&column->number);

	if (!pg_atomic_compare_exchange_u32(&column->number, &idle, (uint32) number))
		return false;
	pg_atomic_write_u64(&column->used_at, (uint64) now);
	hg_device_copies_forget(column->copies);
	if (partitions != NULL)
		hg_device_copies_forget(partitions->columns[column_index]);
	return true;
}

int
hg_graph_version_ask_column(HgResidentGraph *graph, AttrNumber number)
{
	const TimestampTz now = GetCurrentTimestamp();
	int idle = -1;

	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
	{
		HgGraphColumn *column = &graph->columns[i];
		uint32 none = InvalidAttrNumber;

		/* this also finds an existing request, as other processes request at the same time */
		if (pg_atomic_compare_exchange_u32(&column->number, &none, (uint32) number) ||
			none == (uint32) number)
		{
			pg_atomic_write_u64(&column->used_at, (uint64) now);
			return i;
		}
		if (hg_graph_column_is_idle(column, now, HG_GRAPH_COLUMN_IDLE_MS) &&
			(idle < 0 || pg_atomic_read_u64(&column->used_at) <
							 pg_atomic_read_u64(&graph->columns[idle].used_at)))
			idle = i;
	}
	return idle >= 0 && hg_graph_column_replace(graph, idle, number, now) ? idle : -1;
}

void
hg_graph_version_ask_same(HgResidentGraph *graph, HgResidentGraph *older)
{
	const HgGraphDemand demand = hg_graph_wishes_load(&older->wishes);

	hg_graph_wishes_store(&graph->wishes, &demand);
	pg_atomic_write_u64(&graph->wishes.whole_at, pg_atomic_read_u64(&older->wishes.whole_at));
	hg_graph_version_add_homes(graph, pg_atomic_read_u32(&older->homes));
	/* the devices for a version that is too large for one are chosen anew */
	if (pg_atomic_read_u32(&older->too_large) == 0)
		hg_graph_version_set_partitioning(graph, pg_atomic_read_u32(&older->partitioning), false);
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
	{
		HgGraphColumn *column = &older->columns[i];
		uint32 number = pg_atomic_read_u32(&column->number);

		if (number == InvalidAttrNumber ||
			hg_graph_column_is_idle(column, GetCurrentTimestamp(), HG_GRAPH_COLUMN_END_MS))
			continue;
		pg_atomic_write_u32(&graph->columns[i].number, number);
		pg_atomic_write_u64(&graph->columns[i].used_at, pg_atomic_read_u64(&column->used_at));
	}
	for (int i = 0; i < HG_GRAPH_COPARTITIONS; i++)
	{
		pg_atomic_write_u64(&graph->copartition[i].used_at,
							pg_atomic_read_u64(&older->copartition[i].used_at));
		pg_atomic_write_u32(&graph->copartition[i].column,
							pg_atomic_read_u32(&older->copartition[i].column));
	}
}
