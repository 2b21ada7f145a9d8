/*-------------------------------------------------------------------------
 *
 * hg_join_pages.h
 *	  A join of two tables whose pages are sent to a device, which extracts the rows.
 *
 * A single process calls hg_join_ask_pages() alone.  If processes share the join, the leader calls
 * hg_join_pages_expect() once and hg_join_pages_reset() before each execution, and all processes
 * call hg_join_ask_pages_parallel().
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_PAGES_H
#define HG_JOIN_PAGES_H

#include "hg_compat.h"

#include "port/atomics.h"

#include "engine/hg_engine.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/* This process's part in such a join. */
typedef struct HgJoinPages
{
	bool uploaded;	   /* a device has the pages, or has joined them, in this execution */
	bool declined;	   /* sending pages does not pay or is not possible, in any execution */
	char failure[160]; /* why the last job with pages failed, or "" */
	int phase;		   /* the barrier's phase when this process attached */
} HgJoinPages;

/* What processes that send pages together share, in the join's shared memory. */
typedef struct HgJoinPagesShared
{
	bool planned;			 /* pages are sent in each execution; set by the leader */
	uint64 expected_rows[2]; /* by HgSide: expected rows of all processes; set by the leader */
	double cpu_ms;			 /* expected time of the join on the CPU; set by the leader */
	pg_atomic_uint64 uploaded_rows[2]; /* by HgSide: rows in pages sent; added before arriving */
	pg_atomic_uint64 epoch;	 /* epoch of the device process that gets the pages (hg_page_job.h) */
	pg_atomic_uint32 failed; /* 1: the job failed for a process, and so for all */
	char failure[160];		 /* why; written by that process before it arrives */
	pg_atomic_uint32 asked;	 /* 1: a process has taken on to ask for the answer */
	bool answered;			 /* the asking process has the answer; written before it arrives */
	HgBuildAlgorithm build;	 /* build and probe: the algorithms of the job */
	HgProbeAlgorithm probe;
	pg_atomic_uint32 dealt; /* 1: a process lets the parallel scans hand out all pages again */
} HgJoinPagesShared;

/*
 * Tries to let a device join both tables from their pages, at the start of an execution, if no row
 * is needed here.  Returns true if all rows are joined: they were handed up in groups, or *rows is
 * their number.  Returns false if nothing was read.
 */
extern bool hg_join_ask_pages(HgJoinState *state, uint64 *rows);

/* Sets planned, expected_rows and cpu_ms of *shared in the leader, before workers start. */
extern void hg_join_pages_expect(HgJoinState *state, HgJoinPagesShared *shared, int processes);

/*
 * In the leader, before each execution and after hg_join_pages_expect(): clears what the last
 * execution left in shared, and keeps what was planned. Returns true if pages are sent in this
 * execution: that was planned, and this process has not declined it.
 */
extern bool hg_join_pages_reset(const HgJoinPages *pages, HgJoinPagesShared *shared);

/*
 * Does what hg_join_ask_pages() does, together with the other participants.  This process has
 * attached to their barrier in *phase; *phase becomes the phase in which the join goes on
 * (hg_join_parallel.c).  If the result is true, one process has the rows of all participants, and
 * the others have none.
 */
extern bool hg_join_ask_pages_parallel(HgJoinState *state, int *phase, uint64 *rows);

#endif /* HG_JOIN_PAGES_H */
