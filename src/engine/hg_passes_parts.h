/*-------------------------------------------------------------------------
 *
 * hg_passes_parts.h
 *	  The rows of a partitioned job: loads of hash ranges, and parts of the loads.
 *
 * A job that does not fit its device is joined in parts, each by a job of its own (hg_passes.c).
 * Keys of both sides are divided into RANGES by the first bits of their mixed words (hg_hash.h).  A
 * LOAD is as many ranges as the buffers hold, and a PART is some ranges of it, or some rows of one.
 * A pass over all rows loads ranges when no part is left, takes a part, and splits it if the device
 * has no memory for it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PASSES_PARTS_H
#define HG_PASSES_PARTS_H

#include "hg_engine.h"

/* log2 of the number of ranges by which rows are counted and loaded. */
#define HG_PASSES_RANGE_BITS 10
#define HG_PASSES_RANGES (1 << HG_PASSES_RANGE_BITS)

/* Number of loads of a pass, unless a frequent key needs more. */
#define HG_PASSES_LOADS 4

/* Least number of parts of a load, so that one can be sent while the device works on another. */
#define HG_PASSES_LOAD_PARTS 4

/* A part with at most this many rows is not made smaller to get more parts. */
#define HG_PASSES_SMALL_PART (UINT64_C(1) << 18)

/* Rows handled between two polls of cancelled(); the buffers that they go to are fresh memory. */
#define HG_PASSES_POLL_ROWS 4096

/* Maximum number of keys of one append to the device. */
#define HG_PASSES_APPEND_KEYS 32768

/*
 * Size of the stack of parts that wait because others were split.  Each split removes half of the
 * ranges, one bit, or half of the outer rows, and two parts are worked on at a time.
 */
#define HG_PASSES_MAX_PARTS (2 * (32 + 64 + 32) + 4)

/* Keys of one append; the array belongs to the caller. */
typedef struct HgPassArray
{
	const void *keys;
	uint64_t count;
} HgPassArray;

/* A walk over the keys of a side in the order of their rows. */
typedef struct HgPassWalk
{
	size_t array;
	uint64_t at;
	uint64_t row;
} HgPassWalk;

typedef struct HgPassSide
{
	HgPassArray *arrays;
	size_t array_count;
	size_t array_capacity;
	uint64_t rows;

	/* of a partitioned job */
	uint64_t *range_rows; /* [HG_PASSES_RANGES] */
	uint64_t *range_end;  /* [HG_PASSES_RANGES] end of each loaded range in the buffers */
	void *mixed;		  /* [capacity] mixed keys of the load */
	uint32_t *numbers;	  /* [capacity] their row numbers */
	uint64_t capacity;
	uint64_t loaded; /* rows in the buffers */
	uint64_t left;	 /* rows of the load's only range that are not loaded yet */
	HgPassWalk walk; /* position of the first of these */
} HgPassSide;

/* Rows low[side] .. high[side] - 1 of the buffers: whole ranges, or a part of one range. */
typedef struct HgPassPart
{
	uint64_t low[2];
	uint64_t high[2];
	uint32_t first_range; /* first_range .. end_range - 1 */
	uint32_t end_range;
	uint32_t bits; /* number of first bits of the mixed keys that the part, or each of its ranges,
					* has in common */
	bool alone;	   /* runs without another job, with all of the memory */
} HgPassPart;

typedef struct HgPassParts
{
	const HgHost *host;
	uint32_t key_width;
	HgPassSide sides[2];
	void *buffer; /* [HG_PASSES_APPEND_KEYS] keys on their way to the device or to the buffers */

	/* of a pass */
	bool required[2];				  /* sides of which a part must have rows */
	bool whole;						  /* all outer rows of a range are loaded at a time */
	bool in_pairs;					  /* two parts are worked on at a time */
	uint32_t next_range;			  /* the next range to load */
	uint64_t most_rows;				  /* maximum rows, of both sides, of a part of several ranges */
	uint8_t chosen[HG_PASSES_RANGES]; /* 1 for ranges that are being loaded, else 0 */
	HgPassPart stack[HG_PASSES_MAX_PARTS];
	int depth;

	double load_ms; /* time of all loading */
} HgPassParts;

/* Returns the rows of a part, of both sides. */
static inline uint64_t
hg_passes_part_rows(const HgPassPart *part)
{
	return part->high[HG_OUTER] - part->low[HG_OUTER] + part->high[HG_INNER] - part->low[HG_INNER];
}

static inline uint64_t
hg_passes_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Adds the rows of each range of a side to side->range_rows. */
extern HgStatus hg_passes_count_side(HgPassParts *parts, HgPassSide *side, HgError *error);

/*
 * Called when no part of a load is left: loads the next ranges, or more outer rows of the last one,
 * and pushes them as one part.  Pushes none at the end of the pass.
 */
extern HgStatus hg_passes_load_next(HgPassParts *parts, HgError *error);

/* Removes the next part from the stack, cut to a suitable size; returns false if there is none. */
extern bool hg_passes_pop_part(HgPassParts *parts, HgPassPart *part);

/* Puts a part on the stack, as the next one, unless it lacks rows of a required side. */
extern void hg_passes_push_part(HgPassParts *parts, const HgPassPart *part);

/* Returns an estimate of the number of parts that this pass still has. */
extern uint64_t hg_passes_parts_left(const HgPassParts *parts);

/*
 * Splits a part, which is not on the stack, into two, which become the next ones.  *split is false
 * if it can not be split, such as one outer row and all inner rows of its key.  A part of one key
 * is first pushed again whole, to run alone.
 */
extern HgStatus hg_passes_split_part(HgPassParts *parts, const HgPassPart *part, bool *split,
									 HgError *error);

/*
 * Writes count keys to parts->buffer, for the rows of a side from index at of its buffers on. Their
 * mixed words are those of the buffers with the first part->bits bits rotated to the end.
 */
extern void hg_passes_make_keys(const HgPassParts *parts, const HgPassPart *part,
								const HgPassSide *side, uint64_t at, uint64_t count);

#endif /* HG_PASSES_PARTS_H */
