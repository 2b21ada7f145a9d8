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
	bool exact;		  /* equal key words imply that all clauses hold */
	uint32 width;	  /* bytes */
	QualCost cost[2]; /* by HgSide: to evaluate the keys of a row */
} HgJoinKeys;

/*
 * Returns the clauses of a join that can be hash keys, RestrictInfos whose outer_is_left is set,
 * and fills in *keys for them. The result may be restrictlist itself.
 */
extern List *hg_find_hash_clauses(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
								  RelOptInfo *innerrel, JoinType join_type, List *restrictlist,
								  HgJoinKeys *keys);

/*
 * Fills clauses[list_length(hash_clauses)] with each clause's operator, outer operand on the left,
 * and its collation.
 */
extern void hg_hash_clause_operators(List *hash_clauses, HgKeyClause *clauses);

/*
 * Returns true if equal key words imply that all clauses hold. *width, unless NULL, is set to the
 * bytes of a key.
 */
extern bool hg_hash_clauses_exact(List *hash_clauses, uint32 *width);

#endif /* HG_JOIN_CLAUSES_H */
