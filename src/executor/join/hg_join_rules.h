/*-------------------------------------------------------------------------
 *
 * hg_join_rules.h
 *	  Which pairs and which rows a join returns, as its type and its quals say.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_RULES_H
#define HG_JOIN_RULES_H

#include "nodes/execnodes.h"

#include "backend/matcher/hg_matcher_spec.h"
#include "batch/hg_row_bits.h"
#include "executor/join/hg_join_recheck.h"

/* The same from the start of the node to its end. */
typedef struct HgJoinRules
{
	JoinType join_type;
	bool single_match;	  /* at most one match of an outer row counts */
	bool single_inner;	  /* at most one match of an inner row counts */
	bool preserved[2];	  /* by HgSide: a preserved side, whose rows without a match are returned */
	bool return_matched;  /* matches are returned */
	bool rows_wanted;	  /* columns or quals are needed: not just their number */
	ExprState *join_qual; /* recheck of hashed keys and the rest of ON, or NULL */
	HgJoinRecheck *same_bytes; /* what says without it that it is true; or NULL */
} HgJoinRules;

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

/* Rows of a side are in memory, in so many places from first on: none of these has found a match.
 */
static inline void
hg_join_matched_reset(HgJoinMatched *matched, uint64 first, uint64 places)
{
	if (matched->tracked)
		hg_row_bits_reset(matched->bits, first, places - first);
}

/*
 * What a join type asks for, where an outer row has one match at most if inner_unique is set; the
 * last two members are the caller's to set.
 */
extern void hg_join_rules_init(HgJoinRules *rules, JoinType join_type, bool inner_unique);

/* Are matches needed, and not just their number? */
static inline bool
hg_join_streams(const HgJoinRules *rules, const HgJoinMatched matched[2])
{
	return rules->rows_wanted || matched[HG_OUTER].tracked || matched[HG_INNER].tracked;
}

/*
 * True if the join returns no row when the side has no rows that are returned or can match: then
 * the other side need not be read.
 */
static inline bool
hg_join_empty_settles(const HgJoinRules *rules, HgSide side)
{
	return !rules->preserved[hg_other_side(side)];
}

/* As EXPLAIN and the statistics call it. */
extern const char *hg_join_type_name(JoinType join_type);

#endif /* HG_JOIN_RULES_H */
