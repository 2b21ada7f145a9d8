/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_version.h
 *	  Graph versions: HashGraphs of keys of a table, immutable once they are published.
 *
 * A graph version is a flat HashGraph (engine/hg_flat.h) of the rows of some segment versions, one
 * of each segment at most: row numbers are made of the number of the segment and of the row in it.
 * It LISTS these versions by their serial numbers, which no two versions ever have the same of.  A
 * version whose rows it can't have is listed as PASSED OVER.
 *
 * A DEVICE may have a copy of a version (engine/hg_replica.h), which goes by its serial number, and
 * beside it copies of columns of its rows that joins have asked for.  One that is too large for a
 * device, alone or with what joins need beside it (hg_resident_graph_needs.h), is partitioned over
 * several instead, each of which has a partition, and so is one that is to be joined with such a
 * one (hg_resident_graph_partitions.h).  By another key the rows of one that is partitioned are
 * co-partitioned with it, where they look others up (hg_resident_graph_copartition.h).
 *
 * USERS are those of a segment version: the directory as long as its entry names it, and each
 * process that has pinned it; the last one to let go frees it.
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
#include "resident/hg_resident_graph_needs.h"
#include "resident/hg_resident_graph_partitions.h"
#include "resident/hg_resident_memory.h"

StaticAssertDecl(HG_SEGMENT_ROWS < (1 << HG_FLAT_ROW_BITS), "segments are larger than parts");

/*
 * Most segments of a table that has a graph.  Numbers of parts above these are for rows that a
 * query reads itself.
 */
#define HG_GRAPH_SEGMENTS 4096

StaticAssertDecl(HG_GRAPH_SEGMENTS < HG_FLAT_PARTS, "no number of a part is left");

/* A version is passed over: a value of the key lies out of line, where a loader must not look. */
#define HG_GRAPH_PASSED (UINT64CONST(1) << 63)

/*
 * A graph of so many rows is given to every device that it is not too large for.  Those of more
 * rows have a home, the device that has most room when they come, until it refuses them, and go to
 * others where joins ask for that, because what they are joined with is there.
 */
#define HG_GRAPH_EVERYWHERE_ROWS (1 << 20)

/*
 * A column that no join has asked for in so many ms gives its place to another, where there is
 * none; or is not the next version's any more.
 */
#define HG_GRAPH_COLUMN_IDLE_MS (60 * 1000)
#define HG_GRAPH_COLUMN_END_MS (60 * 60 * 1000)

typedef struct HgGraphColumn
{
	pg_atomic_uint32 number;			 /* of the table's; 0: none has asked for this one */
	pg_atomic_uint64 used_at;			 /* when one asked last */
	HgDeviceCopy copies[HG_GPU_DEVICES]; /* by place */
	HgReplicaColumnShape shape;			 /* valid once there is a copy */
} HgGraphColumn;

/* Most other graphs of its table that a graph is asked to be co-partitioned with. */
#define HG_GRAPH_COPARTITIONS 4

/* Most sets of graphs that a graph's rows are known to find too many rows in. */
#define HG_GRAPH_AMBIGUOUS 8

typedef struct HgGraphCopartitionRequest
{
	pg_atomic_uint32 column;  /* by which that is; 0: none */
	pg_atomic_uint64 used_at; /* when a join asked for it last */
} HgGraphCopartitionRequest;

