/*-------------------------------------------------------------------------
 *
 * hg_uncover.c
 *	  Covered rows that are read after all, by the processes of a parallel query together.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"

#include "batch/hg_uncover.h"

void
hg_uncover_begin(HgUncover *back, HgCovered *covered, pg_atomic_uint32 *next_part)
{
	back->covered = covered;
	back->columns = palloc(Max(covered->ncolumns, 1) * sizeof(int));
	for (int c = 0; c < covered->ncolumns; c++)
		back->columns[c] = c;
	back->next_part = next_part;
	back->part = 0;
	back->at = covered->places[covered->nparts];
}

/* Go on to the next segment that no other process has taken; false where there is none. */
static bool
hg_uncover_take(HgUncover *back)
{
	uint32 part;

	CHECK_FOR_INTERRUPTS();
	/* no more than one by each process is behind the last one */
	part = pg_atomic_read_u32(back->next_part);
	if (part < back->covered->nparts)
		part = pg_atomic_fetch_add_u32(back->next_part, 1);
	if (part >= back->covered->nparts)
		return false;
	back->part = part;
	back->at = back->covered->places[part];
	return true;
}

bool
hg_uncover_next(HgUncover *back, HgBatch *batch)
{
	uint32 rows[HG_BATCH_ROWS];
	int n;

	if (back->covered == NULL)
		return false;
	while ((n = hg_covered_next_of(back->covered, back->part, &back->at, rows, HG_BATCH_ROWS)) == 0)
		if (!hg_uncover_take(back))
			return false;
	hg_covered_get(back->covered, rows, n, batch, back->columns);
	batch->nrows = n;
	batch->checked = false;
	return true;
}
