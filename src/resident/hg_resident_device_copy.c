/*-------------------------------------------------------------------------
 *
 * hg_resident_device_copy.c
 *	  Records in shared memory which device processes have replicas of a graph.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

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
hg_device_copy_is_due(HgDeviceCopy *copy, uint64 epoch)
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
hg_device_copy_set_gone(HgDeviceCopy *copy, uint64 epoch)
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
