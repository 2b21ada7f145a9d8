/*-------------------------------------------------------------------------
 *
 * hg_batch.h
 *	  Batches: a bounded number of rows as columns, in which rows move between scans, stores and
 *	  joins.
 *
 * A batch has up to HG_BATCH_ROWS rows, so that it fits a CPU's nearest cache.  Each column is an
 * array of Datums and, if it may have NULLs, an array of flags.  A column store
 * (hg_column_store.h) holds rows for longer.
 *
 * A source fills batches.  Sources are the pages of a table (hg_scan_table.h), a projection of
 * another source (hg_projection.h), the slots of any other plan, a partition on disk, and a join
 * below this one, which passes columns on without forming a row.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BATCH_H
#define HG_BATCH_H

#include "postgres.h"

/* More than the rows of any heap page of 8 kB, so that one batch holds a page. */
#define HG_BATCH_ROWS 512

/* Default of HgBatchSource.max_bytes. */
#define HG_BATCH_BYTES ((Size) 256 * 1024)

/* Prefetches the cache line of an address; a line has HG_CACHE_LINE bytes. */
#define HG_CACHE_LINE 64
#ifdef __GNUC__
#define HG_PREFETCH(address) __builtin_prefetch(address)
#else
#define HG_PREFETCH(address) ((void) (address))
#endif

/* The distinct values of a column; a code is a value's index. */
typedef struct HgDictionary
{
	uint64 serial; /* never 0, and unique in a process among dictionaries in use */
	uint32 ncodes;
	const uint32 *starts; /* [ncodes] offsets of the values in bytes */
	const char *bytes;
} HgDictionary;

typedef struct HgBatch
{
	int nrows;
	int ncolumns;
	Datum **values;	 /* [ncolumns][HG_BATCH_ROWS]; NULL for a column that is not filled */
	bool **nulls;	 /* [ncolumns][HG_BATCH_ROWS], valid only if has_nulls is set */
	bool *has_nulls; /* [ncolumns] some row may be NULL; the value of a NULL is undefined */
	bool checked;	 /* all rows have passed the source's check */

	/*
	 * Numerics as scaled integers.  If the consumer has set takes_scaled[c], a source may supply a
	 * numeric column as int64s: each value times 10^scales[c], which is also each value's display
	 * scale.  A negative scales[c], the initial value, says that the column has numerics.
	 */
	bool *takes_scaled; /* [ncolumns] */
	int *scales;		/* [ncolumns] */

	/*
	 * Codes instead of values.  If the consumer has set takes_codes[c], a source may supply all
	 * rows of a batch as UInt32GetDatum() of codes of dictionaries[c].  That dictionary lives as
	 * long as the batch's rows; NULL says that the column has values.
	 */
	bool *takes_codes;				   /* [ncolumns] */
	const HgDictionary **dictionaries; /* [ncolumns] */
} HgBatch;

/* Bounds of all values of a column, and its array in a segment of the cache (hg_predicate.h). */
typedef struct HgValueBounds HgValueBounds;
typedef struct HgPredicateColumn HgPredicateColumn;

/*
 * A filter that the consumer passes to its source, over some columns of the rows.  The source may
 * apply it before it does its own work on a row.  A check raises no error and has no effect but to
 * count the rows that it rejects.
 */
typedef struct HgRowCheck HgRowCheck;
struct HgRowCheck
{
	/*
	 * Fills which[batch->nrows] with the selected rows' indexes; returns their number.  NULL if
	 * rows are not tested one by one.
	 */
	int (*apply)(HgRowCheck *check, const HgBatch *batch, uint16 *which);
	/*
	 * Returns true if all of nrows rows, whose columns 0, 1, ... have bounds, are rejected, and
	 * counts them.  NULL if bounds never show that.
	 */
	bool (*rejects_all)(HgRowCheck *check, const HgValueBounds *bounds, uint32 nrows);
	/*
	 * Sets holds[i] to whether row first + i of a segment, with these arrays of the columns, is
	 * selected, for i < n <= HG_BATCH_ROWS, in less time than apply().  Returns the number of
	 * selected rows, or -1 if it cannot and has done nothing.  NULL if it never can.
	 */
	int (*apply_arrays)(HgRowCheck *check, const HgPredicateColumn *columns, uint32 first, int n,
						bool *holds);
	bool takes_scaled; /* column 0 of apply()'s batch may have scaled integers */
	int ncolumns;	   /* of apply()'s batch */
	/* [ncolumns] the source's columns that are columns 0, 1, ... of apply()'s batch */
	int *columns;
	double share; /* estimated share of the rows that it selects */
};

