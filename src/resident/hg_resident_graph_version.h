/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_version.h
 *	  Graph versions: HashGraphs in shared memory, immutable once they are published.
 *
 * A loader makes a version: hg_graph_version_make, hg_graph_version_add_bin for each bin, and the
 * list of hg_graph_version_serials.  Then it stores the version in the table's entry of the
 * directory (hg_resident_directory.h).  Joins reach a version by hg_resident_graph.h.
 *
 * A graph version is a flat HashGraph (engine/hg_flat.h) of the rows of segment versions, at most
 * one of each segment.  A row number is made of the segment's number and the row's in it.  The
 * graph LISTS the segment versions by their serial numbers, which no two versions share.  A
 * segment version whose rows the graph cannot have is listed as PASSED OVER.
 *
 * A DEVICE may have a replica of a graph version (engine/hg_replica.h), named by its serial
 * number, and replicas of columns of its rows that joins have requested.  A version that is too
 * large for a device, alone or with what joins need beside it (HgGraphDemand), is partitioned over
 * several devices instead.  A version that is joined with a partitioned version is partitioned,
 * too (hg_resident_device_copy.h).  If rows of a partitioned version look other tables up by
 * another key, their table's graph by that key is co-partitioned with the version
 * (hg_resident_graph.h).
 *
 * USERS are counted as for segment versions: the directory while its entry names the version, and
 * each process that has pinned it.  The last one to release it frees it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_GRAPH_VERSION_H
#define HG_RESIDENT_GRAPH_VERSION_H

#include "hg_compat.h"

#include "datatype/timestamp.h"
#include "port/atomics.h"

#include "engine/hg_flat.h"
#include "engine/hg_replica.h"
#include "resident/hg_resident_device_copy.h"
#include "resident/hg_resident_graph_key.h"
#include "resident/hg_resident_memory.h"

/*
 * The device memory that joins need beside a graph version.
 *
 * A device answers a join if it has all replicas that the join needs: the graphs of its tables,
 * and columns.  If each of them fits a device, but not all together, they would evict each other
 * in turn, and no device would ever answer the join.  So a join that was not answered REPORTS the
 * memory that it needs in total to the graph that could be partitioned over several devices for
 * it.  The loader, which knows the devices' memory for replicas, then partitions that graph as it
 * does a graph that is too large alone.
 *
 * One graph of a table is partitioned for that, and the table's other graphs are co-partitioned
 * with it (hg_resident_graph.h).  Co-partitioned graphs get no whole replicas, unless
 * a join requested a whole replica later than the last one requested a co-partitioning.
 */

/* Least device memory that a join needs, in bytes. */
typedef struct HgGraphDemand
{
	uint64 partitioning; /* divided among devices if the graph is partitioned */
	uint64 whole;		 /* needed by each device */
} HgGraphDemand;

/* The needs of the join that reported last, in shared memory. */
typedef struct HgGraphWishes
{
	pg_atomic_uint64 partitioning; /* as in HgGraphDemand; both 0: no report */
	pg_atomic_uint64 whole;
	pg_atomic_uint64 most_weighed; /* largest total for which a loader decided not to partition */
	pg_atomic_uint64 weighed_at;   /* when a loader last decided so; 0: never */
	pg_atomic_uint64 whole_at;	   /* when a join last requested a whole replica; 0: never */
} HgGraphWishes;

/* Stores the needs of a join, in place of those of an earlier join. */
extern void hg_graph_wishes_store(HgGraphWishes *wishes, const HgGraphDemand *demand);

/* Returns the needs that were stored last; zeroes if none were. */
extern HgGraphDemand hg_graph_wishes_load(HgGraphWishes *wishes);

/* Records that a loader has decided now not to partition the graph for the stored needs. */
extern void hg_graph_wishes_set_weighed(HgGraphWishes *wishes);

