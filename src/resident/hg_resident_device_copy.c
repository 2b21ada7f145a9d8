/*-------------------------------------------------------------------------
 *
 * hg_resident_device_copy.c
 *	  Which device processes have replicas of a graph version, each the whole graph or one
 *	  partition.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "port/pg_bitutils.h"
#include "utils/timestamp.h"

#include "resident/hg_resident_device_copy.h"

void
hg_device_copies_init(HgDeviceCopy *copies)
{
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
	{
		pg_atomic_init_u64(&copies[device_no].holder, 0);
		pg_atomic_init_u64(&copies[device_no].bytes, 0);
		pg_atomic_init_u64(&copies[device_no].replica_at, 0);
		pg_atomic_init_u64(&copies[device_no].missing_epoch, 0);
		pg_atomic_init_u64(&copies[device_no].missing_time, 0);
		pg_atomic_init_u32(&copies[device_no].rest_ms, 0);
	}
}

void
hg_device_copies_forget(HgDeviceCopy *copies)
{
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
	{
		pg_atomic_write_u64(&copies[device_no].holder, 0);
		pg_atomic_write_u64(&copies[device_no].missing_epoch, 0);
		pg_atomic_write_u32(&copies[device_no].rest_ms, 0);
	}
}

bool
hg_device_copy_is_present(HgDeviceCopy *copy, uint64 epoch)
{
	bool present = epoch != 0 && pg_atomic_read_u64(&copy->holder) == epoch;

	pg_read_barrier();
	return present;
}

bool
hg_device_copy_needs_upload(HgDeviceCopy *copy, uint64 epoch)
{
	if (epoch == 0 || pg_atomic_read_u64(&copy->holder) == epoch)
		return false;
	return pg_atomic_read_u64(&copy->missing_epoch) != epoch ||
		   TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&copy->missing_time),
									  GetCurrentTimestamp(),
									  (int) pg_atomic_read_u32(&copy->rest_ms));
}

void
hg_device_copy_set_present(HgDeviceCopy *copy, uint64 epoch, uint64 bytes)
{
	pg_atomic_write_u64(&copy->bytes, bytes);
	pg_atomic_write_u64(&copy->replica_at, (uint64) GetCurrentTimestamp());
	pg_atomic_write_u64(&copy->missing_epoch, 0);
	/* a process that reads holder also sees a column's shape */
	pg_write_barrier();
	pg_atomic_write_u64(&copy->holder, epoch);
}

/* Records that a process lacks the replica, and shall get it again after rest_ms. */
static void
hg_device_copy_note_missing(HgDeviceCopy *copy, uint64 epoch, uint32 rest_ms)
{
	uint64 holder = pg_atomic_read_u64(&copy->holder);

	/* another process may have it by now */
	if (holder != epoch && holder != 0)
		return;
	pg_atomic_write_u32(&copy->rest_ms, rest_ms);
	pg_atomic_write_u64(&copy->missing_time, (uint64) GetCurrentTimestamp());
	pg_atomic_write_u64(&copy->missing_epoch, epoch);
	(void) pg_atomic_compare_exchange_u64(&copy->holder, &holder, 0);
}

void
hg_device_copy_set_missing(HgDeviceCopy *copy, uint64 epoch)
{
	hg_device_copy_note_missing(copy, epoch, HG_REPLICA_RETRY_MS);
}

void
hg_device_copy_set_evicted(HgDeviceCopy *copy, uint64 epoch)
{
	uint32 rest_ms = HG_REPLICA_FIRST_RETRY_MS;

	/* others have reported it already */
	if (!hg_device_copy_is_present(copy, epoch))
		return;
	/* replicas that evict each other in turn do so ever less often */
	if (!TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&copy->replica_at),
									GetCurrentTimestamp(), HG_REPLICA_RETRY_MS))
		rest_ms =
			Max(rest_ms, Min(2 * pg_atomic_read_u32(&copy->rest_ms), (uint32) HG_REPLICA_RETRY_MS));
	hg_device_copy_note_missing(copy, epoch, rest_ms);
}

