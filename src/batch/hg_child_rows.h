/*-------------------------------------------------------------------------
 *
 * hg_child_rows.h
 *	  The rows of a child plan of a join, read in batches with their keys encoded.
 *
 * An input of a join (hg_input.h) calls hg_child_init() once, and then hg_child_read() until the
 * end; hg_child_restart() begins again.  A runtime filter may remove rows as they are read.  If a
 * cached HashGraph has the keys of some of the child's rows, the join may cover these rows
 * (hg_covered.h).  Covered rows are not read, and have the graph's numbers.  Delta rows are read,
 * and have higher numbers than covered rows (hg_child_first_number()).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CHILD_ROWS_H
#define HG_CHILD_ROWS_H

#include "nodes/execnodes.h"

#include "backend/hg_budget.h"
#include "backend/hg_progress.h"
#include "batch/hg_covered.h"
#include "batch/hg_filter.h"
#include "batch/hg_input_keys.h"
#include "batch/hg_page_source.h"
#include "batch/hg_scan_table.h"
#include "batch/hg_top_filter.h"
#include "batch/hg_shared_covered.h"

/* Filters that remove rows of the child, here or in the child's source. */
typedef struct HgChildFilter
{
	HgFilter *filter; /* or NULL */
	/*
	 * Removes rows of the child, or of the table from which a join below gets its outer rows, that
	 * an ORDER BY above does not need.  NULL if there is none.
	 */
	HgTopFilter *top;
	uint64 top_removed; /* top->removed when the child was last read from its start */
	/* Applies the filters in the source; column 0 is that of top. */
	HgRowCheck check;
	/* [nparts] the keys' columns in the check's batches; NULL if it cannot apply filter */
	int *columns;
	bool in_check;	/* the check applies filter to the current batch */
	bool top_tests; /* the check applies top to its rows */
	bool removed;	/* filter has removed a row since the child was last read from its start */
	uint64 refused; /* rows that filter has removed, over all scans of the child */
} HgChildFilter;

/* What is kept for covered rows, until they are uncovered. */
typedef struct HgChildCover
{
	bool decided;		   /* rows are covered for all executions, or never */
	MemoryContext context; /* of the covered rows; NULL if there are none */
	HgSharedPins pins;	   /* in a worker: what the leader's covered rows are found by */
	HgCharge charge;
	uint64 counted;	   /* covered rows that are counted as read */
	int *to;		   /* [batch->ncolumns] column of the scan slot, or -1 if not needed above */
	HgUncover uncover; /* rows that were covered and are now read */
} HgChildCover;

typedef struct HgChildRows
{
	PlanState *plan;
	HgBatchSource *source;
	HgBatch *batch;	  /* columns that are needed for keys or above */
	int encoded;	  /* rows of the batch that have been returned with their keys */
	HgInputKeys keys; /* of the batch */
	int *from;		  /* [ncolumns] columns of keys.values that are needed above */
	/* [batch->ncolumns] HgRun.values; NULL if a run's keys would not be the engine's words. */
	const void **run_values;
	bool keep_null_keys; /* the join returns rows with a NULL key */
	HgChildFilter filtering;
	HgFilter *collector; /* a filter to which keys are added; or NULL */
	HgCovered *covered;	 /* covered rows; or NULL */
	HgChildCover cover;
	HgProgress *progress; /* progress of what the rows are read for; or NULL */
	uint64 rows_read;	  /* rows that were not removed by a filter, over all scans */
	uint64 null_keys;	  /* rows among them with a NULL key */
} HgChildRows;

/*
 * Creates the source of a child plan: the attributes attnos[nattnos] (from 1, each once) of its
 * rows, in that order, in CurrentMemoryContext.
 */
typedef HgBatchSource *(*HgSourceMaker)(PlanState *plan, int nattnos, const int *attnos);

/*
 * Initializes the rows of a child, in CurrentMemoryContext; *child is zeroed.  key_exprs, one for
 * each part of the encoder, refer to its columns as OUTER_VAR or INNER_VAR, by side; parent owns
 * them.  columns[ncolumns] are needed above.  Rows with a NULL key are returned only if
 * keep_null_keys is set.  make_source creates the source.  Covered rows are charged to budget.
 */
extern void hg_child_init(HgChildRows *child, HgSide side, PlanState *plan, ScanState *parent,
						  HgKeyEncoder *encoder, List *key_exprs, int ncolumns,
						  const HgInputColumn *columns, bool keep_null_keys,
						  HgSourceMaker make_source, HgBudget *budget);

/* Fetches the next batch if all rows of the last one were returned.  Returns false at the end. */
extern bool hg_child_fetch(HgChildRows *child);

/*
 * Sets *rows to the next rows, some or all of a batch, and keys->words and keys->null_keys by row
 * of the batch.  Rows that a filter rejects are left out.  All is valid until the next call.
 * Returns false at the end.
 */
extern bool hg_child_read(HgChildRows *child, HgInputRows *rows, HgSpillKeys *keys);

/*
 * Reads the next rows, up to max_rows, as arrays (HgRun).  That of the key column has the engine's
 * words.  run->values becomes child->run_values.  Returns false if the next rows must be read by
 * hg_child_read().
 */
extern bool hg_child_read_run(HgChildRows *child, int max_rows, HgRun *run);

/* Adds the keys of rows that are read later to the caller's filter; with NULL none are added. */
extern void hg_child_set_collector(HgChildRows *child, HgFilter *collector);

/* Counts rows that were read before the filter was set as rejected by it, and not as read. */
static inline void
hg_child_forget_rows(HgChildRows *child, uint64 rows)
{
	child->rows_read -= rows;
	child->filtering.refused += rows;
	child->filtering.removed |= rows > 0;
}

