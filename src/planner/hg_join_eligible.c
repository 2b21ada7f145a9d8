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
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"

#include "batch/hg_key.h"
#include "engine/hg_engine.h"
#include "planner/hg_join_eligible.h"
#include "planner/hg_planner_run.h"

/* ---------------------------------------------------------------------
 * Which clauses of a join the join node can hash
 * ---------------------------------------------------------------------
 */

/* Most joins have no more. */
#define HG_FEW_CLAUSES 4

/* Returns true if a clause compares the two relations, and sets its outer_is_left. */
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

/* Returns the operator of a hash clause with the outer operand on its left; or InvalidOid. */
static Oid
hg_clause_operator(const RestrictInfo *rinfo)
{
	Oid operator_oid = ((const OpExpr *) rinfo->clause)->opno;

	return rinfo->outer_is_left ? operator_oid : hg_key_commutator(operator_oid);
}

/* Returns the cost of evaluating a key; columns cost nothing. */
static QualCost
hg_key_cost(PlannerInfo *root, Node *key)
{
	QualCost cost = {0, 0};

	while (IsA(key, RelabelType))
		key = (Node *) ((RelabelType *) key)->arg;
	if (!IsA(key, Var))
		cost_qual_eval_node(&cost, key, root);
	return cost;
}

/* Cached properties of a clause: the same clauses join many pairs of relations in a run. */
typedef struct HgFoundClause
{
	HgRunKey key;
	QualCost left; /* cost of evaluating the left operand */
	QualCost right;
	/* [1] with the left operand as the outer one, [0] with the right one */
	struct
	{
		bool usable;
		bool exact;
		uint32 width;
	} orders[2];
} HgFoundClause;

#define HG_FOUND_CLAUSES_BITS 7

static HgFoundClause hg_found_clauses[1 << HG_FOUND_CLAUSES_BITS];

static void
hg_clause_look(PlannerInfo *root, const RestrictInfo *rinfo, HgFoundClause *found)
{
	Oid operator_oid = ((const OpExpr *) rinfo->clause)->opno;

	for (int left = 0; left < 2; left++)
	{
		HgKeyClause clause = {.operator_oid =
								  left ? operator_oid : hg_key_commutator(operator_oid)};

		found->orders[left].usable =
			OidIsValid(clause.operator_oid) && hg_key_operator_usable(clause.operator_oid);
		found->orders[left].exact =
			found->orders[left].usable && hg_key_is_exact(1, &clause, &found->orders[left].width);
	}
	found->left = hg_key_cost(root, get_leftop(rinfo->clause));
	found->right = hg_key_cost(root, get_rightop(rinfo->clause));
}

/* Returns the properties of a clause, cached or in *space. */
static const HgFoundClause *
hg_clause_find(PlannerInfo *root, const RestrictInfo *rinfo, HgFoundClause *space)
{
	HgRunKey key = {hg_planner_run_find(root, rinfo), rinfo, 0};
	HgFoundClause *found = space;
	bool known = false;

	if (key.run != 0)
		found = hg_planner_run_entry(hg_found_clauses, sizeof(HgFoundClause), HG_FOUND_CLAUSES_BITS,
									 key, &known);
	if (!known)
	{
		space->key = key;
		hg_clause_look(root, rinfo, space);
		*found = *space;
	}
	return found;
}

/* Adds the cost of the keys of one more clause. */
static void
hg_keys_add(HgJoinKeys *keys, const HgFoundClause *found, bool outer_is_left)
{
	const QualCost *outer = outer_is_left ? &found->left : &found->right;
	const QualCost *inner = outer_is_left ? &found->right : &found->left;

	keys->cost[HG_OUTER].startup += outer->startup;
	keys->cost[HG_OUTER].per_tuple += outer->per_tuple;
	keys->cost[HG_INNER].startup += inner->startup;
	keys->cost[HG_INNER].per_tuple += inner->per_tuple;
}

List *
hg_find_hash_clauses(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
					 RelOptInfo *innerrel, JoinType join_type, List *restrictlist, HgJoinKeys *keys)
{
	List *result = restrictlist;
	bool all = true;
	ListCell *lc;

	memset(keys, 0, sizeof(*keys));
	foreach (lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		HgFoundClause space;
		const HgFoundClause *found = NULL;

		/* a WHERE clause above an outer join cannot decide what matches */
		if (rinfo->can_join && OidIsValid(rinfo->hashjoinoperator) &&
			!(IS_OUTER_JOIN(join_type) && RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids)) &&
			hg_clause_sides_match(rinfo, outerrel, innerrel))
			found = hg_clause_find(root, rinfo, &space);
		if (found != NULL && found->orders[rinfo->outer_is_left].usable)
		{
			hg_keys_add(keys, found, rinfo->outer_is_left);
			keys->exact = found->orders[rinfo->outer_is_left].exact;
			keys->width = found->orders[rinfo->outer_is_left].width;
			if (!all)
				result = lappend(result, rinfo);
		}
		else if (all)
		{
			result = list_copy_head(restrictlist, foreach_current_index(lc));
			all = false;
		}
	}
	/* several keys must fit together */
	if (list_length(result) > 1)
		keys->exact = hg_hash_clauses_exact(result, &keys->width);
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
