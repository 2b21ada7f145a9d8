/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_partitions.h
 *	  How a graph version is partitioned, which several devices have one each of.
 *
 * A graph that is too large for one device, or is joined with one that is, is partitioned over
 * several (engine/hg_partitioning.h).  What tells which rows a partition has lies beside the
 * version as long as that is there: who has pinned the version can use it.  Where other devices are
 * to have it, it is partitioned again, and how it was partitioned before stays, for whoever uses
 * it, and for when it is partitioned so again.
 *
 * The memory that it takes is a bit of each row for each partition.  What rows a partition has
 * follows from how many partitions there are: so ways to cut it into as many, for other devices,
 * share their bits.
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

/*
 * How it is partitioned, in shared memory: immutable once it is linked, but for the notes of
 * copies.
 */
typedef struct HgGraphPartitions
{
	dsa_pointer next; /* another way in which it was partitioned; invalid: there are no more */
	bool borrows;	  /* the arrays below are those of another way, which stays as long */
	HgDeviceSet device_set; /* of the devices: the first of them has partition 0, and so on */
	uint32 count;			/* of partitions */
	uint32 parts;
	Size bytes;			/* of all of it */
	dsa_pointer words;	/* uint32[parts]; these three are those of HgPartitioning */
	dsa_pointer before; /* uint64[count * (parts + 1)] */
	dsa_pointer bits;	/* dsa_pointer[parts], of uint64[count * words[part]]; invalid: no words */
	HgDeviceCopy copies[HG_GPU_DEVICES]; /* by place, of the partition that it has */
	HgDeviceCopy columns[HG_GRAPH_DEVICE_COLUMNS][HG_GPU_DEVICES]; /* of columns of its rows */
} HgGraphPartitions;

static inline HgGraphPartitions *
hg_graph_partitions(dsa_pointer partitions)
{
	return hg_resident_address(partitions);
}

/*
 * How a version is co-partitioned with another one of its table (hg_resident_graph_copartition.h),
 * in shared memory, immutable as well: which rows a partition has is told by the bits of that.
 */
typedef struct HgGraphCopartition
{
	dsa_pointer next;  /* another way in which it was, before; invalid: there are no more */
	uint64 with;	   /* the serial number of the version that it is co-partitioned with ... */
	AttrNumber column; /* ... which is by that */
	HgDeviceSet device_set;				 /* over which that is partitioned */
	uint32 count;						 /* of partitions */
	uint32 partitioning;				 /* its number: of this version no other way has it */
	uint64 rows[HG_GPU_DEVICES];		 /* of each partition */
	HgDeviceCopy copies[HG_GPU_DEVICES]; /* by place, of the partition that it has */
} HgGraphCopartition;

static inline HgGraphCopartition *
hg_graph_copartition(dsa_pointer copartition)
{
	return hg_resident_address(copartition);
}

/* The number of the partition that the device of a place has, which is one of these. */
extern uint32 hg_graph_partition_at(const HgGraphPartitions *partitions, int device_no);

/*
 * Make room for how a graph is partitioned over these devices, words[parts] of each partition, with
 * no bit set: all its maker's.  InvalidDsaPointer where there is no room.
 */
extern dsa_pointer hg_graph_partitions_make(HgResidentClaim *claim, HgDeviceSet device_set,
											uint32 parts, const uint32 *words);

/* The same for other places, as many as these: whose arrays it has. */
extern dsa_pointer hg_graph_partitions_make_like(HgResidentClaim *claim, HgDeviceSet device_set,
												 const HgGraphPartitions *other);

/*
 * The arrays of it at addresses of this process, through which its maker sets the bits: pointers to
 * those of parts are in context.
 */
extern void hg_graph_partitions_view(const HgGraphPartitions *partitions, MemoryContext context,
									 HgPartitioning *view);

/* All bits are set: count them. */
extern void hg_graph_partitions_count(const HgGraphPartitions *partitions,
									  const HgPartitioning *view);

/* Have copies all that are to have one, as far as is known here?  Of a column, by its place. */
extern bool hg_graph_partitions_are_replicated(HgGraphPartitions *partitions,
											   const HgReplicaHolders *holders);
extern bool hg_graph_partitions_have_column(HgGraphPartitions *partitions, int column,
											const HgReplicaHolders *holders);

/* Devices are told to let go of all copies: none is there any more. */
extern void hg_graph_partitions_forget(HgGraphPartitions *partitions);

/* Bytes of all copies. */
extern Size hg_graph_partitions_replica_bytes(HgGraphPartitions *partitions,
											  const HgReplicaHolders *holders);

/* Free it, and all others from there on. */
extern void hg_graph_partitions_free(dsa_pointer partitions);

/*
 * Bytes of a way to be co-partitioned and all others from there on, and of all copies; and free
 * them.
 */
extern Size hg_graph_copartition_host_bytes(dsa_pointer copartition);
extern Size hg_graph_copartition_replica_bytes(dsa_pointer copartition,
											   const HgReplicaHolders *holders);
extern void hg_graph_copartition_free(dsa_pointer copartition);

#endif /* HG_RESIDENT_GRAPH_PARTITIONS_H */
