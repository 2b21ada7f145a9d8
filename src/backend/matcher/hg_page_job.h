/*-------------------------------------------------------------------------
 *
 * hg_page_job.h
 *	  A job on a device that gets both sides of a join as pages, and tells how many pairs there are,
 *	  or groups of them.
 *
 * The device takes the rows out of the pages (engine/hg_pages.h).  So nobody has them here: where
 * the job fails, or may not begin, the caller reads both sides from their start, in another way.
 * That is no error, and none is thrown but for cancels.
 *
 * A job is asked for before the first page is read, and does not stand in a queue for long: what
 * else the caller would do needs no turn on a device before both sides are there.  Then it may wait
 * for the device as any join does (hg_device_timeout.h).
 *
 * PARTICIPANTS can share it (HgJobSpec.participants_id): each participant sends pages of its own,
 * and ends that by hg_page_job_end_sending.  When all have, one of them asks for the answer, while
 * the others look whether the process that has got their pages is still there
 * (hg_page_job_is_there).  Where it is not, or one of them has failed, the answer is none.  Who
 * finds another process there than the first participant has, has no part in it: one that was
 * killed may take long to go.
 *
 * What it holds is freed by hg_page_job_destroy, by the reset of the memory context that it was
 * created in, or by the release of the resource owner that was current then, whichever comes first.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PAGE_JOB_H
#define HG_PAGE_JOB_H

#include "port/atomics.h"

#include "backend/hg_report.h"
#include "backend/matcher/hg_matcher_spec.h"
#include "engine/hg_pages.h"

typedef struct HgPageJob HgPageJob;

typedef struct HgPageJobSpec
{
	uint32 key_width;
	HgMatchMode mode;
	HgPageSpec pages[2];	 /* by HgSide */
	uint64 expected_rows[2]; /* likewise */
	double cpu_ms;			 /* that the CPU is expected to take for all of it, reading included */

	uint64 participants_id;	  /* or 0: whose job it is is this process's alone; else ... */
	int device_no;			  /* ... the device that has it */
	pg_atomic_uint32 *failed; /* of a shared job: not 0 where a participant has failed; or NULL */
	pg_atomic_uint64
		*epoch; /* of a shared job: the process that has it, 0 until a participant has asked one */

	/* NULL: the number of pairs is asked for; else it stays in place until the job is destroyed */
	const HgReduction *reduction;
	HgProgress *progress; /* of what is joined; or NULL */
} HgPageJobSpec;

typedef struct HgPageAnswer
{
	uint64 pairs;
	HgGroupSet groups;		/* where there is a reduction; they are in CurrentMemoryContext */
	uint64 rows[2];			/* by HgSide: rows with a key that have passed the quals ... */
	uint64 null_keys[2];	/* ... and rows without one */
	HgMatcherReport report; /* but for what was sent */
} HgPageAnswer;

/* Begin, in CurrentMemoryContext.  NULL: there is no device that has time for it. */
extern HgPageJob *hg_page_job_create(const HgPageJobSpec *spec);

/* Where the next pages of a side can be put: *count of them.  NULL: the job has failed. */
extern char *hg_page_job_room(HgPageJob *job, HgSide side, uint64 *count);

/* Send the first count of them, whose ordinals begin with first_page; false: the job has failed. */
extern bool hg_page_job_send(HgPageJob *job, HgSide side, uint64 count, uint64 first_page);

/*
 * A participant has sent all its pages: wait until they have arrived.  False: the job has failed.
 */
extern bool hg_page_job_end_sending(HgPageJob *job);

/* Is a participant's job still the one that has got his pages? */
extern bool hg_page_job_is_there(HgPageJob *job);

/*
 * All pages of both sides were sent, of most_rows[side] rows at most: what do they make?  False:
 * the job has failed.
 */
extern bool hg_page_job_answer(HgPageJob *job, const uint64 most_rows[2], HgPageAnswer *answer);

/* What a participant that has not asked tells of the job: it has none of the rows. */
extern void hg_page_job_report(const HgPageJob *job, HgMatcherReport *report);

/* Why the job has failed. */
extern const char *hg_page_job_failure(const HgPageJob *job);

/* Close the job, and free it. */
extern void hg_page_job_destroy(HgPageJob *job);

#endif /* HG_PAGE_JOB_H */
