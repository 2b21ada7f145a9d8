/*-------------------------------------------------------------------------
 *
 * hg_covered.h
 *	  Covered rows: rows that a table scan does not return, because a cached HashGraph has their
 *	  keys, and cached columns have their other values, by row number.
 *
 * A scan can cover the rows whose segment versions are valid for its snapshot and were used to
 * build a cached HashGraph (resident/hg_resident_graph.h).  It calls hg_covered_create(),
 * hg_covered_add() for each segment, and hg_covered_end().  The join then joins the graph as it is,
 * and fetches columns of the rows that match with hg_covered_get().  The scan returns all other
 * rows, the delta rows.  So each row is either covered or returned.
 *
 * A covered row has the graph's number: the segment and the row in it (engine/hg_flat.h).  Delta
 * rows may be numbered from first_other on.  These numbers have gaps after the last row of each
 * segment.  Arrays of one bit for each row are therefore indexed by ORDINAL, which has none: it
 * counts all rows of the added segments, one segment after the other, and then the delta rows.
 *
 * The scan's qual is normally applied when rows are covered.  It may stay a pending predicate if a
 * device can apply it to its column replicas (batch/hg_predicate.h), and the caller asks a
 * device.  More rows are then covered than pass the qual, until hg_covered_apply() applies it.  A
 * caller that joins the rows in this process must call that; other callers need not.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COVERED_H
#define HG_COVERED_H

#include "hg_compat.h"

#include "port/atomics.h"

#include "batch/hg_batch.h"
#include "batch/hg_graph_key.h"
#include "batch/hg_predicate.h"
#include "engine/hg_flat.h"
#include "resident/hg_resident_array.h"
#include "resident/hg_resident_graph.h"
#include "resident/hg_resident_graph_version.h"
#include "resident/hg_resident_validity.h"

/* The most segments of a table whose delta rows still have numbers. */
#define HG_COVERED_SEGMENTS HG_GRAPH_SEGMENTS

/* A column that the caller fetches for covered rows. */
typedef struct HgCoveredColumn
{
	HgResidentColumn column;
	bool maybe_null;		 /* some segment's values may be NULL */
	HgSegmentArray **arrays; /* [nparts] by segment; NULL if none of its rows is covered */
	/* Memory for values that must be decoded from an array; NULL if none is needed. */
	char *room;
} HgCoveredColumn;

typedef struct HgCovered HgCovered;
struct HgCovered
{
	Relation rel;
	HgPinnedGraph *graph;
	HgResidentColumn key; /* the column of the graph's key, if it is one column of integers */
	bool marks;			  /* the key is one integer, so that vertices can be marked in masked */
	HgFlatSide side;	  /* the graph, and which of its rows are covered */
	/* All covered rows, including those with a NULL key. */
	HgFlatMask mask;
	uint64 rows; /* number of covered rows */
	bool whole;	 /* true if the scan has no delta rows */
	/* Rows of the graph that are gone, in blocks: see hg_resident_graph_note_lost(). */
	double lost;
	/* True if lost leaves out segments of which no row can pass the qual. */
	bool passed;
	uint32 nparts;			/* number of the table's segments */
	uint32 first_other;		/* the first number of a delta row */
	uint64 *first_ordinals; /* [nparts + 1] first ordinal of each segment's rows */
	uint8 *states;			/* [nparts] of mask */
	uint64 **bits;			/* [nparts] of mask */
	uint32 *counts;			/* [nparts] covered rows of each segment */
	/* Segments of the graph that were added, even without covered rows. */
	uint32 known;
	uint64 left_out; /* rows of the added segments that are not covered */
	uint64 *masked;	 /* bits of the left_out rows' vertices; NULL if they are not marked */
	const HgValidBlocks *valid; /* the valid blocks that the rows are from */
	/* [nparts] true for segments with a pending predicate; or NULL. */
	bool *pending;
	int npredicates;
	/* [npredicates] the pending predicates, all of which must hold. */
	HgPredicate **predicates;
	void (*apply)(HgCovered *covered, void *arg); /* for hg_covered_apply() */
	void *apply_arg;
	int ncolumns;
	HgCoveredColumn *columns; /* [ncolumns] */
	Size bytes;				  /* memory of all this */
};

