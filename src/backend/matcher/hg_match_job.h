/*-------------------------------------------------------------------------
 *
 * hg_match_job.h
 *	  What all match sources with an engine job have in common.
 *
 * The calls of hg_match_source.h that are the same for every engine, and parts of the others.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_JOB_H
#define HG_MATCH_JOB_H

#include "backend/matcher/hg_match_source.h"

typedef struct HgMatchJob
{
	HgMatchSource source; /* first */
	HgEngine *engine;
	HgJob *job;			 /* NULL before open and after close */
	HgMatchBlock *block; /* receives chunks of matches; NULL before the first */
	bool filled;		 /* the job already had all keys and columns when it was opened */
	bool streaming;		 /* match() was called for the current stream */
} HgMatchJob;

/* Creates a source with a CPU job, without columns. Ends the task's device timeout. */
extern HgMatchSource *hg_match_job_create_on_cpu(HgMatchTask *task, const HgMatchSourceOps *ops);

/* Opens a job on the engine. */
extern HgStatus hg_match_job_open(HgMatchSource *source, HgError *error);

/* Gives the job all keys, numbered by position, and columns, unless filled; builds it. */
extern HgStatus hg_match_job_build(HgMatchSource *source, HgError *error);

/*
 * The first part of HgMatchSourceOps.next: returns the remaining matches of the last outer row
 * after a handover, or false if there are none.
 */
extern bool hg_match_job_next_rest(HgMatchJob *job, const HgMatches **matches);

/*
 * The second part: returns the next matches of the job that no earlier source has returned;
 * *matches is NULL at the end.
 */
extern HgStatus hg_match_job_next_new(HgMatchJob *job, const HgMatches **matches, HgError *error);

extern HgStatus hg_match_job_next(HgMatchSource *source, const HgMatches **matches, HgError *error);
extern HgStatus hg_match_job_renew(HgMatchSource *source, const void *keys, uint64 count,
								   HgError *error);
extern void hg_match_job_rewind(HgMatchSource *source);
extern HgStatus hg_match_job_count(HgMatchSource *source, uint64 *matches, HgError *error);
extern HgStatus hg_match_job_describe(HgMatchSource *source, HgSide side, HgGraphStats *stats,
									  HgError *error);
extern void hg_match_job_report(HgMatchSource *source, HgJobStats *stats);
extern void hg_match_job_close(HgMatchSource *source);

/* Creates the source of a job in this process, on the CPU. */
extern HgMatchSource *hg_match_cpu_create(HgMatchTask *task);

#endif /* HG_MATCH_JOB_H */
