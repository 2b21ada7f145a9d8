/*-------------------------------------------------------------------------
 *
 * hg_cpu_direct_kernels.h
 *	  The inner loops of direct addressing, for many rows of a table at once.
 *
 * Direct addressing: the vertex of a key is its difference to the least inner key, and a table has
 * an entry for each vertex (HgCpuTableKind). Keys are n words of the job's key width.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_DIRECT_KERNELS_H
#define HG_CPU_DIRECT_KERNELS_H

#include "hg_cpu_job.h"

/* Keys that are processed together. */
#define HG_CPU_DIRECT_BLOCK 256

/* Matches of a list that are written at once; the entries read may end this far after the last. */
#define HG_CPU_DIRECT_LIST_STEP 16

/* The kernels' view of a table. */
typedef struct HgCpuDirectTable
{
	uint64_t least;
	uint64_t last;	   /* the greatest vertex */
	uint32_t *entries; /* by vertex: HgCpuDirect.table */
	uint32_t *rows;	   /* of lists: HgCpuDirect.rows */
	bool far;		   /* not in the nearest caches */
} HgCpuDirectTable;

/* Counters of the kernels. */
typedef struct HgCpuDirectTally
{
	uint64_t matches;
	uint64_t lists; /* non-empty lists of outer rows with a match */
} HgCpuDirectTally;

/* Extends bounds to n more keys, as signed differences to first. */
typedef void (*HgCpuDirectBoundsKernel)(const void *keys, uint32_t n, uint64_t first,
										HgCpuBounds *bounds);

/*
 * Copies the keys of the first edges whose row numbers are consecutive, and returns how many. *row
 * becomes the first number.
 */
typedef uint32_t (*HgCpuDirectEdgesKernel)(const void *edges, uint32_t n, void *keys,
										   uint32_t *row);

/*
 * Enters inner rows, numbered from row on, into a table. Returns true if an entry was not empty, so
 * that a key repeats; for counts and lists always false.
 */
typedef bool (*HgCpuDirectEnterKernel)(const HgCpuDirectTable *table, const void *keys, uint32_t n,
									   uint32_t row);

/* Adds to *tally the matches of n outer rows, by a table of bits or counts. */
typedef void (*HgCpuDirectCountKernel)(const HgCpuDirectTable *table, const void *keys, uint32_t n,
									   HgCpuDirectTally *tally);

/*
 * Writes the matches of n outer rows, numbered from row on, behind matches->count, as long as there
 * is room. Returns how many rows are finished. *list_at is the number of rows of the first row's
 * list that were written before, and becomes that of the first unfinished row.
 */
typedef uint32_t (*HgCpuDirectWriteKernel)(const HgCpuDirectTable *table, const void *keys,
										   uint32_t n, uint32_t row, uint32_t *list_at,
										   HgMatches *matches, HgCpuDirectTally *tally);

/* The kernels for a key width and an instruction set. */
typedef struct HgCpuDirectKernels
{
	HgCpuDirectBoundsKernel bounds;
	HgCpuDirectEdgesKernel edges;
	HgCpuDirectEnterKernel
		enter[HG_CPU_TABLE_LISTS + 1]; /* by HgCpuTableKind; for lists it counts them */
	HgCpuDirectEnterKernel scatter;	   /* puts rows into their lists */
	HgCpuDirectCountKernel count[HG_CPU_TABLE_COUNTS + 1];
	HgCpuDirectWriteKernel write[HG_CPU_TABLE_LISTS + 1];
} HgCpuDirectKernels;

/* Returns the kernels for the job's key width and this machine's instructions. */
extern const HgCpuDirectKernels *hg_cpu_direct_kernels(const HgJob *job);

#endif /* HG_CPU_DIRECT_KERNELS_H */