/*
 * Removes rows that are read later and that a filter of keys rejects; with NULL no rows are
 * removed.  The child owns the filter from then on, and destroys the previous one.
 */
extern void hg_child_set_filter(HgChildRows *child, HgFilter *filter);

/*
 * Removes rows that are read later and that an ORDER BY above does not need, before any row is
 * read.  column is a column of the batch.  The filter stays the caller's.
 */
extern void hg_child_set_top(HgChildRows *child, HgTopFilter *top, int column);

/* Returns true if an ORDER BY's filter has removed rows since the last start of the child. */
static inline bool
hg_child_lacks_rows(const HgChildRows *child)
{
	return child->filtering.top != NULL &&
		   child->filtering.top->removed != child->filtering.top_removed;
}

/* Reads from the start; the caller rescans the plan. */
extern void hg_child_restart(HgChildRows *child);

/*
 * Reorders the keys, before any row is read: part order[i] becomes part i.  The encoder, which
 * both inputs share, must already have the new order.
 */
extern void hg_child_order_keys(HgChildRows *child, const int *order);

/* ---------------------------------------------------------------------
 * Covered rows (hg_child_cover.c)
 *
 * Before any row is read, hg_child_cover() covers rows.  In a worker that takes over the leader's
 * covered rows, hg_child_pin_covered() and hg_child_attach_covered() do that.  Then child->covered
 * has the rows.  hg_child_end_covered() and hg_child_begin_uncover() end covering within a scan:
 * all covered rows but a few have been joined, or no row is joined as covered.  hg_child_uncover()
 * ends it between two scans, from any state.
 * ---------------------------------------------------------------------
 */

/*
 * Estimates how many rows may be covered.  The result is all zeroes unless the child is the scan of
 * one table, the keys are columns of it, and a cached HashGraph has the same words for them.
 */
extern HgGraphExtent hg_child_may_cover(const HgChildRows *child);

/*
 * Finds the n-th graph, from 0, that has all parts of the key, in any order.  Sets order[]: part i
 * of its key is part order[i] of the child's.  Returns false if there is no n-th graph.
 */
extern bool hg_child_graph_order(const HgChildRows *child, int n, int *order);

/*
 * Pins the graph whose rows may be covered, in CurrentMemoryContext.  Sets numbers[ncolumns] to
 * the table's attribute numbers of the child's columns.  Returns NULL if there is no graph.
 */
extern HgPinnedGraph *hg_child_pin_graph(const HgChildRows *child, int ncolumns, const int *columns,
										 AttrNumber *numbers);

/*
 * Sets child->covered, whose rows count as read.  Returns false if no row can be covered.  See
 * hg_scan_table_cover() for pending and shared.
 */
extern bool hg_child_cover(HgChildRows *child, bool pending, HgSharedCovered *shared);

/*
 * In a worker: pins the leader's graph and the versions of its valid blocks. The graph's pin lives
 * as long as the covered rows, the versions' as long as the batch. This is quick; the leader must
 * have them pinned meanwhile.
 */
extern void hg_child_pin_covered(HgChildRows *child, const HgSharedCovered *shared);

/*
 * Covers the same rows of this child, after hg_child_pin_covered().  Raises an error if they cannot
 * be covered in this process.
 */
extern void hg_child_attach_covered(HgChildRows *child, const HgSharedCovered *shared);

/* Applies pending predicates to the covered rows, as hg_covered_apply() does. */
extern void hg_child_apply_pending(HgChildRows *child);

/*
 * Ends covering, after all covered rows but left have been joined.  The rows left are read behind
 * the delta rows in this scan.  No row is covered until hg_child_uncover().
 */
extern void hg_child_end_covered(HgChildRows *child, const HgIntegers *left);

/* Uncovers all rows, after hg_input_restart() and a rescan of the plan. */
extern void hg_child_uncover(HgChildRows *child);

/*
 * Uncovers the rows of a child that several processes read, in this scan: they are read behind the
 * delta rows.  *next_part, a counter that all processes share, gives each segment to one process.
 * The rows' memory stays until hg_child_uncover().
 */
extern void hg_child_begin_uncover(HgChildRows *child, pg_atomic_uint32 *next_part);

/* Returns the number of the first row that is read; covered rows have lower numbers. */
static inline uint32
hg_child_first_number(const HgChildRows *child)
{
	return child->covered != NULL ? child->covered->first_other : 0;
}

/* Returns the ordinal of a row by its number (hg_covered.h). */
static inline uint64
hg_child_ordinal(const HgChildRows *child, uint32 row)
{
	return child->covered != NULL ? hg_covered_ordinal(child->covered, row) : row;
}

/* ---------------------------------------------------------------------
 * Rows that a device takes out of the pages of the table (hg_child_cover.c)
 * ---------------------------------------------------------------------
 */

/*
 * Makes the child's table, which must be unread, a page source of the key and of columns[ncolumns]
 * of the batches.  If parallel is true, it has the pages that this process gets of a parallel
 * scan.  Returns false if that is impossible.
 */
extern bool hg_child_init_page_source(HgChildRows *child, bool parallel, int ncolumns,
									  const int *columns, HgPageSource *page_source);

/* Counts the page source's rows and blocks as read, after all pages were sent and joined. */
extern void hg_child_end_pages(HgChildRows *child, HgPageSource *page_source);

/*
 * Counts, of uploaded_rows in the pages, those that passed the qual: rows with a key, and null_keys
 * with a NULL key.
 */
extern void hg_child_report_pages(HgChildRows *child, HgPageSource *page_source,
								  uint64 uploaded_rows, uint64 rows, uint64 null_keys);

#endif /* HG_CHILD_ROWS_H */
