/*-------------------------------------------------------------------------
 *
 * hg_match_source.h
 *	  Where the matches of a join come from: the interface that each of the ways implements.
 *
 *	cpu		hg_match_cpu.c: a job of this process's own on the CPU
 *	device	hg_match_device.c: one on a device
 *	sent	hg_match_sent.c: one on a device that got its keys while they were read (hg_sender.h)
 *	team	hg_match_participants.c: this process's part of a job that the participants share on the
 *			CPU
 *	fetched	hg_match_fetched.c: what it has fetched of a job that the participants had on a device
 *			(hg_device_participants.h)
 *	resident	hg_match_resident.c: resident HashGraphs of one side or both, and what is to be
 *			joined beside them
 *
 * A matcher has one source at a time.  hg_matcher_choose.c chooses the first.  Where a call of a
 * source fails, the source names the one that replaces it, or none: then what has failed is an
 * error.  Nobody else asks what kind a source is.  These are replaced:
 *
 *	sent	as device is
 *	device	by device without columns, where there is no memory for them; under backend auto by cpu;
 *			under cuda by another of device where its job was evicted
 *	fetched	by team, under backend auto and before any match was returned
 *
 * LIFE OF A SOURCE
 *
 *	create -> open -> build -> { next* | rewind | count | reduce | describe }* -> close
 *
 * After a failed call only replace, report and close may follow.  The source that replaces it
 * begins with open.  report may be called at any time, and close closes what is open, in any
 * state: also where the matcher's cleanup calls it instead of the matcher, so that it must not
 * ereport.  Calls return the engine's statuses and fill *error; they may ereport too, as memory and
 * interrupts have it.
 *
 * Where the task is a table to be measured (HgMatcherSpec.trial), build has that done, and only
 * report and close follow.  The CPU's source does nothing then.
 *
 * What has been returned of the stream is in the task, not in the source: next returns what no
 * source before has (hg_delivered.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_SOURCE_H
#define HG_MATCH_SOURCE_H

#include "backend/hg_host.h"
#include "backend/hg_report.h"
#include "backend/matcher/hg_delivered.h"
#include "backend/matcher/hg_matcher_spec.h"

/* What is to be matched, whichever way: a matcher's, which its sources see. */
typedef struct HgMatchTask
{
	MemoryContext context; /* all that sources allocate comes from here */
	HgMatcherSpec spec;
	bool
		unreported; /* true while matches are counted but not reported (hg_matcher_count_matched) */
	HgKeySet sides[2];
	HgPgHost host;				   /* of every job */
	HgPgParticipants participants; /* where spec has one */
	HgDelivered delivered;
	int device_no;			/* of the device that was chosen last (hg_device_placement.h) */
	HgMatcherReport report; /* but for what the current source reports */
	HgDeviceSet missed; /* of devices that did not have the replicas any more that they were known
						   to have ... */
	HgMissingReplicas missing; /* ... and what that is */

	/* where spec has a table, and a device has measured it */
	bool measured;
	HgTableMeasure measure;
	HgError unmeasurable; /* or its status is HG_INVALID */
} HgMatchTask;

/* The columns that a job has beside its keys; all zero: none. */
typedef struct HgMatchColumns
{
	const HgReduction *reduction;	/* to reduce the matches by: the task's, or NULL ... */
	const HgColumnSet *gathered[2]; /* ... or, by HgSide, those that come with the matches */
} HgMatchColumns;

typedef struct HgMatchSource HgMatchSource;

typedef struct HgMatchSourceOps
{
	const char *backend; /* "cpu" or "cuda": HgMatcherReport.backend */
	bool on_device;		 /* its job takes the memory of a device, and not of this process */

	/*
	 * Have a job.  HG_CONNECTION_LOST and HG_DEVICE_FAILED of this call may tell of a device
	 * process that has been of no use since the last join: another choice may find a new one.
	 */
	HgStatus (*open)(HgMatchSource *source, HgError *error);

	/* Give it all keys and columns, and have it built; participants wait for each other. */
	HgStatus (*build)(HgMatchSource *source, HgError *error);

	/* The next matches, which stay in place until the next call; *matches is NULL at the end. */
	HgStatus (*next)(HgMatchSource *source, const HgMatches **matches, HgError *error);

	/*
	 * Begin a stream of the matches of other outer rows, which the task has forgotten those before
	 * for; of a streamed job alone.
	 */
	HgStatus (*renew)(HgMatchSource *source, const void *keys, uint64 count, HgError *error);

	/* Begin the stream again, of which the task has forgotten all; NULL in a shared job. */
	void (*rewind)(HgMatchSource *source);

	/* The number of all matches, or of this process's. */
	HgStatus (*count)(HgMatchSource *source, uint64 *matches, HgError *error);

	/* Groups of all matches; *reduced tells whether there are any.  NULL: there never are. */
	HgStatus (*reduce)(HgMatchSource *source, HgGroupSet *groups, bool *reduced, HgError *error);

	/* Describe a HashGraph; HG_INVALID where there is none.  NULL in a shared job. */
	HgStatus (*describe)(HgMatchSource *source, HgSide side, HgGraphStats *stats, HgError *error);

	/* What the job has done. */
	void (*report)(HgMatchSource *source, HgJobStats *stats);

	/*
	 * A call has failed with why->status.  The source that is to go on, as yet without a job, and
	 * the task's report tells why; or NULL, and *why is what to throw, which the statistics have
	 * counted if it befell a device.  NULL in place of this call: nothing ever goes on.
	 */
	HgMatchSource *(*replace)(HgMatchSource *source, HgError *why);

	/* Close the job, and free what is as large as the matches. */
	void (*close)(HgMatchSource *source);
} HgMatchSourceOps;

/* A source: the first member of an implementation's own struct. */
struct HgMatchSource
{
	const HgMatchSourceOps *ops;
	HgMatchTask *task;
	const HgReduction *reduction; /* whose columns the job has or will have; or NULL */
	HgGather gather;			  /* or others', and their values that have come */
	uint64 fetched_bytes;		  /* memory of the matches that came all at once */
};

/* A source of bytes, all zero but for its first member, in the task's context. */
extern void *hg_match_source_create(HgMatchTask *task, const HgMatchSourceOps *ops,
									const HgMatchColumns *columns, Size bytes);

/* Close it and free it. */
extern void hg_match_source_destroy(HgMatchSource *source);

/* HgMatchSourceOps.open and build of a source that has nothing to do there. */
extern HgStatus hg_match_source_pass(HgMatchSource *source, HgError *error);

/* What is asked of its job, for the rows of this process alone. */
extern void hg_match_source_fill_spec(const HgMatchSource *source, HgJobSpec *spec);

/* Return the matches of a block, with their values. */
extern const HgMatches *hg_match_source_show(HgMatchSource *source, const HgMatchBlock *block);

/* What was sent while it was read is of no use, or has been taken over: give its sender up. */
extern void hg_match_task_end_sending(HgMatchTask *task);

#endif /* HG_MATCH_SOURCE_H */