/* Returns the bytes that each of so many devices needs; with 1 nothing is partitioned. */
static inline uint64
hg_graph_demand_each(const HgGraphDemand *demand, uint32 devices)
{
	return demand->partitioning / devices + demand->whole;
}

StaticAssertDecl(HG_SEGMENT_ROWS < (1 << HG_FLAT_ROW_BITS), "segments are larger than parts");

/* Maximum number of segments.  Larger part numbers are for rows that a query reads itself. */
#define HG_GRAPH_SEGMENTS 4096

StaticAssertDecl(HG_GRAPH_SEGMENTS < HG_FLAT_PARTS, "no number of a part is left");

/* Flag of a segment version that is passed over: a loader can't read a key value out of line. */
#define HG_GRAPH_PASSED (UINT64CONST(1) << 63)

/*
 * A graph with at most this many rows is replicated on every device that has memory for it.  A
 * larger graph has a HOME, the device with most memory when the graph is sent.  A device that has
 * no memory for it is no home any more.  Other devices become homes if joins request it, because
 * the graphs of their other relations are there.
 */
#define HG_GRAPH_EVERYWHERE_ROWS (1 << 20)

/*
 * A column that no join has requested for HG_GRAPH_COLUMN_IDLE_MS ms may be replaced by another
 * one.  After HG_GRAPH_COLUMN_END_MS the next graph version does not take it over.
 */
#define HG_GRAPH_COLUMN_IDLE_MS (60 * 1000)
#define HG_GRAPH_COLUMN_END_MS (60 * 60 * 1000)

/* A column of the graph's rows that joins have requested, and its replicas. */
typedef struct HgGraphColumn
{
	pg_atomic_uint32 number;			 /* of the table's column; 0: this entry is free */
	pg_atomic_uint64 used_at;			 /* when a join requested it last */
	HgDeviceCopy copies[HG_GPU_DEVICES]; /* by device number */
	HgReplicaColumnShape shape;			 /* valid once there is a replica */
} HgGraphColumn;

/* Maximum number of graphs that a graph is requested to be co-partitioned with. */
#define HG_GRAPH_COPARTITIONS 4

/* Maximum number of ambiguous lookups that a graph remembers. */
#define HG_GRAPH_AMBIGUOUS 8

typedef struct HgGraphCopartitionRequest
{
	pg_atomic_uint32 column;  /* the other graph's key; 0: none */
	pg_atomic_uint64 used_at; /* when a join requested it last */
} HgGraphCopartitionRequest;

/* A graph version, in shared memory. */
typedef struct HgResidentGraph
{
	HgGraphKey key;
	HgFlatShape shape;
	uint64 rows;
	uint64 bytes;			/* of its chunks, without partitionings and codes */
	pg_atomic_uint32 users; /* the directory and each pin */
	pg_atomic_uint32 pins;
	pg_atomic_uint64 used_at; /* when a join used it last; 0: never */
	TimestampTz made_at;
	double made_ms;					  /* how long making it took */
	bool merged;					  /* made from an older version and changed segments */
	uint64 serial;					  /* names it on devices; no other version has it */
	pg_atomic_uint32 uploaded;		  /* 1 once a device may have been sent any of it */
	pg_atomic_uint32 homes;			  /* HgDeviceSet: homes of a large version */
	pg_atomic_uint32 partitioning;	  /* HgDeviceSet over which it shall be partitioned; 0: none */
	pg_atomic_uint32 too_large;		  /* 1: for a single device */
	pg_atomic_uint64 chosen_at;		  /* when partitioning was chosen last */
	pg_atomic_uint64 partitioning_at; /* when there was no memory for one; 0: never */
	pg_atomic_uint64 partitions;	  /* dsa_pointer to the current partitioning; or invalid */
	pg_atomic_uint64 all_partitions;  /* dsa_pointer to the list of all partitionings */
	HgDeviceCopy copies[HG_GPU_DEVICES];			/* by device number, of the whole graph */
	HgGraphColumn columns[HG_GRAPH_DEVICE_COLUMNS]; /* requested columns */
	HgGraphCopartitionRequest copartition[HG_GRAPH_COPARTITIONS];
	HgGraphWishes wishes;
	/* dsa_pointer to the list of co-partitionings, newest first; or invalid */
	pg_atomic_uint64 copartitions;
	pg_atomic_uint64 copartition_at; /* when there was no memory for a co-partitioning; 0: never */
	pg_atomic_uint64 codes;			 /* dsa_pointer to the list of its columns' codes; or invalid */
	/* a ring, see hg_resident_graph_note_ambiguous(); 0: free */
	pg_atomic_uint64 ambiguous[HG_GRAPH_AMBIGUOUS];
	pg_atomic_uint32 next_ambiguous;
	pg_atomic_uint32 lost; /* in blocks, see hg_resident_graph_note_lost() */
	uint32 nsegments;
	/* uint64[nsegments], of listed versions; 0: none; with HG_GRAPH_PASSED: passed over */
	dsa_pointer serials;
	dsa_pointer bins; /* dsa_pointer[1 << shape.bins_log2]; invalid: an empty bin */
} HgResidentGraph;

