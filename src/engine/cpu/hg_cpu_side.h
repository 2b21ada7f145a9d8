/*-------------------------------------------------------------------------
 *
 * hg_cpu_side.h
 *	  The runs of a side, and walks over its rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_SIDE_H
#define HG_CPU_SIDE_H

#include "hg_cpu_job.h"

/* A walk over the keys of a side in the order of append. */
typedef struct HgCpuScan
{
	const HgHostSide *side;
	size_t piece; /* the current piece */
	uint64_t at;  /* the next key in that piece */
} HgCpuScan;

/* A walk over edges of a bin, from run to run. */
typedef struct HgCpuWalk
{
	const HgCpuSide *side;
	uint32_t bin;
	size_t run;	   /* the current run */
	uint64_t at;   /* the next edge of the bin in that run */
	uint64_t left; /* edges still to come */
} HgCpuWalk;

/*
 * Adds a run to a side. bytes is the size of the run's memory, which the job then owns. 0 means
 * shared memory that the job does not free. On failure the run stays the caller's.
 */
extern HgStatus hg_cpu_run_add(HgJob *job, HgCpuSide *side, HgCpuRunHeader *header, uint64_t bytes,
							   HgError *error);

/* Returns the number of a bin's edges in all runs of a side. */
extern uint64_t hg_cpu_bin_rows(const HgCpuSide *side, uint32_t bin);

/* Stores the number of edges of the largest bin of a side in *rows. Polls for cancellation. */
extern HgStatus hg_cpu_biggest_bin(HgJob *job, const HgCpuSide *side, uint64_t *rows,
								   HgError *error);

/* Starts a walk over the keys of a side. */
static inline void
hg_cpu_scan_init(HgCpuScan *scan, const HgHostSide *side)
{
	scan->side = side;
	scan->piece = 0;
	scan->at = 0;
}

/*
 * Returns how many keys come next, at most max; 0 at the end. The keys are contiguous from *keys.
 * The first has row number *row, and each next one 1 more.
 */
static inline uint32_t
hg_cpu_scan_next(HgCpuScan *scan, uint32_t key_width, uint32_t max, const void **keys,
				 uint32_t *row)
{
	const HgHostPiece *piece;
	uint64_t left;
	uint32_t count;

	if (scan->piece == scan->side->piece_count)
		return 0;

	piece = &scan->side->pieces[scan->piece];
	left = piece->count - scan->at;
	count = left < max ? (uint32_t) left : max;
	*keys = (const char *) piece->keys + scan->at * key_width;
	*row = piece->first_row + (uint32_t) scan->at;

	scan->at += count;
	if (scan->at == piece->count)
	{
		scan->piece++;
		scan->at = 0;
	}
	return count;
}

/* Starts a walk over rows edges of a bin, beginning with edge from. All of them must exist. */
static inline void
hg_cpu_walk_init(HgCpuWalk *walk, const HgCpuSide *side, uint32_t bin, uint64_t from, uint64_t rows)
{
	walk->side = side;
	walk->bin = bin;
	walk->run = 0;
	walk->at = from;
	walk->left = rows;
}

/* Returns the number of the next edges, at most max, and 0 at the end; *edges points to them. */
static inline uint32_t
hg_cpu_walk_next(HgCpuWalk *walk, size_t edge_size, uint32_t max, const void **edges)
{
	while (walk->left > 0)
	{
		const HgCpuRun *run = &walk->side->runs[walk->run];
		uint32_t start = run->starts[walk->bin];
		uint64_t in_run = run->starts[walk->bin + 1] - start;
		uint64_t count;

		if (walk->at >= in_run)
		{
			walk->at -= in_run;
			walk->run++;
			continue;
		}
		count = in_run - walk->at;
		count = count < walk->left ? count : walk->left;
		count = count < max ? count : max;
		*edges = (const char *) run->edges + (start + walk->at) * edge_size;
		walk->at += count;
		walk->left -= count;
		return (uint32_t) count;
	}
	return 0;
}

#endif /* HG_CPU_SIDE_H */
