/*-------------------------------------------------------------------------
 *
 * hg_resident_device_copy.h
 *	  What device processes were given of a HashGraph: notes of it, in shared memory.
 *
 * Whether a process has a copy is known by itself alone; what is noted here is a hint to those who
 * would ask it.
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
 * What a device had no room for is offered to it again after so long, in ms.  What it had, and
 * others wanted the room of, is so sooner: but later each time where it was there for less.
 */
#define HG_GRAPH_OFFER_MS (60 * 1000)
#define HG_GRAPH_OFFER_FIRST_MS 1000

/* Most columns of a graph's rows that devices have replicas of. */
#define HG_GRAPH_DEVICE_COLUMNS 16

/* The device processes that graphs may be given to. */
typedef struct HgReplicaHolders
{
	uint64 epochs[HG_GPU_DEVICES]; /* by device number; 0: none there, at the moment */
	HgDeviceSet lost;			   /* devices where there will be none so soon ... */
	HgDeviceSet starting;		   /* ... and where there will be one in a moment */
} HgReplicaHolders;

/* The replica that a device process was given. */
typedef struct HgDeviceCopy
{
	pg_atomic_uint64
		holder;				/* the process, by its epoch; 0: none, or it has not made the replica */
	pg_atomic_uint64 bytes; /* ... which takes that of it */
	pg_atomic_uint64 replica_at; /* ... and has taken it then */
	pg_atomic_uint64 missed_by; /* the process that could not take it, or had it no more; 0: none */
	pg_atomic_uint64 missed_at; /* ... and when */
	pg_atomic_uint32 rest_ms;	/* after which it is offered again; 0: it was never missed */
} HgDeviceCopy;

/*
 * Of copies[HG_GPU_DEVICES], by device number: none is there so far; and those that are, forgotten.
 */
extern void hg_device_copies_init(HgDeviceCopy *copies);
extern void hg_device_copies_forget(HgDeviceCopy *copies);

/*
 * hg_device_copy_is_present returns true if shared memory records that the device process with this
 * epoch has the replica.  This is a hint; only the process itself knows.  hg_device_copy_is_due
 * returns true if the replica is to be offered to that process.  The other functions record that
 * the process has taken the replica, of so many bytes; that it could not take it; or that it does
 * not have it any more.
 */
extern bool hg_device_copy_is_present(HgDeviceCopy *copy, uint64 epoch);
extern bool hg_device_copy_is_due(HgDeviceCopy *copy, uint64 epoch);
extern void hg_device_copy_set_present(HgDeviceCopy *copy, uint64 epoch, uint64 bytes);
extern void hg_device_copy_set_missed(HgDeviceCopy *copy, uint64 epoch);
extern void hg_device_copy_set_gone(HgDeviceCopy *copy, uint64 epoch);

/* The devices whose processes have copies, as far as is known here; and the bytes of these. */
extern HgDeviceSet hg_device_copies_present(HgDeviceCopy *copies, const HgReplicaHolders *holders);
extern Size hg_device_copies_bytes(HgDeviceCopy *copies, const HgReplicaHolders *holders);

#endif /* HG_RESIDENT_DEVICE_COPY_H */
