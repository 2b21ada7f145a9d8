/*-------------------------------------------------------------------------
 *
 * hg_cuda_kept.h
 *	  Kept graphs and columns in device memory: how they are made, kept and released, and how jobs
 *	  have them.
 *
 * A kept graph is a HashGraph like any other (hg_cuda_graph.h), and ordered, so that it can be the
 * inner side as well as the outer one.  Its keys are 8 bytes wide, whatever they were put as: so
 * graphs of either width line up, and with them what is appended to a job.  It has as many vertices
 * as its load factor of 1 makes them.  Graphs of different numbers of vertices meet by looking the
 * edges of one up in the lists of the other (hg_cuda_join.h).
 *
 * WHO OWNS WHAT.  While a graph is made its arrays are blocks of the job's work.  Kept, they are
 * nobody's but its own: charged to the device, and held until it is released.  A job that has kept
 * graphs reads their arrays where they are; of one with a mask it makes a copy that is without the
 * rows which do not count, and nothing behind build knows of masks, or of lookups, which come
 * before that (hg_cuda_kept_lookup.h).  Of columns it borrows the arrays.
 *
 * WHAT IS NEVER READ.  A graph is kept with the number that its rows' numbers in their parts are
 * below, which a kernel finds when it looks at the rows that were put.  A job whose columns have
 * not so many places a part is refused when it is opened, and so is one with lookups whose rows
 * have not.  So each row that comes out of a graph has its place in each of its columns, and in
 * what it has found, and kernels need not look: nothing that a caller says later comes in between.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_KEPT_H
#define HG_CUDA_KEPT_H

#include "../../src/engine/hg_kept.h"
#include "../kernels/hg_cuda_columns.h"
#include "../kernels/hg_cuda_graph.h"
#include "hg_cuda_kept_column.h"
#include "hg_cuda_kept_computed.h"
#include "hg_cuda_kept_filter.h"
#include "hg_cuda_kept_lookup.h"
#include "hg_cuda_kept_mask.h"

/* Bytes of a key in kept graphs, and in graphs that they meet. */
constexpr uint32_t HG_KEPT_KEY_WIDTH = 8;

/* A graph, or a column: what is of the other one is all zero. */
struct HgKept
{
	HgCudaDevice *device;
	HgCudaKeptColumn column;
	HgKeptShape shape;
	HgCudaGraph graph;
	uint32_t numbers; /* what the numbers of its rows in their parts are below */
	uint64_t offsets_bytes;
	uint64_t words_bytes;
	uint64_t rows_bytes;
};

/* The graph or the column that a job makes; all zero in a job that makes none. */
struct HgCudaMaking
{
	HgCudaKeptColumn column; /* shape.width is not 0 where it is one */
	HgKeptShape shape;		 /* key_width is not 0 where it is a graph */
	uint64_t *keys;			 /* [shape.rows], wide, in device memory; NULL before the first ones */
	uint32_t *rows;			 /* [shape.rows] */
	int32_t *narrow;		 /* [HG_APPEND_KEYS, or fewer]: keys of 4 bytes on their way */
	uint64_t count;			 /* edges that were put */
	uint32_t numbers;		 /* once it is built; see HgKept */
	HgCudaGraph graph;		 /* once it is built, until it is kept */
};

/* What a job has of a kept graph for a side; all zero where it has none. */
struct HgCudaKeptSide
{
	const HgKept *kept;
	HgCudaKeptMask mask;
	HgCudaKeptLookups lookups;
	HgCudaKeptFilters filters;
	HgCudaKeptComputed computed;
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
HgStatus hg_cuda_making_keep(HgCudaWork *work, HgCudaMaking *making, HgKept **kept, uint64_t *bytes,
							 HgError *error);

/* Give a kept graph or column back, on any thread. */
void hg_cuda_kept_release(HgKept *kept);

/*
 * Find the kept graph that a job is to have for a side, which may be none, and look for its
 * columns, and for those that its rows look up.  HG_NOT_KEPT where the device has none of that
 * shape, HG_INVALID where rows of a graph have no place.
 */
HgStatus hg_cuda_kept_side_open(HgCudaKeptSide *side, const HgCudaDevice *device,
								const HgJobSpec *spec, HgSide which, HgError *error);

/*
 * Have the columns of a kept graph, which were found, for a side, and its rows known by their
 * places then.  Those of what its rows find stand for what becomes of them in build, and those that
 * are computed are there from then on.  A side that is none stays as it is.
 */
void hg_cuda_kept_side_borrow(const HgJobSpec *spec, HgSide which, HgCudaColumns *columns,
							  HgCudaNumbers *numbers);

/* Give a part of a mask, as the engine's mask does. */
HgStatus hg_cuda_kept_side_mask(HgCudaWork *work, HgCudaKeptSide *side, uint32_t lookup,
								uint64_t first_word, uint64_t count, const uint64_t *words,
								HgError *error);

/* Is its graph the kept one, as it is, for which nothing needs to be done? */
static inline bool
hg_cuda_kept_side_is_whole(const HgCudaKeptSide *side)
{
	return side->mask.words == nullptr && side->lookups.count == 0 && side->computed.count == 0 &&
		   side->filters.all.nfilters == 0;
}

/*
 * The graph of the rows that count: the kept one, or a copy that is the work's.  First filters are
 * applied, of its rows and of what they look up; then its rows look up what they are to, with all
 * that hg_cuda_kept_lookups_run does, and columns are computed, for which it waits: HG_OVERFLOW
 * where that is not possible.  Else it returns when the last of it is launched.
 */
HgStatus hg_cuda_kept_side_graph(HgCudaWork *work, HgCudaKeptSide *side, HgCudaColumns *columns,
								 HgCudaGraph *graph, HgError *error);

/* The device memory that a job of kept graphs takes at most until the first chunk of its matches.
 */
uint64_t hg_cuda_kept_job_bytes(const HgJobSpec *spec);

#endif /* HG_CUDA_KEPT_H */
