/*-------------------------------------------------------------------------
 *
 * hg_match_source.h
 *	  Where the matches of a join come from: the interface of all match sources, and those
 *	  with a job.
 *
 *	cpu			hg_match_source.c: a job of this process on the CPU
 *	device		hg_match_device.c: a job of this process on a device
 *	sent		hg_match_device.c: a device job whose keys were uploaded while they were read
 *				(hg_upload.h)
 *	participants	hg_match_device.c: this process's part of a job that participants share on
 *				the CPU
 *	fetched		hg_match_device.c: what this process fetched of a job that participants had on a
 *				device (hg_device_participants.h)
 *	resident	hg_match_resident.c: cached indexes of one or both sides, and their delta rows
 *
 * A matcher (hg_matcher.h) has one source at a time and calls it through HgMatchSourceOps.
 * hg_matcher.c chooses the first source. If a call fails, the source names its replacement.
 * Without one the failure is an error. The replacements are:
 *
 *	sent	like device
 *	device	by device without columns if there is no memory for them; under backend auto by cpu;
 *			under cuda by another device job if its job was evicted
 *	fetched	by participants, under backend auto and before any match was returned
 *
 * LIFE OF A SOURCE
 *
 *	create -> open -> build -> { next* | renew | rewind | count | reduce | describe }* -> close
 *
 * After a failed call only replace, report and close may follow. The replacement begins with open.
 * report may be called at any time. close works in any state and must not ereport, because the
 * matcher's cleanup may call it. The other calls return the engine's statuses and fill *error;
 * they may also ereport for memory and interrupts.
 *
 * For a table to be measured (HgMatcherSpec.trial), build measures it, and only report and close
 * follow. The CPU's source does nothing then.
 *
 * The task, not the source, records which matches have been returned: next skips matches that an
 * earlier source has returned (hg_emitted.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_SOURCE_H
#define HG_MATCH_SOURCE_H

#include "backend/device/hg_device_placement.h"
#include "backend/hg_host.h"
#include "backend/hg_stats.h"
#include "backend/matcher/hg_emitted.h"
#include "backend/matcher/hg_gather.h"
#include "backend/matcher/hg_matcher_spec.h"

/* The task of a matcher, which its successive sources share. */
typedef struct HgMatchTask
{
	MemoryContext context; /* all memory of the sources comes from here */
	HgMatcherSpec spec;
	bool unreported; /* hg_matcher_count() does not add its result to the report */
	HgKeySet sides[2];
	HgPgHost host;				   /* callbacks and timeout of every job of the task */
	HgPgParticipants participants; /* if spec has participants */
	HgEmitted emitted;
	int device_no;			   /* device that was chosen last (hg_device_placement.h) */
	HgMatcherReport report;	   /* except what the current source reports */
	HgDeviceSet missing_on;	   /* devices that no longer had the replicas that spec names */
	HgMissingReplicas missing; /* the replicas missing there */

	/* Valid if spec has a table and a device has measured it. */
	bool measured;
	HgTableMeasure measure;
	HgError unmeasurable; /* its status is HG_INVALID if the table cannot be measured */
} HgMatchTask;

/* The columns that a job has beside its keys. All zero means none; only one of the two is set. */
typedef struct HgMatchColumns
{
	const HgReduction *reduction;	/* to reduce the matches by: the task's, or NULL */
	const HgColumnSet *gathered[2]; /* by HgSide: columns whose values come with the matches; or
									 * NULL */
} HgMatchColumns;

typedef struct HgMatchSource HgMatchSource;

