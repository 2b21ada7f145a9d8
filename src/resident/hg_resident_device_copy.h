/*-------------------------------------------------------------------------
 *
 * hg_resident_device_copy.h
 *	  Which device processes have replicas of a graph version, each the whole graph or one
 *	  partition.
 *
 * A device is a GPU, by its device number, and its process has an EPOCH, which no later process
 * has.  A graph version is a cached HashGraph (hg_resident_graph_version.h).
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
#include "engine/hg_partitioning.h"
#include "resident/hg_resident_memory.h"

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

/* Initializes copies[HG_GPU_DEVICES], by device number: no device has a replica. */
extern void hg_device_copies_init(HgDeviceCopy *copies);
/* Records in copies[HG_GPU_DEVICES] that no device has a replica any more. */
extern void hg_device_copies_forget(HgDeviceCopy *copies);

/*
 * Returns true if shared memory records that the device process with this epoch has the replica.
 * This is a hint; only the process itself knows.  No process has epoch 0.
 */
extern bool hg_device_copy_is_present(HgDeviceCopy *copy, uint64 epoch);
/* Returns true if the process with this epoch has no replica, and shall be sent it now. */
extern bool hg_device_copy_needs_upload(HgDeviceCopy *copy, uint64 epoch);
/* Records that the process has the replica, which takes that many bytes of device memory. */
extern void hg_device_copy_set_present(HgDeviceCopy *copy, uint64 epoch, uint64 bytes);
/* Records that the process could not take the replica: not sent again for HG_REPLICA_RETRY_MS. */
extern void hg_device_copy_set_missing(HgDeviceCopy *copy, uint64 epoch);
/* Records that the process has evicted the replica, unless that was recorded already. */
extern void hg_device_copy_set_evicted(HgDeviceCopy *copy, uint64 epoch);

/* Returns the set of devices whose processes are recorded to have a replica. */
extern HgDeviceSet hg_device_copies_present(HgDeviceCopy *copies, const HgReplicaHolders *holders);
/* Returns the device memory of all replicas that are recorded to be present, in bytes. */
extern Size hg_device_copies_bytes(HgDeviceCopy *copies, const HgReplicaHolders *holders);

/*
 * How a graph version is partitioned over several devices, each of which has one partition.
 *
 * A graph is partitioned if it is too large for one device, or is joined with one that is
 * (engine/hg_partitioning.h).  The arrays that say which rows a partition has live as long as the
 * graph version, so any process that has pinned the version can use them.  To move partitions to
 * other devices the version is partitioned again.  The previous partitioning stays, for processes
 * that use it and for when it is needed again.
 *
 * A partitioning takes one bit for each row and partition.  Which rows a partition has depends
 * only on the number of partitions.  So partitionings of a version over different devices, but
 * into the same number of partitions, share the arrays of bits.
 */

/* A partitioning, in shared memory.  Immutable once linked, except for copies and columns. */
typedef struct HgGraphPartitions
{
	dsa_pointer next;		/* next partitioning of the version; invalid: there is none */
	bool shares_arrays;		/* the arrays belong to another partitioning of the version */
	HgDeviceSet device_set; /* the first device of the set has partition 0, and so on */
	uint32 count;			/* of partitions */
	uint32 parts;
	Size bytes;			/* in the area, without arrays of another partitioning */
	dsa_pointer words;	/* uint32[parts]; as in HgPartitioning, like the next two */
	dsa_pointer before; /* uint64[count * (parts + 1)] */
	dsa_pointer bits;	/* dsa_pointer[parts], of uint64[count * words[part]]; invalid: no words */
	HgDeviceCopy copies[HG_GPU_DEVICES]; /* by device number, of its partition */
	HgDeviceCopy columns[HG_GRAPH_DEVICE_COLUMNS][HG_GPU_DEVICES]; /* of columns of its rows */
} HgGraphPartitions;

/* Returns the address of a partitioning. */
static inline HgGraphPartitions *
hg_graph_partitions(dsa_pointer partitions)
{
	return hg_resident_address(partitions);
}

