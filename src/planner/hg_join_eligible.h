/*-------------------------------------------------------------------------
 *
 * hg_join_eligible.h
 *	  Whether the node can do a join.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_ELIGIBLE_H
#define HG_JOIN_ELIGIBLE_H

#include "nodes/pathnodes.h"

#include "batch/hg_key.h"
#include "hg_guc.h"

/* The keys of a join. */
typedef struct HgJoinKeys
{
	bool exact;		  /* equal key words imply that all clauses hold */
	uint32 width;	  /* bytes */
	QualCost cost[2]; /* by HgSide: to evaluate the keys of a row */
} HgJoinKeys;

/*
 * Returns the RestrictInfos of restrictlist that can be hash keys, in its order; NIL if there are
 * none. Assigns outer_is_left of each. Fills in *keys for these clauses alone; it is zero for NIL.
 * The result may be restrictlist itself, so the caller must not change it.
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

/* Returns true if the node does a join type; false for types of later versions. */
extern bool hg_join_type_is_eligible(JoinType join_type);

/* Returns true if a join of ours can return the columns of a relation. */
extern bool hg_rel_is_eligible(PlannerInfo *root, const RelOptInfo *rel);

/* Returns true if a join of ours, or a Result above it, can test the clauses of a join. */
extern bool hg_clauses_are_eligible(const PlannerInfo *root, List *restrictlist);

/*
 * Returns true if the inputs are too small to consider. Rows that a scan filters count too,
 * because our nodes read them faster.
 */
static inline bool
hg_inputs_small(const Path *outer_path, const Path *inner_path)
{
	double rows = 0;

	for (int side = 0; side < 2; side++)
	{
		const Path *path = side == 0 ? outer_path : inner_path;

		rows += path->pathtype == T_SeqScan ? path->parent->tuples : path->rows;
	}
	return rows < hg_min_rows;
}

#endif /* HG_JOIN_ELIGIBLE_H */
