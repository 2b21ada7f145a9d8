/*-------------------------------------------------------------------------
 *
 * hg_batch.c
 *	  Allocation of batches.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_batch.h"

HgBatch *
hg_batch_create_partial(int ncolumns, int nwanted, const int *wanted)
{
	HgBatch *batch = palloc0(sizeof(HgBatch));

	batch->ncolumns = ncolumns;
	batch->values = palloc0(Max(ncolumns, 1) * sizeof(Datum *));
	batch->nulls = palloc0(Max(ncolumns, 1) * sizeof(bool *));
	batch->has_nulls = palloc(Max(ncolumns, 1) * sizeof(bool));
	batch->takes_scaled = palloc0(Max(ncolumns, 1) * sizeof(bool));
	batch->scales = palloc(Max(ncolumns, 1) * sizeof(int));
	batch->takes_codes = palloc0(Max(ncolumns, 1) * sizeof(bool));
	batch->dictionaries = palloc(Max(ncolumns, 1) * sizeof(HgDictionary *));
	hg_batch_clear(batch);
	for (int i = 0; i < nwanted; i++)
	{
		batch->values[wanted[i]] = palloc(HG_BATCH_ROWS * sizeof(Datum));
		batch->nulls[wanted[i]] = palloc(HG_BATCH_ROWS * sizeof(bool));
	}
	return batch;
}

HgBatch *
hg_batch_create(int ncolumns)
{
	int *wanted = palloc(Max(ncolumns, 1) * sizeof(int));
	HgBatch *batch;

	for (int c = 0; c < ncolumns; c++)
		wanted[c] = c;
	batch = hg_batch_create_partial(ncolumns, ncolumns, wanted);
	pfree(wanted);
	return batch;
}