/*
 * How a version is co-partitioned with another graph of its table
 * (hg_resident_graph.h), in shared memory.  Immutable, except for the records of
 * replicas.  The other graph's partitioning says which rows a partition has.
 */
typedef struct HgGraphCopartition
{
	dsa_pointer next;			 /* an older co-partitioning; invalid: there is none */
	uint64 with;				 /* serial number of the other version */
	AttrNumber column;			 /* the other graph's key */
	HgDeviceSet device_set;		 /* over which the other version is partitioned */
	uint32 count;				 /* of partitions */
	uint32 partitioning;		 /* a number that no other co-partitioning of this version has */
	uint64 rows[HG_GPU_DEVICES]; /* of each partition */
	HgDeviceCopy copies[HG_GPU_DEVICES]; /* by device number, of its partition */
} HgGraphCopartition;

/* Returns the address of a co-partitioning. */
static inline HgGraphCopartition *
hg_graph_copartition(dsa_pointer copartition)
{
	return hg_resident_address(copartition);
}

/* Returns the number of the partition that a device of partitions->device_set has. */
extern uint32 hg_graph_partition_at(const HgGraphPartitions *partitions, int device_no);

/*
 * Allocates a partitioning over a set of devices with no bit set; part i has words[i] words for
 * each partition.  Returns InvalidDsaPointer if there is no memory.  Its maker links it.
 */
extern dsa_pointer hg_graph_partitions_make(HgResidentClaim *claim, HgDeviceSet device_set,
											uint32 parts, const uint32 *words);

/*
 * Allocates a partitioning over other devices, into the same number of partitions as `other`, whose
 * arrays it shares.  Returns InvalidDsaPointer if there is no memory.
 */
extern dsa_pointer hg_graph_partitions_make_like(HgResidentClaim *claim, HgDeviceSet device_set,
												 const HgGraphPartitions *other);

/*
 * Sets *view to the arrays of a partitioning at addresses of this process.  view->bits is allocated
 * in context.  The maker of the partitioning sets bits through it.
 */
extern void hg_graph_partitions_view(const HgGraphPartitions *partitions, MemoryContext context,
									 HgPartitioning *view);

/* Sets the row counts (before) of a new partitioning from view, its own, once all bits are set. */
extern void hg_graph_partitions_count(const HgGraphPartitions *partitions,
									  const HgPartitioning *view);

/* Returns true if all devices are recorded to have their partitions of the graph. */
extern bool hg_graph_partitions_are_replicated(HgGraphPartitions *partitions,
											   const HgReplicaHolders *holders);

/*
 * Returns true if all devices are recorded to have their partitions of a column, which is given by
 * its index in HgResidentGraph.columns.
 */
extern bool hg_graph_partitions_have_column(HgGraphPartitions *partitions, int column,
											const HgReplicaHolders *holders);

/* Records that no device has a partition or its columns, after devices were asked to drop them. */
extern void hg_graph_partitions_forget(HgGraphPartitions *partitions);

/* Returns the device memory of all recorded replicas of its partitions, in bytes. */
extern Size hg_graph_partitions_replica_bytes(HgGraphPartitions *partitions,
											  const HgReplicaHolders *holders);

/*
 * Frees a list of partitionings from this one on, and their arrays; shared arrays are freed with
 * the partitioning that they belong to.  InvalidDsaPointer is an empty list.
 */
extern void hg_graph_partitions_free(dsa_pointer partitions);

/* Returns the bytes of the area that a list of co-partitionings takes, from this one on. */
extern Size hg_graph_copartition_host_bytes(dsa_pointer copartition);

/* Returns the device memory of all recorded replicas of such a list, in bytes. */
extern Size hg_graph_copartition_replica_bytes(dsa_pointer copartition,
											   const HgReplicaHolders *holders);

/* Frees a list of co-partitionings from this one on; InvalidDsaPointer is an empty list. */
extern void hg_graph_copartition_free(dsa_pointer copartition);

#endif /* HG_RESIDENT_DEVICE_COPY_H */
