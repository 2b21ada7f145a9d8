/*-------------------------------------------------------------------------
 *
 * hg_ranges_slice.h
 *	  The rows of a job that may be cut into ranges: loads of ranges, and slices of these.
 *
 * hg_ranges.c tells the whole way.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RANGES_SLICE_H
#define HG_RANGES_SLICE_H

#include "hg_engine.h"

/* log2 of the ranges that rows are counted and laid out by. */
#define HG_RANGE_BITS 10
#define HG_RANGES (1 << HG_RANGE_BITS)

/* The loads that a pass takes, if no key has very many rows. */
#define HG_RANGES_LOADS 4

/* The slices of a load, at least: so that one can be sent while another is worked on. */
#define HG_RANGES_LOAD_SLICES 4

/* A slice of so few rows is not cut any smaller for that. */
#define HG_RANGES_SMALL_SLICE (UINT64_C(1) << 18)

/* Rows worked on between two polls of cancelled(): the buffers they go to are fresh memory. */
#define HG_RANGES_POLL_ROWS 4096

/* Keys that are given to the device at a time. */
#define HG_RANGES_GIVE_KEYS 32768

/*
 * Slices that wait because others were parted: these lose half of the rows of their ranges, a bit,
 * or half of their outer rows, each time, and two are worked on at a time.
 */
#define HG_RANGES_SLICES (2 * (32 + 64 + 32) + 4)

/* Keys that one append brought; the memory is the caller's. */
typedef struct HgRangesArray
{
	const void *keys;
	uint64_t count;
} HgRangesArray;

/* A walk over the keys of a side in the order of their rows. */
typedef struct HgRangesWalk
{
	size_t array;
	uint64_t at;
	uint64_t row;
} HgRangesWalk;

typedef struct HgRangesSide
{
	HgRangesArray *arrays;
	size_t array_count;
	size_t array_capacity;
	uint64_t rows;

	/* of a job that was cut */
	uint64_t *range_rows; /* [HG_RANGES] */
	uint64_t *range_end;  /* [HG_RANGES] where the ranges that are loaded end in the buffers */
	void *mixed;		  /* [capacity] mixed keys of the load */
	uint32_t *numbers;	  /* [capacity] and their row numbers */
	uint64_t capacity;
	uint64_t loaded;   /* rows in the buffers */
	uint64_t left;	   /* rows of the load's only range that are not loaded yet ... */
	HgRangesWalk walk; /* ... and where they come */
} HgRangesSide;

/* Rows low[side] .. high[side] - 1 of the buffers: of whole ranges, or part of a range's. */
typedef struct HgRangesSlice
{
	uint64_t low[2];
	uint64_t high[2];
	uint32_t first_range; /* first_range .. end_range - 1 */
	uint32_t end_range;
	uint32_t bits; /* of the mixed keys, which the slice or its ranges were chosen by */
	bool alone;	   /* the device has room for it only while it has nothing else of the job */
} HgRangesSlice;

typedef struct HgRangesSlices
{
	const HgHost *host;
	uint32_t key_width;
	HgRangesSide sides[2];
	void *give; /* [HG_RANGES_GIVE_KEYS] keys on their way to the device, or to the buffers */

	/* of a pass */
	bool wanted[2];			   /* sides that must have rows where a slice is to be worked on */
	bool whole;				   /* a range's outer rows are loaded all at a time */
	bool in_pairs;			   /* two slices are worked on at a time */
	uint32_t next_range;	   /* the next to be loaded */
	uint64_t most_rows;		   /* of both sides that a slice of several ranges may have */
	uint8_t chosen[HG_RANGES]; /* 1 for ranges that are being loaded, else 0 */
	HgRangesSlice stack[HG_RANGES_SLICES];
	int depth;

	double load_ms; /* what loading has taken */
} HgRangesSlices;

/* Rows of both sides. */
static inline uint64_t
hg_ranges_slice_rows(const HgRangesSlice *slice)
{
	return slice->high[HG_OUTER] - slice->low[HG_OUTER] + slice->high[HG_INNER] -
		   slice->low[HG_INNER];
}

static inline uint64_t
hg_ranges_smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Count the rows of each range of a side. */
extern HgStatus hg_ranges_count_side(HgRangesSlices *slices, HgRangesSide *side, HgError *error);

/*
 * Load the next ranges that are wanted, or more rows of one, when no slice of the last load is
 * left.
 */
extern HgStatus hg_ranges_load_next(HgRangesSlices *slices, HgError *error);

/* Take the next slice of what is loaded; false where there is none. */
extern bool hg_ranges_take_slice(HgRangesSlices *slices, HgRangesSlice *slice);

/* Put a slice back, to be the next. */
extern void hg_ranges_give_back(HgRangesSlices *slices, const HgRangesSlice *slice);

/* The slices that are still to come in this pass, more or less. */
extern uint64_t hg_ranges_slices_left(const HgRangesSlices *slices);

/*
 * Part a slice: its halves are the next.  *parted is false where that can't be: an outer row and
 * all inner rows with its key.  A slice of one key is first tried again alone.
 */
extern HgStatus hg_ranges_part_slice(HgRangesSlices *slices, const HgRangesSlice *slice,
									 bool *parted, HgError *error);

/*
 * Fill give with count keys for row at and those after it of a side's buffer: keys
 * whose mixed words are those of the buffer with the slice's bits turned to the end.
 */
extern void hg_ranges_make_keys(const HgRangesSlices *slices, const HgRangesSlice *slice,
								const HgRangesSide *side, uint64_t at, uint64_t count);

#endif /* HG_RANGES_SLICE_H */
