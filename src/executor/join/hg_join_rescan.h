/*-------------------------------------------------------------------------
 *
 * hg_join_rescan.h
 *	  The rescan cache: input rows that the join node keeps for its next execution.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_RESCAN_H
#define HG_JOIN_RESCAN_H

#include "postgres.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/* What earlier rescans have shown. */
typedef struct HgJoinRescan
{
	bool inner;		  /* the last rescan cached the inner input, for other outer rows */
	bool outer_whole; /* all outer rows will be joined again, with other inner rows */
	bool outer_large; /* they do not fit into half of the memory limit; outer_whole stays false */
	bool examined;	  /* outer_volatile is known */
	bool outer_volatile; /* the outer child calls volatile functions */
} HgJoinRescan;

/*
 * Returns true if the outer side's rows may be cached.  If the outer child calls volatile
 * functions, it must be read again in each execution, as core's joins do.
 */
extern bool hg_join_may_cache_outer(HgJoinRescan *rescan, const HgInput *outer);

/*
 * If one side is cached and the other one has few rows, selects the cached rows that pass a filter
 * of the other side's keys (hg_held_select()).  Both sides must be in memory.  Returns false if no
 * row is selected, so that there is no match.
 */
extern bool hg_join_select_cached(HgJoinState *state);

/*
 * Ends all that an execution has besides the rows in both inputs: upload, stream, matcher, files
 * and selection.
 */
extern void hg_join_reset(HgJoinState *state);

#endif /* HG_JOIN_RESCAN_H */