/*
 * Returns a pointer in a version, which other processes may replace meanwhile.  If it is valid,
 * what it points to is complete.
 */
static inline dsa_pointer
hg_graph_version_pointer(pg_atomic_uint64 *stored)
{
	const dsa_pointer pointer = (dsa_pointer) pg_atomic_read_u64(stored);

	pg_read_barrier();
	return pointer;
}

/* Returns the address of a graph version. */
static inline HgResidentGraph *
hg_graph_version(dsa_pointer graph)
{
	return hg_resident_address(graph);
}

/*
 * Makes a version without rows: empty bins, and an empty list of nsegments.  Its maker is the only
 * user.  Returns InvalidDsaPointer if there is no memory.  In either case the claim owns the
 * chunks that were allocated (hg_resident_memory.h).
 */
extern dsa_pointer hg_graph_version_make(HgResidentClaim *claim, const HgGraphKey *key,
										 const HgFlatShape *shape, uint32 nsegments);

/* Returns graph->serials as an array, [nsegments] zeroes until the maker fills it in. */
extern uint64 *hg_graph_version_serials(const HgResidentGraph *graph);

/*
 * Allocates `bytes` for a bin (HgFlatBin) of `rows` rows, adds them to the version's counts, and
 * returns the memory, which the maker fills in.  NULL if there is no memory.
 */
extern void *hg_graph_version_add_bin(HgResidentClaim *claim, HgResidentGraph *graph, uint32 bin,
									  Size bytes, uint64 rows);

/* Sets bins[1 << shape.bins_log2] to the addresses of the version's bins; NULL: empty. */
extern void hg_graph_version_bins(const HgResidentGraph *graph, const HgFlatBin **bins);

/*
 * Pins a version.  Meanwhile the caller must hold the lock of its entry, or another process must
 * keep it pinned.
 */
extern void hg_graph_version_pin(HgResidentGraph *graph);

/* Ends a pin.  The last user frees the version.  Does not fail. */
extern void hg_graph_version_release(dsa_pointer graph);

/* Ends the directory's use, or the maker's.  The last user frees the version. */
extern void hg_graph_version_retire(dsa_pointer graph);

/* Returns true if any process has pinned the version. */
static inline bool
hg_graph_version_is_pinned(HgResidentGraph *graph)
{
	return pg_atomic_read_u32(&graph->pins) > 0;
}

/* Called before a version, or a column of it, is sent to a device: sets uploaded. */
extern void hg_graph_version_note_upload(HgResidentGraph *graph);

/* Returns the devices that shall have a replica of the whole version, with or without a process. */
extern HgDeviceSet hg_graph_version_homes(HgResidentGraph *graph, const HgReplicaHolders *holders);

/* Returns true if the version shall have a home, and has none yet. */
extern bool hg_graph_version_needs_home(HgResidentGraph *graph, const HgReplicaHolders *holders);

