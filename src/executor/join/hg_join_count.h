/*-------------------------------------------------------------------------
 *
 * hg_join_count.h
 *	  Counting the join node's rows, if only their number is needed; outer joins included.
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
 * Returns true if rows without a match can be counted without finding them.
 * hg_join_may_count_unmatched() knows the plan only; hg_join_counts_unmatched() decides for the
 * rows in memory.
 */
extern bool hg_join_may_count_unmatched(const HgJoinState *state);
extern bool hg_join_counts_unmatched(const HgJoinState *state);

/* Returns the number of rows that the join returns for the rows in memory. */
extern uint64 hg_join_count(HgJoinState *state);

#endif /* HG_JOIN_COUNT_H */
