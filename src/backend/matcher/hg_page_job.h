/*-------------------------------------------------------------------------
 *
 * hg_page_job.h
 *	  A device job that gets both sides of a join as pages, and returns the number of pairs or
 *	  groups of them.
 *
 * The device extracts the rows from the pages (engine/hg_pages.h), so this process does not have
 * them. If the job fails or cannot begin, the caller reads both sides again in another way. That
 * is no error; only cancels are thrown.
 *
 * The job is opened before the first page is read and waits only briefly for its turn, because the
 * caller's alternatives need no device before both sides are read. Once open, it waits for the
 * device like any join (hg_device_timeout.h).
 *
 * PARTICIPANTS can share the job (HgJobSpec.participants_id). Each sends its own pages and ends
 * with hg_page_job_end_sending. When all have, one of them asks for the answer, and the others
 * check that the process that got their pages still runs (hg_page_job_is_there). If it does not,
 * or a participant has failed, there is no answer. A participant that is connected to another
 * process than the first participant takes no part: a killed process may take long to end.
 *
 * A job's resources are freed by hg_page_job_destroy, by the reset of the memory context that it
 * was created in, or by the release of the resource owner that was current then, whichever comes
 * first.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PAGE_JOB_H
#define HG_PAGE_JOB_H

#include "port/atomics.h"

#include "backend/hg_stats.h"
#include "backend/matcher/hg_matcher_spec.h"
#include "engine/hg_pages.h"

typedef struct HgPageJob HgPageJob;

typedef struct HgPageJobSpec
{
	uint32 key_width;
	HgMatchMode mode;
	HgPageSpec pages[2];	 /* by HgSide */
	uint64 expected_rows[2]; /* by HgSide */
	double cpu_ms;			 /* the CPU's estimated time for everything, reading included */

	uint64 participants_id;	  /* 0: this process's own job */
	int device_no;			  /* device of a shared job */
	pg_atomic_uint32 *failed; /* shared job: not 0 if a participant has failed; or NULL */
	pg_atomic_uint64 *epoch;  /* of the shared job's process; 0: not opened */

	/* NULL: count the pairs; else the caller keeps it until the job is destroyed. */
	const HgReduction *reduction;
	HgProgress *progress; /* of the join; or NULL */
} HgPageJobSpec;

typedef struct HgPageAnswer
{
	uint64 pairs;
	HgGroupSet groups;		/* if there is a reduction; in CurrentMemoryContext */
	uint64 rows[2];			/* by HgSide: rows with a key that passed the quals */
	uint64 null_keys[2];	/* by HgSide: rows with a NULL key */
	HgMatcherReport report; /* without what was sent */
} HgPageAnswer;

/*
 * Opens a job, in CurrentMemoryContext. Returns NULL if no device is ready or admits the job
 * within 20 ms. Copies *spec.
 */
extern HgPageJob *hg_page_job_create(const HgPageJobSpec *spec);

/*
 * Waits for free staging memory and returns where the caller writes the next pages of a side, at
 * most *count (set here). It is valid until the next call. NULL: the job has failed.
 */
extern char *hg_page_job_room(HgPageJob *job, HgSide side, uint64 *count);

/*
 * Sends the first count pages that the caller has written to the space from hg_page_job_room().
 * They are numbered from first_page. Returns false if the job failed.
 */
extern bool hg_page_job_send(HgPageJob *job, HgSide side, uint64 count, uint64 first_page);

/* Called after the last page; waits until all have arrived. False: the job has failed. */
extern bool hg_page_job_end_sending(HgPageJob *job);

/* Returns true if the process that got this participant's pages runs. False: the job failed. */
extern bool hg_page_job_is_there(HgPageJob *job);

/*
 * Builds the job and waits for the answer, after all pages of both sides were sent; then closes
 * the job. Fails if the device reports more rows of a side than most_rows, which is by HgSide, or
 * too many groups. False: the job has failed.
 */
extern bool hg_page_job_answer(HgPageJob *job, const uint64 most_rows[2], HgPageAnswer *answer);

/* Sets backend and device in the report of a participant that has not asked for the answer. */
extern void hg_page_job_report(const HgPageJob *job, HgMatcherReport *report);

/* Returns why the job has failed; the text lives as long as the job. */
extern const char *hg_page_job_failure(const HgPageJob *job);

/* Closes the job and frees it. */
extern void hg_page_job_destroy(HgPageJob *job);

#endif /* HG_PAGE_JOB_H */
