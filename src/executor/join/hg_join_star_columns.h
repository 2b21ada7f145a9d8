/*-------------------------------------------------------------------------
 *
 * hg_join_star_columns.h
 *	  Columns that a multi-way join needs of its tables, as columns of a device's job.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_STAR_COLUMNS_H
#define HG_JOIN_STAR_COLUMNS_H

#include "backend/matcher/hg_matcher_spec.h"
#include "executor/join/hg_join_tree.h"

/* Returns the table column behind a column of the reduction that is not computed. */
extern HgTreeColumn hg_star_trace(HgJoinState *state, HgSide side, uint32 column);

/* Returns the expression that computes a column of the reduction; -1: it is a replica. */
extern int hg_star_expression(const HgJoinState *state, const HgReduceColumn *column);

/* Finds the tables whose columns are operands of computed columns, for hg_star_find_graphs(). */
extern void hg_star_find_computed_tables(HgJoinState *state, const HgReduction *requested);

/*
 * Finds all columns of the wanted reduction, as columns of the job.  Returns false if the devices
 * lack some of them; all missing ones are requested.
 */
extern bool hg_star_find_columns(HgJoinState *state, const HgReduction *requested);

#endif /* HG_JOIN_STAR_COLUMNS_H */
