/*-------------------------------------------------------------------------
 *
 * hg_join_rules.h
 *	  Which pairs and rows a join returns, according to its type and its quals.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_RULES_H
#define HG_JOIN_RULES_H

#include "nodes/execnodes.h"

#include "backend/matcher/hg_matcher_spec.h"
#include "batch/hg_batch.h"
#include "batch/hg_row_bits.h"

/*
 * Compares the bytes of key values, without calling the operator; opaque.  If keys are hashes, each
 * match is rechecked.  The values of most matches are equal, and most equal values have the same
 * bytes.  For types whose values are equal if their bytes are, the built-in operator is called only
 * for the other matches.
 */
typedef struct HgJoinRecheck HgJoinRecheck;

/* The rules of a join; constant from the node's start to its end. */
typedef struct HgJoinRules
{
	JoinType join_type;
	bool single_match;		   /* at most one match of an outer row counts */
	bool single_inner;		   /* at most one match of an inner row counts */
	bool preserved[2];		   /* by HgSide: rows without a match are returned */
	bool return_matched;	   /* matches are returned */
	bool rows_wanted;		   /* columns or quals are needed, not only the number of rows */
	ExprState *join_qual;	   /* recheck of hashed keys and the rest of ON; or NULL */
	HgJoinRecheck *same_bytes; /* proves join_qual by bytes; or NULL */
} HgJoinRules;

/* Which rows of a side, among those in memory, have found a match. */
typedef struct HgJoinMatched
{
	HgRowBits *bits;
	bool tracked; /* the bits are needed and valid */
	bool once;	  /* and a row matches at most once */
} HgJoinMatched;

/*
 * Sets what is tracked of the rows of a side that are read from now on: whether a row has matched,
 * and with once that a row matches at most once, which is tracked by the same bits.
 */
static inline void
hg_join_matched_begin(HgJoinMatched *matched, bool tracked, bool once)
{
	matched->tracked = tracked || once;
	matched->once = once;
}

/* Clears the bits at positions first .. ordinals - 1, for rows that have come into memory. */
static inline void
hg_join_matched_reset(HgJoinMatched *matched, uint64 first, uint64 ordinals)
{
	if (matched->tracked)
		hg_row_bits_reset(matched->bits, first, ordinals - first);
}

/*
 * Sets the rules of a join type.  inner_unique: an outer row has at most one match.  The caller
 * sets rows_wanted, join_qual and same_bytes.  Raises an error for an unknown type.
 */
extern void hg_join_rules_init(HgJoinRules *rules, JoinType join_type, bool inner_unique);

/* Returns true if matches are needed, and not only their number. */
static inline bool
hg_join_streams(const HgJoinRules *rules, const HgJoinMatched matched[2])
{
	return rules->rows_wanted || matched[HG_OUTER].tracked || matched[HG_INNER].tracked;
}

/*
 * Returns true if the join returns no row when one side is empty, because the other side's rows are
 * returned only with a match.  The other side then need not be read.
 */
static inline bool
hg_join_is_empty_without(const HgJoinRules *rules, HgSide side)
{
	return !rules->preserved[hg_other_side(side)];
}

/* Returns the name of a join type in EXPLAIN and the statistics. */
extern const char *hg_join_type_name(JoinType join_type);

/*
 * Prepares the comparison for a qual, a list of clauses over the columns of a batch of joined rows
 * (varattno 1 is the first column), in CurrentMemoryContext.  Returns NULL if equal bytes do not
 * imply that the qual is true.
 */
extern HgJoinRecheck *hg_join_recheck_create(List *qual);

/*
 * Sets same[i] if the bytes of row i show that the qual is true.  False decides nothing; rows with
 * a NULL get false.
 */
extern void hg_join_recheck_rows(const HgJoinRecheck *recheck, const HgBatch *batch, bool *same);

#endif /* HG_JOIN_RULES_H */
