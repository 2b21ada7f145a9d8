/*-------------------------------------------------------------------------
 *
 * hg_passes_run.h
 *	  Passes over the parts of a partitioned job.
 *
 * hg_passes.c describes the algorithm.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PASSES_RUN_H
#define HG_PASSES_RUN_H

#include "hg_engine.h"
#include "hg_passes.h"

/*
 * The rows of a partitioned job: loads of hash ranges, and parts of the loads.
 *
 * hg_passes.c describes the algorithm.
 */

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

/* Counts the rows of each range of a side. */
extern HgStatus hg_passes_count_side(HgPassParts *parts, HgPassSide *side, HgError *error);

/* Loads the next ranges, or more rows of the last one, when no part of a load is left. */
extern HgStatus hg_passes_load_next(HgPassParts *parts, HgError *error);

/* Takes the next part of the load; returns false if there is none. */
extern bool hg_passes_pop_part(HgPassParts *parts, HgPassPart *part);

/* Puts a part back, as the next one, unless it lacks rows of a side that is needed. */
extern void hg_passes_push_part(HgPassParts *parts, const HgPassPart *part);

/* Returns an estimate of the number of parts that this pass still has. */
extern uint64_t hg_passes_parts_left(const HgPassParts *parts);

/*
 * Splits a part into two, which are the next ones.  *parted is false if it can not be split: it
 * is one outer row and all inner rows of its key.  A part of one key is first tried again alone.
 */
extern HgStatus hg_passes_split_part(HgPassParts *parts, const HgPassPart *part, bool *split,
									 HgError *error);

/*
 * Fills give with count keys for the row at index at of a side's buffer and the rows after it.
 * Their mixed words are those of the buffer with the first bits of the part rotated to the end.
 */
extern void hg_passes_make_keys(const HgPassParts *parts, const HgPassPart *part,
								const HgPassSide *side, uint64_t at, uint64_t count);

/* A job of the wrapped engine. */
typedef struct HgPassRun
{
	HgEngine calls; /* the calls of its engine */
	HgJob *job;		/* NULL if there is none */
	HgPassPart part;
	bool filled; /* all rows of the part were appended */
	bool built;
} HgPassRun;

/* What a pass does with its parts. */
typedef enum HgPassPurpose
{
	HG_PASSES_FOR_NOTHING, /* no pass, or one that has ended */
	HG_PASSES_FOR_BUILD,   /* the first part is built, and the next call continues the pass */
	HG_PASSES_FOR_MATCH,
	HG_PASSES_FOR_COUNT,
	HG_PASSES_FOR_DESCRIBE
} HgPassPurpose;

/* State of a job's passes. */
typedef struct HgPassState
{
	HgPasses *passes;
	const HgHost *host;
	HgJobSpec spec;
	HgPassRun now;	/* the whole job, or the current part */
	HgPassRun next; /* the part that is filled meanwhile */
	HgPassParts parts;

	HgPassPurpose purpose;
	HgMatchMode mode;
	bool streaming;
	bool emitted; /* matches of the part were returned */

	HgJobStats sum;	   /* statistics of closed jobs */
	uint64_t done;	   /* parts of this pass that are finished */
	uint64_t vertices; /* their vertices */
	uint64_t pieces;   /* ranges that they were divided into */
	uint64_t bins;	   /* their bins */
} HgPassState;

/* Opens a job of the wrapped engine; HG_CONNECTION_LOST if the engine is gone. */
extern HgStatus hg_passes_run_open(HgPassState *pass, HgPassRun *run, const HgJobSpec *spec,
								   HgError *error);

/*
 * Closes a job of the wrapped engine, if there is one, and adds its statistics to the sum.  done:
 * it did all that the pass needs of its part.
 */
extern void hg_passes_run_close(HgPassState *pass, HgPassRun *run, bool done);

/* Returns an upper bound of the memory that the open jobs have held together. */
extern uint64_t hg_passes_peak_bytes(const HgPassState *pass);

/* Closes the job that ran whole, allocates buffers and counts the rows of each range. */
extern HgStatus hg_passes_prepare(HgPassState *pass, HgError *error);

/*
 * Begins a pass over the parts; a part without rows of a side that is needed, outer or inner, is
 * skipped.  If the last pass was for build and both sides are needed, it continues as the new
 * pass, with its first part built.
 */
extern void hg_passes_begin(HgPassState *pass, HgPassPurpose purpose, bool outer, bool inner);

/* Builds the current or the next part.  pass->now has no job if none is left. */
extern HgStatus hg_passes_build(HgPassState *pass, HgError *error);

/* The same, and starts the stream of the part's matches. */
extern HgStatus hg_passes_match(HgPassState *pass, HgError *error);

/*
 * Handles the failure of a part's job.  After HG_DEVICE_OUT_OF_MEMORY it closes the job, splits
 * the part and returns HG_OK.  Returns the status if it is another one, or the part can not be
 * split.
 */
extern HgStatus hg_passes_retry(HgPassState *pass, HgPassRun *run, HgStatus status, HgError *error);

/*
 * Calls on a partitioned job: each runs a pass over its parts.
 *
 * These functions implement the calls of hg_engine.h for a job that was partitioned and has not
 * failed.
 */

/* next() of a stream; continues with the next part at the end of one. */
extern HgStatus hg_passes_partitioned_next(HgPassState *pass, HgMatches *matches, HgError *error);

/* Sets *matches to the number of all matches of a mode. */
extern HgStatus hg_passes_partitioned_count(HgPassState *pass, HgMatchMode mode, uint64_t *matches,
											HgError *error);

/* Sets *stats to the sum of what describe() returns for each part of that side. */
extern HgStatus hg_passes_partitioned_describe(HgPassState *pass, HgSide side, HgGraphStats *stats,
											   HgError *error);

/*
 * Returns the statistics of a job that does not run whole: it was partitioned, or will be in
 * build.  built is true if it was partitioned and built.
 */
extern void hg_passes_partitioned_stats(const HgPassState *pass, bool built, HgJobStats *stats);

#endif /* HG_PASSES_RUN_H */