/* Returns the ordinal of a row by its number. */
static inline uint64
hg_covered_ordinal(const HgCovered *covered, uint32 row)
{
	if (row >= covered->first_other)
		return covered->first_ordinals[covered->nparts] + (row - covered->first_other);
	return covered->first_ordinals[HG_FLAT_PART(row)] + HG_FLAT_NUMBER(row);
}

/* Returns the number of ordinals: of all rows of the added segments and `others` delta rows. */
static inline uint64
hg_covered_count_ordinals(const HgCovered *covered, uint64 others)
{
	return covered->first_ordinals[covered->nparts] + others;
}

/*
 * Begins to cover rows of the valid blocks of a table of nsegments segments, in
 * CurrentMemoryContext.  No row is covered yet.  graph has the given key, whose columns the valid
 * blocks have.  columns[ncolumns], which are copied, are those that the caller fetches.  graph and
 * *valid must outlive the result.
 */
extern HgCovered *hg_covered_create(Relation rel, HgPinnedGraph *graph, const HgGraphKey *key,
									const HgValidBlocks *valid, uint32 nsegments, int ncolumns,
									const HgResidentColumn *columns);

/* Returns true if the graph was built from this segment version. */
extern bool hg_covered_has_version(const HgCovered *covered, const HgSegmentVersion *version);

/*
 * Covers count rows of a segment version.  If bits is NULL, count must be 0 or the number of all
 * rows of the version.  Otherwise bits has one bit for each row of the version, of which count are
 * set; covered keeps the array of hg_segment_bits_bytes() bytes, which it does not change and the
 * caller must not free.  Segments must be added in ascending order.
 */
extern void hg_covered_add(HgCovered *covered, const HgValidSegment *segment, uint64 *bits,
						   uint64 count);

/* Ends the additions, and sets first_ordinals, mask and side. */
extern void hg_covered_end(HgCovered *covered);

/* Returns true if covered rows have a pending predicate. */
static inline bool
hg_covered_has_pending(const HgCovered *covered)
{
	return covered->pending != NULL;
}

/*
 * Applies the pending predicates, if there are any.  Rows that fail are no longer covered.  The
 * scan of the delta rows may be under way.
 */
extern void hg_covered_apply(HgCovered *covered);

/*
 * Restricts the covered rows of a segment version to count of them, whose bits are set.  covered
 * keeps the array bits, unless it covers count rows already.
 */
extern void hg_covered_restrict(HgCovered *covered, const HgValidSegment *segment, uint64 *bits,
								uint64 count);

/*
 * Returns a graph of the table that has the covered rows under the same numbers, and whose key is
 * covered->columns[column], encoded as part says.  It is the graph of the covered rows itself, or
 * another one, which stays pinned as long as CurrentMemoryContext lives.  Returns NULL if there is
 * none.
 */
extern HgPinnedGraph *hg_covered_graph_by(const HgCovered *covered, int column,
										  const HgGraphPart *part);

/* Returns true if all rows of graph, from hg_covered_graph_by() or covered->graph, are covered. */
extern bool hg_covered_has_all(const HgCovered *covered, const HgPinnedGraph *graph);

/*
 * Returns the number of rows of the largest added segment, covered or not, and at least 1: all
 * numbers of covered rows within their segments are below it. Call hg_covered_end() first.
 */
extern uint32 hg_covered_stride(const HgCovered *covered);

/*
 * Fetches covered rows by their numbers rows[nrows], at most HG_BATCH_ROWS, into rows 0 .. nrows -
 * 1 of a batch.  covered->columns[i] becomes column at[i], or is skipped if that is negative.  The
 * caller sets batch->nrows.  By-reference values point into the arrays, or into memory that the
 * next call uses again.  Raises an error if the versions are not pinned any more.
 */
