/*-------------------------------------------------------------------------
 *
 * hg_resident_device_copy.h
 *	  Records in shared memory which device processes have replicas of a graph.
 *
 * A record is a hint for sessions and loaders that would ask a device process.  Only the process
 * itself knows what it has.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_DEVICE_COPY_H
#define HG_RESIDENT_DEVICE_COPY_H

#include "hg_compat.h"

#include "port/atomics.h"

#include "backend/device/hg_device_placement.h"

/*
 * How long a replica is not sent again, in ms.  HG_REPLICA_RETRY_MS applies to a device that had no
 * memory for it.  HG_REPLICA_FIRST_RETRY_MS applies to a device that evicted it for others; the
 * time doubles, up to the former, each time the replica was there for less than
 * HG_REPLICA_RETRY_MS.
 */
#define HG_REPLICA_RETRY_MS (60 * 1000)
#define HG_REPLICA_FIRST_RETRY_MS 1000

/* Maximum number of columns of a graph's rows that devices have replicas of. */
#define HG_GRAPH_DEVICE_COLUMNS 16

/* The device processes that may get replicas. */
typedef struct HgReplicaHolders
{
	uint64 epochs[HG_GPU_DEVICES]; /* by device number; 0: no process is ready */
	HgDeviceSet lost;			   /* devices that will not have a process soon */
	HgDeviceSet starting;		   /* devices that will have one in a moment */
} HgReplicaHolders;

/* The replica that the process of one device has. */
typedef struct HgDeviceCopy
{
	pg_atomic_uint64 holder;		/* epoch of the process that has it; 0: none */
	pg_atomic_uint64 bytes;			/* device memory of the replica */
	pg_atomic_uint64 replica_at;	/* when the process got it */
	pg_atomic_uint64 missing_epoch; /* epoch of the process that lacks it; 0: none */
	pg_atomic_uint64 missing_time;	/* when that was noted */
	pg_atomic_uint32 rest_ms;		/* ms from then until it is sent again; 0: never missed */
} HgDeviceCopy;

/* Initializes copies[HG_GPU_DEVICES], by device number, with no replica. */
extern void hg_device_copies_init(HgDeviceCopy *copies);
/* Records that no device has a replica any more. */
extern void hg_device_copies_forget(HgDeviceCopy *copies);

/*
 * Returns true if shared memory records that the device process with this epoch has the replica.
 * This is a hint; only the process itself knows.  No process has epoch 0.
 */
extern bool hg_device_copy_is_present(HgDeviceCopy *copy, uint64 epoch);
/* Returns true if the replica is to be sent to the process with this epoch. */
extern bool hg_device_copy_is_due(HgDeviceCopy *copy, uint64 epoch);
/* Records that the process has the replica, which takes that many bytes of device memory. */
extern void hg_device_copy_set_present(HgDeviceCopy *copy, uint64 epoch, uint64 bytes);
/* Records that the process could not take the replica. */
extern void hg_device_copy_set_missing(HgDeviceCopy *copy, uint64 epoch);
/* Records that the process does not have the replica any more. */
extern void hg_device_copy_set_gone(HgDeviceCopy *copy, uint64 epoch);

/* Returns the set of devices whose processes are recorded to have a replica. */
extern HgDeviceSet hg_device_copies_present(HgDeviceCopy *copies, const HgReplicaHolders *holders);
/* Returns the sum of the bytes of these replicas. */
extern Size hg_device_copies_bytes(HgDeviceCopy *copies, const HgReplicaHolders *holders);

#endif /* HG_RESIDENT_DEVICE_COPY_H */
