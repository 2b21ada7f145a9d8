/*-------------------------------------------------------------------------
 *
 * hg_join_count.h
 *	  The join node's rows where nothing but their number is asked for, those of outer joins too.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_COUNT_H
#define HG_JOIN_COUNT_H

#include "hg_compat.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/*
 * May rows without a match be counted, and not found?  As far as is known before rows are
 * read; and of those in memory.
 */
extern bool hg_join_may_count_unmatched(const HgJoinState *state);
extern bool hg_join_counts_unmatched(const HgJoinState *state);

/* The number of joined rows of those in memory. */
extern uint64 hg_join_count(HgJoinState *state);

#endif /* HG_JOIN_COUNT_H */
