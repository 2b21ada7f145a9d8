/*-------------------------------------------------------------------------
 *
 * hg_ranges_internal.h
 *	  The job of the engine that cuts jobs into ranges, and what its files share.
 *
 *	hg_ranges.c			the calls of hg_engine.h; tells how it goes
 *	hg_ranges_pass.c	passes over the slices of a job that was cut
 *	hg_ranges_slice.c	loading ranges and parting slices
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RANGES_INTERNAL_H
#define HG_RANGES_INTERNAL_H

#include "hg_ranges.h"

/* log2 of the ranges that a pass reads all keys for. */
#define HG_RANGE_BITS 4
#define HG_RANGES (1 << HG_RANGE_BITS)

/* Rows worked on between two polls of cancelled(): the buffers they go to are fresh memory. */
#define HG_RANGES_POLL_ROWS 4096

/* Keys that are given to the device at a time. */
#define HG_RANGES_GIVE_KEYS 32768

/* A slice loses a bit, or half of its outer rows, each time it is parted. */
#define HG_RANGES_SLICES (64 + 32 + 2)

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
	uint64_t range_rows[HG_RANGES];
	void *mixed;	   /* [capacity] mixed keys of the range that is loaded */
	uint32_t *numbers; /* [capacity] and their row numbers */
	uint64_t capacity;
	uint64_t loaded;   /* rows in the buffers */
	uint64_t left;	   /* rows of the range that are not loaded yet ... */
	HgRangesWalk walk; /* ... and where they come */
} HgRangesSide;

/* Rows low[side] .. high[side] - 1 of the buffers, whose mixed keys share their first bits. */
typedef struct HgRangesSlice
{
	uint64_t low[2];
	uint64_t high[2];
	uint32_t bits;
} HgRangesSlice;

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
	HgEngine calls; /* of the engine that the open job belongs to */
	HgJob *open;	/* NULL where there is none */
	bool refused;	/* the device has no memory for all of it */
	bool built;
	bool failed; /* only close is left */
	bool cut;
	HgRangesSide sides[2];
	void *give; /* [HG_RANGES_GIVE_KEYS] keys on their way to the device */

	HgRangesPurpose purpose;
	HgMatchMode mode;
	bool wanted[2];		 /* sides that must have rows where a slice is to be worked on */
	uint32_t next_range; /* the next to be loaded */
	HgRangesSlice slice; /* that the open job works on */
	HgRangesSlice stack[HG_RANGES_SLICES];
	int depth;
	bool streaming;
	bool delivered; /* the slice has had its first matches */

	HgJobStats sum;	  /* of jobs that were closed */
	uint64_t slices;  /* of this pass, done ... */
	uint64_t pass[2]; /* ... and their vertices and bins */
};

static inline uint64_t
hg_ranges_smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* HG_OK, or HG_CANCELLED when the host wants the work to stop. */
extern HgStatus hg_ranges_poll(HgRangesJob *job, HgError *error);

/* count elements of width bytes; NULL with HG_OUT_OF_MEMORY.  Freeing NULL does nothing. */
extern HgStatus hg_ranges_alloc(HgRangesJob *job, uint64_t count, uint64_t width, void **ptr,
								HgError *error);
extern void hg_ranges_free(HgRangesJob *job, void *ptr, uint64_t count, uint64_t width);

/* Open a job of the wrapped engine. */
extern HgStatus hg_ranges_device_open(HgRangesJob *job, const HgJobSpec *spec, HgError *error);

/*
 * Close the open job, if there is one, keeping its figures.  done tells that it did all
 * that its slice was wanted for.
 */
extern void hg_ranges_device_close(HgRangesJob *job, bool done);

/* Close the open job, which was whole, and get ready for ranges. */
extern HgStatus hg_ranges_cut(HgRangesJob *job, HgError *error);

/*
 * Begin a pass over the slices that have rows of the sides which are wanted.  A pass
 * that was begun for build goes on as one for matches, its first slice being built.
 */
extern void hg_ranges_pass_begin(HgRangesJob *job, HgRangesPurpose purpose, bool outer, bool inner);

/*
 * Have a slice built, the one that is open already or else the next: job->open is NULL
 * when there are no more.
 */
extern HgStatus hg_ranges_pass_build(HgRangesJob *job, HgError *error);

/* The same with the stream of the slice's matches started. */
extern HgStatus hg_ranges_pass_match(HgRangesJob *job, HgError *error);

/*
 * The open job failed with status: part its slice where that is for want of memory and
 * possible, and return HG_OK; else return the status.
 */
extern HgStatus hg_ranges_retry(HgRangesJob *job, HgStatus status, HgError *error);

/* Count the rows of each range of a side. */
extern HgStatus hg_ranges_count_side(HgRangesJob *job, HgRangesSide *side, HgError *error);

/* Will the range have slices in this pass? */
extern bool hg_ranges_is_wanted(const HgRangesJob *job, uint32_t range);

/*
 * Load the next portion of rows, or the next range that is wanted, and put it on the
 * stack, which is empty.  It stays so when there is none.
 */
extern HgStatus hg_ranges_load_next(HgRangesJob *job, HgError *error);

/*
 * Put the halves of the slice on the stack.  *parted is false where it cannot be halved:
 * an outer row and all inner rows with its key.
 */
extern HgStatus hg_ranges_part_slice(HgRangesJob *job, bool *parted, HgError *error);

/*
 * Fill the job's give with count keys for row at and those after it of a side's buffer: keys
 * whose mixed words are those of the buffer with the slice's bits turned to the end.
 */
extern void hg_ranges_make_keys(const HgRangesJob *job, const HgRangesSide *side, uint64_t at,
								uint64_t count);

#endif /* HG_RANGES_INTERNAL_H */
