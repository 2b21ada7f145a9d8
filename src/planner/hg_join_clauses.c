/*-------------------------------------------------------------------------
 *
 * hg_join_clauses.c
 *	  Which clauses of a join the join node can hash.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/restrictinfo.h"

#include "batch/hg_key.h"
#include "planner/hg_join_clauses.h"

/* Most joins have no more. */
#define HG_FEW_CLAUSES 4

/* Does the clause compare an expression of one relation with one of the other? */
static bool
hg_clause_sides_match(RestrictInfo *rinfo, RelOptInfo *outerrel, RelOptInfo *innerrel)
{
	if (bms_is_subset(rinfo->left_relids, outerrel->relids) &&
		bms_is_subset(rinfo->right_relids, innerrel->relids))
		rinfo->outer_is_left = true;
	else if (bms_is_subset(rinfo->left_relids, innerrel->relids) &&
			 bms_is_subset(rinfo->right_relids, outerrel->relids))
		rinfo->outer_is_left = false;
	else
		return false;
	return true;
}

/* The operator of a hash clause with the outer operand on its left; or InvalidOid. */
static Oid
hg_clause_operator(const RestrictInfo *rinfo)
{
	Oid operator_oid = ((const OpExpr *) rinfo->clause)->opno;

	return rinfo->outer_is_left ? operator_oid : hg_key_commutator(operator_oid);
}

List *
hg_find_hash_clauses(RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
					 JoinType join_type, List *restrictlist)
{
	List *result = NIL;
	ListCell *lc;

	foreach (lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Oid operator_oid;

		/* a WHERE clause above an outer join cannot decide what matches */
		if (IS_OUTER_JOIN(join_type) && RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids))
			continue;
		if (!rinfo->can_join || !OidIsValid(rinfo->hashjoinoperator))
			continue;
		if (!hg_clause_sides_match(rinfo, outerrel, innerrel))
			continue;
		operator_oid = hg_clause_operator(rinfo);
		if (OidIsValid(operator_oid) && hg_key_operator_usable(operator_oid))
			result = lappend(result, rinfo);
	}
	return result;
}

void
hg_hash_clause_operators(List *hash_clauses, HgKeyClause *clauses)
{
	ListCell *lc;

	foreach (lc, hash_clauses)
	{
		const RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		HgKeyClause *clause = &clauses[foreach_current_index(lc)];

		clause->operator_oid = hg_clause_operator(rinfo);
		clause->collation = ((const OpExpr *) rinfo->clause)->inputcollid;
	}
}

bool
hg_hash_clauses_exact(List *hash_clauses, uint32 *width)
{
	int nclauses = list_length(hash_clauses);
	HgKeyClause few[HG_FEW_CLAUSES];
	HgKeyClause *clauses =
		nclauses <= HG_FEW_CLAUSES ? few : palloc(nclauses * sizeof(HgKeyClause));
	bool exact;

	hg_hash_clause_operators(hash_clauses, clauses);
	exact = hg_key_is_exact(nclauses, clauses, width);
	if (clauses != few)
		pfree(clauses);
	return exact;
}