/* Adds devices to a version's homes. */
extern void hg_graph_version_add_homes(HgResidentGraph *graph, HgDeviceSet device_set);

/* Removes a device, which has no memory for the version, from its homes. */
extern void hg_graph_version_remove_home(HgResidentGraph *graph, int device_no);

/*
 * Returns the devices over which a version shall be partitioned; 0 if it shall not, or if one of
 * them is lost.  Some of them may have no process now.
 */
extern HgDeviceSet hg_graph_version_partitioning(HgResidentGraph *graph,
												 const HgReplicaHolders *holders);

/*
 * Sets the devices over which a version shall be partitioned.  too_large: no single device has
 * memory for the version and what joins need with it.
 */
extern void hg_graph_version_set_partitioning(HgResidentGraph *graph, HgDeviceSet device_set,
											  bool too_large);

/*
 * Has devices drop their whole replicas of a version that is about to be partitioned for the first
 * time, to free memory for its partitions.  Does nothing if joins may still use a whole replica.
 * Otherwise a join that asks a device for one meanwhile learns that it is missing.
 */
extern void hg_graph_version_end_whole(HgResidentGraph *graph);

/*
 * Returns true if a loader shall choose again over which devices to partition the version: it is
 * not to be partitioned, but joins have reported needs (hg_graph_wishes_are_due); or it is too
 * large and was partitioned at least HG_REPLICA_RETRY_MS ago, and a device process has no part
 * in it.
 */
extern bool hg_graph_version_needs_devices(HgResidentGraph *graph, const HgReplicaHolders *holders);

/* Returns the current partitioning of a version, or NULL. */
extern HgGraphPartitions *hg_graph_version_partitions(HgResidentGraph *graph);

/*
 * Returns the partitioning, current or earlier, over exactly the devices of a set, or
 * InvalidDsaPointer if there is none.
 */
extern dsa_pointer hg_graph_version_partitions_over(HgResidentGraph *graph, HgDeviceSet device_set);

/* Returns a partitioning, current or earlier, into count partitions, or NULL. */
extern HgGraphPartitions *hg_graph_version_partitions_into(HgResidentGraph *graph, uint32 count);

/*
 * Makes a partitioning the current one: a new one, which the version then owns, or an earlier one.
 * With InvalidDsaPointer records instead that there was no memory for a partitioning.
 */
extern void hg_graph_version_link_partitions(HgResidentGraph *graph, dsa_pointer partitions);

/*
 * Returns the records of a version's replicas, [HG_GPU_DEVICES] by device number: of the partitions
 * of a partitioning, or with NULL of the whole graph.
 */
extern HgDeviceCopy *hg_graph_version_copies(HgResidentGraph *graph, HgGraphPartitions *partitions);

/* Returns the records of the replicas of a column, by its index in graph->columns. */
extern HgDeviceCopy *hg_graph_version_column_copies(HgResidentGraph *graph,
													HgGraphPartitions *partitions, int column);

/* Returns true if the version shall be partitioned, is not yet, and all devices have processes. */
extern bool hg_graph_version_needs_partitions(HgResidentGraph *graph,
											  const HgReplicaHolders *holders);

/* Returns true if a loader has to send any of a version, or to choose devices for it. */
extern bool hg_graph_version_needs_loader(HgResidentGraph *graph, const HgReplicaHolders *holders);

/*
 * Returns the name on devices of the replica of a column of a version; with InvalidAttrNumber, of
 * the version itself.
 */
extern HgReplicaName hg_graph_version_name(const HgResidentGraph *graph, AttrNumber column);

/* Returns the shape of a version's replica. */
extern HgReplicaShape hg_graph_version_shape(const HgResidentGraph *graph);

/* Returns the least device memory that a replica of the whole version takes, in bytes. */
extern uint64 hg_graph_version_least_bytes(const HgResidentGraph *graph);

