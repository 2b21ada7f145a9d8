/*-------------------------------------------------------------------------
 *
 * hg_join_eligible.c
 *	  Whether the node can do a join.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_type.h"
#include "parser/parsetree.h"

#include "planner/hg_join_eligible.h"

#if !HG_HAVE_CUSTOM_RESTRICTINFO
static bool
hg_has_pseudoconstant(List *restrictlist)
{
	ListCell *lc;

	foreach (lc, restrictlist)
		if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
			return true;
	return false;
}
#endif

/*
 * Returns true if rows of a relation carry the row identity of an updated or deleted inheritance
 * tree. setrefs.c resolves such a Var from a child plan's target list, but not from the
 * custom_scan_tlist of a node with several children.
 */
static bool
hg_has_row_identity(const RelOptInfo *rel)
{
	ListCell *lc;

	foreach (lc, rel->reltarget->exprs)
		if (IsA(lfirst(lc), Var) && ((const Var *) lfirst(lc))->varno == ROWID_VAR)
			return true;
	return false;
}

/*
 * Returns true if rows of a relation have an anonymous record from a subquery or CTE. EXPLAIN
 * VERBOSE looks up its field names in the scan of the subquery, and does not find it from the
 * custom_scan_tlist of a node above.
 */
static bool
hg_has_anonymous_record(PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell *lc;

	foreach (lc, rel->reltarget->exprs)
	{
		Node *expr = lfirst(lc);

		while (IsA(expr, PlaceHolderVar))
			expr = (Node *) ((PlaceHolderVar *) expr)->phexpr;
		if (IsA(expr, Var) && ((Var *) expr)->vartype == RECORDOID && ((Var *) expr)->varattno > 0)
		{
			RTEKind kind = planner_rt_fetch(((Var *) expr)->varno, root)->rtekind;

			if (kind == RTE_SUBQUERY || kind == RTE_CTE)
				return true;
		}
	}
	return false;
}

bool
hg_join_type_is_eligible(JoinType join_type)
{
	switch (join_type)
	{
		case JOIN_INNER:
		case JOIN_LEFT:
		case JOIN_RIGHT:
		case JOIN_FULL:
		case JOIN_SEMI:
		case JOIN_ANTI:
#if HG_HAVE_RIGHT_ANTI
		case JOIN_RIGHT_ANTI:
#endif
#if HG_HAVE_RIGHT_SEMI
		case JOIN_RIGHT_SEMI:
#endif
#if HG_HAVE_JOIN_UNIQUE
		case JOIN_UNIQUE_OUTER:
		case JOIN_UNIQUE_INNER:
#endif
			return true;
		default:
			return false;
	}
}

bool
hg_rel_is_eligible(PlannerInfo *root, const RelOptInfo *rel)
{
	return !(root->row_identity_vars != NIL && hg_has_row_identity(rel)) &&
		   !hg_has_anonymous_record(root, rel);
}

bool
hg_clauses_are_eligible(const PlannerInfo *root pg_attribute_unused(),
						List *restrictlist pg_attribute_unused())
{
#if !HG_HAVE_CUSTOM_RESTRICTINFO
	return !root->hasPseudoConstantQuals || !hg_has_pseudoconstant(restrictlist);
#else
	return true;
#endif
}