typedef struct HgMatchSourceOps
{
	const char *backend; /* "cpu" or "cuda": HgMatcherReport.backend */
	bool on_device;		 /* its job uses device memory and not this process's */

	/*
	 * Opens a job. HG_CONNECTION_LOST and HG_DEVICE_FAILED from this call may come from a device
	 * process that was unusable since the last join; choosing again may find a new one.
	 */
	HgStatus (*open)(HgMatchSource *source, HgError *error);

	/* Gives the job all keys and columns and builds it. Participants wait for each other. */
	HgStatus (*build)(HgMatchSource *source, HgError *error);

	/* Returns the next matches, valid until the next call; *matches is NULL at the end. */
	HgStatus (*next)(HgMatchSource *source, const HgMatches **matches, HgError *error);

	/*
	 * Replaces the outer rows of a streamed job (HgMatcherSpec.streamed_rows) by count rows,
	 * numbered from 0. The caller keeps keys until the next call. NULL: never streams.
	 */
	HgStatus (*renew)(HgMatchSource *source, const void *keys, uint64 count, HgError *error);

	/*
	 * Makes next begin with the first match again. The caller has called hg_emitted_reset() on the
	 * task. NULL in a shared job.
	 */
	void (*rewind)(HgMatchSource *source);

	/* Sets *matches to the number of all matches; in a shared job, of this process's. */
	HgStatus (*count)(HgMatchSource *source, uint64 *matches, HgError *error);

	/*
	 * Reduces all matches to groups, which the task's context owns. *reduced is false if the
	 * source made no groups; the caller then reads the matches. NULL: never reduces.
	 */
	HgStatus (*reduce)(HgMatchSource *source, HgGroupSet *groups, bool *reduced, HgError *error);

	/* Describes a HashGraph; HG_INVALID without one. NULL in a shared job. */
	HgStatus (*describe)(HgMatchSource *source, HgSide side, HgGraphStats *stats, HgError *error);

	/* Sets *stats to the statistics of the job; may leave it unchanged without a job. */
	void (*report)(HgMatchSource *source, HgJobStats *stats);

	/*
	 * Called after a call has failed with why->status. Returns the source that continues, without
	 * a job yet, after writing the reason into the task's report. Returns NULL if none can: *why
	 * is then the error to throw, already counted in the statistics if a device failed. A NULL
	 * pointer means that no source ever replaces this one.
	 */
	HgMatchSource *(*replace)(HgMatchSource *source, HgError *why);

	/* Closes the job, if there is one, and frees the stored matches. */
	void (*close)(HgMatchSource *source);
} HgMatchSourceOps;

/* A source: the first member of an implementation's own struct. */
struct HgMatchSource
{
	const HgMatchSourceOps *ops;
	HgMatchTask *task;
	const HgReduction *reduction; /* whose columns the job has or will have; or NULL */
	HgGather gather;			  /* columns whose values come with the matches, and these
								   * values */
	uint64 fetched_bytes;		  /* memory of matches that came all at once */
};

/*
 * Allocates a source in the task's context: bytes bytes, the size of the implementation's struct.
 * The first member is set from the arguments, the rest is zero. Opens no job.
 */
extern void *hg_match_source_create(HgMatchTask *task, const HgMatchSourceOps *ops,
									const HgMatchColumns *columns, Size bytes);

/* Closes the source and frees it. */
extern void hg_match_source_destroy(HgMatchSource *source);

/* Does nothing and returns HG_OK: an open or build for sources that do not need one. */
extern HgStatus hg_match_source_pass(HgMatchSource *source, HgError *error);

/* Fills in all of *spec for a job of the source, which has the rows of this process alone. */
extern void hg_match_source_fill_spec(const HgMatchSource *source, HgJobSpec *spec);

/* Returns the block's matches. Their values become those that hg_matcher_values() returns. */
extern const HgMatches *hg_match_source_show(HgMatchSource *source, const HgMatchBlock *block);

/* Closes the job of the task's upload, unless it was taken, and forgets the upload. */
extern void hg_match_task_end_upload(HgMatchTask *task);

/*
 * A list of matches that are stored in blocks until they are returned (hg_gather.h).
 *
 * The caller sets context and gather; all other fields of an empty list are zero.
 */

typedef struct HgMatchList
{
	MemoryContext context;
	const HgGather *gather; /* changes only while the list is empty */
	HgMatchBlock *first;
	HgMatchBlock *last;
	const HgMatchBlock *next; /* block to return next */
} HgMatchList;

/*
 * Returns the last block if it has room for at least one match. Otherwise appends a block for
 * capacity matches and returns that. Raises an error if there is no memory.
 */
extern HgMatchBlock *hg_match_list_reserve(HgMatchList *list, size_t capacity);

/* Frees all blocks; the list is empty then. */
extern void hg_match_list_clear(HgMatchList *list);

/* Makes hg_match_list_next() begin with the first block. */
extern void hg_match_list_rewind(HgMatchList *list);
/* Returns the next block, which the list owns, or NULL at the end. */
extern const HgMatchBlock *hg_match_list_next(HgMatchList *list);

/* Returns the memory of all blocks in bytes. */
extern uint64 hg_match_list_bytes(const HgMatchList *list);

/*
 * What all match sources with an engine job have in common.
 *
 * The calls of HgMatchSourceOps that are the same for every engine, and parts of the others.
 */

