/*-------------------------------------------------------------------------
 *
 * hg_match_job.h
 *	  What sources of matches have in common that have a job of an engine behind them.
 *
 * These are the calls of hg_match_source.h as far as they are the same for every engine, and the
 * parts that the others are made of.
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
	HgMatchBlock *block; /* that chunks come in; NULL before the first */
	bool filled;		 /* it was opened with all keys and columns in it */
	bool streaming;		 /* match() was called for the current stream */
} HgMatchJob;

/*
 * A source with a job of the CPU engine, which has no columns.  From now on the task has no
 * timeout.
 */
extern HgMatchSource *hg_match_job_create_on_cpu(HgMatchTask *task, const HgMatchSourceOps *ops);

/* Open a job on the engine. */
extern HgStatus hg_match_job_open(HgMatchSource *source, HgError *error);

/* Give the job all keys, numbered by their positions, and its columns, unless filled; build it. */
extern HgStatus hg_match_job_build(HgMatchSource *source, HgError *error);

/*
 * The two parts of next: matches that an outer row still has to get from the source before, if
 * there are any; and the next of the job that no source before has returned.
 */
extern bool hg_match_job_next_rest(HgMatchJob *job, const HgMatches **matches);
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

#endif /* HG_MATCH_JOB_H */
