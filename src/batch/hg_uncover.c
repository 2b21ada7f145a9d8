/*-------------------------------------------------------------------------
 *
 * hg_uncover.c
 *	  Uncovered rows: covered rows that the processes of a parallel query read after all.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"

#include "batch/hg_uncover.h"

void
hg_uncover_begin(HgUncover *uncover, HgCovered *covered, pg_atomic_uint32 *next_part)
{
	uncover->covered = covered;
	uncover->columns = palloc(Max(covered->ncolumns, 1) * sizeof(int));
	for (int c = 0; c < covered->ncolumns; c++)
		uncover->columns[c] = c;
	uncover->next_part = next_part;
	uncover->part = 0;
	uncover->at = covered->first_ordinals[covered->nparts];
}

/* Claims the next segment; false if there is none. */
static bool
hg_uncover_take(HgUncover *uncover)
{
	uint32 part;

	CHECK_FOR_INTERRUPTS();
	/* the counter exceeds the number of segments by at most one for each process */
	part = pg_atomic_read_u32(uncover->next_part);
	if (part < uncover->covered->nparts)
		part = pg_atomic_fetch_add_u32(uncover->next_part, 1);
	if (part >= uncover->covered->nparts)
		return false;
	uncover->part = part;
	uncover->at = uncover->covered->first_ordinals[part];
	return true;
}

bool
hg_uncover_next(HgUncover *uncover, HgBatch *batch)
{
	uint32 rows[HG_BATCH_ROWS];
	int n;

	if (uncover->covered == NULL)
		return false;
	while ((n = hg_covered_next_of(uncover->covered, uncover->part, &uncover->at, rows,
								   HG_BATCH_ROWS)) == 0)
		if (!hg_uncover_take(uncover))
			return false;
	hg_covered_get(uncover->covered, rows, n, batch, uncover->columns);
	batch->nrows = n;
	batch->checked = false;
	return true;
}
