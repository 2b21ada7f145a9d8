/*-------------------------------------------------------------------------
 *
 * hg_cpu_phases.h
 *	  The phases of a job of the CPU engine: runs, graphs, build, statistics, matches.
 *
 * A run holds rows of a side in the order of their bins (hg_cpu_job.h). Functions with an HgError
 * return a status of hg_engine.h, and poll for cancellation. hg_cpu.c calls them once the job's
 * state allows it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_PHASES_H
#define HG_CPU_PHASES_H

#include "hg_cpu_job.h"
#include "hg_cpu_side.h"

/* hg_cpu_run.c: runs: rows copied in the order of their bins, the first half of Algorithm 2 */

/* Copies all appended rows of a side to runs; a shared job's belong to all participants. */
extern HgStatus hg_cpu_bin_side(HgJob *job, HgSide which, HgError *error);

/* hg_cpu_graph.c: builds a HashGraph on the CPU: Algorithm 1 of the paper */

/* Allocates job->graphs[which] for up to rows edges; the job's close frees it. */
extern HgStatus hg_cpu_graph_reserve(HgJob *job, HgSide which, uint64_t rows, HgError *error);

/* Turns the n counts in offsets[0..n) into running sums; *longest is the largest count. */
extern HgStatus hg_cpu_offsets_sum(HgJob *job, uint32_t *offsets, uint64_t n, uint32_t *longest,
								   HgError *error);

/* Builds a side's graph from edges from .. from + rows - 1 of a bin. It must be reserved. */
extern HgStatus hg_cpu_graph_bin(HgJob *job, HgSide which, uint32_t bin, uint64_t from,
								 uint64_t rows, HgError *error);

/* Builds a side's whole graph of its appended keys, after hg_cpu_graph_reserve(). */
extern HgStatus hg_cpu_graph_pieces(HgJob *job, HgSide which, HgError *error);

/* hg_cpu_build.c: chooses the shape of a job of the CPU engine, and builds it */

/*
 * The engine's build: chooses the shape of a job whose rows have been appended, in a shared job
 * together with the other participants. Builds what does not wait for match or count.
 */
extern HgStatus hg_cpu_build(HgJob *job, HgError *error);

/* hg_cpu_describe.c: describes and exports a HashGraph of the CPU engine */

/* Describes the graph of a side as the engine's describe; distinct keys are exact. */
extern HgStatus hg_cpu_describe(HgJob *job, HgSide which, HgGraphStats *stats, HgError *error);

/* Copies the graph of a side out as the engine's export_graph. */
extern HgStatus hg_cpu_export(HgJob *job, HgSide which, uint32_t *offsets, void *edge_keys,
							  uint32_t *edge_rows, HgError *error);

/* hg_cpu_match.c: matches two sides on the CPU: probe intersect (Algorithm 3) and standard */

/* Outer rows that are looked up together, so that their cache misses overlap. */
#define HG_CPU_GROUP 32

/*
 * A position in the stream of matches: a unit of work, a group of its outer rows that were looked
 * up, the next row of the group, and the progress in that row's list.
 */
typedef struct HgCpuCursor
{
	HgMatchMode mode;
	bool in_unit;		  /* there is a unit, whose rows may not all be finished */
	uint64_t next_bin;	  /* the bin of the next unit, unless the participants share units out */
	HgCpuScan scan;		  /* outer rows not looked up yet, if they are in pieces */
	HgCpuWalk walk;		  /* the same if they are in runs */
	uint32_t next_edge;	  /* the same if they are in the outer graph */
	uint32_t count;		  /* rows in the group */
	uint32_t at;		  /* the next row of the group */
	uint32_t list_at;	  /* edges of its list that are finished */
	uint32_t written;	  /* its matches among them */
	uint32_t work;		  /* rows since the last poll */
	uint32_t last_low;	  /* start of the last non-empty inner list */
	uint64_t comparisons; /* not in the job's statistics yet */
	uint64_t lists;		  /* pairs of non-empty lists, not in the statistics yet */
	uint64_t run_mixed;	  /* the last key counted in a sorted list */
	uint32_t run_low;	  /* the start of that list */
	uint32_t run_count;	  /* the number of its edges with that key */
	uint32_t rows[HG_CPU_GROUP];
	uint32_t low[HG_CPU_GROUP];	 /* the inner list of each row is edges[low] */
	uint32_t high[HG_CPU_GROUP]; /* up to edges[high - 1] */
	union
	{
		HgCpuKey32 mixed32[HG_CPU_GROUP];
		HgCpuKey64 mixed64[HG_CPU_GROUP];
	} u;
} HgCpuCursor;

/* Sets *cursor to the start of a stream of matches; allocates nothing. */
extern void hg_cpu_cursor_init(HgCpuCursor *cursor, HgMatchMode mode);

/*
 * Returns the next matches of a stream, as the engine's next; after a failure matches->count is 0.
 */
extern HgStatus hg_cpu_next(HgJob *job, HgCpuCursor *cursor, HgMatches *matches, HgError *error);

/* Sets *matches to the number of matches of a stream, which must be at its start. */
extern HgStatus hg_cpu_count(HgJob *job, HgCpuCursor *cursor, uint64_t *matches, HgError *error);

/* hg_cpu_direct.c: jobs whose vertices are the keys themselves: direct addressing */

/* A position in the stream of matches: the next outer keys, and the progress in a list. */
typedef struct HgCpuDirectCursor
{
	HgCpuScan scan;	  /* the scan, which is after the keys below */
	const char *keys; /* the next outer keys */
	uint32_t left;	  /* number of these keys */
	uint32_t row;	  /* row number of the first one */
	uint32_t list_at; /* rows of the first one's list that were emitted */
} HgCpuDirectCursor;

/*
 * Makes the inner keys the vertices, if they are dense enough and the largest table for them takes
 * at most `bytes` bytes: sets job->direct, whose vertices otherwise stay 0. rows are those of both
 * sides.
 */
extern HgStatus hg_cpu_direct_choose(HgJob *job, const uint64_t rows[2], uint64_t bytes,
									 HgError *error);

/*
 * Chooses whether the inner keys of a shared job are its vertices: rows are those of all
 * participants, and bounds are the least and the greatest inner key of all.
 */
extern void hg_cpu_direct_choose_shared(HgJob *job, const uint64_t rows[2], uint64_t bytes,
										const HgCpuBounds *bounds);

/* Sets *bounds to the least and greatest of this participant's inner keys, as signed numbers. */
extern HgStatus hg_cpu_direct_bounds(HgJob *job, HgCpuBounds *bounds, HgError *error);

/* Makes the caller's bitmap, which stays in place, the table of a job that needs nothing else. */
extern void hg_cpu_direct_give(HgJob *job, const HgKeyBitmap *bitmap);

/* Sets *cursor to the start of a stream of matches, and makes the table that it needs. */
extern HgStatus hg_cpu_direct_match(HgJob *job, HgCpuDirectCursor *cursor, HgMatchMode mode,
									HgError *error);

/* Returns the next matches of the stream, as the engine's next. */
extern HgStatus hg_cpu_direct_next(HgJob *job, HgCpuDirectCursor *cursor, HgMatches *matches,
								   HgError *error);

/* Counts the matches, as the engine's count, and makes the table that it needs. */
extern HgStatus hg_cpu_direct_count(HgJob *job, HgMatchMode mode, uint64_t *matches,
									HgError *error);

/* Frees the table, unless it is the caller's. */
extern void hg_cpu_direct_close(HgJob *job);

#endif /* HG_CPU_PHASES_H */
