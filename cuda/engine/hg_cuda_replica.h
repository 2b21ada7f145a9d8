/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica.h
 *	  Replicas of graphs and columns in device memory: how they are made, held and released, and how
 *	  jobs use
 *	  them.
 *
 * A graph replica is a HashGraph like any other (hg_cuda_graph.h), and ordered, so that it can be
 * the inner side as well as the outer one.  Its keys are 8 bytes wide, whatever they were put as:
 * so graphs of either width line up, and with them what is appended to a job.  It has as many
 * vertices as its load factor of 1 makes them.  Graphs of different numbers of vertices meet by
 * looking the edges of one up in the lists of the other (hg_cuda_join.h).
 *
 * WHO OWNS WHAT. While a graph is made its arrays are blocks of the job's work.  The arrays of a
 * replica are its own: charged to the device, and held until it is released.  A job that has graph
 * replicas reads their arrays where they are; of one with a mask it makes a copy that is without
 * the rows which do not count, and nothing behind build knows of masks, or of lookups, which come
 * before that (hg_cuda_replica_lookup.h).  Of columns it borrows the arrays.
 *
 * WHAT IS NEVER READ. A graph replica has the number that its rows' numbers in their parts are
 * below, which a kernel finds when it looks at the rows that were put.  A job whose columns have
 * not so many ordinals a part is refused when it is opened, and so is one with lookups whose rows
 * have not.  So each row that comes out of a graph has its place in each of its columns, and in
 * what it has found, and kernels need not look: nothing that a caller says later comes in between.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_REPLICA_H
#define HG_CUDA_REPLICA_H

#include "../../src/engine/hg_replica.h"
#include "../kernels/hg_cuda_columns.h"
#include "../kernels/hg_cuda_graph.h"
#include "hg_cuda_replica_column.h"
#include "hg_cuda_replica_computed.h"
#include "hg_cuda_replica_filter.h"
#include "hg_cuda_replica_lookup.h"
#include "hg_cuda_replica_mask.h"

/* Bytes of a key in graph replicas, and in graphs that they meet. */
constexpr uint32_t HG_REPLICA_KEY_WIDTH = 8;

/* A graph, or a column: what is of the other one is all zero. */
struct HgReplica
{
	HgCudaDevice *device;
	HgCudaReplicaColumn column;
	HgReplicaShape shape;
	HgCudaGraph graph;
	uint32_t numbers; /* what the numbers of its rows in their parts are below */
	uint64_t offsets_bytes;
	uint64_t words_bytes;
	uint64_t rows_bytes;
};

/* The graph or the column that a job makes; all zero in a job that makes none. */
struct HgCudaMaking
{
	HgCudaReplicaColumn column; /* shape.width is not 0 where it is one */
	HgReplicaShape shape;		/* key_width is not 0 where it is a graph */
	uint64_t *keys;	   /* [shape.rows], wide, in device memory; NULL before the first ones */
	uint32_t *rows;	   /* [shape.rows] */
	int32_t *narrow;   /* [HG_APPEND_KEYS, or fewer]: keys of 4 bytes on their way */
	uint64_t count;	   /* edges that were put */
	uint32_t numbers;  /* once it is built; see HgReplica */
	HgCudaGraph graph; /* once it is built, until it is a replica */
};

/* The replica that a job has for a side, and what belongs to it; all zero where it has none. */
struct HgCudaReplicaSide
{
	const HgReplica *replica;
	HgCudaReplicaMask mask;
	HgCudaReplicaLookups lookups;
	HgCudaReplicaFilters filters;
	HgCudaReplicaComputed computed;
};

/* Note what a spec wants to be made, which may be nothing. */
void hg_cuda_making_init(HgCudaMaking *making, const HgJobSpec *spec);

/* Put edges, as the engine's put_edges does. */
HgStatus hg_cuda_making_put(HgCudaWork *work, HgCudaMaking *making, const void *keys,
							const uint32_t *rows, uint64_t count, HgError *error);

/*
 * Build the graph, with the marks of hg_cuda_graph_build.  HG_INVALID where edges are missing, or
 * one has a row that can't be: nothing is done then.
 */
HgStatus hg_cuda_making_build(HgCudaWork *work, HgCudaMaking *making, HgError *error);

/*
 * Take the graph or the column, which is built, out of the work.  HG_INVALID where there is none
 * any more.
 */
HgStatus hg_cuda_making_take_replica(HgCudaWork *work, HgCudaMaking *making, HgReplica **replica,
									 uint64_t *bytes, HgError *error);

/* Release a replica, on any thread. */
void hg_cuda_replica_release(HgReplica *replica);

/*
 * Find the graph replica that a job is to have for a side, which may be none, and look for its
 * columns, and for those that its rows look up.  HG_NO_REPLICA where the device has none of that
 * shape, HG_INVALID where rows of a graph have no ordinal.
 */
HgStatus hg_cuda_replica_side_open(HgCudaReplicaSide *side, const HgCudaDevice *device,
								   const HgJobSpec *spec, HgSide which, HgError *error);

/*
 * Have the columns of a graph replica, which were found, for a side, and its rows known by their
 * ordinals then.  Those of what its rows find stand for what becomes of them in build, and those
 * that are computed are there from then on.  A side that is none stays as it is.
 */
void hg_cuda_replica_side_borrow(const HgJobSpec *spec, HgSide which, HgCudaColumns *columns,
								 HgCudaNumbers *numbers);

/* Give a part of a mask, as the engine's mask does. */
HgStatus hg_cuda_replica_side_mask(HgCudaWork *work, HgCudaReplicaSide *side, uint32_t lookup,
								   uint64_t first_word, uint64_t count, const uint64_t *words,
								   HgError *error);

/* True if its graph is the replica as it is, for which nothing needs to be done. */
static inline bool
hg_cuda_replica_side_is_whole(const HgCudaReplicaSide *side)
{
	return side->mask.words == nullptr && side->lookups.count == 0 && side->computed.count == 0 &&
		   side->filters.all.nfilters == 0;
}

/*
 * The graph of the rows that count: the replica, or a copy that is the work's.  First filters are
 * applied, of its rows and of what they look up; then its rows look up what they are to, with all
 * that hg_cuda_replica_lookups_run does, and columns are computed, for which it waits: HG_OVERFLOW
 * where that is not possible.  Else it returns when the last of it is launched.
 */
HgStatus hg_cuda_replica_side_graph(HgCudaWork *work, HgCudaReplicaSide *side,
									HgCudaColumns *columns, HgCudaGraph *graph, HgError *error);

/* The device memory that a job of graph replicas takes at most until the first chunk of its
 * matches.
 */
uint64_t hg_cuda_replica_job_bytes(const HgJobSpec *spec);

#endif /* HG_CUDA_REPLICA_H */
