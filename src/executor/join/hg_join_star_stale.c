/*-------------------------------------------------------------------------
 *
 * hg_join_star_stale.c
 *	  Stale probes: covered fact rows of a multi-way join that may match delta rows.
 *
 * A table that is looked up may have delta rows, because blocks have changed.  A device knows
 * covered rows only, so it would find nothing for a fact row that matches a delta row.  So the few
 * delta rows of each table are read first.  The values by which they are found are stale, and so
 * are the values of covered rows of a table that find such rows in turn.  Fact rows with a stale
 * value are the stale probes: the joins of the tree join them, as if they were delta rows.  A
 * device is asked about all other fact rows, which match covered rows only.
 *
 * A changed or deleted row needs no more than that, because its old version is not covered.  Delta
 * rows with a NULL key in their own join are included, because other tables may still find them if
 * an outer join returns them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"

#include "executor/join/hg_join_star_stale.h"
#include "executor/join/hg_join_state.h"

/* Limits of stale rows: this number, or this part of a table's covered rows if that is more. */
#define HG_STALE_PROBES_ROWS 1024
#define HG_STALE_PROBES_PART 64

/* Returns the maximal number of stale rows of a table. */
static uint64
hg_stale_limit(const HgInput *input)
{
	return Max(input->child.covered->rows / HG_STALE_PROBES_PART, HG_STALE_PROBES_ROWS);
}

/* Adds the values of a column of rows that were read, rows with a NULL key included. */
static void
hg_stale_add_rows(const HgInput *input, const HgInputRows *rows, int column, HgIntegers *values)
{
	const int16 length =
		TupleDescAttr(ExecGetResultType(input->child.plan), input->child.keys.attnos[column])
			->attlen;

	for (int i = 0; i < rows->nkeys + rows->nnull; i++)
	{
		const int row = i >= rows->nkeys	  ? rows->null_rows[i - rows->nkeys]
						: rows->which != NULL ? rows->which[i]
											  : i;
		const Datum value = rows->batch->values[column][row];

		if (hg_batch_is_null(rows->batch, column, row))
			continue;
		hg_integers_add(values, length == sizeof(int16)	  ? DatumGetInt16(value)
								: length == sizeof(int32) ? DatumGetInt32(value)
														  : DatumGetInt64(value));
	}
}

/*
 * Reads a table's delta rows and adds the values by which they are found.  The table starts again
 * afterwards, as if no row had been read.  Returns false if there are too many.
 */
static bool
hg_stale_read(HgInput *input, int column, HgIntegers *values)
{
	const HgChildRows before = input->child;
	const uint64 most = hg_stale_limit(input);
	HgInputRows rows;
	HgSpillKeys keys;

	while (values->count <= most && hg_input_read(input, &rows, &keys))
		hg_stale_add_rows(input, &rows, column, values);
	hg_input_rescan(input);
	input->child.rows_read = before.rows_read;
	input->child.null_keys = before.null_keys;
	input->child.filtering.refused = before.filtering.refused;
	return values->count <= most;
}

/* Adds the covered rows of a table that find stale values of other tables. */
static bool
hg_stale_find(const HgJoinTree *tree, const HgStarGraphs *graphs, int t,
			  const HgIntegers stale_values[HG_TREE_TABLES], HgIntegers *rows)
{
	const HgInput *input = tree->tables[t].input;

	for (int other = 0; other <= tree->njoins; other++)
		if (graphs->tables[other].from == t &&
			!hg_covered_find_rows(input->child.covered, graphs->tables[other].own,
								  &stale_values[other], hg_stale_limit(input), rows))
			return false;
	return true;
}

bool
hg_star_find_stale(const HgJoinTree *tree, const HgStarGraphs *graphs, HgIntegers *rows)
{
	HgIntegers stale_values[HG_TREE_TABLES];

	/* from the tables that look nothing up towards the fact relation, which is first in order */
	for (int n = tree->njoins; n > 0; n--)
	{
		const int t = graphs->order[n];
		const int column = graphs->tables[t].column;
		HgInput *input = tree->tables[t].input;
		HgIntegers found;

		hg_integers_init(&stale_values[t]);
		hg_integers_init(&found);
		if ((!input->child.covered->whole && !hg_stale_read(input, column, &stale_values[t])) ||
			!hg_stale_find(tree, graphs, t, stale_values, &found))
			return false;
		hg_covered_add_values(input->child.covered, &found, column, &stale_values[t]);
	}
	return hg_stale_find(tree, graphs, graphs->fact, stale_values, rows);
}
