/*-------------------------------------------------------------------------
 *
 * hg_join_emit.h
 *	  The join node's way from matches, and from rows without one, to batches of joined rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_EMIT_H
#define HG_JOIN_EMIT_H

#include "batch/hg_row_bits.h"
#include "engine/hg_engine.h"
#include "executor/join/hg_join_rules.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/* Which rows of a side, of those in memory, have found a match. */
typedef struct HgJoinMatched
{
	HgRowBits *bits;
	bool tracked; /* somebody will ask: the bits are valid */
	bool once;	  /* and a row that has found one finds no more */
} HgJoinMatched;

/* What is to be known of the rows that come into memory from now on: see HgJoinMatched. */
static inline void
hg_join_matched_begin(HgJoinMatched *matched, bool tracked, bool once)
{
	matched->tracked = tracked || once;
	matched->once = once;
}

/* Rows of a side are in memory, so many: none has found a match. */
static inline void
hg_join_matched_reset(HgJoinMatched *matched, uint64 rows)
{
	if (matched->tracked)
		hg_row_bits_reset(matched->bits, rows);
}

/* What is returned next: matches, and then rows without one. */
typedef struct HgJoinEmission
{
	const uint32 *outer; /* [count] the current chunk of matches, which is the matcher's ... */
	const uint32 *inner; /* [count] */
	size_t count;
	size_t next;	/* ... and the one that is next */
	bool skip_rest; /* the other matches of skip_outer do not count */
	uint32 skip_outer;
	int next_range;	  /* of the rows without a match or a key ... */
	uint64 next_row;  /* ... and the next row of it; ... */
	uint64 next_lent; /* ... and of lent rows, which come first, the place of the next one */
} HgJoinEmission;

/* The stream of matches begins. */
static inline void
hg_join_emission_reset(HgJoinEmission *emission)
{
	emission->count = emission->next = 0;
	emission->skip_rest = false;
}

/* The rows of a side without a match, or without a key, begin. */
static inline void
hg_join_emission_begin_rest(HgJoinEmission *emission)
{
	emission->next_row = 0;
	emission->next_range = 0;
	emission->next_lent = 0;
}

/* Are matches needed, and not just their number? */
static inline bool
hg_join_streams(const HgJoinRules *rules, const HgJoinMatched matched[2])
{
	return rules->rows_wanted || matched[HG_OUTER].tracked || matched[HG_INNER].tracked;
}

/*
 * Fill the output's batch with the next rows of a phase, and note in matched which rows have found
 * a match; false when it has no more.
 */
extern bool hg_join_fill_matches(HgJoinState *state);
extern bool hg_join_fill_unmatched(HgJoinState *state, HgSide side);
extern bool hg_join_fill_null_keys(HgJoinState *state, HgSide side);

#endif /* HG_JOIN_EMIT_H */
