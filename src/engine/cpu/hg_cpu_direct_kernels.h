/*-------------------------------------------------------------------------
 *
 * hg_cpu_direct_kernels.h
 *	  The inner loops of direct addressing: what is done with many rows of a table at once.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_DIRECT_KERNELS_H
#define HG_CPU_DIRECT_KERNELS_H

#include "hg_cpu_job.h"

/* Keys that are looked at together. */
#define HG_CPU_DIRECT_BLOCK 256

/* Matches of a list that are written at once, and the places that may be read after the last. */
#define HG_CPU_DIRECT_LIST_STEP 16

/* What the kernels see of a table. */
typedef struct HgCpuDirectTable
{
	uint64_t least;
	uint64_t last; /* the greatest vertex */
	uint32_t *places;
	uint32_t *rows;
	bool far; /* not in the nearest caches */
} HgCpuDirectTable;

/* What they have counted. */
typedef struct HgCpuDirectTally
{
	uint64_t matches;
	uint64_t lists; /* that were not empty, of rows with a match */
} HgCpuDirectTally;

/* Extend bounds by some keys, as differences to first. */
typedef void (*HgCpuDirectBoundsKernel)(const void *keys, uint32_t n, uint64_t first,
										HgCpuBounds *bounds);

/*
 * The keys of the first edges, as many as have row numbers that follow each other, from *row on:
 * returns how many, n at most.
 */
typedef uint32_t (*HgCpuDirectEdgesKernel)(const void *edges, uint32_t n, void *keys,
										   uint32_t *row);

/* Enter inner rows, numbered from row on; true where a place was not empty. */
typedef bool (*HgCpuDirectEnterKernel)(const HgCpuDirectTable *table, const void *keys, uint32_t n,
									   uint32_t row);

/* Count the matches of outer rows, in a table of bits or counts. */
typedef void (*HgCpuDirectCountKernel)(const HgCpuDirectTable *table, const void *keys, uint32_t n,
									   HgCpuDirectTally *tally);

/*
 * Write the matches of outer rows, numbered from row on, as long as there is room; returns how many
 * of the rows are done.  Of the first that is not, *list_at rows of its list are.
 */
typedef uint32_t (*HgCpuDirectWriteKernel)(const HgCpuDirectTable *table, const void *keys,
										   uint32_t n, uint32_t row, uint32_t *list_at,
										   HgMatches *matches, HgCpuDirectTally *tally);

/* The kernels for a key width. */
typedef struct HgCpuDirectKernels
{
	HgCpuDirectBoundsKernel bounds;
	HgCpuDirectEdgesKernel edges;
	HgCpuDirectEnterKernel
		enter[HG_CPU_TABLE_LISTS + 1]; /* by HgCpuTableKind; of lists: count them */
	HgCpuDirectEnterKernel place;	   /* put a row into its list */
	HgCpuDirectCountKernel count[HG_CPU_TABLE_COUNTS + 1];
	HgCpuDirectWriteKernel write[HG_CPU_TABLE_LISTS + 1];
} HgCpuDirectKernels;

/* Those of the job's keys, with the instructions that this machine has. */
extern const HgCpuDirectKernels *hg_cpu_direct_kernels(const HgJob *job);

#endif /* HG_CPU_DIRECT_KERNELS_H */
