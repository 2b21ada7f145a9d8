/*-------------------------------------------------------------------------
 *
 * hg_slices.h
 *	  Graph replicas in slices, of which each of several devices has one.
 *
 * A graph that is too large for one device is cut into SLICES by the parts that its keys are of
 * (hg_exchange.h): slice s of n has those from s * HG_EXCHANGE_PARTS / n on.  All rows of a key are
 * in one slice, and those of the same key of another graph in the slice of the same number, if that
 * is cut into as many.  So two such graphs are joined slice by slice, with nothing exchanged; and
 * one of them is so with a graph that each of the devices has whole.
 *
 * ROWS of a slice have numbers of their own: 0, 1, 2 ... in the order of those that the graph has
 * for them.  A slice is a graph replica like any other then (hg_replica.h), whose rows' ordinals in
 * columns are their numbers: columns of slices have no gaps, and all slices together are as large
 * as the graph.  Rows that the graph has not, as their keys are NULL, are in none.
 *
 * WHICH ROWS a slice has is told by a bit for each row number, part of the graph by part of it.  A
 * row's number in the slice is how many of the slice's bits are set before its own.
 *
 * ALONG. Where rows of a graph that is cut look others up (hg_replica.h), the graph by which they
 * do it is one of the same rows by another key, and is cut ALONG with it: each of its rows is in
 * the slice, and has the number there, that it has of the graph that is cut.  Those that this one
 * has not are in none.  Rows that are looked up are whole on each device; or they are cut by the
 * keys that they are found by, where those that look up are cut by these too: what a row finds is
 * in the slice of the same number then.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SLICES_H
#define HG_SLICES_H

#include "hg_exchange.h"
#include "hg_replica.h"

/* How a graph is cut.  The arrays are the owner's. */
typedef struct HgSlices
{
	uint32_t count; /* 2 .. HG_MAX_SHARDS */
	uint32_t parts; /* of the graph */

	/* [parts]: words that a slice's bits of a part take */
	const uint32_t *words;

	/* [parts] of [count * words[part]], those of slice s from word s * words[part] on */
	const uint64_t *const *bits;

	/* [count * (parts + 1)]: rows of slice s in parts before p are before[s * (parts + 1) + p] */
	const uint64_t *before;
} HgSlices;

/* How rows of slices look others up: a graph by another key of theirs is cut along with theirs. */
typedef struct HgSlicedAlong
{
	uint32_t cut;		   /* of those of the other graph: part of the names of slices, below
							* HG_SLICED_CUTS; 0: it is the graph that is cut itself ... */
	const HgSlices *found; /* ... and then how what is looked up is cut; NULL: it is whole */
	const uint64_t *rows;  /* [count] that another graph has in each slice */
} HgSlicedAlong;

/* One graph is cut along with others, or with the same anew, less often than that. */
#define HG_SLICED_CUTS 256

/* The slice, of so many, of the rows with this key. */
static inline uint32_t
hg_slice_of(uint32_t count, int64_t key)
{
	return hg_exchange_part64(hg_mix64((uint64_t) key)) * count >> HG_EXCHANGE_BITS;
}

/* The bits of a slice in a part. */
static inline const uint64_t *
hg_slice_bits(const HgSlices *slices, uint32_t slice, uint32_t part)
{
	return slices->bits[part] + (size_t) slice * slices->words[part];
}

/* The rows of a slice in parts before this one; and of the whole slice. */
static inline uint64_t
hg_slice_before(const HgSlices *slices, uint32_t slice, uint32_t part)
{
	return slices->before[(size_t) slice * (slices->parts + 1) + part];
}

static inline uint64_t
hg_slice_rows(const HgSlices *slices, uint32_t slice)
{
	return hg_slice_before(slices, slice, slices->parts);
}

/* Count the rows before each part, before[count * (parts + 1)], once all bits are set. */
extern void hg_slices_count(const HgSlices *slices, uint64_t *before);

/* What a slice of something of this name goes by: a number that is never 0. */
extern uint32_t hg_slice_number(uint32_t count, uint32_t slice);

/* The same of a graph that is cut along with others: by the number of its cut, or 0. */
extern uint32_t hg_slice_number_along(uint32_t cut, uint32_t count, uint32_t slice);

/* The shape of a slice, of keys that are so wide; and that of a column of its rows. */
extern HgReplicaShape hg_slice_shape(const HgSlices *slices, uint32_t slice, uint32_t key_width);
extern HgReplicaColumnShape hg_slice_column_shape(const HgSlices *slices, uint32_t slice,
											   uint32_t width);

/* The shape of the slice of a graph that is cut along, with so many of its rows. */
extern HgReplicaShape hg_slice_shape_along(const HgSlices *slices, uint32_t slice, uint32_t key_width,
										uint64_t rows);

/*
 * NUMBERS of many rows in a slice: with the ranks of a part, which are those of every
 * HG_SLICE_RANK_WORDS words of its bits.
 */
#define HG_SLICE_RANK_WORDS 8

static inline uint32_t
hg_slice_ranks(uint32_t words)
{
	return words / HG_SLICE_RANK_WORDS + 1;
}

/* Count them, ranks[hg_slice_ranks(words)]: bits that are set before the first of these words. */
extern void hg_slice_rank_all(const uint64_t *bits, uint32_t words, uint32_t *ranks);

/* Bits that are set before this one. */
extern uint32_t hg_slice_rank(const uint64_t *bits, const uint32_t *ranks, uint32_t number);

/*
 * MASKS.  Which rows of a part count is told by count of its words, from this one on, or, where
 * words are NULL, none does.  Have the mask of a slice tell it: bits by the numbers that its rows
 * have there.
 */
extern void hg_slice_mask(const HgSlices *slices, uint32_t slice, uint32_t part, uint32_t first,
						  const uint64_t *words, uint32_t count, uint64_t *mask);

/* Words of the mask of a slice; and bytes of those of all slices together. */
static inline uint64_t
hg_slice_mask_words(const HgSlices *slices, uint32_t slice)
{
	return (hg_slice_rows(slices, slice) + 63) / 64;
}

extern uint64_t hg_slices_mask_bytes(const HgSlices *slices);

#endif /* HG_SLICES_H */
