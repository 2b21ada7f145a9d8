/*-------------------------------------------------------------------------
 *
 * hg_join_gather.h
 *	  The join node's columns on a device: they go there, and come back with the matches.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_GATHER_H
#define HG_JOIN_GATHER_H

#include "backend/matcher/hg_matcher.h"
#include "batch/hg_input.h"
#include "executor/join/hg_join_rules.h"

/* A side's columns that may go to a device, which an HgColumnSet reads. */
typedef struct HgSentColumns
{
	const HgInput *input;
	int columns[HG_MAX_COLUMNS]; /* of the input's store */
	bool *nulls;				 /* [HG_RUN_ROWS] of those that were read last; or NULL */
	MemoryContext context;
} HgSentColumns;

/* No columns of an input yet; both stay in place as long as the set is used. */
extern void hg_join_begin_sent(const HgInput *input, HgSentColumns *sent, HgColumnSet *set);

/*
 * Add a column of the store, if it is not among them, in values of so many bytes; *column becomes
 * its index in the set.  False where there is none left.
 */
extern bool hg_join_add_column(HgSentColumns *sent, HgColumnSet *set, int stored, uint8 width,
							   uint32 *column);

/* Are the values of a column of the store such as can be sent as they are? */
extern bool hg_join_sends_values(const HgInput *input, int stored);

/* The columns that may come with the matches; opaque. */
typedef struct HgJoinGather HgJoinGather;

/* Find out which they are, in CurrentMemoryContext; NULL where no match is looked at. */
extern HgJoinGather *hg_join_gather_create(const HgJoinRules *rules, HgInput *const inputs[2]);

/* Those of a side, for the matcher; or NULL.  gather may be NULL. */
extern const HgColumnSet *hg_join_gathered_columns(const HgJoinGather *gather, HgSide side);

/*
 * Fill the columns of a side with the values that came with matches first + which[count] of the
 * matcher's current chunk, or with count of them from first on where which is NULL; false, and
 * nothing is done, where they did not.
 */
extern bool hg_join_take_gathered(const HgJoinGather *gather, const HgMatcher *matcher, HgSide side,
								  size_t first, const uint16 *which, int count, HgBatch *batch);

#endif /* HG_JOIN_GATHER_H */