extern void hg_covered_get(HgCovered *covered, const uint32 *rows, int nrows, HgBatch *batch,
						   const int *at);

/*
 * Sets rows[] to the numbers of up to room covered rows from ordinal *at on, and advances *at.
 * Returns how many it has found; 0 at the end.
 */
extern int hg_covered_next(const HgCovered *covered, uint64 *at, uint32 *rows, int room);

/* Finds the next covered rows of one part of the graph; *at is an ordinal in that part. */
extern int hg_covered_next_of(const HgCovered *covered, uint32 part, uint64 *at, uint32 *rows,
							  int room);

/*
 * hg_covered_rows.c: subsets of the covered rows: found by keys, left out, selected, or read
 * after all
 */

/*
 * A growing array of integers: row numbers or values of a column.  It is in the memory context
 * that was current in hg_integers_init().
 */
typedef struct HgIntegers
{
	MemoryContext context;
	uint64 count;
	uint64 room;
	int64 *values; /* [count] */
} HgIntegers;

/* Initializes an empty array. */
extern void hg_integers_init(HgIntegers *integers);
/* Appends an integer. */
extern void hg_integers_add(HgIntegers *integers, int64 integer);

/*
 * Looks the integers in keys up in a graph that hg_covered_graph_by() has returned, and appends the
 * numbers of the covered rows that it finds to rows.  A row is appended once for each time that
 * its key is in keys.  Returns false if rows would then have more than `most` elements; some of
 * them may have been appended.  Raises an error if memory is short, and on cancel.
 */
extern bool hg_covered_find_rows(const HgCovered *covered, const HgPinnedGraph *graph,
								 const HgIntegers *keys, uint64 most, HgIntegers *rows);

/* Appends the integers that rows have in covered->columns[column] to values, without NULLs. */
extern void hg_covered_add_values(const HgCovered *covered, const HgIntegers *rows, int column,
								  HgIntegers *values);

/*
 * Returns a mask of all covered rows except those whose numbers are in rows, and sets *left to the
 * number of rows in it.  The mask is in CurrentMemoryContext; covered does not change.
 */
extern HgFlatMask *hg_covered_mask_without(const HgCovered *covered, const HgIntegers *rows,
										   uint64 *left);

/*
 * Applies the pending predicates to the covered rows whose numbers are in rows.  Returns a copy of
 * covered, in CurrentMemoryContext, whose covered rows are those that pass.  In covered itself the
 * predicates stay pending.
 */
extern HgCovered *hg_covered_apply_rows(const HgCovered *covered, const HgIntegers *rows);

/* Makes the rows whose numbers are in rows the only covered rows. */
extern void hg_covered_select_rows(HgCovered *covered, const HgIntegers *rows);

/* ---------------------------------------------------------------------
 * Uncovered rows: covered rows that the processes of a parallel query read after all
 * ---------------------------------------------------------------------
 */

/* The covered rows that a process reads, segment by segment. */
typedef struct HgUncover
{
	HgCovered *covered;			 /* NULL if no row is uncovered */
	int *columns;				 /* [covered->ncolumns] 0, 1, 2, ... */
	pg_atomic_uint32 *next_part; /* shared: the next segment that no process has taken */
	uint32 part;				 /* the segment that is read now */
	/* ordinal of the next row; behind the segment's last if it is read */
	uint64 at;
} HgUncover;

/*
 * Initializes reading covered rows, in CurrentMemoryContext.  *next_part is a counter that all
 * processes share and that begins with 0; each segment is read by one process.
 */
extern void hg_uncover_begin(HgUncover *uncover, HgCovered *covered, pg_atomic_uint32 *next_part);

/* Fills a batch, whose columns are covered->columns, and sets nrows.  Returns false at the end. */
extern bool hg_uncover_next(HgUncover *uncover, HgBatch *batch);

#endif /* HG_COVERED_H */
