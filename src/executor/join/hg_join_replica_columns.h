/*-------------------------------------------------------------------------
 *
 * hg_join_replica_columns.h
 *	  Columns of covered rows that devices have, or compute, for the groups of a join.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_REPLICA_COLUMNS_H
#define HG_JOIN_REPLICA_COLUMNS_H

#include "backend/matcher/hg_matcher_spec.h"
#include "executor/join/hg_join_reduce.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/*
 * Records what a device has of a column.  `of` describes the codes, or scaled integers, that the
 * device has for the column; NULL if it has the values themselves.
 */
extern void hg_replica_note_codes(HgReplicaCovered *replica, HgJoinCodes *codes, HgSide side,
								  uint32 column, const HgGraphCodes *of);

/*
 * Lets a device compute a column of a side by an expression.  operands[side][i] describes column
 * i.  parts and stride map row numbers to ordinals (engine/hg_replica.h).  Returns false if the
 * expression cannot be compiled.
 */
extern bool hg_replica_add_computed(HgReplicaCovered *replica, HgJoinCodes *codes, HgSide side,
									uint32 column, const HgJoinReduction *reduction, int expression,
									HgOperand operands[2][HG_MAX_COLUMNS], uint32 parts,
									uint32 stride);

/*
 * Finds the replicas of the columns that a reduction needs of a side, and requests missing ones.
 * Returns the devices that have all of them.
 */
extern HgDeviceSet hg_join_find_replica_columns(const HgJoinState *state, HgSide side,
												const HgReduction *reduction,
												HgReplicaCovered *replica);

#endif /* HG_JOIN_REPLICA_COLUMNS_H */
