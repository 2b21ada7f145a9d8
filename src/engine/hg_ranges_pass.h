/*-------------------------------------------------------------------------
 *
 * hg_ranges_pass.h
 *	  Passes over the slices of a partitioned job.
 *
 * hg_ranges.c describes the algorithm.
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
	HgEngine calls; /* the calls of its engine */
	HgJob *job;		/* NULL if there is none */
	HgRangesSlice slice;
	bool filled; /* all rows of the slice were appended */
	bool built;
} HgRangesRun;

/* What a pass does with its slices. */
typedef enum HgRangesPurpose
{
	HG_RANGES_FOR_NOTHING, /* no pass, or one that has ended */
	HG_RANGES_FOR_BUILD,   /* the first slice is built, and the next call continues the pass */
	HG_RANGES_FOR_MATCH,
	HG_RANGES_FOR_COUNT,
	HG_RANGES_FOR_DESCRIBE
} HgRangesPurpose;

/* State of a job's passes. */
typedef struct HgRangesPass
{
	HgRanges *ranges;
	const HgHost *host;
	HgJobSpec spec;
	HgRangesRun now;  /* the whole job, or the current slice */
	HgRangesRun next; /* the slice that is filled meanwhile */
	HgRangesSlices slices;

	HgRangesPurpose purpose;
	HgMatchMode mode;
	bool streaming;
	bool delivered; /* matches of the slice were returned */

	HgJobStats sum;	   /* statistics of closed jobs */
	uint64_t done;	   /* slices of this pass that are finished */
	uint64_t vertices; /* their vertices */
	uint64_t pieces;   /* ranges that they were divided into */
	uint64_t bins;	   /* their bins */
} HgRangesPass;

/* Opens a job of the wrapped engine; HG_CONNECTION_LOST if the engine is gone. */
extern HgStatus hg_ranges_run_open(HgRangesPass *pass, HgRangesRun *run, const HgJobSpec *spec,
								   HgError *error);

/*
 * Closes a job of the wrapped engine, if there is one, and adds its statistics to the sum.  done:
 * it did all that the pass needs of its slice.
 */
extern void hg_ranges_run_close(HgRangesPass *pass, HgRangesRun *run, bool done);

/* Returns an upper bound of the memory that the open jobs have held together. */
extern uint64_t hg_ranges_peak_bytes(const HgRangesPass *pass);

/* Closes the job that ran whole, allocates buffers and counts the rows of each range. */
extern HgStatus hg_ranges_pass_prepare(HgRangesPass *pass, HgError *error);

/*
 * Begins a pass over the slices; a slice without rows of a side that is needed, outer or inner, is
 * skipped.  If the last pass was for build and both sides are needed, it continues as the new
 * pass, with its first slice built.
 */
extern void hg_ranges_pass_begin(HgRangesPass *pass, HgRangesPurpose purpose, bool outer,
								 bool inner);

/* Builds the current or the next slice.  pass->now has no job if none is left. */
extern HgStatus hg_ranges_pass_build(HgRangesPass *pass, HgError *error);

/* The same, and starts the stream of the slice's matches. */
extern HgStatus hg_ranges_pass_match(HgRangesPass *pass, HgError *error);

/*
 * Handles the failure of a slice's job.  After HG_DEVICE_OUT_OF_MEMORY it closes the job, splits
 * the slice and returns HG_OK.  Returns the status if it is another one, or the slice can not be
 * split.
 */
extern HgStatus hg_ranges_retry(HgRangesPass *pass, HgRangesRun *run, HgStatus status,
								HgError *error);

#endif /* HG_RANGES_PASS_H */
