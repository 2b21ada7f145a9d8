/*-------------------------------------------------------------------------
 *
 * hg_passes_run.h
 *	  Passes over the parts of a partitioned job.
 *
 * A pass runs a job of the wrapped engine for each part (hg_passes_parts.h), one after the other.
 * If that engine is asynchronous, the next job is filled while the device works on the current one.
 * hg_passes.c calls hg_passes_prepare once, and then the functions for calls on a partitioned job,
 * which begin passes and go through their parts.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PASSES_RUN_H
#define HG_PASSES_RUN_H

#include "hg_engine.h"
#include "hg_passes.h"
#include "hg_passes_parts.h"

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

/* Opens a job of the wrapped engine for spec in *run; HG_CONNECTION_LOST if the engine is gone. */
extern HgStatus hg_passes_run_open(HgPassState *pass, HgPassRun *run, const HgJobSpec *spec,
								   HgError *error);

/*
 * Closes a run's job, if there is one, and adds its statistics to pass->sum.  done: it did all that
 * the pass needs of its part, which then counts as finished.
 */
extern void hg_passes_run_close(HgPassState *pass, HgPassRun *run, bool done);

/* Turns a job into a partitioned one: closes pass->now's job and counts the rows of each range. */
extern HgStatus hg_passes_prepare(HgPassState *pass, HgError *error);

/*
 * Begins a pass over the parts.  outer and inner say which sides it needs; parts without rows of
 * such a side are skipped.  If the last pass was for build and both sides are needed, it continues
 * as the new pass, with its first part built.
 */
extern void hg_passes_begin(HgPassState *pass, HgPassPurpose purpose, bool outer, bool inner);

/* Builds the job of the current or the next part.  pass->now.job is NULL if there is no more. */
extern HgStatus hg_passes_build(HgPassState *pass, HgError *error);

/* Builds the job of the current or the next part, and starts the stream of its matches. */
extern HgStatus hg_passes_match(HgPassState *pass, HgError *error);

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
