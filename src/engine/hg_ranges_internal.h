/*-------------------------------------------------------------------------
 *
 * hg_ranges_internal.h
 *	  The job of the engine that cuts jobs into ranges, and what its files share.
 *
 *	hg_ranges.c			the calls of hg_engine.h; tells how it goes
 *	hg_ranges_pass.c	passes over the slices of a job that was cut
 *	hg_ranges_slice.c	loading ranges and parting slices
 *	hg_ranges_memory.c	memory, cancel
 *
 * A file calls those that stand below it, and none above.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RANGES_INTERNAL_H
#define HG_RANGES_INTERNAL_H

#include "hg_ranges.h"

/* log2 of the ranges that rows are counted and laid out by. */
#define HG_RANGE_BITS 10
#define HG_RANGES (1 << HG_RANGE_BITS)

/* The loads that a pass takes, if no key has very many rows. */
#define HG_RANGES_LOADS 4

/* The slices of a load, at least: so that one can be sent while another is worked on. */
#define HG_RANGES_LOAD_SLICES 4

/* A slice of so few rows is not cut any smaller for that. */
#define HG_RANGES_SMALL_SLICE (UINT64_C(1) << 18)

/* A memory limit below this is not shared by two jobs: what every job needs would be much of it. */
#define HG_RANGES_SHARED_LIMIT (UINT64_C(1) << 20)

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

/* A job of the wrapped engine. */
typedef struct HgRangesRun
{
	HgEngine calls; /* of the engine that it belongs to */
	HgJob *job;		/* NULL where there is none */
	HgRangesSlice slice;
	bool filled; /* the rows of the slice were appended */
	bool built;
} HgRangesRun;

/* What the slices of a pass are wanted for. */
typedef enum HgRangesPurpose
{
	HG_RANGES_FOR_NOTHING, /* no pass, or one that has ended */
	HG_RANGES_FOR_BUILD,   /* its first slice is built, to be used by whatever comes */
	HG_RANGES_FOR_MATCH,
	HG_RANGES_FOR_COUNT,
	HG_RANGES_FOR_DESCRIBE
} HgRangesPurpose;

typedef struct HgRangesJob HgRangesJob;

struct HgRangesJob
{
	HgRanges *ranges;
	const HgHost *host;
	HgJobSpec spec;
	HgRangesRun now;  /* the whole job, or the slice that is worked on */
	HgRangesRun next; /* the slice that is filled meanwhile */
	bool refused;	  /* the device has no memory for all of it */
	bool built;
	bool failed; /* only close is left */
	bool cut;
	bool in_pairs; /* the device works by itself: two jobs are open at a time */
	HgRangesSide sides[2];
	void *give; /* [HG_RANGES_GIVE_KEYS] keys on their way to the device, or to the buffers */

	HgRangesPurpose purpose;
	HgMatchMode mode;
	bool wanted[2];			   /* sides that must have rows where a slice is to be worked on */
	uint32_t next_range;	   /* the next to be loaded */
	uint64_t most_rows;		   /* of both sides that a slice of several ranges may have */
	uint8_t chosen[HG_RANGES]; /* 1 for ranges that are being loaded, else 0 */
	HgRangesSlice stack[HG_RANGES_SLICES];
	int depth;
	bool streaming;
	bool delivered; /* the slice has had its first matches */

	HgJobStats sum;	  /* of jobs that were closed */
	uint64_t slices;  /* of this pass, done ... */
	uint64_t pass[2]; /* ... and their vertices and bins */
};

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

/* hg_ranges_memory.c: HG_OK, or HG_CANCELLED when the host wants the work to stop. */
extern HgStatus hg_ranges_poll(HgRangesJob *job, HgError *error);

/* count elements of width bytes; NULL with HG_OUT_OF_MEMORY.  Freeing NULL does nothing. */
extern HgStatus hg_ranges_alloc(HgRangesJob *job, uint64_t count, uint64_t width, void **ptr,
								HgError *error);
extern void hg_ranges_free(HgRangesJob *job, void *ptr, uint64_t count, uint64_t width);

/* hg_ranges_pass.c: open a job of the wrapped engine. */
extern HgStatus hg_ranges_run_open(HgRangesJob *job, HgRangesRun *run, const HgJobSpec *spec,
								   HgError *error);

/*
 * Close a job of the wrapped engine, if there is one, keeping its figures.  done tells that it did
 * all that its slice was wanted for.
 */
extern void hg_ranges_run_close(HgRangesJob *job, HgRangesRun *run, bool done);

/* The most memory that the open jobs have held together, at most. */
extern uint64_t hg_ranges_peak_bytes(const HgRangesJob *job);

/* Close the job that was whole, and get ready for ranges. */
extern HgStatus hg_ranges_cut(HgRangesJob *job, HgError *error);

/*
 * Begin a pass over the slices that have rows of the sides which are wanted.  A pass
 * that was begun for build goes on as one for matches, its first slice being built.
 */
extern void hg_ranges_pass_begin(HgRangesJob *job, HgRangesPurpose purpose, bool outer, bool inner);

/*
 * Have a slice built, the one that is at work already or else the next: job->now has no job
 * when there are no more.
 */
extern HgStatus hg_ranges_pass_build(HgRangesJob *job, HgError *error);

/* The same with the stream of the slice's matches started. */
extern HgStatus hg_ranges_pass_match(HgRangesJob *job, HgError *error);

/*
 * A slice's job failed with status: close it and part the slice where that is for want of memory
 * and possible, and return HG_OK; else return the status.
 */
extern HgStatus hg_ranges_retry(HgRangesJob *job, HgRangesRun *run, HgStatus status,
								HgError *error);

/* hg_ranges_slice.c: count the rows of each range of a side. */
extern HgStatus hg_ranges_count_side(HgRangesJob *job, HgRangesSide *side, HgError *error);

/* Load the next ranges that are wanted, or more rows of one, when no slice of the last load is
 * left. */
extern HgStatus hg_ranges_load_next(HgRangesJob *job, HgError *error);

/* Take the next slice of what is loaded; false where there is none. */
extern bool hg_ranges_take_slice(HgRangesJob *job, HgRangesSlice *slice);

/* Put a slice back, to be the next. */
extern void hg_ranges_give_back(HgRangesJob *job, const HgRangesSlice *slice);

/* The slices that are still to come in this pass, more or less. */
extern uint64_t hg_ranges_slices_left(const HgRangesJob *job);

/*
 * Part a slice: its halves are the next.  *parted is false where that can't be: an outer row and
 * all inner rows with its key.  A slice of one key is first tried again alone.
 */
extern HgStatus hg_ranges_part_slice(HgRangesJob *job, const HgRangesSlice *slice, bool *parted,
									 HgError *error);

/*
 * Fill the job's give with count keys for row at and those after it of a side's buffer: keys
 * whose mixed words are those of the buffer with the slice's bits turned to the end.
 */
extern void hg_ranges_make_keys(const HgRangesJob *job, const HgRangesSlice *slice,
								const HgRangesSide *side, uint64_t at, uint64_t count);

#endif /* HG_RANGES_INTERNAL_H */
