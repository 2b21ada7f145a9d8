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

#include "utils/dsa.h"

#include "resident/hg_resident_graph_key.h"

/* More than the rows of any heap page of 8 kB, so that a page is one batch. */
#define HG_BATCH_ROWS 512

/* The values by reference that a consumer copies at a time, with those of one more row. */
#define HG_BATCH_BYTES ((Size) 256 * 1024)

/* Ask for the cache line of an address, which has so many bytes. */
#define HG_CACHE_LINE 64
#ifdef __GNUC__
#define HG_PREFETCH(address) __builtin_prefetch(address)
#else
#define HG_PREFETCH(address) ((void) (address))
#endif

/* Values that come again in a column, by the codes that stand for them. */
typedef struct HgDictionary
{
	uint64 serial; /* no two that are used in a process have the same, and none has 0 */
	uint32 ncodes;
	const uint32 *starts; /* [ncodes] where the value of a code begins ... */
	const char *bytes;	  /* ... behind this */
} HgDictionary;

typedef struct HgBatch
{
	int nrows;
	int ncolumns;
	Datum **values;	 /* [ncolumns][HG_BATCH_ROWS]; NULL where a column is not wanted */
	bool **nulls;	 /* [ncolumns][HG_BATCH_ROWS], valid where has_nulls only */
	bool *has_nulls; /* [ncolumns]: some row may be NULL; its value is then undefined */
	bool checked;	 /* the rows have passed the source's check */

	/*
	 * Numerics as scaled integers: where the consumer has set takes_scaled[c], a source may give
	 * the values of a column of numerics as int64s, each value times 10^scales[c], which is each
	 * value's display scale too.  scales[c] is negative where it gives numerics, as it does if it
	 * sets nothing.
	 */
	bool *takes_scaled; /* [ncolumns] */
	int *scales;		/* [ncolumns] */

	/*
	 * Codes in place of values: where the consumer has set takes_codes[c], a source may give the
	 * values of all of a batch's rows as UInt32GetDatum() of their codes in dictionaries[c], which
	 * is NULL where it gives values; it stays as long as the batch's rows do.
	 */
	bool *takes_codes;				   /* [ncolumns] */
	const HgDictionary **dictionaries; /* [ncolumns] */
} HgBatch;

/*
 * What the consumer of rows leaves out, told by some of their columns: a source may ask it ahead
 * of what it does to rows itself, and spare itself the rest.  It never fails and has no effects
 * that anybody can see, other than counting the rows that it leaves out.
 */
typedef struct HgRowCheck HgRowCheck;
struct HgRowCheck
{
	/* leaves in which[batch->nrows] the selected rows of a batch; returns their number */
	int (*apply)(HgRowCheck *check, const HgBatch *batch, uint16 *which);
	int ncolumns;
	int *columns; /* [ncolumns] of the source's batches: column i of what it is asked about */
	double share; /* the share of the rows that it selects, as estimated */
};

/*
 * Rows that lie one behind the other in arrays, none of them NULL: column c is values[c][nrows], of
 * the column's own width, and by value.
 */
typedef struct HgRun
{
	int nrows;
	const void **values; /* [ncolumns] */
} HgRun;

/* No run is longer: a consumer looks at its budget between two. */
#define HG_RUN_MOST 8192

/* The columns by which rows are joined (hg_graph_key.h). */
typedef struct HgSourceKey HgSourceKey;

/* Rows that a source does not return, because they are taken by their numbers (hg_covered.h). */
typedef struct HgCovered HgCovered;
typedef struct HgPinnedGraph HgPinnedGraph; /* resident/hg_resident_graph.h */

/* ... and what of them processes share (hg_shared_covered.h). */
typedef struct HgSharedCovered HgSharedCovered;

/* ... and what a process pins of it (hg_shared_covered.h). */
typedef struct HgSharedPins HgSharedPins;

/* A table that a device takes rows out of the pages of (hg_page_offer.h). */
typedef struct HgPageOffer HgPageOffer;

/* Where blocks of tables came from, or would come from. */
typedef struct HgScanBlocks
{
	uint64 resident; /* read from cached columns */
	uint64 heap;	 /* read from the table */
} HgScanBlocks;

/*
 * A stream of batches.  next fills a batch, whose columns are those that the source was made
 * for, from row 0 on, and sets nrows and has_nulls.  It returns false at the end, and never an
 * empty batch before.  Values by reference stay where they are until the next call.
 *
 * A batch is bounded by bytes as well as by rows: its values by reference come to max_bytes in its
 * last row at the earliest, by the bytes that lie there, which is a pointer for what is out of
 * line.  A consumer that copies batches, and looks at its budget (hg_budget.h) between them, then
 * exceeds it by max_bytes and a row at most.  One that copies no values sets 0: then nobody looks
 * at them, but for a source that must copy them itself.  What lies in a page of a table is one
 * batch in any case, but not the values that its rows have of columns that were added later.
 *
 * A source that has to look for rows, because a filter leaves few of them, stops when a batch has
 * max_rows, or at the end of the page or the run of rows that it is in then.
 *
 * Between two batches the consumer may change the check.  A batch whose rows have all passed it is
 * marked as checked; the consumer clears that mark.
 */