/*
 * Records the missing replicas that the process of a device, with this epoch, has reported: of the
 * version and its columns or, if partitioned is true, of the device's partitions of them.  Returns
 * true if any of the missing replicas was of this version.
 */
extern bool hg_graph_version_note_missing(HgResidentGraph *graph, bool partitioned, int device_no,
										  uint64 epoch, const HgMissingReplicas *missing);

/* Returns true if a device is recorded to have a replica, or all devices their partitions. */
extern bool hg_graph_version_is_replicated(HgResidentGraph *graph, const HgReplicaHolders *holders);

/* Returns the bytes of shared memory that a version uses, with partitionings, without codes. */
extern Size hg_graph_version_host_bytes(HgResidentGraph *graph);

/* Returns the device memory that all recorded replicas of a version use, in bytes. */
extern Size hg_graph_version_replica_bytes(HgResidentGraph *graph, const HgReplicaHolders *holders);

/*
 * Requests a replica of a column of the table.  Returns its index in columns: its own, a free one,
 * or that of an idle column that it replaces.  Returns -1 if there is none.
 */
extern int hg_graph_version_ask_column(HgResidentGraph *graph, AttrNumber number);

/* Requests for a new version what was requested lately of the older one that it replaces. */
extern void hg_graph_version_ask_same(HgResidentGraph *graph, HgResidentGraph *older);

/* Returns when a join used a version last; 0: never. */
static inline TimestampTz
hg_graph_version_used_at(HgResidentGraph *graph)
{
	return (TimestampTz) pg_atomic_read_u64(&graph->used_at);
}

/*
 * Codes that devices have instead of values, if no engine supports their width.
 *
 * A value becomes a number from 0, the same for the same bytes in all rows of a graph version.  A
 * numeric may become an integer scaled by the column's display scale instead.  What a number
 * stands for is stored with the graph version and lives as long.  Two values that differ in a byte
 * have two codes, even if their type calls them equal.
 *
 * Codes follow from the segment versions that the graph lists, which never change.  A process that
 * makes them again, for a device that has lost its replica, makes the same.
 */

/* Bytes of a code, and of a scaled integer, on the device. */
#define HG_GRAPH_CODE_WIDTH sizeof(uint16)
#define HG_GRAPH_SCALED_WIDTH sizeof(int64)

/* Maximum length in bytes of a value that has a code. */
#define HG_GRAPH_CODED_BYTES 128

/* The codes of a column, in shared memory. */
typedef struct HgGraphCodes
{
	dsa_pointer next; /* the next column's; invalid: there are no more */
	Size bytes;		  /* of this chunk */
	AttrNumber number;
	int scale; /* display scale of scaled integers, which have no codes; -1: codes */
	uint32 ncodes;
	uint32 starts[FLEXIBLE_ARRAY_MEMBER]; /* [ncodes] offsets of values from this struct */
} HgGraphCodes;

/* Returns the codes of a column of a pinned graph version, or NULL. */
extern const HgGraphCodes *hg_graph_codes_find(HgResidentGraph *graph, AttrNumber number);

/*
 * Allocates codes: *pointer, with ncodes elements of starts, and nbytes zeroes at *values.  scale
 * is that of HgGraphCodes.  Returns NULL if there is no memory.  The caller fills in starts and
 * values, and calls hg_graph_codes_link before anything can fail: no claim owns the chunk.
 */
extern HgGraphCodes *hg_graph_codes_allocate(AttrNumber number, int scale, uint32 ncodes,
											 Size nbytes, dsa_pointer *pointer, char **values);

/* Adds a column's codes to a graph version, which owns them from then on. */
extern void hg_graph_codes_link(HgResidentGraph *graph, dsa_pointer pointer);

/* Returns the bytes of the value that a code below codes->ncodes stands for. */
static inline const char *
hg_graph_code_value(const HgGraphCodes *codes, uint32 code)
{
	return (const char *) codes + codes->starts[code];
}

#endif /* HG_RESIDENT_GRAPH_VERSION_H */
