/*-------------------------------------------------------------------------
 *
 * hg_join_size.h
 *	  What a join may hold, and what it is expected to be like.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_SIZE_H
#define HG_JOIN_SIZE_H

#include "executor/join/hg_join_state.h"

/* How many partitions, as a power of two, for expected bytes of inner rows. */
extern int hg_join_partition_bits(const HgJoinState *state, double expected);

/* What the inner side is expected to take, from what is held and the plan's estimate. */
extern double hg_join_expected_bytes(const HgJoinState *state);

/* What both inputs may take together. */
extern uint64 hg_join_limit(const HgJoinState *state);

/* A filter may take one part in so many of the memory of both inputs. */
#define HG_FILTER_SHARE 8

/*
 * Are outer rows that match nothing worth finding while they are read?  Where the inner side
 * is small beside the outer one a filter costs next to nothing, and shows itself whether
 * it is worth its price; else the planner's estimate decides.
 */
extern bool hg_join_filter_may_pay(const HgJoinState *state, double inner_rows);

/* Are matches needed, and not just their number? */
extern bool hg_join_streams(const HgJoinState *state);

#endif /* HG_JOIN_SIZE_H */
