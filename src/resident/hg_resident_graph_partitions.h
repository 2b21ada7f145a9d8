/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_partitions.h
 *	  How a graph version is partitioned over several devices, each of which has one partition.
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
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_GRAPH_PARTITIONS_H
#define HG_RESIDENT_GRAPH_PARTITIONS_H

#include "hg_compat.h"

#include "engine/hg_partitioning.h"
#include "resident/hg_resident_device_copy.h"
#include "resident/hg_resident_memory.h"

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
 * (hg_resident_graph_copartition.h), in shared memory.  Immutable, except for the records of
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
 * Sets *view to the arrays of a partitioning at addresses of this process; the maker sets bits
 * through it.  An array of pointers is allocated in context.
 */
extern void hg_graph_partitions_view(const HgGraphPartitions *partitions, MemoryContext context,
									 HgPartitioning *view);

/* Fills in the counts of a partitioning, after all bits are set. */
extern void hg_graph_partitions_count(const HgGraphPartitions *partitions,
									  const HgPartitioning *view);

/* Returns true if all devices are recorded to have their partitions of the graph. */
extern bool hg_graph_partitions_are_replicated(HgGraphPartitions *partitions,
											   const HgReplicaHolders *holders);

/* Does the same for partitions of a column, by its index in HgResidentGraph.columns. */
extern bool hg_graph_partitions_have_column(HgGraphPartitions *partitions, int column,
											const HgReplicaHolders *holders);

/* Records that no device has a partition any more, after devices were asked to drop them. */
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

#endif /* HG_RESIDENT_GRAPH_PARTITIONS_H */
