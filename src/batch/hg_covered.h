/*-------------------------------------------------------------------------
 *
 * hg_covered.h
 *	  Covered rows: rows of a table scan that are not read.  A resident HashGraph has their keys,
 *	  and resident columns have their other values, by row number.
 *
 * A scan can COVER those of its rows whose segment versions are valid for its snapshot and were
 * used to make a resident HashGraph (resident/hg_resident_graph.h).  The caller joins the graph as
 * it is, and fetches columns of the rows that matter.  The scan returns all other rows, the delta
 * rows.  So each row is either covered or returned.
 *
 * NUMBERS are the graph's: the segment and the row in it (engine/hg_flat.h).  Delta rows may be
 * numbered from first_other on.  Where numbers without gaps are needed, for one bit each, rows
 * have a PLACE: covered rows come segment by segment, and delta rows follow.
 *
 * The scan's qual is normally applied to all covered rows when they are covered.  It may stay a
 * PENDING PREDICATE if a device can apply it to columns that it keeps
 * (batch/hg_predicate_filter.h), and the caller asks a device.  More rows are then covered than
 * pass the qual, until hg_covered_apply() applies it.  A caller that joins the rows in this
 * process must call that; otherwise it may never be called.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COVERED_H
#define HG_COVERED_H

#include "hg_compat.h"

#include "batch/hg_batch.h"
#include "batch/hg_graph_key.h"
#include "batch/hg_predicate.h"
#include "engine/hg_flat.h"
#include "resident/hg_resident_array.h"
#include "resident/hg_resident_graph.h"
#include "resident/hg_resident_graph_version.h"
#include "resident/hg_resident_validity.h"

/* A table may have so many segments, for its other rows to have numbers. */
#define HG_COVERED_SEGMENTS HG_GRAPH_SEGMENTS

/* A column that the caller fetches of covered rows. */
typedef struct HgCoveredColumn
{
	HgResidentColumn column;
	bool maybe_null;		 /* some segment's values may be NULL */
	HgSegmentArray **arrays; /* [nparts]; NULL: none of the segment's rows is covered */
	char *room;				 /* for values that do not lie in arrays as they are; or NULL */
} HgCoveredColumn;

struct HgCovered
{
	Relation rel;
	HgPinnedGraph *graph;
	HgResidentColumn key; /* the column of the graph's key, if it is one column of integers */
	bool marks;			  /* true if vertices can be marked, see masked */
	HgFlatSide side;	  /* the graph, and which of its rows are covered */
	HgFlatMask mask;	  /* all covered rows, including those with a NULL key */
	uint64 rows;		  /* number of covered rows */
	bool whole;			  /* true if the scan has no delta rows */
	double lost;		  /* rows of the graph that have changed since, as a number of blocks */
	bool passed;		  /* true if lost does not count segments of which no row was asked for */
	uint32 nparts;		  /* segments */
	uint32 first_other;	  /* the first number of a delta row */
	uint64 *places;		  /* [nparts + 1] of the rows of each segment */
	uint8 *states;		  /* [nparts] of the mask */
	uint64 **bits;		  /* [nparts] likewise */
	uint32 *counts;		  /* [nparts] covered rows of each segment */
	uint32 known;		  /* segments of the graph that were added, even without covered rows */
	uint64 left_out;	  /* rows of these segments that are not covered */
	uint64 *masked;		  /* the vertices of these rows, while there are few; or NULL */
	const HgValidBlocks *valid; /* the valid blocks that the rows are from */
	bool *pending;				/* [nparts] true for segments with a pending predicate; or NULL */
	int npredicates;
	HgPredicate **predicates; /* [npredicates] the pending predicates, all of which must hold */
	void (*apply)(HgCovered *covered, void *arg); /* for hg_covered_apply() */
	void *apply_arg;
	int ncolumns;
	HgCoveredColumn *columns; /* [ncolumns] */
	Size bytes;				  /* that all this takes */
};

/* Returns the place of a row by its number. */
static inline uint64
hg_covered_place(const HgCovered *covered, uint32 row)
{
	if (row >= covered->first_other)
		return covered->places[covered->nparts] + (row - covered->first_other);
	return covered->places[HG_FLAT_PART(row)] + HG_FLAT_NUMBER(row);
}

/* Returns the number of places of the covered rows and of so many others. */
static inline uint64
hg_covered_places(const HgCovered *covered, uint64 others)
{
	return covered->places[covered->nparts] + others;
}

/*
 * Begins to cover rows of the valid blocks of a table of nsegments segments, in
 * CurrentMemoryContext; no row is covered yet.  The graph is that of key, whose columns the valid
 * blocks have.
 */
extern HgCovered *hg_covered_create(Relation rel, HgPinnedGraph *graph, const HgGraphKey *key,
									const HgValidBlocks *valid, uint32 nsegments, int ncolumns,
									const HgResidentColumn *columns);

/* True if the graph was made of this segment version. */
extern bool hg_covered_has_version(const HgCovered *covered, const HgSegmentVersion *version);

/*
 * Covers count rows of the version's valid blocks.  bits is NULL if all rows of the version are
 * covered.  Otherwise it has a bit for each row, in an array of hg_segment_bits_bytes() that must
 * stay.  Segments ascend.
 */
extern void hg_covered_add(HgCovered *covered, const HgValidSegment *segment, uint64 *bits,
						   uint64 count);

/* Ends the additions and sets the rows' places. */
extern void hg_covered_end(HgCovered *covered);

/* True if there are covered rows with a pending predicate. */
static inline bool
hg_covered_has_pending(const HgCovered *covered)
{
	return covered->pending != NULL;
}

/*
 * Applies the pending predicates, if there are any.  Rows that fail are not covered from now on.
 * The scan that covers the rows may be in the middle of other rows.
 */
extern void hg_covered_apply(HgCovered *covered);

/* Restricts the covered rows of a version to those that have their bit set, count of them. */
extern void hg_covered_restrict(HgCovered *covered, const HgValidSegment *segment, uint64 *bits,
								uint64 count);

/*
 * Returns a graph of the table that has the covered rows under the same numbers, by one column
 * whose values become words as part says.  It is the graph of the covered rows itself, or another
 * one, which stays pinned as long as CurrentMemoryContext.  NULL: there is none.
 */
extern HgPinnedGraph *hg_covered_graph_by(const HgCovered *covered, int column,
										  const HgGraphPart *part);

/* True if all rows of such a graph are covered. */
extern bool hg_covered_has_all(const HgCovered *covered, const HgPinnedGraph *graph);

/* Returns the bound that all covered rows' numbers in their segments are below. */
extern uint32 hg_covered_stride(const HgCovered *covered);

/*
 * Fetch rows[nrows] into rows 0 .. nrows - 1 of a batch: column i becomes column at[i], unless that
 * is negative.  What is by reference points into the arrays, or into memory that the next call uses
 * again.
 */
extern void hg_covered_get(HgCovered *covered, const uint32 *rows, int nrows, HgBatch *batch,
						   const int *at);

/* The next rows from *at, a place, on, at most room of them; *at becomes the one behind. */
extern int hg_covered_next(const HgCovered *covered, uint64 *at, uint32 *rows, int room);

/* The same of one segment. */
extern int hg_covered_next_of(const HgCovered *covered, uint32 part, uint64 *at, uint32 *rows,
							  int room);

#endif /* HG_COVERED_H */
