/*-------------------------------------------------------------------------
 *
 * hg_join_star_touched.c
 *	  Facts of a star that may find rows which a device does not know.
 *
 * A table that is looked up may have delta rows, because their blocks have changed.  A device that
 * is asked about the covered rows would have facts find nothing where they would find a delta row.
 * So the table's few delta rows are read first.  The values by which they are found are TOUCHED,
 * and with them the values of covered rows of a table that find such rows in turn.  Facts that
 * have a touched value are left to the joins of the tree, as if they were delta rows.  A device is
 * asked about all other facts, which find covered rows alone.
 *
 * A row that has changed, or is gone, needs no more than that: its old version is not covered any
 * more.  A row that an outer join returns without a key to find others by is found by others
 * itself.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/executor.h"

#include "executor/join/hg_join_star_touched.h"
#include "executor/join/hg_join_state.h"

/* So many rows may be touched, and one in so many of a table's. */
#define HG_TOUCHED_ROWS 1024
#define HG_TOUCHED_PART 64

/* How many rows of a table may be touched. */
static uint64
hg_touched_most(const HgInput *input)
{
	return Max(input->covered->rows / HG_TOUCHED_PART, HG_TOUCHED_ROWS);
}

/* Add the values of a column of rows that were read, those without a key of their join included. */
static void
hg_touched_add_rows(const HgInput *input, const HgInputRows *rows, int column, HgIntegers *values)
{
	const int16 length =
		TupleDescAttr(ExecGetResultType(input->plan), input->batch_attnos[column])->attlen;

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
 * Adds the values by which delta rows of a table are found.  It is read from its start afterwards,
 * and its delta rows have not been consumed.
 */
static bool
hg_touched_read(HgInput *input, int column, HgIntegers *values)
{
	const HgInput before = *input;
	const uint64 most = hg_touched_most(input);
	HgInputRows rows;
	HgSpillKeys keys;

	while (values->count <= most && hg_input_read(input, &rows, &keys))
		hg_touched_add_rows(input, &rows, column, values);
	hg_input_rescan(input);
	input->rows_read = before.rows_read;
	input->null_keys = before.null_keys;
	input->refused = before.refused;
	return values->count <= most;
}

/* Adds the covered rows of a table that find touched values of others. */
static bool
hg_touched_find(const HgJoinTree *tree, const HgStarGraphs *graphs, int t,
				const HgIntegers touched[HG_TREE_TABLES], HgIntegers *rows)
{
	const HgInput *input = tree->tables[t].input;

	for (int other = 0; other <= tree->njoins; other++)
		if (graphs->tables[other].from == t &&
			!hg_covered_find_rows(input->covered, graphs->tables[other].own, &touched[other],
								  hg_touched_most(input), rows))
			return false;
	return true;
}

bool
hg_star_find_touched(const HgJoinTree *tree, const HgStarGraphs *graphs, HgIntegers *rows)
{
	HgIntegers touched[HG_TREE_TABLES];

	/* from those that find nothing on to the facts, which are the first one */
	for (int n = tree->njoins; n > 0; n--)
	{
		const int t = graphs->order[n];
		const int column = graphs->tables[t].column;
		HgInput *input = tree->tables[t].input;
		HgIntegers found;

		hg_integers_init(&touched[t]);
		hg_integers_init(&found);
		if ((!input->covered->whole && !hg_touched_read(input, column, &touched[t])) ||
			!hg_touched_find(tree, graphs, t, touched, &found))
			return false;
		hg_covered_add_values(input->covered, &found, column, &touched[t]);
	}
	return hg_touched_find(tree, graphs, graphs->facts, touched, rows);
}