/* A graph version, in shared memory. */
typedef struct HgResidentGraph
{
	HgGraphKey key;
	HgFlatShape shape;
	uint64 rows;
	uint64 bytes;			/* of all of it */
	pg_atomic_uint32 users; /* the directory, and each pin */
	pg_atomic_uint32 pins;
	pg_atomic_uint64 used_at; /* when a join used it last; 0: never */
	TimestampTz made_at;
	double made_ms;			  /* what making it took */
	bool merged;			  /* of an older one, and what had changed */
	uint64 serial;			  /* by which a device knows it, which no other version ever has */
	pg_atomic_uint32 offered; /* 1 where a device was to have any of it, else 0 */
	pg_atomic_uint32 homes;	  /* HgDeviceSet: of large ones, the home, and where joins want it */
	pg_atomic_uint32
		partitioning;			/* HgDeviceSet over which it is to be partitioned; 0: it is not */
	pg_atomic_uint32 too_large; /* not 0: for a device alone */
	pg_atomic_uint64 chosen_at; /* when cut was chosen last */
	pg_atomic_uint64
		partitioning_at;		 /* when there was no room for how it is partitioned; 0: never */
	pg_atomic_uint64 partitions; /* dsa_pointer to how it is partitioned; invalid: it is not */
	pg_atomic_uint64 all_partitions;	 /* dsa_pointer to the first of all ways in which it was */
	HgDeviceCopy copies[HG_GPU_DEVICES]; /* by place */
	HgGraphColumn columns[HG_GRAPH_DEVICE_COLUMNS]; /* that were asked for */
	HgGraphCopartitionRequest copartition[HG_GRAPH_COPARTITIONS];
	HgGraphWishes wishes;
	pg_atomic_uint64
		copartitions; /* dsa_pointer to the last way in which it was co-partitioned; or invalid */
	pg_atomic_uint64 copartition_at; /* when there was no room for another one; 0: never */
	pg_atomic_uint64 codes;			 /* dsa_pointer to those of the first column that has some */
	/* see hg_resident_graph_note_ambiguous(); 0: none; the next one goes in that place, modulo all
	 */
	pg_atomic_uint64 ambiguous[HG_GRAPH_AMBIGUOUS];
	pg_atomic_uint32 next_ambiguous;
	pg_atomic_uint32 lost; /* see hg_resident_graph_note_lost() */
	uint32 nsegments;
	dsa_pointer serials; /* uint64[nsegments] of the versions whose rows it has; 0: of none; with
						  * HG_GRAPH_PASSED: of one that it has none of */
	dsa_pointer bins;	 /* dsa_pointer[1 << shape.bins_log2]; invalid: an empty bin */
} HgResidentGraph;

static inline HgResidentGraph *
hg_graph_version(dsa_pointer graph)
{
	return hg_resident_address(graph);
}

/*
 * Make a version without rows, which is all its maker's: its bins are empty, and so is its list.
 * InvalidDsaPointer where there is no room.
 */
extern dsa_pointer hg_graph_version_make(HgResidentClaim *claim, const HgGraphKey *key,
										 const HgFlatShape *shape, uint32 nsegments);

/* The list of a version, which its maker fills in. */
extern uint64 *hg_graph_version_serials(const HgResidentGraph *graph);

/* Room for a bin with so many rows, which the maker fills in; NULL where there is none. */
extern void *hg_graph_version_add_bin(HgResidentClaim *claim, HgResidentGraph *graph, uint32 bin,
									  Size bytes, uint64 rows);

/* The bins of a version at addresses of this process, in bins[1 << shape.bins_log2]. */
extern void hg_graph_version_bins(const HgResidentGraph *graph, const HgFlatBin **bins);

/* One more process.  The caller knows that there is a user who does not go meanwhile. */
extern void hg_graph_version_pin(HgResidentGraph *graph);

/* It is gone again; the last user frees the version.  Does not fail. */
extern void hg_graph_version_release(dsa_pointer graph);

/* The directory's use ends. */
extern void hg_graph_version_retire(dsa_pointer graph);

static inline bool
hg_graph_version_is_pinned(HgResidentGraph *graph)
{
	return pg_atomic_read_u32(&graph->pins) > 0;
}

/* A version, or a column of it, is going to be given to a device. */
extern void hg_graph_version_offer(HgResidentGraph *graph);

/* The places that are to have copies of a version. */
extern HgDeviceSet hg_graph_version_homes(HgResidentGraph *graph, const HgReplicaHolders *holders);

/* Is it to have a home, and has none yet among those? */
extern bool hg_graph_version_lacks_home(HgResidentGraph *graph, const HgReplicaHolders *holders);

/* Have it get a copy at these places, too; or at this one no more, which has no room for it. */
extern void hg_graph_version_add_homes(HgResidentGraph *graph, HgDeviceSet device_set);
extern void hg_graph_version_remove_home(HgResidentGraph *graph, int device_no);

/*
 * The places over which a version is to be partitioned, or 0: also where one of them is lost; one
 * may have no process now.  Have it partitioned over these, as it is too large for any of them, or
 * is to be joined with one that is.
 */
extern HgDeviceSet hg_graph_version_partitioning(HgResidentGraph *graph,
												 const HgReplicaHolders *holders);
