/*-------------------------------------------------------------------------
 *
 * hg_join_pages.h
 *	  A join of two tables that a device takes the rows out of the pages of.
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

typedef struct HgJoinPages
{
	bool sent;		   /* a device has them, or has joined them, in this execution */
	bool declined;	   /* they are not worth it, or can't be sent, in any execution */
	char failure[160]; /* why pages were sent in vain, the last time that they were; or "" */
	int phase;		   /* of the processes that send them together, when this one came */
} HgJoinPages;

/* What such processes have in common, in the join's shared memory. */
typedef struct HgJoinPagesShared
{
	bool wanted;				   /* in each execution; as the leader has found ... */
	uint64 expected_rows[2];	   /* ... likewise, by HgSide: of all ... */
	double cpu_ms;				   /* ... and what the CPU is expected to take */
	pg_atomic_uint64 sent_rows[2]; /* of all, in pages that were sent; added before they arrive */
	pg_atomic_uint64 epoch;		   /* of the device process that gets them (hg_page_job.h) */
	pg_atomic_uint32 failed;	   /* for one of them, and so for all, ... */
	char failure[160];			   /* ... and why: written by that one before it arrives */
	pg_atomic_uint32 asked;		   /* one of them asks for all, ... */
	bool answered;				   /* ... and has written this before it arrives, ... */
	HgBuildAlgorithm build;		   /* ... and how they were joined */
	HgProbeAlgorithm probe;
	pg_atomic_uint32 dealt; /* one of them has the scans hand out their pages again */
} HgJoinPagesShared;

/*
 * An execution begins, and nothing was read: have a device join what it takes out of the pages of
 * both tables, where nobody here needs the rows.  True: all are joined; they have gone up in
 * groups, or are so many empty rows of the output.  False: nothing was read.
 */
extern bool hg_join_ask_pages(HgJoinState *state);

/* The leader's, before others can see it: find out whether so many processes are to send pages. */
extern void hg_join_pages_expect(HgJoinState *state, HgJoinPagesShared *shared, int processes);

/* The leader's, before each execution.  Are they to send them in this one? */
extern bool hg_join_pages_reset(const HgJoinState *state, HgJoinPagesShared *shared);

/*
 * The same as hg_join_ask_pages() with the other participants, to whose barrier this one has
 * attached in *phase, which becomes that of what follows (hg_join_together.c).  True: all are
 * joined, and this process has the rows of all, or none.
 */
extern bool hg_join_ask_pages_together(HgJoinState *state, int *phase);

#endif /* HG_JOIN_PAGES_H */