typedef struct HgBatchSource HgBatchSource;
struct HgBatchSource
{
	bool (*next)(HgBatchSource *source, HgBatch *batch);

	/*
	 * The next rows as a run of up to max_rows, instead of a batch; false, and nothing is done,
	 * where they don't come so.  No check is asked.  The arrays stay where they are as long as the
	 * source does.  NULL: rows never come so.
	 */
	bool (*next_run)(HgBatchSource *source, int max_rows, HgRun *run);

	/* the plan behind it is rescanned by the caller: start again */
	void (*restart)(HgBatchSource *source);

	/*
	 * cover() covers the rows that a resident HashGraph of the source's key has, before the first
	 * row is asked for.  The source then returns the other rows, in this scan and its rescans.  It
	 * returns NULL if no row is covered.  uncover() makes the source return all rows again, from
	 * the next rescan on.  cover is NULL for a source that never covers rows.
	 *
	 * shared is NULL, or what the processes of a parallel scan share, before it is begun: the
	 * leader's source decides, and tells the others' there, in the area.  If pending is true, and
	 * shared is NULL, the qual may stay a pending predicate of the covered rows (hg_covered.h).
	 *
	 * attach_covered() covers the rows that the leader's source has covered, from versions that
	 * the caller has pinned: see hg_shared_covered.h.  It returns NULL if no row can be covered
	 * here.
	 */
	const HgSourceKey *key; /* by which the rows are joined, where a graph can be of it; or NULL */
	HgCovered *(*cover)(HgBatchSource *source, bool pending, HgSharedCovered *shared,
						dsa_area *area);
	HgCovered *(*attach_covered)(HgBatchSource *source, const HgSharedCovered *shared,
								 const HgSharedPins *pins, dsa_area *area);
	void (*uncover)(HgBatchSource *source);
	/* Returns what would be covered of the table, as far as is known now, before a qual. */
	HgGraphExtent (*may_cover)(const HgBatchSource *source);
	/*
	 * Pin the graph that may_cover tells of, in CurrentMemoryContext, and tell the numbers that its
	 * table has for some of the source's columns.  NULL: there is no graph.
	 */
	HgPinnedGraph *(*pin_graph)(const HgBatchSource *source, int ncolumns, const int *columns,
								AttrNumber *numbers);
	/*
	 * The n-th of the table's graphs, from 0, that have the columns of the key: column i of it is
	 * column order[i] of the key.  False: there are fewer.
	 */
	bool (*graph_order)(const HgBatchSource *source, int n, int *order);

	/*
	 * Before the first row is asked for: offer the pages of the table that it scans, all of whose
	 * blocks would be read, of whose columns the first of wanted[nwanted] is the key, and the
	 * others come along; together: those that this process gets of a parallel scan.  False: they
	 * can't be.  NULL: it never offers any.
	 */
	bool (*offer_pages)(HgBatchSource *source, bool together, int nwanted, const int *wanted,
						HgPageOffer *offer);

	Size max_bytes;	   /* HG_BATCH_BYTES, unless the consumer has changed it */
	int max_rows;	   /* HG_BATCH_ROWS, likewise */
	HgRowCheck *check; /* or NULL */

	/*
	 * True if tables that the source scans itself may be read from cached columns.  In a parallel
	 * worker the leader sets it, if its source's may_share returns true: the transaction has made
	 * none of the tables, which a worker can't tell.  may_share is NULL for a source that scans no
	 * table.
	 */
	bool may_use_cache;
	bool (*may_share)(const HgBatchSource *source);
	HgScanBlocks blocks; /* that were scanned, over all scans */
	/* What of its tables a scan would find as things stand; NULL: it scans none. */
	HgScanBlocks (*expect)(const HgBatchSource *source);
	/*
	 * Why a table with cached columns is not read from them, once it is scanned, or NULL; as
	 * above.
	 */
	const char *(*why_not)(const HgBatchSource *source);
};

/* An empty batch of ncolumns columns, all of them wanted, in CurrentMemoryContext. */
extern HgBatch *hg_batch_create(int ncolumns);

/* The same, with the columns wanted[nwanted] alone. */
extern HgBatch *hg_batch_create_partial(int ncolumns, int nwanted, const int *wanted);

/* Returns true if a row of a column is NULL. */
static inline bool
hg_batch_is_null(const HgBatch *batch, int column, int row)
{
	return batch->has_nulls[column] && batch->nulls[column][row];
}

#endif /* HG_BATCH_H */
