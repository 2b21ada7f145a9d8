/*-------------------------------------------------------------------------
 *
 * hg_join_star_columns.c
 *	  A star's tree of joins, and the columns of its tables in a device's job.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/parallel.h"

#include "executor/join/hg_join_replica.h"
#include "executor/join/hg_join_source.h"
#include "executor/join/hg_join_star_graphs.h"
#include "executor/join/hg_join_state.h"

/* ---------------------------------------------------------------------
 * The tree
 * ---------------------------------------------------------------------
 */

/* Returns true if a join can be part of a tree. */
static bool
hg_tree_takes(const HgJoinState *join)
{
	const HgKeyEncoder *encoder = join->inputs[HG_OUTER]->child.keys.encoder;

	if ((join->rules.join_type != JOIN_INNER && join->rules.join_type != JOIN_LEFT &&
		 join->rules.join_type != JOIN_RIGHT) ||
		join->rules.join_qual != NULL || join->css.ss.ps.plan->qual != NIL ||
		join->css.ss.ps.plan->parallel_aware || join->participants.shared != NULL ||
		encoder->nparts != 1)
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

/* Returns the table column behind a column, by its index in the batches, of a join's side. */
static HgTreeColumn
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

/* ---------------------------------------------------------------------
 * Columns
 * ---------------------------------------------------------------------
 */

/* Marks a computed column, in place of its table; its number is that of the expression. */
#define HG_STAR_COMPUTED (-1)

/* Returns the index of a column among those of its side, adding it if needed; -1: no room. */
static int
hg_star_column(HgJoinStar *star, const HgTreeColumn *column, HgSide side)
{
	HgColumnSet *set = &star->reduction.columns[side];

	for (uint32 i = 0; i < set->ncolumns; i++)
		if (star->columns[side][i].table == column->table &&
			star->columns[side][i].column == column->column)
			return (int) i;
	if (set->ncolumns == HG_MAX_COLUMNS)
		return -1;
	star->columns[side][set->ncolumns] = *column;
	return (int) set->ncolumns++;
}

HgTreeColumn
hg_star_trace(HgJoinState *state, HgSide side, uint32 column)
{
	return hg_join_tree_trace(&state->star->tree, state, side,
							  hg_join_reduction_column(state->reduction, side, column));
}

/*
 * Replaces a column of the topmost join's reduction by one of the job.  An operand of an
 * expression is read on the side of all operands.  Returns false if the device lacks its replica.
 */
static bool
hg_star_find_column(HgJoinState *state, const HgReduction *requested, bool operand,
					HgReduceColumn *column)
{
	HgJoinStar *star = state->star;
	const HgSide from = (HgSide) column->side;
	const HgTreeColumn origin = hg_star_trace(state, from, column->column);
	const HgCovered *covered = star->tree.tables[origin.table].input->child.covered;
	HgStarTable *table =
		operand ? hg_star_table(&star->graphs, origin.table) : &star->graphs.tables[origin.table];
	const bool coded = hg_join_reduction_is_coded(state->reduction, from, column->column);
	const uint8 width = requested->columns[from].widths[column->column];
	HgReplicaCovered *replica = &star->graphs.replica[table->side];
	const HgGraphCodes *codes;
	HgReplicaColumnUse *use;
	int column_index;

	column_index = hg_star_column(star, &origin, table->side);
	if (column_index < 0)
		return false;
	column->side = (uint32) table->side;
	column->column = (uint32) column_index;
	star->reduction.columns[table->side].widths[column_index] = width;
	use = &replica->columns[column_index];
	if (!hg_star_find_replica_column(&star->graphs, table,
									 covered->columns[origin.column].column.number, use, &codes) ||
		use->shape.width != width || (codes != NULL) != coded)
		return false;
	use->lookup = table->lookup;
	table->stride = use->shape.stride;
	hg_replica_note_codes(replica, &star->codes, table->side, (uint32) column_index, codes);
	return true;
}

int
hg_star_expression(const HgJoinReduction *reduction, const HgReduceColumn *column)
{
	return hg_join_reduction_expression(reduction, (HgSide) column->side, column->column);
}

void
hg_star_find_computed_tables(HgJoinState *state, const HgReduction *requested)
{
	HgStarGraphs *graphs = &state->star->graphs;

	graphs->ncomputed = 0;
	for (uint32 i = 0; requested != NULL && i < requested->spec.nitems; i++)
	{
		const int expression =
			hg_star_expression(state->reduction, &requested->spec.items[i].argument);
		uint32 which[2];
		uint32 tables = 0;

		if (expression < 0)
			continue;
		hg_join_reduction_operands(state->reduction, expression, which);
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			for (uint32 c = 0; c < HG_MAX_COLUMNS; c++)
				if ((which[side] >> c & 1) != 0)
					tables |= UINT32_C(1) << hg_star_trace(state, (HgSide) side, c).table;
		graphs->computed[graphs->ncomputed++] = tables;
	}
}

/* Finds the operands of an expression as columns of one side; false: not possible. */
static bool
hg_star_find_operands(HgJoinState *state, const HgReduction *requested, int expression,
					  HgOperand operands[2][HG_MAX_COLUMNS], HgSide *side)
{
	uint32 which[2];
	bool all = true;
	bool any = false;

	hg_join_reduction_operands(state->reduction, expression, which);
	for (uint32 i = 0; i < 2 * HG_MAX_COLUMNS; i++)
	{
		const HgSide from = i < HG_MAX_COLUMNS ? HG_OUTER : HG_INNER;
		HgReduceColumn column = {.side = (uint32) from, .column = i % HG_MAX_COLUMNS};
		HgOperand *operand = &operands[from][column.column];

		*operand = (HgOperand){0, -1};
		if ((which[from] >> column.column & 1) == 0)
			continue;
		/* each missing operand is requested, even if others are missing */
		if (!hg_star_find_column(state, requested, true, &column) ||
			(any && column.side != (uint32) *side))
		{
			all = false;
			continue;
		}
		*side = (HgSide) column.side;
		any = true;
		*operand = (HgOperand){column.column, state->star->codes.scales[*side][column.column]};
	}
	return all && any;
}

/* Replaces a computed column of the reduction by one of the job; false as above. */
static bool
hg_star_find_computed(HgJoinState *state, const HgReduction *requested, HgReduceColumn *column)
{
	HgJoinStar *star = state->star;
	HgOperand operands[2][HG_MAX_COLUMNS];
	const HgTreeColumn origin = {HG_STAR_COMPUTED, hg_star_expression(state->reduction, column)};
	const HgStarTable *table;
	HgSide side = HG_OUTER;
	uint32 before;
	int column_index;

	if (!hg_star_find_operands(state, requested, origin.column, operands, &side))
		return false;
	before = star->reduction.columns[side].ncolumns;
	column_index = hg_star_column(star, &origin, side);
	if (column_index < 0)
		return false;
	column->side = (uint32) side;
	column->column = (uint32) column_index;
	star->reduction.columns[side].widths[column_index] = HG_COMPUTED_WIDTH;
	table = &star->graphs.tables[hg_star_side(&star->graphs, side)];
	return (uint32) column_index < before ||
		   hg_replica_add_computed(&star->graphs.replica[side], &star->codes, side,
								   (uint32) column_index, state->reduction, origin.column, operands,
								   table->use.shape.parts, table->stride);
}

/* Finds the operands of a computed column, which must precede all computed columns. */
static bool
hg_star_has_operands(HgJoinState *state, const HgReduction *requested, const HgReduceColumn *column)
{
	HgOperand operands[2][HG_MAX_COLUMNS];
	HgSide side = HG_OUTER;

	return hg_star_find_operands(state, requested, hg_star_expression(state->reduction, column),
								 operands, &side);
}

bool
hg_star_find_columns(HgJoinState *state, const HgReduction *requested)
{
	HgReduction *reduction = &state->star->reduction;
	bool all = true;

	memset(reduction->columns, 0, sizeof(reduction->columns));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		state->star->graphs.replica[side].nprograms = 0;
	reduction->spec = requested->spec;
	for (uint32 i = 0; i < requested->spec.nkeys; i++)
		all &= hg_star_find_column(state, requested, false, &reduction->spec.keys[i]);
	for (uint32 i = 0; i < requested->spec.nitems; i++)
		if (hg_star_expression(state->reduction, &requested->spec.items[i].argument) < 0)
			all &= hg_star_find_column(state, requested, false, &reduction->spec.items[i].argument);
	for (uint32 i = 0; i < requested->spec.nitems; i++)
		if (hg_star_expression(state->reduction, &requested->spec.items[i].argument) >= 0)
			all &= hg_star_has_operands(state, requested, &requested->spec.items[i].argument);
	/* now the strides of tables, which their columns change, are known */
	for (uint32 i = 0; i < requested->spec.nitems; i++)
		if (hg_star_expression(state->reduction, &requested->spec.items[i].argument) >= 0)
			all &= hg_star_find_computed(state, requested, &reduction->spec.items[i].argument);
	return all && state->star->graphs.at != 0;
}