typedef struct HgMatchJob
{
	HgMatchSource source; /* first */
	HgEngine *engine;
	HgJob *job;			 /* NULL before open and after close */
	HgMatchBlock *block; /* receives chunks of matches; NULL before the first */
	bool filled;		 /* the job already had all keys and columns when it was opened */
	bool streaming;		 /* match() was called for the current stream */
} HgMatchJob;

/*
 * Creates an HgMatchJob with these calls for a job on the CPU, which open opens, without columns.
 * Removes the timeout of the task's host.
 */
extern HgMatchSource *hg_match_job_create_on_cpu(HgMatchTask *task, const HgMatchSourceOps *ops);

/* HgMatchSourceOps.open: opens a job on job->engine. */
extern HgStatus hg_match_job_open(HgMatchSource *source, HgError *error);

/*
 * HgMatchSourceOps.build: appends all keys of the task, numbered by position, and the columns,
 * unless filled is true. Then builds the job, or measures the task's table.
 */
extern HgStatus hg_match_job_build(HgMatchSource *source, HgError *error);

/*
 * The first part of HgMatchSourceOps.next. After the replacement of a source, sets *matches to
 * remaining matches of the outer row that was returned last. Returns false if there are none.
 */
extern bool hg_match_job_next_rest(HgMatchJob *job, const HgMatches **matches);

/*
 * The second part: returns the next matches of the job that no earlier source has returned;
 * *matches is NULL at the end.
 */
extern HgStatus hg_match_job_next_new(HgMatchJob *job, const HgMatches **matches, HgError *error);

/* The calls of HgMatchSourceOps of the same names; next does both parts above. */
extern HgStatus hg_match_job_next(HgMatchSource *source, const HgMatches **matches, HgError *error);
extern HgStatus hg_match_job_renew(HgMatchSource *source, const void *keys, uint64 count,
								   HgError *error);
extern void hg_match_job_rewind(HgMatchSource *source);
extern HgStatus hg_match_job_count(HgMatchSource *source, uint64 *matches, HgError *error);
extern HgStatus hg_match_job_describe(HgMatchSource *source, HgSide side, HgGraphStats *stats,
									  HgError *error);
extern void hg_match_job_report(HgMatchSource *source, HgJobStats *stats);
extern void hg_match_job_close(HgMatchSource *source);

/* Creates the source of a job of this process on the CPU, which needs no replacement. */
extern HgMatchSource *hg_match_cpu_create(HgMatchTask *task);

/*
 * Match source: a job of this process on a device.
 *
 * Under backend auto the CPU takes over after any failure, even in the middle of the stream. Under
 * cuda only another job on a device does.
 *
 * A job goes to the task's device. If it is refused there as too large, it is sharded over all
 * devices (hg_device_shards.h). If there is only one, or sharding fails, it runs in partition
 * passes. With several devices, the report says why it was not sharded.
 */

/*
 * Creates the source; it has no job until open. engine is that of the task's device
 * (hg_device_engine). With alone (backend cuda), no source on the CPU replaces it.
 */
extern HgMatchSource *hg_match_device_create(HgMatchTask *task, HgEngine *engine,
											 const HgMatchColumns *columns, bool alone);

/*
 * Match source: a device job whose keys were uploaded while they were read.
 *
 * Only open differs from other device jobs: it takes the job over from the task's upload. That job
 * must have the columns that are needed now. If the takeover fails, all keys are still here, and
 * open opens a new job for them with the same columns.
 */

/* Creates the source; the arguments are those of hg_match_device_create(). open ends the upload. */
extern HgMatchSource *hg_match_uploaded_create(HgMatchTask *task, HgEngine *engine,
											   const HgMatchColumns *columns, bool alone);

/* Creates the source of this process's part of a job that participants share on the CPU. */
extern HgMatchSource *hg_match_participants_create(HgMatchTask *task);

/*
 * Match source: what this process has fetched of a job that the participants had on a device.
 *
 * build does all the work on the device, including the agreement on its outcome
 * (hg_device_participants.h). What next returns is in this process's memory or, under backend
 * cuda, may be fetched as it is returned.
 */

/*
 * Creates the source. With alone (backend cuda), a failure is an error; otherwise the participants
 * continue with a shared job on the CPU.
 */
extern HgMatchSource *hg_match_fetched_create(HgMatchTask *task, const HgMatchColumns *columns,
											  bool alone);

#endif /* HG_MATCH_SOURCE_H */
