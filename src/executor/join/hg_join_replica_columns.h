/*-------------------------------------------------------------------------
 *
 * hg_join_replica_columns.h
 *	  The columns of covered rows that a device has, or is to compute, for the groups of a join.
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

/* Note that a device has codes, or NULL, in place of the values of a column replica. */
extern void hg_replica_note_codes(HgReplicaCovered *replica, HgJoinCodes *codes, HgSide side,
								  uint32 column, const HgGraphCodes *of);

/*
 * Write the program of an expression, whose operands are known by the numbers that they have in
 * what is wanted, and have a column of a side be computed by it, with places of so many parts and
 * of a stride.  False where there is none.
 */
extern bool hg_replica_add_computed(HgReplicaCovered *replica, HgJoinCodes *codes, HgSide side,
									uint32 column, const HgJoinReduction *reduction, int expression,
									HgOperand operands[2][HG_MAX_COLUMNS], uint32 parts,
									uint32 stride);

/*
 * Find the columns of a side that a reduction needs; the set of devices that have them all.
 */
extern HgDeviceSet hg_join_find_replica_columns(const HgJoinState *state, HgSide side,
												const HgReduction *reduction,
												HgReplicaCovered *replica);

#endif /* HG_JOIN_REPLICA_COLUMNS_H */
