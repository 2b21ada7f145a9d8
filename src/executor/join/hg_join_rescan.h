/*-------------------------------------------------------------------------
 *
 * hg_join_rescan.h
 *	  The rescan cache: input rows that the join node holds for its next execution, and joins of
 *	  them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_RESCAN_H
#define HG_JOIN_RESCAN_H

#include "postgres.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/* What rescans have shown. */
typedef struct HgJoinRescan
{
	bool inner;			 /* the last one cached the inner input, for other outer rows */
	bool outer_whole;	 /* all outer rows are wanted again, with other inner rows */
	bool outer_large;	 /* ... but they do not fit in half of the limit */
	bool examined;		 /* outer_volatile is set: ... */
	bool outer_volatile; /* ... the outer child calls volatile functions */
} HgJoinRescan;

/*
 * Returns true if the outer side's rows may be cached.  Core's joins read their outer child again
 * in each execution: where that calls volatile functions, so must this node.
 */
extern bool hg_join_may_cache_outer(HgJoinState *state);

/*
 * Both sides are in memory, one of them for several executions: where the other one's rows are
 * few, have only those of its rows joined that their keys let through.  False: there are none, and
 * no match.
 */
extern bool hg_join_select_cached(HgJoinState *state);

#endif /* HG_JOIN_RESCAN_H */