HgDeviceSet
hg_device_copies_present(HgDeviceCopy *copies, const HgReplicaHolders *holders)
{
	HgDeviceSet present = 0;

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if (hg_device_copy_is_present(&copies[device_no], holders->epochs[device_no]))
			present |= HG_DEVICE_BIT(device_no);
	return present;
}

Size
hg_device_copies_bytes(HgDeviceCopy *copies, const HgReplicaHolders *holders)
{
	Size bytes = 0;

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if (hg_device_copy_is_present(&copies[device_no], holders->epochs[device_no]))
			bytes += pg_atomic_read_u64(&copies[device_no].bytes);
	return bytes;
}

/* ---------------------------------------------------------------------
 * How a graph version is partitioned over several devices, each of which has one partition
 * ---------------------------------------------------------------------
 */

uint32
hg_graph_partition_at(const HgGraphPartitions *partitions, int device_no)
{
	return (uint32) pg_popcount32(partitions->device_set & (HG_DEVICE_BIT(device_no) - 1));
}

/* Allocates the bits of all parts; false if there is no room. */
static bool
hg_graph_partitions_allocate_bits(HgResidentClaim *claim, HgGraphPartitions *partitions)
{
	const uint32 *words = hg_resident_address(partitions->words);
	dsa_pointer *bits = hg_resident_address(partitions->bits);

	for (uint32 part = 0; part < partitions->parts; part++)
	{
		const Size bytes = (Size) partitions->count * words[part] * sizeof(uint64);

		bits[part] = InvalidDsaPointer;
		if (bytes == 0)
			continue;
		bits[part] = hg_resident_allocate(claim, bytes);
		if (!DsaPointerIsValid(bits[part]))
			return false;
		memset(hg_resident_address(bits[part]), 0, bytes);
		partitions->bytes += bytes;
	}
	return true;
}

/* Initializes a partitioning without arrays and replicas. */
static HgGraphPartitions *
hg_graph_partitions_init(dsa_pointer pointer, HgDeviceSet device_set, uint32 parts)
{
	HgGraphPartitions *partitions = hg_graph_partitions(pointer);

	memset(partitions, 0, sizeof(HgGraphPartitions));
	partitions->next = InvalidDsaPointer;
	partitions->device_set = device_set;
	partitions->count = (uint32) pg_popcount32(device_set);
	partitions->parts = parts;
	partitions->bytes = sizeof(HgGraphPartitions);
	hg_device_copies_init(partitions->copies);
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
		hg_device_copies_init(partitions->columns[i]);
	return partitions;
}

dsa_pointer
hg_graph_partitions_make(HgResidentClaim *claim, HgDeviceSet device_set, uint32 parts,
						 const uint32 *words)
{
	const Size words_bytes = Max(parts, 1) * sizeof(uint32);
	const Size before_bytes = (Size) pg_popcount32(device_set) * (parts + 1) * sizeof(uint64);
	const Size bits_bytes = Max(parts, 1) * sizeof(dsa_pointer);
	dsa_pointer pointer = hg_resident_allocate(claim, sizeof(HgGraphPartitions));
	dsa_pointer of_words = hg_resident_allocate(claim, words_bytes);
	dsa_pointer before = hg_resident_allocate(claim, before_bytes);
	dsa_pointer bits = hg_resident_allocate(claim, bits_bytes);
	HgGraphPartitions *partitions;

	if (!DsaPointerIsValid(pointer) || !DsaPointerIsValid(of_words) || !DsaPointerIsValid(before) ||
		!DsaPointerIsValid(bits))
		return InvalidDsaPointer;
	partitions = hg_graph_partitions_init(pointer, device_set, parts);
	partitions->bytes += words_bytes + before_bytes + bits_bytes;
	partitions->words = of_words;
	partitions->before = before;
	partitions->bits = bits;
	memcpy(hg_resident_address(of_words), words, parts * sizeof(uint32));
	return hg_graph_partitions_allocate_bits(claim, partitions) ? pointer : InvalidDsaPointer;
}

dsa_pointer
hg_graph_partitions_make_like(HgResidentClaim *claim, HgDeviceSet device_set,
							  const HgGraphPartitions *other)
{
	dsa_pointer pointer = hg_resident_allocate(claim, sizeof(HgGraphPartitions));
	HgGraphPartitions *partitions;

	if (!DsaPointerIsValid(pointer))
		return InvalidDsaPointer;
	partitions = hg_graph_partitions_init(pointer, device_set, other->parts);
	partitions->shares_arrays = true;
	partitions->words = other->words;
	partitions->before = other->before;
	partitions->bits = other->bits;
	return pointer;
}

