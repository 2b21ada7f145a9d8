/*-------------------------------------------------------------------------
 *
 * hg_cpu_direct.h
 *	  Jobs whose vertices are the keys themselves.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_DIRECT_H
#define HG_CPU_DIRECT_H

#include "hg_cpu_side.h"

/* A place in the stream of matches: keys of outer rows, and how much of a list is done. */
typedef struct HgCpuDirectCursor
{
	HgCpuScan scan;	  /* after ... */
	const char *keys; /* ... the keys that are next, */
	uint32_t left;	  /* so many, */
	uint32_t row;	  /* whose rows are numbered from this on */
	uint32_t list_at; /* rows of the first one's list that are done with */
} HgCpuDirectCursor;

/*
 * Are the inner keys so dense that they are to be the vertices, in tables of so many bytes at most?
 * Then job->direct has vertices.  In a shared job rows are those of all participants, and bounds
 * those of all inner keys.
 */
extern HgStatus hg_cpu_direct_choose(HgJob *job, const uint64_t rows[2], uint64_t bytes,
									 HgError *error);
extern void hg_cpu_direct_choose_shared(HgJob *job, const uint64_t rows[2], uint64_t bytes,
										const HgCpuBounds *bounds);

/*
 * The bounds of this participant's inner keys, as differences to 0: what the other participants are
 * to know.
 */
extern HgStatus hg_cpu_direct_bounds(HgJob *job, HgCpuBounds *bounds, HgError *error);

/* Have a bitmap be the table of a job that is asked for nothing but what bits tell. */
extern void hg_cpu_direct_give(HgJob *job, const HgKeyBitmap *bitmap);

/* A stream of matches, and their number: make the table for it, if another one is there. */
extern HgStatus hg_cpu_direct_match(HgJob *job, HgCpuDirectCursor *cursor, HgMatchMode mode,
									HgError *error);
extern HgStatus hg_cpu_direct_next(HgJob *job, HgCpuDirectCursor *cursor, HgMatches *matches,
								   HgError *error);
extern HgStatus hg_cpu_direct_count(HgJob *job, HgMatchMode mode, uint64_t *matches,
									HgError *error);

/* Free the table. */
extern void hg_cpu_direct_close(HgJob *job);

#endif /* HG_CPU_DIRECT_H */
