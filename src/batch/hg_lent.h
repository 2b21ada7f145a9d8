/*-------------------------------------------------------------------------
 *
 * hg_lent.h
 *	  Rows of a table scan that are not read: a resident HashGraph has their keys, and resident
 *	  columns what else is wanted of them, by their numbers.
 *
 * A scan can LEND those of its rows that it is served from segment versions which a resident
 * HashGraph was made of (resident/hg_resident_graph.h).  Whoever has borrowed them joins the graph
 * as it is, and asks for columns of the rows that matter; the scan returns all others, so that each
 * row is in one of the two.
 *
 * NUMBERS are the graph's: the segment and the row in it (engine/hg_flat.h).  The scan's other rows
 * may be numbered from first_other on.  Where numbers without gaps are wanted, for a bit each, they
 * have a PLACE: of a segment one behind the other, and then the other rows.
 *
 * A qual that the scan has is decided for all lent rows when they are lent.  Or, if it is such as a
 * device can decide by columns that it keeps (batch/hg_predicate_filter.h), and the rows are lent
 * to somebody who asks a device, they are UNDECIDED: more of them are lent than the qual leaves,
 * until hg_lent_decide(), which is for who joins them here, and may never be called.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LENT_H
#define HG_LENT_H

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
#define HG_LENT_SEGMENTS HG_GRAPH_SEGMENTS

/* A column that is wanted of lent rows. */
typedef struct HgLentColumn
{
	HgResidentColumn column;
	bool maybe_null;		 /* some segment's values may be NULL */
	HgSegmentArray **arrays; /* [nparts]; NULL: no row of it is lent */
	char *room;				 /* for values that do not lie in arrays as they are; or NULL */
} HgLentColumn;

struct HgLent
{
	Relation rel;
	HgPinnedGraph *graph;
	HgResidentColumn key;	/* whose it is, where it is one of integers ... */
	bool marks;				/* ... so that vertices can be marked: see masked */
	HgFlatSide side;		/* it, and which of its rows are lent */
	HgFlatMask mask;		/* the same, of all lent rows, those with a NULL key included */
	uint64 rows;			/* that are lent ... */
	bool whole;				/* ... which are all that the scan has */
	double lost;			/* blocks' worth of the graph's rows that have changed since ... */
	bool passed;			/* ... but for segments of which no row was asked for */
	uint32 nparts;			/* segments */
	uint32 first_other;		/* the first number that no lent row has */
	uint64 *places;			/* [nparts + 1] of the rows of each segment */
	uint8 *states;			/* [nparts] of the mask */
	uint64 **bits;			/* [nparts] likewise */
	uint32 *counts;			/* [nparts] rows of each segment that are lent */
	uint32 known;			/* segments of the graph that rows, or none, were lent of ... */
	uint64 left_out;		/* ... such of their rows as are not ... */
	uint64 *masked;			/* ... and the vertices of these, as long as they are few; or NULL */
	const HgServed *served; /* what the rows are of */
	bool *undecided; /* [nparts] the qual was not asked about rows of this segment; or NULL */
	int npredicates;
	HgPredicate **predicates;				 /* [npredicates] ... which all have to hold */
	void (*decide)(HgLent *lent, void *arg); /* asks it, for hg_lent_decide() */
	void *decide_arg;
	int ncolumns;
	HgLentColumn *columns; /* [ncolumns] */
	Size bytes;			   /* that all this takes */
};

/* A row by its number: which place has it? */
static inline uint64
hg_lent_place(const HgLent *lent, uint32 row)
{
	if (row >= lent->first_other)
		return lent->places[lent->nparts] + (row - lent->first_other);
	return lent->places[HG_FLAT_PART(row)] + HG_FLAT_NUMBER(row);
}

/* Places that lent rows have, and so many others. */
static inline uint64
hg_lent_places(const HgLent *lent, uint64 others)
{
	return lent->places[lent->nparts] + others;
}

/*
 * Begin to lend rows of what is served of a table of so many segments, in CurrentMemoryContext:
 * none is lent yet.  The graph is that of key, which what is served has.
 */
extern HgLent *hg_lent_create(Relation rel, HgPinnedGraph *graph, const HgGraphKey *key,
							  const HgServed *served, uint32 nsegments, int ncolumns,
							  const HgResidentColumn *columns);

/* Was the graph made of this segment version? */
extern bool hg_lent_has_version(const HgLent *lent, const HgSegmentVersion *version);

/*
 * Lend those rows of the version's blocks that are served which have their bit set, count of them;
 * bits are NULL for all rows of the version, or else an array of hg_segment_bits_bytes(), which
 * stays.  Segments ascend.
 */
extern void hg_lent_add(HgLent *lent, const HgServedSegment *segment, uint64 *bits, uint64 count);

/* All have been: their places. */
extern void hg_lent_end(HgLent *lent);

/* Are there rows that the qual was not asked about? */
static inline bool
hg_lent_is_undecided(const HgLent *lent)
{
	return lent->undecided != NULL;
}

/*
 * Have it decided which rows are lent, where it is not: the others are not from now on.  The scan
 * that lends them may be in the middle of other rows.
 */
extern void hg_lent_decide(HgLent *lent);

/* Then: of a version's rows that were lent those that have their bit set are, count of them. */
extern void hg_lent_leave(HgLent *lent, const HgServedSegment *segment, uint64 *bits, uint64 count);

/*
 * A graph of the table's that has the lent rows under the same numbers, by a column alone whose
 * values take part in the words like that: the graph that they are lent of, or another one, which
 * is pinned as long as CurrentMemoryContext is there.  NULL: there is none.
 */
extern HgPinnedGraph *hg_lent_graph_by(const HgLent *lent, int column, const HgGraphPart *part);

/* Are all rows of such a graph lent? */
extern bool hg_lent_has_all(const HgLent *lent, const HgPinnedGraph *graph);

/* What the numbers of lent rows in their segments are below. */
extern uint32 hg_lent_stride(const HgLent *lent);

/*
 * Fetch rows[nrows] into rows 0 .. nrows - 1 of a batch: column i becomes column at[i], unless that
 * is negative.  What is by reference points into the arrays, or into memory that the next call uses
 * again.
 */
extern void hg_lent_get(HgLent *lent, const uint32 *rows, int nrows, HgBatch *batch, const int *at);

/* The next rows from *at, a place, on, at most room of them; *at becomes the one behind. */
extern int hg_lent_next(const HgLent *lent, uint64 *at, uint32 *rows, int room);

/* The same of one segment. */
extern int hg_lent_next_of(const HgLent *lent, uint32 part, uint64 *at, uint32 *rows, int room);

#endif /* HG_LENT_H */
