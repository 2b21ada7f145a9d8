/*-------------------------------------------------------------------------
 *
 * hg_cpu_match.h
 *	  Matches of two sides on the CPU: probe intersect (Algorithm 3) and standard.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_MATCH_H
#define HG_CPU_MATCH_H

#include "hg_cpu_side.h"

/* Outer rows looked up together, so that their cache misses overlap. */
#define HG_CPU_GROUP 32

/*
 * A place in the stream of matches: a unit of work, a group of outer rows of it that
 * have been looked up, the row of it that is next, and how much of that row's list is
 * done.
 */
typedef struct HgCpuCursor
{
	HgMatchMode mode;
	bool in_unit;		  /* there is a unit, whose rows may not all be done */
	uint64_t next_bin;	  /* the next unit is this bin, unless the participants share them out */
	HgCpuScan scan;		  /* outer rows not yet looked up: in pieces, */
	HgCpuWalk walk;		  /* in runs, */
	uint32_t next_edge;	  /* or in the outer graph */
	uint32_t count;		  /* rows in the group */
	uint32_t at;		  /* the next one */
	uint32_t list_at;	  /* edges of its list that are done with ... */
	uint32_t written;	  /* ... and its matches among them */
	uint32_t work;		  /* rows since the last poll */
	uint32_t last_low;	  /* start of the last non-empty inner list */
	uint64_t comparisons; /* not yet in the job's statistics */
	uint64_t lists;		  /* pairs of non-empty lists, likewise */
	uint64_t run_mixed;	  /* the last key counted in a sorted list ... */
	uint32_t run_low;	  /* ... which starts here ... */
	uint32_t run_count;	  /* ... and how many edges have it */
	uint32_t rows[HG_CPU_GROUP];
	uint32_t low[HG_CPU_GROUP];	 /* its inner list: edges[low] .. */
	uint32_t high[HG_CPU_GROUP]; /* .. edges[high - 1] */
	union
	{
		HgCpuKey32 mixed32[HG_CPU_GROUP];
		HgCpuKey64 mixed64[HG_CPU_GROUP];
	} u;
} HgCpuCursor;

/* A stream of matches, and their number. */
extern void hg_cpu_cursor_init(HgCpuCursor *cursor, HgMatchMode mode);
extern HgStatus hg_cpu_next(HgJob *job, HgCpuCursor *cursor, HgMatches *matches, HgError *error);
extern HgStatus hg_cpu_count(HgJob *job, HgCpuCursor *cursor, uint64_t *matches, HgError *error);

#endif /* HG_CPU_MATCH_H */
