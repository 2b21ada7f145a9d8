/*-------------------------------------------------------------------------
 *
 * hg_join_used.c
 *	  Columns and parameters that a node's expressions use.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "nodes/nodeFuncs.h"

#include "executor/join/hg_join_used.h"

static bool
hg_used_walker(Node *node, HgUsed *used)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Assert(((Var *) node)->varno == INDEX_VAR && ((Var *) node)->varattno > 0);
		used->column_indexes = bms_add_member(used->column_indexes, ((Var *) node)->varattno - 1);
		return false;
	}
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		used->params = bms_add_member(used->params, ((Param *) node)->paramid);
	return expression_tree_walker(node, hg_used_walker, used);
}

void
hg_used_add(HgUsed *used, Node *expression)
{
	(void) hg_used_walker(expression, used);
}
