/*-------------------------------------------------------------------------
 *
 * hg_lent_back.c
 *	  Lent rows that are read after all, by the processes of a parallel query together.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"

#include "batch/hg_lent_back.h"

void
hg_lent_back_begin(HgLentBack *back, HgLent *lent, pg_atomic_uint32 *next_part)
{
	back->lent = lent;
	back->columns = palloc(Max(lent->ncolumns, 1) * sizeof(int));
	for (int c = 0; c < lent->ncolumns; c++)
		back->columns[c] = c;
	back->next_part = next_part;
	back->part = 0;
	back->at = lent->places[lent->nparts];
}

/* Go on to the next segment that no other process has taken; false where there is none. */
static bool
hg_lent_back_take(HgLentBack *back)
{
	uint32 part;

	CHECK_FOR_INTERRUPTS();
	/* no more than one by each process is behind the last one */
	part = pg_atomic_read_u32(back->next_part);
	if (part < back->lent->nparts)
		part = pg_atomic_fetch_add_u32(back->next_part, 1);
	if (part >= back->lent->nparts)
		return false;
	back->part = part;
	back->at = back->lent->places[part];
	return true;
}

bool
hg_lent_back_next(HgLentBack *back, HgBatch *batch)
{
	uint32 rows[HG_BATCH_ROWS];
	int n;

	if (back->lent == NULL)
		return false;
	while ((n = hg_lent_next_of(back->lent, back->part, &back->at, rows, HG_BATCH_ROWS)) == 0)
		if (!hg_lent_back_take(back))
			return false;
	hg_lent_get(back->lent, rows, n, batch, back->columns);
	batch->nrows = n;
	batch->checked = false;
	return true;
}