/*
 * Consecutive rows without NULLs, as arrays of by-value columns.  values[c] has nrows elements of
 * the column's own width.
 */
typedef struct HgRun
{
	int nrows;
	const void **values; /* [ncolumns] */
} HgRun;

/* Upper bound of a run's rows: a consumer checks its memory budget between two runs. */
#define HG_RUN_MOST 8192

/*
 * The order in which a consumer would like to have rows: by a column, in which NULLs come first or
 * last.  A scan reads segments of cached columns in this order of their least values, or of their
 * greatest values if the order is descending.
 */
typedef struct HgRowOrder
{
	int column; /* of the source's batches */
	bool descending;
	bool nulls_first;
} HgRowOrder;

/* The tables that a source scans (hg_scan_table.h). */
typedef struct HgScanTables HgScanTables;

/*
 * A stream of batches.  next() overwrites a batch with the next rows, in the columns that the
 * source was made for, and sets nrows and has_nulls.  It returns false at the end, and never
 * returns an empty batch.  By-reference values are valid until the next call.  The source lives
 * in the memory context in which it was created.
 *
 * A batch is bounded by rows and by bytes.  It ends at the latest with the row that brings its
 * by-reference values to max_bytes; a value out of line counts as its pointer.  A consumer that
 * copies batches, and checks its budget (hg_budget.h) between them, exceeds the budget by at most
 * max_bytes and one row.  A consumer that copies no values sets max_bytes to 0; only a source that
 * must copy values then counts bytes.  The rows of one heap page are always one batch, but values
 * of columns that were added later count as others do.
 *
 * A source whose filter selects few rows stops when a batch has max_rows, or at the end of the
 * page or run that it then reads.
 *
 * The consumer may change the check between two batches.  A batch whose rows have all passed the
 * check is marked as checked; the consumer clears that mark.
 */
typedef struct HgBatchSource HgBatchSource;
struct HgBatchSource
{
	bool (*next)(HgBatchSource *source, HgBatch *batch);

	/*
	 * Returns the next rows, up to max_rows, as a run instead of a batch.  Returns false and does
	 * nothing if the next rows do not come as a run.  Rows are not tested one by one.  The arrays
	 * live as long as the source.  NULL if the source never has runs.
	 */
	bool (*next_run)(HgBatchSource *source, int max_rows, HgRun *run);

	/* Starts again, after the caller has rescanned the plan behind the source. */
	void (*restart)(HgBatchSource *source);

	Size max_bytes;		  /* HG_BATCH_BYTES, unless the consumer changes it */
	int max_rows;		  /* HG_BATCH_ROWS, unless the consumer changes it */
	HgRowCheck *check;	  /* NULL if all rows are returned */
	HgRowOrder *order;	  /* set before the first row is read; NULL if any will do */
	HgScanTables *tables; /* tables that can have cached columns; or NULL */
};

/* Creates an empty batch with arrays for ncolumns columns, in CurrentMemoryContext. */
extern HgBatch *hg_batch_create(int ncolumns);

/* Creates an empty batch of ncolumns columns; only the columns wanted[nwanted] have arrays. */
extern HgBatch *hg_batch_create_partial(int ncolumns, int nwanted, const int *wanted);

/* Empties a batch: no column has NULLs, scaled integers or codes any more. */
static inline void
hg_batch_clear(HgBatch *batch)
{
	batch->nrows = 0;
	memset(batch->has_nulls, 0, batch->ncolumns * sizeof(bool));
	for (int c = 0; c < batch->ncolumns; c++)
	{
		batch->scales[c] = -1;
		batch->dictionaries[c] = NULL;
	}
}

/* Returns true if the row of the column is NULL. */
static inline bool
hg_batch_is_null(const HgBatch *batch, int column, int row)
{
	return batch->has_nulls[column] && batch->nulls[column][row];
}

#endif /* HG_BATCH_H */
