/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica.h
 *	  Replicas of graphs and columns in device memory: how they are made and released, and how
 *	  jobs use them.
 *
 * A graph replica is a HashGraph like any other (hg_cuda_graph.h). It is ordered, so that it can
 * be either side of a join. Its keys are 8 bytes wide, whatever width they were put with, so that
 * graphs of both widths and appended keys can be joined. It has as many vertices as a load factor
 * of 1 gives. Graphs of different numbers of vertices are joined by looking the edges of one up in
 * the lists of the other (hg_cuda_join.h).
 *
 * OWNERSHIP. While a replica is made, its arrays are blocks of the job's work. The arrays of a
 * finished replica are its own: they are charged to the device until the replica is released. A
 * job reads the arrays of its graph and column replicas in place. If a graph has a mask, the job
 * makes a copy without the masked rows. Masks and lookups (hg_cuda_replica_column.h) come before
 * build, which applies them; after build the job does not need them.
 *
 * BOUNDS. A graph replica knows an upper bound of its rows' numbers within their parts, which a
 * kernel finds in the rows that were put. A job whose columns or lookups have fewer ordinals per
 * part than this bound is refused when it is opened. So each row of a graph has an ordinal in each
 * of its columns and lookups, and kernels need not check it.
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

/* Bytes of a key in graph replicas, and in graphs that they are joined with. */
constexpr uint32_t HG_REPLICA_KEY_WIDTH = 8;

/* A graph or a column; the fields of the other one are zero. */
struct HgReplica
{
	HgCudaDevice *device;
	HgCudaReplicaColumn column;
	HgReplicaShape shape;
	HgCudaGraph graph;
	uint32_t numbers; /* the numbers of its rows within their parts are below this */
	uint64_t offsets_bytes;
	uint64_t words_bytes;
	uint64_t rows_bytes;
};

/* The graph or the column that a job makes; all zero in a job that makes none. */
struct HgCudaMaking
{
	HgCudaReplicaColumn column; /* shape.width is not 0 if the job makes a column */
	HgReplicaShape shape;		/* key_width is not 0 if the job makes a graph */
	uint64_t *keys;	   /* [shape.rows] of 8 bytes, in device memory; NULL before the first put */
	uint32_t *rows;	   /* [shape.rows] */
	int32_t *narrow;   /* [min(HG_APPEND_KEYS, shape.rows)]: buffer for keys of 4 bytes */
	uint64_t count;	   /* edges that were put so far */
	uint32_t numbers;  /* after build; see HgReplica */
	HgCudaGraph graph; /* after build, until it is taken as a replica */
};

/* The replica that is a job's side, and what belongs to it; all zero if there is none. */
struct HgCudaReplicaSide
{
	const HgReplica *replica;
	HgCudaReplicaMask mask;
	HgCudaReplicaLookups lookups;
	HgCudaReplicaFilters filters;
	HgCudaReplicaComputed computed;
};

/* Initializes *making with the shape of the replica that the spec asks to be made, if any. */
void hg_cuda_making_init(HgCudaMaking *making, const HgJobSpec *spec);

/* Puts count edges, as the engine's put_edges does, and waits for the copies. */
HgStatus hg_cuda_making_put(HgCudaWork *work, HgCudaMaking *making, const void *keys,
							const uint32_t *rows, uint64_t count, HgError *error);

/*
 * Builds the graph, with the marks of hg_cuda_graph_build. HG_INVALID, before anything is done, if
 * edges are missing, or one has a row number out of range.
 */
HgStatus hg_cuda_making_build(HgCudaWork *work, HgCudaMaking *making, HgError *error);

/*
 * Takes the built graph or column out of the work as a replica, which the caller releases; *bytes
 * is its device memory. HG_INVALID if there is none, or it was taken.
 */
HgStatus hg_cuda_making_take_replica(HgCudaWork *work, HgCudaMaking *making, HgReplica **replica,
									 uint64_t *bytes, HgError *error);

/* Releases a replica, on any thread. It does not wait. */
void hg_cuda_replica_release(HgReplica *replica);

/*
 * Finds the graph replica of a job's side, if it has one, and those of its columns, filters and
 * lookups. HG_NO_REPLICA if one is missing or has another shape; HG_INVALID if rows have no
 * ordinal.
 */
HgStatus hg_cuda_replica_side_open(HgCudaReplicaSide *side, const HgCudaDevice *device,
								   const HgJobSpec *spec, HgSide which, HgError *error);

/*
 * Sets a side's columns to those of its column replicas, without a copy, and gives its rows
 * ordinals. For columns of looked-up rows this is a placeholder that build replaces; computed
 * columns are not set. Does nothing if the side is no replica.
 */
void hg_cuda_replica_side_attach(const HgJobSpec *spec, HgSide which, HgCudaColumns *columns,
								 HgCudaNumbers *numbers);

/* Puts a part of the mask of the side (lookup 0) or of a lookup, as the engine's mask does. */
HgStatus hg_cuda_replica_side_mask(HgCudaWork *work, HgCudaReplicaSide *side, uint32_t lookup,
								   uint64_t first_word, uint64_t count, const uint64_t *words,
								   HgError *error);

/* Returns true if the side's graph is the replica unchanged, so that build has nothing to do. */
static inline bool
hg_cuda_replica_side_is_whole(const HgCudaReplicaSide *side)
{
	return side->mask.words == nullptr && side->lookups.count == 0 && side->computed.count == 0 &&
		   side->filters.all.nfilters == 0;
}

/*
 * Makes the graph of the rows that count: the replica, or a copy in the work. It applies the
 * filters of the rows and of what they look up, runs the lookups (hg_cuda_replica_lookups_run),
 * and computes columns, for which it waits: HG_OVERFLOW if a computed number does not fit. Without
 * computed columns it returns when all is launched.
 */
HgStatus hg_cuda_replica_side_graph(HgCudaWork *work, HgCudaReplicaSide *side,
									HgCudaColumns *columns, HgCudaGraph *graph, HgError *error);

/* Upper bound on the device memory of a job with replicas until the first chunk of matches. */
uint64_t hg_cuda_replica_job_bytes(const HgJobSpec *spec);

#endif /* HG_CUDA_REPLICA_H */