extern void hg_graph_version_set_partitioning(HgResidentGraph *graph, HgDeviceSet device_set,
											  bool too_large);

/*
 * A version is going to be in partitions instead of whole, for the first time: where no whole copy
 * of it is wanted, have devices let go of those that they have, whose room the partitions need.
 * Whoever asks for one meanwhile is told that it is not there.
 */
extern void hg_graph_version_end_whole(HgResidentGraph *graph);

/*
 * Has a join told that it needs more together than may fit a device, and the version is not
 * partitioned?
 */
extern bool hg_graph_version_is_in_need(HgResidentGraph *graph, const HgReplicaHolders *holders);

/*
 * Has one that is too large been partitioned for a while, and is there a process that has no part
 * in it?
 */
extern bool hg_graph_version_may_widen(HgResidentGraph *graph, const HgReplicaHolders *holders);

/*
 * How it is partitioned; NULL: it is not.  Ways in which it was partitioned already: over these
 * devices, invalid where it was not, and into so many partitions, or NULL. Link how it is
 * partitioned from now on, which is one of these or new, or invalid: there was no room to tell.
 */
extern HgGraphPartitions *hg_graph_version_partitions(HgResidentGraph *graph);
extern dsa_pointer hg_graph_version_partitions_over(HgResidentGraph *graph, HgDeviceSet device_set);
extern HgGraphPartitions *hg_graph_version_partitions_into(HgResidentGraph *graph, uint32 count);
extern void hg_graph_version_link_partitions(HgResidentGraph *graph, dsa_pointer partitions);

/*
 * The notes of copies, by place: of the whole graph, or of partitions; and of one of its columns.
 */
extern HgDeviceCopy *hg_graph_version_copies(HgResidentGraph *graph, HgGraphPartitions *partitions);
extern HgDeviceCopy *hg_graph_version_column_copies(HgResidentGraph *graph,
													HgGraphPartitions *partitions, int column);

/* Is that to be found out, for the places over which it is to be partitioned? */
extern bool hg_graph_version_is_to_be_partitioned(HgResidentGraph *graph,
												  const HgReplicaHolders *holders);

/* Is a version, or one of its columns, to be given to a device process, or to get a home? */
extern bool hg_graph_version_is_due(HgResidentGraph *graph, const HgReplicaHolders *holders);

/* What a copy of a version goes by on a device, and its shape there; of a column: by its number. */
extern HgReplicaName hg_graph_version_name(const HgResidentGraph *graph, AttrNumber column);
extern HgReplicaShape hg_graph_version_shape(const HgResidentGraph *graph);

/* What a device needs for a copy of a version, at least. */
extern uint64 hg_graph_version_least_bytes(const HgResidentGraph *graph);

/*
 * The process of this epoch at a place has answered what is not there any more: note that of a
 * version and its columns, or of its partitions of them, which is.  True if some is.
 */
extern bool hg_graph_version_set_gone(HgResidentGraph *graph, bool partitioned, int device_no,
									  uint64 epoch, const HgMissingReplicas *missing);

/* Is a copy of it somewhere, or is a partition everywhere, as far as is known here? */
extern bool hg_graph_version_is_replicated(HgResidentGraph *graph, const HgReplicaHolders *holders);

/* Bytes of a version, with those of how it was partitioned. */
extern Size hg_graph_version_host_bytes(HgResidentGraph *graph);

/* Bytes of all that device processes have of a version. */
extern Size hg_graph_version_replica_bytes(HgResidentGraph *graph, const HgReplicaHolders *holders);

/*
 * Ask for a column of the table.  Its place among those that were asked for: the one that it has, a
 * free one, or that of an idle one; -1: there is none.
 */
extern int hg_graph_version_ask_column(HgResidentGraph *graph, AttrNumber number);

/* Ask for all that was asked for lately, and where, of another one, which this one takes the place
 * of. */
extern void hg_graph_version_ask_same(HgResidentGraph *graph, HgResidentGraph *other);

/* When a join used it last. */
static inline TimestampTz
hg_graph_version_used_at(HgResidentGraph *graph)
{
	return (TimestampTz) pg_atomic_read_u64(&graph->used_at);
}

#endif /* HG_RESIDENT_GRAPH_VERSION_H */
