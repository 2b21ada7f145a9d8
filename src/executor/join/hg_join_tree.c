/*-------------------------------------------------------------------------
 *
 * hg_join_tree.c
 *	  A tree of joins: the tables below it, and the columns that are joined.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/parallel.h"

#include "executor/join/hg_join_source.h"
#include "executor/join/hg_join_state.h"
#include "executor/join/hg_join_tree.h"

/* Returns true if a join can be part of a tree. */
static bool
hg_tree_takes(const HgJoinState *join)
{
	const HgKeyEncoder *encoder = join->inputs[HG_OUTER]->child.keys.encoder;

	if ((join->rules.join_type != JOIN_INNER && join->rules.join_type != JOIN_LEFT &&
		 join->rules.join_type != JOIN_RIGHT) ||
		join->rules.join_qual != NULL || join->css.ss.ps.plan->qual != NIL ||
		join->css.ss.ps.plan->parallel_aware || join->participants.shared != NULL ||
		IsParallelWorker() || encoder->nparts != 1)
		return false;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (!hg_key_is_integer(encoder, (HgSide) side) ||
			join->inputs[side]->child.keys.exprs != NULL)
			return false;
	return true;
}

/* Adds a join and all below it to a tree of ntables tables; returns their number, or -1. */
static int
hg_tree_add(HgJoinTree *tree, HgJoinState *join, int ntables)
{
	if (tree->njoins == HG_TREE_JOINS || !hg_tree_takes(join))
		return -1;
	tree->joins[tree->njoins++] = join;
	for (int side = HG_OUTER; side <= HG_INNER && ntables >= 0; side++)
	{
		HgInput *input = join->inputs[side];
		HgJoinState *below = hg_join_source_join(input->child.source);
		const bool optional = join->rules.preserved[1 - side];

		if (below != NULL)
			ntables = optional ? -1 : hg_tree_add(tree, below, ntables);
		else if (ntables < HG_TREE_TABLES)
			tree->tables[ntables++] = (HgTreeTable){join, (HgSide) side, input, optional};
		else
			ntables = -1;
	}
	return ntables;
}

/* Returns the table that is the input of a join's side. */
static int
hg_tree_find(const HgJoinTree *tree, const HgInput *input)
{
	for (int t = 0; t <= tree->njoins; t++)
		if (tree->tables[t].input == input)
			return t;
	elog(ERROR, "an input is none of its join's tables");
}

HgTreeColumn
hg_join_tree_trace(const HgJoinTree *tree, HgJoinState *join, HgSide side, int column)
{
	const HgInput *input = join->inputs[side];
	HgJoinState *below;

	while ((below = hg_join_source_join(input->child.source)) != NULL)
	{
		const int column_index = hg_join_source_column(input->child.source, column);

		input = NULL;
		for (int s = HG_OUTER; s <= HG_INNER && input == NULL; s++)
			for (int i = 0; i < below->inputs[s]->held.ncolumns && input == NULL; i++)
				if (below->inputs[s]->held.to[i] == column_index)
				{
					input = below->inputs[s];
					column = input->child.from[i];
				}
		if (input == NULL)
			elog(ERROR, "a column of a join is none of its inputs'");
	}
	return (HgTreeColumn){hg_tree_find(tree, input), column};
}

bool
hg_join_tree_init(HgJoinTree *tree, HgJoinState *top)
{
	tree->njoins = 0;
	if (hg_tree_add(tree, top, 0) < 0)
		return false;
	for (int j = 0; j < tree->njoins; j++)
	{
		HgJoinState *join = tree->joins[j];
		HgTreeEdge *edge = &tree->edges[j];

		for (int side = HG_OUTER; side <= HG_INNER; side++)
		{
			const HgInputKeys *keys = &join->inputs[side]->child.keys;

			edge->ends[side] = hg_join_tree_trace(tree, join, (HgSide) side, keys->columns[0]);
			if (!hg_graph_parts(keys->encoder, (HgSide) side, &edge->parts[side]))
				return false;
		}
	}
	return true;
}
