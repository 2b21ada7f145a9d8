/*-------------------------------------------------------------------------
 *
 * hg_batch.h
 *	  A bounded number of rows as columns: how rows travel between scans, stores and joins.
 *
 * A batch has up to HG_BATCH_ROWS rows.  Each column is an array of Datums and, where it
 * may have NULLs, an array of flags.  Rows are at home in a column store (hg_column_store.h);
 * in a batch they are under way, and small enough to stay in the nearest cache.
 *
 * A source fills batches: the pages of a table (hg_scan.h), the slots of any other plan, a
 * partition on disk, or a join below this one, which hands over columns without forming a
 * row in between.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BATCH_H
#define HG_BATCH_H

#include "postgres.h"

/* More than the rows of any heap page of 8 kB, so that a page is one batch. */
#define HG_BATCH_ROWS 512

/* Ask for the cache line of an address. */
#ifdef __GNUC__
#define HG_PREFETCH(address) __builtin_prefetch(address)
#else
#define HG_PREFETCH(address) ((void) (address))
#endif

typedef struct HgBatch
{
	int nrows;
	int ncolumns;
	Datum **values;	 /* [ncolumns][HG_BATCH_ROWS]; NULL where a column is not wanted */
	bool **nulls;	 /* [ncolumns][HG_BATCH_ROWS], valid where has_nulls only */
	bool *has_nulls; /* [ncolumns]: some row may be NULL; its value is then undefined */
} HgBatch;

/*
 * A stream of batches.  next fills a batch, whose columns are those that the source was made
 * for, from row 0 on, and sets nrows and has_nulls.  It returns false at the end, and never an
 * empty batch before.  Values by reference stay where they are until the next call.
 */
typedef struct HgBatchSource HgBatchSource;
struct HgBatchSource
{
	bool (*next)(HgBatchSource *source, HgBatch *batch);

	/* the plan behind it is rescanned by the caller: start again */
	void (*restart)(HgBatchSource *source);
};

/* An empty batch of ncolumns columns, all of them wanted, in CurrentMemoryContext. */
extern HgBatch *hg_batch_create(int ncolumns);

/* The same, with the columns wanted[nwanted] alone. */
extern HgBatch *hg_batch_create_partial(int ncolumns, int nwanted, const int *wanted);

/* Is a row of a column NULL? */
static inline bool
hg_batch_is_null(const HgBatch *batch, int column, int row)
{
	return batch->has_nulls[column] && batch->nulls[column][row];
}

#endif /* HG_BATCH_H */
