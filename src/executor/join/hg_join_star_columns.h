/*-------------------------------------------------------------------------
 *
 * hg_join_star_columns.h
 *	  Columns of a tree's tables that are wanted of its topmost join, as those of a device's job.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_STAR_COLUMNS_H
#define HG_JOIN_STAR_COLUMNS_H

#include "backend/matcher/hg_matcher_spec.h"
#include "executor/join/hg_join_tree.h"

/*
 * Finds the table that has a column which is wanted of the topmost join, and which has a replica.
 */
extern HgTreeColumn hg_star_trace(HgJoinState *state, HgSide side, uint32 column);

/* The expression that a column which is wanted is; -1: it is a replica. */
extern int hg_star_expression(const HgJoinState *state, const HgReduceColumn *column);

/* Find out of which tables' columns others are computed, for the graphs. */
extern void hg_star_find_computed_tables(HgJoinState *state, const HgReduction *wanted);

/*
 * Find all columns that are wanted, as those of the job; false where a device has not all of them,
 * which are asked for at once.
 */
extern bool hg_star_find_columns(HgJoinState *state, const HgReduction *wanted);

#endif /* HG_JOIN_STAR_COLUMNS_H */
