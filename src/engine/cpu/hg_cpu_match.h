/*-------------------------------------------------------------------------
 *
 * hg_cpu_match.h
 *	  Matches two sides on the CPU: probe intersect (Algorithm 3) and standard.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_MATCH_H
#define HG_CPU_MATCH_H

#include "hg_cpu_side.h"

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

/* Starts a stream of matches. */
extern void hg_cpu_cursor_init(HgCpuCursor *cursor, HgMatchMode mode);

/*
 * Returns the next matches of a stream, as the engine's next; after a failure matches->count is 0.
 */
extern HgStatus hg_cpu_next(HgJob *job, HgCpuCursor *cursor, HgMatches *matches, HgError *error);

/* Counts the matches of a stream, which must be at its start. */
extern HgStatus hg_cpu_count(HgJob *job, HgCpuCursor *cursor, uint64_t *matches, HgError *error);

#endif /* HG_CPU_MATCH_H */
