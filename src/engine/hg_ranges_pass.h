/*-------------------------------------------------------------------------
 *
 * hg_ranges_pass.h
 *	  Passes over the slices of a job that was cut into ranges.
 *
 * hg_ranges.c tells the whole way.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RANGES_PASS_H
#define HG_RANGES_PASS_H

#include "hg_ranges.h"
#include "hg_ranges_slice.h"

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

/* A job, as far as passes go. */
typedef struct HgRangesPass
{
	HgRanges *ranges;
	const HgHost *host;
	HgJobSpec spec;
	HgRangesRun now;  /* the whole job, or the slice that is worked on */
	HgRangesRun next; /* the slice that is filled meanwhile */
	HgRangesSlices slices;

	HgRangesPurpose purpose;
	HgMatchMode mode;
	bool streaming;
	bool delivered; /* the slice has had its first matches */

	HgJobStats sum;	   /* of jobs that were closed */
	uint64_t done;	   /* slices of this pass that are ... */
	uint64_t vertices; /* ... and their vertices ... */
	uint64_t pieces;   /* ... and the ranges that each of them was cut into ... */
	uint64_t bins;	   /* ... and bins */
} HgRangesPass;

/* Open a job of the wrapped engine. */
extern HgStatus hg_ranges_run_open(HgRangesPass *pass, HgRangesRun *run, const HgJobSpec *spec,
								   HgError *error);

/*
 * Close a job of the wrapped engine, if there is one, keeping its figures.  done tells that it did
 * all that its slice was wanted for.
 */
extern void hg_ranges_run_close(HgRangesPass *pass, HgRangesRun *run, bool done);

/* The most memory that the open jobs have held together, at most. */
extern uint64_t hg_ranges_peak_bytes(const HgRangesPass *pass);

/* Close the job that was whole, and get ready for ranges: count the rows of each. */
extern HgStatus hg_ranges_pass_prepare(HgRangesPass *pass, HgError *error);

/*
 * Begin a pass over the slices that have rows of the sides which are wanted.  A pass
 * that was begun for build goes on as one for matches, its first slice being built.
 */
extern void hg_ranges_pass_begin(HgRangesPass *pass, HgRangesPurpose purpose, bool outer,
								 bool inner);

/*
 * Have a slice built, the one that is at work already or else the next: pass->now has no job
 * when there are no more.
 */
extern HgStatus hg_ranges_pass_build(HgRangesPass *pass, HgError *error);

/* The same with the stream of the slice's matches started. */
extern HgStatus hg_ranges_pass_match(HgRangesPass *pass, HgError *error);

/*
 * A slice's job failed with status: close it and part the slice where that is for want of memory
 * and possible, and return HG_OK; else return the status.
 */
extern HgStatus hg_ranges_retry(HgRangesPass *pass, HgRangesRun *run, HgStatus status,
								HgError *error);

#endif /* HG_RANGES_PASS_H */
