/*-------------------------------------------------------------------------
 *
 * hg_join_clauses.h
 *	  Which clauses of a join the join node can hash.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_CLAUSES_H
#define HG_JOIN_CLAUSES_H

#include "nodes/pathnodes.h"

#include "batch/hg_key.h"

/* The keys of a join. */
typedef struct HgJoinKeys
{
	bool exact;		  /* matches need no recheck */
	uint32 width;	  /* in bytes */
	QualCost cost[2]; /* to evaluate those of a row, by HgSide */
} HgJoinKeys;

/*
 * Returns the clauses of a join that can be hash keys, RestrictInfos whose outer_is_left is set,
 * and what their keys are.  The list may be restrictlist itself.
 */
extern List *hg_find_hash_clauses(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
								  RelOptInfo *innerrel, JoinType join_type, List *restrictlist,
								  HgJoinKeys *keys);

/* The same as an encoder wants them, in clauses[list_length(hash_clauses)]. */
extern void hg_hash_clause_operators(List *hash_clauses, HgKeyClause *clauses);

/* Do an encoder's keys of these need no recheck?  *width: bytes of a key. */
extern bool hg_hash_clauses_exact(List *hash_clauses, uint32 *width);

#endif /* HG_JOIN_CLAUSES_H */