void
hg_graph_partitions_view(const HgGraphPartitions *partitions, MemoryContext context,
						 HgPartitioning *view)
{
	const dsa_pointer *chunks = hg_resident_address(partitions->bits);
	const uint64 **bits = MemoryContextAlloc(context, Max(partitions->parts, 1) * sizeof(uint64 *));

	for (uint32 part = 0; part < partitions->parts; part++)
		bits[part] = DsaPointerIsValid(chunks[part]) ? hg_resident_address(chunks[part]) : NULL;
	*view = (HgPartitioning){.count = partitions->count,
							 .parts = partitions->parts,
							 .words = hg_resident_address(partitions->words),
							 .bits = (const uint64_t *const *) bits,
							 .before = hg_resident_address(partitions->before)};
}

void
hg_graph_partitions_count(const HgGraphPartitions *partitions, const HgPartitioning *view)
{
	hg_partitions_count(view, hg_resident_address(partitions->before));
}

bool
hg_graph_partitions_are_replicated(HgGraphPartitions *partitions, const HgReplicaHolders *holders)
{
	return (hg_device_copies_present(partitions->copies, holders) & partitions->device_set) ==
		   partitions->device_set;
}

bool
hg_graph_partitions_have_column(HgGraphPartitions *partitions, int column,
								const HgReplicaHolders *holders)
{
	return (hg_device_copies_present(partitions->columns[column], holders) &
			partitions->device_set) == partitions->device_set;
}

void
hg_graph_partitions_forget(HgGraphPartitions *partitions)
{
	hg_device_copies_forget(partitions->copies);
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
		hg_device_copies_forget(partitions->columns[i]);
}

Size
hg_graph_partitions_replica_bytes(HgGraphPartitions *partitions, const HgReplicaHolders *holders)
{
	Size bytes = hg_device_copies_bytes(partitions->copies, holders);

	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
		bytes += hg_device_copies_bytes(partitions->columns[i], holders);
	return bytes;
}

/* Frees the arrays of a partitioning, whose bytes it accounts for itself. */
static void
hg_graph_partitions_free_arrays(const HgGraphPartitions *partitions)
{
	const dsa_pointer *bits = hg_resident_address(partitions->bits);

	for (uint32 part = 0; part < partitions->parts; part++)
		if (DsaPointerIsValid(bits[part]))
			hg_resident_free(bits[part], 0);
	hg_resident_free(partitions->bits, 0);
	hg_resident_free(partitions->before, 0);
	hg_resident_free(partitions->words, 0);
}

void
hg_graph_partitions_free(dsa_pointer pointer)
{
	while (DsaPointerIsValid(pointer))
	{
		const HgGraphPartitions *partitions = hg_graph_partitions(pointer);
		const dsa_pointer next = partitions->next;

		if (!partitions->shares_arrays)
			hg_graph_partitions_free_arrays(partitions);
		hg_resident_free(pointer, partitions->bytes);
		pointer = next;
	}
}

Size
hg_graph_copartition_host_bytes(dsa_pointer pointer)
{
	Size bytes = 0;

	for (; DsaPointerIsValid(pointer); pointer = hg_graph_copartition(pointer)->next)
		bytes += sizeof(HgGraphCopartition);
	return bytes;
}

Size
hg_graph_copartition_replica_bytes(dsa_pointer pointer, const HgReplicaHolders *holders)
{
	Size bytes = 0;

	for (; DsaPointerIsValid(pointer); pointer = hg_graph_copartition(pointer)->next)
		bytes += hg_device_copies_bytes(hg_graph_copartition(pointer)->copies, holders);
	return bytes;
}

void
hg_graph_copartition_free(dsa_pointer pointer)
{
	while (DsaPointerIsValid(pointer))
	{
		const dsa_pointer next = hg_graph_copartition(pointer)->next;

		hg_resident_free(pointer, sizeof(HgGraphCopartition));
		pointer = next;
	}
}
