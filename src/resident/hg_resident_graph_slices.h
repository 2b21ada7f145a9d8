/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_slices.h
 *	  How a graph version is cut into slices, which several devices have one each of.
 *
 * A graph that is too large for one device, or is joined with one that is, is cut over several
 * (engine/hg_slices.h).  What tells which rows a slice has lies beside the version as long as that
 * is there: who has pinned the version can use it.  Where other devices are to have it, it is cut
 * again, and how it was cut before stays, for whoever uses it, and for when it is cut so again.
 *
 * The memory that it takes is a bit of each row for each slice.  What rows a slice has follows from
 * how many slices there are: so ways to cut it into as many, for other devices, share their bits.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_GRAPH_SLICES_H
#define HG_RESIDENT_GRAPH_SLICES_H

#include "hg_compat.h"

#include "engine/hg_slices.h"
#include "resident/hg_resident_device_copy.h"
#include "resident/hg_resident_memory.h"

/* How it is cut, in shared memory: immutable once it is linked, but for the notes of copies. */
typedef struct HgGraphSlices
{
	dsa_pointer next; /* another way in which it was cut; invalid: there are no more */
	bool borrows;	  /* the arrays below are those of another way, which stays as long */
	HgDeviceSet device_set;  /* of the devices: the first of them has slice 0, and so on */
	uint32 count;	  /* of slices */
	uint32 parts;
	Size bytes;			/* of all of it */
	dsa_pointer words;	/* uint32[parts]; these three are those of HgSlices */
	dsa_pointer before; /* uint64[count * (parts + 1)] */
	dsa_pointer bits;	/* dsa_pointer[parts], of uint64[count * words[part]]; invalid: no words */
	HgDeviceCopy copies[HG_GPU_DEVICES]; /* by place, of the slice that it has */
	HgDeviceCopy columns[HG_GRAPH_DEVICE_COLUMNS][HG_GPU_DEVICES]; /* of columns of its rows */
} HgGraphSlices;

static inline HgGraphSlices *
hg_graph_slices(dsa_pointer slices)
{
	return hg_resident_address(slices);
}

/*
 * How a version is cut along with another one of its table (hg_resident_graph_along.h), in shared
 * memory, immutable as well: which rows a slice has is told by the bits of that.
 */
typedef struct HgGraphAlong
{
	dsa_pointer next;  /* another way in which it was, before; invalid: there are no more */
	uint64 with;	   /* the serial number of the version that it is cut along with ... */
	AttrNumber column; /* ... which is by that */
	HgDeviceSet device_set;   /* over which that is cut */
	uint32 count;	   /* of slices */
	uint32 cut;		   /* its number: of this version no other way has it */
	uint64 rows[HG_GPU_DEVICES];		 /* of each slice */
	HgDeviceCopy copies[HG_GPU_DEVICES]; /* by place, of the slice that it has */
} HgGraphAlong;

static inline HgGraphAlong *
hg_graph_along(dsa_pointer along)
{
	return hg_resident_address(along);
}

/* The number of the slice that the device of a place has, which is one of these. */
extern uint32 hg_graph_slice_at(const HgGraphSlices *slices, int device_no);

/*
 * Make room for how a graph is cut over these devices, words[parts] of each slice, with no bit set:
 * all its maker's.  InvalidDsaPointer where there is no room.
 */
extern dsa_pointer hg_graph_slices_make(HgResidentClaim *claim, HgDeviceSet device_set, uint32 parts,
										const uint32 *words);

/* The same for other places, as many as these: whose arrays it has. */
extern dsa_pointer hg_graph_slices_make_like(HgResidentClaim *claim, HgDeviceSet device_set,
											 const HgGraphSlices *other);

/*
 * The arrays of it at addresses of this process, through which its maker sets the bits: pointers to
 * those of parts are in context.
 */
extern void hg_graph_slices_view(const HgGraphSlices *slices, MemoryContext context,
								 HgSlices *view);

/* All bits are set: count them. */
extern void hg_graph_slices_count(const HgGraphSlices *slices, const HgSlices *view);

/* Have copies all that are to have one, as far as is known here?  Of a column, by its place. */
extern bool hg_graph_slices_are_replicated(HgGraphSlices *slices, const HgReplicaHolders *holders);
extern bool hg_graph_slices_have_column(HgGraphSlices *slices, int column,
										const HgReplicaHolders *holders);

/* Devices are told to let go of all copies: none is there any more. */
extern void hg_graph_slices_forget(HgGraphSlices *slices);

/* Bytes of all copies. */
extern Size hg_graph_slices_replica_bytes(HgGraphSlices *slices, const HgReplicaHolders *holders);

/* Free it, and all others from there on. */
extern void hg_graph_slices_free(dsa_pointer slices);

/* Bytes of a way to be cut along and all others from there on, and of all copies; and free them. */
extern Size hg_graph_along_host_bytes(dsa_pointer along);
extern Size hg_graph_along_replica_bytes(dsa_pointer along, const HgReplicaHolders *holders);
extern void hg_graph_along_free(dsa_pointer along);

#endif /* HG_RESIDENT_GRAPH_SLICES_H */
