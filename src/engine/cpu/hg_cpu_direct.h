/*-------------------------------------------------------------------------
 *
 * hg_cpu_direct.h
 *	  Jobs whose vertices are the keys themselves: direct addressing.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_DIRECT_H
#define HG_CPU_DIRECT_H

#include "hg_cpu_side.h"

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
 * Makes the inner keys the vertices, which sets job->direct.vertices, if they are dense enough and
 * their tables take at most so many bytes. rows are those of both sides.
 */
extern HgStatus hg_cpu_direct_choose(HgJob *job, const uint64_t rows[2], uint64_t bytes,
									 HgError *error);

/*
 * The same for a shared job: rows are those of all participants, bounds those of all inner keys.
 */
extern void hg_cpu_direct_choose_shared(HgJob *job, const uint64_t rows[2], uint64_t bytes,
										const HgCpuBounds *bounds);

/* Stores the bounds of this participant's inner keys for the others, as differences to 0. */
extern HgStatus hg_cpu_direct_bounds(HgJob *job, HgCpuBounds *bounds, HgError *error);

/* Makes a bitmap of the caller's the table of a job that needs nothing but bits. */
extern void hg_cpu_direct_give(HgJob *job, const HgKeyBitmap *bitmap);

/* Starts a stream of matches, and makes the table for it, unless it exists. */
extern HgStatus hg_cpu_direct_match(HgJob *job, HgCpuDirectCursor *cursor, HgMatchMode mode,
									HgError *error);

/* Returns the next matches of the stream, as the engine's next. */
extern HgStatus hg_cpu_direct_next(HgJob *job, HgCpuDirectCursor *cursor, HgMatches *matches,
								   HgError *error);

/* Counts the matches, as the engine's count, and makes the table for that, unless it exists. */
extern HgStatus hg_cpu_direct_count(HgJob *job, HgMatchMode mode, uint64_t *matches,
									HgError *error);

/* Frees the table, unless it is the caller's. */
extern void hg_cpu_direct_close(HgJob *job);

#endif /* HG_CPU_DIRECT_H */
