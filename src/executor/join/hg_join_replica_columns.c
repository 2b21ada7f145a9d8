/*-------------------------------------------------------------------------
 *
 * hg_join_replica_columns.c
 *	  Columns of covered rows that devices have, or compute, for the groups of a join.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/join/hg_join_replica_columns.h"
#include "executor/join/hg_join_state.h"

void
hg_replica_note_codes(HgReplicaCovered *replica, HgJoinCodes *codes, HgSide side, uint32 column,
					  const HgGraphCodes *of)
{
	codes->of[side][column] = of;
	codes->scales[side][column] = of != NULL ? of->scale : -1;
	replica->coded[column] = of != NULL && of->scale < 0;
	replica->ncodes[column] = of != NULL ? of->ncodes : 0;
}

bool
hg_replica_add_computed(HgReplicaCovered *replica, HgJoinCodes *codes, HgSide side, uint32 column,
						const HgJoinReduction *reduction, int expression,
						HgOperand operands[2][HG_MAX_COLUMNS], uint32 parts, uint32 stride)
{
	/* each column may have a program */
	StaticAssertStmt(HG_MAX_PROGRAMS >= HG_MAX_COLUMNS, "there are fewer programs than columns");
	hg_replica_note_codes(replica, codes, side, column, NULL);
	if (!hg_join_reduction_program(reduction, expression, operands,
								   &replica->programs[replica->nprograms],
								   &codes->scales[side][column]))
		return false;
	replica->nprograms++;
	replica->columns[column] = (HgReplicaColumnUse){
		.shape = {.width = HG_COMPUTED_WIDTH, .parts = parts, .stride = stride},
		.program = replica->nprograms};
	return true;
}

/* Lets a column of a side be computed, whose operands are known. */
static bool
hg_join_compute_column(const HgJoinState *state, HgSide side, uint32 column, int expression,
					   HgReplicaCovered *replica)
{
	HgJoinCodes *codes = hg_join_reduction_codes(state->reduction);
	HgOperand operands[2][HG_MAX_COLUMNS] = {0};

	for (uint32 i = 0; i < HG_MAX_COLUMNS; i++)
		operands[side][i] = (HgOperand){i, i < column ? codes->scales[side][i] : -1};
	/* all columns have the stride of the first one, which is never computed */
	return hg_replica_add_computed(replica, codes, side, column, state->reduction, expression,
								   operands, replica->use.shape.parts,
								   replica->columns[0].shape.stride);
}

HgDeviceSet
hg_join_find_replica_columns(const HgJoinState *state, HgSide side, const HgReduction *reduction,
							 HgReplicaCovered *replica)
{
	const HgCovered *covered = state->inputs[side]->child.covered;
	const HgColumnSet *set = &reduction->columns[side];
	HgJoinCodes *codes = hg_join_reduction_codes(state->reduction);
	AttrNumber numbers[HG_MAX_COLUMNS];
	HgDeviceSet all = HG_ALL_DEVICES;

	hg_join_reduction_numbers(state->reduction, side, numbers);
	replica->nprograms = 0;
	/* all missing columns are requested at once */
	for (uint32 column = 0; column < set->ncolumns; column++)
	{
		const HgGraphCodes *of = NULL;
		const int expression = hg_join_reduction_expression(state->reduction, side, column);

		if (expression >= 0)
		{
			if (all != 0 && !hg_join_compute_column(state, side, column, expression, replica))
				all = 0;
			continue;
		}
		if (replica->partitions != NULL)
			all &= hg_resident_graph_partitioned_column(covered->graph, numbers[column],
														&replica->columns[column], &of);
		else
			all &= hg_resident_graph_replica_column(covered->graph, numbers[column],
													&replica->columns[column], &of);
		if (replica->columns[column].shape.width != set->widths[column] ||
			(of != NULL) != hg_join_reduction_is_coded(state->reduction, side, column))
			all = 0;
		hg_replica_note_codes(replica, codes, side, column, of);
	}
	return all;
}
